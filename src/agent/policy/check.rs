//! Judges a whole create body, member by member.

use super::allowances::{Governing, HostNamespace};
use super::path::HostPath;
use super::refusal::Refusals;
use super::{mounts, networks, rights};
use crate::agent::container::{CONFIG_FILE, Create, directory};
use crate::api::WorkspaceRunSpec;
use crate::api::field_error::FieldError;
use crate::api::names::engine_volume;
use crate::docker::{CreateBody, HostConfig, Mount, NetworkingConfig};

/// What the body was made from, to name fields as their user does and to know our own part.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The run.
    pub run: &'a WorkspaceRunSpec,
    /// The agent's root.
    pub root: &'a str,
    /// Sockets of the host's engine as the agent is told of them, beside those that engines have
    /// everywhere.
    pub sockets: &'a [HostPath],
}

impl Context<'_> {
    /// The bind of the config file.
    pub(in crate::agent) fn own_bind(&self) -> Option<String> {
        let config = self.run.config_file.as_ref()?;
        Some(format!("{}/{CONFIG_FILE}:{}", directory(self.run, self.root), config.path))
    }

    /// The mounts of the Workspace's Volume.
    pub(super) fn own_mounts(&self) -> Vec<Mount> {
        let list = self.run.mounts.iter().flatten();
        list.map(|mount| Mount {
            type_: "volume".to_owned(),
            source: Some(engine_volume(&mount.volume.uid)),
            target: mount.path.clone(),
            ..Mount::default()
        })
        .collect()
    }
}

/// All that the host does not allow of a container, by the field that asks for it.
///
/// Symbolic links are not followed, for the policy reads no disk. So the agent asks twice: at once,
/// and at mount time with a body in which the sources of binds and devices are what they resolve
/// to, which is the body that it then sends. The second answer also knows a link to an engine's
/// socket. [`Allowances::resolved`](super::Allowances::resolved) does the same for prefixes.
pub fn check(create: &Create, context: &Context<'_>, governing: &Governing<'_>) -> Vec<FieldError> {
    let mut refusals = Refusals::new(governing);
    container_directory(context, &mut refusals);
    mounts::volumes(context, &mut refusals);
    let Create { name: _, platform: _, body, connect } = create;
    for (name, settings) in connect {
        networks::endpoint(name, settings, context, &mut refusals);
    }
    whole(body, context, &mut refusals);
    refusals.into_found()
}

/// What the host does not allow of `container.directory` alone, for who makes it ahead of the body.
pub fn check_directory(context: &Context<'_>, governing: &Governing<'_>) -> Vec<FieldError> {
    let mut refusals = Refusals::new(governing);
    container_directory(context, &mut refusals);
    refusals.into_found()
}

fn container_directory(context: &Context<'_>, refusals: &mut Refusals<'_>) {
    let said = context.run.container.directory.as_deref();
    let Some(directory) = said.filter(|directory| !directory.is_empty()) else { return };
    let at = "spec.container.directory";
    let path = match directory.parse::<HostPath>() {
        Ok(path) => path,
        Err(fault) => return refusals.never(at, &fault.to_string()),
    };
    if path.is_root() || path.is_through_a_process() {
        return refusals.never(at, "write a directory of the Workspace's own");
    }
    let allowances = refusals.allowances();
    if path.reaches_engine(context.sockets) {
        let what = format!("{path}, which is or holds the socket of an engine,");
        refusals.need(allowances.docker_socket, at, &what, "dockerSocket");
    }
    let allowed = allowances.directory_prefixes.iter().any(|prefix| path.is_in(prefix));
    refusals.need(allowed, at, path.as_str(), "directoryPrefixes");
}

fn whole(body: &CreateBody, context: &Context<'_>, refusals: &mut Refusals<'_>) {
    // No `..`: what a new member reaches must be thought of here.
    let CreateBody {
        image: _,
        cmd: _,
        entrypoint: _,
        env: _,
        labels: _,
        // Each is a volume without a name, whatever its text.
        volumes: _,
        user: _,
        working_dir: _,
        hostname: _,
        domainname: _,
        // Exposed is not published.
        exposed_ports: _,
        tty: _,
        open_stdin: _,
        stdin_once: _,
        mac_address: _,
        stop_signal: _,
        stop_timeout: _,
        healthcheck: _,
        networking_config: NetworkingConfig { endpoints_config },
        host_config,
    } = body;
    for (name, settings) in endpoints_config.iter().flatten() {
        networks::endpoint(name, settings, context, refusals);
    }
    host(host_config, context, refusals);
}

fn host(host: &HostConfig, context: &Context<'_>, refusals: &mut Refusals<'_>) {
    // No `..`: as above.
    let HostConfig {
        binds,
        mounts,
        network_mode,
        port_bindings,
        publish_all_ports,
        privileged,
        cap_add,
        security_opt,
        devices,
        device_cgroup_rules,
        device_requests,
        ulimits,
        sysctls,
        // Judged together.
        ipc_mode: _,
        pid_mode: _,
        uts_mode: _,
        userns_mode: _,
        cgroupns_mode: _,
        cgroup_parent,
        runtime,
        log_config,
        annotations,
        storage_opt,
        oom_score_adj,
        oom_kill_disable,
        // Take from the container only.
        cap_drop: _,
        readonly_rootfs: _,
        // Memory, and the container's own file systems.
        tmpfs: _,
        shm_size: _,
        // Groups in the container; on the host they count only for what is mounted.
        group_add: _,
        // Names and addresses as the container sees them.
        extra_hosts: _,
        dns: _,
        dns_search: _,
        dns_options: _,
        init: _,
        restart_policy: _,
        // Limits on the container itself, also those by block device.
        memory: _,
        memory_reservation: _,
        memory_swap: _,
        memory_swappiness: _,
        nano_cpus: _,
        cpu_shares: _,
        cpu_period: _,
        cpu_quota: _,
        cpuset_cpus: _,
        cpuset_mems: _,
        pids_limit: _,
        blkio_weight: _,
        blkio_weight_device: _,
        blkio_device_read_bps: _,
        blkio_device_write_bps: _,
        blkio_device_read_iops: _,
        blkio_device_write_iops: _,
    } = host;
    namespaces(host, refusals);
    mounts::binds(binds.as_deref().unwrap_or_default(), context, refusals);
    mounts::mounts(mounts.as_deref().unwrap_or_default(), context, refusals);
    networks::mode(network_mode.as_deref().unwrap_or_default(), refusals);
    for (key, bindings) in port_bindings.iter().flatten() {
        networks::published(key, bindings, context, refusals);
    }
    if *publish_all_ports {
        networks::publish_all(refusals);
    }
    if *privileged {
        let allowed = refusals.allowances().privileged;
        refusals.need(allowed, "spec.container.privileged", "it", "privileged");
    }
    rights::capabilities(cap_add.as_deref().unwrap_or_default(), refusals);
    rights::security_options(security_opt.as_deref().unwrap_or_default(), refusals);
    rights::devices(devices.as_deref().unwrap_or_default(), refusals);
    rights::device_rules(device_cgroup_rules.as_deref().unwrap_or_default(), refusals);
    rights::device_requests(device_requests.as_deref().unwrap_or_default(), refusals);
    rights::ulimits(ulimits.as_deref().unwrap_or_default(), refusals);
    rights::sysctls(&sysctls.clone().unwrap_or_default(), refusals);
    if let Some(parent) = cgroup_parent.as_deref().filter(|parent| !parent.is_empty()) {
        rights::cgroup_parent(parent, refusals);
    }
    rights::runtime(runtime.as_deref(), &annotations.clone().unwrap_or_default(), refusals);
    if let Some(config) = log_config {
        rights::logging(config, refusals);
    }
    if storage_opt.iter().flatten().any(|(key, _)| key != "size") {
        refusals.never("spec.writableLayer", "size is the one option of a container's storage");
    }
    if oom_score_adj.is_some_and(|score| score < 0) {
        rights::as_with("SYS_RESOURCE", "spec.container.oomScoreAdj", refusals);
    }
    if *oom_kill_disable == Some(true) {
        rights::as_with("SYS_RESOURCE", "spec.container.oomKillDisable", refusals);
    }
}

fn namespaces(host: &HostConfig, refusals: &mut Refusals<'_>) {
    let ipc = ["private", "shareable", "none"];
    for (field, mode, own, of_host) in [
        ("ipcMode", &host.ipc_mode, ipc.as_slice(), HostNamespace::Ipc),
        ("pidMode", &host.pid_mode, &[], HostNamespace::Pid),
        ("utsMode", &host.uts_mode, &[], HostNamespace::Uts),
        ("usernsMode", &host.userns_mode, &[], HostNamespace::User),
        ("cgroupnsMode", &host.cgroupns_mode, &["private"], HostNamespace::Cgroup),
    ] {
        rights::namespace(field, mode.as_deref().unwrap_or_default(), own, of_host, refusals);
    }
}
