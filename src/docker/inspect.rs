//! One container as `GET /containers/ID/json` tells it: what an agent needs of that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::state::State;
use super::{Health, PortBinding, RestartPolicy};

/// The whole answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Inspect {
    pub id: String,
    /// With a `/` in front; see [`Inspect::name`].
    pub name: String,
    pub created: String,
    /// The image's id: of its configuration or of its manifest, as the engine's store has it.
    pub image: String,
    pub driver: String,
    pub platform: String,
    pub restart_count: i64,
    pub state: State,
    pub config: Config,
    pub host_config: Limits,
    pub network_settings: NetworkSettings,
    pub mounts: Vec<MountPoint>,
}

impl Inspect {
    /// The name as people write it.
    pub fn name(&self) -> &str {
        self.name.trim_start_matches('/')
    }
}

/// What the container was made with, the image's settings merged in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Config {
    pub image: String,
    pub labels: BTreeMap<String, String>,
    pub env: Vec<String>,
    pub hostname: String,
    pub user: String,
    pub stop_signal: Option<String>,
    pub stop_timeout: Option<i64>,
    pub healthcheck: Option<Health>,
}

impl Config {
    /// Whether the engine asks if the container is well.
    pub fn has_health_check(&self) -> bool {
        let test = self.healthcheck.as_ref().and_then(|check| check.test.as_deref());
        test.is_some_and(|test| !test.is_empty() && test != ["NONE"])
    }
}

/// What of the host's the container has: that which can be changed while it runs, and how it is
/// attached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Limits {
    pub restart_policy: RestartPolicy,
    pub memory: i64,
    pub memory_reservation: i64,
    pub memory_swap: i64,
    pub nano_cpus: i64,
    pub cpu_shares: i64,
    pub cpu_period: i64,
    pub cpu_quota: i64,
    pub cpuset_cpus: String,
    pub cpuset_mems: String,
    pub blkio_weight: i64,
    /// Absent: no limit.
    pub pids_limit: Option<i64>,
    pub network_mode: String,
    pub privileged: bool,
    pub auto_remove: bool,
    pub runtime: String,
    pub port_bindings: BTreeMap<String, Vec<PortBinding>>,
}

/// The networks that a container is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct NetworkSettings {
    /// By the network's name.
    pub networks: BTreeMap<String, Endpoint>,
    /// By `port/protocol`: where the port is really bound. Empty when it does not run.
    pub ports: BTreeMap<String, Vec<PortBinding>>,
}

/// A container's place in one network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Endpoint {
    /// Empty before the first start.
    #[serde(rename = "NetworkID")]
    pub network_id: String,
    #[serde(rename = "EndpointID")]
    pub endpoint_id: String,
    #[serde(rename = "IPAddress")]
    pub ip_address: String,
    #[serde(rename = "GlobalIPv6Address")]
    pub global_ipv6_address: String,
    pub mac_address: String,
    pub aliases: Vec<String>,
}

/// Something that is mounted in a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct MountPoint {
    /// `bind`, `volume`, `tmpfs` and what may come.
    #[serde(rename = "Type")]
    pub type_: String,
    /// The volume's; empty for a bind.
    pub name: String,
    pub source: String,
    pub destination: String,
    pub driver: String,
    pub mode: String,
    #[serde(rename = "RW")]
    pub rw: bool,
    pub propagation: String,
}
