//! The spec hash: tells whether a container is the one that a run wants. Pure.
//!
//! It covers the resolved run in canonical form, before host policy and engine version, so that
//! neither an engine's upgrade nor a change of policy replaces a container. Just what needs a new
//! container changes it: not what the engine updates in place (`resources`, the restart policy), what
//! counts when the container stops (`stop`, `deletion`), what it is pulled by, nor the content of the
//! config file.
//!
//! A Secret's value never enters, only which Secret at which version: a reader of the label can
//! guess nothing from it.

use std::collections::BTreeMap;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::canonical;
use crate::api::Container;
use crate::api::WorkspaceRunSpec;
use crate::api::grammar::RawQuantity;
use crate::api::workspace_run::RunMount;

/// The version of the rule below. A container that bears the hash of an older version is judged by
/// that version's rule, so that a new release replaces nothing.
pub const VERSION: u32 = 1;

/// Which Secret or ConfigMap a variable's value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// `Secret` or `ConfigMap`.
    pub kind: &'static str,
    /// Name of the object.
    pub name: String,
    /// Uid of the object as it was read.
    pub uid: String,
    /// Its resourceVersion as it was read.
    pub resource_version: String,
    /// The key in its data.
    pub key: String,
}

/// What is hashed, its members sorted by name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Hashed<'a> {
    container: Container,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<RawQuantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mounts: Vec<&'a RunMount>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sources: &'a BTreeMap<String, Source>,
}

/// The hash of a run, e.g. `1:3f5a…`. `sources` says where the values of variables come from.
pub fn spec_hash(run: &WorkspaceRunSpec, sources: &BTreeMap<String, Source>) -> String {
    let mut container = canonical::container(&run.container);
    container.image_pull_policy = None;
    container.restart_policy = None;
    let name = container.name.take().unwrap_or_else(|| {
        crate::api::names::default_container_name(&run.workspace.namespace, &run.workspace.name)
    });
    let mut mounts: Vec<_> = run.mounts.iter().flatten().collect();
    mounts.sort_by(|a, b| a.path.cmp(&b.path));
    let hashed = Hashed {
        container,
        name,
        size: run.writable_layer.size.clone().map(canonical::amount),
        config_path: run.config_file.as_ref().map(|config| config.path.as_str()),
        mounts,
        sources,
    };
    // Writing these types cannot fail: their maps have text keys. Were it ever to, the text of the
    // failure differs from every JSON, and the container is replaced rather than kept by mistake.
    let sorted = serde_json::to_value(&hashed).and_then(|value| serde_json::to_vec(&value));
    let bytes = sorted.unwrap_or_else(|error| error.to_string().into_bytes());
    format!("{VERSION}:{}", sha256(&bytes))
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
    let digest = Sha256::digest(bytes);
    digest.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

#[cfg(test)]
mod tests;
