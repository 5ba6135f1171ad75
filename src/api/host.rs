//! Host: a machine with a Docker Engine and an agent.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::resources::HostResources;
use super::selector::Selector;
use crate::api::field_describes;

/// What an admin wants of a Host.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "Host",
    status = "HostStatus",
    shortname = "khost",
    category = "kibotos",
    doc = "A machine with a Docker Engine and an agent. All that it may read and write is in the namespace kibotos-host-<name>.",
    printcolumn(name = "Mode", type_ = "string", json_path = ".spec.mode"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Engine", type_ = "string", json_path = ".status.engineVersion"),
    printcolumn(name = "Containers", type_ = "integer", json_path = ".status.containers.managed"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Reason", type_ = "string", priority = 1, json_path = ".status.conditions[?(@.type==\"Ready\")].reason"),
    printcolumn(name = "Agent", type_ = "string", priority = 1, json_path = ".status.agentVersion"),
    printcolumn(name = "OS", type_ = "string", priority = 1, json_path = ".status.os"),
    printcolumn(name = "Arch", type_ = "string", priority = 1, json_path = ".status.architecture"),
    printcolumn(name = "CPU", type_ = "string", priority = 1, json_path = ".status.allocatable.cpu"),
    printcolumn(name = "Memory", type_ = "string", priority = 1, json_path = ".status.allocatable.memory"),
    validation = Rule::new("self.metadata.name.size() <= 50 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')")
        .message("metadata.name must be a DNS label of at most 50 characters, so that the namespace kibotos-host-<name> fits: lower-case letters, digits and '-', with a letter or digit at both ends"),
)]
pub struct HostSpec {
    /// `Active` (default) takes runs; `Cordoned` takes no new run; `Restricted` changes nothing on
    /// the engine: the agent observes and reports.
    #[serde(default)]
    pub mode: HostMode,
    /// Labels of the namespaces whose Workspaces may run here. Unset: all.
    #[schemars(with = "Option<Selector>")]
    pub namespace_selector: Option<LabelSelector>,
    /// The most that placement gives away here; of this and what the host reports the lesser counts.
    pub capacity: Option<HostResources>,
}

/// What a Host takes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum HostMode {
    /// New runs.
    #[default]
    Active,
    /// No new run.
    Cordoned,
    /// Nothing: its engine is only observed.
    Restricted,
}

/// What a Host's agent reports, and the controller's word on whether it is ready.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostStatus {
    /// Version of the agent.
    pub agent_version: Option<String>,
    /// Version of the engine, e.g. `28.5.2`.
    pub engine_version: Option<String>,
    /// The engine's newest API version, e.g. `1.51`.
    pub engine_api_version: Option<String>,
    /// Operating system of the containers, e.g. `linux`.
    pub os: Option<String>,
    /// Architecture, e.g. `amd64`.
    pub architecture: Option<String>,
    /// What the machine has.
    pub capacity: Option<HostResources>,
    /// What of it is there for Workspaces.
    pub allocatable: Option<HostResources>,
    /// Names of the engine's runtimes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub runtimes: Vec<String>,
    /// The engine's storage driver, e.g. `overlay2`.
    pub storage_driver: Option<String>,
    /// Id of the machine's present boot.
    pub boot_id: Option<String>,
    /// How many containers there are.
    pub containers: Option<ContainerCounts>,
    /// The `metadata.generation` that this status speaks of.
    pub observed_generation: Option<i64>,
    /// `Ready` by the controller; `AgentReady`, `EngineReachable` and `DiskPressure` by the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Containers on a host, by whose they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContainerCounts {
    /// Of Workspaces.
    pub managed: i64,
    /// Left by an earlier Host of this name; stopped.
    pub released: i64,
    /// Of others; never changed.
    pub foreign: i64,
}
