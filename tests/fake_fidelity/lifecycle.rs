//! States, the verbs in each of them, ends, restarts and signals.

use serde_json::{Value, json};

use super::{body, same::Both, sleeper};

#[tokio::test]
async fn every_verb_does_the_same_to_one_that_was_created() {
    every_verb_in("created").await;
}

#[tokio::test]
async fn every_verb_does_the_same_to_one_that_runs() {
    every_verb_in("running").await;
}

#[tokio::test]
async fn every_verb_does_the_same_to_one_that_is_paused() {
    every_verb_in("paused").await;
}

#[tokio::test]
async fn every_verb_does_the_same_to_one_that_exited() {
    every_verb_in("exited").await;
}

#[tokio::test]
async fn every_verb_does_the_same_between_two_restarts() {
    every_verb_in("restarting").await;
}

async fn every_verb_in(state: &str) {
    let mut both = Both::new(state).await;
    let name = both.name("app");
    for verb in [
        "start",
        "stop?t=0",
        "kill",
        "kill?signal=HUP",
        "kill?signal=BOGUS",
        "pause",
        "unpause",
        "remove",
        "remove?force=1",
        "rename",
        "rename?name=a",
        "update",
    ] {
        // Most of them change nothing, and so need no container of their own.
        if both.state_of(&name).await != state {
            both.quietly("DELETE", &format!("/containers/{name}?force=1"), None).await;
            bring(&mut both, &name, state).await;
        }
        match verb.split_once('?').unwrap_or((verb, "")) {
            ("remove", query) => both.delete(&format!("/containers/{name}?{query}")).await,
            ("update", _) => {
                let change = json!({ "PidsLimit": 100 });
                both.post(&format!("/containers/{name}/update"), Some(change)).await;
            }
            _ => both.post(&format!("/containers/{name}/{verb}"), None).await,
        }
        // Of one that restarts, what is seen depends on the moment.
        if state != "restarting" {
            both.get(&format!("/containers/{name}/json")).await;
            both.list().await;
        }
    }
    both.done();
}

/// Makes a container and brings it into a state, on both.
async fn bring(both: &mut Both, name: &str, state: &str) {
    let restarting = json!({ "RestartPolicy": { "Name": "always" } });
    let made = if state == "restarting" { body(&["false"], restarting) } else { sleeper() };
    both.create(name, made).await;
    let steps: &[&str] = match state {
        "created" => &[],
        "paused" => &["start", "pause"],
        "exited" => &["start", "kill"],
        _ => &["start"],
    };
    for step in steps {
        both.post(&format!("/containers/{name}/{step}"), None).await;
    }
    if state == "restarting" {
        // By its fifth pause there is time enough for a step.
        both.until(name, |seen| {
            seen["State"]["Restarting"] == true && seen["RestartCount"].as_i64() >= Some(5)
        })
        .await;
    }
}

#[tokio::test]
async fn ends_restarts_and_signals_are_the_same() {
    let mut both = Both::new("ends").await;
    let name = both.name("app");
    let obeys = "trap \"exit 7\" TERM; trap \"exit 8\" HUP; while true; do sleep 0.1; done";
    let shell = |script: &str, policy: Value| {
        body(&["sh", "-c", script], json!({ "RestartPolicy": policy }))
    };
    let none = json!({});
    both.create(&name, shell("exit 3", none.clone())).await;
    both.post(&format!("/containers/{name}/start"), None).await;
    both.post(&format!("/containers/{name}/wait"), None).await;
    both.get(&format!("/containers/{name}/json")).await;
    both.delete(&format!("/containers/{name}")).await;

    let twice = json!({ "Name": "on-failure", "MaximumRetryCount": 2 });
    both.create(&name, shell("exit 3", twice)).await;
    both.post(&format!("/containers/{name}/start"), None).await;
    both.until(&name, |seen| seen["State"]["Status"] == "exited").await;
    both.get(&format!("/containers/{name}/json")).await;
    both.delete(&format!("/containers/{name}")).await;

    for (signal, policy) in [("TERM", "always"), ("HUP", "unless-stopped"), ("KILL", "always")] {
        both.create(&name, shell(obeys, json!({ "Name": policy }))).await;
        both.post(&format!("/containers/{name}/start"), None).await;
        both.settle(&name).await;
        both.post(&format!("/containers/{name}/kill?signal={signal}"), None).await;
        both.until(&name, |seen| seen["State"]["Status"] == "exited").await;
        both.get(&format!("/containers/{name}/json")).await;
        both.delete(&format!("/containers/{name}")).await;
    }

    // With a stop signal of its own, the policy outlives any other signal.
    let mut own = shell(obeys, json!({ "Name": "always" }));
    own["StopSignal"] = "TERM".into();
    both.create(&name, own).await;
    both.post(&format!("/containers/{name}/start"), None).await;
    both.settle(&name).await;
    both.post(&format!("/containers/{name}/kill?signal=HUP"), None).await;
    both.until(&name, |seen| seen["RestartCount"] == 1 && seen["State"]["Status"] == "running")
        .await;
    both.settle(&name).await;
    both.post(&format!("/containers/{name}/stop?t=5"), None).await;
    both.get(&format!("/containers/{name}/json")).await;
    both.post(&format!("/containers/{name}/stop?t=abc"), None).await;
    both.delete(&format!("/containers/{name}")).await;

    both.create(&name, body(&["sleep", "1000"], json!({ "Init": true }))).await;
    both.post(&format!("/containers/{name}/start"), None).await;
    both.settle(&name).await;
    both.post(&format!("/containers/{name}/stop?t=5"), None).await;
    both.get(&format!("/containers/{name}/json")).await;
    both.done();
}

#[tokio::test]
async fn updates_change_the_same_and_are_refused_alike() {
    let mut both = Both::new("update").await;
    let name = both.name("app");
    both.create(&name, sleeper()).await;
    both.post(&format!("/containers/{name}/update"), None).await;
    for change in [
        json!({}),
        json!({ "Memory": 30 << 20 }),
        json!({ "Memory": 30 << 20, "MemorySwap": 60 << 20 }),
        json!({ "MemorySwap": 40 << 20 }),
        json!({ "Memory": 0 }),
        json!({ "Memory": 100 << 20 }),
        json!({ "Memory": 100 << 20, "MemorySwap": 200 << 20 }),
        json!({ "Memory": 1 }),
        json!({ "Memory": "x" }),
        json!({ "PidsLimit": 10 }),
        json!({ "PidsLimit": -1 }),
        json!({ "NanoCpus": 1_000_000_000 }),
        json!({ "CpuQuota": 10_000 }),
        json!({ "CpuShares": 100 }),
        json!({ "RestartPolicy": { "Name": "always" } }),
        json!({ "RestartPolicy": { "Name": "bogus" } }),
        json!({ "RestartPolicy": { "Name": "always", "MaximumRetryCount": 2 } }),
        json!({ "RestartPolicy": { "Name": "" } }),
        json!({ "Env": ["a"], "Labels": { "x": "y" } }),
        json!({ "RestartPolicy": { "Name": "no" } }),
    ] {
        both.post(&format!("/containers/{name}/update"), Some(change)).await;
        both.get(&format!("/containers/{name}/json")).await;
    }
    both.done();
}
