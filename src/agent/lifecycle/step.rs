//! The steps there are, and why one waits.

use std::time::Duration;

use super::record::Ended;
use crate::api::Reason;
use crate::docker::Update;

/// One thing to do, after which the engine is looked at again.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Bring an image onto the host.
    Pull(Pulled),
    /// Make the directory, the config file and the volumes.
    Prepare,
    /// Make the container.
    Create,
    /// Join a container that was just made to a further network.
    Connect {
        /// The container.
        id: String,
        /// Name of the network.
        network: String,
    },
    /// Start the container.
    Start {
        /// The container.
        id: String,
    },
    /// Let a container go on that was paused by hand.
    Unpause {
        /// The container.
        id: String,
    },
    /// Give a container its name back.
    Rename {
        /// The container.
        id: String,
    },
    /// Change limits or the restart policy of the container as it is.
    Update {
        /// The container.
        id: String,
        /// What changes.
        change: Box<Update>,
    },
    /// Write the config file in place, and send the reload signal where the container runs.
    WriteConfig {
        /// The container to signal.
        signal: Option<String>,
    },
    /// Ask the container to stop, and kill it after the grace period.
    Stop {
        /// The container.
        id: String,
    },
    /// Kill the container.
    Kill {
        /// The container.
        id: String,
    },
    /// Remove the container for good.
    Remove {
        /// The container.
        id: String,
    },
    /// Remove a stopped container for the one that takes its place.
    Recreate {
        /// The container.
        id: String,
        /// Why it cannot stay.
        why: Replacement,
    },
    /// Remove what the Workspace has on the host beside the container.
    Clear,
    /// Write down that the run is over.
    Settle(Ended),
    /// Do nothing until something happens or a time comes.
    Wait {
        /// When to look again at the latest, on the monotonic clock.
        until: Option<Duration>,
        /// What is waited for.
        hold: Hold,
    },
    /// All is as declared.
    Idle,
}

/// Which image a pull is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulled {
    /// This run's.
    Own,
    /// The next run's, ahead of it.
    Prefetch,
}

/// Why a container is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// It was made from another spec.
    Spec,
    /// Its image has moved on, and the run asks for the newest.
    Image,
    /// Every run starts with a fresh writable layer.
    FreshLayer,
    /// It is broken: the engine starts it no more.
    Broken,
}

/// Why nothing is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// In the one list of reasons.
    pub reason: Reason,
    /// For a person: what is waited for, or what to change.
    pub message: String,
}

impl Hold {
    /// A reason and its message.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl Step {
    /// Its name in `status.steps` and in metrics.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pull(_) => "Pull",
            Self::Prepare => "Prepare",
            Self::Create => "Create",
            Self::Connect { .. } => "Connect",
            Self::Start { .. } => "Start",
            Self::Unpause { .. } => "Unpause",
            Self::Rename { .. } => "Rename",
            Self::Update { .. } => "Update",
            Self::WriteConfig { .. } => "WriteConfig",
            Self::Stop { .. } => "Stop",
            Self::Kill { .. } => "Kill",
            Self::Remove { .. } => "Remove",
            Self::Recreate { .. } => "Recreate",
            Self::Clear => "Clear",
            Self::Settle(_) => "Settle",
            Self::Wait { .. } => "Wait",
            Self::Idle => "Idle",
        }
    }

    /// Whether it changes anything on the host.
    pub const fn is_effect(&self) -> bool {
        !matches!(self, Self::Settle(_) | Self::Wait { .. } | Self::Idle)
    }

    /// Whether it may be left half way when the wish changes: the engine goes on or drops it, and
    /// either is seen at the next look. A create or start that is cut may leave a container that
    /// never starts.
    pub const fn may_be_cut(&self) -> bool {
        matches!(self, Self::Pull(_) | Self::Stop { .. })
    }
}
