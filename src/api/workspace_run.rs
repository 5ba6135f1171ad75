//! WorkspaceRun: one try at running a Workspace on one host. Immutable intent, observed facts.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::container::{Container, RestartPolicy};
use super::grammar::{AbsolutePath, DataKey, ImageReference, Moment, ObjectName, Signal};
use super::reference::{VolumeRef, WorkspaceRef};
use super::resources::Resources;
use super::workspace::{
    DeletionOptions, Guest, NetworkAddress, PublishedPort, StopPolicy, WritableLayer,
};
use crate::api::field_describes;

/// What the controller wants of one run: fully resolved, bound to the Host whose namespace it is in.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "WorkspaceRun",
    namespaced,
    status = "WorkspaceRunStatus",
    shortname = "wsr",
    category = "kibotos",
    doc = "One try at running a Workspace on one host. Made by the controller in the host's namespace; its status is what the host's agent reports.",
    selectable = ".spec.desired",
    selectable = ".spec.workspace.uid",
    selectable = ".status.phase",
    printcolumn(name = "Workspace", type_ = "string", json_path = ".spec.workspace.name"),
    printcolumn(name = "Sequence", type_ = "integer", json_path = ".spec.sequence"),
    printcolumn(name = "Generation", type_ = "integer", json_path = ".spec.generation"),
    printcolumn(name = "Desired", type_ = "string", json_path = ".spec.desired"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "Namespace of Workspace",
        type_ = "string",
        priority = 1,
        json_path = ".spec.workspace.namespace"
    ),
    printcolumn(
        name = "Image",
        type_ = "string",
        priority = 1,
        json_path = ".spec.container.image"
    ),
    printcolumn(
        name = "Container",
        type_ = "string",
        priority = 1,
        json_path = ".status.containerId"
    ),
    printcolumn(name = "Exit", type_ = "integer", priority = 1, json_path = ".status.exitCode")
)]
#[x_kube(
    validation = Rule::new("self.workspace == oldSelf.workspace")
        .message("workspace is immutable").field_path(".workspace"),
    validation = Rule::new("self.sequence == oldSelf.sequence")
        .message("sequence is immutable").field_path(".sequence"),
    validation = Rule::new("self.generation == oldSelf.generation")
        .message("generation is immutable").field_path(".generation"),
    validation = Rule::new(
        "self.desired == oldSelf.desired || oldSelf.desired == 'Running' \
         || (oldSelf.desired == 'Stopped' && self.desired == 'Removed')")
        .message("desired moves only forward: Running, Stopped, Removed").field_path(".desired"),
    validation = Rule::new("self.container == oldSelf.container")
        .message("container is immutable: a change takes a new run").field_path(".container"),
    validation = Rule::new(
        "has(self.mounts) == has(oldSelf.mounts) && (!has(self.mounts) || self.mounts == oldSelf.mounts)")
        .message("mounts is immutable: a change takes a new run").field_path(".mounts"),
    validation = Rule::new("self.writableLayer == oldSelf.writableLayer")
        .message("writableLayer is immutable: a change takes a new run").field_path(".writableLayer"),
    validation = Rule::new(
        "has(self.secretName) == has(oldSelf.secretName) && (!has(self.secretName) || self.secretName == oldSelf.secretName)")
        .message("secretName is immutable").field_path(".secretName"),
    validation = Rule::new(
        "has(self.previous) == has(oldSelf.previous) && (!has(self.previous) || self.previous == oldSelf.previous)")
        .message("previous is immutable").field_path(".previous"),
    validation = Rule::new("self.specHash == oldSelf.specHash")
        .message("specHash is immutable").field_path(".specHash"),
    validation = Rule::new("has(self.container.image)")
        .message("a run needs an image").field_path(".container.image"),
    validation = Rule::new("!has(self.container.restartPolicy)")
        .message("in a run restartPolicy stands beside container, where it can change")
        .field_path(".container.restartPolicy"),
    validation = Rule::new("!has(self.container.envFrom)")
        .message("in a run envFrom is resolved into env").field_path(".container.envFrom"),
)]
pub struct WorkspaceRunSpec {
    /// The Workspace this run is of.
    pub workspace: WorkspaceRef,
    /// Counts the runs made for the Workspace, from 1.
    #[schemars(range(min = 1))]
    pub sequence: i64,
    /// The generation that this run is if it starts.
    #[schemars(range(min = 1))]
    pub generation: i64,
    /// What the agent drives at: `Running`, then `Stopped`, then `Removed`; never back, though a step may be left out.
    pub desired: DesiredState,
    /// What runs, resolved: template merged, Secrets by reference into the run's own Secret.
    pub container: Container,
    /// What the container may use.
    pub resources: Option<Resources>,
    /// Restart policy as declared. Unset: the agent keeps the run up.
    pub restart_policy: Option<RestartPolicy>,
    /// The Volume to mount.
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["path".into()]))]
    pub mounts: Option<Vec<RunMount>>,
    /// The writable part of the root file system.
    #[serde(default)]
    pub writable_layer: WritableLayer,
    /// How the container is stopped.
    pub stop: Option<StopPolicy>,
    /// What removal does.
    pub deletion: Option<DeletionOptions>,
    /// The file whose content can change while the container runs.
    pub config_file: Option<RunConfigFile>,
    /// An image to pull ahead of the next run.
    pub prefetch: Option<Prefetch>,
    /// The run's own Secret in this namespace: environment by variable name, registry login at
    /// `.dockerconfigjson`.
    #[schemars(with = "Option<ObjectName>")]
    pub secret_name: Option<String>,
    /// Whether another host may take over: the run is then started and kept only under a fresh
    /// Lease.
    pub leased: Option<bool>,
    /// What the run before reported, so that its stopped container can be started again.
    pub previous: Option<PreviousContainer>,
    /// Versioned hash of this run in canonical form; a container that bears another is replaced.
    pub spec_hash: String,
}

/// What the agent drives a run at.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[schemars(transform = field_describes)]
pub enum DesiredState {
    /// Its container runs.
    Running,
    /// Its container does not run.
    Stopped,
    /// Its container is gone.
    Removed,
}

/// A Volume in a run.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunMount {
    /// The Volume.
    pub volume: VolumeRef,
    /// Volume driver of its pool.
    pub driver: String,
    /// Options of the driver.
    pub driver_options: Option<BTreeMap<String, String>>,
    /// Path in the container.
    #[schemars(with = "AbsolutePath")]
    pub path: String,
}

/// The config file of a run: its content is in a Secret named by its hash.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunConfigFile {
    /// The Secret in this namespace.
    #[schemars(with = "ObjectName")]
    pub secret_name: String,
    /// The key in its data.
    #[schemars(with = "DataKey")]
    pub key: String,
    /// SHA-256 of the content, in hexadecimal.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// Path in the container.
    #[schemars(with = "AbsolutePath")]
    pub path: String,
    /// Signal that the container gets when the content has changed.
    #[schemars(with = "Option<Signal>")]
    pub reload_signal: Option<String>,
}

/// An image to pull ahead of the next run.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prefetch {
    /// The image.
    #[schemars(with = "ImageReference")]
    pub image: String,
    /// The Secret in this namespace with the registry login.
    #[schemars(with = "Option<ObjectName>")]
    pub secret_name: Option<String>,
}

/// The container of the run before, as that run reported it.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviousContainer {
    /// Its full id.
    pub container_id: String,
    /// When it was last started, as the engine says. The same container with the same time has not
    /// yet been started for this run.
    pub started_at: Option<String>,
}

/// What the agent reports of a run.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceRunStatus {
    /// `Pending`, `Pulling`, `Creating`, `Running`, `Stopping`, `Exited`, `Failed`, `Removed` or
    /// `Unknown`.
    pub phase: Option<RunPhase>,
    /// Full id of the container.
    pub container_id: Option<String>,
    /// Name of the container.
    pub container_name: Option<String>,
    /// Id of the image on the engine.
    pub image_id: Option<String>,
    /// Digest of the image in the registry.
    pub image_digest: Option<String>,
    /// Exit code, once the container ended.
    pub exit_code: Option<i64>,
    /// Whether the container was killed for want of memory.
    pub oom_killed: Option<bool>,
    /// How often the container was started again.
    pub restarts: Option<i64>,
    /// When the container was started for this run; never cleared.
    #[schemars(with = "Option<Moment>")]
    pub started_at: Option<Time>,
    /// When the container was last started, to the letter as the engine says it: the next run's
    /// `previous.startedAt`.
    pub container_started_at: Option<String>,
    /// When the container ended.
    #[schemars(with = "Option<Moment>")]
    pub finished_at: Option<Time>,
    /// When what failed is tried again.
    #[schemars(with = "Option<Moment>")]
    pub next_retry_at: Option<Time>,
    /// Whether what runs inside answers, by the health check.
    pub guest: Option<Guest>,
    /// The container's addresses in its networks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<NetworkAddress>,
    /// The ports that are published on the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PublishedPort>,
    /// The last steps taken, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub steps: Vec<RunStep>,
    /// The `metadata.generation` that this status speaks of.
    pub observed_generation: Option<i64>,
    /// What is known of the run, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum RunPhase {
    /// Not begun.
    Pending,
    /// The image is being pulled.
    Pulling,
    /// The container is being made.
    Creating,
    /// The container runs.
    Running,
    /// The container is being stopped.
    Stopping,
    /// The container ended.
    Exited,
    /// The container could not be made or started, or ended in failure.
    Failed,
    /// The container is gone.
    Removed,
    /// The container cannot be seen.
    Unknown,
}

/// A step that the agent took.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunStep {
    /// What was done, e.g. `Pull`.
    pub name: String,
    /// How it went: `Started`, `Succeeded` or `Failed`.
    pub outcome: StepOutcome,
    /// When.
    #[schemars(with = "Moment")]
    pub at: Time,
    /// More, for a person.
    pub message: Option<String>,
}

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum StepOutcome {
    /// It is under way.
    Started,
    /// It is done.
    Succeeded,
    /// It failed.
    Failed,
}
