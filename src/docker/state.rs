//! What state a container is in.

use serde::{Deserialize, Serialize};

use super::read::open_enum;

open_enum! {
    /// The state of a container in one word.
    ContainerStatus {
        /// Made, and never run, or its start failed.
        Created = "created",
        /// Its process runs.
        Running = "running",
        /// Its processes are frozen.
        Paused = "paused",
        /// The engine waits before it starts it again.
        Restarting = "restarting",
        /// Being removed.
        Removing = "removing",
        /// It ran and ended.
        Exited = "exited",
        /// Its removal failed half way.
        Dead = "dead",
    }
}

open_enum! {
    /// What a container's health check says.
    HealthStatus {
        /// There is no check.
        None = "none",
        /// In its start period, or not asked yet.
        Starting = "starting",
        /// Well.
        Healthy = "healthy",
        /// Failed as often as its `retries` say.
        Unhealthy = "unhealthy",
    }
}

/// The state of a container as inspect has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(clippy::struct_excessive_bools, reason = "the members are Docker's")]
pub struct State {
    /// The state in one word.
    pub status: ContainerStatus,
    /// True also while it restarts or is paused.
    pub running: bool,
    /// Its processes are frozen.
    pub paused: bool,
    /// The engine waits before it starts it again.
    pub restarting: bool,
    /// Some process of it was killed for want of memory; old engines carry it over into the next
    /// run.
    #[serde(rename = "OOMKilled")]
    pub oom_killed: bool,
    /// Its removal failed half way.
    pub dead: bool,
    /// Its first process; 0 when it does not run.
    pub pid: i64,
    /// That of the last run; 126 to 128 with status `created`: it never ran.
    pub exit_code: i64,
    /// Why it could not be started.
    pub error: String,
    /// As the engine writes it; see [`State::started`].
    pub started_at: String,
    /// As the engine writes it; see [`State::finished`].
    pub finished_at: String,
    /// Absent without a health check.
    pub health: Option<HealthState>,
}

impl State {
    /// When the last run began, in RFC 3339; none if it never ran.
    pub fn started(&self) -> Option<&str> {
        moment(&self.started_at)
    }

    /// When the last run ended, in RFC 3339; none if none has. An older one than
    /// [`State::started`] is that of the run before.
    pub fn finished(&self) -> Option<&str> {
        moment(&self.finished_at)
    }
}

/// A health check's result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct HealthState {
    /// The result in one word.
    pub status: HealthStatus,
    /// How often in a row it has failed.
    pub failing_streak: i64,
    /// The last results, the newest last.
    pub log: Vec<HealthProbe>,
}

/// One run of a health check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct HealthProbe {
    /// When it ended, in RFC 3339.
    pub end: String,
    /// 0: well.
    pub exit_code: i64,
    /// What the check printed, at most 4096 bytes.
    pub output: String,
}

/// Docker writes the first moment of year 1 for "never".
pub(super) fn moment(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty() && !text.starts_with("0001-01-01T"))
}
