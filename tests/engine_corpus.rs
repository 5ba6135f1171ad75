//! What people run, as a real engine takes it once it has been a Workspace: each recorded container
//! is imported, translated, created, and inspected.

use std::collections::BTreeSet;
use std::path::Path;

use kibotos::docker::ApiVersion;
use serde_json::{Value, json};

use crate::fixture::{Scope, engine};
use crate::import::{cases, meaning, of_body, rendered, seen};

/// An image that is on the engine, with a command of its own, in place of those that people run.
const IMAGE: &str = "kibotos.test/entry:1";

/// What this engine or this host cannot do, by case, with the engine's own words, and for whom.
type Excuse = (&'static str, &'static str, fn(&Value) -> bool);

/// The cases that are not created, in the engine's words or ours: no other may fail, and none of
/// these may succeed, but on a machine that has what it takes.
const EXCUSED: &[Excuse] = &[
    ("case-029", "No such container: my-nginx", |_| true),
    ("case-037", "Unknown runtime specified nvidia", |info| info["Runtimes"]["nvidia"].is_null()),
    ("case-051", "Requested CPUs are not available", |info| info["NCPU"].as_i64() < Some(4)),
    ("case-086", "--storage-opt is supported only for", |info| info["Driver"] == "overlay2"),
    ("case-091", "bind source path does not exist: /srv/stack/data", |_| {
        !Path::new("/srv/stack/data").exists()
    }),
    ("case-099", "bind source path does not exist: /Users", |_| !Path::new("/Users").exists()),
    ("case-102", "needs engine API 1.45", |info| api(info) < ApiVersion::v1(45)),
];

/// The engine's API.
fn api(info: &Value) -> ApiVersion {
    info["ApiVersion"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn every_recorded_container_is_created_and_inspects_as_its_workspace_says() {
    let engine = engine().await;
    let scope = engine.scope("corpus");
    let mut info = engine.call("GET", "/info", None).await;
    info["ApiVersion"] = engine.api().to_string().into();
    let mut faults = Vec::new();
    // What clients send alike is tried once.
    let mut tried = BTreeSet::new();
    let mut created = BTreeSet::new();
    for call in &cases::all() {
        let case = format!("{} {}", call.case, call.client);
        let excuse = EXCUSED.iter().find(|(id, _, holds)| *id == call.case && holds(&info));
        let imported = of_body(&call.body);
        let [workspace] = imported.workspaces.as_slice() else {
            panic!("{case}: {:?}", imported.errors);
        };
        let create = match rendered(workspace, engine.api()) {
            Ok(create) => create,
            Err(errors) => {
                let words = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                if !excuse.is_some_and(|(_, said, _)| words.contains(said)) {
                    faults.push(format!("{case}: {words}"));
                }
                continue;
            }
        };
        let mut asked = seen(&create);
        asked["Image"] = IMAGE.into();
        if !tried.insert((call.case.clone(), asked.to_string())) {
            continue;
        }
        own_volumes(&scope, &mut asked).await;
        let mut sent = serde_json::to_value(&create.body).unwrap();
        for part in ["Image", "HostConfig"] {
            sent[part] = asked[part].clone();
        }
        let query = format!("name={}", scope.name(&case.replace(' ', "-")));
        let (status, answer) = scope.create(&query, sent).await;
        let words = answer["message"].as_str().unwrap_or_default();
        match (status, excuse) {
            (201, None) => {
                created.insert(call.case.clone());
                let path = format!("/containers/{}/json", answer["Id"].as_str().unwrap());
                let inspected = engine.call("GET", &path, None).await;
                let missing = missing(&asked, &inspected).into_iter();
                faults.extend(missing.map(|fault| format!("{case}: {fault}")));
            }
            (201, Some((_, said, _))) => {
                faults.push(format!("{case}: is created, and is excused for {said:?}"));
            }
            (_, Some((_, said, _))) if words.contains(said) => {}
            _ => faults.push(format!("{case}: {status} {words}")),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let excused = |case: &str| EXCUSED.iter().any(|(id, _, holds)| *id == case && holds(&info));
    let all: BTreeSet<_> = cases::all().into_iter().map(|call| call.case).collect();
    let wanted: BTreeSet<_> = all.into_iter().filter(|case| !excused(case)).collect();
    assert_eq!(created, wanted);
}

/// Gives each named volume the scope's own, so that nothing is left on the engine.
async fn own_volumes(scope: &Scope, body: &mut Value) {
    let binds = body["HostConfig"]["Binds"].as_array().cloned().unwrap_or_default();
    for (i, bind) in binds.iter().enumerate() {
        let (source, rest) = bind.as_str().unwrap().split_once(':').unwrap();
        if !source.starts_with('/') {
            let own = scope.volume(source).await;
            body["HostConfig"]["Binds"][i] = format!("{own}:{rest}").into();
        }
    }
    let mounts = body["HostConfig"]["Mounts"].as_array().cloned().unwrap_or_default();
    for (i, mount) in mounts.iter().enumerate() {
        if mount["Type"] == "volume" && mount["Source"].is_string() {
            let own = scope.name(mount["Source"].as_str().unwrap());
            body["HostConfig"]["Mounts"][i]["Source"] = own.into();
            body["HostConfig"]["Mounts"][i]["VolumeOptions"]["Labels"] = scope.labels();
        }
    }
}

/// What was asked for and does not stand in the engine's answer, by meaning.
fn missing(asked: &Value, inspected: &Value) -> Vec<String> {
    let mut answer = inspected["Config"].clone();
    answer["HostConfig"] = inspected["HostConfig"].clone();
    answer["NetworkingConfig"] =
        json!({ "EndpointsConfig": inspected["NetworkSettings"]["Networks"] });
    let (asked, answer) = (meaning(asked), meaning(&answer));
    let mut missing = Vec::new();
    for (at, wanted) in leaves(&asked, String::new()) {
        match answer.pointer(&at) {
            Some(found) if *found == wanted => {}
            // A set to which the image or the engine adds.
            Some(Value::Array(found))
                if wanted.as_array().is_some_and(|w| w.iter().all(|x| found.contains(x))) => {}
            found => missing.push(format!("{at}: asked {wanted}, got {found:?}")),
        }
    }
    missing
}

/// Every member of an object that is no object itself, by its pointer.
fn leaves(value: &Value, at: String) -> Vec<(String, Value)> {
    match value {
        Value::Object(members) if !members.is_empty() => members
            .iter()
            .flat_map(|(key, value)| {
                let key = key.replace('~', "~0").replace('/', "~1");
                leaves(value, format!("{at}/{key}"))
            })
            .collect(),
        other => vec![(at, other.clone())],
    }
}
