//! Towards a container that does not run, and towards none.

use super::record::{End, Ended};
use super::step::{Hold, Step};
use super::{Case, Ground, SeenContainer};
use crate::api::Reason;
use crate::docker::{ContainerStatus, RestartPolicy, Update};

/// Asked to stop so often, a container is killed.
const ASKED: u32 = 1;
/// A call that failed so often is given up for the next harder one. One lost answer is no reason to
/// take the grace period from a container.
const REFUSED: u32 = 3;

/// Towards a container that does not run.
pub fn stopped(case: &Case<'_>) -> Step {
    if let Some(container) = &case.seen.container {
        if let Some(step) = ungovern(case, container) {
            return step;
        }
        if container.is_alive() {
            return halt(case, container);
        }
    }
    settle(case, End::Stopped)
}

/// Towards no container.
pub fn removed(case: &Case<'_>) -> Step {
    if let Some(container) = &case.seen.container {
        let id = container.id.clone();
        if !container.is_alive() {
            return case.unless_it_failed(Step::Remove { id });
        }
        return ungovern(case, container).unwrap_or_else(|| halt(case, container));
    }
    if case.seen.ground != Ground::Bare {
        return case.unless_it_failed(Step::Clear);
    }
    match &case.record.ended {
        Some(Ended { how: End::Removed, .. }) => Step::Idle,
        // How it ended before stays told.
        Some(before) => Step::Settle(Ended { how: End::Removed, ..before.clone() }),
        None => Step::Settle(Ended::bare(End::Removed)),
    }
}

/// Ends what runs: by signal, and if that does not help by SIGKILL.
pub fn halt(case: &Case<'_>, container: &SeenContainer) -> Step {
    let id = container.id.clone();
    let failed = |step| case.memory.failure_of(step).map_or(0, |failure| failure.count);
    let hard = case.wish.force
        || case.memory.stops >= ASKED
        || failed("Stop") >= REFUSED
        || failed("Unpause") >= REFUSED;
    let step = match container.state {
        ContainerStatus::Removing => return going(case),
        _ if hard => Step::Kill { id },
        // A frozen process hears no signal.
        ContainerStatus::Paused => Step::Unpause { id },
        _ => Step::Stop { id },
    };
    case.unless_it_failed(step)
}

/// A removal is under way, by hand or by a call whose answer was lost.
pub fn going(case: &Case<'_>) -> Step {
    Step::Wait {
        until: Some(case.now + std::time::Duration::from_secs(1)),
        hold: Hold::new(Reason::InProgress, "the engine is removing the container"),
    }
}

/// Takes the restart policy off, or an engine that starts again would start the container too.
pub fn ungovern(case: &Case<'_>, container: &SeenContainer) -> Option<Step> {
    let removing = matches!(container.state, ContainerStatus::Removing | ContainerStatus::Dead);
    if !container.is_governed() || removing {
        return None;
    }
    let off = RestartPolicy { name: "no".to_owned(), maximum_retry_count: None };
    let change = Update { restart_policy: Some(off), ..Update::default() };
    // An engine that does not take it must not keep the container up for ever.
    let refused = case.memory.failure_of("Update");
    if refused.is_some_and(|f| f.count >= REFUSED && f.retry_at > case.now) {
        return None;
    }
    (case.memory.applied.as_ref() != Some(&change)).then(|| {
        case.unless_it_failed(Step::Update { id: container.id.clone(), change: Box::new(change) })
    })
}

fn settle(case: &Case<'_>, how: End) -> Step {
    if case.record.ended.is_some() {
        return left_governed(case).unwrap_or(Step::Idle);
    }
    let started = case.record.started.is_some();
    let ended = match &case.seen.container {
        Some(container) if started => Ended::of(container, how),
        _ => Ended::bare(how),
    };
    Step::Settle(ended)
}

/// It stopped, and the engine refused to give its restart policy up: that is tried again.
fn left_governed(case: &Case<'_>) -> Option<Step> {
    case.seen
        .container
        .as_ref()
        .filter(|container| container.is_governed() && container.state != ContainerStatus::Dead)?;
    let refused = case.memory.failure_of("Update")?;
    (refused.retry_at > case.now)
        .then(|| Step::Wait { until: Some(refused.retry_at), hold: refused.hold.clone() })
}
