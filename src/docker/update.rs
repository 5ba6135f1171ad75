//! The body of `POST /containers/ID/update`.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::RestartPolicy;

/// What of a container changes; what is none stays as it is. The engine ignores a 0.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Update {
    pub memory: Option<i64>,
    pub memory_reservation: Option<i64>,
    pub memory_swap: Option<i64>,
    pub nano_cpus: Option<i64>,
    pub cpu_shares: Option<i64>,
    pub cpu_period: Option<i64>,
    pub cpu_quota: Option<i64>,
    pub cpuset_cpus: Option<String>,
    pub cpuset_mems: Option<String>,
    pub blkio_weight: Option<i64>,
    pub pids_limit: Option<i64>,
    pub restart_policy: Option<RestartPolicy>,
}

impl Update {
    /// Nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
