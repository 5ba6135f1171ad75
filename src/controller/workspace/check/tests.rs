//! All errors of one Workspace at once; each rule alone has its pair in `tests/schema/pairs`.

use serde_json::{Value, json};

use super::*;

fn told(name: &str, spec: Value) -> Vec<String> {
    let spec = serde_json::from_value(spec).unwrap();
    workspace(name, &spec).iter().map(ToString::to_string).collect()
}

#[test]
fn a_workspace_with_an_image_alone_is_right() {
    assert_eq!(told("web", json!({ "container": { "image": "app" } })), [""; 0]);
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let key = json!({ "name": "A", "key": "a/b" });
    let spec = json!({
        "template": { "name": "Base" },
        "container": {
            "image": "app",
            "env": [{ "name": "A", "valueFrom": {} }, { "name": "A", "value": "", "valueFrom": { "secretKeyRef": key } }],
            "envFrom": [{ "prefix": "P_" }],
        },
        "volume": { "mode": "None", "name": "data", "size": "512m", "mountPath": "data" },
        "configFile": { "path": "/a" },
        "lifetime": { "ttl": "0s", "expiresAt": "2027-01-31T18:00:00Z" },
        "placement": {
            "hostName": "edge",
            "hostSelector": { "matchExpressions": [{ "key": "zone", "operator": "In" }] },
            "onHostLoss": "Move",
        },
        "imagePullSecrets": [{ "name": "" }],
    });
    let told = told("Web", spec);
    let fields: Vec<_> = told.iter().map(|error| error.split(": ").next().unwrap()).collect();
    assert_eq!(
        fields,
        [
            "metadata.name",
            "spec",
            "spec.template.name",
            "spec.container.env[0].valueFrom",
            "spec.container.env[1].name",
            "spec.container.env[1].valueFrom",
            "spec.container.env[1].valueFrom.secretKeyRef.name",
            "spec.container.env[1].valueFrom.secretKeyRef.key",
            "spec.container.envFrom[0]",
            "spec.volume.name",
            "spec.volume.size",
            "spec.volume.size",
            "spec.volume.mountPath",
            "spec.configFile",
            "spec.lifetime",
            "spec.lifetime.ttl",
            "spec.placement.hostSelector",
            "spec.placement.hostSelector.matchExpressions[0].values",
            "spec.placement.onHostLoss",
            "spec.imagePullSecrets[0].name",
        ]
    );
}

#[test]
fn what_was_made_counts_only_where_nothing_is_wrong_beside_it() {
    let error = |message: &str| FieldError::new("spec", message);
    assert_eq!(together(vec![], Ok(1)), Ok(1));
    assert_eq!(together(vec![error("a")], Ok(1)), Err(vec![error("a")]));
    assert_eq!(
        together::<()>(vec![error("a")], Err(vec![error("a"), error("b")])),
        Err(vec![error("a"), error("b")])
    );
}
