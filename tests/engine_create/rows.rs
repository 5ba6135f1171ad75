//! Row by row: what a Workspace says, and what the engine then says of the container.
//!
//! Not what was sent but what inspect makes of it: an image's own settings under it, defaults
//! filled in, mounts as they are.

mod limits;
mod mounts;
mod network;
mod process;
mod rights;

pub use limits::limits;
pub use mounts::{binds, mounts};
pub use network::network;
pub use process::{lifecycle, process};
pub use rights::rights;

use kibotos::docker::ApiVersion;
use serde_json::{Value, json};

use super::{Bench, ENTRY};

/// One thing that a Workspace says.
pub struct Row {
    pub container: Value,
    /// What stands beside `container` in a run.
    pub more: Value,
    /// What inspect must say, whatever else it says.
    pub says: Value,
    pub outcome: Outcome,
}

/// How far the engine goes with it.
#[derive(Clone, Copy)]
pub enum Outcome {
    /// It makes the container.
    Created,
    /// It makes the container, or warns that this kernel cannot do what was asked.
    Unless(&'static str),
    /// An engine before this version is not even asked.
    Needs(ApiVersion),
    /// It makes none on a host like this, and says why in one of these ways.
    NotCreated(&'static [&'static str]),
    /// It makes one that cannot start on a host like this, and says why in one of these ways.
    NotStarted(&'static [&'static str]),
}

pub fn all(bench: &Bench) -> Vec<Row> {
    [process, lifecycle, network, binds, mounts, rights, limits]
        .iter()
        .flat_map(|rows| rows(bench))
        .collect()
}

fn row(container: Value, says: Value) -> Row {
    Row { container, more: json!({}), says, outcome: Outcome::Created }
}

fn config(container: Value, says: Value) -> Row {
    row(container, json!({ "Config": says }))
}

fn host(container: Value, says: Value) -> Row {
    row(container, json!({ "HostConfig": says }))
}

impl Row {
    fn with(self, more: Value) -> Self {
        Self { more, ..self }
    }

    fn but(self, outcome: Outcome) -> Self {
        Self { outcome, ..self }
    }
}

/// A container of the image that has every setting.
fn entry(mut container: Value) -> Value {
    container["image"] = ENTRY.into();
    if container.get("args").is_none() {
        // The image's own.
        container["args"] = Value::Null;
    }
    container
}
