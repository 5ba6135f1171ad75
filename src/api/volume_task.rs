//! VolumeTask: one piece of work on a volume's data, done by the host that holds it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::grammar::Moment;
use super::reference::VolumeRef;
use crate::api::field_describes;

/// What the controller wants done with a volume's data.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "VolumeTask",
    namespaced,
    status = "VolumeTaskStatus",
    category = "kibotos",
    doc = "One piece of work on the data of a Volume. Made by the controller in the namespace of the host that holds the data; its status is what the host's agent reports.",
    selectable = ".status.phase",
    printcolumn(name = "Volume", type_ = "string", json_path = ".spec.volume.name"),
    printcolumn(name = "Action", type_ = "string", json_path = ".spec.action"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Reason", type_ = "string", priority = 1, json_path = ".status.reason")
)]
#[x_kube(validation = Rule::new("self == oldSelf").message("a VolumeTask is immutable"))]
pub struct VolumeTaskSpec {
    /// The Volume.
    pub volume: VolumeRef,
    /// The volume driver that holds the data.
    pub driver: String,
    /// What to do: `Remove`.
    pub action: VolumeAction,
}

/// What is done with a volume's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum VolumeAction {
    /// It is removed.
    Remove,
}

/// What the agent reports of a VolumeTask.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeTaskStatus {
    /// `Pending`, `Running`, `Succeeded` or `Failed`.
    pub phase: Option<VolumeTaskPhase>,
    /// Why, in one word.
    pub reason: Option<String>,
    /// Why, for a person.
    pub message: Option<String>,
    /// When it ended.
    #[schemars(with = "Option<Moment>")]
    pub finished_at: Option<Time>,
    /// The `metadata.generation` that this status speaks of.
    pub observed_generation: Option<i64>,
}

/// Where a VolumeTask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum VolumeTaskPhase {
    /// Not begun.
    Pending,
    /// Under way.
    Running,
    /// Done.
    Succeeded,
    /// It did not work, and is tried again.
    Failed,
}
