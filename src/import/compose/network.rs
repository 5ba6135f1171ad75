//! `networks`, `network_mode` and `extra_hosts`.

use serde_json::{Map, Value, json};

use super::project::Project;
use super::service::Draft;
use super::value::{Node, scalar};
use crate::import::notes::Notes;
use crate::import::object::wanted;

/// Networks and names.
pub fn read(
    service: &str,
    node: &mut Node<'_>,
    draft: &mut Draft,
    project: &Project<'_>,
    notes: &mut Notes,
) {
    extra_hosts(node, draft, notes);
    let mode = node.text("network_mode", notes).filter(|mode| !mode.is_empty());
    let at = node.at("networks");
    let networks = node.take("networks");
    if let Some(mode) = mode {
        if networks.is_some() {
            notes.warn_at(at, "goes not with network_mode: left out");
        }
        if let Some(service) = mode.strip_prefix("service:") {
            let message =
                format!("write container:NAME of the container of service {service}: left out");
            notes.warn_at(node.at("network_mode"), message);
        } else {
            draft.host("NetworkMode", &node.at("network_mode"), mode);
        }
        return;
    }
    let list: Vec<(String, String, Value)> = match networks {
        Some(Value::Object(map)) => {
            map.into_iter().map(|(name, value)| (format!("{at}.{name}"), name, value)).collect()
        }
        Some(Value::Array(items)) => {
            let item = |(i, item)| {
                let at = format!("{at}[{i}]");
                scalar(&at, item, notes).map(|name| (at, name, Value::Null))
            };
            items.iter().enumerate().filter_map(item).collect()
        }
        None => Vec::new(),
        Some(other) => {
            notes.error_at(at, wanted("a list or an object", &other));
            return;
        }
    };
    if list.is_empty() {
        let message = format!(
            "the network {}_default that compose makes for its services is not carried over, the container \
             is on the engine's bridge, where names of others are not found: make a network on the host \
             and name it in networks",
            project.name
        );
        notes.warn_at(at, message);
        return;
    }
    join(service, list, draft, project, notes);
}

/// Names of other hosts, each with an address or with a list of such.
fn extra_hosts(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = node.at("extra_hosts");
    let pairs: Vec<(String, String)> = match node.take("extra_hosts") {
        Some(Value::Object(map)) => {
            let of = |(name, value): (String, Value)| {
                let at = format!("{at}.{name}");
                let addresses = match value {
                    Value::Array(list) => list,
                    one => vec![one],
                };
                addresses.into_iter().map(move |address| (at.clone(), name.clone(), address))
            };
            let scalars = map.into_iter().flat_map(of).filter_map(|(at, name, address)| {
                let address = scalar(&at, &address, notes)?;
                Some((at, format!("{name}={address}")))
            });
            scalars.collect()
        }
        None => Vec::new(),
        Some(Value::Array(items)) => {
            let item = |(i, item)| {
                let at = format!("{at}[{i}]");
                scalar(&at, item, notes).map(|host| (at, host))
            };
            items.iter().enumerate().filter_map(item).collect()
        }
        Some(other) => {
            notes.error_at(at, wanted("a list or an object", &other));
            return;
        }
    };
    for (at, host) in pairs {
        draft.push("ExtraHosts", &at, host);
    }
}

fn join(
    service: &str,
    list: Vec<(String, String, Value)>,
    draft: &mut Draft,
    project: &Project<'_>,
    notes: &mut Notes,
) {
    let mut first: Option<(i64, String, String, String)> = None;
    for (at, name, value) in list {
        let network = project.network(&name);
        if !project.is_external_network(&name) {
            let message = format!(
                "is the engine's network {network}, as docker compose names it: it must exist on the host"
            );
            notes.warn_at(at.clone(), message);
        }
        let mut node = Node::new(at.clone(), &value);
        let priority = node.int("priority", notes).unwrap_or_default();
        let endpoint = endpoint(service, &mut node, notes);
        node.finish(notes);
        // Compose joins the one of the highest priority first, of equal ones the first by name.
        let before = |(best, key, ..): &(i64, String, String, String)| {
            priority > *best || (priority == *best && name < *key)
        };
        if first.as_ref().is_none_or(before) {
            first = Some((priority, name, at.clone(), network.clone()));
        }
        draft.join(&network, &at, endpoint);
    }
    if let Some((_, _, at, network)) = first {
        draft.host("NetworkMode", &at, network);
    }
}

fn endpoint(service: &str, node: &mut Node<'_>, notes: &mut Notes) -> Map<String, Value> {
    let mut aliases: Vec<String> =
        node.texts("aliases", notes).into_iter().map(|(_, a)| a).collect();
    // So that the other services find it by the name they know.
    if !aliases.iter().any(|alias| alias == service) {
        aliases.push(service.to_owned());
    }
    let local: Vec<String> =
        node.texts("link_local_ips", notes).into_iter().map(|(_, address)| address).collect();
    let options: Map<String, Value> = node
        .pairs("driver_opts", notes)
        .into_iter()
        .map(|(_, name, value)| (name, value.unwrap_or_default().into()))
        .collect();
    let ipam = json!({
        "IPv4Address": node.text("ipv4_address", notes),
        "IPv6Address": node.text("ipv6_address", notes),
        "LinkLocalIPs": local,
    });
    let mut endpoint = Map::new();
    endpoint.insert("Aliases".to_owned(), aliases.into());
    endpoint.insert("IPAMConfig".to_owned(), ipam);
    endpoint.insert("MacAddress".to_owned(), node.text("mac_address", notes).into());
    endpoint.insert("DriverOpts".to_owned(), Value::Object(options));
    endpoint.insert("GwPriority".to_owned(), node.int("gw_priority", notes).into());
    endpoint
}
