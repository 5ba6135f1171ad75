//! A Workspace's `container` and `resources` over those of its template. Pure.
//!
//! What the Workspace sets replaces what the template sets; `env`, `ports`, `mounts` and all maps
//! are merged by their keys. What the template alone sets stays, in its place.

use std::collections::BTreeMap;

use crate::api::Container;
use crate::api::container::ContainerPort;
use crate::api::resources::{ResourceLimits, ResourceRequests, Resources};

/// `over` on top of `base`.
#[allow(clippy::too_many_lines, reason = "one line a field: a field left out does not compile")]
pub fn container(base: &Container, over: &Container) -> Container {
    // Without `..`, so that a new field cannot be forgotten here.
    let Container {
        name,
        directory,
        image,
        image_pull_policy,
        command,
        args,
        env,
        env_from,
        labels,
        anonymous_volumes,
        user,
        working_dir,
        hostname,
        domainname,
        mac_address,
        tty,
        stdin,
        stdin_once,
        ports,
        publish_all_ports,
        networks,
        network_mode,
        dns,
        dns_search,
        dns_options,
        extra_hosts,
        binds,
        mounts,
        tmpfs,
        read_only_root_filesystem,
        shm_size,
        healthcheck,
        restart_policy,
        init,
        logging,
        privileged,
        cap_add,
        cap_drop,
        security_opt,
        group_add,
        sysctls,
        ulimits,
        devices,
        device_cgroup_rules,
        device_requests,
        ipc_mode,
        pid_mode,
        uts_mode,
        userns_mode,
        cgroupns_mode,
        runtime,
        cgroup_parent,
        platform,
        annotations,
        memory_swap,
        memory_swappiness,
        oom_score_adj,
        oom_kill_disable,
        cpuset_cpus,
        cpuset_mems,
        cpu_period,
        cpu_quota,
        blkio,
    } = over.clone();
    let base = base.clone();
    Container {
        name: name.or(base.name),
        directory: directory.or(base.directory),
        image: image.or(base.image),
        image_pull_policy: image_pull_policy.or(base.image_pull_policy),
        command: command.or(base.command),
        args: args.or(base.args),
        env: by_key(base.env, env, |variable| variable.name.clone()),
        env_from: env_from.or(base.env_from),
        labels: by_name(base.labels, labels),
        anonymous_volumes: anonymous_volumes.or(base.anonymous_volumes),
        user: user.or(base.user),
        working_dir: working_dir.or(base.working_dir),
        hostname: hostname.or(base.hostname),
        domainname: domainname.or(base.domainname),
        mac_address: mac_address.or(base.mac_address),
        tty: tty.or(base.tty),
        stdin: stdin.or(base.stdin),
        stdin_once: stdin_once.or(base.stdin_once),
        ports: by_key(base.ports, ports, port_key),
        publish_all_ports: publish_all_ports.or(base.publish_all_ports),
        networks: networks.or(base.networks),
        network_mode: network_mode.or(base.network_mode),
        dns: dns.or(base.dns),
        dns_search: dns_search.or(base.dns_search),
        dns_options: dns_options.or(base.dns_options),
        extra_hosts: extra_hosts.or(base.extra_hosts),
        binds: binds.or(base.binds),
        mounts: by_key(base.mounts, mounts, |mount| mount.target.clone()),
        tmpfs: by_name(base.tmpfs, tmpfs),
        read_only_root_filesystem: read_only_root_filesystem.or(base.read_only_root_filesystem),
        shm_size: shm_size.or(base.shm_size),
        healthcheck: healthcheck.or(base.healthcheck),
        restart_policy: restart_policy.or(base.restart_policy),
        init: init.or(base.init),
        logging: logging.or(base.logging),
        privileged: privileged.or(base.privileged),
        cap_add: cap_add.or(base.cap_add),
        cap_drop: cap_drop.or(base.cap_drop),
        security_opt: security_opt.or(base.security_opt),
        group_add: group_add.or(base.group_add),
        sysctls: by_name(base.sysctls, sysctls),
        ulimits: ulimits.or(base.ulimits),
        devices: devices.or(base.devices),
        device_cgroup_rules: device_cgroup_rules.or(base.device_cgroup_rules),
        device_requests: device_requests.or(base.device_requests),
        ipc_mode: ipc_mode.or(base.ipc_mode),
        pid_mode: pid_mode.or(base.pid_mode),
        uts_mode: uts_mode.or(base.uts_mode),
        userns_mode: userns_mode.or(base.userns_mode),
        cgroupns_mode: cgroupns_mode.or(base.cgroupns_mode),
        runtime: runtime.or(base.runtime),
        cgroup_parent: cgroup_parent.or(base.cgroup_parent),
        platform: platform.or(base.platform),
        annotations: by_name(base.annotations, annotations),
        memory_swap: memory_swap.or(base.memory_swap),
        memory_swappiness: memory_swappiness.or(base.memory_swappiness),
        oom_score_adj: oom_score_adj.or(base.oom_score_adj),
        oom_kill_disable: oom_kill_disable.or(base.oom_kill_disable),
        cpuset_cpus: cpuset_cpus.or(base.cpuset_cpus),
        cpuset_mems: cpuset_mems.or(base.cpuset_mems),
        cpu_period: cpu_period.or(base.cpu_period),
        cpu_quota: cpu_quota.or(base.cpu_quota),
        blkio: blkio.or(base.blkio),
    }
}

/// `over` on top of `base`: limits and requests are maps, merged by resource.
pub fn resources(base: Option<&Resources>, over: Option<&Resources>) -> Option<Resources> {
    let (Some(base), Some(over)) = (base, over) else {
        return over.or(base).cloned();
    };
    let limits = both(base.limits.clone(), over.limits.clone(), |base, over| {
        let ResourceLimits { cpu, memory, pids } = over;
        ResourceLimits {
            cpu: cpu.or(base.cpu),
            memory: memory.or(base.memory),
            pids: pids.or(base.pids),
        }
    });
    let requests = both(base.requests.clone(), over.requests.clone(), |base, over| {
        let ResourceRequests { cpu, memory } = over;
        ResourceRequests { cpu: cpu.or(base.cpu), memory: memory.or(base.memory) }
    });
    Some(Resources { limits, requests })
}

/// The key of a port in its list, as the API server sees it.
fn port_key(port: &ContainerPort) -> (i32, &'static str, String, i32) {
    (port.container_port, port.protocol.docker(), port.host_ip.clone(), port.host_port)
}

fn both<T>(base: Option<T>, over: Option<T>, merge: impl Fn(T, T) -> T) -> Option<T> {
    match (base, over) {
        (Some(base), Some(over)) => Some(merge(base, over)),
        (base, over) => over.or(base),
    }
}

fn by_name(
    base: Option<BTreeMap<String, String>>,
    over: Option<BTreeMap<String, String>>,
) -> Option<BTreeMap<String, String>> {
    both(base, over, |mut base, over| {
        base.extend(over);
        base
    })
}

fn by_key<T, K: PartialEq>(
    base: Option<Vec<T>>,
    over: Option<Vec<T>>,
    key: impl Fn(&T) -> K,
) -> Option<Vec<T>> {
    both(base, over, |mut base, over| {
        for item in over {
            match base.iter_mut().find(|there| key(there) == key(&item)) {
                Some(there) => *there = item,
                None => base.push(item),
            }
        }
        base
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn merged(base: Value, over: Value) -> Value {
        let of = |value| serde_json::from_value::<Container>(value).unwrap();
        serde_json::to_value(container(&of(base), &of(over))).unwrap()
    }

    #[test]
    fn a_scalar_of_the_workspace_replaces_the_templates() {
        assert_eq!(
            merged(
                json!({ "user": "a", "tty": true, "image": "x" }),
                json!({ "user": "", "tty": false })
            ),
            json!({ "user": "", "tty": false, "image": "x" })
        );
    }

    #[test]
    fn env_ports_and_mounts_are_merged_by_their_keys_and_keep_their_places() {
        let env = |name: &str, value: &str| json!({ "name": name, "value": value });
        assert_eq!(
            merged(
                json!({ "env": [env("A", "1"), env("B", "1")] }),
                json!({ "env": [env("C", "2"), env("A", "2")] })
            ),
            json!({ "env": [env("A", "2"), env("B", "1"), env("C", "2")] })
        );
        let port = |protocol: &str, host: i32, name: &str| json!({ "containerPort": 53, "protocol": protocol, "hostIP": "", "hostPort": host, "name": name });
        assert_eq!(
            merged(
                json!({ "ports": [port("TCP", 0, "a"), port("UDP", 0, "b")] }),
                json!({ "ports": [port("UDP", 0, "c"), port("UDP", 53, "d")] })
            ),
            json!({ "ports": [port("TCP", 0, "a"), port("UDP", 0, "c"), port("UDP", 53, "d")] })
        );
        let mount = |target: &str, source: &str| json!({ "type": "volume", "target": target, "source": source });
        assert_eq!(
            merged(
                json!({ "mounts": [mount("/a", "x"), mount("/b", "x")] }),
                json!({ "mounts": [mount("/b", "y")] })
            ),
            json!({ "mounts": [mount("/a", "x"), mount("/b", "y")] })
        );
    }

    #[test]
    fn every_map_is_merged_by_key() {
        for map in ["labels", "tmpfs", "sysctls", "annotations"] {
            assert_eq!(
                merged(
                    json!({ map: { "/a": "1", "/b": "1" } }),
                    json!({ map: { "/b": "2", "/c": "2" } })
                ),
                json!({ map: { "/a": "1", "/b": "2", "/c": "2" } })
            );
        }
    }

    #[test]
    fn other_lists_and_objects_are_replaced_whole_also_by_an_empty_one() {
        assert_eq!(
            merged(
                json!({ "capAdd": ["NET_ADMIN"], "args": ["a", "b"], "healthcheck": { "retries": 3, "interval": "1s" } }),
                json!({ "capAdd": [], "args": ["c"], "healthcheck": { "retries": 5 } })
            ),
            json!({ "capAdd": [], "args": ["c"], "healthcheck": { "retries": 5 } })
        );
    }

    #[test]
    fn limits_and_requests_are_merged_by_resource() {
        let of = |value| serde_json::from_value::<Resources>(value).unwrap();
        let base = of(json!({ "limits": { "memory": "1Gi", "cpu": "1" } }));
        let over = of(json!({ "limits": { "memory": "2Gi" }, "requests": { "cpu": "500m" } }));
        assert_eq!(
            serde_json::to_value(resources(Some(&base), Some(&over))).unwrap(),
            json!({ "limits": { "memory": "2Gi", "cpu": "1" }, "requests": { "cpu": "500m" } })
        );
        assert_eq!(resources(Some(&base), None), Some(base));
        assert_eq!(resources(None, Some(&over)), Some(over));
    }
}
