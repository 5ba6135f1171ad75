//! How a run ends by itself, or does not.

use kibotos::api::workspace_run::WorkspaceRunStatus;
use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine};

fn runs(line: &str, policy: Value) -> Value {
    json!({ "container": { "command": ["sh", "-c", line] }, "restartPolicy": policy })
}

fn is(status: &WorkspaceRunStatus, phase: &str) -> bool {
    status.phase.is_some_and(|is| format!("{is:?}") == phase)
}

fn reason(status: &WorkspaceRunStatus) -> (String, String, String) {
    Agent::reason(status, "ContainerRunning")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_restarts_is_over_with_its_first_exit() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "once").await;
    let no = json!({ "name": "no" });
    let mut hungry = runs("exec dd if=/dev/zero of=/dev/null bs=96M", no.clone());
    hungry["resources"] = json!({ "limits": { "memory": "16Mi" } });
    hungry["container"]["memorySwap"] = "16Mi".into();
    agent.create(&agent.run("good", 1, runs("exit 0", no.clone()))).await;
    agent.create(&agent.run("bad", 1, runs("exit 3", no.clone()))).await;
    agent.create(&agent.run("big", 1, hungry)).await;

    let status = agent.phase("good-1", "Exited").await;
    assert_eq!(status.exit_code, Some(0));
    assert_eq!(reason(&status).1, "Completed");
    assert_eq!(Agent::reason(&status, "Ready").0, "True");
    assert!(status.started_at.is_some() && status.finished_at.is_some());
    assert_eq!(status.restarts, Some(0));

    let status = agent.phase("bad-1", "Failed").await;
    assert_eq!(status.exit_code, Some(3));
    assert_eq!(reason(&status).1, "ExitedWithError");
    assert!(reason(&status).2.contains("exit code 3"), "{}", reason(&status).2);
    assert_eq!(Agent::reason(&status, "Ready").0, "False");
    assert_eq!(Agent::reason(&status, "Stalled").0, "True", "nothing tries it again");
    assert_eq!(status.next_retry_at, None);
    assert_eq!(status.oom_killed, None);

    let status = agent.phase("big-1", "Failed").await;
    assert_eq!(status.exit_code, Some(137));
    assert_eq!(reason(&status).1, "OutOfMemory");
    assert_eq!(status.oom_killed, Some(true));

    let before = agent.inspect("good").await;
    agent.change("good-1", json!({ "desired": "Stopped" })).await;
    let generation = agent.runs().get("good-1").await.unwrap().metadata.generation;
    let status =
        agent.until("good-1", "observed", |status| status.observed_generation == generation).await;
    assert!(is(&status, "Exited"), "{status:?}");
    assert_eq!(status.exit_code, Some(0));
    assert_eq!(agent.inspect("good").await, before, "what is over stays as it is");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_policy_whatever_ends_is_started_again_later_and_later() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "crash").await;
    agent.create(&agent.run("crash", 1, runs("exit 7", Value::Null))).await;
    agent.create(&agent.run("done", 1, runs("exit 0", Value::Null))).await;
    for (name, code) in [("crash-1", 7), ("done-1", 0)] {
        let status = agent
            .until(name, "started again twice and waiting", |s| {
                s.restarts >= Some(2) && is(s, "Failed") && s.next_retry_at.is_some()
            })
            .await;
        assert_eq!(reason(&status).1, "CrashLoopBackOff");
        assert!(reason(&status).2.contains(&format!("exit code {code}")), "{}", reason(&status).2);
        assert_eq!(Agent::reason(&status, "Reconciling").0, "True");
        assert_eq!(status.exit_code, Some(code));
        let (finished, next) = (status.finished_at.unwrap().0, status.next_retry_at.unwrap().0);
        let wait = next.duration_since(finished).as_secs();
        assert!((3..=300).contains(&wait), "{wait} s after {:?} restarts", status.restarts);
    }
    let policy = &agent.inspect("crash").await["HostConfig"]["RestartPolicy"]["Name"];
    assert!(policy == "" || policy == "no", "{policy}: the engine starts nothing by itself");
    agent.change("crash-1", json!({ "desired": "Stopped" })).await;
    let status = agent.until("crash-1", "over", |s| is(s, "Exited") || is(s, "Failed")).await;
    let status = if status.next_retry_at.is_some() {
        agent.until("crash-1", "no more tries", |s| s.next_retry_at.is_none()).await
    } else {
        status
    };
    assert_eq!(Agent::reason(&status, "Ready").0, "True");
}

#[tokio::test(flavor = "multi_thread")]
async fn declared_policies_are_the_engines_to_carry_out() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "policy").await;
    let twice = json!({ "name": "on-failure", "maximumRetryCount": 2 });
    agent.create(&agent.run("twice", 1, runs("exit 5", twice.clone()))).await;
    agent.create(&agent.run("well", 1, runs("exit 0", twice))).await;
    agent.create(&agent.run("always", 1, runs("exit 0", json!({ "name": "always" })))).await;

    let status = agent
        .until("twice-1", "over", |s| is(s, "Failed") && reason(s).1 == "ExitedWithError")
        .await;
    assert_eq!(status.exit_code, Some(5));
    assert_eq!(status.restarts, Some(2));
    assert_eq!(Agent::reason(&status, "Stalled").0, "True");
    assert_eq!(agent.inspect("twice").await["RestartCount"], 2, "by the engine");

    let status = agent.phase("well-1", "Exited").await;
    assert_eq!(reason(&status).1, "Completed");
    assert_eq!(status.restarts, Some(0));

    let status = agent.until("always-1", "started again", |s| s.restarts >= Some(2)).await;
    assert!(status.started_at.is_some());
    let status = agent.until("always-1", "waiting", |s| reason(s).1 == "CrashLoopBackOff").await;
    assert!(is(&status, "Failed"), "{status:?}");
    assert!(agent.inspect("always").await["RestartCount"].as_i64() >= Some(2), "by the engine");
}
