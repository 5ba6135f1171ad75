//! What a changed spec does to a container: changed in place, replaced, or left as it is.

use k8s_openapi::api::events::v1::Event;
use kibotos::api::WorkspaceRun;
use kube::{Api, api::ListParams};
use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine, eventually, registry};

/// Writes a line to /count at each start.
const COUNT: &str = "echo started >> /count; trap 'exit 0' TERM; while :; do sleep 0.1; done";

/// Which container it is, and which start of it.
fn start_of(found: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().expect("it is told").to_owned();
    (text(&found["Id"]), text(&found["State"]["StartedAt"]))
}

fn limits(cpu: &str, memory: &str, pids: i64) -> Value {
    json!({ "limits": { "cpu": cpu, "memory": memory, "kibotos.dev/pids": pids } })
}

/// The run that follows: what a controller would say of the one before.
async fn next(agent: &Agent, name: &str, before: i64, spec: Value) -> WorkspaceRun {
    let status = agent.status(&format!("{name}-{before}")).await;
    let mut run = agent.run(name, before + 1, spec);
    run.spec.previous = Some(
        serde_json::from_value(json!({
            "containerId": status.container_id, "startedAt": status.container_started_at,
        }))
        .unwrap(),
    );
    run
}

/// Runs a Workspace, stops it, and starts the run that follows.
async fn twice(agent: &Agent, name: &str, first: Value, second: Value) -> (Value, Value) {
    agent.create(&agent.run(name, 1, first)).await;
    agent.phase(&format!("{name}-1"), "Running").await;
    eventually("the first run has written", async || agent.file(name, "/count").await).await;
    let before = agent.inspect(name).await;
    agent.change(&format!("{name}-1"), json!({ "desired": "Stopped" })).await;
    agent.phase(&format!("{name}-1"), "Exited").await;
    agent.create(&next(agent, name, 1, second).await).await;
    agent.phase(&format!("{name}-2"), "Running").await;
    (before, agent.inspect(name).await)
}

/// How many starts the container's layer has seen, once this one has written.
async fn starts(agent: &Agent, name: &str) -> usize {
    let file = eventually("this run has written", async || agent.file(name, "/count").await).await;
    file.matches("started\n").count()
}

fn counting() -> Value {
    json!({ "container": { "command": ["sh", "-c", COUNT] } })
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_and_restart_policy_change_in_the_container_as_it_runs() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "limits").await;
    let spec = json!({ "resources": limits("500m", "64Mi", 50) });
    agent.create(&agent.run("web", 1, spec)).await;
    agent.phase("web-1", "Running").await;
    let before = agent.inspect("web").await;
    assert_eq!(before["HostConfig"]["Memory"], 64 << 20);

    for (resources, policy, [memory, cpus, pids]) in [
        (limits("1", "128Mi", 100), json!({ "name": "always" }), [128 << 20, 1_000_000_000, 100]),
        (
            limits("250m", "32Mi", 20),
            json!({ "name": "on-failure", "maximumRetryCount": 4 }),
            [32 << 20, 250_000_000, 20],
        ),
    ] {
        agent.change("web-1", json!({ "resources": resources, "restartPolicy": policy })).await;
        let found = eventually("the limits are in force", async || {
            let found = agent.inspect("web").await;
            let host = &found["HostConfig"];
            (host["Memory"] == memory
                && host["NanoCpus"] == cpus
                && host["PidsLimit"] == pids
                && host["RestartPolicy"]["Name"] == policy["name"])
                .then_some(found)
        })
        .await;
        let swap = found["HostConfig"]["MemorySwap"].as_i64();
        assert!(swap == Some(2 * memory) || swap == Some(-1), "{swap:?}");
        let most = policy["maximumRetryCount"].as_i64().unwrap_or_default();
        assert_eq!(found["HostConfig"]["RestartPolicy"]["MaximumRetryCount"], most);
        assert_eq!(start_of(&found), start_of(&before), "the container goes on");
    }
    agent.change("web-1", json!({ "restartPolicy": null })).await;
    eventually("no policy is left", async || {
        let found = agent.inspect("web").await;
        (found["HostConfig"]["RestartPolicy"]["Name"] == "no").then_some(())
    })
    .await;
    let generation = agent.runs().get("web-1").await.unwrap().metadata.generation;
    let status =
        agent.until("web-1", "observed", |status| status.observed_generation == generation).await;
    assert_eq!(Agent::reason(&status, "SpecApplied").1, "UpToDate");
    assert_eq!(status.restarts, Some(0));
    assert_eq!(start_of(&agent.inspect("web").await), start_of(&before));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declared_memory_swap_stays_as_declared_when_the_memory_changes() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "swap").await;
    let memory = |memory: &str| json!({ "limits": { "memory": memory } });
    let spec = json!({ "resources": memory("64Mi"), "container": { "memorySwap": "256Mi" } });
    agent.create(&agent.run("web", 1, spec)).await;
    agent.phase("web-1", "Running").await;
    let before = agent.inspect("web").await;
    agent.change("web-1", json!({ "resources": memory("192Mi") })).await;
    let found = eventually("the memory is in force", async || {
        let found = agent.inspect("web").await;
        (found["HostConfig"]["Memory"] == 192 << 20).then_some(found)
    })
    .await;
    assert_eq!(found["HostConfig"]["MemorySwap"], before["HostConfig"]["MemorySwap"]);
    assert_eq!(start_of(&found), start_of(&before));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_spec_replaces_the_container_and_an_event_tells_of_the_layer_that_is_lost() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "replace").await;
    let other = json!({
        "container": { "command": ["sh", "-c", COUNT], "env": [{ "name": "NEW", "value": "1" }] },
    });
    let (before, after) = twice(&agent, "web", counting(), other).await;
    assert_ne!(before["Id"], after["Id"]);
    assert!(after["Config"]["Env"].as_array().unwrap().contains(&json!("NEW=1")));
    assert_eq!(starts(&agent, "web").await, 1, "a new layer");
    assert_eq!(agent.containers().await.len(), 1);
    let status = agent.status("web-2").await;
    assert_eq!(status.restarts, Some(0));
    assert_eq!(status.container_id.as_deref(), after["Id"].as_str());
    let events: Api<Event> = Api::namespaced(agent.admin(), &agent.joined.namespace);
    let told = eventually("an Event tells of the layer", async || {
        let all = events.list(&ListParams::default()).await.unwrap();
        all.into_iter().find(|event| event.reason.as_deref() == Some("WritableLayerReplaced"))
    })
    .await;
    assert_eq!(told.regarding.unwrap().name.as_deref(), Some("web-2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_image_is_there_before_the_container_that_runs_is_stopped_for_it() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "first").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    agent.phase("web-1", "Running").await;
    let before = agent.inspect("web").await;

    let image = format!("{}/{}", registry().await.plain(), agent.scope.name("next"));
    let spec = json!({ "container": { "image": format!("{image}:1") } });
    agent.create(&next(&agent, "web", 1, spec).await).await;
    let status = agent
        .until("web-2", "ImageNotFound", |s| Agent::reason(s, "ImagePulled").1 == "ImageNotFound")
        .await;
    assert!(status.next_retry_at.is_some(), "{status:?}");
    assert_eq!(start_of(&agent.inspect("web").await), start_of(&before), "it goes on meanwhile");

    let path = format!("/images/kibotos.test/busybox:1/tag?repo={image}&tag=1");
    engine.call("POST", &path, None).await;
    agent.phase("web-2", "Running").await;
    let after = agent.inspect("web").await;
    assert_ne!(before["Id"], after["Id"]);
    assert_eq!(after["Config"]["Image"], format!("{image}:1"));
    let steps: Vec<_> =
        agent.status("web-2").await.steps.iter().map(|step| step.name.clone()).collect();
    assert_eq!(steps, ["Pull", "Stop", "Recreate", "Create", "Start"]);
    agent.change("web-2", json!({ "desired": "Removed" })).await;
    agent.phase("web-2", "Removed").await;
    engine.call("DELETE", &format!("/images/{image}:1"), None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn discard_gives_every_run_a_fresh_layer() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "discard").await;
    let mut spec = counting();
    spec["writableLayer"] = json!({ "retention": "Discard" });
    let (before, after) = twice(&agent, "web", spec.clone(), spec).await;
    assert_ne!(before["Id"], after["Id"]);
    assert_eq!(starts(&agent, "web").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn until_recreated_the_layer_goes_from_run_to_run() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "keep").await;
    let (before, after) = twice(&agent, "web", counting(), counting()).await;
    assert_eq!(before["Id"], after["Id"]);
    eventually("both starts are in it", async || (starts(&agent, "web").await == 2).then_some(()))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prefetch_that_fails_is_told_and_leaves_the_container_alone() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "prefetch").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    agent.phase("web-1", "Running").await;
    let before = agent.inspect("web").await;
    let place = registry().await.plain();
    let image = format!("{place}/{}:1", agent.scope.name("none"));
    agent.change("web-1", json!({ "prefetch": { "image": image } })).await;
    let status = agent
        .until("web-1", "ImageNotFound", |s| Agent::reason(s, "ImagePulled").1 == "ImageNotFound")
        .await;
    let (state, _, message) = Agent::reason(&status, "ImagePulled");
    assert_eq!(state, "False");
    assert!(message.contains(&image), "{message}");
    assert_eq!(Agent::reason(&status, "Ready").0, "True", "it runs as declared");
    assert_eq!(format!("{:?}", status.phase.unwrap()), "Running");
    assert_eq!(start_of(&agent.inspect("web").await), start_of(&before));

    let there = "kibotos.test/entry:1";
    agent.change("web-1", json!({ "prefetch": { "image": there } })).await;
    agent
        .until("web-1", "ImagePresent", |s| Agent::reason(s, "ImagePulled").1 == "ImagePresent")
        .await;
    assert_eq!(start_of(&agent.inspect("web").await), start_of(&before));
}
