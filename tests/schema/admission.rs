//! What the API server makes of a manifest before any rule of ours: unknown fields, wrong
//! types, and items that have one key.

use std::io::Write;
use std::process::Stdio;

use http::Request;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use super::judge::{Answer, Judge};
use super::kind::Kind;
use crate::fixture::{Cluster, Namespace, cluster};

/// A Workspace with this spec beside an image.
fn workspace(mut spec: Value) -> Value {
    let mut manifest = Kind::Workspace.least("admission");
    if spec["container"].is_object() {
        spec["container"]["image"] = json!("app:1");
        manifest["spec"] = spec;
    } else {
        manifest["spec"].as_object_mut().unwrap().append(spec.as_object_mut().unwrap());
    }
    manifest
}

/// Creates in a dry run, and gives code, warnings and body as they came.
async fn create(
    client: &Client,
    url: &str,
    manifest: &Value,
    validation: &str,
) -> (u16, Vec<String>, Value) {
    let request = Request::post(format!("{url}?dryRun=All&fieldValidation={validation}"))
        .header("content-type", "application/json")
        .body(Body::from(serde_json::to_vec(manifest).unwrap()))
        .unwrap();
    let response = client.send(request).await.unwrap();
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings.map(|w| w.to_str().unwrap().to_owned()).collect();
    let body = response.into_body().collect_bytes().await.unwrap();
    (code, warnings, serde_json::from_slice(&body).unwrap())
}

/// Manifests with one field that no kind has, and how the API server names it.
fn unknown() -> Vec<(Kind, Value, String)> {
    let mut unknown = Vec::new();
    for &kind in Kind::ALL {
        let mut manifest = kind.least("unknown");
        manifest["spec"]["bogus"] = json!(1);
        unknown.push((kind, manifest, "spec.bogus".to_owned()));
    }
    for (spec, field) in [
        (json!({ "volume": { "bogus": 1 } }), "spec.volume.bogus"),
        (
            json!({ "container": { "env": [{ "name": "A", "bogus": 1 }] } }),
            "spec.container.env[0].bogus",
        ),
        (
            json!({ "resources": { "limits": { "nvidia.com/gpu": 1 } } }),
            "spec.resources.limits.nvidia.com/gpu",
        ),
        // Docker's own words.
        (json!({ "container": { "AutoRemove": true } }), "spec.container.AutoRemove"),
        (json!({ "container": { "Image": "app:2" } }), "spec.container.Image"),
        (json!({ "container": { "hostConfig": {} } }), "spec.container.hostConfig"),
        (json!({ "container": { "links": ["db"] } }), "spec.container.links"),
        (json!({ "container": { "volumesFrom": ["db"] } }), "spec.container.volumesFrom"),
        // Kubernetes' own, of a Pod.
        (json!({ "container": { "volumeMounts": [] } }), "spec.container.volumeMounts"),
        (json!({ "restartPolicy": "Always" }), "spec.restartPolicy"),
    ] {
        unknown.push((Kind::Workspace, workspace(spec), field.to_owned()));
    }
    unknown
}

#[tokio::test]
async fn an_unknown_field_is_refused_by_name_under_strict_validation() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("strict").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    for (kind, manifest, field) in unknown() {
        let url = judge.collection(kind);
        let (code, _, body) = create(&cluster.admin(), &url, &manifest, "Strict").await;
        let message = body["message"].as_str().unwrap();
        assert_eq!(code, 400, "{kind:?} {field}: {message}");
        let wanted = format!("strict decoding error: unknown field \"{field}\"");
        assert!(message.ends_with(&wanted), "{message}");
    }
}

#[tokio::test]
async fn an_unknown_field_is_warned_of_and_dropped_under_lenient_validation() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("warn").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    for (kind, manifest, field) in unknown() {
        let url = judge.collection(kind);
        let (code, warnings, body) = create(&cluster.admin(), &url, &manifest, "Warn").await;
        assert_eq!(code, 201, "{kind:?} {field}: {body}");
        assert_eq!(warnings, [format!("299 - \"unknown field \\\"{field}\\\"\"")], "{kind:?}");
        let last = field.rsplit('.').next().unwrap();
        assert!(!body["spec"].to_string().contains(&format!("{last}\":")), "{body}");
    }
}

#[tokio::test]
async fn a_value_of_a_wrong_type_or_form_is_refused_by_its_path() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("types").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let url = format!("{}?dryRun=All", judge.collection(Kind::Workspace));
    let mut faults = Vec::new();
    for (spec, field, says) in [
        (
            json!({ "container": { "tty": "true" } }),
            "spec.container.tty",
            "must be of type boolean",
        ),
        (json!({ "container": { "tty": 1 } }), "spec.container.tty", "must be of type boolean"),
        (json!({ "container": { "user": 1000 } }), "spec.container.user", "must be of type string"),
        (json!({ "container": { "args": "a b" } }), "spec.container.args", "must be of type array"),
        (
            json!({ "container": { "args": [1] } }),
            "spec.container.args[0]",
            "must be of type string",
        ),
        (json!({ "container": { "env": "A=1" } }), "spec.container.env", "must be of type array"),
        (
            json!({ "container": { "env": [{ "name": "A", "value": true }] } }),
            "spec.container.env[0].value",
            "must be of type string",
        ),
        (
            json!({ "container": { "labels": { "a": 1 } } }),
            "spec.container.labels.a",
            "must be of type string",
        ),
        (
            json!({ "container": { "labels": ["a=1"] } }),
            "spec.container.labels",
            "must be of type object",
        ),
        (
            json!({ "container": { "ports": [{ "containerPort": "80" }] } }),
            "spec.container.ports[0].containerPort",
            "must be of type integer",
        ),
        (
            json!({ "container": { "oomScoreAdj": 1.5 } }),
            "spec.container.oomScoreAdj",
            "must be of type int32",
        ),
        (
            json!({ "container": { "restartPolicy": { "name": false } } }),
            "spec.container.restartPolicy.name",
            "must be of type string",
        ),
        (json!({ "restartedAt": 1 }), "spec.restartedAt", "must be of type string"),
        (
            json!({ "resources": { "limits": { "cpu": 0.5 } } }),
            "spec.resources.limits.cpu",
            "must be of type integer,string",
        ),
        (
            json!({ "resources": { "limits": { "memory": true } } }),
            "spec.resources.limits.memory",
            "must be of type integer,string",
        ),
        (
            json!({ "resources": { "limits": { "memory": "10 GB" } } }),
            "spec.resources.limits.memory",
            "must be a quantity",
        ),
        (
            json!({ "resources": { "requests": { "cpu": "half" } } }),
            "spec.resources.requests.cpu",
            "must be a quantity",
        ),
        (json!({ "volume": { "size": "10gb" } }), "spec.volume.size", "must be a quantity"),
        (json!({ "stop": { "gracePeriod": "30" } }), "spec.stop.gracePeriod", "must be a duration"),
        (
            json!({ "stop": { "gracePeriod": 30 } }),
            "spec.stop.gracePeriod",
            "must be of type string",
        ),
        (json!({ "lifetime": { "ttl": "1d" } }), "spec.lifetime.ttl", "must be a duration"),
        (
            json!({ "lifetime": { "expiresAt": "tomorrow" } }),
            "spec.lifetime.expiresAt",
            "must be of type date-time",
        ),
    ] {
        match judge.write("POST", &url, &workspace(spec)).await {
            Answer::Refused(422, _, causes) => {
                let wanted = |(f, m): &(String, String)| f == field && m.contains(says);
                if !causes.iter().any(wanted) {
                    faults.push(format!("{field} {says}: {causes:?}"));
                }
            }
            Answer::Refused(code, message, _) => faults.push(format!("{field}: {code} {message}")),
            Answer::Accepted(_) => faults.push(format!("{field}: accepted")),
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// `kubectl apply` of YAML, as a user writes it; what it says on standard error.
async fn refused_by_kubectl(cluster: &Cluster, namespace: &Namespace, spec: &str) -> String {
    let head = "apiVersion: kibotos.dev/v1alpha1\nkind: Workspace\nmetadata: {name: yaml}\n";
    let (manifest, mut kubectl) = (format!("{head}spec: {spec}\n"), cluster.kubectl());
    kubectl.args(["apply", "--namespace", namespace.name(), "--filename", "-"]);
    kubectl.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = move || {
        let mut child = kubectl.spawn().unwrap();
        child.stdin.take().unwrap().write_all(manifest.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn what_yaml_reads_otherwise_than_it_looks_is_refused_by_its_path() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("yaml").await;
    for (spec, said) in [
        (
            "{container: {image: app, restartPolicy: {name: no}}}",
            "spec.container.restartPolicy.name in body must be of type string",
        ),
        (
            "{container: {image: app, env: [{name: A, value: on}]}}",
            "spec.container.env[0].value in body must be of type string",
        ),
        (
            "{container: {image: app, user: 1000}}",
            "spec.container.user in body must be of type string",
        ),
        (
            "{container: {image: app, annotations: {note: 1}}}",
            "spec.container.annotations.note in body must be of type string",
        ),
        (
            "{container: {image: app}, resources: {limits: {cpu: 0.5}}}",
            "spec.resources.limits.cpu in body must be of type integer,string",
        ),
        (
            "{container: {image: app}, resources: {limits: {nvidia.com/gpu: 1}}}",
            r#"unknown field "spec.resources.limits.nvidia.com/gpu""#,
        ),
    ] {
        let says = refused_by_kubectl(&cluster, &namespace, spec).await;
        assert!(says.contains(said), "{spec}: {says}");
    }
}

#[tokio::test]
async fn items_of_one_key_are_refused_by_the_path_of_the_later() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("keys").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let url = format!("{}?dryRun=All", judge.collection(Kind::Workspace));
    let device = json!({ "pathOnHost": "/dev/a", "pathInContainer": "/dev/a" });
    for (list, item, other) in [
        ("env", json!({ "name": "A", "value": "1" }), json!({ "name": "A" })),
        (
            "ports",
            json!({ "containerPort": 53 }),
            json!({ "containerPort": 53, "protocol": "TCP" }),
        ),
        (
            "ports",
            json!({ "containerPort": 53, "hostIP": "::1", "hostPort": 53, "name": "a" }),
            json!({ "containerPort": 53, "hostIP": "::1", "hostPort": 53, "name": "b" }),
        ),
        (
            "mounts",
            json!({ "type": "volume", "target": "/a" }),
            json!({ "type": "tmpfs", "target": "/a" }),
        ),
        ("networks", json!({ "name": "front" }), json!({ "name": "front", "gwPriority": 1 })),
        (
            "ulimits",
            json!({ "name": "core", "soft": 0, "hard": 0 }),
            json!({ "name": "core", "soft": 1, "hard": 1 }),
        ),
        ("devices", device.clone(), device),
        ("anonymousVolumes", json!("/a"), json!("/a")),
    ] {
        match judge
            .write("POST", &url, &workspace(json!({ "container": { list: [item, other] } })))
            .await
        {
            Answer::Refused(422, _, causes) => {
                let field = format!("spec.container.{list}[1]");
                let wanted =
                    |(f, m): &(String, String)| *f == field && m.starts_with("Duplicate value");
                assert!(causes.iter().any(wanted), "{list}: {causes:?}");
            }
            Answer::Refused(code, message, _) => panic!("{list}: {code} {message}"),
            Answer::Accepted(_) => panic!("{list}: accepted"),
        }
    }
}

#[tokio::test]
async fn one_container_port_may_be_listed_by_protocol_and_by_where_it_is_published() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("ports").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let ports = json!([
        { "containerPort": 53 },
        { "containerPort": 53, "protocol": "UDP" },
        { "containerPort": 53, "protocol": "SCTP" },
        { "containerPort": 53, "hostPort": 5353 },
        { "containerPort": 53, "hostPort": 5354 },
        { "containerPort": 53, "hostPort": 5353, "protocol": "UDP" },
        { "containerPort": 53, "hostPort": 5353, "hostIP": "127.0.0.1" },
        { "containerPort": 53, "hostPort": 5353, "hostIP": "::1" },
    ]);
    let answer = judge
        .create(Kind::Workspace, &workspace(json!({ "container": { "ports": ports.clone() } })))
        .await;
    assert_eq!(answer["spec"]["container"]["ports"].as_array().unwrap().len(), 8);
}

#[tokio::test]
async fn a_fresh_object_does_not_pass_for_one_that_was_looked_at() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("fresh").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    for kind in [Kind::Workspace, Kind::Volume, Kind::Template, Kind::TemplateRevision] {
        let mut manifest = kind.least("fresh");
        // What a client says of status when it creates is not heard.
        manifest["status"] = json!({ "observedGeneration": 1 });
        let object = judge.create(kind, &manifest).await;
        assert_eq!(object["metadata"]["generation"], json!(1), "{kind:?}");
        assert_eq!(object["status"], json!({ "observedGeneration": -1 }), "{kind:?}");
    }
}
