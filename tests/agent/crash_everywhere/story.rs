//! The life of one Workspace, in stages, with each kind of change that an agent makes.

use k8s_openapi::api::core::v1::Secret;
use kibotos::{api::VolumeTask, controller::workspace::hash::sha256};
use kube::{Api, api::PostParams};
use serde_json::{Value, json};

use super::host::{Row, StoryHost};

const OLD: &str = "answer = 41";
const NEW: &str = "answer = 42";

/// Tells the story, and gives what was seen at the end of each stage, and how many changes on the
/// engine it took. With `wanted`, each stage is to end as the same stage did there.
pub async fn tell(
    host: &mut StoryHost,
    row: &Row,
    wanted: Option<&Vec<Value>>,
) -> (Vec<Value>, u64) {
    host.begin(row);
    let name = row.name();
    let mut seen = Vec::new();
    secret(host, &name, OLD).await;
    secret(host, &name, NEW).await;
    host.agent.create(&host.agent.run(&name, 1, spec(&name, OLD))).await;
    stage(host, row, wanted, &mut seen, "running", |_, seen| runs(seen, 1, 1)).await;

    host.agent.change(&format!("{name}-1"), limits()).await;
    let limited = |_: &StoryHost, seen: &Value| {
        runs(seen, 1, 2) && seen["containers"][0]["host"]["Memory"] == 64 << 20
    };
    stage(host, row, wanted, &mut seen, "limited", limited).await;

    host.agent.change(&format!("{name}-1"), json!({ "configFile": config(&name, NEW) })).await;
    stage(host, row, wanted, &mut seen, "configured", |host, seen| {
        let written = seen["directories"].as_object().unwrap().values().any(|file| file == NEW);
        runs(seen, 1, 3) && written && host.signals("HUP") > 0
    })
    .await;

    host.agent.change(&format!("{name}-1"), json!({ "desired": "Stopped" })).await;
    stage(host, row, wanted, &mut seen, "stopped", |_, seen| is(seen, 1, 4, "Exited")).await;

    start_again(host, &name).await;
    stage(host, row, wanted, &mut seen, "running again", |_, seen| runs(seen, 2, 1)).await;

    let mut other = spec(&name, NEW);
    other["container"]["env"] = json!([{ "name": "OTHER", "value": "1" }]);
    host.agent.create(&host.agent.run(&name, 3, other)).await;
    let renewed = |_: &StoryHost, seen: &Value| {
        let env = &seen["containers"][0]["config"]["Env"];
        runs(seen, 3, 1) && env.to_string().contains("OTHER=1") && is(seen, 2, 1, "Exited")
    };
    stage(host, row, wanted, &mut seen, "made anew", renewed).await;

    host.agent.change(&format!("{name}-3"), json!({ "desired": "Removed" })).await;
    let removed = |_: &StoryHost, seen: &Value| is(seen, 3, 2, "Removed");
    stage(host, row, wanted, &mut seen, "removed", removed).await;

    discard(host, &name).await;
    let gone = |_: &StoryHost, seen: &Value| {
        seen["tasks"] == json!(["Succeeded"]) && seen["volumes"] == json!([])
    };
    stage(host, row, wanted, &mut seen, "discarded", gone).await;
    tasks(host).delete(&name, &kube::api::DeleteParams::default()).await.unwrap();
    let end = seen.last().unwrap();
    assert_eq!((&end["containers"], &end["directories"]), (&json!([]), &json!({})), "{row:?}");
    (seen, host.end(row))
}

async fn stage(
    host: &mut StoryHost,
    row: &Row,
    wanted: Option<&Vec<Value>>,
    all: &mut Vec<Value>,
    name: &str,
    right: impl Fn(&StoryHost, &Value) -> bool,
) {
    let wanted = wanted.map(|wanted| &wanted[all.len()]);
    let seen = host.reach(row, name, wanted, right).await;
    all.push(seen);
}

fn run<'a>(seen: &'a Value, sequence: u32) -> &'a Value {
    &seen["runs"][format!("NAME-{sequence}")]
}

/// The run is in a phase, and its status is of this generation of it.
fn is(seen: &Value, sequence: u32, generation: u32, phase: &str) -> bool {
    let run = run(seen, sequence);
    run["phase"] == phase
        && run["conditions"]["Ready"][0] == "True"
        && run["generation"] == json!([generation, generation])
}

/// The run is as it was declared, its container runs and is well.
fn runs(seen: &Value, sequence: u32, generation: u32) -> bool {
    is(seen, sequence, generation, "Running")
        && run(seen, sequence)["guest"] == "Responding"
        && seen["containers"][0]["status"] == "running"
}

fn spec(name: &str, config_file: &str) -> Value {
    json!({
        "container": {
            "networks": [{ "name": "first" }, { "name": "second" }],
            "healthcheck": { "test": ["CMD", "true"] },
        },
        "restartPolicy": { "name": "always" },
        "mounts": [{ "volume": volume(name), "driver": "local", "path": "/data" }],
        "configFile": config(name, config_file),
    })
}

fn limits() -> Value {
    json!({ "resources": { "limits": { "memory": "64Mi" } } })
}

fn volume(name: &str) -> Value {
    json!({ "name": name, "uid": format!("{name}-0000-4000-8000-000000000000") })
}

fn config(name: &str, content: &str) -> Value {
    json!({
        "secretName": secret_name(name, content), "key": "app.conf", "path": "/etc/app.conf",
        "sha256": sha256(content.as_bytes()), "reloadSignal": "SIGHUP",
    })
}

fn secret_name(name: &str, content: &str) -> String {
    format!("{name}-{}", &sha256(content.as_bytes())[..8])
}

async fn secret(host: &StoryHost, name: &str, content: &str) {
    let secrets: Api<Secret> =
        Api::namespaced(host.agent.runs().into_client(), &host.agent.joined.namespace);
    let secret = json!({
        "metadata": { "name": secret_name(name, content) }, "stringData": { "app.conf": content },
    });
    let secret = serde_json::from_value(secret).unwrap();
    secrets.create(&PostParams::default(), &secret).await.unwrap();
}

fn tasks(host: &StoryHost) -> Api<VolumeTask> {
    Api::namespaced(host.agent.runs().into_client(), &host.agent.joined.namespace)
}

/// The next run with the stopped container of the one before.
async fn start_again(host: &StoryHost, name: &str) {
    let before = host.agent.status(&format!("{name}-1")).await;
    let mut next = spec(name, NEW);
    next["previous"] = json!({
        "containerId": before.container_id, "startedAt": before.container_started_at,
    });
    next["resources"] = limits()["resources"].clone();
    host.agent.create(&host.agent.run(name, 2, next)).await;
}

/// The runs' objects go, and then the volume's data.
async fn discard(host: &StoryHost, name: &str) {
    for sequence in 1..=3 {
        host.agent.delete(&format!("{name}-{sequence}")).await;
    }
    let task = json!({
        "metadata": { "name": name },
        "spec": { "volume": volume(name), "driver": "local", "action": "Remove" },
    });
    let task = serde_json::from_value::<VolumeTask>(complete(task)).unwrap();
    tasks(host).create(&PostParams::default(), &task).await.unwrap();
}

fn complete(mut object: Value) -> Value {
    object["apiVersion"] = "kibotos.dev/v1alpha1".into();
    object["kind"] = "VolumeTask".into();
    object
}
