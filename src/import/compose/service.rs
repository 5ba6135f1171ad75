//! One service.

use serde_json::{Map, Value};

use super::project::Project;
use super::value::Node;
use super::{health, mounts, network, ports, process, resources};
use crate::import::notes::Notes;
use crate::import::origin::{Origins, Words};
use crate::import::{Beside, Found};

/// A create body in the making.
#[derive(Debug, Default)]
pub struct Draft {
    config: Map<String, Value>,
    host: Map<String, Value>,
    endpoints: Map<String, Value>,
    origins: Origins,
}

impl Draft {
    /// Sets a member of the body itself, which came from `at`.
    pub fn config(&mut self, key: &str, at: &str, value: impl Into<Value>) {
        self.origins.put_whole(key, at);
        self.config.insert(key.to_owned(), value.into());
    }

    /// Sets a member of the body's `HostConfig`.
    pub fn host(&mut self, key: &str, at: &str, value: impl Into<Value>) {
        self.origins.put_whole(format!("HostConfig.{key}"), at);
        self.host.insert(key.to_owned(), value.into());
    }

    /// Adds to a list of the body's `HostConfig`; the path of the new item.
    pub fn push(&mut self, key: &str, at: &str, value: impl Into<Value>) -> String {
        let list = self.host.entry(key).or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(items) = list else { return String::new() };
        let path = format!("HostConfig.{key}[{}]", items.len());
        items.push(value.into());
        self.origins.put_whole(path.clone(), at);
        path
    }

    /// Adds a member to an object of the body's `HostConfig`.
    pub fn entry(&mut self, key: &str, name: &str, at: &str, value: impl Into<Value>) {
        for path in [format!("HostConfig.{key}[{name}]"), format!("HostConfig.{key}.{name}")] {
            self.origins.put_whole(path, at);
        }
        let map = self.host.entry(key).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(map) = map {
            map.insert(name.to_owned(), value.into());
        }
    }

    /// Adds a member to a set of the body.
    pub fn member(&mut self, key: &str, name: &str, at: &str) {
        self.origins.put_whole(format!("{key}[{name}]"), at);
        let map = self.config.entry(key).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(map) = map {
            map.insert(name.to_owned(), Value::Object(Map::new()));
        }
    }

    /// Adds where a port is published; the path of the new binding, if there is one.
    pub fn publish(
        &mut self,
        port: &str,
        at: &str,
        host_ip: &str,
        host_port: &str,
    ) -> Option<String> {
        self.member("ExposedPorts", port, at);
        self.origins.put_whole(format!("HostConfig.PortBindings[{port}]"), at);
        let map = self.host.entry("PortBindings").or_insert_with(|| Value::Object(Map::new()));
        let list = map
            .as_object_mut()
            .map(|map| map.entry(port).or_insert_with(|| Value::Array(Vec::new())));
        let Some(Value::Array(list)) = list else { return None };
        let binding = serde_json::json!({ "HostIp": host_ip, "HostPort": host_port });
        if list.contains(&binding) {
            return None;
        }
        let path = format!("HostConfig.PortBindings[{port}][{}]", list.len());
        list.push(binding);
        self.origins.put_whole(path.clone(), at);
        Some(path)
    }

    /// Adds a network to join.
    pub fn join(&mut self, name: &str, at: &str, endpoint: Map<String, Value>) {
        let path = format!("NetworkingConfig.EndpointsConfig[{name}]");
        self.origins.put_whole(path.clone(), at);
        self.members(&path, at, &ENDPOINT);
        self.endpoints.insert(name.to_owned(), Value::Object(endpoint));
    }

    /// Notes the members under which the source has those of the body's object at `docker`.
    pub fn members(&mut self, docker: &str, at: &str, names: &[(&str, &str)]) {
        for (theirs, own) in names {
            self.origins.put(format!("{docker}.{theirs}"), format!("{at}.{own}"));
        }
    }

    /// Whether a member of the body's `HostConfig` is set.
    pub fn has_host(&self, key: &str) -> bool {
        self.host.contains_key(key)
    }

    /// Notes where a field came from.
    pub fn origin(&mut self, docker: &str, at: &str) {
        self.origins.put_whole(docker, at);
    }

    fn body(mut self) -> (Value, Origins) {
        self.config.insert("HostConfig".to_owned(), Value::Object(self.host));
        let mut networking = Map::new();
        networking.insert("EndpointsConfig".to_owned(), Value::Object(self.endpoints));
        self.config.insert("NetworkingConfig".to_owned(), Value::Object(networking));
        (Value::Object(self.config), self.origins)
    }
}

/// What compose calls the fields that sentences about other fields speak of.
const NAMES: [(&str, &str); 7] = [
    ("Memory", "mem_limit"),
    ("NanoCpus", "cpus"),
    ("ExposedPorts", "ports"),
    ("UTSMode", "uts"),
    ("Cmd", "command"),
    ("DeviceIDs", "device_ids"),
    ("NetworkMode", "network_mode"),
];

/// Members of a network that a service joins.
const ENDPOINT: [(&str, &str); 7] = [
    ("Aliases", "aliases"),
    ("IPAMConfig.IPv4Address", "ipv4_address"),
    ("IPAMConfig.IPv6Address", "ipv6_address"),
    ("IPAMConfig.LinkLocalIPs", "link_local_ips"),
    ("MacAddress", "mac_address"),
    ("DriverOpts", "driver_opts"),
    ("GwPriority", "gw_priority"),
];

/// What a Workspace has no place for, and what to do instead.
const REFUSED: [(&str, &str); 18] = [
    ("build", "an image is not built here: build and push it, and name it in image"),
    (
        "depends_on",
        "Workspaces start by themselves, in no order: let the program wait for what it needs",
    ),
    (
        "secrets",
        "is not carried over: make a Secret and use env valueFrom secretKeyRef or configFile",
    ),
    ("configs", "is not carried over: make a ConfigMap and use configFile"),
    ("develop", "is for developing with docker compose: left out"),
    ("links", "links are not supported: join both to one network, where each is found by its name"),
    (
        "external_links",
        "links are not supported: join both to one network, where each is found by its name",
    ),
    ("volumes_from", "is not supported: name the volumes themselves in volumes"),
    ("extends", "is not followed: write out what it extends"),
    ("post_start", "hooks are not supported: let the container's own command do it"),
    ("pre_stop", "hooks are not supported: let the container's own command do it"),
    ("provider", "a service that is no container is not supported"),
    ("credential_spec", "is for Windows: left out"),
    ("isolation", "is for Windows: left out"),
    ("label_file", "is not read: write the labels into labels"),
    ("models", "is not supported: left out"),
    ("cpu_count", "is for Windows: use cpus"),
    ("cpu_percent", "is for Windows: use cpus"),
];

/// The container of one service; none where there is no image to run.
pub fn read(
    name: &str,
    node: &mut Node<'_>,
    project: &Project<'_>,
    notes: &mut Notes,
) -> Option<Found> {
    let wrong = notes.errors();
    let mut draft = Draft { origins: Origins::in_words(Words::Snake(&NAMES)), ..Draft::default() };
    let own = node.text("container_name", notes).filter(|name| !name.is_empty());
    draft.origin("", &node.at(""));
    draft.origin("name", &node.at("container_name"));
    draft.origin("platform", &node.at("platform"));
    draft.origin("pull", &node.at("pull_policy"));
    copies(node, notes);
    if node.take("profiles").is_some() {
        notes.warn_at(
            node.at("profiles"),
            "profiles are not supported: the service is always imported",
        );
    }
    let beside = Beside {
        platform: node.text("platform", notes),
        pull: node.text("pull_policy", notes),
        ..Beside::default()
    };
    node.refuse(&REFUSED, notes);
    process::read(node, &mut draft, project, notes);
    health::read(node, &mut draft, notes);
    network::read(name, node, &mut draft, project, notes);
    ports::read(node, &mut draft, notes);
    mounts::read(node, &mut draft, project, notes);
    resources::read(node, &mut draft, notes);
    let without_image = !draft.config.contains_key("Image");
    let at = node.at("image");
    std::mem::replace(node, Node::new(String::new(), &Value::Null)).finish(notes);
    if without_image {
        notes.error_at(at, "is missing: a Workspace runs an image");
    }
    if notes.errors() > wrong {
        return None;
    }
    let label = own.clone().unwrap_or_else(|| name.to_owned());
    let container = own.unwrap_or_else(|| format!("{}-{name}-1", project.name));
    let (body, origins) = draft.body();
    Some(Found { label, container: Some(container), body, origins, beside })
}

fn copies(node: &mut Node<'_>, notes: &mut Notes) {
    if node.int("scale", notes).is_some_and(|scale| scale != 1) {
        let message =
            "a Workspace is one container: make one Workspace each, or powerState Stopped for none";
        notes.warn_at(node.at("scale"), message);
    }
}
