//! StoragePool: where Volumes may live, and which hosts reach it.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector};
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::selector::Selector;

/// What an admin says of a StoragePool.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "StoragePool",
    status = "StoragePoolStatus",
    shortname = "pool",
    category = "kibotos",
    doc = "Where Volumes may live: a volume driver of the hosts' engines, its options, and the hosts that reach it. The pool local, the disk of each host, is always there.",
    printcolumn(name = "Driver", type_ = "string", json_path = ".spec.driver"),
    printcolumn(name = "Shared", type_ = "boolean", json_path = ".spec.shared"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    validation = Rule::new("self.metadata.name != 'local'")
        .message("metadata.name local is taken: the pool of that name is always there"),
)]
pub struct StoragePoolSpec {
    /// Name of the volume driver, e.g. `local`.
    #[schemars(length(min = 1))]
    pub driver: String,
    /// Options of the driver for each volume, e.g. `type: nfs`.
    pub driver_options: Option<BTreeMap<String, String>>,
    /// Labels of the Hosts that reach the pool. Unset: all.
    #[schemars(with = "Option<Selector>")]
    pub host_selector: Option<LabelSelector>,
    /// Whether every one of those Hosts sees the same data. Default false: the data is on the host
    /// that first used it.
    #[serde(default)]
    pub shared: bool,
}

/// What is known of a StoragePool.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoragePoolStatus {
    /// How many Hosts reach it.
    pub hosts: Option<i64>,
    /// How many Volumes live in it.
    pub volumes: Option<i64>,
    /// The `metadata.generation` that this status speaks of.
    pub observed_generation: Option<i64>,
    /// `Ready`, `Reconciling` and `Stalled`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
