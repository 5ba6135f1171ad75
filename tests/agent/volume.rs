//! Volumes: made before use, kept from run to run, removed by a task alone.

use kibotos::api::{VolumeTask, volume_task::VolumeTaskStatus};
use kube::{Api, api::PostParams};
use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine, eventually};

/// Adds a line to /data/count at each start.
const COUNT: &str = "echo started >> /data/count; trap 'exit 0' TERM; while :; do sleep 0.1; done";

/// A run with a Volume of this uid at /data.
fn with_volume(uid: &str, more: Value) -> Value {
    let mut mount = json!({
        "volume": { "name": "data", "uid": uid }, "driver": "local", "path": "/data",
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        mount[key] = value.clone();
    }
    json!({ "container": { "command": ["sh", "-c", COUNT] }, "mounts": [mount] })
}

/// The volume on the engine; null where there is none.
async fn volume(agent: &Agent, uid: &str) -> Value {
    match agent.engine.request("GET", &format!("/volumes/kibotos-{uid}"), None).await {
        (200, found) => found,
        _ => Value::Null,
    }
}

/// Asks for the removal of a Volume's data.
async fn remove(agent: &Agent, name: &str, uid: &str) {
    let task = json!({
        "apiVersion": "kibotos.dev/v1alpha1", "kind": "VolumeTask", "metadata": { "name": name },
        "spec": {
            "volume": { "name": "data", "uid": uid }, "driver": "local", "action": "Remove",
        },
    });
    let task: VolumeTask = serde_json::from_value(task).unwrap();
    tasks(agent).create(&PostParams::default(), &task).await.expect("a task can be made");
}

fn tasks(agent: &Agent) -> Api<VolumeTask> {
    Api::namespaced(agent.admin(), &agent.joined.namespace)
}

async fn task(
    agent: &Agent,
    name: &str,
    what: &str,
    right: impl Fn(&VolumeTaskStatus) -> bool,
) -> VolumeTaskStatus {
    eventually(&format!("{name}: {what}"), async || {
        tasks(agent).get(name).await.unwrap().status.filter(|status| right(status))
    })
    .await
}

async fn succeeds(agent: &Agent, name: &str) {
    let phase = |s: &VolumeTaskStatus| format!("{:?}", s.phase) == "Some(Succeeded)";
    let status = task(agent, name, "Succeeded", phase).await;
    assert!(status.finished_at.is_some());
    assert_eq!(status.reason, None);
}

async fn is_told(agent: &Agent, name: &str, reason: &str, word: &str) {
    task(agent, name, &format!("{reason}, {word}"), |s| {
        s.reason.as_deref() == Some(reason)
            && s.message.as_ref().is_some_and(|message| message.contains(word))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_is_made_with_its_labels_and_its_data_outlives_runs() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "volume").await;
    let uid = agent.scope.name("v");
    agent.create(&agent.run("web", 1, with_volume(&uid, json!({})))).await;
    agent.phase("web-1", "Running").await;
    let made = volume(&agent, &uid).await;
    assert_eq!(made["Driver"], "local");
    assert_eq!(
        made["Labels"],
        json!({ "kibotos.dev/volume-uid": uid, "kibotos.dev/host-uid": agent.host_uid }),
    );
    agent.change("web-1", json!({ "desired": "Removed" })).await;
    agent.phase("web-1", "Removed").await;
    assert_eq!(volume(&agent, &uid).await, made, "data goes by a task only");

    agent.create(&agent.run("web", 2, with_volume(&uid, json!({})))).await;
    agent.phase("web-2", "Running").await;
    eventually("both runs have written", async || {
        let file = agent.file("web", "/data/count").await?;
        (file.matches("started\n").count() == 2).then_some(())
    })
    .await;
    agent.change("web-2", json!({ "desired": "Removed" })).await;
    agent.phase("web-2", "Removed").await;
    remove(&agent, "gone", &uid).await;
    succeeds(&agent, "gone").await;
    assert_eq!(volume(&agent, &uid).await, Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_a_container_mounts_is_not_removed_however_it_is_and_whosever() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "inuse").await;
    let uid = agent.scope.name("v");
    agent.create(&agent.run("web", 1, with_volume(&uid, json!({})))).await;
    agent.phase("web-1", "Running").await;
    remove(&agent, "gone", &uid).await;
    is_told(&agent, "gone", "VolumeInUse", "web-1").await;

    let foreign = agent.scope.name("foreign");
    let body = json!({
        "Image": "kibotos.test/busybox:1", "Cmd": ["true"],
        "HostConfig": { "Binds": [format!("kibotos-{uid}:/theirs")] },
    });
    assert_eq!(agent.scope.create(&format!("name={foreign}"), body).await.0, 201);
    agent.change("web-1", json!({ "desired": "Stopped" })).await;
    agent.phase("web-1", "Exited").await;
    is_told(&agent, "gone", "VolumeInUse", "web-1").await;
    agent.change("web-1", json!({ "desired": "Removed" })).await;
    agent.phase("web-1", "Removed").await;
    is_told(&agent, "gone", "VolumeInUse", &foreign).await;
    assert_ne!(volume(&agent, &uid).await, Value::Null);

    engine.call("DELETE", &format!("/containers/{foreign}"), None).await;
    succeeds(&agent, "gone").await;
    assert_eq!(volume(&agent, &uid).await, Value::Null);
    remove(&agent, "again", &uid).await;
    succeeds(&agent, "again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_volume_of_that_name_is_neither_used_nor_removed() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "theirs").await;
    let uid = agent.scope.name("v");
    let body = json!({ "Name": format!("kibotos-{uid}"), "Labels": agent.scope.labels() });
    engine.call("POST", "/volumes/create", Some(&body)).await;
    let before = volume(&agent, &uid).await;
    agent.create(&agent.run("web", 1, with_volume(&uid, json!({})))).await;
    let status =
        agent.until("web-1", "refused", |s| Agent::reason(s, "Ready").1 == "NameConflict").await;
    let message = Agent::reason(&status, "Ready").2;
    assert!(message.contains(&format!("kibotos-{uid}")), "{message}");
    assert_eq!(agent.inspect("web").await, Value::Null);
    agent.change("web-1", json!({ "desired": "Removed" })).await;
    agent.phase("web-1", "Removed").await;
    remove(&agent, "gone", &uid).await;
    is_told(&agent, "gone", "NameConflict", &format!("kibotos-{uid}")).await;
    assert_eq!(volume(&agent, &uid).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pools_driver_options_reach_the_volume() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "options").await;
    let uid = agent.scope.name("v");
    let options = json!({ "type": "tmpfs", "device": "tmpfs", "o": "size=1m" });
    let spec = with_volume(&uid, json!({ "driverOptions": options }));
    agent.create(&agent.run("web", 1, spec)).await;
    agent.phase("web-1", "Running").await;
    assert_eq!(volume(&agent, &uid).await["Options"], options);
    agent.change("web-1", json!({ "desired": "Removed" })).await;
    agent.phase("web-1", "Removed").await;
    remove(&agent, "gone", &uid).await;
    succeeds(&agent, "gone").await;
    assert_eq!(volume(&agent, &uid).await, Value::Null);
}
