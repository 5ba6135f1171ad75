//! What a host costs on which nothing happens.

use std::time::Duration;

use futures::{StreamExt, stream};
use kube::api::ListParams;
use serde_json::json;

use super::on_fake::on_fake;
use crate::{
    fake::{FakeEngine, Options},
    fixture::{Agent, eventually},
};

const RUNS: usize = 200;
const RESYNCS: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn idle_runs_cost_one_list_a_resync_and_nothing_else() {
    let (agent, fake) = on_fake("idle", Options::default()).await;
    agent_with_runs(&agent).await;
    let versions = settled(&agent).await;
    quiet(&fake).await;
    fake.forget_calls();
    let list = r"/containers/json";
    let resynced = || fake.count("GET", list) >= RESYNCS;
    eventually("it looks again", async || resynced().then_some(())).await;
    let calls = fake.calls();
    let others: Vec<_> =
        calls.iter().map(|call| format!("{} {}", call.method, call.path)).collect();
    let strange: Vec<_> = others.iter().filter(|call| *call != "GET /containers/json").collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert_eq!(settled(&agent).await, versions, "runs were written");
}

async fn agent_with_runs(agent: &Agent) {
    stream::iter(0..RUNS)
        .for_each_concurrent(16, async |number| {
            let mut run = agent.run(&format!("{number:04}"), 1, json!({}));
            run.metadata.name = Some(format!("r{number:04}-1"));
            agent.create(&run).await;
        })
        .await;
}

/// The versions of all runs, once all run.
async fn settled(agent: &Agent) -> Vec<Option<String>> {
    let waited = eventually("all run", async || {
        let runs = agent.runs().list(&ListParams::default()).await.unwrap().items;
        let running = runs.iter().filter(|run| {
            let status = run.status.as_ref();
            status.is_some_and(|s| Agent::reason(s, "Ready").0 == "True")
        });
        if running.count() == RUNS {
            return Some(runs.into_iter().map(|run| run.metadata.resource_version).collect());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        None
    });
    waited.await
}

/// Waits until nothing but lists is asked from one list to the next.
async fn quiet(fake: &FakeEngine) {
    eventually("the engine is left in peace", async || {
        fake.forget_calls();
        let listed = async || (fake.count("GET", "/containers/json") > 1).then_some(());
        eventually("it looks again", listed).await;
        (fake.count("GET", "/containers/.+/json") == 0).then_some(())
    })
    .await;
}
