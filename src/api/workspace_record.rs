//! WorkspaceRecord: what is left of a deleted Workspace.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::grammar::Moment;
use super::workspace::{ResolvedImage, ResolvedTemplate};
use crate::api::field_describes;

/// What a deleted Workspace was, when and why it went, and what data was kept. Written once.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "WorkspaceRecord",
    namespaced,
    category = "kibotos",
    doc = "What is left of a deleted Workspace, named by its uid. Kept for a time that the controller's --record-retention says.",
    selectable = ".spec.workspaceName",
    printcolumn(name = "Workspace", type_ = "string", json_path = ".spec.workspaceName"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".spec.phase"),
    printcolumn(name = "Reason", type_ = "string", json_path = ".spec.reason"),
    printcolumn(name = "Generation", type_ = "integer", json_path = ".spec.runGeneration"),
    printcolumn(name = "Deleted", type_ = "date", json_path = ".spec.deletedAt"),
    printcolumn(name = "Host", type_ = "string", priority = 1, json_path = ".spec.hostName"),
    printcolumn(name = "Image", type_ = "string", priority = 1, json_path = ".spec.image.name"),
    validation = Rule::new("self.metadata.name == self.spec.workspaceUid")
        .message("metadata.name must be spec.workspaceUid"),
)]
#[x_kube(validation = Rule::new("self == oldSelf").message("a WorkspaceRecord is immutable"))]
pub struct WorkspaceRecordSpec {
    /// Name the Workspace had, in this namespace.
    pub workspace_name: String,
    /// Uid the Workspace had.
    #[schemars(length(max = 253))]
    pub workspace_uid: String,
    /// Always `Deleted`.
    #[serde(default)]
    pub phase: RecordPhase,
    /// How many times it was started with success.
    pub run_generation: i64,
    /// When it was created.
    #[schemars(with = "Moment")]
    pub created_at: Time,
    /// When its deletion was asked for.
    #[schemars(with = "Moment")]
    pub deleted_at: Time,
    /// Why it went, in one word: `Deleting` when a client deleted it, `Expired`, `HostRemoved`.
    pub reason: String,
    /// Why it went, for a person.
    pub message: Option<String>,
    /// The Host it was last on.
    pub host_name: Option<String>,
    /// Name its container had.
    pub container_name: Option<String>,
    /// The template it was made from.
    pub template: Option<ResolvedTemplate>,
    /// The image it ran.
    pub image: Option<ResolvedImage>,
    /// Exit code of its last container.
    pub exit_code: Option<i64>,
    /// Its Volume, and whether the data was kept.
    pub volume: Option<RecordedVolume>,
}

/// The phase of what is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum RecordPhase {
    /// The Workspace is gone.
    #[default]
    Deleted,
}

/// The Volume of a deleted Workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedVolume {
    /// Name of the Volume.
    pub name: String,
    /// Uid of the Volume.
    pub uid: String,
    /// Whether the Volume and its data were kept.
    pub kept: bool,
    /// The Host that holds the data.
    pub host_name: Option<String>,
}
