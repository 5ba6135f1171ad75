//! The spec hash against what the engine is sent: two orders of one set are one container, and two
//! bodies are two.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kibotos::api::WorkspaceRunSpec;
use kibotos::controller::workspace::hash::spec_hash;
use kibotos::docker::ApiVersion;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::of_schema::fitting;
use super::{create, least, spec_of};

static RUN: LazyLock<Value> = LazyLock::new(|| spec_of("WorkspaceRun"));

/// Lists whose order says nothing to an engine: of the run, of `container`, of each of its
/// `networks`, of its `blkio`.
const SETS: [&str; 20] = [
    "mounts",
    "container.env",
    "container.anonymousVolumes",
    "container.ports",
    "container.binds",
    "container.mounts",
    "container.capAdd",
    "container.capDrop",
    "container.securityOpt",
    "container.groupAdd",
    "container.ulimits",
    "container.devices",
    "container.deviceCgroupRules",
    "container.networks.aliases",
    "container.networks.links",
    "container.blkio.weightDevice",
    "container.blkio.deviceReadBps",
    "container.blkio.deviceWriteBps",
    "container.blkio.deviceReadIOps",
    "container.blkio.deviceWriteIOps",
];

/// Fields of the run, beside those of `container`, that take a new container.
const BESIDE: [&str; 3] = ["mounts", "writableLayer", "configFile"];

/// What the engine changes in place, or what counts when the container stops.
const IN_PLACE: [&str; 6] =
    ["Memory", "MemoryReservation", "NanoCpus", "CpuShares", "PidsLimit", "RestartPolicy"];

fn hash(run: &Value) -> String {
    let run: WorkspaceRunSpec = serde_json::from_value(run.clone()).unwrap();
    spec_hash(&run, &BTreeMap::new())
}

/// Turns every set of a value that stands at `path`.
fn turn(value: &mut Value, path: &str, by: usize) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                turn(member, &below, by);
            }
        }
        Value::Array(items) => {
            for item in items.iter_mut() {
                turn(item, path, by);
            }
            if SETS.contains(&path) && !items.is_empty() {
                let middle = by % items.len();
                items.rotate_left(middle);
            }
        }
        _ => {}
    }
}

/// What the engine is sent, its sets in one order, without what it changes in place.
fn container(run: &Value) -> Option<Value> {
    let run = serde_json::from_value(run.clone()).unwrap();
    let made = create(&run, ApiVersion::NEWEST).ok()?;
    let mut body = serde_json::to_value(&made.body).unwrap();
    let host = body["HostConfig"].as_object_mut().unwrap();
    for key in IN_PLACE {
        host.remove(key);
    }
    for list in host.values_mut().filter(|value| value.is_array()) {
        sort(list);
    }
    sort(&mut body["Env"]);
    // To the engine 0 is as good as nothing: the image's own.
    if let Some(check) = body["Healthcheck"].as_object_mut() {
        check.retain(|_, value| *value != 0);
    }
    Some(json!([made.name, made.platform, body]))
}

fn sort(list: &mut Value) {
    if let Some(items) = list.as_array_mut() {
        items.sort_by_key(Value::to_string);
    }
}

/// A field that takes a new container, with two values for it.
fn change() -> impl Strategy<Value = (String, Value, Value)> {
    let of = |path: String, schema: &Value| {
        let value = fitting(schema);
        (Just(path), value.clone(), value).boxed()
    };
    let properties = &RUN["properties"];
    let fields = properties["container"]["properties"].as_object().unwrap();
    let mut all: Vec<_> =
        fields.iter().map(|(name, schema)| of(format!("container.{name}"), schema)).collect();
    all.extend(BESIDE.iter().map(|name| of((*name).to_owned(), &properties[name])));
    prop::strategy::Union::new(all)
}

fn with(path: &str, value: Value) -> Value {
    let mut run = least();
    let mut node = &mut run;
    for step in path.split('.') {
        node = &mut node[step];
    }
    *node = value;
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_order_of_a_set_makes_another_hash(run in fitting(&RUN), by in 1..4_usize) {
        let mut turned = run.clone();
        turn(&mut turned, "", by);
        prop_assert_eq!(hash(&run), hash(&turned));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn two_bodies_make_two_hashes((path, one, other) in change()) {
        let (one, other) = (with(&path, one), with(&path, other));
        if let (Some(a), Some(b)) = (container(&one), container(&other)) {
            prop_assert!(a == b || hash(&one) != hash(&other), "{path}\n{a}\n{b}");
        }
    }
}
