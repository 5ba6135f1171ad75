//! `container`: what runs. Kubernetes' names where Kubernetes has the field, Docker's in camelCase
//! where only Docker has it.
//!
//! Every list and map is optional, for over a Template "not said" and "said to be empty" differ. No
//! field has a schema default, for a Template may set any of them; the exception are the keys of
//! list-maps (`ports`).

mod blkio;
mod device;
mod env;
pub mod form;
mod health;
mod mount;
mod network;
mod port;

use std::collections::BTreeMap;

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

pub use blkio::{Blkio, DeviceRate, DeviceWeight};
pub use device::{Device, DeviceRequest};
pub use env::{EnvFromSource, EnvVar, EnvVarSource};
pub use health::Healthcheck;
pub use mount::{
    BindOptions, Consistency, DriverConfig, ImageOptions, Mount, MountType, Propagation,
    TmpfsOptions, VolumeOptions,
};
pub use network::{IpamConfig, NetworkAttachment};
pub use port::ContainerPort;

use super::grammar::{
    AbsolutePath, Bind, Capability, ContainerName, ImageReference, KernelParameter, Quantity,
    RawQuantity, WorkingDir,
};
use super::quantity_rules;
use crate::api::field_describes;

/// What runs in a Workspace, in the words of Kubernetes and Docker.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(
        "[(has(self.binds) ? self.binds.map(b, b.split(':').size() > 1 ? b.split(':')[1] : b) : []) \
         + (has(self.mounts) ? self.mounts.map(m, m.target) : []) \
         + (has(self.tmpfs) ? self.tmpfs.map(p, p) : [])].all(l, l.distinct().size() == l.size())")
        .message("two mounts have one path: a path may be used once over binds, mounts and tmpfs"),
    validation = Rule::new(
        "!has(self.networks) || self.networks.size() == 0 || !has(self.networkMode) \
         || !(self.networkMode in ['host', 'none'] || self.networkMode.startsWith('container:'))")
        .message("networks cannot be joined with networkMode host, none or container:…; leave one of the two out")
        .field_path(".networks"),
    validation = Rule::new("!has(self.macAddress) || !has(self.networkMode) || !(self.networkMode in ['host', 'none'])")
        .message("with networkMode host or none there is no address to set: leave macAddress out")
        .field_path(".macAddress"),
    validation = Rule::new(
        "!has(self.networks) || self.networks.size() == 0 || !has(self.networkMode) \
         || self.networkMode in ['', 'default', 'host', 'none'] || self.networkMode.startsWith('container:') \
         || self.networks.exists(n, n.name == self.networkMode)")
        .message("networkMode is not among networks: name it there too, or leave it out")
        .field_path(".networkMode"),
    validation = Rule::new(
        "!has(self.ports) || !has(self.networkMode) \
         || !(self.networkMode in ['host', 'none'] || self.networkMode.startsWith('container:')) \
         || self.ports.all(p, p.hostPort == 0 && !(has(p.publish) && p.publish))")
        .message("ports cannot be published with networkMode host, none or container:…; leave hostPort and publish out")
        .field_path(".ports"),
    validation = Rule::new(
        "!has(self.networkMode) || !self.networkMode.startsWith('container:') \
         || !(has(self.hostname) || has(self.dns) || has(self.dnsSearch) || has(self.dnsOptions) \
         || has(self.extraHosts) || has(self.macAddress) || (has(self.ports) && self.ports.size() > 0))")
        .message("with networkMode container:… the other container's network counts: leave out ports, hostname, dns, dnsSearch, dnsOptions, extraHosts and macAddress")
        .field_path(".networkMode"),
    validation = Rule::new("!has(self.utsMode) || self.utsMode != 'host' || !has(self.hostname) || self.hostname == ''")
        .message("with utsMode host the host's name counts: leave hostname out")
        .field_path(".hostname"),
    validation = Rule::new(
        "!has(self.env) || self.env.all(e, e.name != 'CONTAINER_NAME' \
         || (has(self.name) && has(e.value) && e.value == self.name))")
        .message("CONTAINER_NAME is reserved, it always holds the container's name: leave it out")
        .field_path(".env"),
)]
pub struct Container {
    /// Name of the container on its host; one name, one container on a host. Default:
    /// `<namespace>_<name>` of the Workspace. Also in the environment, as `CONTAINER_NAME`.
    #[schemars(with = "Option<ContainerName>")]
    pub name: Option<String>,
    /// Directory on the host for what belongs to the Workspace (its config file), under a prefix
    /// that the host's policy allows. Default: a directory of the agent's own.
    #[schemars(with = "Option<AbsolutePath>")]
    pub directory: Option<String>,
    /// The image, e.g. `nginx:1.27` or `registry.example.com:5000/team/app@sha256:…`. Without tag
    /// and digest it is `:latest`. In a Workspace either this or `template`.
    #[schemars(with = "Option<ImageReference>")]
    pub image: Option<String>,
    /// When to pull the image: `IfNotPresent` (default, also for `:latest`), `Always` or `Never`. A
    /// tag that moved in the registry takes `Always` and a new run.
    pub image_pull_policy: Option<ImagePullPolicy>,
    /// Replaces the image's entrypoint. Unset keeps it; `[]` clears it. `$(VAR)` is not expanded.
    pub command: Option<Vec<String>>,
    /// Replaces the image's arguments (Docker's Cmd). Unset keeps them. `$(VAR)` is not expanded.
    pub args: Option<Vec<String>>,
    /// Environment variables, by name. `$(VAR)` is not expanded.
    #[schemars(length(max = 1024))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub env: Option<Vec<EnvVar>>,
    /// Secrets and ConfigMaps whose every key becomes an environment variable. Of one name the last
    /// source counts, and `env` over all.
    #[schemars(length(max = 64))]
    pub env_from: Option<Vec<EnvFromSource>>,
    /// Labels of the container on the engine. Keys under `kibotos.dev/` are refused.
    #[schemars(extend("maxProperties" = 1024))]
    #[x_kube(validation = Rule::new("self.all(k, k != '' && !k.startsWith('kibotos.dev/'))")
        .message("a label key may be neither empty nor begin with kibotos.dev/"))]
    pub labels: Option<BTreeMap<String, String>>,
    /// Paths that get a volume without a name, which goes with the container.
    #[schemars(with = "Option<Vec<AbsolutePath>>", length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub anonymous_volumes: Option<Vec<String>>,
    /// User, and group if wanted, of the process: `1000`, `1000:1000`, `app`. Empty: the image's.
    pub user: Option<String>,
    /// Directory in which the process starts; an absolute path. Empty: the image's.
    #[schemars(with = "Option<WorkingDir>")]
    pub working_dir: Option<String>,
    /// The container's own host name, at most 64 characters. Empty: the engine's choice.
    #[schemars(length(max = 64))]
    #[x_kube(validation = Rule::new(form::HOSTNAME.rule()).message(form::HOSTNAME.message()))]
    pub hostname: Option<String>,
    /// The container's domain name, at most 64 characters.
    #[schemars(length(max = 64))]
    #[x_kube(validation = Rule::new(form::DOMAINNAME.rule()).message(form::DOMAINNAME.message()))]
    pub domainname: Option<String>,
    /// MAC address of the container on its first network, e.g. `02:42:ac:11:00:02`.
    #[schemars(length(max = 17))]
    #[x_kube(validation = Rule::new(form::MAC_ADDRESS.rule()).message(form::MAC_ADDRESS.message()))]
    pub mac_address: Option<String>,
    /// Whether the process gets a terminal.
    pub tty: Option<bool>,
    /// Whether the process's standard input is kept open.
    pub stdin: Option<bool>,
    /// Whether standard input is closed once the first who attached has gone.
    pub stdin_once: Option<bool>,

    /// Ports the container listens on, and where they are published on the host.
    #[schemars(length(max = 512))]
    #[x_kube(merge_strategy = ListMerge::Map(
        vec!["containerPort".into(), "protocol".into(), "hostIP".into(), "hostPort".into()]))]
    #[x_kube(validation = Rule::new(
        "[self.filter(p, has(p.name)).map(p, p.name)].all(l, l.distinct().size() == l.size())")
        .message("two ports have one name"))]
    #[x_kube(validation = Rule::new(
        "[self.filter(p, p.hostPort > 0).map(p, [dyn(p.hostIP), dyn(p.protocol), dyn(p.hostPort)])]\
         .all(l, l.distinct().size() == l.size())")
        .message("two ports are published on one host port of one address"))]
    pub ports: Option<Vec<ContainerPort>>,
    /// Whether the engine publishes every exposed port on a free port of the host.
    pub publish_all_ports: Option<bool>,
    /// Networks of the host's engine that the container joins. Which of them is its default route
    /// the engine decides, by `gwPriority` where it knows that. Unset: the network that
    /// `networkMode` names.
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub networks: Option<Vec<NetworkAttachment>>,
    /// `bridge`, `host`, `none`, `container:NAME` or a network's name. Unset: the engine's default.
    #[schemars(length(max = 255))]
    #[x_kube(validation = Rule::new(form::NETWORK_MODE.rule()).message(form::NETWORK_MODE.message()))]
    pub network_mode: Option<String>,
    /// DNS servers; IP addresses.
    #[schemars(length(max = 16), inner(length(max = 45)))]
    #[x_kube(validation = Rule::new("self.all(a, isIP(a))").message("must be IP addresses"))]
    pub dns: Option<Vec<String>>,
    /// DNS search domains; `.` is none.
    pub dns_search: Option<Vec<String>>,
    /// DNS resolver options, e.g. `ndots:2`.
    pub dns_options: Option<Vec<String>>,
    /// Entries for /etc/hosts, `NAME:IP` or `NAME:host-gateway`.
    #[schemars(length(max = 256), inner(length(max = 300)))]
    #[x_kube(validation = Rule::new(
        "self.all(h, h.matches('^[^:=[:space:]]+:.+$') \
         && (h.substring(h.indexOf(':') + 1) == 'host-gateway' || isIP(h.substring(h.indexOf(':') + 1))))")
        .message(form::EXTRA_HOST_MESSAGE))]
    pub extra_hosts: Option<Vec<String>>,

    /// Bind mounts in Docker's short form, `SOURCE:PATH[:OPTIONS]`. The source is an absolute path
    /// on the host, under a prefix that its policy allows, or the name of a volume. A source path
    /// that does not exist is not created but waited for.
    #[schemars(with = "Option<Vec<Bind>>", length(max = 64))]
    pub binds: Option<Vec<String>>,
    /// Mounts in Docker's long form, by target.
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["target".into()]))]
    pub mounts: Option<Vec<Mount>>,
    /// Paths held in memory, each with its options, e.g. `/run: rw,size=64m`; empty options are the
    /// engine's defaults.
    #[schemars(extend("maxProperties" = 64))]
    #[x_kube(validation = Rule::new(
        "self.all(p, p.size() <= 1024 && p.matches(r'^(/[^/:\\x00-\\x1f\\x7f-\\x{9f}]+)+$') && !p.matches('/[.][.]?(/|$)'))")
        .message("a path must be absolute, without '//', '.', '..', ':' or a '/' at its end, and not '/' itself"))]
    pub tmpfs: Option<BTreeMap<String, String>>,
    /// Whether the root file system is read-only.
    pub read_only_root_filesystem: Option<bool>,
    /// Size of /dev/shm in bytes, e.g. `128Mi`. Unset: the engine's default.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_bytes()).message(quantity_rules::WHOLE_BYTES_MESSAGE), validation = Rule::new(quantity_rules::positive())
        .message("must be above 0"))]
    pub shm_size: Option<RawQuantity>,

    /// How Docker asks whether the container is well.
    pub healthcheck: Option<Healthcheck>,
    /// What happens when the process ends. Unset: it is started again whatever its exit code, as
    /// Kubernetes does, with a delay that doubles from 1s to 5m.
    pub restart_policy: Option<RestartPolicy>,
    /// Whether an init process that forwards signals and reaps children is PID 1.
    pub init: Option<bool>,
    /// Where the engine puts the container's output.
    pub logging: Option<Logging>,

    /// Whether the container has all rights on its host. Host policy must allow it.
    pub privileged: Option<bool>,
    /// Capabilities to add, e.g. `NET_ADMIN` or `CAP_NET_ADMIN`; `ALL` for all.
    #[schemars(length(max = 64), with = "Option<Vec<Capability>>")]
    pub cap_add: Option<Vec<String>>,
    /// Capabilities to drop, e.g. `MKNOD`; `ALL` for all.
    #[schemars(length(max = 64), with = "Option<Vec<Capability>>")]
    pub cap_drop: Option<Vec<String>>,
    /// Security options: `no-new-privileges`, `seccomp=…` (a profile's content, or `unconfined`),
    /// `apparmor=…`, `label=…`.
    #[schemars(inner(regex(
        pattern = r"^(no-new-privileges([=:](true|false))?|(seccomp|apparmor|label)[=:][\s\S]+)$"
    )))]
    pub security_opt: Option<Vec<String>>,
    /// Further groups of the process, by name or number.
    pub group_add: Option<Vec<String>>,
    /// Kernel parameters of the container's own namespaces, e.g. `net.ipv4.ip_forward: "1"`.
    #[schemars(extend("maxProperties" = 256))]
    #[x_kube(validation = Rule::new(KernelParameter::keys_rule()).message(KernelParameter::MESSAGE))]
    pub sysctls: Option<BTreeMap<String, String>>,
    /// Limits of the process, by name.
    #[schemars(length(max = 15))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub ulimits: Option<Vec<Ulimit>>,
    /// Devices of the host that the container may use, by path in the container.
    #[schemars(length(max = 256))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["pathInContainer".into()]))]
    pub devices: Option<Vec<Device>>,
    /// Device rules in the kernel's form, e.g. `c 188:* rmw`.
    #[schemars(length(max = 256), inner(length(max = 64)))]
    #[x_kube(validation = Rule::new(form::DEVICE_RULE.rule_of_each()).message(form::DEVICE_RULE.message()))]
    pub device_cgroup_rules: Option<Vec<String>>,
    /// Devices asked of a driver, e.g. GPUs.
    #[schemars(length(max = 64))]
    pub device_requests: Option<Vec<DeviceRequest>>,

    /// IPC namespace: `private`, `shareable`, `host`, `none` or `container:NAME`.
    #[schemars(length(max = 255))]
    #[x_kube(validation = Rule::new(form::IPC_MODE.rule()).message(form::IPC_MODE.message()))]
    pub ipc_mode: Option<String>,
    /// PID namespace: `host` or `container:NAME`. Unset: the container's own.
    #[schemars(length(max = 255))]
    #[x_kube(validation = Rule::new(form::PID_MODE.rule()).message(form::PID_MODE.message()))]
    pub pid_mode: Option<String>,
    /// UTS namespace (host name): `host`. Unset: the container's own.
    pub uts_mode: Option<HostNamespaceMode>,
    /// User namespace: `host` where the engine remaps users. Unset: the engine's default.
    pub userns_mode: Option<HostNamespaceMode>,
    /// Cgroup namespace: `private` or `host`. Unset: the engine's default.
    pub cgroupns_mode: Option<CgroupnsMode>,
    /// The runtime, e.g. `runsc` or `kata`; the host must have it. Unset: the engine's default.
    pub runtime: Option<String>,
    /// Cgroup under which the container's is made.
    pub cgroup_parent: Option<String>,
    /// The platform whose variant of the image is wanted, e.g. `linux/arm64/v8`.
    #[schemars(length(max = 64))]
    #[x_kube(validation = Rule::new(form::PLATFORM.rule()).message(form::PLATFORM.message()))]
    pub platform: Option<String>,
    /// Annotations handed to the runtime.
    pub annotations: Option<BTreeMap<String, String>>,

    /// Memory and swap together in bytes, above `resources.limits.memory`; `-1` is no limit of swap.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_bytes()).message(quantity_rules::WHOLE_BYTES_MESSAGE), validation = Rule::new(quantity_rules::positive_or_minus_one())
        .message("must be above 0, or -1 for swap without limit"))]
    pub memory_swap: Option<RawQuantity>,
    /// How eagerly the kernel swaps, from 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    pub memory_swappiness: Option<i64>,
    /// Rank when the kernel kills for want of memory, from -1000 (last) to 1000 (first).
    #[schemars(range(min = -1000, max = 1000))]
    pub oom_score_adj: Option<i32>,
    /// Whether the kernel spares the container when memory is short.
    pub oom_kill_disable: Option<bool>,
    /// CPUs the container may run on, e.g. `0-2,4`.
    #[schemars(length(max = 1024))]
    #[x_kube(validation = Rule::new(form::CPUSET.rule()).message(form::CPUSET.message()))]
    pub cpuset_cpus: Option<String>,
    /// Memory nodes the container may use, e.g. `0,1`.
    #[schemars(length(max = 1024))]
    #[x_kube(validation = Rule::new(form::CPUSET.rule()).message(form::CPUSET.message()))]
    pub cpuset_mems: Option<String>,
    /// Period of the CPU quota in microseconds. `resources.limits.cpu` is the simpler form.
    #[schemars(range(min = 1000, max = 1_000_000))]
    pub cpu_period: Option<i64>,
    /// Microseconds of CPU time in each period. `resources.limits.cpu` is the simpler form.
    #[schemars(range(min = 1000))]
    pub cpu_quota: Option<i64>,
    /// Weights and limits of block devices.
    pub blkio: Option<Blkio>,
}

/// When an image is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = field_describes)]
pub enum ImagePullPolicy {
    /// Before every run.
    Always,
    /// When the host does not have it.
    IfNotPresent,
    /// Never: the host must have it.
    Never,
}

/// A namespace that is either the container's own or the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = field_describes)]
pub enum HostNamespaceMode {
    /// The host's.
    Host,
}

/// The container's cgroup namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = field_describes)]
pub enum CgroupnsMode {
    /// The container's own.
    Private,
    /// The host's.
    Host,
}

/// What happens when the process ends.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(
    "!has(self.maximumRetryCount) || self.maximumRetryCount == 0 || self.name == 'on-failure'")
    .message("maximumRetryCount goes with name on-failure only")
    .field_path(".maximumRetryCount"))]
pub struct RestartPolicy {
    /// `always`, `unless-stopped`, `on-failure` or `no`. In YAML `"no"` takes quotes.
    pub name: RestartPolicyName,
    /// How often `on-failure` tries; 0 is without end.
    #[schemars(range(min = 0))]
    pub maximum_retry_count: Option<i32>,
}

/// Docker's restart policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = field_describes)]
pub enum RestartPolicyName {
    /// Not started again.
    No,
    /// Started again whenever it ends.
    Always,
    /// As always, and not when the engine starts after a stop by hand.
    UnlessStopped,
    /// Started again when it ends with an exit code other than 0.
    OnFailure,
}

impl RestartPolicyName {
    /// As Docker writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Always => "always",
            Self::UnlessStopped => "unless-stopped",
            Self::OnFailure => "on-failure",
        }
    }
}

/// Where the engine puts the container's output (Docker's LogConfig).
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Logging {
    /// The log driver, e.g. `json-file`, `local`, `journald`. Unset: the engine's default.
    #[serde(rename = "type")]
    pub type_: Option<String>,
    /// The driver's options, e.g. `max-size: 10m`.
    pub config: Option<BTreeMap<String, String>>,
}

/// One limit of the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.hard == -1 || (self.soft != -1 && self.soft <= self.hard)")
    .message("soft is above hard")
    .field_path(".soft"))]
pub struct Ulimit {
    /// Which limit, e.g. `nofile`.
    pub name: UlimitName,
    /// What is in force at the start; -1 is no limit.
    #[schemars(range(min = -1))]
    pub soft: i64,
    /// How far the process may raise it; -1 is no limit.
    #[schemars(range(min = -1))]
    pub hard: i64,
}

/// The limits a process has.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names of setrlimit(2), which documents them")]
#[schemars(transform = field_describes)]
pub enum UlimitName {
    Core,
    Cpu,
    Data,
    Fsize,
    Locks,
    Memlock,
    Msgqueue,
    Nice,
    Nofile,
    Nproc,
    Rss,
    Rtprio,
    Rttime,
    Sigpending,
    Stack,
}

impl UlimitName {
    /// As Docker writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Cpu => "cpu",
            Self::Data => "data",
            Self::Fsize => "fsize",
            Self::Locks => "locks",
            Self::Memlock => "memlock",
            Self::Msgqueue => "msgqueue",
            Self::Nice => "nice",
            Self::Nofile => "nofile",
            Self::Nproc => "nproc",
            Self::Rss => "rss",
            Self::Rtprio => "rtprio",
            Self::Rttime => "rttime",
            Self::Sigpending => "sigpending",
            Self::Stack => "stack",
        }
    }
}
