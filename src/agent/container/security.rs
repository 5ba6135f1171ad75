//! What a container may do to its host: rights, namespaces, devices, kernel parameters.

use std::collections::BTreeMap;

use super::faults::{Faults, entries, filled, text};
use crate::api::Container;
use crate::api::container::{CgroupnsMode, Device, HostNamespaceMode, form};
use crate::api::grammar::{Capability, DevicePath, KernelParameter};
use crate::docker::{DeviceMapping, DeviceRequest, HostConfig};

/// Sets rights, namespaces, devices and kernel parameters.
pub fn confine(container: &Container, host: &mut HostConfig, faults: &mut Faults) {
    host.privileged = container.privileged.unwrap_or_default();
    for (field, list) in [("capAdd", &container.cap_add), ("capDrop", &container.cap_drop)] {
        for (i, capability) in list.iter().flatten().enumerate() {
            let at = format!("spec.container.{field}[{i}]");
            faults.parse::<Capability>(&at, capability);
        }
    }
    let (add, drop) = (filled(container.cap_add.as_ref()), filled(container.cap_drop.as_ref()));
    if add.is_some() || drop.is_some() {
        host.cap_add = Some(add.unwrap_or_default());
        host.cap_drop = Some(drop.unwrap_or_default());
    }
    host.security_opt = filled(container.security_opt.as_ref());
    host.group_add = filled(container.group_add.as_ref());
    host.readonly_rootfs = container.read_only_root_filesystem.unwrap_or_default();
    for key in container.sysctls.iter().flat_map(BTreeMap::keys) {
        faults.parse::<KernelParameter>(&format!("spec.container.sysctls[{key}]"), key);
    }
    host.sysctls = entries(container.sysctls.as_ref());
    namespaces(container, host, faults);
    devices(container, host, faults);
}

fn namespaces(container: &Container, host: &mut HostConfig, faults: &mut Faults) {
    let of_host =
        |mode: Option<HostNamespaceMode>| mode.map(|HostNamespaceMode::Host| "host".to_owned());
    faults.fits("spec.container.ipcMode", container.ipc_mode.as_ref(), &form::IPC_MODE);
    faults.fits("spec.container.pidMode", container.pid_mode.as_ref(), &form::PID_MODE);
    host.ipc_mode = text(container.ipc_mode.as_ref());
    host.pid_mode = text(container.pid_mode.as_ref());
    host.uts_mode = of_host(container.uts_mode);
    host.userns_mode = of_host(container.userns_mode);
    host.cgroupns_mode = container.cgroupns_mode.map(|mode| match mode {
        CgroupnsMode::Private => "private".to_owned(),
        CgroupnsMode::Host => "host".to_owned(),
    });
    host.cgroup_parent = text(container.cgroup_parent.as_ref());
    if host.uts_mode.is_some() && container.hostname.as_ref().is_some_and(|name| !name.is_empty()) {
        faults.add(
            "spec.container.hostname",
            "with utsMode host the host's name counts: leave hostname out",
        );
    }
}

fn devices(container: &Container, host: &mut HostConfig, faults: &mut Faults) {
    let mapped = container.devices.as_ref().filter(|list| !list.is_empty());
    host.devices = mapped.map(|list| {
        list.iter().enumerate().map(|(i, device)| mapping(i, device, faults)).collect()
    });
    for (i, rule) in container.device_cgroup_rules.iter().flatten().enumerate() {
        let at = format!("spec.container.deviceCgroupRules[{i}]");
        faults.check(at, form::DEVICE_RULE.check(rule));
    }
    for (i, request) in container.device_requests.iter().flatten().enumerate() {
        let counted = request.count.is_some_and(|count| count != 0);
        if counted && request.device_ids.as_ref().is_some_and(|ids| !ids.is_empty()) {
            let at = format!("spec.container.deviceRequests[{i}].deviceIDs");
            faults.add(at, "set count or deviceIDs, not both");
        }
    }
    host.device_cgroup_rules = filled(container.device_cgroup_rules.as_ref());
    let asked = container.device_requests.as_ref().filter(|list| !list.is_empty());
    host.device_requests = asked.map(|list| {
        let of = |request: &crate::api::container::DeviceRequest| DeviceRequest {
            driver: text(request.driver.as_ref()),
            count: request.count.map(i64::from).filter(|count| *count != 0),
            device_ids: filled(request.device_ids.as_ref()),
            capabilities: filled(request.capabilities.as_ref()),
            options: entries(request.options.as_ref()),
        };
        list.iter().map(of).collect()
    });
}

fn mapping(i: usize, device: &Device, faults: &mut Faults) -> DeviceMapping {
    let at = |field: &str| format!("spec.container.devices[{i}].{field}");
    faults.parse::<DevicePath>(&at("pathOnHost"), &device.path_on_host);
    faults.parse::<DevicePath>(&at("pathInContainer"), &device.path_in_container);
    faults.fits(at("cgroupPermissions"), device.cgroup_permissions.as_ref(), &form::DEVICE_ACCESS);
    DeviceMapping {
        path_on_host: device.path_on_host.clone(),
        path_in_container: device.path_in_container.clone(),
        cgroup_permissions: device.cgroup_permissions.clone().unwrap_or_else(|| "rwm".to_owned()),
    }
}
