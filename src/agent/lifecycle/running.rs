//! Towards a container that runs.

use std::time::Duration;

use super::record::{End, Ended, asks_for_restart, end_by_itself};
use super::step::{Hold, Pulled, Replacement, Step};
use super::wish::{Pull, Restart};
use super::{Case, Ground, Image, SeenContainer, change, stopping};
use crate::api::Reason;
use crate::docker::ContainerStatus;

/// A container that never started and failed so often is made anew.
const BROKEN_AFTER: u32 = 3;
/// How long to wait for what nothing tells of.
const LOOK_AGAIN: Duration = Duration::from_mins(10);

/// The next step.
pub fn next(case: &Case<'_>) -> Step {
    match &case.seen.container {
        // What is over and yet runs was started by hand: an end is for good.
        Some(container) if case.record.ended.is_some() && container.is_alive() => {
            end(case, container)
        }
        _ if case.record.ended.is_some() => Step::Idle,
        None => without(case),
        Some(container) if case.wish.fenced => fenced(case, container),
        Some(container) => match replacement(case, container) {
            Some(why) => replace(case, container, why),
            None => with(case, container),
        },
    }
}

/// There is no container.
fn without(case: &Case<'_>) -> Step {
    let once = matches!(case.wish.restart, Restart::No);
    if case.record.started.is_some() && once {
        return Step::Settle(Ended::bare(End::Interrupted));
    }
    if case.wish.fenced {
        return lease(case);
    }
    if let Some(step) = image(case).or_else(|| blocked(case)) {
        return step;
    }
    if let Some(holder) = &case.seen.holder {
        let name = &case.wish.name;
        let message = format!(
            "a container that is not ours has the name {name} ({holder:.12}): remove or rename it, or set container.name"
        );
        return again(case, Hold::new(Reason::NameConflict, message), Duration::from_secs(10));
    }
    ground(case).unwrap_or_else(|| case.unless_it_failed(Step::Create))
}

/// The image must be there before anything that runs is stopped for it.
fn image(case: &Case<'_>) -> Option<Step> {
    let missing = match case.seen.image {
        Image::NotLooked => return None,
        Image::Absent => true,
        Image::Present => false,
    };
    match case.wish.pull {
        Pull::Never if missing => {
            let message = "imagePullPolicy is Never and the image is not on the host: load it there, or set IfNotPresent";
            let hold = Hold::new(Reason::ImageNeverPulled, message);
            Some(again(case, hold, Duration::from_secs(10)))
        }
        Pull::Always if !case.memory.pulled => Some(case.unless_it_failed(Step::Pull(Pulled::Own))),
        Pull::IfNotPresent | Pull::Always if missing => {
            Some(case.unless_it_failed(Step::Pull(Pulled::Own)))
        }
        _ => None,
    }
}

fn blocked(case: &Case<'_>) -> Option<Step> {
    let hold = case.seen.blocked.clone()?;
    Some(again(case, hold, LOOK_AGAIN))
}

fn ground(case: &Case<'_>) -> Option<Step> {
    let step = match case.seen.ground {
        Ground::Ready => return None,
        Ground::ConfigStale => Step::WriteConfig { signal: None },
        Ground::Bare | Ground::Missing => Step::Prepare,
    };
    Some(case.unless_it_failed(step))
}

fn again(case: &Case<'_>, hold: Hold, after: Duration) -> Step {
    Step::Wait { until: Some(case.now + after), hold }
}

fn lease(case: &Case<'_>) -> Step {
    let message =
        "another host may take this run over: it starts when this host's Lease is renewed";
    again(case, Hold::new(Reason::HostUnreachable, message), Duration::from_secs(10))
}

/// A run that may be another host's by now.
fn fenced(case: &Case<'_>, container: &SeenContainer) -> Step {
    if container.is_alive() {
        return end(case, container);
    }
    stopping::ungovern(case, container).unwrap_or_else(|| lease(case))
}

fn end(case: &Case<'_>, container: &SeenContainer) -> Step {
    stopping::ungovern(case, container).unwrap_or_else(|| stopping::halt(case, container))
}

/// Why the container cannot stay.
fn replacement(case: &Case<'_>, container: &SeenContainer) -> Option<Replacement> {
    let wish = case.wish;
    if container.spec_hash != wish.spec_hash {
        return Some(Replacement::Spec);
    }
    if container.state == ContainerStatus::Dead {
        return Some(Replacement::Broken);
    }
    let counts = case.record.counts(wish, container);
    if wish.fresh_layer && !counts && container.started_at.is_some() {
        return Some(Replacement::FreshLayer);
    }
    // Where ids say nothing of each other, as in an engine without the image, nothing is replaced.
    let moved = case.seen.image_id.as_ref().is_some_and(|id| *id != container.image_id);
    let newest = case.memory.pulled && !case.memory.made;
    if wish.pull == Pull::Always && newest && !counts && moved {
        return Some(Replacement::Image);
    }
    let unstarted = container.started_at.is_none() && !container.is_alive();
    // Without the image there would be no container at all: this one may yet start.
    let replaceable = case.seen.image == Image::Present;
    (unstarted && replaceable && case.memory.failed_starts >= BROKEN_AFTER)
        .then_some(Replacement::Broken)
}

/// Pull, then stop, then remove: what runs goes on until all else is there.
fn replace(case: &Case<'_>, container: &SeenContainer, why: Replacement) -> Step {
    if container.state == ContainerStatus::Removing {
        return stopping::going(case);
    }
    if let Some(step) = image(case).or_else(|| blocked(case)) {
        return step;
    }
    if container.is_alive() {
        return end(case, container);
    }
    case.unless_it_failed(Step::Recreate { id: container.id.clone(), why })
}

/// The container is the right one.
fn with(case: &Case<'_>, container: &SeenContainer) -> Step {
    let id = container.id.clone();
    if container.state == ContainerStatus::Removing {
        return stopping::going(case);
    }
    match &container.state {
        ContainerStatus::Running | ContainerStatus::Restarting
            if case.record.is_left_over(case.wish, container) =>
        {
            end(case, container)
        }
        ContainerStatus::Running | ContainerStatus::Restarting => run_on(case, container),
        ContainerStatus::Paused => case.unless_it_failed(Step::Unpause { id }),
        ContainerStatus::Created | ContainerStatus::Exited => {
            if let Some(step) = rename(case, container) {
                step
            } else if case.record.counts(case.wish, container) {
                after_exit(case, container)
            } else {
                start(case, container)
            }
        }
        ContainerStatus::Dead | ContainerStatus::Removing => stopping::going(case),
        ContainerStatus::Other(state) => {
            let message =
                format!("the engine says {state} of the container, which the agent does not know");
            again(case, Hold::new(Reason::InProgress, message), Duration::from_secs(10))
        }
    }
}

fn rename(case: &Case<'_>, container: &SeenContainer) -> Option<Step> {
    let step = Step::Rename { id: container.id.clone() };
    (container.name != case.wish.name).then(|| case.unless_it_failed(step))
}

/// It runs, and what can change in place is as it must be. What waits to be tried again holds up
/// nothing else: the image of the next run may be its mending.
fn run_on(case: &Case<'_>, container: &SeenContainer) -> Step {
    let config = (case.wish.config && case.seen.ground == Ground::ConfigStale)
        .then(|| case.unless_it_failed(Step::WriteConfig { signal: Some(container.id.clone()) }));
    let prefetch = (case.seen.prefetch == Some(Image::Absent))
        .then(|| case.unless_it_failed(Step::Pull(Pulled::Prefetch)));
    let mut waits = None;
    let steps = [rename(case, container), update(case, container), config, prefetch];
    for step in steps.into_iter().flatten() {
        if !matches!(step, Step::Wait { .. }) {
            return step;
        }
        waits.get_or_insert(step);
    }
    waits.unwrap_or(Step::Idle)
}

fn after_exit(case: &Case<'_>, container: &SeenContainer) -> Step {
    let interrupted = case.record.was_interrupted(container, case.seen, case.instance);
    let restart = case.wish.restart;
    if interrupted {
        return match restart {
            Restart::No => Step::Settle(Ended::of(container, End::Interrupted)),
            _ => start(case, container),
        };
    }
    // Where the engine restarts, its own count tells whether it gave up.
    let restarts =
        if container.is_governed() { container.restart_count } else { case.record.restarts() };
    if !asks_for_restart(restart, container.exit_code, restarts) {
        return Step::Settle(Ended::of(container, end_by_itself(container)));
    }
    match &case.memory.crash {
        Some(crash) if crash.retry_at > case.now => {
            Step::Wait { until: Some(crash.retry_at), hold: crashed(case, container) }
        }
        _ => start(case, container),
    }
}

/// Why a container is started again.
pub fn why_again(case: &Case<'_>) -> Option<String> {
    let exited = |container: &&SeenContainer| container.state == ContainerStatus::Exited;
    let container = case.seen.container.as_ref().filter(exited)?;
    if !case.record.counts(case.wish, container) {
        return None;
    }
    if case.record.was_interrupted(container, case.seen, case.instance) {
        return Some("it was interrupted with the engine or the host".to_owned());
    }
    Some(crashed(case, container).message)
}

fn crashed(case: &Case<'_>, container: &SeenContainer) -> Hold {
    let code = container.exit_code;
    if container.is_governed() && case.wish.restart != Restart::Kept {
        // Its engine restarts it after every other end.
        let message = format!(
            "the container was stopped or signalled on the host, and its engine does not start it again (exit code {code}); it is started again, for powerState is Running"
        );
        return Hold::new(Reason::StoppedByHand, message);
    }
    match end_by_itself(container) {
        End::OutOfMemory => Hold::new(
            Reason::OutOfMemory,
            "the container ran out of memory; it is started again: raise resources.limits.memory",
        ),
        _ => Hold::new(
            Reason::CrashLoopBackOff,
            format!("the container ended with exit code {code}; it is started again"),
        ),
    }
}

/// It is not running, and all that a start needs is seen to first.
fn start(case: &Case<'_>, container: &SeenContainer) -> Step {
    let newest = case.wish.pull == Pull::Always && !case.record.counts(case.wish, container);
    let image = if newest { image(case) } else { None };
    if let Some(step) = image.or_else(|| blocked(case)).or_else(|| ground(case)) {
        return step;
    }
    let id = container.id.clone();
    let missing = case.wish.networks.iter().find(|n| !container.networks.contains(*n));
    if let Some(network) = missing.or(container.stale_networks.first()) {
        return case.unless_it_failed(Step::Connect { id, network: network.clone() });
    }
    let step = case.unless_it_failed(Step::Start { id });
    if matches!(step, Step::Wait { .. }) { step } else { update(case, container).unwrap_or(step) }
}

/// Limits and policy that are not as wished. What was asked for once and is still not so is not
/// asked for again: an engine may know better what its kernel can do.
fn update(case: &Case<'_>, container: &SeenContainer) -> Option<Step> {
    let change = change::due(case.wish, container);
    if change.is_empty() || case.memory.applied.as_ref() == Some(&change) {
        return None;
    }
    Some(case.unless_it_failed(Step::Update { id: container.id.clone(), change: Box::new(change) }))
}
