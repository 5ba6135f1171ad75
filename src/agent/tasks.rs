//! Work on volumes that the controller asks for: one after another, each until it is done.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::context::Shared;
use super::desk::Desk;
use super::volumes::{self, Done};
use crate::api::host::HostMode;
use crate::api::names::manager;
use crate::api::volume_task::{VolumeTaskPhase, VolumeTaskStatus};
use crate::api::workspace_run::RunPhase;
use crate::api::{Reason, VolumeTask, WorkspaceRun};

/// Between tries of what could not be done yet.
const AGAIN: Duration = Duration::from_secs(5);
const WITHIN: Duration = Duration::from_secs(15);

/// Does the tasks until the end. `desk` says which there are.
pub async fn work(context: Shared, client: Client, desk: Desk, stop: CancellationToken) {
    let mut every = tokio::time::interval(AGAIN);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = every.tick() => {}
            () = desk.tasks_changed.notified() => {}
        }
        // Without all runs it cannot be told who uses a volume.
        if !desk.is_listed() || !desk.tasks.is_listed() {
            continue;
        }
        for task in desk.tasks.all() {
            if is_over(&task) {
                continue;
            }
            if let Some(status) = attempt(&context, &desk, &task).await
                && let Err(error) = write(&client, &context.namespace, &task, &status).await
            {
                warn!(%error, task = task.name_any(), "the status of a task could not be written");
            }
        }
    }
}

fn is_over(task: &VolumeTask) -> bool {
    let phase = task.status.as_ref().and_then(|status| status.phase);
    phase == Some(VolumeTaskPhase::Succeeded)
}

/// Tries one task; None: nothing to tell.
async fn attempt(
    context: &Shared,
    desk: &Desk,
    task: &Arc<VolumeTask>,
) -> Option<VolumeTaskStatus> {
    let standing = context.standing.borrow().clone();
    if standing.orders.mode == HostMode::Restricted {
        let message = "the Host's mode is Restricted: nothing on its engine is changed".to_owned();
        return told(task, VolumeTaskPhase::Pending, Some((Reason::HostCordoned, message)));
    }
    let up = context.link.borrow().up().ok()?;
    let uid = &task.spec.volume.uid;
    let mounted_by: Vec<_> =
        desk.runs.all().iter().filter(|run| mounts(run, uid)).map(|run| run.name_any()).collect();
    match volumes::remove(&up.engine, task, &mounted_by).await {
        Ok(Done::Gone) => {
            info!(volume = uid, "the data of a volume is removed");
            told(task, VolumeTaskPhase::Succeeded, None)
        }
        Ok(Done::NotYet(reason, message)) => {
            told(task, VolumeTaskPhase::Failed, Some((reason, message)))
        }
        Err(error) => {
            let why = (Reason::EngineUnreachable, error.to_string());
            told(task, VolumeTaskPhase::Pending, Some(why))
        }
    }
}

/// Whether a run has, or may yet have, a container with the volume.
fn mounts(run: &WorkspaceRun, uid: &str) -> bool {
    let gone = run.status.as_ref().and_then(|status| status.phase) == Some(RunPhase::Removed);
    !gone && run.spec.mounts.iter().flatten().any(|mount| mount.volume.uid == uid)
}

/// The task's status, where it is another than it was.
fn told(
    task: &VolumeTask,
    phase: VolumeTaskPhase,
    why: Option<(Reason, String)>,
) -> Option<VolumeTaskStatus> {
    let before = task.status.clone().unwrap_or_default();
    let (reason, message) = why.unzip();
    let status = VolumeTaskStatus {
        phase: Some(phase),
        reason: reason.map(|reason| reason.as_str().to_owned()),
        message,
        finished_at: (phase == VolumeTaskPhase::Succeeded).then(|| Time(Timestamp::now())),
        observed_generation: task.metadata.generation,
    };
    (status != before).then_some(status)
}

async fn write(
    client: &Client,
    namespace: &str,
    task: &VolumeTask,
    status: &VolumeTaskStatus,
) -> Result<(), String> {
    let name = task.name_any();
    let body = json!({
        "apiVersion": VolumeTask::api_version(&()),
        "kind": VolumeTask::kind(&()),
        "metadata": { "name": name, "uid": task.metadata.uid },
        "status": status,
    });
    let api: Api<VolumeTask> = Api::namespaced(client.clone(), namespace);
    let params = PatchParams::apply(manager::AGENT).force();
    let patch = Patch::Apply(&body);
    let write = api.patch_status(&name, &params, &patch);
    match tokio::time::timeout(WITHIN, write).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(kube::Error::Api(status))) if status.is_not_found() => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {WITHIN:?}")),
    }
}
