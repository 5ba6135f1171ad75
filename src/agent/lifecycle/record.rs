//! What the agent knows of one run beyond what can be seen now.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::memory::Memory;
use super::seen::{Seen, SeenContainer};
use super::wish::{Restart, Wish};
use crate::api::Reason;
use crate::api::workspace_run::{DesiredState, PreviousContainer};
use crate::docker::ContainerStatus;

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
    /// Whether the agent itself ends it, since another host may take the run over: that is no end
    /// of the run.
    #[serde(default)]
    pub halted: bool,
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

impl Record {
    /// Whether the container was started for this run: its last start is not that of the run
    /// before.
    pub fn counts(&self, wish: &Wish, container: &SeenContainer) -> bool {
        let Some(at) = &container.started_at else { return false };
        if self.start.as_ref().is_some_and(|start| start.at == *at) {
            return true;
        }
        !is_before(wish, container, at) && container.spec_hash == wish.spec_hash
    }

    /// Whether the container's last start is that of the run before.
    pub fn is_left_over(&self, wish: &Wish, container: &SeenContainer) -> bool {
        let at = container.started_at.as_deref();
        at.is_some_and(|at| is_before(wish, container, at)) && !self.counts(wish, container)
    }

    /// Whether the last start of the container was cut short with an instance of the engine, as far
    /// as can be told: an end is one only under the instance that saw it run.
    pub fn was_interrupted(&self, container: &SeenContainer, seen: &Seen, instance: &str) -> bool {
        let start =
            self.start.as_ref().filter(|start| Some(&start.at) == container.started_at.as_ref());
        if start.is_some_and(|start| start.halted) {
            return true;
        }
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
        memory.looked(now);
        memory.forget_moot(wish, seen);
        let Some(container) = &seen.container else {
            memory.running = None;
            return;
        };
        let known = self.container_id.replace(container.id.clone());
        memory.saw_container(container, known.is_some_and(|known| known != container.id));
        if !self.counts(wish, container) {
            return;
        }
        let Some(at) = container.started_at.clone() else { return };
        // Of a time that cannot be read this much is known: it is of this instance or of one before.
        self.started.get_or_insert_with(|| at.parse().unwrap_or(seen.began));
        self.take_start(container, &at, memory);
        let running = matches!(container.state, ContainerStatus::Running | ContainerStatus::Paused);
        if running && let Some(start) = &mut self.start {
            start.under = Some(instance.to_owned());
        }
        if wish.fenced
            && container.is_alive()
            && let Some(start) = &mut self.start
        {
            start.halted = true;
        }
        memory.saw_run(&at, running, now);
        if container.state == ContainerStatus::Exited && wish.desired == DesiredState::Running {
            memory.saw_exit(&at, now);
        }
    }

    fn take_start(&mut self, container: &SeenContainer, at: &str, memory: &mut Memory) {
        match &mut self.start {
            // A start that failed sets the engine's count to 0, and leaves the time as it was.
            Some(start) if start.at == at => {
                start.engine_restarts = start.engine_restarts.max(container.restart_count);
            }
            before => {
                // An engine counts a restart when the container ends, and starts it later: so a look
                // in between has seen the count of the start to come.
                let count = container.restart_count;
                if let Some(start) = before
                    && (count == 0 || count < start.engine_restarts)
                {
                    // Not the engine's doing, which counts on, but a start that sets the count to 0.
                    self.restarts_before += start.engine_restarts + 1;
                }
                *before = Some(Start {
                    at: at.to_owned(),
                    under: memory.told_under.take(),
                    engine_restarts: container.restart_count,
                    halted: false,
                });
            }
        }
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

/// Whether the container was last started when the run before was, as that run reported it. The
/// API keeps times by the second: one that comes from there is compared so.
fn is_before(wish: &Wish, container: &SeenContainer, at: &str) -> bool {
    let Some(PreviousContainer { container_id, started_at: Some(before) }) = &wish.previous else {
        return false;
    };
    if *container_id != container.id {
        return false;
    }
    let time = |text: &str| text.parse::<Timestamp>().ok();
    before == at
        || match (time(before), time(at)) {
            (Some(before), Some(at)) if before.subsec_nanosecond() == 0 => {
                before.as_second() == at.as_second()
            }
            (Some(before), Some(at)) => before == at,
            _ => false,
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
