//! When two create bodies mean the same to an engine: a port of `normalise.py`, whose rules were
//! measured on real engines.

use serde_json::{Map, Value, json};

type Members = Map<String, Value>;

const CLIENT_ONLY_CONFIG: [&str; 5] =
    ["AttachStdin", "AttachStdout", "AttachStderr", "OnBuild", "ArgsEscaped"];
const CLIENT_ONLY_HOST: [&str; 2] = ["ConsoleSize", "ContainerIDFile"];
const ENDPOINT_STATE: [&str; 9] = [
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
const KEEP_ZERO_HOST: [&str; 4] = ["MemorySwappiness", "Init", "MaskedPaths", "ReadonlyPaths"];

fn defaults(key: &str) -> Vec<Value> {
    match key {
        "NetworkMode" => vec![json!("default"), json!("bridge")],
        "Isolation" => vec![json!("default")],
        "MemorySwappiness" => vec![json!(-1)],
        "PidsLimit" => vec![json!(0), json!(-1)],
        "ShmSize" => vec![json!(64 << 20)],
        _ => vec![],
    }
}

fn empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Without empty members of objects, deeply; lists keep their length.
fn prune(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let pruned = members.iter().map(|(key, value)| (key.clone(), prune(value)));
            Value::Object(pruned.filter(|(_, value)| !empty(value)).collect())
        }
        Value::Array(items) => items.iter().map(prune).collect(),
        other => other.clone(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn sorted(mut list: Vec<String>) -> Value {
    list.sort();
    list.dedup();
    json!(list)
}

fn sorted_by<K: Ord>(mut list: Vec<Value>, key: impl Fn(&Value) -> K) -> Value {
    list.sort_by_key(key);
    Value::Array(list)
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn port(key: &str) -> String {
    let (port, protocol) = key.split_once('/').unwrap_or((key, ""));
    let protocol = if protocol.is_empty() { "tcp".to_owned() } else { protocol.to_lowercase() };
    format!("{port}/{protocol}")
}

fn bindings(bindings: &Members, exposed: &Value) -> Value {
    let binding = |(key, hosts): (&String, &Value)| {
        let there = exposed.get(key).is_some();
        let name = if there { port(key) } else { format!("{key} (not in ExposedPorts)") };
        let hosts: Vec<Value> = hosts.as_array().into_iter().flatten().map(prune).collect();
        (name, sorted_by(hosts, |host| (text(host, "HostIp"), text(host, "HostPort"))))
    };
    Value::Object(bindings.iter().map(binding).collect())
}

fn capability(text: &str) -> String {
    let upper = text.to_uppercase();
    if upper == "ALL" || upper.starts_with("CAP_") { upper } else { format!("CAP_{upper}") }
}

fn security(option: &str) -> String {
    if ["no-new-privileges", "no-new-privileges:true", "no-new-privileges=true"].contains(&option) {
        return "no-new-privileges=true".to_owned();
    }
    let (equals, colon) = (option.find('='), option.find(':'));
    let split = match (equals, colon) {
        (Some(equals), colon) if colon.is_none_or(|colon| equals < colon) => option.split_once('='),
        (_, Some(_)) => option.split_once(':'),
        _ => None,
    };
    let Some((key, value)) = split else { return option.to_owned() };
    let profile =
        Some(value).filter(|value| key == "seccomp" && value.trim_start().starts_with('{'));
    let profile = profile.and_then(|text| serde_json::from_str::<Value>(text).ok());
    format!("{key}={}", profile.map_or(value.to_owned(), |profile| profile.to_string()))
}

fn slashes(path: &str) -> String {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    format!("{}{}", if path.starts_with('/') { "/" } else { "" }, segments.join("/"))
}

fn bind(text: &str) -> String {
    let mut parts = text.splitn(3, ':');
    let (source, Some(target)) = (parts.next().unwrap(), parts.next()) else {
        return text.to_owned();
    };
    let mut words: Vec<&str> = parts.next().unwrap_or_default().split(',').collect();
    words.retain(|word| !word.is_empty() && !["rw", "rprivate"].contains(word));
    words.sort_unstable();
    words.dedup();
    let source = if source.starts_with('/') { slashes(source) } else { source.to_owned() };
    let mode = if words.is_empty() { String::new() } else { format!(":{}", words.join(",")) };
    format!("{source}:{}{mode}", slashes(target))
}

fn tmpfs(options: &str) -> String {
    let mut words: Vec<&str> = options.split(',').filter(|word| !word.is_empty()).collect();
    let key = |word: &&str| word.split('=').next().unwrap().trim_start_matches("no").to_owned();
    let mut keys: Vec<String> = words.iter().map(key).collect();
    keys.sort();
    let twice = keys.windows(2).any(|pair| pair[0] == pair[1]);
    let contrary = words.contains(&"rw") && words.contains(&"ro");
    if !twice && !contrary {
        words.sort_unstable();
    }
    words.join(",")
}

fn mount(mount: &Value) -> Value {
    let mut mount = prune(mount);
    for (at, default) in [
        ("/BindOptions/Propagation", "rprivate"),
        ("/Consistency", "default"),
        ("/VolumeOptions/DriverConfig/Name", "local"),
    ] {
        if let Some(value) = mount.pointer_mut(at)
            && value == default
        {
            *value = Value::Null;
        }
    }
    mount["Target"] = json!(slashes(&text(&mount, "Target")));
    if mount["Type"] == "bind" {
        mount["Source"] = json!(slashes(&text(&mount, "Source")));
    }
    prune(&mount)
}

fn device(device: &Value) -> Value {
    let permissions = text(device, "CgroupPermissions");
    let permissions: String = "rwm".chars().filter(|c| permissions.contains(*c)).collect();
    json!({
        "PathOnHost": text(device, "PathOnHost"),
        "PathInContainer": text(device, "PathInContainer"),
        "CgroupPermissions": permissions,
    })
}

fn config(body: &Members) -> Members {
    let mut out = Members::new();
    for (key, value) in body {
        if CLIENT_ONLY_CONFIG.contains(&key.as_str())
            || key == "HostConfig"
            || key == "NetworkingConfig"
        {
            continue;
        }
        let value = match key.as_str() {
            "Entrypoint" | "StopTimeout" if value.is_null() => continue,
            "Entrypoint" => {
                let list = if value.is_string() { json!([value]) } else { value.clone() };
                out.insert(key.clone(), if list == json!([""]) { json!([]) } else { list });
                continue;
            }
            "StopTimeout" => {
                out.insert(key.clone(), value.clone());
                continue;
            }
            "Env" => {
                let list = texts(value).into_iter().map(Value::from).collect();
                sorted_by(list, |entry| {
                    entry.as_str().unwrap().split('=').next().unwrap().to_owned()
                })
            }
            "Labels" => {
                let labels = value.as_object().cloned().unwrap_or_default().into_iter();
                labels.filter(|(name, _)| !name.starts_with("com.docker.compose.")).collect()
            }
            "ExposedPorts" => {
                let ports = value.as_object().into_iter().flat_map(Map::keys);
                ports.map(|key| (port(key), json!({}))).collect()
            }
            "Volumes" => {
                let paths = value.as_object().into_iter().flat_map(Map::keys);
                paths.map(|path| (path.clone(), json!({}))).collect()
            }
            "WorkingDir" => json!(slashes(value.as_str().unwrap_or_default())),
            "Cmd" if value.is_string() => json!([value]),
            "Healthcheck" => prune(value),
            _ => value.clone(),
        };
        if !empty(&value) {
            out.insert(key.clone(), value);
        }
    }
    out
}

fn host_value(key: &str, value: &Value, exposed: &Value) -> Value {
    let items = || value.as_array().cloned().unwrap_or_default();
    match key {
        "RestartPolicy" => {
            let policy = prune(value);
            if ["", "no"].contains(&text(&policy, "Name").as_str()) { json!({}) } else { policy }
        }
        "PortBindings" => bindings(value.as_object().unwrap_or(&Members::new()), exposed),
        "CapAdd" | "CapDrop" => {
            let list: Vec<String> = texts(value).iter().map(|text| capability(text)).collect();
            if list.iter().any(|cap| cap == "ALL") { json!(["ALL"]) } else { sorted(list) }
        }
        "SecurityOpt" => sorted(texts(value).iter().map(|option| security(option)).collect()),
        "Binds" => sorted(texts(value).iter().map(|text| bind(text)).collect()),
        "Links" | "GroupAdd" => sorted(texts(value)),
        "Mounts" => sorted_by(items().iter().map(mount).collect(), |mount| text(mount, "Target")),
        "Ulimits" => {
            let number = |limit: &Value, key: &str| limit[key].as_i64().unwrap_or_default();
            let of = |limit: &Value| json!({ "Name": limit["Name"], "Soft": number(limit, "Soft"), "Hard": number(limit, "Hard") });
            sorted_by(items().iter().map(of).collect(), |limit| text(limit, "Name"))
        }
        "Devices" => sorted_by(items().iter().map(device).collect(), |device| {
            text(device, "PathInContainer")
        }),
        "DeviceRequests" => items().iter().map(prune).collect(),
        "LogConfig" => prune(value),
        _ => value.clone(),
    }
}

fn host(host: &Members, exposed: &Value) -> Members {
    let mut out = Members::new();
    for (key, value) in host {
        if CLIENT_ONLY_HOST.contains(&key.as_str()) {
            continue;
        }
        let default = defaults(key).contains(value);
        if KEEP_ZERO_HOST.contains(&key.as_str()) {
            if !value.is_null() && !default {
                out.insert(key.clone(), value.clone());
            }
            continue;
        }
        if default {
            continue;
        }
        let value = if key == "Tmpfs" {
            let map = value.as_object().cloned().unwrap_or_default().into_iter();
            map.map(|(path, options)| (path, json!(tmpfs(options.as_str().unwrap())))).collect()
        } else {
            host_value(key, value, exposed)
        };
        if !empty(&value) {
            out.insert(key.clone(), value);
        }
    }
    if out.get("Memory").and_then(Value::as_i64).map(|n| json!(2 * n)).as_ref()
        == out.get("MemorySwap")
    {
        out.remove("MemorySwap");
    }
    out
}

fn endpoints(networking: &Value, mode: &str) -> Members {
    let mut out = Members::new();
    for (name, endpoint) in networking["EndpointsConfig"].as_object().into_iter().flatten() {
        let mut endpoint = endpoint.as_object().cloned().unwrap_or_default();
        endpoint.retain(|key, _| !ENDPOINT_STATE.contains(&key.as_str()));
        let mut endpoint = prune(&Value::Object(endpoint));
        if !endpoint["Aliases"].is_null() {
            endpoint["Aliases"] = sorted(texts(&endpoint["Aliases"]));
        }
        let endpoint = prune(&endpoint);
        let name = if name == "bridge" { "default" } else { name };
        if !empty(&endpoint) || name != mode {
            out.insert(name.to_owned(), endpoint);
        }
    }
    out
}

/// The canonical form of a create body.
pub fn normalise(body: &Value) -> Value {
    let members = body.as_object().unwrap();
    let mut out = config(members);
    let none = Members::new();
    let exposed = members.get("ExposedPorts").unwrap_or(&Value::Null);
    let host = host(members.get("HostConfig").and_then(Value::as_object).unwrap_or(&none), exposed);
    let mode = host.get("NetworkMode").and_then(Value::as_str).unwrap_or("default");
    let endpoints = endpoints(members.get("NetworkingConfig").unwrap_or(&Value::Null), mode);
    if !host.is_empty() {
        out.insert("HostConfig".to_owned(), Value::Object(host));
    }
    if !endpoints.is_empty() {
        out.insert("NetworkingConfig".to_owned(), json!({ "EndpointsConfig": endpoints }));
    }
    Value::Object(out)
}

/// What differs between two canonical forms, `PATH: left | right`, in order.
pub fn differences(left: &Value, right: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", left, right, &mut found);
    found
}

fn walk(at: &str, left: &Value, right: &Value, found: &mut Vec<String>) {
    if left == right {
        return;
    }
    if let (Value::Object(a), Value::Object(b)) = (left, right) {
        let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            walk(
                &at,
                a.get(key).unwrap_or(&Value::Null),
                b.get(key).unwrap_or(&Value::Null),
                found,
            );
        }
        return;
    }
    found.push(format!("{at}: {left} | {right}"));
}
