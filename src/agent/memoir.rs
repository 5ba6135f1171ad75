//! What outlives the process: what was last asked of the host, and what became of it.
//!
//! Kept in memory and written behind: what is lost with a process that is killed is asked again of
//! the API, or seen again on the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::checkpoint::{Checkpoint, HostIdentity, Loaded, RunCheckpoint, Sealed};
use super::images::collect::{Pulled, PulledImage};
use super::intent::{Assignment, assign};
use super::lifecycle::Record;
use super::registration::Orders;
use super::root::Root;
use crate::api::WorkspaceRun;
use crate::api::grammar::ImageReference;
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

/// The memory of the agent, shared by all tasks.
#[derive(Clone, Debug)]
pub struct Memoir(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    dirty: Notify,
    checkpoint: Checkpoint,
}

#[derive(Debug)]
struct State {
    identity: HostIdentity,
    orders: Orders,
    runs: BTreeMap<String, One>,
    identity_dirty: bool,
    runs_dirty: BTreeSet<String>,
    pulled: Pulled,
    pulled_dirty: bool,
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
    pub fn open(root: &Root, host: &str) -> Result<Self, String> {
        let told = |error: std::io::Error| format!("{}: {error}", root.checkpoint().display());
        let checkpoint = Checkpoint::open(root).map_err(told)?;
        let loaded: Loaded<Note, serde_json::Value, Pulled> = checkpoint.load().map_err(told)?;
        for aside in &loaded.set_aside {
            let (file, why, moved_to) = (&aside.name, &aside.why, &aside.moved_to);
            warn!(file, %why, ?moved_to, "a part of the checkpoint cannot be read and is set aside");
        }
        let state = State::of(loaded, host);
        if state.identity.name != host {
            return Err(format!(
                "the root belongs to the agent of Host {}: give the agent of {host} another --root",
                state.identity.name
            ));
        }
        info!(runs = state.runs.len(), "read the checkpoint");
        let inner = Inner { state: Mutex::new(state), dirty: Notify::new(), checkpoint };
        Ok(Self(Arc::new(inner)))
    }

    /// What an admin said last.
    pub fn orders(&self) -> Orders {
        self.lock().orders.clone()
    }

    /// Uids of the Host.
    pub fn uids(&self) -> Vec<String> {
        self.lock().identity.uids()
    }

    /// Takes in what an admin says now.
    pub fn ordered(&self, orders: &Orders) {
        let mut state = self.lock();
        if state.orders == *orders {
            return;
        }
        let other = state.identity.uid != orders.uid || state.identity.mode != orders.mode;
        if other {
            let identity = state.identity.clone().with_uid(&orders.uid);
            state.identity = HostIdentity { mode: orders.mode, ..identity };
            state.identity_dirty = true;
        }
        state.orders = orders.clone();
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
            && state.identity.containers.entry(workspace).or_default().insert(id)
        {
            state.identity_dirty = true;
        }
        self.0.dirty.notify_one();
    }

    /// Keeps what is assigned, and forgets what is not any more.
    /// `secret` looks one up by name.
    pub fn assigned(
        &self,
        assignments: &BTreeMap<String, Assignment>,
        secret: impl Fn(&str) -> Option<Arc<Secret>>,
    ) {
        let mut state = self.lock();
        let mut there = BTreeSet::new();
        for run in assignments.values().flat_map(Assignment::runs) {
            let Some(uid) = run.metadata.uid.clone() else { continue };
            let needed = needed(run, &secret);
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

    /// Notes that the agent itself pulled an image.
    pub fn pulled(&self, reference: &str, id: &str) {
        let mut state = self.lock();
        state.pulled.record(reference, id, Timestamp::now().as_second());
        state.pulled_dirty = true;
        self.0.dirty.notify_one();
    }

    /// Notes that an image is used.
    pub fn used(&self, id: &str) {
        let mut state = self.lock();
        if state.pulled.used(id, Timestamp::now().as_second()) {
            state.pulled_dirty = true;
            self.0.dirty.notify_one();
        }
    }

    /// The images that the agent itself pulled.
    pub fn images(&self) -> Pulled {
        self.lock().pulled.clone()
    }

    /// All images that runs here refer to.
    pub fn referred(&self) -> Vec<ImageReference> {
        let state = self.lock();
        let images = state.runs.values().flat_map(|one| {
            let spec = &one.run.spec;
            let next = spec.prefetch.as_ref().map(|prefetch| &prefetch.image);
            [spec.container.image.as_ref(), next]
        });
        images.flatten().filter_map(|image| image.parse().ok()).collect()
    }

    /// Forgets images that were removed.
    pub fn removed(&self, gone: &[PulledImage]) {
        let mut state = self.lock();
        for image in gone {
            state.pulled.forget(image);
        }
        state.pulled_dirty = true;
        self.0.dirty.notify_one();
    }

    /// Whether a Workspace ever had a container here.
    pub fn knows(&self, workspace: &str) -> bool {
        self.lock().identity.containers.contains_key(workspace)
    }

    /// Whether a container is one that a Workspace had here.
    pub fn is_ours(&self, workspace: &str, id: &str) -> bool {
        self.lock().identity.containers.get(workspace).is_some_and(|ids| ids.contains(id))
    }

    /// Forgets containers that are no more, of Workspaces that are no more. `listed` are the full ids
    /// of all there are.
    pub fn forget_gone(&self, listed: &BTreeSet<&str>, is_here: impl Fn(&str) -> bool) {
        let mut state = self.lock();
        let before = state.identity.containers.clone();
        for (workspace, ids) in &mut state.identity.containers {
            ids.retain(|id| listed.contains(id.as_str()) || is_here(workspace));
        }
        state.identity.containers.retain(|_, ids| !ids.is_empty());
        if state.identity.containers != before {
            state.identity_dirty = true;
            self.0.dirty.notify_one();
        }
    }

    /// Writes behind, until the end.
    pub async fn write(self, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.0.dirty.notified() => {}
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(TOGETHER) => {}
            }
            if !self.save().await {
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(AGAIN) => self.0.dirty.notify_one(),
                }
            }
        }
    }

    /// Writes what is not written yet, and says whether all is.
    pub async fn save(&self) -> bool {
        let memoir = self.clone();
        tokio::task::spawn_blocking(move || memoir.save_now()).await.unwrap_or(false)
    }

    /// Writes what has changed; what cannot be written stays to be written.
    fn save_now(&self) -> bool {
        let (identity, runs, pulled) = {
            let mut state = self.lock();
            let identity =
                std::mem::take(&mut state.identity_dirty).then(|| state.identity.clone());
            let dirty = std::mem::take(&mut state.runs_dirty);
            let runs: Vec<_> =
                dirty.into_iter().map(|uid| (state.runs.get(&uid).cloned(), uid)).collect();
            let pulled = std::mem::take(&mut state.pulled_dirty).then(|| state.pulled.clone());
            (identity, runs, pulled)
        };
        let mut whole = true;
        if let Some(identity) = identity
            && let Err(error) = self.0.checkpoint.save_identity(&identity)
        {
            warn!(%error, "the checkpoint cannot be written; it is tried again");
            self.lock().identity_dirty = true;
            whole = false;
        }
        if let Some(pulled) = pulled
            && let Err(error) = self.0.checkpoint.save_images(&pulled)
        {
            warn!(%error, "the list of pulled images cannot be written; it is tried again");
            self.lock().pulled_dirty = true;
            whole = false;
        }
        for (one, uid) in runs {
            let saved = match one {
                Some(one) => self.0.checkpoint.save_run(&one.kept()),
                None => self.0.checkpoint.remove_run(&uid),
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
fn needed(run: &WorkspaceRun, secret: impl Fn(&str) -> Option<Arc<Secret>>) -> Vec<Arc<Secret>> {
    let spec = &run.spec;
    let names = [
        spec.secret_name.as_ref(),
        spec.config_file.as_ref().map(|config| &config.secret_name),
        spec.prefetch.as_ref().and_then(|prefetch| prefetch.secret_name.as_ref()),
    ];
    names.into_iter().flatten().filter_map(|name| secret(name)).collect()
}

impl State {
    fn of(loaded: Loaded<Note, serde_json::Value, Pulled>, host: &str) -> Self {
        let fresh = || HostIdentity { name: host.to_owned(), ..HostIdentity::default() };
        let identity = loaded.identity.unwrap_or_else(fresh);
        let orders =
            Orders { uid: identity.uid.clone(), mode: identity.mode, remove_released: false };
        let runs = loaded
            .runs
            .into_iter()
            .filter_map(|kept| Some((kept.run.metadata.uid.clone()?, One::of(kept))));
        Self {
            runs: runs.collect(),
            identity,
            orders,
            identity_dirty: false,
            runs_dirty: BTreeSet::new(),
            pulled: loaded.images.unwrap_or_default(),
            pulled_dirty: false,
            taken: false,
        }
    }
}

/// The one name of the config file's content in the checkpoint.
const CONTENT: &str = "content";

impl One {
    fn of(kept: RunCheckpoint<Note>) -> Self {
        let spec = &kept.run.spec;
        let secret = |name: &str, data: BTreeMap<String, k8s_openapi::ByteString>| {
            let mut secret = Secret { data: Some(data), ..Secret::default() };
            secret.metadata.name = Some(name.to_owned());
            Arc::new(secret)
        };
        let mut secrets = Vec::new();
        if let Some(name) = &spec.secret_name
            && kept.has_secret
        {
            secrets.push(secret(name, kept.secret.0.clone()));
        }
        if let Some(config) = &spec.config_file
            && let Some(content) = kept.config.0.get(CONTENT)
        {
            let data = [(config.key.clone(), content.clone())].into();
            secrets.push(secret(&config.secret_name, data));
        }
        Self { run: Arc::new(kept.run), secrets, note: Some(kept.record) }
    }

    fn kept(&self) -> RunCheckpoint<Note> {
        let spec = &self.run.spec;
        let data = |name: Option<&String>| {
            let found = self.secrets.iter().find(|secret| secret.metadata.name.as_ref() == name);
            found.map(|secret| secret.data.clone().unwrap_or_default())
        };
        let secret = spec.secret_name.as_ref().and_then(|name| data(Some(name)));
        let config = spec.config_file.as_ref().and_then(|config| {
            let content = data(Some(&config.secret_name))?.remove(&config.key)?;
            Some([(CONTENT.to_owned(), content)].into())
        });
        RunCheckpoint {
            run: (*self.run).clone(),
            has_secret: secret.is_some(),
            secret: Sealed(secret.unwrap_or_default()),
            config: Sealed(config.unwrap_or_default()),
            record: self.note.clone().unwrap_or_default(),
        }
    }

    fn is_same(&self, run: &WorkspaceRun, secrets: &[Arc<Secret>]) -> bool {
        // The spec does not change without the generation.
        self.run.metadata.generation == run.metadata.generation
            && self.run.metadata.deletion_timestamp == run.metadata.deletion_timestamp
            && self.secrets.len() == secrets.len()
            && self.secrets.iter().zip(secrets).all(|(a, b)| a.data == b.data)
    }
}
