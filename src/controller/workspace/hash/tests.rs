//! Which change of a run takes a new container, field by field.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Source, spec_hash};
use crate::api::WorkspaceRunSpec;

fn of(run: &Value) -> WorkspaceRunSpec {
    serde_json::from_value(run.clone()).unwrap()
}

fn hash(run: &Value) -> String {
    spec_hash(&of(run), &BTreeMap::new())
}

fn least() -> Value {
    json!({
        "workspace": { "namespace": "default", "name": "web", "uid": "0123456789abcdef" },
        "sequence": 1,
        "generation": 1,
        "desired": "Running",
        "container": { "image": "app:1" },
        "specHash": "",
    })
}

/// The least run with one field of it, or of its container, set.
fn with(path: &str, value: Value) -> Value {
    let mut run = least();
    let (mut node, steps) = (&mut run, path.split('.').collect::<Vec<_>>());
    for step in &steps {
        node = &mut node[*step];
    }
    *node = value;
    run
}

/// Every field of `container`, with a value that says something.
fn container_fields() -> Vec<(&'static str, Value)> {
    let rate = json!([{ "path": "/dev/sda", "rate": 5 }]);
    vec![
        ("name", json!("app")),
        ("directory", json!("/data/app")),
        ("image", json!("app:2")),
        ("command", json!(["a"])),
        ("args", json!(["a"])),
        ("env", json!([{ "name": "A", "value": "1" }])),
        ("envFrom", json!([{ "secretRef": { "name": "a" } }])),
        ("labels", json!({ "a": "b" })),
        ("anonymousVolumes", json!(["/a"])),
        ("user", json!("1000")),
        ("workingDir", json!("/a")),
        ("hostname", json!("a")),
        ("domainname", json!("a")),
        ("macAddress", json!("02:42:ac:11:00:02")),
        ("tty", json!(true)),
        ("stdin", json!(true)),
        ("stdinOnce", json!(true)),
        ("ports", json!([{ "containerPort": 80, "hostPort": 80 }])),
        ("publishAllPorts", json!(true)),
        ("networks", json!([{ "name": "a" }])),
        ("networkMode", json!("host")),
        ("dns", json!(["1.1.1.1"])),
        ("dnsSearch", json!(["a"])),
        ("dnsOptions", json!(["a"])),
        ("extraHosts", json!(["a:1.1.1.1"])),
        ("binds", json!(["/a:/b"])),
        ("mounts", json!([{ "type": "volume", "target": "/b" }])),
        ("tmpfs", json!({ "/a": "" })),
        ("readOnlyRootFilesystem", json!(true)),
        ("shmSize", json!("1Gi")),
        ("healthcheck", json!({ "retries": 3 })),
        ("init", json!(true)),
        ("logging", json!({ "type": "local" })),
        ("privileged", json!(true)),
        ("capAdd", json!(["NET_ADMIN"])),
        ("capDrop", json!(["ALL"])),
        ("securityOpt", json!(["no-new-privileges"])),
        ("groupAdd", json!(["audio"])),
        ("sysctls", json!({ "net.a": "1" })),
        ("ulimits", json!([{ "name": "nofile", "soft": 1, "hard": 2 }])),
        ("devices", json!([{ "pathOnHost": "/dev/a", "pathInContainer": "/dev/a" }])),
        ("deviceCgroupRules", json!(["c 1:1 r"])),
        ("deviceRequests", json!([{ "count": -1 }])),
        ("ipcMode", json!("host")),
        ("pidMode", json!("host")),
        ("utsMode", json!("host")),
        ("usernsMode", json!("host")),
        ("cgroupnsMode", json!("host")),
        ("runtime", json!("runsc")),
        ("cgroupParent", json!("/a")),
        ("platform", json!("linux/arm64")),
        ("annotations", json!({ "a": "b" })),
        ("memorySwap", json!("1Gi")),
        ("memorySwappiness", json!(10)),
        ("oomScoreAdj", json!(10)),
        ("oomKillDisable", json!(true)),
        ("cpusetCpus", json!("0")),
        ("cpusetMems", json!("0")),
        ("cpuPeriod", json!(100_000)),
        ("cpuQuota", json!(50_000)),
        ("blkio", json!({ "weight": 300, "deviceReadBps": rate })),
        ("imagePullPolicy", json!("Always")),
        ("restartPolicy", json!({ "name": "always" })),
    ]
}

/// What is pulled by, and what the engine switches in place.
const NO_NEW_CONTAINER: [&str; 2] = ["imagePullPolicy", "restartPolicy"];

#[test]
fn every_field_of_the_container_is_judged_here() {
    let schema = serde_json::to_value(schemars::schema_for!(crate::api::Container)).unwrap();
    let fields: BTreeSet<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    let judged: BTreeSet<_> = container_fields().iter().map(|(f, _)| (*f).to_owned()).collect();
    assert_eq!(judged, fields);
}

#[test]
fn a_change_of_the_container_takes_a_new_one_but_for_what_is_pulled_by_or_switched_in_place() {
    let before = hash(&least());
    for (field, value) in container_fields() {
        let after = hash(&with(&format!("container.{field}"), value));
        assert_eq!(after == before, NO_NEW_CONTAINER.contains(&field), "{field}");
    }
}

#[test]
fn no_two_fields_make_one_hash() {
    let hashes: BTreeSet<_> = container_fields()
        .into_iter()
        .filter(|(field, _)| !NO_NEW_CONTAINER.contains(field))
        .map(|(field, value)| hash(&with(&format!("container.{field}"), value)))
        .collect();
    assert_eq!(hashes.len(), container_fields().len() - NO_NEW_CONTAINER.len());
}

#[test]
fn what_takes_a_new_container_beside_the_container_field() {
    let volume =
        json!({ "volume": { "name": "d", "uid": "v-1" }, "driver": "local", "path": "/data" });
    let config = |path: &str, sha: &str| json!({ "secretName": "s", "key": "content", "sha256": sha, "path": path });
    let before = hash(&least());
    for (path, value) in [
        ("mounts", json!([volume])),
        ("writableLayer", json!({ "size": "1Gi" })),
        ("configFile", config("/a", "00")),
        ("workspace.name", json!("other")),
    ] {
        assert_ne!(hash(&with(path, value)), before, "{path}");
    }
    let moved = hash(&with("configFile", config("/b", "00")));
    let changed = hash(&with("configFile", config("/a", "11")));
    let first = hash(&with("configFile", config("/a", "00")));
    assert_ne!(moved, first);
    assert_eq!(changed, first, "the content is rewritten in place");
}

#[test]
fn what_takes_no_new_container() {
    let before = hash(&least());
    for (path, value) in [
        ("sequence", json!(9)),
        ("generation", json!(9)),
        ("desired", json!("Stopped")),
        ("resources", json!({ "limits": { "memory": "1Gi", "cpu": 1 }, "requests": { "cpu": 1 } })),
        ("restartPolicy", json!({ "name": "always" })),
        ("writableLayer", json!({ "retention": "Discard" })),
        ("stop", json!({ "gracePeriod": "1m", "signal": "SIGINT" })),
        ("deletion", json!({ "force": true })),
        ("prefetch", json!({ "image": "app:2" })),
        ("secretName", json!("run")),
        ("leased", json!(true)),
        ("previous", json!({ "containerId": "1" })),
        ("specHash", json!("1:11")),
        ("workspace.uid", json!("another")),
    ] {
        assert_eq!(hash(&with(path, value)), before, "{path}");
    }
}

#[test]
fn two_ways_to_write_one_thing_make_one_hash() {
    for (field, one, other) in [
        ("image", json!("app"), json!("app:latest")),
        ("name", json!("default_web"), json!(null)),
        ("shmSize", json!("1Gi"), json!(1_073_741_824)),
        ("memorySwap", json!("1024Mi"), json!("1Gi")),
        ("healthcheck", json!({ "interval": "60s", "retries": 0 }), json!({ "interval": "1m" })),
        ("healthcheck", json!({}), json!(null)),
        ("env", json!([]), json!(null)),
        ("labels", json!({}), json!(null)),
        ("tty", json!(false), json!(null)),
        ("user", json!(""), json!(null)),
        ("capAdd", json!(["A", "B"]), json!(["B", "A"])),
        (
            "env",
            json!([{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }]),
            json!([{ "name": "B", "value": "2" }, { "name": "A", "value": "1" }]),
        ),
        (
            "devices",
            json!([{ "pathOnHost": "/dev/a", "pathInContainer": "/dev/a", "cgroupPermissions": "rwm" }]),
            json!([{ "pathOnHost": "/dev/a", "pathInContainer": "/dev/a" }]),
        ),
        (
            "ports",
            json!([{ "containerPort": 80, "name": "http" }]),
            json!([{ "containerPort": 80 }]),
        ),
    ] {
        let path = format!("container.{field}");
        assert_eq!(hash(&with(&path, one.clone())), hash(&with(&path, other)), "{field} {one}");
    }
}

#[test]
fn what_is_ordered_for_the_engine_is_ordered_for_the_hash() {
    for (field, one, other) in [
        ("args", json!(["a", "b"]), json!(["b", "a"])),
        ("command", json!(["a", "b"]), json!(["b", "a"])),
        ("command", json!([]), json!(null)),
        ("args", json!([]), json!(null)),
        (
            "networks",
            json!([{ "name": "a" }, { "name": "b" }]),
            json!([{ "name": "b" }, { "name": "a" }]),
        ),
        ("dns", json!(["1.1.1.1", "9.9.9.9"]), json!(["9.9.9.9", "1.1.1.1"])),
        ("init", json!(false), json!(null)),
    ] {
        let path = format!("container.{field}");
        assert_ne!(hash(&with(&path, one.clone())), hash(&with(&path, other)), "{field} {one}");
    }
}

#[test]
fn a_changed_secret_makes_another_hash_and_its_value_none() {
    let run = of(&least());
    let source = |resource_version: &str| Source {
        kind: "Secret",
        name: "db".to_owned(),
        uid: "u-1".to_owned(),
        resource_version: resource_version.to_owned(),
        key: "password".to_owned(),
    };
    let with = |version: &str| {
        spec_hash(&run, &BTreeMap::from([("PASSWORD".to_owned(), source(version))]))
    };
    assert_ne!(with("1"), with("2"));
    assert_eq!(with("1"), with("1"));
}

/// Containers bear these: a release that makes other hashes of them replaces every container.
#[test]
fn the_hashes_of_this_version_never_change() {
    let whole = json!({
        "workspace": { "namespace": "default", "name": "web", "uid": "0123456789abcdef" },
        "sequence": 1,
        "generation": 1,
        "desired": "Running",
        "container": container_fields()
            .into_iter()
            .map(|(field, value)| (field.to_owned(), value))
            .collect::<serde_json::Map<_, _>>(),
        "mounts": [{ "volume": { "name": "d", "uid": "v-1" }, "driver": "local", "path": "/data" }],
        "writableLayer": { "size": "1Gi" },
        "configFile": { "secretName": "s", "key": "content", "sha256": "00", "path": "/a" },
        "specHash": "",
    });
    assert_eq!(
        [hash(&least()), hash(&whole)],
        [
            "1:057971c75e3439f7a4f358248b8b2f8b090eaef333abc838674dcc2190709eca",
            "1:4402748f02c9554141e290e94c7fa965441168c8b65c936a35d8f27249adec63",
        ]
    );
}

proptest! {
    #[test]
    fn the_order_of_maps_and_keyed_lists_makes_no_difference(
        env in prop::collection::btree_map("[A-Z]{1,4}", "[a-z]{0,4}", 1..6),
        seed in any::<prop::sample::Index>(),
    ) {
        let list: Vec<_> = env.iter().map(|(n, v)| json!({ "name": n, "value": v })).collect();
        let mut turned = list.clone();
        turned.rotate_left(seed.index(list.len()));
        prop_assert_eq!(
            hash(&with("container.env", json!(list))),
            hash(&with("container.env", json!(turned)))
        );
    }
}
