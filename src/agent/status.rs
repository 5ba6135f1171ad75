//! What the agent says of a run: its status, made anew from what is seen at each look. Pure.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use super::lifecycle::{End, Hold, Image, Memory, Record, Seen, SeenContainer, Step, Wish};
use crate::api::condition::{ConditionType, Conditions, Observation, State};
use crate::api::workspace::{Guest, NetworkAddress, PublishedPort};
use crate::api::workspace_run::{DesiredState, RunPhase, RunStep, WorkspaceRunStatus};
use crate::api::{Reason, WorkspaceRun};
use crate::docker::{ContainerStatus, Update};

/// So many steps are told, the last ones.
pub const STEPS: usize = 16;
/// A time of the next try that moved by less is the same time.
const SAME: SignedDuration = SignedDuration::from_secs(2);

/// What a status is made from.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The run's `metadata.generation`.
    pub generation: Option<i64>,
    /// What is wished.
    pub wish: &'a Wish,
    /// What is seen, or why nothing is.
    pub sight: Result<(&'a Seen, &'a Details), &'a Hold>,
    /// What has become of the run.
    pub record: &'a Record,
    /// What is remembered.
    pub memory: &'a Memory,
    /// The step that is next or under way.
    pub step: &'a Step,
    /// The last steps.
    pub steps: &'a [RunStep],
    /// What the status was.
    pub before: &'a WorkspaceRunStatus,
    /// The monotonic clock.
    pub tick: Duration,
    /// The clock on the wall.
    pub now: Timestamp,
}

/// What of a container is told and decides nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Id of its image.
    pub image_id: Option<String>,
    /// Digest of its image in the registry.
    pub image_digest: Option<String>,
    /// What its health check says.
    pub guest: Guest,
    /// Whether it has a health check.
    pub has_check: bool,
    /// Its addresses.
    pub addresses: Vec<NetworkAddress>,
    /// Its published ports.
    pub ports: Vec<PublishedPort>,
}

/// The status.
pub fn status(view: &View<'_>) -> WorkspaceRunStatus {
    let record = view.record;
    let (container, details) = match view.sight {
        Ok((seen, details)) => (seen.container.as_ref(), Some(details)),
        Err(_) => (None, None),
    };
    let before = view.before;
    let told = |new: Option<String>, old: &Option<String>| new.or_else(|| old.clone());
    let phase = phase(view, container);
    let ended = container.filter(|c| record.counts(view.wish, c)).filter(|c| !c.is_alive());
    let alive = container.is_some_and(SeenContainer::is_alive);
    let exit = record.ended.as_ref().and_then(|ended| ended.exit_code);
    let finished = record.ended.as_ref().and_then(|ended| ended.finished_at.clone());
    WorkspaceRunStatus {
        phase: Some(phase),
        container_id: container.map(|c| c.id.clone()).or_else(|| record.container_id.clone()),
        container_name: told(container.map(|c| c.name.clone()), &before.container_name),
        image_id: told(details.and_then(|d| d.image_id.clone()), &before.image_id),
        image_digest: told(details.and_then(|d| d.image_digest.clone()), &before.image_digest),
        exit_code: exit.or_else(|| ended.map(|c| c.exit_code)),
        oom_killed: match &record.ended {
            Some(ended) => Some(ended.how == End::OutOfMemory).filter(|oom| *oom),
            None => ended.map(|c| c.oom_killed && c.exit_code == 137).filter(|oom| *oom),
        },
        restarts: Some(record.restarts()),
        container_started_at: told(
            container.and_then(|c| c.started_at.clone()),
            &before.container_started_at,
        ),
        started_at: record.started.map(told_at),
        finished_at: finished
            .or_else(|| ended.and_then(|c| c.finished_at.clone()))
            .and_then(|at| at.parse().ok())
            .map(told_at),
        next_retry_at: next_retry(view),
        guest: Some(details.filter(|_| alive).map_or(Guest::Unknown, |d| d.guest)),
        addresses: details.map(|d| d.addresses.clone()).unwrap_or_default(),
        ports: details.map(|d| d.ports.clone()).unwrap_or_default(),
        steps: view.steps.to_vec(),
        observed_generation: view.generation,
        conditions: conditions(view, container, phase),
    }
}

/// The API keeps times by the second: one that is told with more is another at each look.
fn told_at(at: Timestamp) -> Time {
    Time(Timestamp::from_second(at.as_second()).unwrap_or(at))
}

fn next_retry(view: &View<'_>) -> Option<Time> {
    let Step::Wait { until: Some(until), hold } = view.step else { return None };
    // Looking again is no retry of anything.
    let crash = view.memory.crash.as_ref().is_some_and(|crash| crash.retry_at == *until);
    let mut failures = view.memory.failures.values();
    if !crash && !failures.any(|failure| failure.hold == *hold) {
        return None;
    }
    let wait = SignedDuration::try_from(until.saturating_sub(view.tick)).ok()?;
    let at = view.now.checked_add(wait).ok()?;
    let before = view.before.next_retry_at.as_ref();
    let same = before.filter(|before| before.0.duration_since(at).abs() <= SAME);
    Some(same.cloned().unwrap_or_else(|| told_at(at)))
}

fn phase(view: &View<'_>, container: Option<&SeenContainer>) -> RunPhase {
    let alive = container.is_some_and(SeenContainer::is_alive);
    let ended = view.record.ended.as_ref().map(|ended| ended.how);
    match (view.wish.desired, ended) {
        (DesiredState::Removed, Some(End::Removed)) => return RunPhase::Removed,
        (DesiredState::Removed, _) | (_, None) if view.sight.is_err() => return RunPhase::Unknown,
        (DesiredState::Removed, _) => return RunPhase::Stopping,
        (DesiredState::Stopped, _) | (_, Some(_)) if alive => return RunPhase::Stopping,
        // What was seen to end stays ended while nothing is seen.
        (_, Some(End::Completed | End::Stopped | End::Removed)) => return RunPhase::Exited,
        (_, Some(_)) => return RunPhase::Failed,
        (DesiredState::Stopped, None) => return RunPhase::Stopping,
        (DesiredState::Running, None) => {}
    }
    match container {
        Some(container) if !view.record.counts(view.wish, container) => coming(view),
        Some(container) => match container.state {
            ContainerStatus::Running | ContainerStatus::Paused => RunPhase::Running,
            // The engine waits before it starts it again.
            ContainerStatus::Restarting => RunPhase::Failed,
            _ => coming(view),
        },
        None => coming(view),
    }
}

fn coming(view: &View<'_>) -> RunPhase {
    match view.step {
        Step::Pull(_) => RunPhase::Pulling,
        Step::Wait { hold, .. } if is_waiting(hold.reason) => RunPhase::Pending,
        Step::Wait { .. } => RunPhase::Failed,
        _ => RunPhase::Creating,
    }
}

/// Whether something is waited for that comes without anything having failed.
fn is_waiting(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::SecretNotFound
            | Reason::ConfigMapNotFound
            | Reason::InProgress
            | Reason::HostUnreachable
            | Reason::HostCordoned
            | Reason::Pending
    )
}

/// Whether nothing comes of waiting: its user must change something.
fn is_stalled(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::InvalidSpec
            | Reason::ForbiddenByHostPolicy
            | Reason::UnsupportedByEngine
            | Reason::ImageNeverPulled
    )
}

fn conditions(
    view: &View<'_>,
    container: Option<&SeenContainer>,
    phase: RunPhase,
) -> Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition> {
    let mut conditions = Conditions::from_status(&view.before.conditions);
    let mut set = |kind, (state, reason, message): (State, Reason, String)| {
        let seen = Observation { kind, state, reason, message };
        conditions.set(seen, view.generation, view.now);
    };
    let hold = hold(view, container);
    let running = container_running(view, phase, hold.as_ref());
    set(ConditionType::ImagePulled, image_pulled(view, container));
    let applied = spec_applied(view, container);
    set(ConditionType::SpecApplied, applied.clone());
    let ready = ready(view, phase, &running, &applied);
    let over = phase == RunPhase::Failed && view.record.ended.is_some();
    let stalled = ready.0 == State::False && (over || is_stalled(ready.1));
    let flag = |on: bool, of: &(State, Reason, String)| {
        let state = if on { State::True } else { State::False };
        let message = if on { of.2.clone() } else { String::new() };
        (state, if on { of.1 } else { Reason::AsDeclared }, message)
    };
    set(ConditionType::Stalled, flag(stalled, &ready));
    set(ConditionType::Reconciling, flag(ready.0 != State::True && !stalled, &ready));
    set(ConditionType::Ready, ready);
    set(ConditionType::ContainerRunning, running);
    conditions.into_status()
}

/// Why nothing goes on, if nothing does.
fn hold(view: &View<'_>, container: Option<&SeenContainer>) -> Option<Hold> {
    if let Err(hold) = view.sight {
        return Some(hold.clone());
    }
    if let Step::Wait { hold, .. } = view.step {
        return Some(hold.clone());
    }
    let restarting = container.filter(|c| c.state == ContainerStatus::Restarting)?;
    let code = restarting.exit_code;
    let message = format!("the container ended with exit code {code}; the engine starts it again");
    Some(Hold::new(Reason::CrashLoopBackOff, message))
}

fn container_running(
    view: &View<'_>,
    phase: RunPhase,
    hold: Option<&Hold>,
) -> (State, Reason, String) {
    if view.sight.is_err()
        && let Some(hold) = hold
    {
        return (State::Unknown, hold.reason, hold.message.clone());
    }
    if phase == RunPhase::Running {
        return (State::True, Reason::Running, String::new());
    }
    if let Some(ended) = &view.record.ended {
        let message = match (ended.how, ended.exit_code) {
            (End::Stopped | End::Removed, _) | (_, None) => String::new(),
            (_, Some(code)) => format!("the container ended with exit code {code}"),
        };
        return (State::False, ended.reason(), message);
    }
    match hold {
        Some(hold) => (State::False, hold.reason, hold.message.clone()),
        None => (State::False, Reason::InProgress, step_told(view.step)),
    }
}

fn step_told(step: &Step) -> String {
    let what = match step {
        Step::Pull(_) => "pulling the image",
        Step::Prepare => "making directory, config file and volumes",
        Step::Create => "making the container",
        Step::Connect { .. } => "connecting the container to its networks",
        Step::Start { .. } => "starting the container",
        Step::Stop { .. } => "stopping the container",
        Step::Kill { .. } => "killing the container",
        Step::Remove { .. } => "removing the container",
        Step::Recreate { .. } => "replacing the container",
        _ => return String::new(),
    };
    what.to_owned()
}

fn ready(
    view: &View<'_>,
    phase: RunPhase,
    running: &(State, Reason, String),
    applied: &(State, Reason, String),
) -> (State, Reason, String) {
    match (view.wish.desired, phase) {
        (_, RunPhase::Unknown) => (State::Unknown, running.1, running.2.clone()),
        (DesiredState::Running, RunPhase::Running) if applied.0 == State::False => applied.clone(),
        (DesiredState::Running, RunPhase::Running) if !view.record.well && checked(view) => {
            let message = "the health check has not succeeded yet".to_owned();
            (State::False, Reason::InProgress, message)
        }
        (DesiredState::Running, RunPhase::Exited) => {
            (State::True, Reason::Completed, running.2.clone())
        }
        (DesiredState::Running, RunPhase::Running)
        | (DesiredState::Stopped, RunPhase::Exited | RunPhase::Failed)
        | (DesiredState::Removed, RunPhase::Removed) => {
            (State::True, Reason::AsDeclared, String::new())
        }
        _ => (State::False, running.1, running.2.clone()),
    }
}

fn checked(view: &View<'_>) -> bool {
    view.sight.is_ok_and(|(_, details)| details.has_check)
}

/// Of the run's image, or of the next run's where that is asked for.
fn image_pulled(view: &View<'_>, container: Option<&SeenContainer>) -> (State, Reason, String) {
    let before = view.before.conditions.iter().find(|c| c.type_ == "ImagePulled");
    let Ok((seen, _)) = view.sight else {
        let (reason, message) = (Reason::EngineUnreachable, String::new());
        let known = before.is_some_and(|c| c.status == "True");
        return if known {
            (State::True, Reason::ImagePresent, message)
        } else {
            (State::Unknown, reason, message)
        };
    };
    let own = match seen.image {
        Image::NotLooked if container.is_some() => Image::Present,
        image => image,
    };
    match (view.step, seen.prefetch.unwrap_or(own)) {
        (Step::Pull(_), _) => (State::False, Reason::Pulling, view.progress()),
        (_, Image::Present) => (State::True, Reason::ImagePresent, String::new()),
        (_, image) => match view.memory.failure_of("Pull") {
            Some(failure) => (State::False, failure.hold.reason, failure.hold.message.clone()),
            None => match view.step {
                Step::Wait { hold, .. } if hold.reason == Reason::ImageNeverPulled => {
                    (State::False, hold.reason, hold.message.clone())
                }
                _ if image == Image::NotLooked => (State::Unknown, Reason::Pending, String::new()),
                _ => (State::False, Reason::Pending, String::new()),
            },
        },
    }
}

impl View<'_> {
    /// The last word of the step under way.
    fn progress(&self) -> String {
        self.steps.last().and_then(|step| step.message.clone()).unwrap_or_default()
    }
}

fn spec_applied(view: &View<'_>, container: Option<&SeenContainer>) -> (State, Reason, String) {
    let failed = |step| view.memory.failure_of(step);
    if let Some(failure) = failed("Update").or_else(|| failed("WriteConfig")) {
        return (State::False, failure.hold.reason, failure.hold.message.clone());
    }
    match container {
        Some(container) if container.spec_hash == view.wish.spec_hash => {
            // What cannot be translated now is not in force, whatever runs.
            if let Some(hold) = view.sight.ok().and_then(|(seen, _)| seen.blocked.as_ref()) {
                return (State::False, hold.reason, hold.message.clone());
            }
            let lasting = lasting_limits(&view.wish.limits, &container.limits);
            if !lasting.is_empty() {
                let limits = lasting.join(", ");
                let message = format!(
                    "the container still has {limits}, which the spec has no more: taking a limit away needs a new container"
                );
                return (State::False, Reason::WaitingForNextStart, message);
            }
            (State::True, Reason::UpToDate, String::new())
        }
        Some(_) => (State::False, Reason::Updating, String::new()),
        None => (State::Unknown, Reason::Pending, String::new()),
    }
}

/// Limits that are in force and not wished: an engine takes none away in place.
fn lasting_limits(wished: &Update, inforce: &Update) -> Vec<&'static str> {
    [
        ("limits.memory", wished.memory, inforce.memory),
        ("limits.cpu", wished.nano_cpus, inforce.nano_cpus),
        ("limits.kibotos.dev/pids", wished.pids_limit, inforce.pids_limit),
        ("requests.memory", wished.memory_reservation, inforce.memory_reservation),
        ("requests.cpu", wished.cpu_shares, inforce.cpu_shares),
    ]
    .into_iter()
    .filter(|(_, wished, inforce)| wished.is_none() && inforce.is_some())
    .map(|(name, _, _)| name)
    .collect()
}

/// What is told of a run that a newer one of its Workspace follows: it is over, and its container, if
/// there is one, is the newer run's.
pub fn superseded(run: &WorkspaceRun, now: Timestamp) -> WorkspaceRunStatus {
    let before = run.status.clone().unwrap_or_default();
    let removed = run.spec.desired == DesiredState::Removed;
    let phase = match before.phase {
        _ if removed => RunPhase::Removed,
        Some(phase @ (RunPhase::Exited | RunPhase::Failed | RunPhase::Removed)) => phase,
        _ => RunPhase::Exited,
    };
    let generation = run.metadata.generation;
    let mut conditions = Conditions::from_status(&before.conditions);
    let mut set = |kind, state, reason| {
        let message = String::new();
        conditions.set(Observation { kind, state, reason, message }, generation, now);
    };
    set(ConditionType::Ready, State::True, Reason::Stopped);
    set(ConditionType::ContainerRunning, State::False, Reason::Stopped);
    set(ConditionType::Reconciling, State::False, Reason::AsDeclared);
    set(ConditionType::Stalled, State::False, Reason::AsDeclared);
    WorkspaceRunStatus {
        phase: Some(phase),
        observed_generation: generation,
        next_retry_at: None,
        addresses: Vec::new(),
        ports: Vec::new(),
        conditions: conditions.into_status(),
        ..before
    }
}
#[cfg(test)]
mod tests;
