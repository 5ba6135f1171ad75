//! What someone does on the engine by hand: the declared state wins, or it is the run's end.

use futures::future::join_all;
use kibotos::api::workspace_run::WorkspaceRunStatus;
use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine};

/// A process that no signal but SIGKILL ends, for the first process of a container hears no other.
const DEAF: &str = "sleep 1000";
/// The reason and phase of an end, or None where the run goes on.
type End = Option<(&'static str, &'static str)>;

fn policy(name: &str) -> Value {
    if name == "unset" { Value::Null } else { json!({ "name": name }) }
}

async fn running(agent: &Agent, name: &str, restart: &str, deaf: bool) -> Value {
    let mut spec = json!({ "restartPolicy": policy(restart), "stop": { "gracePeriod": "1s" } });
    if deaf {
        spec["container"]["command"] = DEAF.split(' ').collect();
    }
    agent.create(&agent.run(name, 1, spec)).await;
    agent.phase(&format!("{name}-1"), "Running").await;
    agent.inspect(name).await
}

async fn by_hand(agent: &Agent, name: &str, verb: &str) {
    let path = format!("/containers/{}/{verb}", agent.scope.name(name));
    let (status, answer) = agent.engine.request("POST", &path, None).await;
    assert!(status < 300, "{path}: {status} {answer}");
}

fn step<'a>(status: &'a WorkspaceRunStatus, name: &str) -> Option<&'a str> {
    let step = status.steps.iter().rev().find(|step| step.name == name)?;
    Some(step.message.as_deref().unwrap_or_default())
}

async fn one_each(agent: &Agent) {
    let mut names: Vec<_> =
        agent.containers().await.iter().map(|c| c["Names"][0].to_string()).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}

async fn stopped_by_hand(agent: &Agent, row: (usize, &str, &str, bool, End)) {
    let (number, restart, verb, deaf, end) = row;
    let name = format!("r{number:03}");
    let before = running(agent, &name, restart, deaf).await;
    by_hand(agent, &name, verb).await;
    let run = format!("{name}-1");
    let started = |status: &WorkspaceRunStatus| status.container_started_at.clone();
    let old = before["State"]["StartedAt"].as_str().map(str::to_owned);
    let Some((phase, reason)) = end else {
        let what = format!("running again: {row:?}");
        let again = |s: &WorkspaceRunStatus| {
            started(s) != old && s.phase.is_some_and(|p| format!("{p:?}") == "Running")
        };
        let status = agent.until(&run, &what, again).await;
        assert_eq!(status.container_id.as_deref(), before["Id"].as_str(), "{row:?}");
        assert_eq!(status.restarts, Some(1), "{row:?}");
        let message = step(&status, "Start").unwrap();
        let told =
            if restart == "unset" { "exit code" } else { "stopped or signalled on the host" };
        assert!(message.contains(told), "{row:?}: {message}");
        return;
    };
    let status = agent.phase(&run, phase).await;
    assert_eq!(Agent::reason(&status, "ContainerRunning").1, reason, "{row:?}");
    assert_eq!(started(&status), old, "{row:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_by_hand_is_undone_where_the_policy_keeps_the_run_up_and_is_its_end_elsewhere() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "hands").await;
    let completed = Some(("Exited", "Completed"));
    let failed = Some(("Failed", "ExitedWithError"));
    let rows = [
        ("unset", "stop", false, None),
        ("always", "stop", false, None),
        ("unless-stopped", "stop", false, None),
        ("on-failure", "stop", false, completed),
        ("on-failure", "stop", true, None),
        ("no", "stop", false, completed),
        ("no", "stop", true, failed),
        ("unset", "kill", true, None),
        ("always", "kill", true, None),
        ("unless-stopped", "kill", true, None),
        ("on-failure", "kill", true, None),
        ("no", "kill", true, failed),
    ];
    let rows = rows.into_iter().enumerate().map(|(n, row)| (n, row.0, row.1, row.2, row.3));
    join_all(rows.map(|row| stopped_by_hand(&agent, row))).await;
    one_each(&agent).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_paused_renamed_or_updated_by_hand_is_set_right_in_place() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "handset").await;
    let limits = json!({ "limits": { "memory": "64Mi" } });
    let spec = json!({ "restartPolicy": { "name": "always" }, "resources": limits });
    agent.create(&agent.run("web", 1, spec)).await;
    agent.phase("web-1", "Running").await;
    let before = agent.inspect("web").await;
    let id = before["Id"].as_str().unwrap();
    let done = async |name: &str| {
        agent.until("web-1", name, |status| step(status, name).is_some()).await;
        agent.until("web-1", "at rest", |s| Agent::reason(s, "Ready").0 == "True").await;
    };

    by_hand(&agent, "web", "pause").await;
    done("Unpause").await;
    let other = agent.scope.name("other");
    by_hand(&agent, "web", &format!("rename?name={other}")).await;
    done("Rename").await;
    let update = json!({
        "Memory": 32 << 20, "MemorySwap": 64 << 20, "RestartPolicy": { "Name": "no" },
    });
    let path = format!("/containers/{id}/update");
    agent.engine.call("POST", &path, Some(&update)).await;
    done("Update").await;

    let after = agent.inspect("web").await;
    assert_eq!((&after["Id"], &after["State"]["Paused"]), (&before["Id"], &json!(false)));
    assert_eq!(after["State"]["StartedAt"], before["State"]["StartedAt"], "never started again");
    for field in ["Memory", "MemorySwap", "RestartPolicy"] {
        assert_eq!(after["HostConfig"][field], before["HostConfig"][field], "{field}");
    }
    one_each(&agent).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_removed_by_hand_is_made_anew_but_not_where_it_would_run_twice() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "handrm").await;
    let rows = [("ra", "unset"), ("rb", "always"), ("rc", "unless-stopped"), ("rd", "on-failure")];
    let agent = &agent;
    let remove = async |name: &'static str, restart: &'static str| {
        let before = running(agent, name, restart, false).await;
        let path = format!("/containers/{}?force=1", agent.scope.name(name));
        agent.engine.call("DELETE", &path, None).await;
        before["Id"].as_str().map(str::to_owned)
    };
    let remove = &remove;
    join_all(rows.map(|(name, restart)| async move {
        let old = remove(name, restart).await;
        let new = |s: &WorkspaceRunStatus| {
            s.container_id != old && s.phase.is_some_and(|p| format!("{p:?}") == "Running")
        };
        agent.until(&format!("{name}-1"), "made anew", new).await;
    }))
    .await;
    remove("re", "no").await;
    let status = agent.phase("re-1", "Failed").await;
    assert_eq!(Agent::reason(&status, "ContainerRunning").1, "Interrupted");
    assert_eq!(agent.inspect("re").await, Value::Null);
    assert_eq!(agent.containers().await.len(), rows.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_over_or_to_be_stopped_stays_so_whoever_starts_it() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "handstart").await;
    running(&agent, "stay", "always", false).await;
    agent.change("stay-1", json!({ "desired": "Stopped" })).await;
    agent.phase("stay-1", "Exited").await;
    running(&agent, "once", "no", false).await;
    by_hand(&agent, "once", "stop").await;
    agent.phase("once-1", "Exited").await;
    for name in ["stay", "once"] {
        let path = format!("/containers/{}/update", agent.scope.name(name));
        let always = json!({ "RestartPolicy": { "Name": "always" } });
        agent.engine.call("POST", &path, Some(&always)).await;
        let before = agent.inspect(name).await["State"]["StartedAt"].clone();
        by_hand(&agent, name, "start").await;
        let run = format!("{name}-1");
        let again = |s: &WorkspaceRunStatus| {
            s.phase.is_some_and(|p| format!("{p:?}") == "Exited")
                && s.container_started_at.as_deref() != before.as_str()
        };
        agent.until(&run, "stopped again", again).await;
        let after = agent.inspect(name).await;
        assert_eq!(after["State"]["Running"], false);
        assert_eq!(after["HostConfig"]["RestartPolicy"]["Name"], "no");
    }
    let status = agent.status("once-1").await;
    assert_eq!(Agent::reason(&status, "ContainerRunning").1, "Completed", "its end is for good");
    let path = format!("/containers/{}", agent.scope.name("stay"));
    agent.engine.call("DELETE", &path, None).await;
    agent.change("stay-1", json!({ "desired": "Removed" })).await;
    agent.phase("stay-1", "Removed").await;
}
