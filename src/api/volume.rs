//! Volume: data that outlives runs and, if asked, Workspaces.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::grammar::{HostName, ObjectName, Quantity, RawQuantity};
use super::names::LOCAL_POOL;
use super::quantity_rules;
use crate::api::field_describes;

/// What a user wants of a Volume.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "Volume",
    namespaced,
    status = "VolumeStatus",
    shortname = "vol",
    category = "kibotos",
    doc = "Data that outlives containers and, if asked, Workspaces. At most one Workspace uses it at a time. Deleting a Volume deletes its data.",
    selectable = ".status.phase",
    selectable = ".status.hostName",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Workspace", type_ = "string", json_path = ".status.workspace.name"),
    printcolumn(name = "Host", type_ = "string", json_path = ".status.hostName"),
    printcolumn(name = "Size", type_ = "string", json_path = ".spec.size"),
    printcolumn(name = "Pool", type_ = "string", json_path = ".spec.storagePool"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Ready", type_ = "string", priority = 1, json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Reason", type_ = "string", priority = 1, json_path = ".status.conditions[?(@.type==\"Ready\")].reason"),
    validation = Rule::new("self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')")
        .message("metadata.name must be a DNS label: at most 63 lower-case letters, digits and '-', with a letter or digit at both ends"),
)]
#[x_kube(
    validation = Rule::new("self.storagePool == oldSelf.storagePool")
        .message("storagePool is immutable: make a new Volume").field_path(".storagePool"),
    validation = Rule::new(
        "has(self.hostName) == has(oldSelf.hostName) && (!has(self.hostName) || self.hostName == oldSelf.hostName)")
        .message("hostName is immutable: make a new Volume").field_path(".hostName"),
    validation = Rule::new("has(self.size) == has(oldSelf.size)")
        .message("size can be neither added nor removed: make a new Volume").field_path(".size"),
    validation = Rule::new(
        format!("!has(self.size) || !has(oldSelf.size) || {}", quantity_rules::no_less_than("self.size", "oldSelf.size")))
        .message("size can only grow").field_path(".size"),
)]
pub struct VolumeSpec {
    /// Its size, e.g. `10Gi`, where the driver can bound it; may grow, never shrink. Unset:
    /// unbounded.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_bytes()).message(quantity_rules::WHOLE_BYTES_MESSAGE), validation = Rule::new(quantity_rules::positive())
        .message("must be above 0"))]
    pub size: Option<RawQuantity>,
    /// StoragePool that holds the data. Default `local`: the disk of one host. Immutable.
    #[serde(default = "local_pool")]
    #[schemars(with = "ObjectName")]
    pub storage_pool: String,
    /// The Host that shall hold the data. Unset: the host of the first Workspace that uses it.
    /// Immutable.
    #[schemars(with = "Option<HostName>")]
    pub host_name: Option<String>,
}

impl Default for VolumeSpec {
    fn default() -> Self {
        Self { size: None, storage_pool: local_pool(), host_name: None }
    }
}

fn local_pool() -> String {
    LOCAL_POOL.to_owned()
}

/// What is known of a Volume.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeStatus {
    /// `Pending`, `Available`, `Bound` or `Deleting`.
    pub phase: Option<VolumePhase>,
    /// The Workspace it is bound to.
    pub workspace: Option<BoundWorkspace>,
    /// The Host that holds the data, once one does.
    pub host_name: Option<String>,
    /// The `metadata.generation` that this status speaks of.
    pub observed_generation: Option<i64>,
    /// `Ready`, `Reconciling` and `Stalled`. A Volume on a local pool is ready before any host holds
    /// it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Where a Volume is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum VolumePhase {
    /// Something is missing, e.g. its StoragePool.
    Pending,
    /// Free to be bound.
    Available,
    /// A Workspace uses it.
    Bound,
    /// Its data is being removed.
    Deleting,
}

/// The Workspace that a Volume is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoundWorkspace {
    /// Name of the Workspace, in the Volume's namespace.
    pub name: String,
    /// Uid of the Workspace.
    pub uid: String,
}
