//! A container as inspect and lists show it.

use serde_json::{Map, Value, json};

use super::{
    answer::{Answer, Body, Reply, json_of, refusal},
    call::Call,
    container::{Container, Endpoint, Mounted, Status},
    networks::is_bridged,
    state::{State, short},
};

const FILTERS: [&str; 15] = [
    "ancestor",
    "before",
    "exited",
    "expose",
    "health",
    "id",
    "is-task",
    "isolation",
    "label",
    "name",
    "network",
    "publish",
    "since",
    "status",
    "volume",
];

impl State {
    pub fn inspect(&self, word: &str, call: &Call) -> Reply {
        let container = self.get(word)?;
        let api = self.api_of(call);
        let command = container.command();
        let (path, arguments) = command.split_first().map_or(("", &[][..]), |(p, a)| (p, a));
        let mut config = container.config.clone();
        if api < (1, 44)
            && let Some(health) = config.get_mut("Healthcheck").and_then(Value::as_object_mut)
        {
            health.remove("StartInterval");
        }
        let mounts: Vec<_> = container.mounts.iter().map(mount).collect();
        Ok(json_of(
            200,
            json!({
                "Id": container.id,
                "Created": container.created.to_string(),
                "Path": path,
                "Args": arguments,
                "State": container.state(),
                "Image": container.image_id,
                "ResolvConfPath": "", "HostnamePath": "", "HostsPath": "", "LogPath": "",
                "Name": format!("/{}", container.name),
                "RestartCount": container.restart_count,
                "Driver": "overlay2",
                "Platform": "linux",
                "MountLabel": "", "ProcessLabel": "", "AppArmorProfile": "",
                "ExecIDs": null,
                "HostConfig": container.host,
                "GraphDriver": { "Name": "overlay2", "Data": {} },
                "Mounts": mounts,
                "Config": config,
                "NetworkSettings": Self::network_settings(container, api),
            }),
        ))
    }

    fn network_settings(container: &Container, api: (u16, u16)) -> Value {
        let mut settings = json!({
            "SandboxID": if container.started.is_some() { &container.id } else { "" },
            "SandboxKey": "",
            "Ports": Self::ports(container),
            "Networks": networks(container, api),
        });
        if api < (1, 52) {
            let bridge = container.endpoints.iter().find(|e| e.network == "bridge");
            let of = bridge.cloned().unwrap_or_default();
            let older = json!({
                "Bridge": "", "HairpinMode": false, "LinkLocalIPv6Address": "",
                "LinkLocalIPv6PrefixLen": 0, "SecondaryIPAddresses": null,
                "SecondaryIPv6Addresses": null, "EndpointID": of.id, "Gateway": of.gateway,
                "GlobalIPv6Address": "", "GlobalIPv6PrefixLen": 0, "IPAddress": of.address,
                "IPPrefixLen": if of.address.is_empty() { 0 } else { 16 }, "IPv6Gateway": "",
                "MacAddress": of.mac,
            });
            settings.as_object_mut().unwrap().extend(older.as_object().unwrap().clone());
        }
        settings
    }

    /// What is exposed while it runs on a bridge: bound, or null.
    fn ports(container: &Container) -> Value {
        let mut ports = Map::new();
        if container.is_alive() && is_bridged(container) {
            for port in container.config["ExposedPorts"].as_object().into_iter().flat_map(Map::keys)
            {
                ports.insert(port.clone(), Value::Null);
            }
            for (port, bound) in &container.ports {
                let pair = |(ip, port): &(String, u16)| json!({ "HostIp": ip, "HostPort": port.to_string() });
                ports.insert(port.clone(), bound.iter().map(pair).collect());
            }
        }
        ports.into()
    }

    pub fn list(&mut self, call: &Call) -> Reply {
        let filters = call.filters(&FILTERS)?;
        let states = ["created", "running", "paused", "restarting", "removing", "exited", "dead"];
        if let Some(wrong) = filters.get("status").iter().find(|s| !states.contains(&s.as_str())) {
            return Err(refusal(400, format!("Invalid filter 'status={wrong}'")));
        }
        let patterns = filters.get("name").iter().map(|pattern| regex::Regex::new(pattern));
        let patterns: Vec<_> = patterns.filter_map(Result::ok).collect();
        let all = call.flag("all") || !filters.get("status").is_empty();
        let api = self.api_of(call);
        let mut chosen: Vec<_> = self
            .containers
            .values()
            .filter(|c| all || c.is_running())
            .filter(|c| filters.labels(&c.config["Labels"]))
            .filter(|c| filters.any("id", |id| c.id.starts_with(id)))
            .filter(|c| filters.any("status", |status| c.status.word() == status))
            .filter(|c| filters.any("ancestor", |image| c.config["Image"] == image))
            .filter(|c| {
                // Both with and without the slash in front.
                filters.get("name").is_empty()
                    || patterns.iter().any(|pattern| {
                        pattern.is_match(&c.name) || pattern.is_match(&format!("/{}", c.name))
                    })
            })
            .map(|c| (c.sequence, c.id.clone()))
            .collect();
        chosen.sort_unstable_by(|a, b| b.cmp(a));
        let items: Vec<_> = chosen.into_iter().map(|(_, id)| self.item(&id, api)).collect();
        Ok(Answer { status: 200, body: Body::Raw(format!("[{}]\n", items.join(","))) })
    }

    /// One item of a list, as text. `Status` is as old as the container's last change.
    fn item(&mut self, id: &str, api: (u16, u16)) -> String {
        let container = &self.containers[id];
        if let Some(listed) = &container.listed {
            return listed.clone();
        }
        let image = self.shown_image(container);
        let mut networks = networks(container, api);
        for network in networks.as_object_mut().into_iter().flat_map(Map::values_mut) {
            network["Aliases"] = Value::Null;
        }
        let mut item = json!({
            "Id": container.id,
            "Names": [format!("/{}", container.name)],
            "Image": image,
            "ImageID": container.image_id,
            "Command": shown_command(container),
            "Created": container.created.as_second(),
            "Ports": listed_ports(container),
            "Labels": container.config["Labels"],
            "State": container.status.word(),
            "Status": status_text(container),
            "HostConfig": { "NetworkMode": container.network_mode() },
            "NetworkSettings": { "Networks": networks },
            "Mounts": container.mounts.iter().map(listed_mount).collect::<Vec<_>>(),
        });
        if api >= (1, 52) {
            item["Health"] = json!({ "Status": container.health.as_deref().unwrap_or("none"), "FailingStreak": 0 });
        }
        let text = item.to_string();
        self.containers.get_mut(id).unwrap().listed = Some(text.clone());
        text
    }

    /// The name it was made of, while that still means the same image.
    fn shown_image(&self, container: &Container) -> String {
        let name = container.config["Image"].as_str().unwrap_or_default();
        match self.image_named(name) {
            Ok(image) if image.id == container.image_id => name.to_owned(),
            _ => container.image_id.clone(),
        }
    }

    /// After images changed.
    pub fn forget_lists(&mut self) {
        self.containers.values_mut().for_each(|container| container.listed = None);
    }
}

/// Only arguments that have spaces are quoted.
fn shown_command(container: &Container) -> String {
    let quoted = |(at, word): (usize, &String)| {
        if at > 0 && word.contains(' ') { format!("'{word}'") } else { word.clone() }
    };
    container.command().iter().enumerate().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A list does not say where the data of a nameless volume are.
fn listed_mount(mounted: &Mounted) -> Value {
    let mut json = mount(mounted);
    if mounted.anonymous {
        json["Source"] = "".into();
    }
    json
}

fn status_text(container: &Container) -> String {
    let up = match container.health.as_deref() {
        Some("starting") => "Up Less than a second (health: starting)".to_owned(),
        Some(health) => format!("Up Less than a second ({health})"),
        None => "Up Less than a second".to_owned(),
    };
    let code = container.exit_code;
    match container.status {
        Status::Created => "Created".into(),
        Status::Running => up,
        Status::Paused => format!("{up} (Paused)"),
        Status::Restarting => format!("Restarting ({code}) Less than a second ago"),
        Status::Exited => format!("Exited ({code}) Less than a second ago"),
        Status::Removing => "Removal In Progress".into(),
        Status::Dead => "Dead".into(),
    }
}

fn listed_ports(container: &Container) -> Value {
    let split = |port: &str| {
        let (number, protocol) = port.split_once('/').unwrap_or((port, "tcp"));
        (number.parse::<u16>().unwrap_or(0), protocol.to_owned())
    };
    let mut ports = Vec::new();
    for (port, bound) in &container.ports {
        let (private, protocol) = split(port);
        ports.extend(bound.iter().map(|(ip, public)| {
            json!({ "IP": ip, "PrivatePort": private, "PublicPort": public, "Type": protocol })
        }));
    }
    if container.is_alive() {
        let exposed = container.config["ExposedPorts"].as_object();
        for port in exposed.into_iter().flat_map(Map::keys) {
            if !container.ports.contains_key(port) {
                let (private, protocol) = split(port);
                ports.push(json!({ "PrivatePort": private, "Type": protocol }));
            }
        }
    }
    ports.into()
}

fn networks(container: &Container, api: (u16, u16)) -> Value {
    let all = container.endpoints.iter();
    all.map(|e| (e.network.clone(), endpoint(e, short(&container.id), api)))
        .collect::<Map<_, _>>()
        .into()
}

fn endpoint(endpoint: &Endpoint, id: &str, api: (u16, u16)) -> Value {
    let mut aliases = endpoint.aliases.clone();
    if api >= (1, 45) {
        aliases.retain(|alias| alias != id);
    }
    let aliases = if aliases.is_empty() { Value::Null } else { json!(aliases) };
    json!({
        "IPAMConfig": endpoint.settings["IPAMConfig"], "Links": endpoint.settings["Links"],
        "Aliases": aliases, "NetworkID": endpoint.network_id, "EndpointID": endpoint.id,
        "Gateway": endpoint.gateway, "IPAddress": endpoint.address,
        "IPPrefixLen": if endpoint.address.is_empty() { 0 } else { 16 }, "IPv6Gateway": "",
        "GlobalIPv6Address": "", "GlobalIPv6PrefixLen": 0, "MacAddress": endpoint.mac,
        "DriverOpts": endpoint.settings["DriverOpts"],
    })
}

fn mount(mount: &Mounted) -> Value {
    let mut json = json!({
        "Type": mount.kind, "Source": mount.source, "Destination": mount.destination,
        "Mode": mount.mode, "RW": mount.writable, "Propagation": "",
    });
    match mount.kind {
        "volume" => {
            json["Name"] = mount.source.as_str().into();
            json["Source"] = super::volumes::mountpoint(&mount.source).into();
            json["Driver"] = "local".into();
        }
        "bind" => json["Propagation"] = "rprivate".into(),
        _ => {}
    }
    json
}
