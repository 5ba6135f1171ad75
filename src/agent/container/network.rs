//! Networks and ports.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::faults::{Faults, entries, filled, text};
use crate::api::Container;
use crate::api::container::{ContainerPort, IpamConfig, NetworkAttachment, form};
use crate::api::grammar::{HostIp, Invalid};
use crate::docker::{
    ApiVersion, Empty, EndpointIpam, EndpointSettings, HostConfig, NetworkingConfig, PortBinding,
};

/// From here on an engine takes more than one network at creation, and MAC addresses per network.
const MANY_NETWORKS: ApiVersion = ApiVersion::v1(44);

type Endpoints = Vec<(String, EndpointSettings)>;

/// The networks to join at creation, the MAC address in the body, the networks to connect after.
pub fn attach(
    container: &Container,
    host: &mut HostConfig,
    faults: &mut Faults,
) -> (NetworkingConfig, Option<String>, Endpoints) {
    faults.fits("spec.container.networkMode", container.network_mode.as_ref(), &form::NETWORK_MODE);
    let mode = text(container.network_mode.as_ref());
    names(container, host, faults);
    let list = container.networks.as_deref().unwrap_or_default();
    let mut endpoints: Endpoints = list
        .iter()
        .enumerate()
        .map(|(i, network)| (network.name.clone(), endpoint(i, network, faults)))
        .collect();
    check_mode(container, mode.as_deref(), faults);
    // The network that the mode names is the container's first.
    if let Some(first) = endpoints.iter().position(|(name, _)| Some(name) == mode.as_ref()) {
        endpoints[..=first].rotate_right(1);
    }
    let mac_address = mac_address(container, mode.as_deref(), &mut endpoints, faults);
    host.network_mode = mode;
    let connect = if faults.engine() < MANY_NETWORKS && endpoints.len() > 1 {
        endpoints.split_off(1)
    } else {
        Vec::new()
    };
    let endpoints: BTreeMap<_, _> = endpoints.into_iter().collect();
    let endpoints_config = Some(endpoints).filter(|map| !map.is_empty());
    (NetworkingConfig { endpoints_config }, mac_address, connect)
}

/// The ports that the container listens on.
pub fn exposed(container: &Container) -> BTreeMap<String, Empty> {
    container.ports.iter().flatten().map(|port| (key(port), Empty {})).collect()
}

/// Where ports are published, under the same keys as they are exposed: an engine publishes nothing
/// under another, and says nothing.
pub fn publish(container: &Container, host: &mut HostConfig, faults: &mut Faults) {
    host.publish_all_ports = container.publish_all_ports.unwrap_or_default();
    let mut bindings: BTreeMap<String, Vec<PortBinding>> = BTreeMap::new();
    let mut taken = Taken::default();
    port_names(container, faults);
    for (i, port) in container.ports.iter().flatten().enumerate() {
        let at = |field: &str| format!("spec.container.ports[{i}].{field}");
        if !(1..=65535).contains(&port.container_port) {
            faults.add(at("containerPort"), "must be from 1 to 65535");
        }
        if !(0..=65535).contains(&port.host_port) {
            faults.add(at("hostPort"), "must be from 0 to 65535");
        }
        let address = faults.parse::<HostIp>(&at("hostIP"), &port.host_ip);
        let published = port.host_port > 0 || port.publish == Some(true);
        if !published {
            if !port.host_ip.is_empty() {
                faults.add(at("hostIP"), "hostIP means nothing without hostPort or publish: true");
            }
            continue;
        }
        if port.publish == Some(false) {
            let message = "publish: false contradicts hostPort: leave one of the two out";
            faults.add(at("publish"), message);
        }
        if let Some(address) = address {
            taken.claim(port, address.addr(), &at("hostPort"), faults);
        }
        let host_port = if port.host_port > 0 { port.host_port.to_string() } else { String::new() };
        let binding = PortBinding { host_ip: port.host_ip.clone(), host_port };
        bindings.entry(key(port)).or_default().push(binding);
    }
    host.port_bindings = Some(bindings).filter(|map| !map.is_empty());
}

fn port_names(container: &Container, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for (i, port) in container.ports.iter().flatten().enumerate() {
        let Some(name) = &port.name else { continue };
        let at = format!("spec.container.ports[{i}].name");
        faults.check(at.as_str(), form::PORT_NAME.check(name));
        if !names.insert(name) {
            faults.add(at, format!("two ports have one name: {name} is another's"));
        }
    }
}

fn key(port: &ContainerPort) -> String {
    format!("{}/{}", port.container_port, port.protocol.docker())
}

/// Which host ports are taken, on which addresses.
#[derive(Default)]
struct Taken(Vec<(i32, &'static str, Option<IpAddr>)>);

impl Taken {
    fn claim(
        &mut self,
        port: &ContainerPort,
        address: Option<IpAddr>,
        at: &str,
        faults: &mut Faults,
    ) {
        if port.host_port == 0 {
            return;
        }
        let every = |a: Option<IpAddr>| a.is_none_or(|a| a.is_unspecified());
        // `0.0.0.0` leaves room for an IPv6 address of the same port, and the other way round.
        let meets = |a: Option<IpAddr>, b: Option<IpAddr>| match (a, b) {
            (Some(a), Some(b)) if a.is_ipv4() != b.is_ipv4() => false,
            (a, b) => a == b || every(a) || every(b),
        };
        let (number, protocol) = (port.host_port, port.protocol.docker());
        if self.0.iter().any(|(n, p, a)| *n == number && *p == protocol && meets(*a, address)) {
            let message = format!(
                "host port {number}/{protocol} is published twice on one address: use another port or hostIP"
            );
            faults.add(at, message);
        }
        self.0.push((number, protocol, address));
    }
}

fn names(container: &Container, host: &mut HostConfig, faults: &mut Faults) {
    each("spec.container.dns", container.dns.as_ref(), form::check_ip, faults);
    let hosts = container.extra_hosts.as_ref();
    each("spec.container.extraHosts", hosts, form::check_extra_host, faults);
    host.dns = filled(container.dns.as_ref());
    host.dns_search = filled(container.dns_search.as_ref());
    host.dns_options = filled(container.dns_options.as_ref());
    host.extra_hosts = filled(container.extra_hosts.as_ref());
}

fn each(
    path: &str,
    list: Option<&Vec<String>>,
    check: impl Fn(&str) -> Result<(), Invalid>,
    faults: &mut Faults,
) {
    for (i, text) in list.into_iter().flatten().enumerate() {
        faults.check(format!("{path}[{i}]"), check(text));
    }
}

/// What is wrong with a network by its name and addresses, whatever the engine.
fn check_network(i: usize, network: &NetworkAttachment, faults: &mut Faults) {
    let at = |field: &str| format!("spec.container.networks[{i}].{field}");
    let NetworkAttachment { name, aliases, ipam_config, links, mac_address, .. } = network;
    if !form::NETWORK.fits(name) || form::NO_NETWORKS.contains(&name.as_str()) {
        faults.add(at("name"), form::NETWORK.message());
    }
    faults.fits(at("macAddress"), mac_address.as_ref(), &form::MAC_ADDRESS);
    if ["bridge", "default"].contains(&name.as_str())
        && (aliases.is_some() || ipam_config.is_some() || links.is_some())
    {
        faults.add(
            format!("spec.container.networks[{i}]"),
            "the engine's default network takes no fixed addresses, aliases or links: use a network of your own",
        );
    }
    let Some(IpamConfig { ipv4_address, ipv6_address, link_local_ips }) = ipam_config else {
        return;
    };
    let is =
        |text: &String, family: fn(&IpAddr) -> bool| form::ip(text).as_ref().is_some_and(family);
    if ipv4_address.as_ref().is_some_and(|text| !is(text, IpAddr::is_ipv4)) {
        faults.add(at("ipamConfig.ipv4Address"), "must be an IPv4 address");
    }
    if ipv6_address.as_ref().is_some_and(|text| !is(text, IpAddr::is_ipv6)) {
        faults.add(at("ipamConfig.ipv6Address"), "must be an IPv6 address");
    }
    each(&at("ipamConfig.linkLocalIPs"), link_local_ips.as_ref(), form::check_ip, faults);
}

fn endpoint(i: usize, network: &NetworkAttachment, faults: &mut Faults) -> EndpointSettings {
    let at = |field: &str| format!("spec.container.networks[{i}].{field}");
    check_network(i, network, faults);
    let mac_address = text(network.mac_address.as_ref());
    faults.needs(at("macAddress"), mac_address.is_some(), MANY_NETWORKS, "25");
    let priority = network.gw_priority.map(i64::from).filter(|priority| *priority != 0);
    faults.needs(at("gwPriority"), priority.is_some(), ApiVersion::v1(48), "28");
    let ipam = network.ipam_config.as_ref().map(|ipam| EndpointIpam {
        ipv4_address: text(ipam.ipv4_address.as_ref()),
        ipv6_address: text(ipam.ipv6_address.as_ref()),
        link_local_ips: filled(ipam.link_local_ips.as_ref()),
    });
    EndpointSettings {
        ipam_config: ipam.filter(|ipam| *ipam != EndpointIpam::default()),
        links: filled(network.links.as_ref()),
        aliases: filled(network.aliases.as_ref()),
        mac_address,
        driver_opts: entries(network.driver_opts.as_ref()),
        gw_priority: priority,
    }
}

/// What a network mode leaves no room for; the schema says the same of one manifest alone.
fn check_mode(container: &Container, mode: Option<&str>, faults: &mut Faults) {
    let Some(mode) = mode else { return };
    let joined = mode.starts_with("container:");
    let networks = container.networks.as_deref().unwrap_or_default();
    let apart = joined || mode == "host" || mode == "none";
    if apart && !networks.is_empty() {
        faults.add(
            "spec.container.networks",
            "networks cannot be joined with networkMode host, none or container:…; leave one of the two out",
        );
    }
    if !apart
        && mode != "default"
        && !networks.is_empty()
        && networks.iter().all(|n| n.name != mode)
    {
        faults.add(
            "spec.container.networkMode",
            "networkMode is not among networks: name it there too, or leave it out",
        );
    }
    let published = |port: &ContainerPort| port.host_port > 0 || port.publish == Some(true);
    let ports = container.ports.as_deref().unwrap_or_default();
    if apart && ports.iter().any(published) {
        faults.add(
            "spec.container.ports",
            "ports cannot be published with networkMode host, none or container:…; leave hostPort and publish out",
        );
    }
    if (mode == "host" || mode == "none") && text(container.mac_address.as_ref()).is_some() {
        faults.add(
            "spec.container.macAddress",
            "with networkMode host or none there is no address to set: leave macAddress out",
        );
    }
    let own_network = !ports.is_empty()
        || text(container.hostname.as_ref()).is_some()
        || text(container.mac_address.as_ref()).is_some()
        || [&container.dns, &container.dns_search, &container.dns_options, &container.extra_hosts]
            .iter()
            .any(|list| list.as_ref().is_some_and(|list| !list.is_empty()));
    if joined && own_network {
        faults.add(
            "spec.container.networkMode",
            "with networkMode container:… the other container's network counts: leave out ports, \
             hostname, dns, dnsSearch, dnsOptions, extraHosts and macAddress",
        );
    }
}

/// The container's MAC address: in the body for an engine before 1.44, in its first network since.
fn mac_address(
    container: &Container,
    mode: Option<&str>,
    endpoints: &mut Endpoints,
    faults: &mut Faults,
) -> Option<String> {
    faults.fits("spec.container.macAddress", container.mac_address.as_ref(), &form::MAC_ADDRESS);
    let address = text(container.mac_address.as_ref())?;
    if faults.engine() < MANY_NETWORKS {
        return Some(address);
    }
    if endpoints.is_empty() {
        endpoints.push((mode.unwrap_or("default").to_owned(), EndpointSettings::default()));
    }
    if let Some((_, first)) = endpoints.first_mut() {
        if first.mac_address.as_ref().is_some_and(|other| *other != address) {
            faults.add(
                "spec.container.macAddress",
                "differs from the macAddress of the first of networks",
            );
        }
        first.mac_address = Some(address);
    }
    None
}
