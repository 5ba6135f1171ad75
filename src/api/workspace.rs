//! Workspace: the long-lived environment a user declares.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, Time};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::container::Container;
use super::grammar::{
    AbsolutePath, DnsLabel, Duration, HostName, Moment, ObjectName, Protocol, Quantity,
    RawQuantity, Signal,
};
use super::names::{DEFAULT_CONFIG_PATH, DEFAULT_MOUNT_PATH};
use super::quantity_rules;
use super::reference::{KeyRef, LocalRef, RunRef};
use super::resources::Resources;
use super::selector::Selector;
use crate::api::field_describes;

/// What a user wants of a Workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "Workspace",
    namespaced,
    status = "WorkspaceStatus",
    shortname = "ws",
    category = "kibotos",
    doc = "An environment that runs in a Docker container on one of the hosts and keeps its identity and data while containers come and go.",
    selectable = ".status.phase",
    selectable = ".status.hostName",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(name = "Generation", type_ = "integer", json_path = ".status.runGeneration"),
    printcolumn(name = "Host", type_ = "string", json_path = ".status.hostName"),
    printcolumn(name = "Image", type_ = "string", json_path = ".status.image.name"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Reason", type_ = "string", priority = 1, json_path = ".status.conditions[?(@.type==\"Ready\")].reason"),
    printcolumn(name = "Power", type_ = "string", priority = 1, json_path = ".spec.powerState"),
    printcolumn(name = "Guest", type_ = "string", priority = 1, json_path = ".status.guest"),
    printcolumn(name = "Restarts", type_ = "integer", priority = 1, json_path = ".status.restarts"),
    printcolumn(name = "Template", type_ = "string", priority = 1, json_path = ".status.template.name"),
    printcolumn(name = "Revision", type_ = "string", priority = 1, json_path = ".status.template.revision"),
    printcolumn(name = "Volume", type_ = "string", priority = 1, json_path = ".status.volume.name"),
    printcolumn(name = "Container", type_ = "string", priority = 1, json_path = ".status.containerName"),
    printcolumn(name = "Expires", type_ = "string", priority = 1, json_path = ".status.expiresAt"),
    validation = Rule::new("self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')")
        .message("metadata.name must be a DNS label: at most 63 lower-case letters, digits and '-', with a letter or digit at both ends"),
)]
#[x_kube(
    validation = Rule::new("has(self.template) != (has(self.container) && has(self.container.image))")
        .message("set exactly one of template and container.image"),
    validation = Rule::new(
        "has(self.template) == has(oldSelf.template) && (!has(self.template) || self.template == oldSelf.template)")
        .message("template is immutable, and so is the choice between template and container.image: make a new Workspace")
        .field_path(".template"),
    validation = Rule::new(
        "self.volume.mode == 'None' || !has(self.container) || ![\
         (has(self.container.binds) ? self.container.binds.map(b, b.split(':').size() > 1 ? b.split(':')[1] : b) : []) \
         + (has(self.container.mounts) ? self.container.mounts.map(m, m.target) : []) \
         + (has(self.container.tmpfs) ? self.container.tmpfs.map(p, p) : [])].exists(l, self.volume.mountPath in l)")
        .message("volume.mountPath is also the path of a mount in container: set volume.mode None, or change one of the paths")
        .field_path(".volume.mountPath"),
    validation = Rule::new(
        "!has(self.configFile) || !has(self.container) || ![\
         (has(self.container.binds) ? self.container.binds.map(b, b.split(':').size() > 1 ? b.split(':')[1] : b) : []) \
         + (has(self.container.mounts) ? self.container.mounts.map(m, m.target) : []) \
         + (has(self.container.tmpfs) ? self.container.tmpfs.map(p, p) : [])].exists(l, self.configFile.path in l)")
        .message("configFile.path is also the path of a mount in container: change one of the paths")
        .field_path(".configFile.path"),
    validation = Rule::new(
        "!has(self.configFile) || self.volume.mode == 'None' || self.configFile.path != self.volume.mountPath")
        .message("configFile.path and volume.mountPath are one path: change one of them")
        .field_path(".configFile.path"),
    validation = Rule::new(
        "!has(self.placement) || self.placement.onHostLoss != 'Move' || self.writableLayer.retention == 'Discard'")
        .message("onHostLoss Move needs writableLayer.retention Discard: a writable layer cannot leave its host")
        .field_path(".placement.onHostLoss"),
    validation = Rule::new(
        "!has(self.container) || !(has(self.container.cpuPeriod) || has(self.container.cpuQuota)) \
         || !has(self.resources) || !has(self.resources.limits) || !has(self.resources.limits.cpu)")
        .message("resources.limits.cpu goes with neither container.cpuQuota nor container.cpuPeriod: set one or the other")
        .field_path(".resources.limits.cpu"),
    validation = Rule::new(
        "has(self.template) || !has(self.container) || !has(self.container.memorySwap) \
         || (has(self.resources) && has(self.resources.limits) && has(self.resources.limits.memory))")
        .message("container.memorySwap needs resources.limits.memory")
        .field_path(".container.memorySwap"),
    validation = Rule::new(
        "has(self.template) || !has(self.container) || !has(self.container.oomKillDisable) || !self.container.oomKillDisable \
         || (has(self.resources) && has(self.resources.limits) && has(self.resources.limits.memory))")
        .message("container.oomKillDisable needs resources.limits.memory: without a limit the whole host is at stake")
        .field_path(".container.oomKillDisable"),
    validation = Rule::new(
        format!("!has(self.container) || !has(self.container.memorySwap) || !has(self.resources) || !has(self.resources.limits) \
         || !has(self.resources.limits.memory) || string(self.container.memorySwap) == '-1' || {}",
         quantity_rules::no_less_than("self.container.memorySwap", "self.resources.limits.memory")))
        .message("container.memorySwap counts memory and swap together: it is below resources.limits.memory")
        .field_path(".container.memorySwap"),
)]
pub struct WorkspaceSpec {
    /// Whether the Workspace should run: `Running` (default) or `Stopped`. A stop keeps its data.
    #[serde(default)]
    pub power_state: PowerState,
    /// Any text; a new value ends the run and starts the next, as `kubectl rollout restart` does.
    pub restarted_at: Option<String>,
    /// The published image to run; this or `container.image`. Immutable.
    pub template: Option<TemplateRef>,
    /// What runs. Over a template: a field set here replaces the template's; `env`, `ports`,
    /// `mounts` and all maps are merged by their keys.
    pub container: Option<Container>,
    /// What the container may use, and what placement sets aside for it.
    pub resources: Option<Resources>,
    /// The writable part of the root file system.
    #[serde(default)]
    pub writable_layer: WritableLayer,
    /// Data that outlives containers.
    #[serde(default)]
    pub volume: WorkspaceVolume,
    /// One file in the container whose content can change while it runs.
    pub config_file: Option<ConfigFile>,
    /// When the Workspace ends by itself. Unset: never.
    pub lifetime: Option<Lifetime>,
    /// Where it may run. Unset: on any host that fits.
    pub placement: Option<Placement>,
    /// What a changed container spec does to a running Workspace: `Recreate` (default) pulls the
    /// image first, then replaces the container; `OnNextStart` waits for a stop.
    #[serde(default)]
    pub update: UpdatePolicy,
    /// How the container is stopped.
    pub stop: Option<StopPolicy>,
    /// What deletion does.
    pub deletion: Option<DeletionOptions>,
    /// Secrets of type `kubernetes.io/dockerconfigjson` with the logins of registries.
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub image_pull_secrets: Option<Vec<LocalRef>>,
}

/// Whether a Workspace should run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum PowerState {
    /// It should.
    #[default]
    Running,
    /// It should not.
    Stopped,
}

/// A published image.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateRef {
    /// Name of the Template.
    #[schemars(with = "DnsLabel")]
    pub name: String,
    /// The revision, e.g. `v3`. Unset: the Template's default when the Workspace is created, which
    /// then stays (`status.template.revision`).
    #[schemars(with = "Option<DnsLabel>")]
    pub revision: Option<String>,
}

/// The writable part of the root file system.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WritableLayer {
    /// Its size in bytes, e.g. `10Gi`, where the host's storage driver can bound it
    /// (StorageOpt.size). Unset: unbounded.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_bytes()).message(quantity_rules::WHOLE_BYTES_MESSAGE), validation = Rule::new(quantity_rules::positive())
        .message("must be above 0"))]
    pub size: Option<RawQuantity>,
    /// How long it is kept: `UntilRecreated` (default, as Docker does) keeps it over stop and
    /// start, which pins the Workspace to its host, and loses it when a change needs a new
    /// container; `Discard` starts every run afresh.
    #[serde(default)]
    pub retention: Retention,
}

/// How long a writable layer is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum Retention {
    /// As long as its container.
    #[default]
    UntilRecreated,
    /// For one run.
    Discard,
}

/// The Volume of a Workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("self.mode != 'Bind' || has(self.name)")
        .message("mode Bind needs the name of the Volume to bind").field_path(".name"),
    validation = Rule::new("self.mode != 'None' || !has(self.name)")
        .message("with mode None there is no Volume to name: leave name out").field_path(".name"),
    validation = Rule::new("self.mode == 'Create' || !has(self.size)")
        .message("size goes with mode Create only: a bound Volume has its own").field_path(".size"),
    validation = Rule::new("self.mode == 'Create' || !has(self.storagePool)")
        .message("storagePool goes with mode Create only: a bound Volume has its own").field_path(".storagePool"),
    validation = Rule::new(
        "self.mode != 'Create' || oldSelf.mode != 'Create' \
         || (has(self.size) == has(oldSelf.size) && (!has(self.size) || self.size == oldSelf.size))")
        .message("size is immutable while mode is Create: grow the Volume itself").field_path(".size"),
    validation = Rule::new(
        "self.mode != 'Create' || oldSelf.mode != 'Create' || (has(self.storagePool) == has(oldSelf.storagePool) \
         && (!has(self.storagePool) || self.storagePool == oldSelf.storagePool))")
        .message("storagePool is immutable while mode is Create").field_path(".storagePool"),
)]
pub struct WorkspaceVolume {
    /// `Create` (default) makes a Volume for this Workspace, `Bind` uses one that exists, `None`
    /// goes without. Can be changed while stopped; in force at the next start.
    #[serde(default)]
    pub mode: VolumeMode,
    /// Name of the Volume. Default with mode Create: the Workspace's name.
    #[schemars(with = "Option<DnsLabel>")]
    pub name: Option<String>,
    /// Size of the Volume to create, e.g. `10Gi`. Unset: unbounded. Immutable while mode is Create.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_bytes()).message(quantity_rules::WHOLE_BYTES_MESSAGE), validation = Rule::new(quantity_rules::positive())
        .message("must be above 0"))]
    pub size: Option<RawQuantity>,
    /// StoragePool of the Volume to create. Unset: `local`, the host's own disk. Immutable while
    /// mode is Create.
    #[schemars(with = "Option<ObjectName>")]
    pub storage_pool: Option<String>,
    /// Path in the container. Default `/data`.
    #[serde(default = "default_mount_path")]
    #[schemars(with = "AbsolutePath")]
    pub mount_path: String,
    /// What becomes of the Volume when the Workspace is deleted: `Delete` or `Retain`. Unset:
    /// Delete for a Volume this Workspace made, Retain for one it bound.
    pub deletion_policy: Option<DeletionPolicy>,
}

impl Default for WorkspaceVolume {
    fn default() -> Self {
        Self {
            mode: VolumeMode::default(),
            name: None,
            size: None,
            storage_pool: None,
            mount_path: default_mount_path(),
            deletion_policy: None,
        }
    }
}

fn default_mount_path() -> String {
    DEFAULT_MOUNT_PATH.to_owned()
}

/// How a Workspace comes by a Volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum VolumeMode {
    /// It is made.
    #[default]
    Create,
    /// It exists.
    Bind,
    /// There is none.
    None,
}

/// What becomes of a Volume when its Workspace is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum DeletionPolicy {
    /// It is deleted, with its data.
    Delete,
    /// It stays.
    Retain,
}

/// One file in the container whose content can change while it runs.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(
    "[has(self.content), has(self.configMapKeyRef), has(self.secretKeyRef)].filter(s, s).size() == 1")
    .message("set exactly one of content, configMapKeyRef and secretKeyRef"))]
pub struct ConfigFile {
    /// The content itself, at most 200 KiB; more goes into a ConfigMap.
    #[schemars(length(max = 204_800))]
    pub content: Option<String>,
    /// A key of a ConfigMap in the Workspace's namespace, at most 1 MiB. A change is in force at
    /// once.
    pub config_map_key_ref: Option<KeyRef>,
    /// A key of a Secret in the Workspace's namespace, at most 1 MiB. A change is in force at once.
    pub secret_key_ref: Option<KeyRef>,
    /// Path in the container. Default `/usr/local/etc/service.conf`.
    #[serde(default = "default_config_path")]
    #[schemars(with = "AbsolutePath")]
    pub path: String,
    /// Signal that the container gets when the content has changed, e.g. `SIGHUP`. Unset: none.
    #[schemars(with = "Option<Signal>")]
    pub reload_signal: Option<String>,
}

fn default_config_path() -> String {
    DEFAULT_CONFIG_PATH.to_owned()
}

/// When a Workspace ends by itself.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.expiresAt) != has(self.ttl)")
    .message("set exactly one of expiresAt and ttl"))]
pub struct Lifetime {
    /// The moment at which it ends, e.g. `2027-01-31T18:00:00Z`.
    #[schemars(with = "Option<Moment>")]
    pub expires_at: Option<String>,
    /// How long it lives, e.g. `8h`: counted from its creation, and anew whenever `ttl` or
    /// `restartedAt` changes.
    #[schemars(with = "Option<Duration>")]
    #[x_kube(validation = Rule::new("!self.matches('^(0|([0-9]+([.][0-9]*)?(ns|us|µs|μs|ms|s|m|h))+)$') || duration(self) > duration('0s')")
        .message("must be above 0"))]
    pub ttl: Option<String>,
    /// What happens then: `Stop` (default), after which it starts again once the moment is moved
    /// into the future, or `Delete`.
    #[serde(default)]
    pub on_expiry: OnExpiry,
}

/// What happens when a lifetime is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum OnExpiry {
    /// The Workspace is stopped.
    #[default]
    Stop,
    /// The Workspace is deleted.
    Delete,
}

/// Where a Workspace may run.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.hostName) || !has(self.hostSelector)")
    .message("set hostName or hostSelector, not both")
    .field_path(".hostSelector"))]
pub struct Placement {
    /// Name of the one Host it may run on.
    #[schemars(with = "Option<HostName>")]
    pub host_name: Option<String>,
    /// Labels of the Hosts it may run on. Unset: any.
    #[schemars(with = "Option<Selector>")]
    pub host_selector: Option<LabelSelector>,
    /// What happens when its host is lost: `Wait` (default) waits for the host, `Move` starts
    /// it on another once the host's Lease, the grace and the stop grace are over. A host that only
    /// lost its network may then still run the old container for a while. Move needs
    /// `writableLayer.retention: Discard`, and with a Volume on a shared pool the word of an admin
    /// that the host is down.
    #[serde(default)]
    pub on_host_loss: OnHostLoss,
}

/// What happens when a host is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum OnHostLoss {
    /// The Workspace waits for its host.
    #[default]
    Wait,
    /// The Workspace is started on another host.
    Move,
}

/// What a changed container spec does to a running Workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum UpdatePolicy {
    /// The container is replaced.
    #[default]
    Recreate,
    /// Nothing until the next start.
    OnNextStart,
}

/// How a container is stopped.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct StopPolicy {
    /// Time between the signal and SIGKILL, in whole seconds, e.g. `30s`. Default `10s`.
    #[schemars(with = "Option<Duration>")]
    #[x_kube(validation = Rule::new("!self.matches('^(0|([0-9]+([.][0-9]*)?(ns|us|µs|μs|ms|s|m|h))+)$') || self.matches('^([0-9]+[smh])+$')")
        .message("must be whole seconds, e.g. 30s or 1m30s"))]
    pub grace_period: Option<String>,
    /// Signal that asks the container to stop, e.g. `SIGINT`. Unset: the image's, or SIGTERM.
    #[schemars(with = "Option<Signal>")]
    pub signal: Option<String>,
}

/// What the deletion of a Workspace does.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletionOptions {
    /// Whether the container is killed at once, without the grace period. Default false.
    pub force: Option<bool>,
    /// Whether the container's volumes without a name go with it. Default true. Named volumes are
    /// never removed; the Volume follows `volume.deletionPolicy`.
    pub remove_volumes: Option<bool>,
}

/// What is known of a Workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceStatus {
    /// Where the Workspace is in its life: `Creating`, `Starting`, `Available`, `Stopping`,
    /// `Stopped`, `Failed`, `Unknown` or `Deleting`. For people; programs wait for conditions.
    pub phase: Option<WorkspacePhase>,
    /// How many times it was started with success.
    pub run_generation: Option<i64>,
    /// Whether what runs inside answers, by the health check: `Responding`, `Unresponsive` or
    /// `Unknown`.
    pub guest: Option<Guest>,
    /// The Host it is placed on.
    pub host_name: Option<String>,
    /// The run it claims.
    pub run: Option<RunRef>,
    /// Id of its container on the engine.
    pub container_id: Option<String>,
    /// Name of its container on the engine.
    pub container_name: Option<String>,
    /// The template that was resolved at its creation.
    pub template: Option<ResolvedTemplate>,
    /// The image that runs.
    pub image: Option<ResolvedImage>,
    /// The Volume it is bound to.
    pub volume: Option<BoundVolume>,
    /// When its lifetime is over.
    #[schemars(with = "Option<Moment>")]
    pub expires_at: Option<Time>,
    /// When the container was started.
    #[schemars(with = "Option<Moment>")]
    pub started_at: Option<Time>,
    /// When the container ended.
    #[schemars(with = "Option<Moment>")]
    pub finished_at: Option<Time>,
    /// Exit code of the container, once it ended.
    pub exit_code: Option<i64>,
    /// How often the container was started again within this generation.
    pub restarts: Option<i64>,
    /// When what failed is tried again.
    #[schemars(with = "Option<Moment>")]
    pub next_retry_at: Option<Time>,
    /// The container's addresses in its networks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<NetworkAddress>,
    /// The ports that are published on the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PublishedPort>,
    /// The `metadata.generation` that this status speaks of.
    pub observed_generation: Option<i64>,
    /// `Ready`, `Scheduled`, `ImagePulled`, `VolumeBound`, `ContainerRunning`, `SpecApplied`,
    /// `Reconciling` and `Stalled`. Ready says that the declared state is reached, also when that
    /// is Stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// Where a Workspace is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum WorkspacePhase {
    /// To run for the first time.
    Creating,
    /// To run again.
    Starting,
    /// Runs.
    Available,
    /// To stop; the container is not yet known to have ended.
    Stopping,
    /// Does not run, as declared or because it is complete.
    Stopped,
    /// Ended or could not start.
    Failed,
    /// Cannot be seen.
    Unknown,
    /// Is being deleted.
    Deleting,
}

/// Whether what runs inside answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum Guest {
    /// The health check succeeds.
    Responding,
    /// The health check fails.
    Unresponsive,
    /// There is no health check, or it has not spoken yet.
    #[default]
    Unknown,
}

/// The template that a Workspace was made from.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedTemplate {
    /// Name of the Template.
    pub name: String,
    /// The revision, also where the spec names none.
    pub revision: String,
    /// Digest of the image, as its first run found it.
    pub image_digest: Option<String>,
}

/// An image as named and as found.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedImage {
    /// Its name, with tag or digest.
    pub name: String,
    /// Its digest in the registry.
    pub digest: Option<String>,
}

/// The Volume that a Workspace is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoundVolume {
    /// Name of the Volume.
    pub name: String,
    /// Uid of the Volume.
    pub uid: String,
}

/// An address of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkAddress {
    /// Name of the network.
    pub network: String,
    /// The address in it.
    pub ip: String,
}

/// A port as the engine published it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishedPort {
    /// Port in the container.
    pub container_port: i32,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Protocol,
    /// Address of the host.
    #[serde(rename = "hostIP")]
    pub host_ip: String,
    /// Port of the host.
    pub host_port: i32,
}
