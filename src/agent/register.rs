//! Keeps the host in the API: renews its Lease, and writes its status where that changed.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kube::api::ListParams;
use kube::{Api, Client};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::desk::Desk;
use super::instance::since_boot;
use super::metrics::Metrics;
use super::registration::{FENCED_AFTER, Facts, LEASE_LASTS, RENEW_EVERY, status, write};
use crate::api::WorkspaceRun;
use crate::api::host::HostStatus;
use crate::api::names::manager;
use crate::runtime::lease;

/// One write may take so long; the next renewal is due then anyway.
const WITHIN: Duration = Duration::from_secs(8);
/// Between tries of a status that could not be written.
const AGAIN: Duration = Duration::from_secs(5);

/// How often the watch is looked at that has to catch up.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// By what a state of a run is told from others.
fn known_by(run: &WorkspaceRun) -> (Option<String>, Option<i64>) {
    (run.metadata.uid.clone(), run.metadata.generation)
}

/// What registers.
pub struct Registrar {
    /// The API.
    pub client: Client,
    /// The host's own namespace.
    pub namespace: String,
    /// What the API says.
    pub desk: Desk,
    /// What is seen of the host.
    pub facts: watch::Receiver<Facts>,
    /// When the Lease was last renewed, on the clock that counts suspended time.
    pub renewed: watch::Sender<Option<Duration>>,
    /// What is counted.
    pub metrics: Metrics,
}

impl Registrar {
    /// Registers until the end.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut every = tokio::time::interval(RENEW_EVERY);
        every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut written: Option<(Option<String>, HostStatus)> = None;
        loop {
            let retry = tokio::time::sleep(AGAIN);
            tokio::select! {
                () = stop.cancelled() => return,
                _ = every.tick() => self.renew().await,
                changed = self.facts.changed() => if changed.is_err() { return },
                () = retry => {}
            }
            self.write_status(&mut written).await;
        }
    }

    async fn renew(&self) {
        let name = manager::AGENT;
        let now = Timestamp::now();
        let renewal = lease::renew(&self.client, &self.namespace, name, name, LEASE_LASTS, now);
        // What counts is when the API got it, and that is no sooner than it was sent.
        let sent = since_boot();
        let answer = tokio::time::timeout(WITHIN, renewal).await;
        if let Ok(answer) = &answer {
            self.desk.lease_was(answer);
        }
        match answer {
            // Another host may have taken over meanwhile: what this one may run is read first.
            Ok(Ok(())) if self.was_stale() && !self.is_current().await => {
                warn!("the Lease is renewed, and what is to run is not read again yet");
            }
            Ok(Ok(())) => drop(self.renewed.send_replace(Some(sent))),
            Ok(Err(error)) => warn!(%error, "the Lease could not be renewed"),
            Err(_) => warn!("the Lease could not be renewed: no answer within {WITHIN:?}"),
        }
        if let Some(renewed) = *self.renewed.borrow() {
            self.metrics.lease_age.set(since_boot().saturating_sub(renewed).as_secs_f64());
        }
    }

    fn was_stale(&self) -> bool {
        let renewed = *self.renewed.borrow();
        renewed.is_none_or(|at| since_boot().saturating_sub(at) >= FENCED_AFTER)
    }

    /// Whether what is watched has caught up with what the API says now.
    async fn is_current(&self) -> bool {
        let runs: Api<WorkspaceRun> = Api::namespaced(self.client.clone(), &self.namespace);
        let Ok(Ok(now)) = tokio::time::timeout(WITHIN, runs.list(&ListParams::default())).await
        else {
            return false;
        };
        let wanted: BTreeSet<_> = now.items.iter().map(known_by).collect();
        let caught_up = async {
            while self.desk.runs.all().iter().map(|run| known_by(run)).collect::<BTreeSet<_>>()
                != wanted
            {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::time::timeout(WITHIN, caught_up).await.is_ok()
    }

    async fn write_status(&mut self, written: &mut Option<(Option<String>, HostStatus)>) {
        let Some(host) = self.desk.host() else { return };
        let facts = self.facts.borrow_and_update().clone();
        let (uid, generation) = (host.metadata.uid.clone(), host.metadata.generation);
        // The API's copy may lag behind what was written here.
        let before = written.as_ref().filter(|(of, _)| *of == uid).map(|(_, status)| status);
        let before = before.or(host.status.as_ref());
        let wanted = status(&facts, before, generation, Timestamp::now());
        if written.as_ref().is_some_and(|(of, status)| *of == uid && *status == wanted) {
            return;
        }
        match tokio::time::timeout(WITHIN, write(&self.client, &host, &wanted)).await {
            Ok(Ok(())) => {
                debug!("wrote the Host's status");
                *written = Some((uid, wanted));
            }
            Ok(Err(error)) => warn!(%error, "the Host's status could not be written"),
            Err(_) => warn!("the Host's status could not be written: no answer within {WITHIN:?}"),
        }
    }
}
