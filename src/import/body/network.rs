//! Networks, names and addresses.

use super::{Body, ports, valid};
use crate::api::Container;
use crate::api::container::{IpamConfig, NetworkAttachment};
use crate::import::notes::Notes;
use crate::import::object::Object;

/// What an engine reports of an endpoint, which is no request.
const STATE: [&str; 9] = [
    "NetworkID",
    "EndpointID",
    "Gateway",
    "IPAddress",
    "IPPrefixLen",
    "IPv6Gateway",
    "GlobalIPv6Address",
    "GlobalIPv6PrefixLen",
    "DNSNames",
];

/// Networks, ports, DNS, extra hosts, the MAC address.
pub fn read(body: &mut Body<'_>, container: &mut Container, notes: &mut Notes) {
    let mode = mode(&mut body.host, notes);
    let joined = mode.as_deref().is_some_and(|mode| mode.starts_with("container:"));
    let apart = joined || matches!(mode.as_deref(), Some("host" | "none"));
    container.ports = ports::read(body, apart, notes);
    container.publish_all_ports = body.host.flag("PublishAllPorts", notes).filter(|all| *all);
    names(&mut body.host, container, notes);
    let message = "is no MAC address such as 02:42:ac:11:00:02";
    container.mac_address = body
        .config
        .text("MacAddress", notes)
        .and_then(|mac| valid::if_so("MacAddress", &mac, valid::is_mac, message, notes));
    let own = matches!(mode.as_deref(), Some("host" | "none"));
    networks(body, mode, apart, container, notes);
    address(own, container, notes);
    if joined {
        stay_out(container, notes);
    }
}

/// The container's own MAC address is that of its first network, and without one there is none.
fn address(apart: bool, container: &mut Container, notes: &mut Notes) {
    let Some(address) = container.mac_address.as_deref() else { return };
    let first = container.networks.as_ref().and_then(|networks| networks.first());
    let other = first.and_then(|network| network.mac_address.as_deref());
    if apart {
        let mode = notes.name("HostConfig.NetworkMode");
        notes.warn("MacAddress", format!("goes not with {mode} host or none: left out"));
    } else if other.is_some_and(|other| other != address) {
        notes.warn("MacAddress", "is not that of the first network, which counts: left out");
    } else {
        return;
    }
    container.mac_address = None;
}

fn mode(host: &mut Object<'_>, notes: &mut Notes) -> Option<String> {
    let mode = host.text("NetworkMode", notes).filter(|mode| mode != "default")?;
    let right = |mode: &str| {
        let name = mode.strip_prefix("container:").unwrap_or(mode);
        mode.len() <= 255 && valid::is_network(name)
    };
    let message = "is neither bridge, host, none, container:NAME nor a network's name";
    valid::if_so("HostConfig.NetworkMode", &mode, right, message, notes)
}

fn names(host: &mut Object<'_>, container: &mut Container, notes: &mut Notes) {
    let ip = |(at, text): (String, String), notes: &mut Notes| {
        valid::if_so(&at, &text, valid::is_ip, "is no IP address", notes)
    };
    let dns = host.texts("Dns", notes).into_iter().filter_map(|item| ip(item, notes)).collect();
    container.dns = valid::bounded("HostConfig.Dns", dns, 16, notes);
    let plain = |list: Vec<(String, String)>| {
        Some(list.into_iter().map(|(_, text)| text).collect::<Vec<_>>()).filter(|l| !l.is_empty())
    };
    container.dns_search = plain(host.texts("DnsSearch", notes));
    container.dns_options = plain(host.texts("DnsOptions", notes));
    let hosts = host.texts("ExtraHosts", notes).into_iter();
    let hosts = hosts.filter_map(|(at, text)| extra_host(&at, &text, notes)).collect();
    container.extra_hosts = valid::bounded("HostConfig.ExtraHosts", hosts, 256, notes);
}

/// `NAME:ADDRESS`; the `=` and the brackets that Docker's client takes are made that.
fn extra_host(at: &str, text: &str, notes: &mut Notes) -> Option<String> {
    let parts = match (text.find('='), text.find(':')) {
        (Some(equals), Some(colon)) if equals < colon => text.split_once('='),
        (Some(_), None) => text.split_once('='),
        _ => text.split_once(':'),
    };
    let right = parts.and_then(|(name, address)| {
        let bare = address.strip_prefix('[').and_then(|a| a.strip_suffix(']')).unwrap_or(address);
        let named = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '=');
        let there = bare == "host-gateway" || valid::is_ip(bare);
        (named && there && text.len() <= 300).then(|| format!("{name}:{bare}"))
    });
    if right.is_none() {
        notes.warn(at, format!("{text:?} is not NAME:ADDRESS or NAME:host-gateway: left out"));
    }
    right
}

fn networks(
    body: &mut Body<'_>,
    mode: Option<String>,
    apart: bool,
    container: &mut Container,
    notes: &mut Notes,
) {
    let mut list = Vec::new();
    for (name, at, value) in body.networking.object("EndpointsConfig", notes).rest() {
        let mut object = Object::of(&at, value, notes);
        if apart {
            object.ignore(&STATE);
            if !object.says_nothing() || Some(name) != mode.as_deref() {
                let mode = notes.name("HostConfig.NetworkMode");
                let message = format!(
                    "networks cannot be joined with {mode} host, none or container:…: left out"
                );
                notes.warn(&at, message);
            }
            continue;
        }
        if let Some(network) = attachment(name, object, notes) {
            list.push(network);
        }
    }
    // The engine's first is the one that the mode names.
    let first = mode.as_deref().unwrap_or("default");
    list.sort_by_key(|network| network.name != first);
    let the_default = |name: &str| name == "default" || name == "bridge";
    let same = |name: &str| name == first || (the_default(name) && the_default(first));
    let bare = |network: &NetworkAttachment| *network == named(&network.name);
    if let [only] = list.as_slice()
        && same(&only.name)
        && bare(only)
    {
        list.clear();
    }
    let mode = mode.filter(|mode| {
        let there = list.is_empty() || list.iter().any(|network| network.name == *mode);
        if !there && !the_default(mode) {
            let message = "is not among the networks that are joined, and those are what an engine joins: left out";
            notes.warn("HostConfig.NetworkMode", message);
        }
        there
    });
    container.network_mode = mode;
    container.networks = valid::bounded("NetworkingConfig.EndpointsConfig", list, 64, notes);
}

fn named(name: &str) -> NetworkAttachment {
    NetworkAttachment {
        name: name.to_owned(),
        aliases: None,
        ipam_config: None,
        links: None,
        mac_address: None,
        driver_opts: None,
        gw_priority: None,
    }
}

fn attachment(name: &str, mut object: Object<'_>, notes: &mut Notes) -> Option<NetworkAttachment> {
    let at = object.at("");
    let at = at.trim_end_matches('.').to_owned();
    valid::if_so(&at, name, valid::is_network, "is no network's name", notes)?;
    object.ignore(&STATE);
    let plain = |list: Vec<(String, String)>| {
        let mut texts: Vec<String> = Vec::new();
        for (_, text) in list {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        Some(texts).filter(|texts| !texts.is_empty())
    };
    let aliases = plain(object.texts("Aliases", notes));
    let links = plain(object.texts("Links", notes));
    let ipam_config = ipam(&mut object.object("IPAMConfig", notes), notes);
    let mac = object.text("MacAddress", notes);
    let message = "is no MAC address such as 02:42:ac:11:00:02";
    let mac_address = mac.and_then(|mac| {
        valid::if_so(&object.at("MacAddress"), &mac, valid::is_mac, message, notes)
    });
    let driver_opts = Some(object.map("DriverOpts", notes)).filter(|map| !map.is_empty());
    let gw_priority = object
        .int("GwPriority", notes)
        .and_then(|n| valid::small(&object.at("GwPriority"), n, i32::MIN, i32::MAX, notes))
        .filter(|n| *n != 0);
    object.finish(notes);
    let mut network = named(name);
    network.mac_address = mac_address;
    network.driver_opts = driver_opts;
    network.gw_priority = gw_priority;
    let the_default = name == "default" || name == "bridge";
    if the_default && (aliases.is_some() || links.is_some() || ipam_config.is_some()) {
        let message = "the engine's default network takes no fixed addresses, aliases or links: those are left out";
        notes.warn(&at, message);
    } else {
        network.aliases = aliases;
        network.links = links;
        network.ipam_config = ipam_config;
    }
    Some(network)
}

fn ipam(object: &mut Object<'_>, notes: &mut Notes) -> Option<IpamConfig> {
    let mut address = |key: &str, four: bool| {
        let text = object.text(key, notes)?;
        let right = |text: &str| valid::is_ip(text) && text.contains(':') != four;
        let message = if four { "is no IPv4 address" } else { "is no IPv6 address" };
        valid::if_so(&object.at(key), &text, right, message, notes)
    };
    let config = IpamConfig {
        ipv4_address: address("IPv4Address", true),
        ipv6_address: address("IPv6Address", false),
        link_local_ips: {
            let list = object.texts("LinkLocalIPs", notes);
            let right = |(at, text): (String, String)| {
                valid::if_so(&at, &text, valid::is_ip, "is no IP address", notes)
            };
            let list: Vec<String> = list.into_iter().filter_map(right).collect();
            valid::bounded(&object.at("LinkLocalIPs"), list, 16, notes)
        },
    };
    std::mem::take(object).finish(notes);
    Some(config).filter(|config| *config != IpamConfig::default())
}

/// With the network of another container, that container's settings count.
fn stay_out(container: &mut Container, notes: &mut Notes) {
    let mode = notes.name("HostConfig.NetworkMode");
    let mut out = |path: &str, there: bool| {
        if there {
            let message =
                format!("with {mode} container:… the other container's network counts: left out");
            notes.warn(path, message);
        }
    };
    out("ExposedPorts", container.ports.take().is_some());
    out("Hostname", container.hostname.take().is_some());
    out("MacAddress", container.mac_address.take().is_some());
    out("HostConfig.Dns", container.dns.take().is_some());
    out("HostConfig.DnsSearch", container.dns_search.take().is_some());
    out("HostConfig.DnsOptions", container.dns_options.take().is_some());
    out("HostConfig.ExtraHosts", container.extra_hosts.take().is_some());
}
