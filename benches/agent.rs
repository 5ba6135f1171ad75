//! What the agent costs: against raw calls to the same engine for the same containers, and at rest.
//! Ratios in one run on one machine; also written to `target/bench/agent.json`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a measurement that cannot go on fails"
)]

#[path = "../tests/fake/mod.rs"]
#[allow(unused_imports, reason = "the tests use what a measurement does not")]
mod fake;
#[path = "../tests/fixture/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the tests use what a measurement does not")]
mod fixture;

use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

use fake::{FakeEngine, Image, Options, Process};
use fixture::{Agent, Engine, cluster, engine, eventually};
use futures::{StreamExt, stream};
use kibotos::{
    agent::container::{Intent, create_body},
    api::WorkspaceRun,
};
use kube::{ResourceExt, api::ListParams, runtime::watcher};
use serde_json::{Value, json};

/// One at a time, so often.
const ONE_BY_ONE: usize = 20;
const AT_ONCE: usize = 32;
const IDLE: usize = 1_000;
/// How long the agent is watched at rest; it looks again each second.
const REST: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() {
    // `cargo test --benches` only wants to know that it can be built.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut found = BTreeMap::new();
    started(&mut found).await;
    idle(&mut found).await;
    println!("| what | measured |\n|---|---|");
    for (what, number) in &found {
        println!("| {what} | {number:.2} |");
    }
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/target/bench");
    fs::create_dir_all(directory).unwrap();
    let text = serde_json::to_vec_pretty(&found).unwrap();
    fs::write(format!("{directory}/agent.json"), text).unwrap();
}

/// From a run's object to `Running` written, against raw calls.
async fn started(found: &mut BTreeMap<String, f64>) {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = fixture::agent(&cluster, &engine, "bench").await;
    // The first run also warms what later ones find warm.
    by_agent(&agent, "w", 1).await;
    let (mut own, mut raw) = (Vec::new(), Vec::new());
    for turn in 0..ONE_BY_ONE {
        own.push(by_agent(&agent, &format!("a{turn}"), 1).await);
        raw.push(by_hand(&agent, &engine, &format!("b{turn}"), 1, 1).await);
    }
    let (own, raw) = (median(own), median(raw));
    found.insert("1 run, ms of agent to Running".to_owned(), own);
    found.insert("1 run, ms of raw create and start".to_owned(), raw);
    found.insert("1 run, ms of the agent's own".to_owned(), own - raw);
    let (mut own, mut raw) = (Vec::new(), f64::MAX);
    for turn in 0..3 {
        own.push(by_agent(&agent, &format!("c{turn}"), AT_ONCE).await);
        for wide in [2, 4, 8, 16, 32] {
            let hint = format!("d{turn}x{wide}");
            raw = raw.min(by_hand(&agent, &engine, &hint, AT_ONCE, wide).await);
        }
    }
    let own = median(own);
    found.insert(format!("{AT_ONCE} runs, ms of agent to Running"), own);
    found.insert(format!("{AT_ONCE} runs, ms of raw calls at their best"), raw);
    found.insert(format!("{AT_ONCE} runs, agent against raw"), own / raw);
}

/// So many runs at once: milliseconds from the first object seen to the last `Running` seen.
async fn by_agent(agent: &Agent, hint: &str, count: usize) -> f64 {
    let mut seen = watcher(agent.runs(), watcher::Config::default()).boxed();
    while !matches!(seen.next().await, Some(Ok(watcher::Event::InitDone))) {}
    let runs: Vec<_> = (0..count).map(|n| sleeper(agent, &format!("{hint}-{n}"))).collect();
    let make = stream::iter(&runs).for_each_concurrent(None, async |run| {
        agent.create(run).await;
    });
    let watch = async {
        let (mut began, mut running) = (None, 0);
        while running < count {
            let Some(Ok(watcher::Event::Apply(run))) = seen.next().await else { continue };
            let began = *began.get_or_insert_with(Instant::now);
            let phase = run.status.and_then(|status| status.phase);
            running += usize::from(phase.is_some_and(|phase| format!("{phase:?}") == "Running"));
            if running == count {
                return began.elapsed();
            }
        }
        Duration::ZERO
    };
    let ((), took) = tokio::join!(make, watch);
    for run in &runs {
        agent.change(&run.name_any(), json!({ "desired": "Removed" })).await;
    }
    for run in &runs {
        agent.phase(&run.name_any(), "Removed").await;
        agent.delete(&run.name_any()).await;
    }
    took.as_secs_f64() * 1e3
}

/// The same containers by raw calls, `wide` at once; milliseconds.
async fn by_hand(agent: &Agent, engine: &Engine, hint: &str, count: usize, wide: usize) -> f64 {
    let bodies: Vec<_> =
        (0..count).map(|n| body(agent, engine, &sleeper(agent, &format!("{hint}-{n}")))).collect();
    let began = Instant::now();
    let ids: Vec<String> = stream::iter(&bodies)
        .map(async |(name, body)| {
            let path = format!("/containers/create?name={name}");
            let made = engine.call("POST", &path, Some(body)).await;
            let id = made["Id"].as_str().unwrap().to_owned();
            engine.call("POST", &format!("/containers/{id}/start"), None).await;
            id
        })
        .buffer_unordered(wide)
        .collect()
        .await;
    let took = began.elapsed();
    for id in ids {
        engine.call("DELETE", &format!("/containers/{id}?force=1"), None).await;
    }
    took.as_secs_f64() * 1e3
}

fn sleeper(agent: &Agent, name: &str) -> WorkspaceRun {
    let uid = format!("{:08x}-0000-4000-8000-000000000000", fnv(name));
    agent.run(name, 1, json!({ "workspace": { "uid": uid }, "stop": { "gracePeriod": "1s" } }))
}

/// FNV-1a: a number for each name.
fn fnv(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// What the agent sends for a run.
fn body(agent: &Agent, engine: &Engine, run: &WorkspaceRun) -> (String, Value) {
    let (root, secret) = (agent.root().display().to_string(), BTreeMap::new());
    let intent = Intent {
        run: &run.spec,
        secret: &secret,
        host_uid: "by-hand",
        root: &root,
        engine: engine.api(),
    };
    let create = create_body(&intent).unwrap();
    (create.name, serde_json::to_value(&create.body).unwrap())
}

/// A thousand runs on which nothing happens.
async fn idle(found: &mut BTreeMap<String, f64>) {
    let fake = FakeEngine::with(Options::default());
    fake.add_image(Image::new("kibotos.test/busybox:1", json!({ "Cmd": ["sh"] })));
    fake.processes("kibotos.test/busybox:1", Process::obedient(0));
    let mut agent = Agent::joined(&cluster().await, &engine().await, &fake.socket(), "rest").await;
    agent.start();
    let runs: Vec<_> = (0..IDLE).map(|n| sleeper(&agent, &format!("i{n}"))).collect();
    stream::iter(&runs)
        .for_each_concurrent(16, async |run| {
            agent.create(run).await;
        })
        .await;
    let before = versions(&agent).await;
    tokio::time::sleep(REST).await;
    fake.forget_calls();
    let cpu = agent.cpu_seconds();
    tokio::time::sleep(REST).await;
    let used = agent.cpu_seconds() - cpu;
    let lists = fake.count("GET", "/containers/json").max(1);
    let count = |number: usize| f64::from(u32::try_from(number).unwrap());
    let written = before.iter().zip(versions(&agent).await).filter(|(a, b)| **a != *b).count();
    found.insert(format!("{IDLE} idle runs, MiB of RSS"), agent.rss_mib());
    found.insert(
        format!("{IDLE} idle runs, calls a resync"),
        count(fake.calls().len()) / count(lists),
    );
    found.insert(format!("{IDLE} idle runs, runs written"), count(written));
    found.insert(
        format!("{IDLE} idle runs, % of a CPU at a resync each second"),
        used / REST.as_secs_f64() * 100.0,
    );
}

/// The versions of all runs, once all run.
async fn versions(agent: &Agent) -> Vec<Option<String>> {
    eventually("all run", async || {
        let runs = agent.runs().list(&ListParams::default()).await.unwrap().items;
        let running = runs.iter().filter(|run| {
            run.status.as_ref().is_some_and(|status| Agent::reason(status, "Ready").0 == "True")
        });
        (running.count() == IDLE)
            .then(|| runs.into_iter().map(|run| run.metadata.resource_version).collect())
    })
    .await
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
