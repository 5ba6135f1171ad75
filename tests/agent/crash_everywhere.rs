//! The way to the engine, or the agent itself, is cut at each change that it makes on the engine:
//! what comes of it is what comes of the same story untold of any cut.

mod host;
mod story;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use tokio::task::JoinSet;

use self::host::{Row, StoryHost};
use crate::{
    fake::Cut,
    fixture::{cluster, engine},
};

/// So many hosts have their stories told beside each other.
const HOSTS: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn wherever_the_engine_or_the_agent_is_cut_all_ends_as_if_nothing_had_been() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut first = StoryHost::new(&cluster, &engine).await;
    let (told, changes) = story::tell(&mut first, &Row::uncut(), None).await;
    assert!(changes > 20, "the story has only {changes} changes");
    let rows = Arc::new(rows(changes));
    let (next, told) = (Arc::new(AtomicUsize::new(0)), Arc::new(told));
    let idle = Arc::new(Mutex::new(vec![first]));
    let mut all = JoinSet::new();
    for _ in 0..HOSTS {
        let (rows, next, told, idle) = (rows.clone(), next.clone(), told.clone(), idle.clone());
        let (cluster, engine) = (cluster.clone(), engine.clone());
        all.spawn(async move {
            let taken = idle.lock().unwrap().pop();
            let mut host = match taken {
                Some(host) => host,
                None => StoryHost::new(&cluster, &engine).await,
            };
            while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                story::tell(&mut host, row, Some(&told)).await;
            }
        });
    }
    while let Some(ended) = all.join_next().await {
        if let Err(failed) = ended {
            std::panic::resume_unwind(failed.into_panic());
        }
    }
}

/// Each change, cut in each way, by a link that breaks and by an agent that dies.
fn rows(changes: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for at in 1..=changes {
        for (how, kill) in
            [(Cut::Before, false), (Cut::During, false), (Cut::Before, true), (Cut::During, true)]
        {
            rows.push(Row { cut: Some((at, how)), kill });
        }
    }
    rows
}
