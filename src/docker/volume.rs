//! Volumes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The body of `POST /volumes/create`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct VolumeCreate {
    pub name: String,
    /// Empty: `local`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub driver: String,
    pub driver_opts: BTreeMap<String, String>,
    pub labels: BTreeMap<String, String>,
}

/// One volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Volume {
    pub name: String,
    pub driver: String,
    pub mountpoint: String,
    pub created_at: String,
    pub scope: String,
    pub labels: BTreeMap<String, String>,
    pub options: BTreeMap<String, String>,
}

/// The answer of `GET /volumes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct VolumeList {
    pub volumes: Vec<Volume>,
    pub warnings: Vec<String>,
}
