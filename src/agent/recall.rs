//! What a run's own status says became of it, for an agent whose checkpoint is lost. Pure.

use super::lifecycle::{End, Ended, Record};
use crate::api::Reason;
use crate::api::workspace::Guest;
use crate::api::workspace_run::{RunPhase, WorkspaceRunStatus};

/// What became of a run, as far as its status tells.
pub fn record(status: &WorkspaceRunStatus) -> Record {
    Record {
        container_id: status.container_id.clone(),
        started: status.started_at.as_ref().map(|time| time.0),
        start: None,
        restarts_before: status.restarts.unwrap_or_default(),
        well: status.guest == Some(Guest::Responding),
        ended: end(status).map(|how| Ended {
            how,
            exit_code: status.exit_code,
            finished_at: status.finished_at.as_ref().map(|time| time.0.to_string()),
        }),
    }
}

/// How it ended for good. A failure with another try to come is no end.
fn end(status: &WorkspaceRunStatus) -> Option<End> {
    match status.phase? {
        RunPhase::Removed => return Some(End::Removed),
        RunPhase::Exited | RunPhase::Failed => {}
        _ => return None,
    }
    let running = status.conditions.iter().find(|c| c.type_ == "ContainerRunning")?;
    let ends = [
        (Reason::Completed, End::Completed),
        (Reason::Stopped, End::Stopped),
        (Reason::ExitedWithError, End::ExitedWithError),
        (Reason::Interrupted, End::Interrupted),
    ];
    if running.reason == Reason::OutOfMemory.as_str() && status.next_retry_at.is_none() {
        return Some(End::OutOfMemory);
    }
    ends.into_iter().find(|(reason, _)| reason.as_str() == running.reason).map(|(_, end)| end)
}
