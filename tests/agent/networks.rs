//! Networks that a run joins, and what becomes of them while it is stopped.

use serde_json::json;

use crate::fixture::{Agent, agent, cluster, engine};

async fn make_network(agent: &Agent, name: &str) {
    let body = json!({ "Name": name, "Labels": agent.scope.labels(), "CheckDuplicate": true });
    agent.engine.call("POST", "/networks/create", Some(&body)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_joins_all_its_networks_before_it_starts() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "networks").await;
    let (one, two) = (agent.scope.name("one"), agent.scope.name("two"));
    make_network(&agent, &one).await;
    make_network(&agent, &two).await;
    let networks = json!([{ "name": one }, { "name": two, "aliases": ["web"] }]);
    agent.create(&agent.run("web", 1, json!({ "container": { "networks": networks } }))).await;
    let status = agent.phase("web-1", "Running").await;
    let found = agent.inspect("web").await;
    let joined = found["NetworkSettings"]["Networks"].as_object().unwrap();
    assert_eq!(joined.keys().collect::<Vec<_>>(), [&one, &two]);
    let aliases = joined[&two]["Aliases"].as_array().unwrap();
    assert!(aliases.contains(&json!("web")), "{aliases:?}");
    let told: Vec<_> = status.addresses.iter().map(|address| address.network.as_str()).collect();
    assert_eq!(told, [one.as_str(), two.as_str()]);
}

/// The engine knows the network by its id of then, and refuses to start the container for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_network_that_was_made_again_is_joined_anew_and_the_writable_layer_stays() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "remade").await;
    let network = agent.scope.name("net");
    make_network(&agent, &network).await;
    let spec = json!({ "container": { "networks": [{ "name": network }] } });
    agent.create(&agent.run("web", 1, spec.clone())).await;
    let first = agent.phase("web-1", "Running").await;
    agent.change("web-1", json!({ "desired": "Stopped" })).await;
    agent.phase("web-1", "Exited").await;
    agent.engine.call("DELETE", &format!("/networks/{network}"), None).await;
    make_network(&agent, &network).await;

    let mut run = agent.run("web", 2, spec);
    run.spec.previous = Some(agent.previous("web-1").await);
    agent.create(&run).await;
    let second = agent.phase("web-2", "Running").await;
    assert_eq!(second.container_id, first.container_id);
}
