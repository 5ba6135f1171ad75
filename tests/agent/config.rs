//! The config file: mounted from its Secret, and changed while the container runs.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use kibotos::agent::intent::sha256;
use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine, eventually};

/// Copies the config file to /got at its start and with each SIGHUP.
const READER: &str = "copy() { cp /usr/local/etc/service.conf /got.new; mv /got.new /got; }; \
                      trap copy HUP; trap 'exit 0' TERM; copy; while :; do sleep 0.1; done";

/// Makes the Secret with this content as a controller would, and gives the run's `configFile`.
async fn config(agent: &Agent, content: &[u8]) -> Value {
    let sha256 = sha256(content);
    let name = format!("config-{}", &sha256[..16]);
    agent.secret(&name, &[("content", content)]).await;
    json!({
        "secretName": name, "key": "content", "sha256": sha256,
        "path": "/usr/local/etc/service.conf", "reloadSignal": "SIGHUP",
    })
}

fn reader(config: Value) -> Value {
    json!({ "container": { "command": ["sh", "-c", READER] }, "configFile": config })
}

async fn reads(agent: &Agent, content: &str) {
    eventually(&format!("the container has read {content}"), async || {
        agent.file("web", "/got").await.filter(|got| got.contains(content))
    })
    .await;
}

fn file(agent: &Agent) -> PathBuf {
    let mut directories = std::fs::read_dir(agent.root()).unwrap().map(|e| e.unwrap().path());
    directories
        .find(|path| path.file_name().unwrap().to_string_lossy().starts_with("ws_web_"))
        .expect("the Workspace has a directory")
        .join("service.conf")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_config_file_changes_in_place_and_the_program_is_told() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = agent(&cluster, &engine, "config").await;
    let spec = reader(config(&agent, b"colour=red").await);
    agent.create(&agent.run("web", 1, spec)).await;
    agent.phase("web-1", "Running").await;
    reads(&agent, "colour=red").await;
    let before = agent.inspect("web").await;
    let inode = std::fs::metadata(file(&agent)).unwrap();
    assert_eq!(inode.mode() & 0o777, 0o644);

    let blue = config(&agent, b"colour=blue").await;
    agent.change("web-1", json!({ "configFile": blue })).await;
    reads(&agent, "colour=blue").await;

    let largest = "x".repeat(1024 * 1024 - 4) + "\nend";
    let largest = config(&agent, largest.as_bytes()).await;
    agent.change("web-1", json!({ "configFile": largest })).await;
    reads(&agent, "\nend").await;

    agent.kill();
    let green = config(&agent, b"colour=green").await;
    agent.change("web-1", json!({ "configFile": green })).await;
    agent.start();
    reads(&agent, "colour=green").await;

    assert_eq!(std::fs::metadata(file(&agent)).unwrap().ino(), inode.ino(), "the same file");
    let after = agent.inspect("web").await;
    assert_eq!(after["Id"], before["Id"]);
    assert_eq!(after["State"]["StartedAt"], before["State"]["StartedAt"]);
    let generation = agent.runs().get("web-1").await.unwrap().metadata.generation;
    agent.until("web-1", "observed", |status| status.observed_generation == generation).await;
}

/// An engine takes any signal for a wish to end, and restarts nothing after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_ends_after_a_reload_signal_is_started_again_by_its_policy() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "reload").await;
    for (name, policy) in
        [("always", "always"), ("unless", "unless-stopped"), ("fail", "on-failure")]
    {
        let mut spec = config_of(&config(&agent, b"colour=red").await);
        spec["restartPolicy"] = json!({ "name": policy });
        agent.create(&agent.run(name, 1, spec)).await;
    }
    let blue = config(&agent, b"colour=blue").await;
    for name in ["always", "unless", "fail"] {
        let run = format!("{name}-1");
        agent.phase(&run, "Running").await;
        agent.change(&run, json!({ "configFile": blue })).await;
        // The program ends with the signal.
        let status = agent.until(&run, "started again", |s| s.restarts >= Some(1)).await;
        assert_eq!(status.container_id.as_deref(), agent.inspect(name).await["Id"].as_str());
        agent.phase(&run, "Running").await;
    }
}

/// A program that ends in failure with SIGHUP.
fn config_of(config: &Value) -> Value {
    let line = "trap 'exit 3' HUP; trap 'exit 0' TERM; while :; do sleep 0.1; done";
    json!({ "container": { "command": ["sh", "-c", line] }, "configFile": config })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_of_the_users_own_holds_the_config_file_and_is_left_clean() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = Agent::joined(&cluster, &engine, engine.socket(), "place").await;
    let allowed = tempfile::tempdir().unwrap();
    let prefix = allowed.path().display();
    agent.configure(&format!(
        "resync: 1s\npolicy:\n  default:\n    directoryPrefixes: [{prefix}]\n"
    ));
    agent.start();
    let directory = allowed.path().join("apps/web");
    let mut spec = reader(config(&agent, b"colour=red").await);
    spec["container"]["directory"] = directory.to_str().into();
    agent.create(&agent.run("web", 1, spec)).await;
    agent.phase("web-1", "Running").await;
    reads(&agent, "colour=red").await;
    assert_eq!(std::fs::read_to_string(directory.join("service.conf")).unwrap(), "colour=red");
    assert_eq!(std::fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
    let told = file(&agent).with_file_name(".container_dir");
    assert_eq!(std::fs::read_to_string(told).unwrap(), directory.to_str().unwrap());

    let mut elsewhere = reader(config(&agent, b"colour=red").await);
    elsewhere["container"]["directory"] = "/srv/elsewhere".into();
    agent.create(&agent.run("else", 1, elsewhere)).await;
    let status = agent
        .until("else-1", "refused", |s| Agent::reason(s, "Ready").1 == "ForbiddenByHostPolicy")
        .await;
    let message = Agent::reason(&status, "Ready").2;
    assert!(message.contains("spec.container.directory: not allowed by host policy"), "{message}");

    agent.change("web-1", json!({ "desired": "Removed" })).await;
    agent.phase("web-1", "Removed").await;
    assert!(!directory.exists());
    assert!(allowed.path().join("apps").exists() || allowed.path().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn content_that_is_not_what_the_run_names_is_waited_for() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "hash").await;
    let config = config(&agent, b"colour=red").await;
    let secret = config["secretName"].as_str().unwrap();
    agent.secret(secret, &[("content", b"colour=black")]).await;
    agent.create(&agent.run("web", 1, reader(config.clone()))).await;
    let status =
        agent.until("web-1", "waiting", |s| Agent::reason(s, "Ready").1 == "SecretNotFound").await;
    let message = Agent::reason(&status, "Ready").2;
    assert!(message.contains(secret), "{message}");
    assert_eq!(format!("{:?}", status.phase.unwrap()), "Pending");
    assert_eq!(agent.inspect("web").await, Value::Null);

    agent.secret(secret, &[("content", b"colour=red")]).await;
    agent.phase("web-1", "Running").await;
    reads(&agent, "colour=red").await;
}
