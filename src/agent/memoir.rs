//! What outlives the process: what was last asked of the host, and what became of it.
//!
//! Kept in memory and written behind: what is lost with a process that is killed is asked again of
//! the API, or seen again on the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::checkpoint::{Checkpoint, Kept, Loaded};
use super::intent::{Assignment, assign};
use super::lifecycle::Record;
use super::registration::Orders;
use super::root::Root;
use crate::api::WorkspaceRun;
use crate::api::workspace_run::WorkspaceRunStatus;

/// What is written within so short a time is written once.
const TOGETHER: Duration = Duration::from_millis(50);
/// Between tries of a write that failed, as on a full disk.
const AGAIN: Duration = Duration::from_secs(10);

/// What has become of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Note {
    /// For the next step.
    pub record: Record,
    /// The status as it was last made, written to the API or not.
    pub status: WorkspaceRunStatus,
}

/// What is known of the host beyond its runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Header {
    /// Name of the Host.
    pub host: String,
    /// What an admin said of it last.
    pub orders: Orders,
    /// Uids of the Host, the present one last.
    pub uids: Vec<String>,
    /// Full ids of containers that were seen, by the Workspace's uid.
    pub containers: BTreeMap<String, BTreeSet<String>>,
}

/// The memory of the agent, shared by all tasks.
#[derive(Clone, Debug)]
pub struct Memoir(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    dirty: Notify,
    checkpoint: Checkpoint,
}

#[derive(Debug, Default)]
struct State {
    header: Header,
    runs: BTreeMap<String, One>,
    header_dirty: bool,
    runs_dirty: BTreeSet<String>,
    taken: bool,
}

/// One run with what it needs.
#[derive(Clone, Debug)]
struct One {
    run: Arc<WorkspaceRun>,
    secrets: Vec<Arc<Secret>>,
    note: Option<Note>,
}

impl Memoir {
    /// Reads what an earlier process left in the root.
    pub async fn open(root: &Root, host: &str) -> Result<Self, String> {
        let directory = root.checkpoint();
        let opened = tokio::task::spawn_blocking(move || Checkpoint::open(&directory)).await;
        let (checkpoint, loaded) = opened.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
        for aside in &loaded.set_aside {
            warn!("a part of the checkpoint cannot be read and is set aside: {aside}");
        }
        let mut state = State::of(loaded);
        if !state.header.host.is_empty() && state.header.host != host {
            return Err(format!(
                "the root belongs to the agent of Host {}: give the agent of {host} another --root",
                state.header.host
            ));
        }
        host.clone_into(&mut state.header.host);
        info!(runs = state.runs.len(), "read the checkpoint");
        let inner = Inner { state: Mutex::new(state), dirty: Notify::new(), checkpoint };
        Ok(Self(Arc::new(inner)))
    }

    /// What an admin said last.
    pub fn orders(&self) -> Orders {
        self.lock().header.orders.clone()
    }

    /// Uids of the Host.
    pub fn uids(&self) -> Vec<String> {
        self.lock().header.uids.clone()
    }

    /// Takes in what an admin says now.
    pub fn ordered(&self, orders: &Orders) {
        let mut state = self.lock();
        if state.header.orders == *orders {
            return;
        }
        state.header.orders = orders.clone();
        state.header.uids.retain(|uid| *uid != orders.uid);
        state.header.uids.push(orders.uid.clone());
        state.header_dirty = true;
        self.0.dirty.notify_one();
    }

    /// What has become of a run, by the run's uid.
    pub fn recall(&self, uid: &str) -> Option<Note> {
        self.lock().runs.get(uid)?.note.clone()
    }

    /// Keeps what has become of a run.
    pub fn keep(&self, uid: &str, note: Note) {
        let mut state = self.lock();
        let Some(one) = state.runs.get_mut(uid) else { return };
        let workspace = one.run.spec.workspace.uid.clone();
        if one.note.as_ref() == Some(&note) {
            return;
        }
        let container = note.record.container_id.clone();
        one.note = Some(note);
        state.runs_dirty.insert(uid.to_owned());
        if let Some(id) = container
            && state.header.containers.entry(workspace).or_default().insert(id)
        {
            state.header_dirty = true;
        }
        self.0.dirty.notify_one();
    }

    /// Keeps what is assigned, and forgets what is not any more.
    pub fn assigned(&self, assignments: &BTreeMap<String, Assignment>, secrets: &[Arc<Secret>]) {
        let mut state = self.lock();
        let mut there = BTreeSet::new();
        for run in assignments.values().flat_map(Assignment::runs) {
            let Some(uid) = run.metadata.uid.clone() else { continue };
            let needed = needed(run, secrets);
            there.insert(uid.clone());
            let before = state.runs.get(&uid);
            if before.is_some_and(|before| before.is_same(run, &needed)) {
                continue;
            }
            let note = before.and_then(|before| before.note.clone());
            let one = One { run: run.clone(), secrets: needed, note };
            state.runs.insert(uid.clone(), one);
            state.runs_dirty.insert(uid);
        }
        let gone: Vec<_> = state.runs.keys().filter(|uid| !there.contains(*uid)).cloned().collect();
        for uid in gone {
            state.runs.remove(&uid);
            state.runs_dirty.insert(uid);
        }
        if !state.runs_dirty.is_empty() {
            self.0.dirty.notify_one();
        }
    }

    /// What was assigned last; once, at a start without the API.
    pub fn take_assignments(&self) -> Option<BTreeMap<String, Assignment>> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.taken, true) || state.runs.is_empty() {
            return None;
        }
        let runs: Vec<_> = state.runs.values().map(|one| one.run.clone()).collect();
        let secrets: Vec<_> = state.runs.values().flat_map(|one| one.secrets.clone()).collect();
        Some(assign(runs, |name| {
            secrets.iter().find(|secret| secret.metadata.name.as_deref() == Some(name)).cloned()
        }))
    }

    /// Whether a Workspace ever had a container here.
    pub fn knows(&self, workspace: &str) -> bool {
        self.lock().header.containers.contains_key(workspace)
    }

    /// Whether a container is one that a Workspace had here.
    pub fn is_ours(&self, workspace: &str, id: &str) -> bool {
        self.lock().header.containers.get(workspace).is_some_and(|ids| ids.contains(id))
    }

    /// Forgets containers that are no more. `listed` are the full ids of all there are.
    pub fn forget_gone(&self, listed: &BTreeSet<&str>) {
        let mut state = self.lock();
        let before = state.header.containers.clone();
        for ids in state.header.containers.values_mut() {
            ids.retain(|id| listed.contains(id.as_str()));
        }
        state.header.containers.retain(|_, ids| !ids.is_empty());
        if state.header.containers != before {
            state.header_dirty = true;
            self.0.dirty.notify_one();
        }
    }

    /// Writes behind, until the end and once more then. `done` tells that all is written.
    pub async fn write(self, stop: CancellationToken, done: Arc<Notify>) {
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.0.dirty.notified() => {}
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(TOGETHER) => {}
            }
            if !self.save().await {
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = tokio::time::sleep(AGAIN) => self.0.dirty.notify_one(),
                }
            }
        }
        done.notified().await;
        self.save().await;
        done.notify_one();
    }

    async fn save(&self) -> bool {
        let memoir = self.clone();
        tokio::task::spawn_blocking(move || memoir.save_now()).await.unwrap_or(false)
    }

    /// Writes what has changed; what cannot be written stays to be written.
    fn save_now(&self) -> bool {
        let (header, runs) = {
            let mut state = self.lock();
            let header = std::mem::take(&mut state.header_dirty).then(|| state.header.clone());
            let dirty = std::mem::take(&mut state.runs_dirty);
            let runs: Vec<_> =
                dirty.into_iter().map(|uid| (state.runs.get(&uid).cloned(), uid)).collect();
            (header, runs)
        };
        let mut whole = true;
        if let Some(header) = header
            && let Err(error) = self.0.checkpoint.save_header(&header)
        {
            warn!(%error, "the checkpoint cannot be written; it is tried again");
            self.lock().header_dirty = true;
            whole = false;
        }
        for (one, uid) in runs {
            let saved = match one {
                Some(one) => self.0.checkpoint.save_run(&uid, &one.kept()),
                None => self.0.checkpoint.forget_run(&uid),
            };
            if let Err(error) = saved {
                warn!(%error, "the checkpoint of a run cannot be written; it is tried again");
                self.lock().runs_dirty.insert(uid);
                whole = false;
            }
        }
        whole
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The Secrets that a run names.
fn needed(run: &WorkspaceRun, secrets: &[Arc<Secret>]) -> Vec<Arc<Secret>> {
    let spec = &run.spec;
    let names = [
        spec.secret_name.as_ref(),
        spec.config_file.as_ref().map(|config| &config.secret_name),
        spec.prefetch.as_ref().and_then(|prefetch| prefetch.secret_name.as_ref()),
    ];
    let is_named = |secret: &&Arc<Secret>| names.iter().flatten().any(|name| secret.metadata.name.as_ref() == Some(*name));
    secrets.iter().filter(is_named).cloned().collect()
}

impl One {
    fn is_same(&self, run: &WorkspaceRun, secrets: &[Arc<Secret>]) -> bool {
        self.run.metadata.generation == run.metadata.generation
            && self.run.metadata.deletion_timestamp == run.metadata.deletion_timestamp
            && self.run.spec == run.spec
            && self.secrets.len() == secrets.len()
            && self.secrets.iter().zip(secrets).all(|(a, b)| a.data == b.data)
    }
}
