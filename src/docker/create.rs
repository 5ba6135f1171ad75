//! The body of `POST /containers/create`, with the members that a Workspace can say.
//!
//! The names are Docker's (`docs.docker.com/reference/api/engine`). A member that is `None` or
//! `false` is left out; what is always sent, even if empty, is not optional here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// An object without members: Docker's way to write a set is a map to these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}

/// The whole body.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct CreateBody {
    pub image: String,
    pub cmd: Option<Vec<String>>,
    pub entrypoint: Option<Vec<String>>,
    pub env: Vec<String>,
    pub labels: BTreeMap<String, String>,
    pub volumes: BTreeMap<String, Empty>,
    pub user: String,
    pub working_dir: String,
    pub hostname: String,
    pub domainname: Option<String>,
    pub exposed_ports: BTreeMap<String, Empty>,
    #[serde(skip_serializing_if = "is_false")]
    pub tty: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub open_stdin: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub stdin_once: bool,
    pub mac_address: Option<String>,
    pub stop_signal: Option<String>,
    pub stop_timeout: Option<i64>,
    pub healthcheck: Health,
    pub networking_config: NetworkingConfig,
    pub host_config: HostConfig,
}

/// How the engine asks whether a container is well; times in nanoseconds.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Health {
    pub test: Option<Vec<String>>,
    pub interval: Option<i64>,
    pub timeout: Option<i64>,
    pub start_period: Option<i64>,
    pub start_interval: Option<i64>,
    pub retries: Option<i64>,
}

/// The networks that a container joins when it is created.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct NetworkingConfig {
    pub endpoints_config: Option<BTreeMap<String, EndpointSettings>>,
}

/// One network of a container.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct EndpointSettings {
    #[serde(rename = "IPAMConfig")]
    pub ipam_config: Option<EndpointIpam>,
    pub links: Option<Vec<String>>,
    pub aliases: Option<Vec<String>>,
    pub mac_address: Option<String>,
    pub driver_opts: Option<BTreeMap<String, String>>,
    pub gw_priority: Option<i64>,
}

/// Fixed addresses in a network.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct EndpointIpam {
    #[serde(rename = "IPv4Address")]
    pub ipv4_address: Option<String>,
    #[serde(rename = "IPv6Address")]
    pub ipv6_address: Option<String>,
    #[serde(rename = "LinkLocalIPs")]
    pub link_local_ips: Option<Vec<String>>,
}

/// What a container has of its host.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct HostConfig {
    pub binds: Option<Vec<String>>,
    pub mounts: Option<Vec<Mount>>,
    pub tmpfs: Option<BTreeMap<String, String>>,
    pub network_mode: Option<String>,
    pub port_bindings: Option<BTreeMap<String, Vec<PortBinding>>>,
    #[serde(skip_serializing_if = "is_false")]
    pub publish_all_ports: bool,
    pub restart_policy: Option<RestartPolicy>,
    #[serde(skip_serializing_if = "is_false")]
    pub privileged: bool,
    pub cap_add: Option<Vec<String>>,
    pub cap_drop: Option<Vec<String>>,
    pub security_opt: Option<Vec<String>>,
    pub group_add: Option<Vec<String>>,
    #[serde(skip_serializing_if = "is_false")]
    pub readonly_rootfs: bool,
    pub devices: Option<Vec<DeviceMapping>>,
    pub device_cgroup_rules: Option<Vec<String>>,
    pub device_requests: Option<Vec<DeviceRequest>>,
    pub ulimits: Option<Vec<Ulimit>>,
    pub sysctls: Option<BTreeMap<String, String>>,
    pub extra_hosts: Option<Vec<String>>,
    pub dns: Option<Vec<String>>,
    pub dns_search: Option<Vec<String>>,
    pub dns_options: Option<Vec<String>>,
    pub ipc_mode: Option<String>,
    pub pid_mode: Option<String>,
    #[serde(rename = "UTSMode")]
    pub uts_mode: Option<String>,
    pub userns_mode: Option<String>,
    pub cgroupns_mode: Option<String>,
    pub cgroup_parent: Option<String>,
    pub runtime: Option<String>,
    pub init: Option<bool>,
    pub log_config: Option<LogConfig>,
    pub annotations: Option<BTreeMap<String, String>>,
    pub storage_opt: Option<BTreeMap<String, String>>,
    pub shm_size: Option<i64>,
    pub memory: Option<i64>,
    pub memory_reservation: Option<i64>,
    pub memory_swap: Option<i64>,
    pub memory_swappiness: Option<i64>,
    pub oom_score_adj: Option<i64>,
    pub oom_kill_disable: Option<bool>,
    pub nano_cpus: Option<i64>,
    pub cpu_shares: Option<i64>,
    pub cpu_period: Option<i64>,
    pub cpu_quota: Option<i64>,
    pub cpuset_cpus: Option<String>,
    pub cpuset_mems: Option<String>,
    pub pids_limit: Option<i64>,
    pub blkio_weight: Option<i64>,
    pub blkio_weight_device: Option<Vec<WeightDevice>>,
    pub blkio_device_read_bps: Option<Vec<ThrottleDevice>>,
    pub blkio_device_write_bps: Option<Vec<ThrottleDevice>>,
    #[serde(rename = "BlkioDeviceReadIOps")]
    pub blkio_device_read_iops: Option<Vec<ThrottleDevice>>,
    #[serde(rename = "BlkioDeviceWriteIOps")]
    pub blkio_device_write_iops: Option<Vec<ThrottleDevice>>,
}

/// Where a port is published.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct PortBinding {
    pub host_ip: String,
    pub host_port: String,
}

/// What the engine does when the process ends.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct RestartPolicy {
    pub name: String,
    pub maximum_retry_count: Option<i64>,
}

/// A mount in the long form.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Mount {
    #[serde(rename = "Type")]
    pub type_: String,
    pub source: Option<String>,
    pub target: String,
    pub read_only: Option<bool>,
    pub consistency: Option<String>,
    pub bind_options: Option<BindOptions>,
    pub volume_options: Option<VolumeOptions>,
    pub image_options: Option<ImageOptions>,
    pub tmpfs_options: Option<TmpfsOptions>,
}

/// Options of a bind mount.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct BindOptions {
    pub propagation: Option<String>,
    pub non_recursive: Option<bool>,
    pub create_mountpoint: Option<bool>,
    pub read_only_non_recursive: Option<bool>,
    pub read_only_force_recursive: Option<bool>,
}

/// Options of a volume mount.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct VolumeOptions {
    pub no_copy: Option<bool>,
    pub labels: Option<BTreeMap<String, String>>,
    pub driver_config: Option<DriverConfig>,
    pub subpath: Option<String>,
}

/// The driver that creates a volume.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct DriverConfig {
    pub name: Option<String>,
    pub options: Option<BTreeMap<String, String>>,
}

/// Options of an image mount.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct ImageOptions {
    pub subpath: Option<String>,
}

/// Options of a tmpfs mount.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct TmpfsOptions {
    pub size_bytes: Option<i64>,
    pub mode: Option<i64>,
    pub options: Option<Vec<Vec<String>>>,
}

/// A device of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct DeviceMapping {
    pub path_on_host: String,
    pub path_in_container: String,
    pub cgroup_permissions: String,
}

/// Devices asked of a driver.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct DeviceRequest {
    pub driver: Option<String>,
    pub count: Option<i64>,
    #[serde(rename = "DeviceIDs")]
    pub device_ids: Option<Vec<String>>,
    pub capabilities: Option<Vec<Vec<String>>>,
    pub options: Option<BTreeMap<String, String>>,
}

/// A limit of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Ulimit {
    pub name: String,
    pub soft: i64,
    pub hard: i64,
}

/// Where the output goes.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct LogConfig {
    #[serde(rename = "Type")]
    pub type_: Option<String>,
    pub config: Option<BTreeMap<String, String>>,
}

/// The weight on a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct WeightDevice {
    pub path: String,
    pub weight: i64,
}

/// A limit on a block device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct ThrottleDevice {
    pub path: String,
    pub rate: i64,
}
