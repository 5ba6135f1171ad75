//! What an engine says while it happens.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment on the engine's clock, in nanoseconds since 1970.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EventTime(pub i64);

impl fmt::Display for EventTime {
    /// As `since` takes it: seconds and nanoseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SECOND: i64 = 1_000_000_000;
        write!(f, "{}.{:09}", self.0.div_euclid(SECOND), self.0.rem_euclid(SECOND))
    }
}

/// Something happened. A hint to look: events get lost, and come late.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Event {
    /// `container`, `image`, `volume`, `network`, `daemon` and what may come.
    #[serde(rename = "Type")]
    pub type_: String,
    /// `die`, `start`, `health_status: healthy`: some have more behind a colon.
    #[serde(rename = "Action")]
    pub action: String,
    /// What it happened to.
    #[serde(rename = "Actor")]
    pub actor: Actor,
    /// When.
    #[serde(rename = "timeNano")]
    pub time: EventTime,
}

impl Event {
    /// The action alone, without what stands behind its colon.
    pub fn verb(&self) -> &str {
        self.action.split(':').next().unwrap_or_default()
    }
}

/// What an event happened to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Actor {
    /// The full id of a container or network, the name of a volume or image.
    #[serde(rename = "ID")]
    pub id: String,
    /// A container's labels, and `name`, `image`, `exitCode` beside them.
    #[serde(rename = "Attributes")]
    pub attributes: BTreeMap<String, String>,
}
