//! From created to running to stopped to removed.

use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_becomes_running_is_stopped_started_again_with_its_layer_and_removed() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "life").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    let status = agent.phase("web-1", "Running").await;
    let found = agent.inspect("web").await;
    assert_eq!(found["State"]["Running"], true);
    assert_eq!(status.container_id.as_deref(), found["Id"].as_str());
    assert_eq!(status.container_name, Some(agent.scope.name("web")));
    assert!(status.started_at.is_some());
    assert_eq!(Agent::reason(&status, "Ready").0, "True");
    let steps: Vec<_> = status.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["Prepare", "Create", "Start"]);

    agent.change("web-1", json!({ "desired": "Stopped" })).await;
    let status = agent.phase("web-1", "Exited").await;
    assert_eq!(status.exit_code, Some(0));
    let stopped = agent.inspect("web").await;
    assert_eq!(stopped["Id"], found["Id"], "a stop keeps the container");

    let previous = json!({
        "containerId": stopped["Id"], "startedAt": stopped["State"]["StartedAt"],
    });
    agent.create(&agent.run("web", 2, json!({ "previous": previous }))).await;
    let status = agent.phase("web-2", "Running").await;
    assert_eq!(status.container_id.as_deref(), found["Id"].as_str(), "with its writable layer");
    assert_eq!(status.restarts, Some(0));

    agent.change("web-2", json!({ "desired": "Removed" })).await;
    agent.phase("web-2", "Removed").await;
    assert_eq!(agent.inspect("web").await, Value::Null);
    let left: Vec<_> =
        std::fs::read_dir(agent.root()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains('_')), "{left:?}");
}
