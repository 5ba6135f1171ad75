//! Rights, namespaces, devices, kernel parameters.

use std::collections::{BTreeMap, BTreeSet};

use super::{Body, valid};
use crate::api::Container;
use crate::api::container::{CgroupnsMode, Device, DeviceRequest, HostNamespaceMode};
use crate::api::grammar::{AbsolutePath, Capability, KernelParameter};
use crate::import::notes::Notes;
use crate::import::object::Object;

/// All of it.
pub fn read(body: &mut Body<'_>, container: &mut Container, notes: &mut Notes) {
    let host = &mut body.host;
    container.privileged = host.flag("Privileged", notes).filter(|on| *on);
    container.read_only_root_filesystem = host.flag("ReadonlyRootfs", notes).filter(|on| *on);
    container.cap_add = capabilities("CapAdd", host, notes);
    container.cap_drop = capabilities("CapDrop", host, notes);
    let options = host.texts("SecurityOpt", notes).into_iter().filter_map(|(at, text)| {
        let message = "is none of no-new-privileges, seccomp=…, apparmor=… and label=…";
        valid::if_so(&at, &text, is_security_opt, message, notes)
    });
    container.security_opt = Some(options.collect::<Vec<_>>()).filter(|list| !list.is_empty());
    let groups = host.texts("GroupAdd", notes).into_iter().map(|(_, group)| group);
    container.group_add = Some(groups.collect::<Vec<_>>()).filter(|list| !list.is_empty());
    container.sysctls = sysctls(host, notes);
    namespaces(host, container, notes);
    devices(host, container, notes);
}

fn capabilities(key: &str, host: &mut Object<'_>, notes: &mut Notes) -> Option<Vec<String>> {
    let list = host
        .texts(key, notes)
        .into_iter()
        .filter_map(|(at, text)| valid::kept::<Capability>(&at, text, notes));
    let list = list.collect();
    valid::bounded(&host.at(key), list, 64, notes)
}

fn is_security_opt(text: &str) -> bool {
    let flag = text.strip_prefix("no-new-privileges").is_some_and(|rest| {
        rest.is_empty() || matches!(rest.trim_start_matches(['=', ':']), "true" | "false")
    });
    let other = ["seccomp", "apparmor", "label"].iter().any(|kind| {
        text.strip_prefix(kind).is_some_and(|rest| rest.len() > 1 && rest.starts_with(['=', ':']))
    });
    flag || other
}

fn sysctls(host: &mut Object<'_>, notes: &mut Notes) -> Option<BTreeMap<String, String>> {
    let mut sysctls = host.map("Sysctls", notes);
    sysctls.retain(|name, _| {
        let at = format!("HostConfig.Sysctls[{name}]");
        valid::parsed::<KernelParameter>(&at, name, notes).is_some()
    });
    Some(sysctls).filter(|map| !map.is_empty())
}

fn namespaces(host: &mut Object<'_>, container: &mut Container, notes: &mut Notes) {
    let joins = |text: &str| text.strip_prefix("container:").is_some_and(|name| !name.is_empty());
    let mut mode = |key: &str, words: &[&str]| {
        let text = host.text(key, notes)?;
        let right = |text: &str| text.len() <= 255 && (words.contains(&text) || joins(text));
        let message = format!("is none of {}, container:NAME", words.join(", "));
        valid::if_so(&host.at(key), &text, right, &message, notes)
    };
    container.ipc_mode = mode("IpcMode", &["none", "private", "shareable", "host"]);
    container.pid_mode = mode("PidMode", &["host"]);
    let mut of_host = |key: &str| {
        let text = host.text(key, notes)?;
        let message = "is not host, the only other than the container's own";
        valid::if_so(&host.at(key), &text, |text| text == "host", message, notes)?;
        Some(HostNamespaceMode::Host)
    };
    container.uts_mode = of_host("UTSMode");
    container.userns_mode = of_host("UsernsMode");
    container.cgroupns_mode =
        host.text("CgroupnsMode", notes).and_then(|text| match text.as_str() {
            "private" => Some(CgroupnsMode::Private),
            "host" => Some(CgroupnsMode::Host),
            other => {
                let message = format!("{other:?} is neither private nor host: left out");
                notes.warn("HostConfig.CgroupnsMode", message);
                None
            }
        });
    container.cgroup_parent = host.text("CgroupParent", notes);
    if container.uts_mode.is_some() && container.hostname.take().is_some() {
        let mode = notes.name("HostConfig.UTSMode");
        notes.warn("Hostname", format!("with {mode} host the host's name counts: left out"));
    }
}

fn devices(host: &mut Object<'_>, container: &mut Container, notes: &mut Notes) {
    let mut devices: Vec<Device> = Vec::new();
    let mut seen = BTreeSet::new();
    for (at, value) in host.list("Devices", notes) {
        let Some(device) = device(Object::of(&at, value, notes), notes) else { continue };
        if seen.insert(device.path_in_container.clone()) {
            devices.push(device);
        } else {
            notes.warn(&at, format!("{} is already a device: left out", device.path_in_container));
        }
    }
    container.devices = valid::bounded("HostConfig.Devices", devices, 256, notes);
    let rules = host.texts("DeviceCgroupRules", notes).into_iter().filter_map(|(at, text)| {
        valid::if_so(&at, &text, is_rule, "is not TYPE MAJOR:MINOR ACCESS, e.g. c 188:* rwm", notes)
    });
    let rules = rules.collect();
    container.device_cgroup_rules =
        valid::bounded("HostConfig.DeviceCgroupRules", rules, 256, notes);
    let asked = host.list("DeviceRequests", notes).into_iter();
    let asked = asked.map(|(at, value)| request(Object::of(&at, value, notes), notes)).collect();
    container.device_requests = valid::bounded("HostConfig.DeviceRequests", asked, 64, notes);
}

fn device(mut object: Object<'_>, notes: &mut Notes) -> Option<Device> {
    let mut path = |key: &str| {
        let text = object.text(key, notes).unwrap_or_default();
        (object.at(key), text)
    };
    let (at_host, on_host) = path("PathOnHost");
    let (at_inside, inside) = path("PathInContainer");
    let inside = if inside.is_empty() {
        notes.warn(
            &at_inside,
            "is empty, for which an engine makes no device: the path on the host is used",
        );
        on_host.clone()
    } else {
        inside
    };
    let at = object.at("CgroupPermissions");
    let permissions = object.text("CgroupPermissions", notes);
    if permissions.is_none() {
        notes.warn(&at, "is empty, with which an engine starts nothing: rwm is used");
    }
    let right = |text: &str| text.len() <= 3 && text.chars().all(|c| "rwm".contains(c));
    let permissions = permissions
        .and_then(|text| valid::if_so(&at, &text, right, "is not made of r, w and m", notes))
        .filter(|text| text != "rwm");
    object.finish(notes);
    Some(Device {
        path_on_host: valid::path::<AbsolutePath>(&at_host, &on_host, notes)?,
        path_in_container: valid::path::<AbsolutePath>(&at_inside, &inside, notes)?,
        cgroup_permissions: permissions,
    })
}

fn is_rule(text: &str) -> bool {
    let number = |n: &str| n == "*" || (!n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    let parts: Vec<&str> = text.split(' ').collect();
    let [kind, numbers, access] = parts.as_slice() else { return false };
    let numbers = numbers.split_once(':').is_some_and(|(a, b)| number(a) && number(b));
    let access = (1..=3).contains(&access.len()) && access.chars().all(|c| "rwm".contains(c));
    matches!(*kind, "a" | "c" | "b") && numbers && access && text.len() <= 64
}

fn request(mut object: Object<'_>, notes: &mut Notes) -> DeviceRequest {
    let texts = |list: Vec<(String, String)>| {
        Some(list.into_iter().map(|(_, text)| text).collect::<Vec<_>>()).filter(|l| !l.is_empty())
    };
    let count = object
        .int("Count", notes)
        .filter(|count| *count != 0)
        .and_then(|n| valid::small(&object.at("Count"), n, -1, i32::MAX, notes));
    let device_ids = texts(object.texts("DeviceIDs", notes));
    let mut capabilities: Vec<Vec<String>> = Vec::new();
    for (at, item) in object.list("Capabilities", notes) {
        let words =
            item.as_array().map(|words| words.iter().map(|w| w.as_str().map(str::to_owned)));
        match words.and_then(Iterator::collect::<Option<Vec<String>>>) {
            Some(words) => capabilities.push(words),
            None => notes.error(&at, "must be a list of words"),
        }
    }
    if count.is_some() && device_ids.is_some() {
        let ids = notes.name("DeviceIDs");
        notes.warn(&object.at("Count"), format!("goes not with {ids}: left out"));
    }
    let made = DeviceRequest {
        driver: object.text("Driver", notes),
        count: count.filter(|_| device_ids.is_none()),
        device_ids,
        capabilities: Some(capabilities).filter(|list| !list.is_empty()),
        options: Some(object.map("Options", notes)).filter(|map| !map.is_empty()),
    };
    object.finish(notes);
    made
}
