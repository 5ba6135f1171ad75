//! Networks, and the containers in them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    answer::{Answer, Reply, empty, json_of, refusal},
    call::Call,
    container::Container,
    create::endpoint,
    state::{State, fresh_id, now, short},
};

const FILTERS: [&str; 7] = ["dangling", "driver", "id", "label", "name", "scope", "type"];
const PREDEFINED: [&str; 3] = ["bridge", "host", "none"];
/// The first port that the engine chooses by itself.
const EPHEMERAL: u16 = 49153;

#[derive(Clone, Debug)]
pub struct Network {
    pub id: String,
    pub name: String,
    pub driver: String,
    pub created: String,
    pub labels: Value,
    pub options: Value,
    pub internal: bool,
    /// 172.N.0.0/16.
    pub subnet: u64,
}

impl State {
    pub fn make_network(&mut self, name: &str, driver: &str, body: &Value) -> Network {
        let subnet = match name {
            "bridge" => 17,
            _ => 18 + self.next() % 200,
        };
        let map = |key: &str| if body[key].is_object() { body[key].clone() } else { json!({}) };
        Network {
            id: fresh_id(),
            name: name.to_owned(),
            driver: driver.to_owned(),
            created: now().to_string(),
            labels: map("Labels"),
            options: map("Options"),
            internal: body["Internal"] == true,
            subnet,
        }
    }

    /// By name, id, or the start of an id.
    pub fn network_named(&self, word: &str) -> Result<&Network, Answer> {
        let by = |judge: &dyn Fn(&&Network) -> bool| self.networks.iter().find(judge);
        by(&|n| n.name == word)
            .or_else(|| by(&|n| n.id == word))
            .or_else(|| by(&|n| word.len() >= 12 && n.id.starts_with(word)))
            .ok_or_else(|| refusal(404, format!("network {word} not found")))
    }

    pub fn create_network(&mut self, call: &Call) -> Reply {
        let body = call.json()?;
        let name = body["Name"].as_str().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(refusal(500, "invalid name: "));
        }
        if PREDEFINED.contains(&name.as_str()) {
            let message = format!("operation is not permitted on predefined {name} network ");
            return Err(refusal(403, message));
        }
        let driver = body["Driver"].as_str().filter(|d| !d.is_empty()).unwrap_or("bridge");
        if !["bridge", "macvlan", "ipvlan"].contains(&driver) {
            return Err(refusal(404, format!("plugin \"{driver}\" not found")));
        }
        let unique = body["CheckDuplicate"] == true || self.since(44);
        if unique && self.networks.iter().any(|network| network.name == name) {
            return Err(refusal(409, format!("network with name {name} already exists")));
        }
        let network = self.make_network(&name, driver, body);
        let id = network.id.clone();
        self.tell_of("network", "create", &id, &[("name", &name), ("type", driver)]);
        self.networks.push(network);
        Ok(json_of(201, json!({ "Id": id, "Warning": "" })))
    }

    fn network_json(&self, network: &Network) -> Value {
        let addresses = match network.driver.as_str() {
            "host" | "null" => json!([]),
            _ => json!([{
                "Subnet": format!("172.{}.0.0/16", network.subnet),
                "Gateway": format!("172.{}.0.1", network.subnet),
            }]),
        };
        let mut inside = Map::new();
        for container in self.containers.values().filter(|container| container.is_alive()) {
            for e in container.endpoints.iter().filter(|e| e.network_id == network.id) {
                let of = json!({
                    "Name": container.name, "EndpointID": e.id, "MacAddress": e.mac,
                    "IPv4Address": format!("{}/16", e.address), "IPv6Address": "",
                });
                inside.insert(container.id.clone(), of);
            }
        }
        json!({
            "Name": network.name, "Id": network.id, "Created": network.created, "Scope": "local",
            "Driver": network.driver, "EnableIPv6": false,
            "IPAM": { "Driver": "default", "Options": null, "Config": addresses },
            "Internal": network.internal, "Attachable": false, "Ingress": false,
            "ConfigFrom": { "Network": "" }, "ConfigOnly": false, "Containers": inside,
            "Options": network.options, "Labels": network.labels,
        })
    }

    pub fn network(&self, word: &str) -> Reply {
        self.network_named(word).map(|network| json_of(200, self.network_json(network)))
    }

    pub fn list_networks(&self, call: &Call) -> Reply {
        let filters = call.filters(&FILTERS)?;
        let chosen = self.networks.iter().filter(|n| {
            filters.labels(&n.labels)
                && filters.any("name", |name| n.name.contains(name))
                && filters.any("id", |id| n.id.contains(id))
                && filters.any("driver", |driver| n.driver == driver)
        });
        let list = chosen.map(|n| self.network_json(n)).collect::<Vec<_>>();
        Ok(json_of(200, list.into()))
    }

    pub fn remove_network(&mut self, word: &str) -> Reply {
        let network = self.network_named(word)?.clone();
        if PREDEFINED.contains(&network.name.as_str()) {
            let message = format!("{word} is a pre-defined network and cannot be removed");
            return Err(refusal(403, message));
        }
        let attached = |c: &Container| c.endpoints.iter().any(|e| e.network_id == network.id);
        if self.containers.values().any(|c| c.is_alive() && attached(c)) {
            let message = format!(
                "error while removing network: network {} id {} has active endpoints",
                network.name, network.id
            );
            return Err(refusal(403, message));
        }
        self.networks.retain(|other| other.id != network.id);
        let more = [("name", network.name.as_str()), ("type", network.driver.as_str())];
        self.tell_of("network", "destroy", &network.id, &more);
        Ok(empty(204))
    }

    pub fn connect(&mut self, word: &str, call: &Call) -> Reply {
        let body = call.json()?;
        let container = self.get(body["Container"].as_str().unwrap_or_default())?.clone();
        let found = self.network_named(word).cloned();
        let name = found.as_ref().map_or(word, |network| network.name.as_str()).to_owned();
        if name == "host" {
            let message = "container cannot be disconnected from host network or connected to \
                           host network";
            return Err(refusal(if self.since(44) { 403 } else { 400 }, message));
        }
        let mut endpoint = endpoint(&name, &body["EndpointConfig"]);
        if !container.is_alive() {
            // A network that is missing is missed at the start.
            if found.is_ok() && name != "bridge" {
                endpoint.aliases.push(short(&container.id).to_owned());
            }
            let stored = self.get_mut(&container.id)?;
            match stored.endpoints.iter_mut().find(|e| e.network == name) {
                Some(known) if body["EndpointConfig"].is_object() => *known = endpoint,
                Some(_) => {}
                None => stored.endpoints.push(endpoint),
            }
            return Ok(empty(200));
        }
        let network = found?;
        if container.endpoints.iter().any(|e| e.network_id == network.id) {
            let message =
                format!("endpoint with name {} already exists in network {name}", container.name);
            return Err(refusal(403, message));
        }
        self.get_mut(&container.id)?.endpoints.push(endpoint);
        self.plug(&container.id, &name, &network);
        Ok(empty(200))
    }

    pub fn disconnect(&mut self, word: &str, call: &Call) -> Reply {
        let body = call.json()?;
        let network = self.network_named(word).cloned();
        let container = self.get(body["Container"].as_str().unwrap_or_default())?;
        let (id, alive) = (container.id.clone(), container.is_alive());
        let name = network.as_ref().map_or(word, |network| network.name.as_str()).to_owned();
        let Some(at) = container.endpoints.iter().position(|e| e.network == name) else {
            let the = if alive { "" } else { "the " };
            let message = format!("container {id} is not connected to {the}network {name}");
            return Err(refusal(500, message));
        };
        self.get_mut(&id)?.endpoints.remove(at);
        if alive {
            self.tell_network("disconnect", &network?, &id);
        }
        Ok(empty(200))
    }

    /// Puts a starting container into its networks.
    pub fn attach(&mut self, container: &Container) -> Result<(), Answer> {
        if let Some(target) = container.network_mode().strip_prefix("container:") {
            let status = if self.since(51) { 500 } else { 404 };
            self.get(target)
                .map_err(|_| refusal(status, format!("No such container: {target}")))?;
        }
        let mut found = Vec::new();
        for endpoint in &container.endpoints {
            // Once it was in a network, no other of the same name will do.
            let pinned = &endpoint.network_id;
            let word = if pinned.is_empty() { &endpoint.network } else { pinned };
            found.push((endpoint.network.clone(), self.network_named(word)?.clone()));
        }
        for (name, network) in found {
            self.plug(&container.id, &name, &network);
        }
        Ok(())
    }

    fn plug(&mut self, id: &str, name: &str, network: &Network) {
        let host = 2 + self.next() % 60_000;
        let (high, low) = (host / 250, host % 250 + 2);
        let own = network.driver != "host" && network.driver != "null";
        let Ok(container) = self.get_mut(id) else {
            return;
        };
        let alias = short(id).to_owned();
        for endpoint in container.endpoints.iter_mut().filter(|e| e.network == name) {
            endpoint.network_id.clone_from(&network.id);
            endpoint.id = fresh_id();
            if own {
                endpoint.address = format!("172.{}.{high}.{low}", network.subnet);
                endpoint.gateway = format!("172.{}.0.1", network.subnet);
                endpoint.mac = format!("02:42:ac:{:02x}:{high:02x}:{low:02x}", network.subnet);
                if name != "bridge" && !endpoint.aliases.contains(&alias) {
                    endpoint.aliases.push(alias.clone());
                }
            }
        }
        self.tell_network("connect", network, id);
    }

    /// Takes an ended container out of its networks, whose ids it keeps.
    pub fn detach(&mut self, id: &str) {
        let Ok(container) = self.get_mut(id) else {
            return;
        };
        let mut left = Vec::new();
        for endpoint in container.endpoints.iter_mut().filter(|e| !e.id.is_empty()) {
            left.push(endpoint.network_id.clone());
            for text in
                [&mut endpoint.id, &mut endpoint.address, &mut endpoint.gateway, &mut endpoint.mac]
            {
                text.clear();
            }
        }
        for network in left {
            if let Ok(network) = self.network_named(&network).cloned() {
                self.tell_network("disconnect", &network, id);
            }
        }
    }

    fn tell_network(&mut self, action: &str, network: &Network, container: &str) {
        let more = [
            ("container", container),
            ("name", network.name.as_str()),
            ("type", network.driver.as_str()),
        ];
        self.tell_of("network", action, &network.id, &more);
    }

    /// The ports of the host that a starting container gets.
    pub fn publish(
        &mut self,
        container: &Container,
    ) -> Result<BTreeMap<String, Vec<(String, u16)>>, Answer> {
        let mut bound = BTreeMap::new();
        if !is_bridged(container) {
            return Ok(bound);
        }
        for port in container.config["ExposedPorts"].as_object().into_iter().flat_map(Map::keys) {
            let wanted = container.host["PortBindings"][port].as_array().cloned();
            let mut wanted = wanted.unwrap_or_default();
            if wanted.is_empty() && container.host["PublishAllPorts"] == true {
                wanted.push(json!({ "HostIp": "", "HostPort": "" }));
            }
            for binding in wanted {
                let ip = binding["HostIp"].as_str().unwrap_or_default();
                let free = self.port(container, port, ip, &binding["HostPort"], &bound)?;
                let any = ip.is_empty();
                let list: &mut Vec<_> = bound.entry(port.clone()).or_default();
                list.push((if any { "0.0.0.0" } else { ip }.to_owned(), free));
                if any {
                    list.push(("::".to_owned(), free));
                }
            }
        }
        Ok(bound)
    }

    fn port(
        &self,
        container: &Container,
        port: &str,
        ip: &str,
        wanted: &Value,
        own: &BTreeMap<String, Vec<(String, u16)>>,
    ) -> Result<u16, Answer> {
        let protocol =
            |port: &str| port.split_once('/').map_or("tcp".to_owned(), |p| p.1.to_owned());
        let others = self.containers.values().flat_map(|c| &c.ports).chain(own);
        let mut taken = self.options.taken_ports.clone();
        for (key, bound) in others.filter(|(key, _)| protocol(key) == protocol(port)) {
            taken.extend(bound.iter().filter(|_| key.len() > 1).map(|(_, public)| *public));
        }
        let text = wanted.as_str().unwrap_or_default();
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let first = first.parse().unwrap_or(EPHEMERAL);
        let last = last.parse().unwrap_or(u16::MAX);
        if let Some(free) = (first..=last).find(|port| !taken.contains(port)) {
            return Ok(free);
        }
        let ip = if ip.is_empty() { "0.0.0.0" } else { ip };
        let message = format!(
            "driver failed programming external connectivity on endpoint {} ({}): \
             Bind for {ip}:{first} failed: port is already allocated",
            container.name,
            fresh_id(),
        );
        Err(refusal(500, message))
    }
}

/// Whether it has a network of its own, in which ports are published.
pub fn is_bridged(container: &Container) -> bool {
    container.endpoints.iter().any(|e| e.network != "host" && e.network != "none")
}
