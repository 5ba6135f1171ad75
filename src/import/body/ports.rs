//! `ExposedPorts` and `PortBindings`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Body, valid};
use crate::api::container::ContainerPort;
use crate::api::grammar::{HostIp, Port};
use crate::import::notes::Notes;
use crate::import::object::{Object, is_zero, wanted};

/// The ports; `apart` says that the network mode publishes none.
pub fn read(body: &mut Body<'_>, apart: bool, notes: &mut Notes) -> Option<Vec<ContainerPort>> {
    let exposed = exposed(&mut body.config.object("ExposedPorts", notes), notes);
    let mut list: Vec<ContainerPort> = Vec::new();
    let bindings = body.host.object("PortBindings", notes);
    for (key, at, value) in bindings.rest() {
        let Some(port) = exposed.get(key) else {
            if !is_zero(value) {
                let exposed = notes.name("ExposedPorts");
                let message = format!(
                    "is not among {exposed} under the same key, letter for letter, so most engines \
                     publish nothing: left out"
                );
                notes.warn(&at, message);
            }
            continue;
        };
        if !(value.is_array() || value.is_null()) {
            notes.error(&at, wanted("a list", value));
            continue;
        }
        let hosts = value.as_array().map(Vec::as_slice).unwrap_or_default();
        if hosts.is_empty() {
            let message =
                "an empty list publishes nothing on most engines: the port is only exposed";
            notes.warn(&at, message);
        }
        if apart && !hosts.is_empty() {
            let mode = notes.name("HostConfig.NetworkMode");
            let message =
                format!("ports are not published with {mode} host, none or container:…: left out");
            notes.warn(&at, message);
            continue;
        }
        for (i, host) in hosts.iter().enumerate() {
            if let Some(port) = binding(*port, &format!("{at}[{i}]"), host, notes) {
                push(&mut list, port, &format!("{at}[{i}]"), notes);
            }
        }
    }
    for port in exposed.values() {
        let there = |p: &ContainerPort| {
            p.container_port == i32::from(port.number()) && p.protocol == port.protocol()
        };
        if !list.iter().any(there) {
            list.push(only_exposed(*port));
        }
    }
    list.sort_by_key(|p| (p.container_port, p.protocol, p.host_port));
    valid::bounded("ExposedPorts", list, 512, notes)
}

/// The exposed ports by the key they are written under.
fn exposed<'a>(object: &mut Object<'a>, notes: &mut Notes) -> BTreeMap<&'a str, Port> {
    let mut ports = BTreeMap::new();
    for (key, at, value) in std::mem::take(object).rest() {
        if !is_zero(value) {
            notes.warn(&at, "must be an empty object: what is in it is left out");
        }
        if let Some(port) = valid::parsed(&at, key, notes) {
            ports.insert(key, port);
        }
    }
    ports
}

fn only_exposed(port: Port) -> ContainerPort {
    ContainerPort {
        container_port: port.number().into(),
        protocol: port.protocol(),
        host_ip: String::new(),
        host_port: 0,
        publish: None,
        name: None,
    }
}

fn binding(port: Port, at: &str, host: &Value, notes: &mut Notes) -> Option<ContainerPort> {
    let mut object = Object::of(at, host, notes);
    let ip = object.text("HostIp", notes).unwrap_or_default();
    let text = object.text("HostPort", notes).unwrap_or_default();
    let path = object.at("HostPort");
    object.finish(notes);
    // Never without the address: that would publish to the world.
    let ip = valid::kept::<HostIp>(&format!("{at}.HostIp"), ip, notes)?;
    let host_port = match text.as_str() {
        "" | "0" => 0,
        text => match text.parse::<u16>() {
            Ok(number) if !text.starts_with(['+', '0']) => i32::from(number),
            _ => {
                let range = text
                    .split_once('-')
                    .is_some_and(|(a, b)| a.parse::<u16>().is_ok() && b.parse::<u16>().is_ok());
                let message = if range {
                    "a range to pick from is not supported: the engine picks any free port"
                        .to_owned()
                } else {
                    format!("{text:?} is no port from 1 to 65535: not published")
                };
                notes.warn(&path, message);
                if !range {
                    return None;
                }
                0
            }
        },
    };
    let publish = (host_port == 0).then_some(true);
    Some(ContainerPort { host_ip: ip, host_port, publish, ..only_exposed(port) })
}

/// Adds a port unless the CRD has no room for both it and one that is there.
fn push(list: &mut Vec<ContainerPort>, port: ContainerPort, at: &str, notes: &mut Notes) {
    let key = |p: &ContainerPort| (p.container_port, p.protocol, p.host_ip.clone(), p.host_port);
    let place =
        |p: &ContainerPort| (p.host_port > 0).then(|| (p.protocol, p.host_ip.clone(), p.host_port));
    let taken = |p: &ContainerPort| {
        key(p) == key(&port) || (place(p).is_some() && place(p) == place(&port))
    };
    if list.iter().any(taken) {
        notes.warn(at, "is published there twice: left out");
    } else {
        list.push(port);
    }
}
