//! `agent.yaml`: what the admin of a host says to its agent.
//!
//! Read strictly: an unknown key, one that stands twice, a wrong type or a bad value is an error
//! with its line, column and key. A list or map that is left empty (`devices:`) is an empty one.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use serde_saphyr::{Error as YamlError, MessageFormatter, UserMessageFormatter};

use super::policy::{HostPolicy, or_empty};
use crate::api::grammar::{Duration, Invalid};

/// The document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AgentConfig {
    /// What Workspaces may have of the host. Nothing by default.
    #[serde(deserialize_with = "or_empty")]
    pub policy: HostPolicy,
    /// When images are removed.
    #[serde(deserialize_with = "or_empty")]
    pub images: Images,
    /// How often all containers are looked at, beside what the engine's events say.
    pub resync: Resync,
}

/// When images are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Images {
    /// Images that nothing uses are removed while the engine's disk is fuller than this.
    pub collect_at_disk_percent: Percent,
}

/// From 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percent(u8);

impl Percent {
    /// The number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for Percent {
    fn default() -> Self {
        Self(85)
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PercentVisitor)
    }
}

struct PercentVisitor;

impl Visitor<'_> for PercentVisitor {
    type Value = Percent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 1 to 100")
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Percent, E> {
        let percent = u8::try_from(number).ok().filter(|n| (1..=100).contains(n));
        percent.map(Percent).ok_or_else(|| E::custom(format!("{number} must be from 1 to 100")))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Percent, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::custom(format!("{number} must be from 1 to 100"))),
        }
    }
}

/// At least a second.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Duration")]
pub struct Resync(std::time::Duration);

impl Resync {
    /// The time between two looks.
    pub fn get(&self) -> std::time::Duration {
        self.0
    }
}

impl Default for Resync {
    fn default() -> Self {
        Self(std::time::Duration::from_mins(1))
    }
}

impl TryFrom<Duration> for Resync {
    type Error = Invalid;

    fn try_from(every: Duration) -> Result<Self, Invalid> {
        if every.as_std() < std::time::Duration::from_secs(1) {
            return Err(Invalid::new(format!("{every} must be at least 1s")));
        }
        Ok(Self(every.as_std()))
    }
}

/// What is wrong in an `agent.yaml`, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {}{message}", path_before(.path))]
pub struct ConfigError {
    /// From 1.
    pub line: u64,
    /// From 1.
    pub column: u64,
    /// The key, e.g. `policy.default.devices[0]`; empty for the document itself.
    pub path: String,
    /// What is wrong and what to write instead.
    pub message: String,
}

fn path_before(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

impl AgentConfig {
    /// Reads a document; an empty one is the closed default.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let options = serde_saphyr::options! { with_snippet: false, strict_booleans: true };
        let mut path = String::new();
        let read = serde_saphyr::with_deserializer_from_str_with_options(text, options, |yaml| {
            serde_path_to_error::deserialize::<_, Option<Self>>(yaml).map_err(|error| {
                path = error.path().to_string();
                error.into_inner()
            })
        });
        read.map(Option::unwrap_or_default).map_err(|error| ConfigError::new(&error, path))
    }
}

impl ConfigError {
    fn new(error: &YamlError, mut path: String) -> Self {
        let place = error.location();
        let message = match error.without_snippet() {
            YamlError::SerdeUnknownField { field, expected, .. } => {
                format!("unknown key {field}: write one of {}", expected.join(", "))
            }
            YamlError::SerdeUnknownVariant { variant, expected, .. } => {
                format!("{variant} is not known: write one of {}", expected.join(", "))
            }
            YamlError::SerdeInvalidType { unexpected, expected, .. }
            | YamlError::SerdeInvalidValue { unexpected, expected, .. } => {
                format!("{unexpected} does not fit: write {expected}")
            }
            YamlError::Unexpected { expected: "mapping start", .. } => {
                "must be a map: write KEY: VALUE in lines below it".to_owned()
            }
            YamlError::Unexpected { expected: "sequence start", .. } => {
                "must be a list: write it as [A, B]".to_owned()
            }
            YamlError::DuplicateMappingKey { key: Some(key), .. } => {
                // The key is not yet in the path when the parser finds it.
                if let Some(parent) = path.strip_suffix('?') {
                    path = format!("{parent}{key}");
                }
                format!("{key} stands twice: leave one of the two out")
            }
            other => {
                let message = UserMessageFormatter.format_message(other).into_owned();
                let star = message.contains("anchor or alias");
                if star {
                    format!("{message}: a text that begins with * takes quotes")
                } else {
                    message
                }
            }
        };
        Self {
            line: place.map_or(1, |place| place.line()),
            column: place.map_or(1, |place| place.column()),
            path: path.trim_end_matches(['.', '?']).to_owned(),
            message,
        }
    }
}

#[cfg(test)]
mod tests;
