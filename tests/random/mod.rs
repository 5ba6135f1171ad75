//! Specs at random, made from the schemas of our own kinds, through what is pure.

mod hash;
mod of_schema;
mod run;

use std::collections::BTreeMap;

use kibotos::agent::container::{Create, Intent, create_body};
use kibotos::api::field_error::FieldError;
use kibotos::api::{WorkspaceRunSpec, crds};
use kibotos::docker::ApiVersion;
use serde_json::{Value, json};

/// The schema of a kind's spec.
fn spec_of(kind: &str) -> Value {
    let crd = crds::all().unwrap().into_iter().find(|crd| crd.spec.names.kind == kind).unwrap();
    let crd = serde_json::to_value(crd).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
}

/// The least run, with a limit, without which some of its fields cannot be set.
fn least() -> Value {
    json!({
        "workspace": { "namespace": "default", "name": "web", "uid": "0123456789abcdef" },
        "sequence": 1,
        "generation": 1,
        "desired": "Running",
        "container": { "image": "app:1" },
        "resources": { "limits": { "memory": "64Mi" } },
        "specHash": "1:00",
    })
}

fn create(run: &WorkspaceRunSpec, engine: ApiVersion) -> Result<Create, Vec<FieldError>> {
    let secret = BTreeMap::from([("A".to_owned(), "s3cret".to_owned())]);
    let root = "/var/lib/kibotos";
    create_body(&Intent { run, secret: &secret, host_uid: "h-1", root, engine })
}
