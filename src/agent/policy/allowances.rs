//! What a host allows, by namespace: the document that an admin writes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::device::DeviceAllowance;
use super::driver::{Runtime, VolumeDriver};
use super::entry::{or_empty, truth};
use super::path::{BindPrefix, Cgroup, HostPath};
use super::pattern::{NetworkPattern, Pattern, SysctlPattern, VolumePattern};
use super::port::HostPorts;
use super::right::{Capability, SecurityAllowance};
use crate::api::grammar::DnsLabel;

/// The whole policy of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HostPolicy {
    /// For every namespace that has no entry of its own.
    #[serde(deserialize_with = "or_empty")]
    pub default: Allowances,
    /// By namespace of the Workspace. An entry stands in place of `default`, it adds nothing to it:
    /// so a namespace can also be given less.
    #[serde(deserialize_with = "or_empty")]
    pub namespaces: Namespaces,
}

/// Allowances by namespace; one that is left empty allows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "BTreeMap<DnsLabel, Option<Allowances>>")]
pub struct Namespaces(BTreeMap<String, Allowances>);

impl From<BTreeMap<DnsLabel, Option<Allowances>>> for Namespaces {
    fn from(map: BTreeMap<DnsLabel, Option<Allowances>>) -> Self {
        let entry = |(name, allowances): (DnsLabel, Option<_>)| {
            (name.as_str().to_owned(), allowances.unwrap_or_default())
        };
        Self(map.into_iter().map(entry).collect())
    }
}

/// What a container may have of its host, beyond what every container has. Nothing by default.
///
/// `agent.yaml` as it is delivered explains each to an admin.
#[serde_with::apply(
    Vec => #[serde(deserialize_with = "or_empty")],
    bool => #[serde(deserialize_with = "truth")],
)]
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Allowances {
    /// All rights on the host.
    pub privileged: bool,
    /// Namespaces of the host.
    pub host_namespaces: Vec<HostNamespace>,
    /// Containers whose network, PID or IPC namespace may be joined.
    pub join_containers: Vec<Pattern>,
    /// Directories that may be bound, with all below.
    pub bind_prefixes: Vec<BindPrefix>,
    /// The sockets of the host's engines, and directories that hold them.
    pub docker_socket: bool,
    /// Where `container.directory` may be.
    pub directory_prefixes: Vec<HostPath>,
    /// Devices, by path or by number.
    pub devices: Vec<DeviceAllowance>,
    /// Device drivers, or capabilities of devices.
    pub device_requests: Vec<Pattern>,
    /// Capabilities beyond Docker's default ones.
    pub capabilities: Vec<Capability>,
    /// Kernel parameters.
    pub sysctls: Vec<SysctlPattern>,
    /// Security options that loosen.
    pub security_opts: Vec<SecurityAllowance>,
    /// Runtimes that may be named.
    pub runtimes: Vec<Runtime>,
    /// Volume drivers that may be given options, or be other than `local`.
    pub volume_driver_options: Vec<VolumeDriver>,
    /// Volumes that may be mounted by name.
    pub named_volumes: Vec<VolumePattern>,
    /// Networks beside the engine's default one.
    pub networks: Vec<NetworkPattern>,
    /// Log drivers beside those that keep the output on the host.
    pub log_drivers: Vec<Pattern>,
    /// Ports of the host that may be published.
    pub host_ports: Vec<HostPorts>,
    /// Cgroups under which a container's may be made.
    pub cgroup_parents: Vec<Cgroup>,
}

/// A namespace of the host that a container may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HostNamespace {
    /// `networkMode: host`.
    Network,
    /// `pidMode: host`.
    Pid,
    /// `ipcMode: host`.
    Ipc,
    /// `utsMode: host`.
    Uts,
    /// `usernsMode: host`.
    User,
    /// `cgroupnsMode: host`.
    Cgroup,
}

impl HostNamespace {
    /// As an admin writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Pid => "pid",
            Self::Ipc => "ipc",
            Self::Uts => "uts",
            Self::User => "user",
            Self::Cgroup => "cgroup",
        }
    }
}

/// The allowances that hold for one Workspace, and where an admin finds them.
#[derive(Clone, Debug)]
pub struct Governing<'a> {
    /// What is allowed.
    pub allowances: &'a Allowances,
    namespace: &'a str,
    own: bool,
}

impl HostPolicy {
    /// What holds for the Workspaces of a namespace.
    pub fn governing<'a>(&'a self, namespace: &'a str) -> Governing<'a> {
        let own = self.namespaces.0.get(namespace);
        Governing { allowances: own.unwrap_or(&self.default), namespace, own: own.is_some() }
    }
}

impl Governing<'_> {
    /// Where an admin writes what is to be allowed under `key`.
    pub fn place(&self, key: &str) -> String {
        let namespace = self.namespace;
        if self.own {
            format!("policy.namespaces.{namespace}.{key} in agent.yaml on the host")
        } else {
            format!(
                "policy.default.{key} in agent.yaml on the host, or in an entry \
                 policy.namespaces.{namespace} that stands in place of the default"
            )
        }
    }
}

impl Allowances {
    /// These, with their directories also where `resolve` says that they lead to: an admin may name a
    /// directory by a symbolic link, and binds are judged by what they resolve to.
    #[must_use]
    pub fn resolved(mut self, resolve: impl Fn(&str) -> Option<String>) -> Self {
        let to = |path: &HostPath| resolve(path.as_str())?.parse::<HostPath>().ok();
        let prefixes = self.bind_prefixes.clone().into_iter();
        self.bind_prefixes
            .extend(prefixes.filter_map(|p| Some(BindPrefix { path: to(&p.path)?, ..p })));
        let directories: Vec<_> = self.directory_prefixes.iter().filter_map(to).collect();
        self.directory_prefixes.extend(directories);
        self
    }

    /// These, and each device that an entry allows by the link that was asked for, also by the path
    /// that the link leads to: an admin names a device by a link that stays the same
    /// (`/dev/serial/by-id/*`). For links in directories that the host alone writes.
    #[must_use]
    pub fn with_device_links(mut self, links: &[(HostPath, HostPath)]) -> Self {
        let entries = self.devices.iter();
        let led: Vec<_> = entries
            .flat_map(|entry| links.iter().filter_map(|(link, to)| entry.led(link, to)))
            .collect();
        self.devices.extend(led);
        self
    }
}

#[cfg(test)]
impl Allowances {
    /// Everything that either allows, for tests.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        fn both<T>(mut a: Vec<T>, b: Vec<T>) -> Vec<T> {
            a.extend(b);
            a
        }
        Self {
            privileged: self.privileged || other.privileged,
            host_namespaces: both(self.host_namespaces, other.host_namespaces),
            join_containers: both(self.join_containers, other.join_containers),
            bind_prefixes: both(self.bind_prefixes, other.bind_prefixes),
            docker_socket: self.docker_socket || other.docker_socket,
            directory_prefixes: both(self.directory_prefixes, other.directory_prefixes),
            devices: both(self.devices, other.devices),
            device_requests: both(self.device_requests, other.device_requests),
            capabilities: both(self.capabilities, other.capabilities),
            sysctls: both(self.sysctls, other.sysctls),
            security_opts: both(self.security_opts, other.security_opts),
            runtimes: both(self.runtimes, other.runtimes),
            volume_driver_options: both(self.volume_driver_options, other.volume_driver_options),
            named_volumes: both(self.named_volumes, other.named_volumes),
            networks: both(self.networks, other.networks),
            log_drivers: both(self.log_drivers, other.log_drivers),
            host_ports: both(self.host_ports, other.host_ports),
            cgroup_parents: both(self.cgroup_parents, other.cgroup_parents),
        }
    }
}
