//! Judges what a container has of networks: those it joins, and the ports it publishes.

use super::Context;
use super::allowances::HostNamespace;
use super::port::{HostPorts, Ports, protocol};
use super::refusal::Refusals;
use super::rights::{join, sysctl};
use crate::api::container::NetworkAttachment;
use crate::api::grammar::{HostIp, Protocol};
use crate::docker::{EndpointSettings, PortBinding};

/// Options of an endpoint that change nothing but the container's own interface.
const HARMLESS: [&str; 1] = ["com.docker.network.endpoint.ifname"];
/// An option of an endpoint that holds kernel parameters, `KEY=VALUE` with commas between.
const SYSCTLS: &str = "com.docker.network.endpoint.sysctls";

/// Judges the network mode.
pub fn mode(mode: &str, refusals: &mut Refusals<'_>) {
    let path = "spec.container.networkMode";
    match mode.strip_prefix("container:") {
        Some(name) => join(name, path, refusals),
        None => network(mode, path, refusals),
    }
}

/// Judges a network that is joined, at creation or after.
pub fn endpoint(
    name: &str,
    settings: &EndpointSettings,
    context: &Context<'_>,
    refusals: &mut Refusals<'_>,
) {
    let list = context.run.container.networks.as_deref().unwrap_or_default();
    let path = match list.iter().position(|NetworkAttachment { name: n, .. }| n == name) {
        Some(index) => format!("spec.container.networks[{index}]"),
        None => format!("spec.container.networks[{name}]"),
    };
    network(name, &format!("{path}.name"), refusals);
    let EndpointSettings {
        // Names and addresses within the network.
        ipam_config: _,
        links: _,
        aliases: _,
        mac_address: _,
        gw_priority: _,
        driver_opts,
    } = settings;
    let listed = refusals.allowances().networks.iter().any(|entry| entry.matches(name));
    for (key, value) in driver_opts.iter().flatten() {
        let at = format!("{path}.driverOpts[{key}]");
        if key == SYSCTLS {
            for parameter in value.split(',') {
                let parameter = parameter.split_once('=').map_or(parameter, |(name, _)| name);
                sysctl(parameter.trim(), &at, refusals);
            }
        } else if !HARMLESS.contains(&key.as_str()) {
            let what = format!("{name} by name, and so {key} for it,");
            refusals.need(listed, at, &what, "networks");
        }
    }
}

fn network(name: &str, path: &str, refusals: &mut Refusals<'_>) {
    match name {
        "" | "default" | "bridge" | "none" => {}
        "host" => {
            let allowed = refusals.allowances().host_namespaces.contains(&HostNamespace::Network);
            refusals.need(allowed, path, "network", "hostNamespaces");
        }
        name => {
            let allowed = refusals.allowances().networks.iter().any(|entry| entry.matches(name));
            refusals.need(allowed, path, name, "networks");
        }
    }
}

/// Judges the ports published under one key of a create body.
pub fn published(
    key: &str,
    bindings: &[PortBinding],
    context: &Context<'_>,
    refusals: &mut Refusals<'_>,
) {
    let (port, name) = key.split_once('/').unwrap_or((key, "tcp"));
    let Some(protocol) = protocol(name) else {
        let why = "write tcp, udp or sctp as a port's protocol";
        return refusals.never(format!("spec.container.ports[{key}].protocol"), why);
    };
    // Some engines take no binding for one on a port of their choice.
    let unsaid = [PortBinding::default()];
    let bindings = if bindings.is_empty() { &unsaid } else { bindings };
    for binding in bindings {
        let path = port_path(port, key, protocol, binding, context);
        one_port(binding, protocol, &path, refusals);
    }
}

fn one_port(binding: &PortBinding, protocol: Protocol, path: &str, refusals: &mut Refusals<'_>) {
    let PortBinding { host_ip, host_port } = binding;
    let address = match host_ip.parse::<HostIp>() {
        Ok(address) => address.addr(),
        Err(fault) => return refusals.never(format!("{path}.hostIP"), &fault.to_string()),
    };
    let at = format!("{path}.hostPort");
    let Some(ports) = Ports::asked(host_port) else {
        return refusals.never(at, "write a port from 1 to 65535");
    };
    let mut listed = refusals.allowances().host_ports.iter();
    let allowed = listed.any(|entry| entry.covers(&ports, protocol, address));
    let name = protocol.docker();
    let number = if ports == Ports::Dynamic { "dynamic" } else { host_port };
    let what = match address {
        Some(ip) if ip.is_ipv6() => format!("[{ip}]:{number}/{name}"),
        Some(ip) => format!("{ip}:{number}/{name}"),
        None => format!("{number}/{name}"),
    };
    refusals.need(allowed, at, &what, "hostPorts");
}

/// Judges whether the engine may publish all that is exposed, also by the image.
pub fn publish_all(refusals: &mut Refusals<'_>) {
    let allowed = refusals.allowances().host_ports.iter().any(HostPorts::covers_all_exposed);
    refusals.need(allowed, "spec.container.publishAllPorts", "dynamic", "hostPorts");
}

fn port_path(
    port: &str,
    key: &str,
    protocol: Protocol,
    binding: &PortBinding,
    context: &Context<'_>,
) -> String {
    let list = context.run.container.ports.as_deref().unwrap_or_default();
    let index = list.iter().position(|declared| {
        let number =
            if declared.host_port > 0 { declared.host_port.to_string() } else { String::new() };
        declared.container_port.to_string() == port
            && declared.protocol == protocol
            && declared.host_ip == binding.host_ip
            && number == binding.host_port
    });
    index.map_or_else(
        || format!("spec.container.ports[{key}]"),
        |i| format!("spec.container.ports[{i}]"),
    )
}
