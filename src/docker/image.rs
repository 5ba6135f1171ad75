//! Images: as inspect and list tell them, and what a pull says while it goes on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Empty, Health};

/// One image as `GET /images/NAME/json` tells it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct ImageInspect {
    pub id: String,
    pub repo_tags: Vec<String>,
    /// `repository@digest` of each registry it came from.
    pub repo_digests: Vec<String>,
    pub architecture: String,
    pub variant: String,
    pub os: String,
    pub size: i64,
    pub config: ImageConfig,
    /// Only with the containerd store.
    pub descriptor: Option<Value>,
}

/// An image's own settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct ImageConfig {
    pub labels: BTreeMap<String, String>,
    pub env: Vec<String>,
    pub volumes: BTreeMap<String, Empty>,
    pub user: String,
    pub working_dir: String,
    pub stop_signal: String,
    pub healthcheck: Option<Health>,
}

/// One image of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct ImageItem {
    pub id: String,
    pub repo_tags: Vec<String>,
    pub repo_digests: Vec<String>,
    pub labels: BTreeMap<String, String>,
    /// Seconds since 1970: when it was built, not when it came here.
    pub created: i64,
    pub size: i64,
}

/// One message of a pull.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PullProgress {
    /// The layer, or the tag, that the status is about; empty: the whole.
    pub id: String,
    /// For people: `Downloading`, `Pull complete`.
    pub status: String,
    /// How far.
    pub progress_detail: ProgressDetail,
    /// The pull failed. Engines before 28 say it a second time in `error`.
    pub error_detail: Option<PullFault>,
    /// The same in short; engines will leave it out.
    pub error: Option<String>,
}

impl PullProgress {
    /// Why the pull failed, if this is what the message says.
    pub fn fault(&self) -> Option<PullFault> {
        let short = || self.error.clone().map(|message| PullFault { code: None, message });
        self.error_detail.clone().filter(|fault| !fault.message.is_empty()).or_else(short)
    }
}

/// How much of how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct ProgressDetail {
    pub current: i64,
    pub total: i64,
}

/// Why a pull failed after its answer had begun with 200.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct PullFault {
    pub code: Option<i64>,
    pub message: String,
}
