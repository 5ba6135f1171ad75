//! What the agent knows of one run beyond what can be seen now.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::seen::{Seen, SeenContainer};
use super::step::{Hold, Step};
use super::wish::{Restart, Wish, backoff};
use crate::api::Reason;
use crate::api::workspace_run::DesiredState;
use crate::docker::{ContainerStatus, Update};

/// A container that ran for so long was well: its next failure counts as the first.
const WELL_AFTER: Duration = Duration::from_mins(10);

/// What has become of a run. Kept in the checkpoint; never decides what exists.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// The container that was last seen.
    pub container_id: Option<String>,
    /// When the container was first started for this run, once it was; never cleared.
    pub started: Option<Timestamp>,
    /// The last start that was seen.
    pub start: Option<Start>,
    /// Restarts up to the engine's present count of its own.
    pub restarts_before: i64,
    /// Whether its health check has succeeded once.
    pub well: bool,
    /// How the run ended, once it did for good.
    pub ended: Option<Ended>,
}

/// One start of a container.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Start {
    /// The engine's StartedAt.
    pub at: String,
    /// The instance of the engine under which it was started or seen running.
    pub under: Option<String>,
    /// The engine's own count of restarts.
    pub engine_restarts: i64,
}

/// How a run ended.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// In which way.
    pub how: End,
    /// The exit code, where a container ended.
    pub exit_code: Option<i64>,
    /// The engine's FinishedAt.
    pub finished_at: Option<String>,
}

/// The ways in which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// By itself, with exit code 0, and no restart is asked for.
    Completed,
    /// By itself, with another code.
    ExitedWithError,
    /// For want of memory.
    OutOfMemory,
    /// With its host or engine, or its container was removed by hand.
    Interrupted,
    /// As was wished.
    Stopped,
    /// As was wished; the container is gone.
    Removed,
}

/// What the agent remembers while it lives. Losing it costs a retry, no more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// The last step, where it failed.
    pub failure: Option<Failure>,
    /// The last exit that is to be followed by a start.
    pub crash: Option<Crash>,
    /// Whether the image was pulled for the container to be made.
    pub pulled: bool,
    /// How often the container was asked to stop in vain.
    pub stops: u32,
    /// The change that the engine was last asked for.
    pub applied: Option<Update>,
    /// Failed starts of the container at hand.
    pub failed_starts: u32,
    /// The instance under which the container was last told to start.
    pub told_under: Option<String>,
    /// The start that is seen running, and since when on the monotonic clock.
    pub running: Option<(String, Duration)>,
}

/// A step that failed, and when it is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Name of the step.
    pub step: &'static str,
    /// Why, in words a user can act on.
    pub hold: Hold,
    /// How often in a row.
    pub count: u32,
    /// On the monotonic clock.
    pub retry_at: Duration,
}

/// An exit after which the container is started again.
#[derive(Clone, Debug, PartialEq)]
pub struct Crash {
    /// StartedAt of the start that ended.
    pub of: String,
    /// How many in a row, each after less than ten minutes.
    pub count: u32,
    /// On the monotonic clock.
    pub retry_at: Duration,
}

impl Record {
    /// Whether the container was started for this run: its last start is not that of the run
    /// before.
    pub fn counts(&self, wish: &Wish, container: &SeenContainer) -> bool {
        let Some(at) = &container.started_at else { return false };
        if self.start.as_ref().is_some_and(|start| start.at == *at) {
            return true;
        }
        let before = wish.previous.as_ref().is_some_and(|previous| {
            previous.container_id == container.id && previous.started_at.as_ref() == Some(at)
        });
        !before && container.spec_hash == wish.spec_hash
    }

    /// Whether the last start of the container was cut short with an instance of the engine, as far
    /// as can be told: an end is one only under the instance that saw it run.
    pub fn was_interrupted(&self, container: &SeenContainer, seen: &Seen, instance: &str) -> bool {
        let start =
            self.start.as_ref().filter(|start| Some(&start.at) == container.started_at.as_ref());
        if start.and_then(|start| start.under.as_deref()) == Some(instance) {
            return false;
        }
        let at = container.started_at.as_deref().and_then(|at| at.parse::<Timestamp>().ok());
        at.is_none_or(|at| at < seen.began)
    }

    /// All restarts of this run, the engine's and the agent's.
    pub fn restarts(&self) -> i64 {
        self.restarts_before + self.start.as_ref().map_or(0, |start| start.engine_restarts)
    }

    /// Takes in what is seen. `instance` is the engine's at the time of the look.
    pub fn saw(
        &mut self,
        wish: &Wish,
        seen: &Seen,
        memory: &mut Memory,
        instance: &str,
        now: Duration,
    ) {
        let Some(container) = &seen.container else {
            memory.running = None;
            return;
        };
        self.container_id = Some(container.id.clone());
        if !self.counts(wish, container) || wish.desired == DesiredState::Removed {
            return;
        }
        let Some(at) = container.started_at.clone() else { return };
        self.take_start(container, &at, memory);
        let running = matches!(container.state, ContainerStatus::Running | ContainerStatus::Paused);
        if running && let Some(start) = &mut self.start {
            start.under = Some(instance.to_owned());
        }
        memory.saw_run(&at, running, now);
        if container.state == ContainerStatus::Exited && wish.desired == DesiredState::Running {
            memory.saw_exit(&at, now);
        }
    }

    fn take_start(&mut self, container: &SeenContainer, at: &str, memory: &mut Memory) {
        if self.started.is_none() {
            self.started = at.parse().ok();
        }
        match &mut self.start {
            Some(start) if start.at == at => start.engine_restarts = container.restart_count,
            before => {
                if let Some(start) = before
                    && container.restart_count <= start.engine_restarts
                {
                    // Not the engine's doing, which counts on, but a start that sets the count to 0.
                    self.restarts_before += start.engine_restarts + 1;
                }
                *before = Some(Start {
                    at: at.to_owned(),
                    under: memory.told_under.take(),
                    engine_restarts: container.restart_count,
                });
            }
        }
    }
}

impl Memory {
    fn saw_run(&mut self, at: &str, running: bool, now: Duration) {
        if !running {
            return;
        }
        self.failed_starts = 0;
        let since = match &self.running {
            Some((start, since)) if start == at => *since,
            _ => now,
        };
        self.running = Some((at.to_owned(), since));
    }

    fn saw_exit(&mut self, at: &str, now: Duration) {
        if self.crash.as_ref().is_some_and(|crash| crash.of == at) {
            return;
        }
        let well = matches!(&self.running, Some((start, since))
            if start == at && now.saturating_sub(*since) >= WELL_AFTER);
        let before = self.crash.as_ref().map_or(0, |crash| crash.count);
        let count = if well { 1 } else { before.saturating_add(1) };
        self.crash = Some(Crash { of: at.to_owned(), count, retry_at: now + backoff(count) });
        self.running = None;
    }

    /// Takes in that a step was done. `instance` is the engine's before it.
    pub fn did(&mut self, step: &Step, instance: &str) {
        self.failure = None;
        match step {
            Step::Pull(_) => self.pulled = true,
            Step::Create => self.failed_starts = 0,
            Step::Start { .. } => {
                self.pulled = false;
                self.stops = 0;
                self.applied = None;
                self.told_under = Some(instance.to_owned());
            }
            Step::Stop { .. } | Step::Kill { .. } => self.stops = self.stops.saturating_add(1),
            Step::Update { change, .. } => self.applied = Some((**change).clone()),
            Step::Recreate { .. } | Step::Remove { .. } => self.stops = 0,
            _ => {}
        }
    }

    /// Takes in that a step failed, and says when it is tried again: after `least` or longer.
    pub fn failed(&mut self, step: &Step, hold: Hold, least: Duration, now: Duration) {
        if matches!(step, Step::Start { .. }) {
            self.failed_starts = self.failed_starts.saturating_add(1);
        }
        if matches!(step, Step::Stop { .. } | Step::Kill { .. }) {
            self.stops = self.stops.saturating_add(1);
        }
        let before = self.failure.as_ref().filter(|failure| failure.step == step.name());
        let count = before.map_or(0, |failure| failure.count).saturating_add(1);
        let retry_at = now + backoff(count).max(least);
        self.failure = Some(Failure { step: step.name(), hold, count, retry_at });
    }

    /// Forgets what made it wait, for what is wished has changed.
    pub fn wish_changed(&mut self) {
        let Self { failure, pulled, applied, stops, .. } = self;
        (*failure, *pulled, *applied, *stops) = (None, false, None, 0);
    }
}

impl Ended {
    /// An end by exit code, as the container tells it.
    pub fn of(container: &SeenContainer, how: End) -> Self {
        Self {
            how,
            exit_code: Some(container.exit_code),
            finished_at: container.finished_at.clone(),
        }
    }

    /// An end without a container that tells more.
    pub fn bare(how: End) -> Self {
        Self { how, exit_code: None, finished_at: None }
    }

    /// The reason of a condition.
    pub const fn reason(&self) -> Reason {
        match self.how {
            End::Completed => Reason::Completed,
            End::ExitedWithError => Reason::ExitedWithError,
            End::OutOfMemory => Reason::OutOfMemory,
            End::Interrupted => Reason::Interrupted,
            End::Stopped | End::Removed => Reason::Stopped,
        }
    }
}

/// How an exit by itself counts.
pub fn end_by_itself(container: &SeenContainer) -> End {
    match container.exit_code {
        0 => End::Completed,
        // The flag alone may be a child's, or an earlier run's.
        137 if container.oom_killed => End::OutOfMemory,
        _ => End::ExitedWithError,
    }
}

/// Whether a declared policy asks for another start after this exit. `restarts` counts those that
/// count against its limit.
pub fn asks_for_restart(restart: Restart, exit_code: i64, restarts: i64) -> bool {
    match restart {
        Restart::Kept | Restart::Always => true,
        Restart::OnFailure(most) => exit_code != 0 && (most == 0 || restarts < most),
        Restart::No => false,
    }
}
