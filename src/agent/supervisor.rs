//! Gives each Workspace its task: what is assigned to it, and a ring when something happened.
//!
//! ```text
//!  API ──watch──▶ Desk ──▶ Assignment ──▶ task of the Workspace
//!  checkpoint ──▶ Desk        (until the API has spoken once)
//!  engine: events, and a list of all containers each resync ──▶ ring
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::context::{Shared, Standing};
use super::intent::Assignment;
use super::link::Up;
use super::orphans::Orphans;
use super::reconcile::Task;
use super::report::{Reporter, Word};
use super::status;
use crate::api::host::{ContainerCounts, HostMode};
use crate::api::names::label;
use crate::docker::ListItem;

/// How long the last statuses are waited for when the agent ends.
const LAST_WORD: std::time::Duration = std::time::Duration::from_secs(3);

/// The bells of all tasks, by the Workspace's uid.
#[derive(Clone, Debug, Default)]
pub struct Bells(Arc<Mutex<HashMap<String, Arc<Notify>>>>);

impl Bells {
    /// Rings one Workspace's bell, if there is one.
    pub fn ring(&self, uid: &str) {
        if let Some(bell) = self.lock().get(uid) {
            bell.notify_one();
        }
    }

    fn hang(&self, uid: &str) -> Arc<Notify> {
        self.lock().entry(uid.to_owned()).or_default().clone()
    }

    fn take_down(&self, uid: &str) {
        self.lock().remove(uid);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is given to tasks.
pub struct Supervisor {
    /// The host.
    pub context: Shared,
    /// Who tells the API.
    pub reporter: Reporter,
    /// The bells.
    pub bells: Bells,
    /// The end of the process.
    pub stop: CancellationToken,
    tasks: BTreeMap<String, Post>,
    running: JoinSet<()>,
    /// Those who write statuses.
    telling: JoinSet<()>,
    /// Held by a Workspace's task while it works: the next one of that Workspace waits for it.
    turns: HashMap<String, Arc<tokio::sync::Mutex<()>>>,
    seen: BTreeMap<String, Print>,
    /// Containers that no run was there for at the last resync.
    strays: BTreeSet<String>,
    orphans: Orphans,
}

/// Where one task gets what is assigned.
struct Post {
    assigned: watch::Sender<Option<Arc<Assignment>>>,
    older: BTreeMap<String, watch::Sender<Option<Word>>>,
}

/// What of a listed container tells that something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Print(Vec<(String, String, String, String)>);

impl Supervisor {
    /// A supervisor without tasks.
    pub fn new(context: Shared, reporter: Reporter, bells: Bells, stop: CancellationToken) -> Self {
        let (tasks, running, seen) = (BTreeMap::new(), JoinSet::new(), BTreeMap::new());
        let (strays, orphans) = (BTreeSet::new(), Orphans::default());
        Self {
            context,
            reporter,
            bells,
            stop,
            tasks,
            running,
            telling: JoinSet::new(),
            turns: HashMap::new(),
            seen,
            strays,
            orphans,
        }
    }

    /// Whether all tasks go on: one that panicked would leave its Workspace alone for ever.
    pub fn check(&mut self) -> Result<(), String> {
        for set in [&mut self.running, &mut self.telling] {
            while let Some(ended) = set.try_join_next() {
                ended.map_err(|error| format!("a Workspace's task failed: {error}"))?;
            }
        }
        self.turns.retain(|uid, turn| self.tasks.contains_key(uid) || Arc::strong_count(turn) > 1);
        Ok(())
    }

    /// Hands out what is assigned: new tasks begin, changed ones are told, others end.
    pub fn hand_out(&mut self, assignments: BTreeMap<String, Assignment>) {
        let gone: Vec<_> =
            self.tasks.keys().filter(|uid| !assignments.contains_key(*uid)).cloned().collect();
        for uid in gone {
            if let Some(post) = self.tasks.remove(&uid) {
                info!(uid, "no run of this Workspace is here any more");
                post.assigned.send_replace(None);
                self.bells.take_down(&uid);
            }
        }
        for (uid, assignment) in assignments {
            let assignment = Arc::new(assignment);
            self.assign(&uid, &assignment);
            self.report_older(&uid, &assignment);
        }
        let count = i64::try_from(self.tasks.len()).unwrap_or(i64::MAX);
        self.context.metrics.workspaces.set(count);
    }

    fn assign(&mut self, uid: &str, assignment: &Arc<Assignment>) {
        if let Some(post) = self.tasks.get(uid) {
            post.assigned.send_if_modified(|present| {
                let same = present.as_ref().is_some_and(|present| present.is_same(assignment));
                if !same {
                    *present = Some(assignment.clone());
                }
                !same
            });
            return;
        }
        let (assigned, receiver) = watch::channel(Some(assignment.clone()));
        let (words, told) = watch::channel(None);
        let reporter = self.reporter.clone();
        self.telling.spawn(async move { reporter.keep_told(told).await });
        let task = Task {
            context: self.context.clone(),
            uid: uid.to_owned(),
            assigned: receiver,
            wake: self.bells.hang(uid),
            words,
            reporter: self.reporter.clone(),
            stop: self.stop.clone(),
        };
        let busy = self.orphans.busy_with(uid);
        let turn = self.turns.entry(uid.to_owned()).or_default().clone();
        self.running.spawn(async move {
            let _turn = turn.lock_owned().await;
            // What is still done to its container would be taken for that container's own doing.
            if let Some(busy) = busy {
                drop(busy.lock().await);
            }
            task.run().await;
        });
        self.tasks.insert(uid.to_owned(), Post { assigned, older: BTreeMap::new() });
    }

    /// Runs before the one that acts are over; their containers are the newer run's.
    fn report_older(&mut self, uid: &str, assignment: &Arc<Assignment>) {
        let Some(post) = self.tasks.get_mut(uid) else { return };
        let names: BTreeSet<_> = assignment.older.iter().map(|run| run.name_any()).collect();
        post.older.retain(|name, _| names.contains(name));
        for run in &assignment.older {
            let status = status::superseded(run, Timestamp::now());
            if run.status.as_ref() == Some(&status) {
                continue;
            }
            let word = Word { run: run.clone(), status, lasts: true };
            let reporter = self.reporter.clone();
            let telling = &mut self.telling;
            let words = post.older.entry(run.name_any()).or_insert_with(|| {
                let (words, told) = watch::channel(None);
                telling.spawn(async move { reporter.keep_told(told).await });
                words
            });
            words.send_if_modified(|present| {
                let same = present.as_ref().is_some_and(|present| present.status == word.status);
                if !same {
                    *present = Some(word);
                }
                !same
            });
        }
    }

    /// Takes in a list of all containers: rings the Workspaces where something happened, sees to
    /// what belongs to none, and counts.
    pub fn resync(
        &mut self,
        up: &Arc<Up>,
        listed: &[ListItem],
        standing: &Standing,
        certain: bool,
    ) -> ContainerCounts {
        self.context.metrics.resyncs.inc();
        self.ring_where_something_happened(listed, standing);
        // An engine whose disk is not there yet lists nothing either.
        if !listed.is_empty() {
            let ids = listed.iter().map(|item| item.id.as_str()).collect();
            self.context.memoir.forget_gone(&ids, |uid| self.tasks.contains_key(uid));
        }
        let counts = self.count(listed, standing);
        self.see_to_orphans(up, listed, standing, certain);
        counts
    }

    fn ring_where_something_happened(&mut self, listed: &[ListItem], standing: &Standing) {
        let mut now: BTreeMap<String, Print> = BTreeMap::new();
        for item in listed.iter().filter(|item| is_of_host(item, standing)) {
            let Some(uid) = item.labels.get(label::WORKSPACE_UID) else { continue };
            now.entry(uid.clone()).or_insert_with(|| Print(Vec::new())).0.push(print(item));
        }
        for print in now.values_mut() {
            print.0.sort();
        }
        for uid in self.tasks.keys() {
            if self.seen.get(uid) != now.get(uid) {
                self.bells.ring(uid);
            }
        }
        self.seen = now;
    }

    fn count(&self, listed: &[ListItem], standing: &Standing) -> ContainerCounts {
        let mut counts = ContainerCounts::default();
        for item in listed {
            let of = item.labels.get(label::WORKSPACE_UID).filter(|_| is_of_host(item, standing));
            match of {
                Some(uid) if self.tasks.contains_key(uid) => counts.managed += 1,
                Some(uid) if self.context.memoir.knows(uid) => counts.released += 1,
                _ => counts.foreign += 1,
            }
        }
        counts
    }

    fn see_to_orphans(
        &mut self,
        up: &Arc<Up>,
        listed: &[ListItem],
        standing: &Standing,
        certain: bool,
    ) {
        if !certain || standing.orders.mode == HostMode::Restricted {
            return;
        }
        let mut strays = BTreeSet::new();
        for item in listed.iter().filter(|item| is_of_host(item, standing)) {
            let Some(uid) = item.labels.get(label::WORKSPACE_UID) else { continue };
            if self.tasks.contains_key(uid) || !self.context.memoir.is_ours(uid, &item.id) {
                continue;
            }
            // The first sight of it may be of a moment in between.
            if self.strays.contains(&item.id) {
                self.orphans.see_to(up, uid, item, standing);
            }
            strays.insert(item.id.clone());
        }
        self.strays = strays;
    }

    /// Waits until all tasks have come to an end, or the time is over.
    pub async fn join(mut self, within: std::time::Duration) {
        self.tasks.clear();
        let all = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(within, all).await.is_err() {
            warn!("a step is still under way: its outcome is seen at the next start");
        }
        let told = async { while self.telling.join_next().await.is_some() {} };
        if tokio::time::timeout(LAST_WORD, told).await.is_err() {
            warn!("the last statuses could not be written: they are at the next start");
        }
    }
}

fn is_of_host(item: &ListItem, standing: &Standing) -> bool {
    item.labels.get(label::HOST_UID).is_some_and(|uid| standing.uids.contains(uid))
}

fn print(item: &ListItem) -> (String, String, String, String) {
    // The time in it goes on by itself; what its health check says does not.
    let health = item.status.split_once('(').map_or("", |(_, health)| health);
    let name = item.name().unwrap_or_default().to_owned();
    (item.id.clone(), name, item.state.to_string(), health.to_owned())
}
