//! What is wished of one Workspace's container: a run, reduced to what decides.

use std::time::Duration;

use crate::api::workspace_run::{DesiredState, PreviousContainer};
use crate::docker::{RestartPolicy, Update};

/// What is wished.
#[expect(
    clippy::struct_excessive_bools,
    reason = "four answers that have nothing to do with each other"
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// Where to.
    pub desired: DesiredState,
    /// The container's name.
    pub name: String,
    /// The hash of the spec.
    pub spec_hash: String,
    /// What to do after an exit.
    pub restart: Restart,
    /// The restart policy that the engine is to have while the run is to run.
    pub policy: RestartPolicy,
    /// The container of the run before.
    pub previous: Option<PreviousContainer>,
    /// Whether each run starts with a fresh writable layer.
    pub fresh_layer: bool,
    /// Whether a stop kills at once.
    pub force: bool,
    /// The limits that the engine changes in place.
    pub limits: Update,
    /// Networks that are joined after the container is made.
    pub networks: Vec<String>,
    /// When to ask a registry.
    pub pull: Pull,
    /// Whether there is a config file.
    pub config: bool,
    /// A leased run that may not run now, for its Lease is stale.
    pub fenced: bool,
}

/// When a registry is asked for the run's image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pull {
    /// Before every new container.
    Always,
    /// When the image is not there.
    IfNotPresent,
    /// Never.
    Never,
}

/// The restart policy as declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Unset: the agent keeps the run up, with backoff.
    Kept,
    /// The engine keeps it up; the agent only where the engine does not.
    Always,
    /// As `Always`, after failures only; at most so many times, 0 being for ever.
    OnFailure(i64),
    /// Never.
    No,
}

/// The longest time between two tries.
pub const LONGEST_BACKOFF: Duration = Duration::from_mins(5);

/// The time to wait after so many failures in a row: 1 s doubling to 5 min.
pub fn backoff(failures: u32) -> Duration {
    let exponent = failures.saturating_sub(1).min(16);
    Duration::from_secs(1_u64 << exponent).min(LONGEST_BACKOFF)
}
