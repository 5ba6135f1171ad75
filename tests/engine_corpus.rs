//! What people run, as a real engine takes it once it has been a Workspace: each recorded container
//! is imported, translated, created, and inspected.

use serde_json::{Value, json};

use crate::fixture::{Scope, engine};
use crate::import::{cases, meaning, of_body, rendered, seen};

/// An image that is on the engine, with a command of its own, in place of those that people run.
const IMAGE: &str = "kibotos.test/entry:1";

/// What this engine or this host cannot do, by case, with the engine's own words.
///
/// Another machine may well have a runtime, a disk or the processors that this list goes without.
const EXCUSED: &[(&str, &str)] = &[
    ("case-029", "No such container: my-nginx"),
    ("case-037", "Unknown runtime specified nvidia"),
    ("case-051", "Requested CPUs are not available"),
    ("case-086", "--storage-opt is supported only for"),
    ("case-091", "bind source path does not exist: /srv/stack/data"),
    ("case-099", "bind source path does not exist: /Users"),
];

#[tokio::test]
async fn every_recorded_container_is_created_and_inspects_as_its_workspace_says() {
    let engine = engine().await;
    let scope = engine.scope("corpus");
    let mut faults = Vec::new();
    let mut created = 0;
    for call in cases::all().iter().filter(|call| call.client == "v141") {
        let case = call.case.as_str();
        let imported = of_body(&call.body);
        let [workspace] = imported.workspaces.as_slice() else {
            panic!("{case}: {:?}", imported.errors);
        };
        let create = match rendered(workspace, engine.api()) {
            Ok(create) => create,
            Err(errors) => {
                faults.push(format!("{case}: {errors:?}"));
                continue;
            }
        };
        let mut asked = seen(&create);
        asked["Image"] = IMAGE.into();
        own_volumes(&scope, &mut asked).await;
        let mut sent = serde_json::to_value(&create.body).unwrap();
        for part in ["Image", "HostConfig"] {
            sent[part] = asked[part].clone();
        }
        let query = format!("name={}", scope.name(case));
        let (status, answer) = scope.create(&query, sent).await;
        if status != 201 {
            let words = answer["message"].as_str().unwrap_or_default().to_owned();
            if !EXCUSED.iter().any(|(id, said)| *id == case && words.contains(said)) {
                faults.push(format!("{case}: {status} {words}"));
            }
            continue;
        }
        created += 1;
        let path = format!("/containers/{}/json", answer["Id"].as_str().unwrap());
        let inspected = engine.call("GET", &path, None).await;
        faults.extend(missing(&asked, &inspected).into_iter().map(|m| format!("{case}: {m}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(created >= 60, "{created} created");
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
        // Networks are joined at the start; before it an engine shows only the first.
        if at.starts_with("/NetworkingConfig") {
            continue;
        }
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
