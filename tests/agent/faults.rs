//! An engine that goes wrong: each fault is that of one run, is told in its conditions, and is made
//! good when it passes.

use std::time::Duration;

use kibotos::api::workspace_run::WorkspaceRunStatus;
use serde_json::{Value, json};

use super::on_fake::on_fake;
use crate::{
    fake::{Container, Fault, Gate, Image, Options, Process, Pull, What},
    fixture::{Agent, eventually, send},
};

/// The reason for which the run is not ready.
fn reason(status: &WorkspaceRunStatus) -> String {
    Agent::reason(status, "Ready").1
}

fn answer(status: u16, message: &str) -> What {
    What::Answer(status, message.to_owned())
}

async fn running(agent: &Agent, name: &str) -> String {
    agent.create(&agent.run(name, 1, json!({}))).await;
    agent.phase(&format!("{name}-1"), "Running").await.container_id.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_hangs_in_one_container_holds_up_no_other() {
    let (agent, fake) = on_fake("hang", Options::default()).await;
    let id = running(&agent, "hung").await;
    let path = format!("/containers/{id}/json");
    fake.fault(Fault::on("GET", &path, What::Hang));
    let asked = fake.count("GET", &path);
    fake.health(&id, "healthy");
    eventually("it hangs", async || (fake.count("GET", &path) > asked).then_some(())).await;
    running(&agent, "other").await;
    agent.change("other-1", json!({ "desired": "Stopped" })).await;
    agent.phase("other-1", "Exited").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_cannot_be_looked_at_is_unknown_until_it_can() {
    let (agent, fake) = on_fake("blind", Options::default()).await;
    let id = running(&agent, "blind").await;
    let path = format!("/containers/{id}/json");
    fake.fault(Fault::on("GET", &path, answer(500, "input/output error")));
    fake.health(&id, "healthy");
    let status = agent.phase("blind-1", "Unknown").await;
    assert_eq!(reason(&status), "EngineUnreachable");
    assert_eq!(status.container_id.as_deref(), Some(id.as_str()), "what is known stays told");
    assert!(Agent::reason(&status, "Ready").2.contains("input/output error"));
    running(&agent, "other").await;
    fake.heal();
    let status = agent.phase("blind-1", "Running").await;
    assert_eq!((status.restarts, status.container_id), (Some(0), Some(id)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_engine_refuses_in_passing_is_done_when_it_takes_it() {
    let (agent, fake) = on_fake("passing", Options::default()).await;
    let create = "/containers/create";
    fake.fault(Fault::on("POST", create, answer(500, "something new")).nth(1));
    // Nobody has the name: engines forget to free it.
    let taken = "Conflict. The container name \"/web\" is already in use by container \"f00\".";
    fake.fault(Fault::on("POST", create, answer(409, taken)).nth(2));
    fake.fault(Fault::on("POST", "/containers/.*/start", answer(500, "ttrpc: closed")).nth(1));
    running(&agent, "web").await;
    assert_eq!(fake.containers().len(), 1);
    assert_eq!(fake.count("POST", create), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_engine_refuses_for_good_is_told_with_its_reason_and_next_try() {
    let (agent, fake) = on_fake("lasting", Options::default()).await;
    for (name, message, told) in [
        ("port", "Bind for 0.0.0.0:80 failed: port is already allocated", "PortConflict"),
        ("full", "write /var/lib/docker/x: no space left on device", "NoSpace"),
        ("odd", "a new fault", "StartFailed"),
    ] {
        let path = format!("/containers/.*{name}.*/start|/containers/create");
        fake.fault(Fault::on("POST", &path, answer(500, message)));
        agent.create(&agent.run(name, 1, json!({}))).await;
        let status = agent.phase(&format!("{name}-1"), "Failed").await;
        assert_eq!(reason(&status), told);
        assert!(Agent::reason(&status, "Ready").2.contains(message), "{status:?}");
        assert!(status.next_retry_at.is_some(), "{status:?}");
        fake.heal();
        agent.phase(&format!("{name}-1"), "Running").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_died_in_its_removal_is_made_anew_seen_or_unseen() {
    let (mut agent, fake) = on_fake("dead", Options::default()).await;
    let mut id = running(&agent, "web").await;
    for seen in [true, false] {
        if !seen {
            agent.kill();
        }
        fake.exit(&id, 1);
        fake.make_dead(&id);
        if !seen {
            agent.start();
        }
        let other = |s: &WorkspaceRunStatus| s.container_id.as_ref().is_some_and(|new| *new != id);
        agent.until("web-1", "made anew", other).await;
        id = agent.phase("web-1", "Running").await.container_id.unwrap();
        assert_eq!(fake.containers().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_signal_of_now_has_the_grace_to_itself_before_that_of_then() {
    let (agent, fake) = on_fake("signal", Options::default()).await;
    // Made with SIGTERM, at which it would end with another code.
    fake.processes("kibotos.test/busybox:1", Process::obedient(7));
    let id = running(&agent, "web").await;
    let stop = json!({ "signal": "SIGUSR1", "gracePeriod": "60s" });
    agent.change("web-1", json!({ "desired": "Stopped", "stop": stop })).await;
    let looks = || fake.count("GET", &format!("/containers/{id}/json"));
    let killed = || fake.count("POST", &format!("/containers/{id}/kill")) == 1;
    eventually("it is told", async || killed().then_some(())).await;
    let before = looks();
    eventually("it is waited for", async || (looks() > before + 2).then_some(())).await;
    fake.exit(&id, 0);
    assert_eq!(agent.phase("web-1", "Exited").await.exit_code, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_takes_its_time_is_waited_for() {
    let removal_takes = Duration::from_secs(2);
    let (agent, fake) = on_fake("slow", Options { removal_takes, ..Options::default() }).await;
    let first = running(&agent, "web").await;
    // By hand, and in the midst of it the run is still to run.
    let socket = fake.socket();
    let path = format!("/containers/{first}?force=1");
    let (status, _) = send(&socket, "DELETE", &path, None).await.unwrap();
    assert_eq!(status, 204);
    let other = |s: &WorkspaceRunStatus| s.container_id.as_ref().is_some_and(|id| *id != first);
    agent.until("web-1", "made anew", other).await;
    agent.phase("web-1", "Running").await;
    agent.change("web-1", json!({ "desired": "Removed" })).await;
    agent.phase("web-1", "Removed").await;
    assert!(fake.containers().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_while_no_event_is_heard_is_seen_all_the_same() {
    let (agent, fake) = on_fake("deaf", Options::default()).await;
    let id = running(&agent, "web").await;
    let other = fake.foreign("other", json!({}));
    fake.cut_events();
    // More than an engine keeps.
    for _ in 0..300 {
        fake.health(&other, "healthy");
    }
    fake.exit(&id, 3);
    let again = |s: &WorkspaceRunStatus| s.restarts == Some(1);
    let status = agent.until("web-1", "started again", again).await;
    assert_eq!(status.container_id.as_deref(), Some(id.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_come_twice_and_in_disorder_change_nothing() {
    let (agent, fake) = on_fake("echo", Options::default()).await;
    let id = running(&agent, "web").await;
    let change = |method: &str| fake.count(method, "/.*");
    let before = (change("POST"), change("DELETE"));
    let looks = fake.count("GET", &format!("/containers/{id}/json"));
    fake.repeat_events();
    fake.repeat_events();
    let looked = || fake.count("GET", &format!("/containers/{id}/json")) > looks;
    eventually("it is looked at", async || looked().then_some(())).await;
    agent.change("web-1", json!({ "resources": { "limits": { "memory": "64Mi" } } })).await;
    let memory = || fake.container(&id).unwrap().host["Memory"] == 64 << 20;
    eventually("it is changed", async || memory().then_some(())).await;
    assert_eq!((change("POST"), change("DELETE")), (before.0 + 1, before.1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_that_stands_still_is_told_of_and_given_up_for_a_stop() {
    let (agent, fake) = on_fake("pull", Options::default()).await;
    let gate = Gate::default();
    let image = || Image::new("slow.test/app:1", json!({}));
    fake.registry("slow.test/app:1", Pull::of(image()).held(&gate));
    fake.registry("full.test/app:1", Pull::broken("write /x: no space left on device"));
    let of = |image: &str| json!({ "container": { "image": image } });
    agent.create(&agent.run("slow", 1, of("slow.test/app:1"))).await;
    let far = |s: &WorkspaceRunStatus| {
        s.steps.iter().any(|step| step.message.as_deref().is_some_and(|m| m.contains(" layers")))
    };
    let status = agent.until("slow-1", "pulling", far).await;
    assert_eq!(format!("{:?}", status.phase), "Some(Pulling)");
    agent.create(&agent.run("full", 1, of("full.test/app:1"))).await;
    let status = agent.phase("full-1", "Failed").await;
    assert_eq!(reason(&status), "NoSpace");
    running(&agent, "other").await;
    agent.change("slow-1", json!({ "desired": "Stopped" })).await;
    let status = agent.phase("slow-1", "Exited").await;
    assert_eq!(status.container_id, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_engine_says_in_words_of_its_own_is_passed_on_and_left_alone() {
    let (agent, fake) = on_fake("words", Options::default()).await;
    let id = running(&agent, "web").await;
    let path = format!("/containers/{id}/json");
    let (_, mut inspect) = send(&fake.socket(), "GET", &path, None).await.unwrap();
    inspect["State"]["Status"] = "hibernating".into();
    inspect["State"]["Hibernation"] = json!({ "Since": [1, null, { "a": 1.5 }] });
    inspect["HostConfig"]["RestartPolicy"]["Jitter"] = true.into();
    inspect["Quirks"] = Value::Null;
    let changes = |fake: &crate::fake::FakeEngine| fake.count("POST", "/containers/.*");
    let before = changes(&fake);
    fake.fault(Fault::on("GET", &path, What::Json(inspect)));
    fake.health(&id, "healthy");
    let told = |s: &WorkspaceRunStatus| Agent::reason(s, "Ready").2.contains("hibernating");
    agent.until("web-1", "told", told).await;
    assert_eq!(changes(&fake), before);
    fake.heal();
    fake.health(&id, "healthy");
    agent.phase("web-1", "Running").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_engine_is_spoken_to_in_its_own_version() {
    for (minor, connects) in [(41, 1), (44, 0), (52, 0)] {
        let (agent, fake) = on_fake("api", Options { api: (1, minor), ..Options::default() }).await;
        for name in ["first", "second"] {
            let body = json!({ "Name": name });
            send(&fake.socket(), "POST", "/networks/create", Some(&body)).await.unwrap();
        }
        fake.forget_calls();
        let networks = json!([{ "name": "first" }, { "name": "second" }]);
        agent.create(&agent.run("web", 1, json!({ "container": { "networks": networks } }))).await;
        let status = agent.phase("web-1", "Running").await;
        assert_eq!(status.addresses.len(), 2, "1.{minor}");
        assert_eq!(fake.count("POST", "/networks/.*/connect"), connects, "1.{minor}");
        let version = format!("1.{minor}");
        let versions = fake.calls().into_iter().filter(|call| call.path != "/_ping");
        for call in versions {
            assert_eq!(call.version.as_deref(), Some(version.as_str()), "{}", call.path);
        }
        let made: Vec<Container> = fake.containers();
        assert_eq!(made.len(), 1, "1.{minor}");
    }
}
