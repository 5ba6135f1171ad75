//! What the agent tells: of runs, of its host, of itself, and nothing when nothing changes.

use std::{
    os::unix::fs::PermissionsExt,
    process::{Command, Output},
    time::{Duration, Instant},
};

use futures::StreamExt;
use k8s_openapi::api::{coordination::v1::Lease, events::v1::Event};
use kibotos::api::{Host, WorkspaceRun, host::HostStatus};
use kube::{
    Api, ResourceExt,
    api::{ListParams, Patch, PatchParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};

use crate::fixture::{Agent, Engine, EngineServer, agent, cluster, engine, eventually};

fn hosts(agent: &Agent) -> Api<Host> {
    Api::all(agent.admin())
}

async fn host(agent: &Agent, what: &str, right: impl Fn(&HostStatus) -> bool) -> HostStatus {
    eventually(what, async || {
        let host = hosts(agent).get(&agent.joined.host).await.expect("the Host is there");
        host.status.filter(|status| right(status))
    })
    .await
}

fn condition(status: &HostStatus, kind: &str) -> Option<String> {
    status.conditions.iter().find(|c| c.type_ == kind).map(|c| c.status.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_way_to_running_is_one_write_and_then_nothing_is_written() {
    // On an engine of its own: the Host counts foreign containers, as those of other tests are.
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("engine");
    let (_server, engine) = tokio::task::spawn_blocking(move || {
        let server = EngineServer::start(&directory)?;
        let engine = Engine::connect(server.socket())?;
        Ok::<_, String>((server, engine))
    })
    .await
    .unwrap()
    .unwrap();
    let cluster = cluster().await;
    let agent = agent(&cluster, &engine, "steady").await;
    agent.resyncs(1).await;
    let began = Instant::now();
    let made = agent.create(&agent.run("web", 1, json!({}))).await;
    let params = WatchParams::default().fields("metadata.name=web-1").timeout(100);
    let from = made.resource_version().unwrap();
    let runs = agent.runs();
    let mut events = runs.watch(&params, &from).await.unwrap().boxed();
    agent.phase("web-1", "Running").await;
    let took = began.elapsed();
    // The Host counts one container more, a look later.
    host(&agent, "counted", |status| status.containers.as_ref().is_some_and(|c| c.managed == 1))
        .await;
    agent.resyncs(2).await;
    let host_before = hosts(&agent).get(&agent.joined.host).await.unwrap().resource_version();
    agent.resyncs(5).await;
    let host_after = hosts(&agent).get(&agent.joined.host).await.unwrap().resource_version();
    assert_eq!(host_after, host_before, "the Host's status is written when it changes");

    let mark = Patch::Merge(json!({ "metadata": { "annotations": { "tests": "end" } } }));
    runs.patch("web-1", &PatchParams::default(), &mark).await.unwrap();
    let mut writes: Vec<WorkspaceRun> = Vec::new();
    while let Some(event) = events.next().await {
        match event.unwrap() {
            WatchEvent::Modified(run) if run.annotations().contains_key("tests") => break,
            WatchEvent::Modified(run) => writes.push(run),
            WatchEvent::Bookmark(_) => {}
            other => panic!("{other:?}"),
        }
    }
    let phases: Vec<_> = writes.iter().map(|run| run.status.as_ref().unwrap().phase).collect();
    // What takes longer than a moment, as on a busy machine, is told meanwhile.
    let most = if took < Duration::from_millis(700) { 1 } else { 2 };
    assert!((1..=most).contains(&phases.len()), "{phases:?} in {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_about_a_run_are_in_the_hosts_namespace() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "events").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    agent.phase("web-1", "Running").await;
    agent.change("web-1", json!({ "desired": "Stopped" })).await;
    agent.phase("web-1", "Exited").await;
    let privileged = json!({ "container": { "command": ["no-such-program"] } });
    agent.create(&agent.run("bad", 1, privileged)).await;
    let events: Api<Event> = Api::namespaced(agent.admin(), &agent.joined.namespace);
    for (run, reason, kind) in [
        ("web-1", "Running", "Normal"),
        ("web-1", "Stopped", "Normal"),
        ("bad-1", "InvalidSpec", "Warning"),
    ] {
        let event = eventually(&format!("an Event: {run} {reason}"), async || {
            let all = events.list(&ListParams::default()).await.unwrap();
            all.into_iter().find(|event| {
                event.reason.as_deref() == Some(reason)
                    && event.regarding.as_ref().and_then(|r| r.name.as_deref()) == Some(run)
            })
        })
        .await;
        assert_eq!(event.type_.as_deref(), Some(kind));
        assert_eq!(event.reporting_controller.as_deref(), Some("kibotos-agent"));
        assert!(event.note.is_some_and(|note| !note.is_empty()));
    }
    assert!(!agent.logged().contains("orbidden"), "its rights are enough");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_tells_what_its_engine_and_machine_are_and_its_lease_is_renewed() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = agent(&cluster, &engine, "facts").await;
    let foreign = json!({ "Image": "kibotos.test/busybox:1", "Cmd": ["true"] });
    assert_eq!(
        agent.scope.create(&format!("name={}", agent.scope.name("f")), foreign).await.0,
        201
    );
    agent.create(&agent.run("web", 1, json!({}))).await;
    agent.phase("web-1", "Running").await;
    let status = host(&agent, "all told", |status| {
        status.containers.as_ref().is_some_and(|c| c.managed == 1 && c.foreign >= 1)
            && condition(status, "EngineReachable").as_deref() == Some("True")
    })
    .await;
    let info = engine.call("GET", "/info", None).await;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    assert_eq!(status.engine_version, text(&info["ServerVersion"]));
    assert_eq!(status.engine_api_version, Some(engine.api().to_string()));
    assert_eq!(status.storage_driver, text(&info["Driver"]));
    assert_eq!(status.os, text(&info["OSType"]));
    assert_eq!(
        status.architecture.as_deref(),
        Some(match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        })
    );
    let mut runtimes: Vec<_> = info["Runtimes"].as_object().unwrap().keys().cloned().collect();
    runtimes.sort();
    assert_eq!(status.runtimes, runtimes);
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(status.boot_id.as_deref(), Some(boot.trim()));
    let capacity = serde_json::to_value(status.capacity.as_ref().unwrap()).unwrap();
    assert_eq!(capacity["cpu"].to_string().trim_matches('"'), info["NCPU"].to_string());
    assert_eq!(capacity["memory"].to_string().trim_matches('"'), info["MemTotal"].to_string());
    assert_eq!(status.agent_version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    assert_eq!(condition(&status, "AgentReady").as_deref(), Some("True"));
    assert!(condition(&status, "DiskPressure").is_some_and(|state| state != "Unknown"));
    assert_eq!(condition(&status, "Ready"), None, "that is the controller's word");

    let leases: Api<Lease> = Api::namespaced(agent.admin(), &agent.joined.namespace);
    let lease = leases.get("kibotos-agent").await.unwrap().spec.unwrap();
    assert_eq!(lease.lease_duration_seconds, Some(40));
    assert_eq!(lease.holder_identity.as_deref(), Some("kibotos-agent"));
    let renewed = lease.renew_time.unwrap().0;
    // Also by the one that comes after.
    assert_eq!(agent.terminate().await, Some(0));
    agent.start();
    eventually("the Lease is renewed", async || {
        let lease = leases.get("kibotos-agent").await.unwrap().spec.unwrap();
        (lease.renew_time.unwrap().0 > renewed).then_some(())
    })
    .await;
}

async fn set_mode(agent: &Agent, mode: &str) {
    let patch = Patch::Merge(json!({ "spec": { "mode": mode } }));
    hosts(agent).patch(&agent.joined.host, &PatchParams::default(), &patch).await.unwrap();
    let generation = hosts(agent).get(&agent.joined.host).await.unwrap().metadata.generation;
    host(agent, mode, |status| status.observed_generation == generation).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_mode_restricted_nothing_is_changed_and_all_is_told() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "restrict").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    agent.phase("web-1", "Running").await;
    set_mode(&agent, "Restricted").await;
    let before = agent.inspect("web").await;
    agent.change("web-1", json!({ "desired": "Stopped" })).await;
    agent.create(&agent.run("new", 1, json!({}))).await;
    for run in ["web-1", "new-1"] {
        let status = agent
            .until(run, "HostCordoned", |s| Agent::reason(s, "Ready").1 == "HostCordoned")
            .await;
        let message = Agent::reason(&status, "Ready").2;
        assert!(message.contains("Restricted"), "{message}");
    }
    agent.resyncs(2).await;
    assert_eq!(agent.inspect("web").await, before);
    assert_eq!(agent.inspect("new").await, Value::Null);
    // It goes on looking.
    let id = before["Id"].as_str().unwrap();
    engine.call("POST", &format!("/containers/{id}/stop?t=5"), None).await;
    agent.phase("web-1", "Exited").await;
    set_mode(&agent, "Active").await;
    agent.phase("new-1", "Running").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_port_tells_of_life_and_work_and_its_labels_are_few() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "admin").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    agent.create(&agent.run("other", 1, json!({}))).await;
    agent.phase("web-1", "Running").await;
    agent.phase("other-1", "Running").await;
    assert_eq!(agent.ask("/livez").await, (200, "ok\n".to_owned()));
    assert_eq!(agent.ask("/readyz").await, (200, "ok\n".to_owned()));
    assert_eq!(agent.ask("/nothing").await.0, 404);
    eventually("both are counted", async || {
        (agent.metric("kibotos_agent_workspaces").await == Some(2.0)).then_some(())
    })
    .await;
    let (status, text) = agent.ask("/metrics").await;
    assert_eq!(status, 200);
    let started = r#"kibotos_agent_steps_total{step="Start",outcome="succeeded"}"#;
    assert_eq!(agent.metric(started).await, Some(2.0), "{text}");
    assert_eq!(agent.metric("kibotos_agent_engine_up").await, Some(1.0));
    assert!(text.trim_end().ends_with("# EOF"), "OpenMetrics");
    for word in ["web", "other", agent.host_uid.as_str(), agent.scope.run()] {
        assert!(!text.contains(word), "{word}: a label for each would have no end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn containers_outlive_the_agent_which_takes_them_up_again() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = agent(&cluster, &engine, "outlive").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    agent.phase("web-1", "Running").await;
    let before = agent.inspect("web").await;
    assert_eq!(agent.terminate().await, Some(0));
    assert_eq!(agent.inspect("web").await, before);
    agent.start();
    agent.resyncs(2).await;
    assert_eq!(agent.inspect("web").await, before);
    agent.kill();
    agent.start();
    agent.change("web-1", json!({ "resources": { "limits": { "kibotos.dev/pids": 77 } } })).await;
    let after = eventually("the new one works", async || {
        let found = agent.inspect("web").await;
        (found["HostConfig"]["PidsLimit"] == 77).then_some(found)
    })
    .await;
    assert_eq!(after["Id"], before["Id"]);
    assert_eq!(after["State"], before["State"]);
    let status = agent.status("web-1").await;
    assert_eq!(status.restarts, Some(0));
}

/// Starts the program as the fixture does, with one option other, and waits for its end.
async fn ends(agent: &Agent, root: &str, credential: &str, config: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kibotos"));
    command
        .args(["agent", "--admin-listen", "127.0.0.1:0", "--root", root, "--config", config])
        .args(["--credentials", credential, "--docker"])
        .arg(format!("unix://{}", agent.engine.socket().display()));
    let ended = tokio::task::spawn_blocking(move || command.output());
    ended.await.unwrap().expect("the program can be started")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_work_ends_at_once_and_says_what_to_do() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = agent(&cluster, &engine, "unfit").await;
    agent.resyncs(1).await;
    let directory = agent.joined.root().to_owned();
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let credential = agent.joined.credential.to_str().unwrap().to_owned();
    let (good, wrong) = (write("good.yaml", "{}"), write("wrong.yaml", "polcy: {}\n"));
    let rubbish = write("rubbish.yaml", "host: a\n");
    let held = agent.root().to_str().unwrap().to_owned();
    let free = directory.join("free").to_str().unwrap().to_owned();
    let none = directory.join("none.yaml").to_str().unwrap().to_owned();
    let pid = agent.pid().to_string();
    for (root, credential, config, code, words) in [
        (&held, &credential, &good, 75, vec![held.as_str(), pid.as_str()]),
        (&free, &credential, &wrong, 78, vec!["wrong.yaml", "polcy", "policy"]),
        (&free, &credential, &none, 78, vec!["none.yaml", "--config"]),
        (&free, &none, &good, 78, vec!["none.yaml", "kibotos host join"]),
        (&free, &rubbish, &good, 78, vec!["rubbish.yaml", "kibotos host join"]),
    ] {
        let output = ends(&agent, root, credential, config).await;
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        for word in words {
            assert!(said.contains(word), "{word} in {said}");
        }
    }
    assert!(agent.is_running(), "the one that holds its root goes on");
}
