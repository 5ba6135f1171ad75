//! Every field that is modelled is one that bodies at random have: a new one fails to compile here
//! until it is named, and then fails the test until `random` makes it.

use std::collections::BTreeMap;

use kibotos::docker::{
    ApiVersion, BindOptions, CreateBody, DeviceMapping, DeviceRequest, DriverConfig, EndpointIpam,
    EndpointSettings, Health, HostConfig, ImageOptions, LogConfig, Mount, NetworkingConfig,
    PortBinding, RestartPolicy, ThrottleDevice, TmpfsOptions, Ulimit, VolumeOptions, WeightDevice,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde::Serialize;
use serde_json::Value;

use super::{of_body, random, rendered};

/// Of each field, whether some body has set it.
#[derive(Default)]
struct Fields(BTreeMap<&'static str, bool>);

impl Fields {
    fn note(&mut self, name: &'static str, value: &impl Serialize) {
        let value = serde_json::to_value(value).unwrap();
        let set = match value {
            Value::Null | Value::Bool(false) => false,
            Value::Bool(true) => true,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
        };
        *self.0.entry(name).or_default() |= set;
    }
}

/// Notes the fields of a struct, and leaves each in a variable of its name. Without `..`.
macro_rules! note {
    ($fields:ident, $value:expr, $struct:ident { $($field:ident),* }) => {
        let $struct { $($field),* } = $value;
        $($fields.note(concat!(stringify!($struct), ".", stringify!($field)), $field);)*
    };
}

#[allow(unused_variables, reason = "most fields have no fields of their own")]
fn body(body: &CreateBody, fields: &mut Fields) {
    note!(
        fields,
        body,
        CreateBody {
            image,
            cmd,
            entrypoint,
            env,
            labels,
            volumes,
            user,
            working_dir,
            hostname,
            domainname,
            exposed_ports,
            tty,
            open_stdin,
            stdin_once,
            mac_address,
            stop_signal,
            stop_timeout,
            healthcheck,
            networking_config,
            host_config
        }
    );
    note!(
        fields,
        healthcheck,
        Health { test, interval, timeout, start_period, start_interval, retries }
    );
    host(host_config, fields);
    note!(fields, networking_config, NetworkingConfig { endpoints_config });
    for endpoint in endpoints_config.iter().flat_map(BTreeMap::values) {
        note!(
            fields,
            endpoint,
            EndpointSettings { ipam_config, links, aliases, mac_address, driver_opts, gw_priority }
        );
        if let Some(address) = ipam_config {
            note!(fields, address, EndpointIpam { ipv4_address, ipv6_address, link_local_ips });
        }
    }
}

#[allow(unused_variables, reason = "most fields have no fields of their own")]
fn host(host: &HostConfig, fields: &mut Fields) {
    note!(
        fields,
        host,
        HostConfig {
            binds,
            mounts,
            tmpfs,
            network_mode,
            port_bindings,
            publish_all_ports,
            restart_policy,
            privileged,
            cap_add,
            cap_drop,
            security_opt,
            group_add,
            readonly_rootfs,
            devices,
            device_cgroup_rules,
            device_requests,
            ulimits,
            sysctls,
            extra_hosts,
            dns,
            dns_search,
            dns_options,
            ipc_mode,
            pid_mode,
            uts_mode,
            userns_mode,
            cgroupns_mode,
            cgroup_parent,
            runtime,
            init,
            log_config,
            annotations,
            storage_opt,
            shm_size,
            memory,
            memory_reservation,
            memory_swap,
            memory_swappiness,
            oom_score_adj,
            oom_kill_disable,
            nano_cpus,
            cpu_shares,
            cpu_period,
            cpu_quota,
            cpuset_cpus,
            cpuset_mems,
            pids_limit,
            blkio_weight,
            blkio_weight_device,
            blkio_device_read_bps,
            blkio_device_write_bps,
            blkio_device_read_iops,
            blkio_device_write_iops
        }
    );
    for binding in port_bindings.iter().flat_map(BTreeMap::values).flatten() {
        note!(fields, binding, PortBinding { host_ip, host_port });
    }
    if let Some(policy) = restart_policy {
        note!(fields, policy, RestartPolicy { name, maximum_retry_count });
    }
    for item in mounts.iter().flatten() {
        mount(item, fields);
    }
    for device in devices.iter().flatten() {
        note!(
            fields,
            device,
            DeviceMapping { path_on_host, path_in_container, cgroup_permissions }
        );
    }
    for request in device_requests.iter().flatten() {
        note!(fields, request, DeviceRequest { driver, count, device_ids, capabilities, options });
    }
    for limit in ulimits.iter().flatten() {
        note!(fields, limit, Ulimit { name, soft, hard });
    }
    if let Some(log) = log_config {
        note!(fields, log, LogConfig { type_, config });
    }
    for device in blkio_weight_device.iter().flatten() {
        note!(fields, device, WeightDevice { path, weight });
    }
    for device in blkio_device_read_bps.iter().flatten() {
        note!(fields, device, ThrottleDevice { path, rate });
    }
}

#[allow(unused_variables, reason = "most fields have no fields of their own")]
fn mount(mount: &Mount, fields: &mut Fields) {
    note!(
        fields,
        mount,
        Mount {
            type_,
            source,
            target,
            read_only,
            consistency,
            bind_options,
            volume_options,
            image_options,
            tmpfs_options
        }
    );
    if let Some(options) = bind_options {
        note!(
            fields,
            options,
            BindOptions {
                propagation,
                non_recursive,
                create_mountpoint,
                read_only_non_recursive,
                read_only_force_recursive
            }
        );
    }
    if let Some(options) = volume_options {
        note!(fields, options, VolumeOptions { no_copy, labels, driver_config, subpath });
        if let Some(driver) = driver_config {
            note!(fields, driver, DriverConfig { name, options });
        }
    }
    if let Some(options) = image_options {
        note!(fields, options, ImageOptions { subpath });
    }
    if let Some(options) = tmpfs_options {
        note!(fields, options, TmpfsOptions { size_bytes, mode, options });
    }
}

#[test]
fn bodies_at_random_have_every_field_that_is_modelled() {
    let mut runner = TestRunner::deterministic();
    let bodies = random::body();
    let mut fields = Fields::default();
    for _ in 0..200 {
        let given = bodies.new_tree(&mut runner).unwrap().current();
        let imported = of_body(&given);
        // An engine has had a container's own MAC address in another place since API 1.44.
        for engine in [ApiVersion::NEWEST, ApiVersion::v1(43)] {
            let Ok(mut create) = rendered(&imported.workspaces[0], engine) else { continue };
            // What the agent adds by itself.
            create.body.labels.retain(|key, _| !key.starts_with("kibotos.dev/"));
            create.body.env.remove(0);
            body(&create.body, &mut fields);
        }
    }
    let never: Vec<_> = fields.0.iter().filter(|(_, set)| !**set).map(|(name, _)| name).collect();
    assert!(never.is_empty(), "{never:?}");
}
