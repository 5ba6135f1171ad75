//! One form for all ways to write the same container. Pure.

use std::collections::BTreeMap;

use crate::api::Container;
use crate::api::container::{Blkio, Healthcheck, Logging};
use crate::api::grammar::{Duration, ImageReference, Quantity, RawQuantity};

/// The container in canonical form: `1Gi` and `1024Mi`, `60s` and `1m`, an empty list and none, two
/// orders of one set are one. What does not parse stays as it is written.
pub fn container(container: &Container) -> Container {
    let mut c = container.clone();
    c.image = c.image.map(|image| match image.parse::<ImageReference>() {
        Ok(reference) => reference.canonical().into_owned(),
        Err(_) => image,
    });
    sets(&mut c);
    drop_empty(&mut c);
    for quantity in [&mut c.shm_size, &mut c.memory_swap] {
        *quantity = quantity.take().map(amount);
    }
    c.healthcheck = c.healthcheck.map(health).filter(|check| *check != Healthcheck::default());
    c
}

/// A quantity by its amount.
pub fn amount(quantity: RawQuantity) -> RawQuantity {
    let canonical = quantity.parse().and_then(|parsed| Quantity::from_nanos(parsed.nanos()));
    canonical.map_or(quantity, |parsed| RawQuantity::Text(parsed.to_string()))
}

/// Lists whose order says nothing to an engine.
fn sets(c: &mut Container) {
    let sort = |list: &mut Option<Vec<String>>| {
        if let Some(list) = list {
            list.sort();
        }
    };
    if let Some(env) = &mut c.env {
        env.sort_by(|a, b| a.name.cmp(&b.name));
    }
    if let Some(ports) = &mut c.ports {
        for port in ports.iter_mut() {
            port.name = None;
        }
        ports.sort_by_key(|p| {
            (p.container_port, p.protocol, p.host_ip.clone(), p.host_port, p.publish)
        });
    }
    if let Some(mounts) = &mut c.mounts {
        mounts.sort_by(|a, b| a.target.cmp(&b.target));
    }
    if let Some(ulimits) = &mut c.ulimits {
        ulimits.sort_by_key(|limit| limit.name);
    }
    if let Some(devices) = &mut c.devices {
        devices.sort_by(|a, b| a.path_in_container.cmp(&b.path_in_container));
        for device in devices {
            device.cgroup_permissions.get_or_insert_with(|| "rwm".to_owned());
        }
    }
    for network in c.networks.iter_mut().flatten() {
        sort(&mut network.aliases);
        sort(&mut network.links);
    }
    if let Some(blkio) = &mut c.blkio {
        limits(blkio);
    }
    for list in [
        &mut c.anonymous_volumes,
        &mut c.binds,
        &mut c.cap_add,
        &mut c.cap_drop,
        &mut c.device_cgroup_rules,
        &mut c.group_add,
        &mut c.security_opt,
    ] {
        sort(list);
    }
}

/// Limits of devices, each device's in the order they were given: the last one counts.
fn limits(blkio: &mut Blkio) {
    if let Some(list) = &mut blkio.weight_device {
        list.sort_by(|a, b| a.path.cmp(&b.path));
    }
    for list in [
        &mut blkio.device_read_bps,
        &mut blkio.device_write_bps,
        &mut blkio.device_read_iops,
        &mut blkio.device_write_iops,
    ]
    .into_iter()
    .flatten()
    {
        list.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// Takes out what means the same as leaving it out; `command` and `args` are not among these.
fn drop_empty(c: &mut Container) {
    fn list<T>(list: &mut Option<Vec<T>>) {
        list.take_if(|list| list.is_empty());
    }
    list(&mut c.env);
    list(&mut c.env_from);
    list(&mut c.anonymous_volumes);
    list(&mut c.ports);
    list(&mut c.networks);
    list(&mut c.dns);
    list(&mut c.dns_search);
    list(&mut c.dns_options);
    list(&mut c.extra_hosts);
    list(&mut c.binds);
    list(&mut c.mounts);
    list(&mut c.cap_add);
    list(&mut c.cap_drop);
    list(&mut c.security_opt);
    list(&mut c.group_add);
    list(&mut c.ulimits);
    list(&mut c.devices);
    list(&mut c.device_cgroup_rules);
    list(&mut c.device_requests);
    for map in [&mut c.labels, &mut c.tmpfs, &mut c.sysctls, &mut c.annotations] {
        map.take_if(|map| map.is_empty());
    }
    for text in [
        &mut c.user,
        &mut c.working_dir,
        &mut c.hostname,
        &mut c.domainname,
        &mut c.mac_address,
        &mut c.network_mode,
        &mut c.runtime,
        &mut c.cgroup_parent,
        &mut c.platform,
    ] {
        text.take_if(|text| text.is_empty());
    }
    for flag in [
        &mut c.tty,
        &mut c.stdin,
        &mut c.stdin_once,
        &mut c.publish_all_ports,
        &mut c.read_only_root_filesystem,
        &mut c.privileged,
        &mut c.oom_kill_disable,
    ] {
        flag.take_if(|flag| !*flag);
    }
    c.oom_score_adj.take_if(|score| *score == 0);
    c.logging.take_if(|logging| {
        let Logging { type_, config } = logging;
        type_.as_ref().is_none_or(String::is_empty)
            && config.as_ref().is_none_or(BTreeMap::is_empty)
    });
}

fn health(mut check: Healthcheck) -> Healthcheck {
    for time in [
        &mut check.interval,
        &mut check.timeout,
        &mut check.start_period,
        &mut check.start_interval,
    ] {
        let nanos = time.as_deref().and_then(|text| text.parse::<Duration>().ok());
        if let Some(nanos) = nanos {
            *time = Some(nanos.nanos()).filter(|n| *n != 0).map(|n| format!("{n}ns"));
        }
    }
    check.test.take_if(|test| test.is_empty());
    check.retries.take_if(|retries| *retries == 0);
    check
}
