//! The original agent's deploy command: Docker's create body in snake case, with a few names and
//! shapes of its own.

use serde_json::{Map, Value, json};

use super::object::{is_zero, wanted};
use super::origin::{Origins, Words};
use super::{Beside, Found, Request, Unreadable, json};

/// Docker's names that are not the command's in another case.
const DOCKER: [(&str, &str); 13] = [
    ("Interval", "interval_ns"),
    ("Timeout", "timeout_ns"),
    ("StartPeriod", "start_period_ns"),
    ("StartInterval", "start_interval_ns"),
    ("UTSMode", "uts_mode"),
    ("IPAMConfig", "ipam_config"),
    ("IPv4Address", "ipv4_address"),
    ("IPv6Address", "ipv6_address"),
    ("LinkLocalIPs", "link_local_ips"),
    ("DeviceIDs", "device_ids"),
    ("BlkioDeviceReadIOps", "blkio_device_read_iops"),
    ("BlkioDeviceWriteIOps", "blkio_device_write_iops"),
    ("EndpointsConfig", "endpoints"),
];

/// Members whose own members' names are the user's.
const MAPS: [&str; 13] = [
    "Labels",
    "Sysctls",
    "Tmpfs",
    "StorageOpt",
    "Annotations",
    "Config",
    "Options",
    "DriverOpts",
    "Volumes",
    "ExposedPorts",
    "PortBindings",
    "EndpointsConfig",
    "LogConfig.Config",
];

/// Sets that the command has as lists, and an engine as objects of empty objects.
const SETS: [&str; 3] = ["Volumes", "ExposedPorts", "NetworkingConfig.EndpointsConfig"];

/// The one container of a command.
pub fn read(request: &Request<'_>) -> Result<Vec<Found>, Unreadable> {
    let value = json::parse("the device command", request.text)?;
    let command = json::members("the device command", &value)?;
    let text = |key: &str| match command.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(other) => Err(Unreadable(format!("{key}: {}", wanted("a text", other)))),
    };
    let Some(create) = command.get("create") else {
        return Err(Unreadable("create: is missing: the command holds no container".to_owned()));
    };
    let create = create
        .as_object()
        .ok_or_else(|| Unreadable(format!("create: {}", wanted("an object", create))))?;
    let Some(container) = text("container_name")?.or_else(|| request.name.map(str::to_owned))
    else {
        return Err(Unreadable("container_name: is missing: set it, or give --name".to_owned()));
    };
    let mut origins = Origins::in_words(Words::Snake(&DOCKER));
    for (docker, source) in
        [("", "config"), ("HostConfig", "host_config"), ("NetworkingConfig", "networking_config")]
    {
        origins.put(docker, format!("create.{source}"));
    }
    origins.put("name", "container_name");
    origins.put("directory", "container_dir");
    let mut body = body(create, &mut origins);
    // Members of the command that are none of ours go through the same sieve, to be warned of.
    let known = ["container_name", "container_dir", "create", "config"];
    for (key, value) in command.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
        origins.put(format!("?{key}"), key.clone());
        body.insert(format!("?{key}"), value.clone());
    }
    devices(&mut body);
    // The original always sent it.
    if body.get("Entrypoint").is_none_or(Value::is_null) {
        body.insert("Entrypoint".to_owned(), json!([]));
    }
    let beside =
        Beside { directory: text("container_dir")?, config: text("config")?, ..Beside::default() };
    let label = container.clone();
    Ok(vec![Found { label, container: Some(container), body: body.into(), origins, beside }])
}

/// `config` is the body itself, and both parts beside it are in it.
fn body(create: &Map<String, Value>, origins: &mut Origins) -> Map<String, Value> {
    let mut body = Map::new();
    for (key, value) in create {
        let at = format!("create.{key}");
        match key.as_str() {
            "config" => {
                let part = renamed("", &at, value, origins);
                if let Value::Object(members) = part {
                    body.extend(members);
                } else if !part.is_null() {
                    body.insert("Config".to_owned(), part);
                }
            }
            "host_config" => {
                body.insert("HostConfig".to_owned(), renamed("HostConfig", &at, value, origins));
            }
            "networking_config" => {
                let part = renamed("NetworkingConfig", &at, value, origins);
                body.insert("NetworkingConfig".to_owned(), part);
            }
            other => {
                origins.put(other, at);
                body.insert(other.to_owned(), value.clone());
            }
        }
    }
    body
}

/// `value`, which becomes `docker`, with Docker's names; what came from where is noted.
fn renamed(docker: &str, source: &str, value: &Value, origins: &mut Origins) -> Value {
    origins.put(docker, source);
    if SETS.contains(&docker)
        && let Value::Array(items) = value
    {
        return set(docker, source, items, origins);
    }
    let last = docker.rsplit('.').next().unwrap_or(docker);
    match value {
        Value::Object(members) => {
            let of = |(key, value): (&String, &Value)| {
                let theirs = MAPS.contains(&last);
                let name = if theirs { key.clone() } else { pascal(key) };
                let path = if theirs {
                    format!("{docker}[{name}]")
                } else if docker.is_empty() {
                    name.clone()
                } else {
                    format!("{docker}.{name}")
                };
                let made = renamed(&path, &format!("{source}.{key}"), value, origins);
                (name, made)
            };
            Value::Object(members.iter().map(of).collect())
        }
        Value::Array(items) => {
            let of = |(i, item)| {
                renamed(&format!("{docker}[{i}]"), &format!("{source}[{i}]"), item, origins)
            };
            Value::Array(items.iter().enumerate().map(of).collect())
        }
        other => other.clone(),
    }
}

/// A device's rights and its path in the container are the original's to fill in.
fn devices(body: &mut Map<String, Value>) {
    let list = body.get_mut("HostConfig").and_then(|host| host.get_mut("Devices"));
    for device in list.and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(device) = device.as_object_mut() else { continue };
        let unset = |value: Option<&Value>| value.is_none_or(is_zero);
        if unset(device.get("CgroupPermissions")) {
            device.insert("CgroupPermissions".to_owned(), json!("rwm"));
        }
        if unset(device.get("PathInContainer")) {
            let same = device.get("PathOnHost").cloned().unwrap_or_default();
            device.insert("PathInContainer".to_owned(), same);
        }
    }
}

/// A list of names, or of objects with a name, as an object.
fn set(docker: &str, source: &str, items: &[Value], origins: &mut Origins) -> Value {
    let mut members = Map::new();
    for (i, item) in items.iter().enumerate() {
        let at = format!("{source}[{i}]");
        let (name, rest) = match item {
            Value::String(name) => (name.clone(), json!({})),
            Value::Object(object) => {
                let mut rest = object.clone();
                let name = ["name", "network"].iter().find_map(|key| rest.remove(*key));
                let name = name.and_then(|name| name.as_str().map(str::to_owned));
                (name.unwrap_or_default(), Value::Object(rest))
            }
            other => (other.to_string(), json!({})),
        };
        let path = format!("{docker}[{name}]");
        let rest = renamed(&path, &at, &rest, origins);
        members.insert(name, rest);
    }
    Value::Object(members)
}

fn pascal(snake: &str) -> String {
    if let Some((name, _)) = DOCKER.iter().find(|(_, known)| *known == snake) {
        return (*name).to_owned();
    }
    if snake == "size" {
        return snake.to_owned(); // of a writable layer, StorageOpt
    }
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    snake.split('_').map(word).collect()
}
