//! An engine that ends and comes back, by itself and under the agent's eyes or not.

use std::collections::BTreeMap;

use futures::future::join_all;
use kibotos::api::workspace_run::WorkspaceRunStatus;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::{Agent, cluster, eventually, private_engine};

const POLICIES: [&str; 5] = ["unset", "always", "unless-stopped", "on-failure", "no"];

/// A run for each restart policy and kind of process.
struct Row {
    name: String,
    policy: &'static str,
    deaf: bool,
}

impl Row {
    fn all(of: &str, policies: &[&'static str]) -> Vec<Self> {
        let row = |(n, policy): (usize, &&'static str), deaf| Self {
            name: format!("{}{n}{of}", if deaf { "d" } else { "o" }),
            policy: *policy,
            deaf,
        };
        let both = |(n, p)| [row((n, p), false), row((n, p), true)];
        policies.iter().enumerate().flat_map(both).collect()
    }

    fn run(&self) -> String {
        format!("{}-1", self.name)
    }

    async fn begin(&self, agent: &Agent) {
        let mut spec = json!({ "stop": { "gracePeriod": "1s" } });
        if self.policy != "unset" {
            spec["restartPolicy"] = json!({ "name": self.policy });
        }
        if self.deaf {
            spec["container"]["command"] = json!(["sleep", "1000"]);
        }
        agent.create(&agent.run(&self.name, 1, spec)).await;
        agent.phase(&self.run(), "Running").await;
    }
}

/// Id and StartedAt of the container, or nulls.
async fn life(agent: &Agent, name: &str) -> (Value, Value) {
    let seen = agent.inspect(name).await;
    (seen["Id"].clone(), seen["State"]["StartedAt"].clone())
}

async fn lives(agent: &Agent, rows: &[Row]) -> BTreeMap<String, (Value, Value)> {
    let each = rows.iter().map(|row| async { (row.name.clone(), life(agent, &row.name).await) });
    join_all(each).await.into_iter().collect()
}

fn is(status: &WorkspaceRunStatus, phase: &str) -> bool {
    status.phase.is_some_and(|is| format!("{is:?}") == phase)
}

/// After an engine that took its containers along.
async fn all_came_back(agent: &Agent, rows: &[Row], before: &BTreeMap<String, (Value, Value)>) {
    for row in rows {
        let (id, started) = &before[&row.name];
        let what = format!("{} {} {}", row.name, row.policy, row.deaf);
        if row.policy == "no" {
            let status = agent.phase(&row.run(), "Failed").await;
            assert_eq!(Agent::reason(&status, "ContainerRunning").1, "Interrupted", "{what}");
            continue;
        }
        let again = |s: &WorkspaceRunStatus| {
            is(s, "Running") && s.container_started_at.as_deref() != started.as_str()
        };
        let status = agent.until(&row.run(), &format!("running again: {what}"), again).await;
        assert_eq!(status.container_id.as_deref(), id.as_str(), "{what}");
        assert_eq!(agent.inspect(&row.name).await["State"]["Running"], true, "{what}");
    }
    let present = agent.containers().await.len();
    assert_eq!(
        present,
        agent.runs().list(&kube::api::ListParams::default()).await.unwrap().items.len()
    );
}

async fn unknown(agent: &Agent, rows: &[Row]) {
    for row in rows {
        agent
            .until(&row.run(), "Unknown, and never ended", |s| {
                assert!(!is(s, "Exited") && !is(s, "Failed"), "{}: {s:?}", row.name);
                is(s, "Unknown")
            })
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_engine_takes_along_is_interrupted_and_runs_again_but_what_had_ended_does_not() {
    let (engine, server) = private_engine().await;
    let cluster = cluster().await;
    let mut agent = Agent::joined(&cluster, &engine, engine.socket(), "restart").await;
    agent.start();
    let rows = Row::all("x", &POLICIES);
    let done = json!({ "restartPolicy": { "name": "no" }, "container": { "command": ["true"] } });
    agent.create(&agent.run("done", 1, done)).await;
    agent.create(&agent.run("rest", 1, json!({ "restartPolicy": { "name": "always" } }))).await;
    join_all(rows.iter().map(|row| row.begin(&agent))).await;
    agent.phase("rest-1", "Running").await;
    agent.change("rest-1", json!({ "desired": "Stopped" })).await;
    agent.phase("rest-1", "Exited").await;
    agent.phase("done-1", "Exited").await;
    let (before, done) = (lives(&agent, &rows).await, life(&agent, "done").await);
    let rest = life(&agent, "rest").await;

    server.end(Signal::TERM).await;
    unknown(&agent, &rows).await;
    server.start_again(&json!({})).await;
    all_came_back(&agent, &rows, &before).await;

    // The agent is away too, and the engine has no time to end anything in order.
    let more = Row::all("y", &["no", "on-failure"]);
    join_all(more.iter().map(|row| row.begin(&agent))).await;
    let kept: Vec<_> = rows.into_iter().filter(|row| row.policy != "no").chain(more).collect();
    let before = lives(&agent, &kept).await;
    agent.kill();
    server.end(Signal::KILL).await;
    server.start_again(&json!({})).await;
    agent.start();
    all_came_back(&agent, &kept, &before).await;

    let status = agent.status("done-1").await;
    assert_eq!(Agent::reason(&status, "ContainerRunning").1, "Completed");
    assert_eq!(life(&agent, "done").await, done, "it has run once");
    assert_eq!(life(&agent, "rest").await, rest, "what is to be stopped is not started");
    assert!(is(&agent.status("rest-1").await, "Exited"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_outlives_its_engine_is_adopted_and_an_engine_that_hangs_is_away_until_it_answers() {
    let (engine, server) = private_engine().await;
    server.end(Signal::TERM).await;
    server.start_again(&json!({ "live-restore": true })).await;
    let cluster = cluster().await;
    let mut agent = Agent::joined(&cluster, &engine, engine.socket(), "outlive").await;
    agent.start();
    let rows = Row::all("z", &POLICIES);
    join_all(rows.iter().map(|row| row.begin(&agent))).await;
    let before = lives(&agent, &rows).await;

    server.end(Signal::TERM).await;
    unknown(&agent, &rows).await;
    server.start_again(&json!({})).await;
    for row in &rows {
        agent.phase(&row.run(), "Running").await;
    }
    assert_eq!(lives(&agent, &rows).await, before);

    server.end(Signal::KILL).await;
    agent.kill();
    let from = agent.logged().len();
    server.start_again(&json!({})).await;
    agent.start();
    // It ends under the new engine, and is told of rightly.
    let one = &rows.iter().find(|row| row.policy == "no" && !row.deaf).unwrap().name;
    let path = format!("/containers/{}/kill?signal=TERM", agent.scope.name(one));
    eventually("the agent has taken all up", async || {
        let taken = agent.logged()[from..].matches("taking up a run").count();
        (taken == rows.len()).then_some(())
    })
    .await;
    assert!(server.signal(Signal::STOP));
    unknown(&agent, &rows).await;
    assert!(server.signal(Signal::CONT));
    for row in &rows {
        agent.phase(&row.run(), "Running").await;
    }
    assert_eq!(lives(&agent, &rows).await, before);
    agent.engine.call("POST", &path, None).await;
    let status = agent.phase(&format!("{one}-1"), "Exited").await;
    assert_eq!(Agent::reason(&status, "ContainerRunning").1, "Completed");
}
