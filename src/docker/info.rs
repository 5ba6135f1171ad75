//! What an engine says of itself and its host.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer of `GET /info`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
#[allow(clippy::struct_excessive_bools, reason = "the members are Docker's")]
pub struct Info {
    #[serde(rename = "ID")]
    pub id: String,
    /// The host's name.
    pub name: String,
    pub server_version: String,
    pub operating_system: String,
    #[serde(rename = "OSVersion")]
    pub os_version: String,
    #[serde(rename = "OSType")]
    pub os_type: String,
    /// As `uname -m` has it: `x86_64`.
    pub architecture: String,
    pub kernel_version: String,
    #[serde(rename = "NCPU")]
    pub cpus: i64,
    pub mem_total: i64,
    pub containers: i64,
    pub containers_running: i64,
    pub images: i64,
    /// Where images and layers are kept: `overlay2`, `vfs`.
    pub driver: String,
    pub driver_status: Vec<Vec<String>>,
    pub docker_root_dir: String,
    pub default_runtime: String,
    /// By name; what a runtime is made of is of no interest.
    pub runtimes: BTreeMap<String, Value>,
    pub cgroup_driver: String,
    pub cgroup_version: String,
    pub security_options: Vec<String>,
    pub live_restore_enabled: bool,
    pub memory_limit: bool,
    pub swap_limit: bool,
    pub pids_limit: bool,
    #[serde(rename = "CpuCfsQuota")]
    pub cpu_quota: bool,
    pub plugins: Plugins,
    pub labels: Vec<String>,
    pub warnings: Vec<String>,
}

/// The drivers that an engine has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Plugins {
    pub volume: Vec<String>,
    pub network: Vec<String>,
    pub log: Vec<String>,
}
