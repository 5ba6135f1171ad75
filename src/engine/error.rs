use std::time::Duration;

use crate::docker::ApiVersion;

/// Why a call of the engine gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// No connection, or it broke before the answer was whole.
    #[error("{call}: the engine cannot be reached: {cause}")]
    Unreachable {
        /// What was asked.
        call: &'static str,
        /// Why not.
        cause: String,
        /// Whether the engine may have got the request: then the outcome is unknown.
        sent: bool,
    },
    /// No answer within the deadline: the outcome is unknown.
    #[error("{call}: the engine gave no answer within {after:?}")]
    Deadline {
        /// What was asked.
        call: &'static str,
        /// How long it was waited for.
        after: Duration,
    },
    /// The engine's answer is an error.
    #[error("{call}: the engine answered {status}: {message}")]
    Refused {
        /// What was asked.
        call: &'static str,
        /// The answer's status. Tells little of whether trying again helps.
        status: u16,
        /// The engine's own words.
        message: String,
    },
    /// The answer could not be read.
    #[error("{call}: the engine's answer cannot be read: {cause}")]
    Unreadable {
        /// What was asked.
        call: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// The engine is older than any that is spoken to.
    #[error(
        "the engine speaks API version {api}, and at least {oldest} is needed: update it to Docker \
         20.10 or newer",
        oldest = ApiVersion::OLDEST
    )]
    TooOld {
        /// The newest version it speaks.
        api: ApiVersion,
    },
}

impl EngineError {
    /// There is no such thing.
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(404)
    }

    /// Something else is in the way: a name that is taken, a removal under way, a state that does
    /// not allow it.
    pub fn is_conflict(&self) -> bool {
        self.status() == Some(409)
    }

    /// The call may have had its effect: look before it is repeated.
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Unreachable { sent, .. } => *sent,
            Self::Deadline { .. } | Self::Unreadable { .. } => true,
            Self::Refused { .. } | Self::TooOld { .. } => false,
        }
    }

    /// It is the engine that does not answer, whatever was asked.
    pub fn is_engine_away(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Deadline { .. })
    }

    /// The status of an answer that is an error.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}
