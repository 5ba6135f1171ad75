//! What is not the agent's: read, never changed, never adopted.

use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine};

/// Foreign things, by the path at which the engine tells of each.
struct Foreign {
    paths: Vec<String>,
}

impl Foreign {
    /// Containers that are in every state and look like the agent's, a volume and a network.
    async fn make(agent: &Agent, image: &str) -> Self {
        let engine = &agent.engine;
        let web = agent.scope.name("web");
        let mut paths = Vec::new();
        for (name, image, state) in [
            (agent.scope.name("copy"), image, "running"),
            (agent.scope.name("copied"), image, "exited"),
            (agent.scope.name("frozen"), image, "paused"),
            (agent.scope.name("never"), image, "created"),
            (format!("{web}-1"), "kibotos.test/busybox:1", "running"),
            (format!("x-{web}"), "kibotos.test/busybox:1", "exited"),
        ] {
            let body = json!({
                "Image": image, "Entrypoint": ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.1; done"],
                "HostConfig": { "RestartPolicy": { "Name": "no" } },
            });
            let (status, made) = agent.scope.create(&format!("name={name}"), body).await;
            assert_eq!(status, 201, "{made}");
            let id = made["Id"].as_str().unwrap();
            if state != "created" {
                engine.call("POST", &format!("/containers/{id}/start"), None).await;
            }
            match state {
                "exited" => engine.call("POST", &format!("/containers/{id}/stop?t=0"), None).await,
                "paused" => engine.call("POST", &format!("/containers/{id}/pause"), None).await,
                _ => Value::Null,
            };
            paths.push(format!("/containers/{id}/json"));
        }
        paths.push(format!("/volumes/{}", agent.scope.volume("data").await));
        paths.push(format!("/networks/{}", agent.scope.network("net").await));
        Self { paths }
    }

    async fn inspect(&self, agent: &Agent) -> Vec<String> {
        let mut all = Vec::new();
        for path in &self.paths {
            all.push(agent.engine.call("GET", path, None).await.to_string());
        }
        all
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_foreign_is_the_same_byte_for_byte_after_a_life_beside_it() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "foreign").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    let status = agent.phase("web-1", "Running").await;
    let own = status.container_id.clone().unwrap();
    // What is made of such an image bears the labels of ours.
    let image = agent.scope.name("committed");
    engine
        .call("POST", &format!("/commit?container={own}&repo={image}&tag=1"), Some(&json!({})))
        .await;
    let foreign = Foreign::make(&agent, &format!("{image}:1")).await;
    let copy = &engine.call("GET", &foreign.paths[0], None).await;
    assert_eq!(copy["Config"]["Labels"]["kibotos.dev/host-uid"], agent.host_uid.as_str());
    let before = foreign.inspect(&agent).await;

    agent.resyncs(2).await;
    assert_eq!(agent.status("web-1").await.container_id.as_deref(), Some(own.as_str()));
    agent.change("web-1", json!({ "desired": "Stopped" })).await;
    agent.phase("web-1", "Exited").await;
    let previous = json!({ "containerId": own, "startedAt": status.container_started_at });
    let discard = json!({ "writableLayer": { "retention": "Discard" }, "previous": previous });
    agent.create(&agent.run("web", 2, discard)).await;
    let status = agent.phase("web-2", "Running").await;
    assert_ne!(status.container_id.as_deref(), Some(own.as_str()));
    assert!(before.iter().all(|one| !one.contains(&status.container_id.clone().unwrap())));
    agent.change("web-2", json!({ "desired": "Removed" })).await;
    agent.phase("web-2", "Removed").await;
    assert_eq!(agent.inspect("web").await, Value::Null);
    agent.delete("web-1").await;
    agent.delete("web-2").await;
    agent.resyncs(3).await;
    assert_eq!(foreign.inspect(&agent).await, before);

    // A Workspace of that uid that comes back does not find them either.
    agent.create(&agent.run("web", 3, json!({}))).await;
    let status = agent.phase("web-3", "Running").await;
    assert!(before.iter().all(|one| !one.contains(&status.container_id.clone().unwrap())));
    agent.delete("web-3").await;
    agent.resyncs(3).await;
    assert_eq!(foreign.inspect(&agent).await, before);
    let found = agent.inspect("web").await;
    assert_eq!(found["State"]["Running"], false, "a run deleted by hand is stopped");
    for container in agent.containers().await {
        let id = container["Id"].as_str().unwrap();
        engine.call("DELETE", &format!("/containers/{id}?force=1"), None).await;
    }
    engine.call("DELETE", &format!("/images/{image}:1?force=1"), None).await;
}
