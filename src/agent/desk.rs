//! What the API says of this host, watched: its runs, their Secrets, tasks on volumes, the Host.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::reflector::{self, Lookup, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tracing::{debug, warn};

use crate::api::{Host, VolumeTask, WorkspaceRun};

/// One kind as it is watched.
#[derive(Clone, Debug)]
pub struct Watched<K: Lookup<DynamicType = ()> + Clone + 'static> {
    store: Store<K>,
    /// Whether it was listed once, whole.
    listed: Arc<AtomicBool>,
    /// Whether the API refused it last.
    refused: Arc<AtomicBool>,
}

/// All that is watched.
#[derive(Clone, Debug)]
pub struct Desk {
    /// The runs of this host.
    pub runs: Watched<WorkspaceRun>,
    /// Their Secrets.
    pub secrets: Watched<Secret>,
    /// Work on volumes.
    pub tasks: Watched<VolumeTask>,
    /// The Host itself, and no other.
    pub hosts: Watched<Host>,
    /// Whether the API refused the Lease last. A watch that was let in goes on after its credential
    /// was revoked; a renewal is refused within seconds.
    lease_refused: Arc<AtomicBool>,
    /// Rung with every change of what runs depend on.
    pub changed: Arc<Notify>,
    /// Rung with every change of a task.
    pub tasks_changed: Arc<Notify>,
}

impl<K> Watched<K>
where
    K: Lookup<DynamicType = ()> + Clone + 'static,
{
    /// All there are, as of the last word of the API.
    pub fn all(&self) -> Vec<Arc<K>> {
        self.store.state()
    }

    /// Whether the API has told of all.
    pub fn is_listed(&self) -> bool {
        self.listed.load(Ordering::Relaxed)
    }

    /// Whether the API refuses to tell.
    pub fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Desk {
    /// Watches, in tasks of `watches`, for as long as those live.
    pub fn watch(client: &Client, host: &str, namespace: &str, watches: &mut JoinSet<()>) -> Self {
        let changed = Arc::new(Notify::new());
        let tasks_changed = Arc::new(Notify::new());
        let all = watcher::Config::default;
        let one = all().fields(&format!("metadata.name={host}"));
        let bell = &changed;
        Self {
            runs: watched(Api::namespaced(client.clone(), namespace), all(), bell, watches),
            secrets: watched(Api::namespaced(client.clone(), namespace), all(), bell, watches),
            tasks: watched(
                Api::namespaced(client.clone(), namespace),
                all(),
                &tasks_changed,
                watches,
            ),
            hosts: watched(Api::all(client.clone()), one, bell, watches),
            lease_refused: Arc::default(),
            changed,
            tasks_changed,
        }
    }

    /// Whether the API has told of all that runs depend on.
    pub fn is_listed(&self) -> bool {
        self.runs.is_listed() && self.secrets.is_listed() && self.hosts.is_listed()
    }

    /// Whether the API refuses this host: its credential was revoked, or its namespace is gone.
    pub fn is_refused(&self) -> bool {
        self.runs.is_refused()
            || self.hosts.is_refused()
            || self.lease_refused.load(Ordering::Relaxed)
    }

    /// Takes in how the API answered a renewal of the Lease.
    pub fn lease_was(&self, answer: &Result<(), kube::Error>) {
        let refused = match answer {
            Ok(()) => false,
            Err(kube::Error::Api(status)) => is_refusal(status.code),
            // Away, which says nothing of the credential.
            Err(_) => return,
        };
        if self.lease_refused.swap(refused, Ordering::Relaxed) != refused {
            self.changed.notify_one();
        }
    }

    /// The Host, where the API told of it.
    pub fn host(&self) -> Option<Arc<Host>> {
        self.hosts.all().into_iter().next()
    }
}

fn watched<K>(
    api: Api<K>,
    config: watcher::Config,
    changed: &Arc<Notify>,
    watches: &mut JoinSet<()>,
) -> Watched<K>
where
    K: Resource<DynamicType = ()>
        + Lookup<DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + DeserializeOwned
        + Send
        + Sync
        + 'static,
{
    let (store, writer) = reflector::store();
    let (listed, refused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let kept = Watched { store, listed: listed.clone(), refused: refused.clone() };
    let changed = changed.clone();
    watches.spawn(async move {
        let failures = AtomicU32::new(0);
        let events = watcher(api, config).default_backoff().reflect(writer);
        events
            .for_each(|event| {
                match event {
                    // Only begun: whether the API lets us in is told by what comes next.
                    Ok(watcher::Event::Init) => {}
                    Ok(event) => {
                        failures.store(0, Ordering::Relaxed);
                        refused.store(false, Ordering::Relaxed);
                        let whole = !matches!(event, watcher::Event::InitApply(_));
                        if whole {
                            listed.store(true, Ordering::Relaxed);
                            changed.notify_one();
                        }
                    }
                    Err(error) => {
                        let kind = <K as Resource>::kind(&());
                        // The first time aloud, then each tenth.
                        if failures.fetch_add(1, Ordering::Relaxed).is_multiple_of(10) {
                            warn!(%error, kind = %kind, "the API cannot be watched; it is tried again");
                        } else {
                            debug!(%error, kind = %kind, "the API cannot be watched");
                        }
                        if refuses(&error) != refused.swap(refuses(&error), Ordering::Relaxed) {
                            changed.notify_one();
                        }
                    }
                }
                std::future::ready(())
            })
            .await;
    });
    kept
}

/// Whether the API knows us no more, rather than being away.
fn refuses(error: &watcher::Error) -> bool {
    let code = match error {
        watcher::Error::WatchError(status)
        | watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status)) => Some(status.code),
        _ => None,
    };
    code.is_some_and(is_refusal)
}

const fn is_refusal(code: u16) -> bool {
    matches!(code, 401 | 403)
}

/// How long a start waits for the API before it goes on from what was checkpointed.
pub const HEAD_START: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
