//! Runs that cannot be: each says why and what to do, starts once it can, and holds no other up.

use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine, eventually};

fn container(container: Value) -> Value {
    json!({ "container": container })
}

/// Waits until the run is not ready for this reason, and gives its message.
async fn waits(agent: &Agent, run: &str, reason: &str) -> String {
    let status = agent.until(run, reason, |s| Agent::reason(s, "Ready").1 == reason).await;
    let (ready, _, message) = Agent::reason(&status, "Ready");
    assert_eq!(ready, "False", "{run}");
    assert_eq!(Agent::reason(&status, "ContainerRunning").0, "False", "{run}");
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_must_change_is_told_by_its_field_and_other_runs_go_on() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "bad").await;
    let mount = json!([{
        "volume": { "name": "data", "uid": agent.scope.name("v") }, "driver": "no-such-driver",
        "path": "/data",
    }]);
    // The fixture's policy allows both drivers with every option; a closed one allows neither.
    let broken = json!([{
        "volume": { "name": "data", "uid": agent.scope.name("w") }, "driver": "local",
        "driverOptions": { "type": "none", "o": "bind", "device": "/tmp/no-such-volume" },
        "path": "/data",
    }]);
    let device = json!([{ "pathOnHost": "/dev/no-such-device", "pathInContainer": "/dev/here" }]);
    for (name, spec, reason, words) in [
        (
            "priv",
            container(json!({ "privileged": true })),
            "ForbiddenByHostPolicy",
            &["spec.container.privileged: not allowed by host policy"][..],
        ),
        (
            "etc",
            container(json!({ "binds": ["/etc:/host-etc"] })),
            "ForbiddenByHostPolicy",
            &["spec.container.binds[0]", "/etc"],
        ),
        (
            "dev",
            container(json!({ "devices": device })),
            "ForbiddenByHostPolicy",
            &["spec.container.devices[0]"],
        ),
        (
            "bind",
            container(json!({ "binds": ["/tmp/no-such-place:/there"] })),
            "BindSourceMissing",
            &["spec.container.binds[0]", "/tmp/no-such-place", "does not exist on the host"],
        ),
        (
            "net",
            container(json!({ "networks": [{ "name": "no-such-network" }] })),
            "NetworkNotFound",
            &["no-such-network", "docker network create"],
        ),
        (
            "cmd",
            container(json!({ "command": ["no-such-program"] })),
            "InvalidSpec",
            &["no-such-program", "executable file not found", "container.command"],
        ),
        (
            "user",
            container(json!({ "user": "no-such-user" })),
            "InvalidSpec",
            &["no-such-user", "container.user"],
        ),
        ("vol", json!({ "mounts": mount }), "VolumeDriverFailed", &["no-such-driver"]),
        ("opts", json!({ "mounts": broken }), "VolumeDriverFailed", &["/tmp/no-such-volume"]),
    ] {
        agent.create(&agent.run(name, 1, spec)).await;
        let message = waits(&agent, &format!("{name}-1"), reason).await;
        for word in words {
            assert!(message.contains(word), "{name}: {word} in {message}");
        }
    }
    agent.create(&agent.run("good", 1, json!({}))).await;
    agent.phase("good-1", "Running").await;
    assert!(!std::path::Path::new("/tmp/no-such-place").exists(), "an engine would make it");
    // Whatever it is, it can be taken back.
    for name in ["priv", "bind", "net", "cmd", "user", "vol", "opts"] {
        agent.change(&format!("{name}-1"), json!({ "desired": "Removed" })).await;
    }
    for name in ["priv", "bind", "net", "cmd", "user", "vol", "opts"] {
        agent.phase(&format!("{name}-1"), "Removed").await;
    }
    assert_eq!(agent.containers().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_volume_that_would_show_the_host_is_not_made_under_a_closed_policy() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = Agent::joined(&cluster, &engine, engine.socket(), "rootvol").await;
    agent.configure("policy: {}\n");
    agent.start();
    let uid = agent.scope.name("r");
    let root = json!([{
        "volume": { "name": "data", "uid": uid }, "driver": "local",
        "driverOptions": { "type": "none", "o": "bind", "device": "/" }, "path": "/data",
    }]);
    agent.create(&agent.run("root", 1, json!({ "mounts": root }))).await;
    let message = waits(&agent, "root-1", "ForbiddenByHostPolicy").await;
    for word in ["spec.mounts[0].driverOptions", "volumeDriverOptions"] {
        assert!(message.contains(word), "{word} in {message}");
    }
    let made = engine.request("GET", &format!("/volumes/kibotos-{uid}"), None).await;
    assert_eq!(made.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_is_missing_is_told_where_the_policy_allows_it() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = Agent::joined(&cluster, &engine, engine.socket(), "device").await;
    agent.configure("policy:\n  default:\n    devices: [/dev/no-such-device]\n");
    agent.start();
    let device = json!([{ "pathOnHost": "/dev/no-such-device", "pathInContainer": "/dev/here" }]);
    agent.create(&agent.run("dev", 1, container(json!({ "devices": device })))).await;
    let message = waits(&agent, "dev-1", "DeviceMissing").await;
    assert!(message.contains("spec.container.devices[0].pathOnHost"), "{message}");
    assert!(message.contains("/dev/no-such-device"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_on_the_host_is_waited_for() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "missing").await;
    let place = tempfile::tempdir_in("/tmp").unwrap();
    let source = place.path().join("data");
    let network = agent.scope.name("late");
    let bind = container(json!({ "binds": [format!("{}:/data", source.display())] }));
    let joins = container(json!({ "networks": [{ "name": network }] }));
    agent.create(&agent.run("bind", 1, bind)).await;
    agent.create(&agent.run("net", 1, joins)).await;
    waits(&agent, "bind-1", "BindSourceMissing").await;
    waits(&agent, "net-1", "NetworkNotFound").await;
    assert!(!source.exists());
    std::fs::create_dir(&source).unwrap();
    agent.scope.network("late").await;
    agent.phase("bind-1", "Running").await;
    let status = agent.phase("net-1", "Running").await;
    assert_eq!(status.addresses[0].network, network);
    assert_eq!(Agent::reason(&status, "Ready").0, "True");
    // A network with a container in it cannot be removed by the scope.
    agent.change("net-1", json!({ "desired": "Removed" })).await;
    agent.phase("net-1", "Removed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_is_taken_is_waited_for_whoever_has_it() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "port").await;
    let holder = agent.scope.name("holder");
    let body = json!({
        "Image": "kibotos.test/busybox:1", "Cmd": ["sleep", "600"],
        "ExposedPorts": { "80/tcp": {} },
        "HostConfig": { "PortBindings": { "80/tcp": [{ "HostPort": "" }] } },
    });
    assert_eq!(agent.scope.create(&format!("name={holder}"), body).await.0, 201);
    engine.call("POST", &format!("/containers/{holder}/start"), None).await;
    let found = engine.call("GET", &format!("/containers/{holder}/json"), None).await;
    let port = &found["NetworkSettings"]["Ports"]["80/tcp"][0]["HostPort"];
    let port: u16 = port.as_str().unwrap().parse().unwrap();

    let publishes = container(json!({ "ports": [{ "containerPort": 80, "hostPort": port }] }));
    agent.create(&agent.run("one", 1, publishes.clone())).await;
    let message = waits(&agent, "one-1", "PortConflict").await;
    assert!(message.contains(&port.to_string()), "{message}");
    let after = engine.call("GET", &format!("/containers/{holder}/json"), None).await;
    assert_eq!(after, found, "the holder is not touched");

    engine.call("DELETE", &format!("/containers/{holder}?force=1"), None).await;
    let status = agent.phase("one-1", "Running").await;
    assert_eq!(status.ports[0].host_port, i32::from(port));
    agent.create(&agent.run("two", 1, publishes)).await;
    waits(&agent, "two-1", "PortConflict").await;
    agent.change("one-1", json!({ "desired": "Stopped" })).await;
    agent.phase("one-1", "Exited").await;
    agent.phase("two-1", "Running").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_a_foreign_container_holds_is_waited_for_and_the_container_left_alone() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "name").await;
    let name = agent.scope.name("web");
    let body = json!({ "Image": "kibotos.test/busybox:1", "Cmd": ["sleep", "600"] });
    assert_eq!(agent.scope.create(&format!("name={name}"), body).await.0, 201);
    engine.call("POST", &format!("/containers/{name}/start"), None).await;
    let before = agent.inspect("web").await;
    agent.create(&agent.run("web", 1, json!({}))).await;
    let message = waits(&agent, "web-1", "NameConflict").await;
    for word in [name.as_str(), "remove or rename it", "container.name"] {
        assert!(message.contains(word), "{word} in {message}");
    }
    let id = before["Id"].as_str().unwrap();
    assert!(message.contains(&id[..12]), "{message}");
    agent.resyncs(2).await;
    assert_eq!(agent.inspect("web").await, before);
    let status = agent.status("web-1").await;
    assert_eq!(status.container_id, None, "it is not ours to report");

    let other = agent.scope.name("other");
    engine.call("POST", &format!("/containers/{id}/rename?name={other}"), None).await;
    let status = agent.phase("web-1", "Running").await;
    assert_ne!(status.container_id.as_deref(), Some(id));
    let there = eventually("the foreign one is there", async || {
        let path = format!("/containers/{id}/json");
        Some(engine.request("GET", &path, None).await).filter(|(status, _)| *status == 200)
    })
    .await;
    assert_eq!(there.1["State"], before["State"]);
}
