//! The API is away: for minutes, over the end of the agent and of the engine, or for good.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kibotos::agent::intent::sha256;
use kibotos::api::workspace_run::WorkspaceRunStatus;
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams},
};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::{Agent, Cluster, Engine, Proxy, cluster, engine, eventually, private_engine};

/// An agent that reaches the API by a proxy only.
async fn proxied(cluster: &Cluster, engine: &Engine, hint: &str) -> (Agent, Proxy) {
    let agent = Agent::joined(cluster, engine, engine.socket(), hint).await;
    let mut credential = agent.joined.credential();
    let target = credential.server.authority().expect("it has an address").to_string();
    let proxy = Proxy::to(&target).await;
    credential.server = format!("https://{}", proxy.address()).parse().expect("it is one");
    credential.write(&agent.joined.credential).expect("it can be written");
    (agent, proxy)
}

async fn secret(cluster: &Cluster, agent: &Agent, name: &str, key: &str, value: &str) {
    let api: Api<Secret> = Api::namespaced(cluster.admin(), &agent.joined.namespace);
    let mut secret = Secret {
        string_data: Some(BTreeMap::from([(key.to_owned(), value.to_owned())])),
        ..Secret::default()
    };
    secret.metadata.name = Some(name.to_owned());
    api.create(&PostParams::default(), &secret).await.expect("it can be made");
}

async fn is_up(agent: &Agent, name: &str) -> Option<Value> {
    Some(agent.inspect(name).await).filter(|seen| seen["State"]["Running"] == true)
}

async fn started_after(agent: &Agent, name: &str, before: &Value) {
    eventually("started again", async || {
        let seen = is_up(agent, name).await?;
        (seen["State"]["StartedAt"] != before["State"]["StartedAt"]).then_some(())
    })
    .await;
}

async fn kill_by_hand(agent: &Agent, name: &str) -> Value {
    let before = agent.inspect(name).await;
    let path = format!("/containers/{}/kill", agent.scope.name(name));
    agent.engine.call("POST", &path, None).await;
    before
}

/// A run with an environment from a Secret, and a config file.
async fn full(cluster: &Cluster, agent: &Agent) -> Value {
    let content = "listen 80\n";
    secret(cluster, agent, "env-1", "PASSWORD", "xyzzy").await;
    secret(cluster, agent, "conf-1", "content", content).await;
    let sha256 = sha256(content.as_bytes());
    let from = json!({ "secretKeyRef": { "name": "env-1", "key": "PASSWORD" } });
    json!({
        "container": { "env": [{ "name": "PASSWORD", "valueFrom": from }] },
        "restartPolicy": { "name": "always" },
        "secretName": "env-1",
        "configFile": {
            "secretName": "conf-1", "key": "content", "sha256": sha256, "path": "/etc/web.conf",
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_go_on_from_the_checkpoint_over_a_reboot_and_what_became_of_them_is_told_later() {
    let (engine, server) = private_engine().await;
    let cluster = cluster().await;
    let (mut agent, proxy) = proxied(&cluster, &engine, "away").await;
    agent.start();
    let spec = full(&cluster, &agent).await;
    agent.create(&agent.run("web", 1, spec)).await;
    agent.create(&agent.run("kept", 1, json!({}))).await;
    agent.create(&agent.run("once", 1, json!({ "restartPolicy": { "name": "no" } }))).await;
    agent.create(&agent.run("lent", 1, json!({ "leased": true }))).await;
    for run in ["web-1", "kept-1", "once-1", "lent-1"] {
        agent.phase(run, "Running").await;
    }

    proxy.cut();
    let before = kill_by_hand(&agent, "kept").await;
    started_after(&agent, "kept", &before).await;
    kill_by_hand(&agent, "once").await;
    let before = agent.inspect("kept").await;

    // The host goes down and comes back, and one container did not survive that.
    agent.kill();
    let web = agent.scope.name("web");
    agent.engine.call("DELETE", &format!("/containers/{web}?force=1"), None).await;
    server.end(Signal::KILL).await;
    server.start_again(&json!({})).await;
    agent.start();
    started_after(&agent, "kept", &before).await;
    let seen = eventually("it is made anew", async || is_up(&agent, "web").await).await;
    let environment = seen["Config"]["Env"].as_array().unwrap();
    assert!(environment.contains(&json!("PASSWORD=xyzzy")), "{environment:?}");
    let bind = seen["HostConfig"]["Binds"][0].as_str().unwrap();
    let (file, inside) = bind.split_once(':').unwrap();
    assert_eq!(
        (inside, std::fs::read_to_string(file).unwrap().as_str()),
        ("/etc/web.conf", "listen 80\n")
    );
    let lent = agent.inspect("lent").await;
    assert_eq!(lent["State"]["Running"], false, "another host may have it by now");
    assert_eq!(agent.inspect("once").await["State"]["Running"], false);

    proxy.mend();
    let told = |s: &WorkspaceRunStatus| s.container_id.as_deref() == seen["Id"].as_str();
    agent.until("web-1", "the new container is told", told).await;
    started_after(&agent, "lent", &lent).await;
    let status = agent.phase("once-1", "Failed").await;
    assert_eq!(status.exit_code, Some(137));
    agent
        .until("lent-1", "running", |s| s.phase.is_some_and(|p| format!("{p:?}") == "Running"))
        .await;
    let status = agent.phase("kept-1", "Running").await;
    let kept = agent.inspect("kept").await;
    assert_eq!(status.container_started_at.as_deref(), kept["State"]["StartedAt"].as_str());
    assert_eq!(agent.containers().await.len(), 4);
    assert_eq!(agent.runs().list(&ListParams::default()).await.unwrap().items.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leased_run_is_stopped_when_the_lease_is_old_and_runs_again_when_it_is_renewed() {
    let (cluster, engine) = (cluster().await, engine().await);
    let (mut agent, proxy) = proxied(&cluster, &engine, "leased").await;
    proxy.cut();
    agent.start();
    eventually("it started without the API", async || {
        agent.logged().contains("the engine is there").then_some(())
    })
    .await;
    proxy.mend();
    agent.create(&agent.run("lent", 1, json!({ "leased": true }))).await;
    agent.create(&agent.run("own", 1, json!({}))).await;
    agent.phase("lent-1", "Running").await;
    agent.phase("own-1", "Running").await;
    let (lent, own) = (agent.inspect("lent").await, agent.inspect("own").await);

    proxy.cut();
    eventually("the leased run is stopped", async || {
        (agent.inspect("lent").await["State"]["Running"] == false).then_some(())
    })
    .await;
    assert_eq!(agent.inspect("own").await["State"], own["State"]);
    proxy.mend();
    started_after(&agent, "lent", &lent).await;
    agent
        .until("lent-1", "told as running", |s| {
            s.container_started_at.as_deref() != lent["State"]["StartedAt"].as_str()
                && s.phase.is_some_and(|p| format!("{p:?}") == "Running")
        })
        .await;
    assert_eq!(agent.inspect("lent").await["Id"], lent["Id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_credential_is_revoked_keeps_what_runs_and_says_what_an_admin_has_to_do() {
    let (cluster, engine) = (cluster().await, engine().await);
    let (mut agent, proxy) = proxied(&cluster, &engine, "revoked").await;
    agent.start();
    agent.create(&agent.run("kept", 1, json!({}))).await;
    agent.phase("kept-1", "Running").await;

    let refresh = format!("kibotos-refresh-{}", agent.joined.host);
    let all = DeleteParams::default();
    let secrets: Api<Secret> = Api::namespaced(cluster.admin(), "kibotos-credentials");
    secrets.delete(&refresh, &all).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.admin(), "kibotos-credentials");
    accounts.delete(&refresh, &all).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.admin(), &agent.joined.namespace);
    accounts.delete("kibotos-agent", &all).await.unwrap();
    // What is connected already is served until it is made anew.
    proxy.cut();
    proxy.mend();
    let says = |log: &str| {
        let said = |line: &str| {
            line.contains("nothing new is started") && line.contains("kibotos host join")
        };
        log.lines().any(said).then_some(())
    };
    eventually("it says what to run", async || says(&agent.logged())).await;
    // It may hear of this by a watch that goes on.
    agent.create(&agent.run("more", 1, json!({}))).await;
    let before = kill_by_hand(&agent, "kept").await;
    started_after(&agent, "kept", &before).await;

    let before = agent.inspect("kept").await;
    let from = agent.logged().len();
    agent.kill();
    agent.start();
    eventually("it goes on from the checkpoint", async || {
        agent.logged()[from..].contains("taking up a run").then_some(())
    })
    .await;
    eventually("it says what to run", async || says(&agent.logged()[from..])).await;
    assert_eq!(agent.inspect("kept").await["State"], before["State"]);
    let before = kill_by_hand(&agent, "kept").await;
    started_after(&agent, "kept", &before).await;
    assert_eq!(agent.inspect("more").await, Value::Null, "nothing new is started");
}
