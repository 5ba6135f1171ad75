//! Whether the guest answers, apart from the phase.

use kibotos::api::workspace::Guest;
use serde_json::json;

use crate::fixture::{Agent, agent, cluster, engine};

#[tokio::test(flavor = "multi_thread")]
async fn the_guest_is_what_its_check_says_and_ready_waits_for_its_first_success() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "health").await;
    let probe = tempfile::tempdir_in("/tmp").unwrap();
    let spec = json!({ "container": {
        "binds": [format!("{}:/probe", probe.path().display())],
        "healthcheck": {
            "test": ["CMD", "test", "-f", "/probe/ok"],
            "interval": "300ms", "timeout": "20s", "retries": 3, "startPeriod": "10m",
        },
    }});
    agent.create(&agent.run("web", 1, spec)).await;
    let status = agent.phase("web-1", "Running").await;
    assert_eq!(status.guest, Some(Guest::Unknown));
    let (ready, reason, message) = Agent::reason(&status, "Ready");
    assert_eq!((ready.as_str(), reason.as_str()), ("False", "InProgress"));
    assert!(message.contains("health check"), "{message}");
    assert_eq!(Agent::reason(&status, "ContainerRunning").0, "True");

    std::fs::write(probe.path().join("ok"), "").unwrap();
    let answers =
        |guest| move |s: &kibotos::api::workspace_run::WorkspaceRunStatus| s.guest == Some(guest);
    let status = agent.until("web-1", "Responding", answers(Guest::Responding)).await;
    assert_eq!(Agent::reason(&status, "Ready").0, "True");

    std::fs::remove_file(probe.path().join("ok")).unwrap();
    let status = agent.until("web-1", "Unresponsive", answers(Guest::Unresponsive)).await;
    assert_eq!(format!("{:?}", status.phase.unwrap()), "Running", "the phase is another matter");
    assert_eq!(Agent::reason(&status, "Ready").0, "True", "once well is enough");

    agent.change("web-1", json!({ "desired": "Stopped" })).await;
    let status = agent.phase("web-1", "Exited").await;
    assert_eq!(status.guest, Some(Guest::Unknown));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_check_the_guest_is_unknown_and_ready_waits_for_nothing() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "nocheck").await;
    let image = json!({ "image": "kibotos.test/entry:1" });
    for (name, container) in [
        ("none", json!({})),
        ("off", json!({ "image": "kibotos.test/entry:1", "healthcheck": { "test": ["NONE"] } })),
    ] {
        agent.create(&agent.run(name, 1, json!({ "container": container }))).await;
        let status = agent.phase(&format!("{name}-1"), "Running").await;
        assert_eq!(status.guest, Some(Guest::Unknown), "{name}");
        assert_eq!(Agent::reason(&status, "Ready").0, "True", "{name}");
    }
    // The image has a check of its own, whose first answer is an hour away.
    agent.create(&agent.run("image", 1, json!({ "container": image }))).await;
    let status = agent.phase("image-1", "Running").await;
    assert_eq!(Agent::reason(&status, "Ready").0, "False");
}
