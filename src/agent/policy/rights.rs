//! Judges what a container may do: rights, namespaces, devices, kernel parameters, runtime.

use std::collections::BTreeMap;

use super::allowances::HostNamespace;
use super::device::{Access, DeviceRule};
use super::path::{Cgroup, HostPath};
use super::refusal::Refusals;
use super::right::{Capability, SecurityOption};
use crate::docker::{DeviceMapping, DeviceRequest, LogConfig, Ulimit};

/// Log drivers that keep the output where `kibotos` reads it, or nowhere.
const LOG_DRIVERS: [&str; 3] = ["json-file", "local", "none"];
/// Options that say only how much of the output is kept: allowed without a driver's name, when the
/// engine's own choice may be a driver that sends it elsewhere.
const LOG_OPTIONS: [&str; 14] = [
    "max-size",
    "max-file",
    "compress",
    "mode",
    "max-buffer-size",
    "labels",
    "labels-regex",
    "env",
    "env-regex",
    "tag",
    "cache-disabled",
    "cache-max-size",
    "cache-max-file",
    "cache-compress",
];
/// Limits that let a process go before the host's own ones.
const PRIORITIES: [&str; 2] = ["nice", "rtprio"];

/// Judges the capabilities that are added.
pub fn capabilities(list: &[String], refusals: &mut Refusals<'_>) {
    for (i, text) in list.iter().enumerate() {
        let asked = Capability::asked(text);
        let allowed = asked.is_default() || has(&asked, refusals);
        refusals.need(
            allowed,
            format!("spec.container.capAdd[{i}]"),
            asked.as_str(),
            "capabilities",
        );
    }
}

/// Judges what a process of the host could do only with a capability.
pub fn as_with(capability: &str, path: impl Into<String>, refusals: &mut Refusals<'_>) {
    let allowed = has(&Capability::asked(capability), refusals);
    refusals.need(allowed, path, capability, "capabilities");
}

fn has(asked: &Capability, refusals: &Refusals<'_>) -> bool {
    refusals.allowances().capabilities.iter().any(|entry| entry.covers(asked))
}

/// Judges security options.
pub fn security_options(list: &[String], refusals: &mut Refusals<'_>) {
    for (i, text) in list.iter().enumerate() {
        let asked = SecurityOption::asked(text);
        let listed = refusals.allowances().security_opts.iter().any(|entry| entry.covers(&asked));
        let allowed = asked.is_harmless() || listed;
        let path = format!("spec.container.securityOpt[{i}]");
        refusals.need(allowed, path, &asked.shown(), "securityOpts");
    }
}

/// Judges kernel parameters.
pub fn sysctls(map: &BTreeMap<String, String>, refusals: &mut Refusals<'_>) {
    for key in map.keys() {
        sysctl(key, &format!("spec.container.sysctls[{key}]"), refusals);
    }
}

/// Judges one kernel parameter.
pub fn sysctl(key: &str, path: &str, refusals: &mut Refusals<'_>) {
    if key.contains('/') || key.split('.').any(str::is_empty) {
        return refusals
            .never(path, "write a kernel parameter with single dots, e.g. net.core.somaxconn");
    }
    let allowed = refusals.allowances().sysctls.iter().any(|entry| entry.matches(key));
    refusals.need(allowed, path, key, "sysctls");
}

/// Judges the mode of a namespace, whose `own` modes are the container's.
pub fn namespace(
    field: &str,
    mode: &str,
    own: &[&str],
    of_host: HostNamespace,
    refusals: &mut Refusals<'_>,
) {
    let path = format!("spec.container.{field}");
    let joins = matches!(of_host, HostNamespace::Ipc | HostNamespace::Pid);
    if mode.is_empty() || own.contains(&mode) {
    } else if mode == "host" {
        let allowed = refusals.allowances().host_namespaces.contains(&of_host);
        refusals.need(allowed, path, of_host.as_str(), "hostNamespaces");
    } else if let Some(name) = mode.strip_prefix("container:").filter(|_| joins) {
        join(name, &path, refusals);
    } else {
        refusals.never(path, "is no mode of this namespace");
    }
}

/// Judges the joining of another container's namespace.
pub fn join(name: &str, path: &str, refusals: &mut Refusals<'_>) {
    let allowed =
        refusals.allowances().join_containers.iter().any(|entry| entry.matches_name(name));
    refusals.need(allowed, path, name, "joinContainers");
}

/// Judges devices by path. An engine that is given a directory adds all devices in it.
pub fn devices(list: &[DeviceMapping], refusals: &mut Refusals<'_>) {
    for (i, device) in list.iter().enumerate() {
        let DeviceMapping { path_on_host, path_in_container: _, cgroup_permissions } = device;
        let at = |field: &str| format!("spec.container.devices[{i}].{field}");
        let path = match path_on_host.parse::<HostPath>() {
            Ok(path) => path,
            Err(fault) => {
                refusals.never(at("pathOnHost"), &fault.to_string());
                continue;
            }
        };
        match cgroup_permissions.parse::<Access>() {
            Err(_) => refusals.never(at("cgroupPermissions"), "must be letters of rwm, e.g. rw"),
            Ok(access) => {
                let listed = &refusals.allowances().devices;
                let allowed = listed.iter().any(|entry| entry.covers_path(&path, access));
                let what = format!("{path} with permissions {cgroup_permissions}");
                refusals.need(allowed, at("pathOnHost"), &what, "devices");
            }
        }
    }
}

/// Judges devices by number.
pub fn device_rules(list: &[String], refusals: &mut Refusals<'_>) {
    for (i, text) in list.iter().enumerate() {
        let path = format!("spec.container.deviceCgroupRules[{i}]");
        match text.parse::<DeviceRule>() {
            Err(fault) => refusals.never(path, &fault.to_string()),
            Ok(rule) => {
                let allowed = refusals.allowances().devices.iter().any(|e| e.covers_rule(rule));
                refusals.need(allowed, path, text, "devices");
            }
        }
    }
}

/// Judges devices that are asked of a driver. A driver that is named must be allowed itself; where
/// none is, the engine chooses by capability, and each alternative must be allowed word for word.
pub fn device_requests(list: &[DeviceRequest], refusals: &mut Refusals<'_>) {
    for (i, request) in list.iter().enumerate() {
        let DeviceRequest { driver, count: _, device_ids: _, capabilities, options: _ } = request;
        let path = format!("spec.container.deviceRequests[{i}]");
        let allows = |name: &str| {
            refusals.allowances().device_requests.iter().any(|entry| entry.matches(name))
        };
        if let Some(driver) = driver.as_deref().filter(|driver| !driver.is_empty()) {
            refusals.need(allows(driver), format!("{path}.driver"), driver, "deviceRequests");
            continue;
        }
        let sets = capabilities.as_deref().unwrap_or_default();
        let at = format!("{path}.capabilities");
        if sets.is_empty() || sets.iter().any(Vec::is_empty) {
            refusals
                .never(at, "name a driver, or in each list what the devices must be capable of");
            continue;
        }
        let missing: Vec<&str> =
            sets.iter().flatten().map(String::as_str).filter(|word| !allows(word)).collect();
        refusals.need(missing.is_empty(), at, &missing.join(", "), "deviceRequests");
    }
}

/// Judges the runtime, and what is handed to it.
pub fn runtime(
    name: Option<&str>,
    annotations: &BTreeMap<String, String>,
    refusals: &mut Refusals<'_>,
) {
    let name = name.filter(|name| !name.is_empty());
    let listed = &refusals.allowances().runtimes;
    if let Some(name) = name {
        let allowed = listed.iter().any(|entry| entry.covers(name));
        refusals.need(allowed, "spec.container.runtime", name, "runtimes");
    }
    for key in annotations.keys() {
        let allowed = listed.iter().any(|entry| entry.covers_annotation(name, key));
        let what = format!("{{name: {}, annotations: [{key}]}}", name.unwrap_or("default"));
        refusals.need(allowed, format!("spec.container.annotations[{key}]"), &what, "runtimes");
    }
}

/// Judges where the output goes.
pub fn logging(config: &LogConfig, refusals: &mut Refusals<'_>) {
    let LogConfig { type_, config } = config;
    match type_.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => {
            let listed = refusals.allowances().log_drivers.iter().any(|entry| entry.matches(name));
            let allowed = LOG_DRIVERS.contains(&name) || listed;
            refusals.need(allowed, "spec.container.logging.type", name, "logDrivers");
        }
        None => {
            for key in config.iter().flat_map(BTreeMap::keys) {
                if !LOG_OPTIONS.contains(&key.as_str()) {
                    let path = format!("spec.container.logging.config[{key}]");
                    refusals
                        .never(path, "name the log driver in logging.type that the option is for");
                }
            }
        }
    }
}

/// Judges limits of the process.
pub fn ulimits(list: &[Ulimit], refusals: &mut Refusals<'_>) {
    for (i, Ulimit { name, soft, hard }) in list.iter().enumerate() {
        let above = PRIORITIES.iter().any(|limit| name.eq_ignore_ascii_case(limit));
        if above && (*soft != 0 || *hard != 0) {
            as_with("SYS_NICE", format!("spec.container.ulimits[{i}].name"), refusals);
        }
    }
}

/// Judges under which cgroup the container's is made.
pub fn cgroup_parent(parent: &str, refusals: &mut Refusals<'_>) {
    let path = "spec.container.cgroupParent";
    match parent.parse::<Cgroup>() {
        Err(fault) => refusals.never(path, &fault.to_string()),
        Ok(cgroup) => {
            let allowed = refusals.allowances().cgroup_parents.iter().any(|p| cgroup.is_in(p));
            refusals.need(allowed, path, parent, "cgroupParents");
        }
    }
}
