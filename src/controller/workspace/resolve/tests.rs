//! What a run is made of.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Data, Input, Missing, Resolved, Sources, resolve};
use crate::api::reference::WorkspaceRef;
use crate::api::workspace_run::RunMount;
use crate::api::{TemplateRevisionSpec, WorkspaceSpec};

fn sources() -> Sources {
    let data = |uid: &str, pairs: &[(&str, &str)]| Data {
        uid: uid.to_owned(),
        resource_version: "7".to_owned(),
        data: pairs.iter().map(|(k, v)| ((*k).to_owned(), v.as_bytes().to_vec())).collect(),
    };
    Sources {
        secrets: BTreeMap::from([(
            "db".to_owned(),
            data("s-1", &[("user", "u"), ("password", "p")]),
        )]),
        config_maps: BTreeMap::from([(
            "app".to_owned(),
            data("c-1", &[("user", "c"), ("conf", "x=1")]),
        )]),
    }
}

fn try_resolve(spec: Value, template: Option<Value>) -> Result<Resolved, Vec<Missing>> {
    let spec: WorkspaceSpec = serde_json::from_value(spec).unwrap();
    let template: Option<TemplateRevisionSpec> =
        template.map(|template| serde_json::from_value(template).unwrap());
    let workspace =
        WorkspaceRef { namespace: "default".into(), name: "web".into(), uid: "w-1".into() };
    let volume: RunMount = serde_json::from_value(json!({
        "volume": { "name": "data", "uid": "v-1" }, "driver": "local", "path": "",
    }))
    .unwrap();
    resolve(&Input {
        workspace: &workspace,
        spec: &spec,
        template: template.as_ref(),
        volume: (spec.volume.mode != crate::api::workspace::VolumeMode::None).then_some(&volume),
        sources: &sources(),
        secret_name: "run-secret",
        sequence: 3,
        generation: 2,
    })
}

fn resolved(spec: Value) -> Resolved {
    try_resolve(spec, None).unwrap()
}

fn texts(map: &BTreeMap<String, Vec<u8>>) -> Vec<(&str, &str)> {
    map.iter().map(|(k, v)| (k.as_str(), std::str::from_utf8(v).unwrap())).collect()
}

#[test]
fn a_value_from_a_secret_goes_into_the_runs_own_under_the_variables_name() {
    let found = resolved(json!({ "container": { "image": "a", "env": [
        { "name": "PASSWORD", "valueFrom": { "secretKeyRef": { "name": "db", "key": "password" } } },
        { "name": "PLAIN", "value": "1" },
        { "name": "CONF", "valueFrom": { "configMapKeyRef": { "name": "app", "key": "conf" } } },
    ] } }));
    assert_eq!(texts(&found.secret), [("CONF", "x=1"), ("PASSWORD", "p")]);
    assert_eq!(found.run.secret_name.as_deref(), Some("run-secret"));
    let from = |name: &str| json!({ "name": name, "valueFrom": { "secretKeyRef": { "name": "run-secret", "key": name } } });
    assert_eq!(
        serde_json::to_value(&found.run.container.env).unwrap(),
        json!([from("PASSWORD"), { "name": "PLAIN", "value": "1" }, from("CONF")])
    );
}

#[test]
fn of_one_name_env_counts_over_env_from_and_the_last_source_over_those_before() {
    let found = resolved(json!({ "container": {
        "image": "a",
        "envFrom": [
            { "secretRef": { "name": "db" } },
            { "configMapRef": { "name": "app" } },
            { "secretRef": { "name": "db" }, "prefix": "DB_" },
        ],
        "env": [{ "name": "password", "value": "plain" }],
    } }));
    assert_eq!(
        texts(&found.secret),
        [("DB_password", "p"), ("DB_user", "u"), ("conf", "x=1"), ("user", "c")]
    );
    assert_eq!(found.run.container.env_from, None);
    let env = serde_json::to_value(&found.run.container.env).unwrap();
    assert_eq!(env[0], json!({ "name": "password", "value": "plain" }));
}

#[test]
fn all_that_is_missing_is_told_by_name_and_field_but_what_is_optional() {
    let missing = try_resolve(
        json!({
            "container": {
                "image": "a",
                "envFrom": [{ "configMapRef": { "name": "gone" } }, { "secretRef": { "name": "x", "optional": true } }],
                "env": [
                    { "name": "A", "valueFrom": { "secretKeyRef": { "name": "db", "key": "nope" } } },
                    { "name": "B", "valueFrom": { "secretKeyRef": { "name": "x", "key": "y", "optional": true } } },
                ],
            },
            "configFile": { "secretKeyRef": { "name": "files", "key": "conf" } },
        }),
        None,
    )
    .unwrap_err();
    let told: Vec<_> =
        missing.iter().map(|m| format!("{} {} {:?} {}", m.kind, m.name, m.key, m.path)).collect();
    assert_eq!(
        told,
        [
            "ConfigMap gone None spec.container.envFrom[0].configMapRef",
            r#"Secret db Some("nope") spec.container.env[0].valueFrom.secretKeyRef"#,
            "Secret files None spec.configFile.secretKeyRef",
        ]
    );
}

#[test]
fn an_optional_value_that_is_missing_leaves_no_variable() {
    let found = resolved(json!({ "container": { "image": "a", "env": [
        { "name": "A", "valueFrom": { "secretKeyRef": { "name": "x", "key": "y", "optional": true } } },
    ] } }));
    assert_eq!(found.run.container.env, None);
    assert_eq!(found.run.secret_name, None);
}

#[test]
fn the_config_file_is_in_a_secret_named_by_its_hash() {
    let found = resolved(json!({
        "container": { "image": "a" }, "configFile": { "content": "hello", "reloadSignal": "SIGHUP" },
    }));
    // SHA-256 of "hello".
    let sha = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert_eq!(
        serde_json::to_value(&found.run.config_file).unwrap(),
        json!({
            "secretName": format!("config-{sha}"), "key": "content", "sha256": sha,
            "path": "/usr/local/etc/service.conf", "reloadSignal": "SIGHUP",
        })
    );
    assert_eq!(found.config.as_deref(), Some(b"hello".as_slice()));
}

#[test]
fn a_template_is_merged_under_the_workspace() {
    let found = try_resolve(
        json!({ "template": { "name": "base" }, "container": { "args": ["b"] } }),
        Some(json!({
            "templateName": "base", "revision": "v1",
            "container": { "image": "base:1", "args": ["a"], "tty": true },
            "resources": { "limits": { "memory": "1Gi" } },
        })),
    )
    .unwrap();
    assert_eq!(
        serde_json::to_value(&found.run.container).unwrap(),
        json!({ "image": "base:1", "args": ["b"], "tty": true })
    );
    assert_eq!(
        serde_json::to_value(&found.run.resources).unwrap(),
        json!({ "limits": { "memory": "1Gi" } })
    );
}

#[test]
fn a_run_has_what_can_change_beside_its_container() {
    let found = resolved(json!({
        "container": { "image": "a", "restartPolicy": { "name": "always" } },
        "volume": { "mountPath": "/work" },
        "placement": { "onHostLoss": "Move" },
        "writableLayer": { "retention": "Discard" },
        "stop": { "gracePeriod": "30s" },
    }));
    let run = serde_json::to_value(&found.run).unwrap();
    assert_eq!(run["restartPolicy"], json!({ "name": "always" }));
    assert_eq!(run["container"], json!({ "image": "a" }));
    assert_eq!(run["mounts"][0]["path"], "/work");
    assert_eq!(run["mounts"][0]["volume"]["uid"], "v-1");
    assert_eq!(run["leased"], true);
    assert_eq!(run["stop"], json!({ "gracePeriod": "30s" }));
    assert_eq!(
        (&run["sequence"], &run["generation"], &run["desired"]),
        (&json!(3), &json!(2), &json!("Running"))
    );
    assert!(run["specHash"].as_str().unwrap().starts_with("1:"));
}
