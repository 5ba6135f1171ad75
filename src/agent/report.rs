//! Tells the API what the agent sees: the status of each run, and Events about it.
//!
//! Only the newest status counts: one that is overtaken before it was written is never written, and
//! one that cannot be written is kept until it can. What passes soon, like a container that is
//! being made, is written only if it lasts.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::{Patch, PatchParams};
use kube::runtime::events::{Event, EventType, Recorder};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::sync::{Semaphore, watch};
use tracing::{debug, warn};

use super::lifecycle::backoff;
use super::metrics::{Metrics, OutcomeLabel};
use crate::api::names::manager;
use crate::api::workspace_run::WorkspaceRunStatus;
use crate::api::{Reason, WorkspaceRun};

/// What passes within this time is not written.
const PASSING: Duration = Duration::from_millis(700);
/// The API may take this long for one write.
const WITHIN: Duration = Duration::from_secs(15);
/// So many writes at once.
const WRITES: usize = 32;

/// What is to be told of one run.
#[derive(Clone, Debug)]
pub struct Word {
    /// The run.
    pub run: Arc<WorkspaceRun>,
    /// Its status.
    pub status: WorkspaceRunStatus,
    /// Whether it lasts, as far as can be told.
    pub lasts: bool,
}

/// Writes statuses and Events.
#[derive(Clone)]
pub struct Reporter {
    client: Client,
    namespace: String,
    writes: Arc<Semaphore>,
    renewed: watch::Receiver<Option<Duration>>,
    recorder: Recorder,
    metrics: Metrics,
}

impl Reporter {
    /// A reporter into one host's namespace. `renewed` tells each time that the API took the Lease.
    pub fn new(
        client: Client,
        namespace: &str,
        host: &str,
        renewed: watch::Receiver<Option<Duration>>,
        metrics: Metrics,
    ) -> Self {
        let source = kube::runtime::events::Reporter {
            controller: manager::AGENT.to_owned(),
            instance: Some(host.to_owned()),
        };
        Self {
            recorder: Recorder::new(client.clone(), source),
            client,
            namespace: namespace.to_owned(),
            writes: Arc::new(Semaphore::new(WRITES)),
            metrics,
            renewed,
        }
    }

    /// Writes what is told of one Workspace's runs, until the teller is gone.
    pub async fn keep_told(&self, mut words: watch::Receiver<Option<Word>>) {
        let mut failures = 0;
        loop {
            let Some(word) = words.borrow_and_update().clone() else {
                if words.changed().await.is_err() {
                    return;
                }
                continue;
            };
            if !word.lasts && overtaken(&mut words, PASSING).await {
                continue;
            }
            let written = self.write(&word).await;
            let outcome = if written.is_ok() { "succeeded" } else { "failed" };
            self.metrics.status_writes.get_or_create(&OutcomeLabel { outcome }).inc();
            match written {
                Ok(()) => {
                    failures = 0;
                    if words.changed().await.is_err() {
                        return;
                    }
                }
                Err(error) => {
                    failures += 1;
                    let run = word.run.name_any();
                    warn!(%error, run, "a status could not be written; it is tried again");
                    // However long the API was away: once it takes the Lease it takes this too.
                    let mut renewed = self.renewed.clone();
                    renewed.mark_unchanged();
                    tokio::select! {
                        _ = overtaken(&mut words, backoff(failures)) => {}
                        Ok(()) = renewed.changed() => {}
                    }
                }
            }
        }
    }

    async fn write(&self, word: &Word) -> Result<(), String> {
        let run = &word.run;
        let _one = self.writes.acquire().await.map_err(|e| e.to_string())?;
        let api: Api<WorkspaceRun> = Api::namespaced(self.client.clone(), &self.namespace);
        let name = run.name_any();
        let body = json!({
            "apiVersion": WorkspaceRun::api_version(&()),
            "kind": WorkspaceRun::kind(&()),
            // A run of that name made meanwhile is another one.
            "metadata": { "name": name, "uid": run.metadata.uid },
            "status": word.status,
        });
        let params = PatchParams::apply(manager::AGENT).force();
        let patch = Patch::Apply(&body);
        let write = api.patch_status(&name, &params, &patch);
        match tokio::time::timeout(WITHIN, write).await {
            Ok(Ok(_)) => Ok(()),
            // Another uid is an invalid change; a conflict is one of the moment.
            Ok(Err(kube::Error::Api(status))) if status.is_not_found() || is_another(&status) => {
                debug!(run = name, "the run is gone: its status is told to no one");
                Ok(())
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {WITHIN:?}")),
        }
    }

    /// Publishes an Event about a run. Lost if the API is away: the status tells it too.
    pub fn event(
        &self,
        run: &WorkspaceRun,
        warning: bool,
        reason: Reason,
        action: &str,
        note: &str,
    ) {
        let event = Event {
            type_: if warning { EventType::Warning } else { EventType::Normal },
            reason: reason.as_str().to_owned(),
            note: Some(note.chars().take(1000).collect()),
            action: action.to_owned(),
            secondary: None,
        };
        let about: ObjectReference = run.object_ref(&());
        let recorder = self.recorder.clone();
        tokio::spawn(async move {
            let publish = recorder.publish(&event, &about);
            if let Ok(Err(error)) = tokio::time::timeout(WITHIN, publish).await {
                debug!(%error, "an Event could not be published");
            }
        });
    }
}

/// Whether the object that has the name is another one than was written to.
fn is_another(status: &kube::core::Status) -> bool {
    status.code == 422 && status.message.contains("metadata.uid")
}

/// Waits for a while, and says whether something newer came. Where nothing can come any more the
/// while is waited for all the same, or what cannot be written would be tried without a pause.
async fn overtaken(words: &mut watch::Receiver<Option<Word>>, within: Duration) -> bool {
    let newer = async {
        if words.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::time::timeout(within, newer).await.is_ok()
}

#[cfg(test)]
mod tests;
