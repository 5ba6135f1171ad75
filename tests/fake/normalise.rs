//! What an engine makes of a create body before it keeps it: defaults, and the image's settings.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::state::State;

/// Config and HostConfig as inspect shows them.
pub fn normalised(state: &State, body: &Value, image: &Value, id: &str) -> (Value, Value) {
    let host = host_config(state, &body["HostConfig"]);
    let mut config = config(body, image);
    if is_blank(&config["Hostname"]) {
        let host_network = host["NetworkMode"] == "host";
        config["Hostname"] = if host_network { "fake" } else { &id[..12] }.into();
    }
    (config, host)
}

/// Absent, null or empty.
pub fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(_) => false,
    }
}

fn config(body: &Value, image: &Value) -> Value {
    let mut config = json!({
        "Hostname": "", "Domainname": "", "User": "", "AttachStdin": false, "AttachStdout": false,
        "AttachStderr": false, "Tty": false, "OpenStdin": false, "StdinOnce": false, "Env": null,
        "Cmd": null, "Image": "", "Volumes": null, "WorkingDir": "", "Entrypoint": null,
        "OnBuild": null, "Labels": {},
    });
    overlay(&mut config, body);
    for key in ["Healthcheck", "ExposedPorts", "StopSignal", "StopTimeout", "MacAddress"] {
        if !is_blank(&body[key]) || (key == "StopTimeout" && body[key].is_number()) {
            config[key] = body[key].clone();
        }
    }
    command(&mut config, image);
    config["Env"] = environment(&body["Env"], &image["Env"]);
    for key in ["Labels", "ExposedPorts", "Volumes"] {
        let union = union(&image[key], &body[key]);
        if !union.is_empty() {
            config[key] = union.into();
        }
    }
    for key in ["User", "WorkingDir", "StopSignal"] {
        if is_blank(&config[key]) && !is_blank(&image[key]) {
            config[key] = image[key].clone();
        }
    }
    if let Some(directory) = config["WorkingDir"].as_str().filter(|text| !text.is_empty()) {
        config["WorkingDir"] = cleaned(directory).into();
    }
    if let Some(of_image) = image["Healthcheck"].as_object() {
        let mut health = of_image.clone();
        for (key, value) in body["Healthcheck"].as_object().into_iter().flatten() {
            if !is_blank(value) {
                health.insert(key.clone(), value.clone());
            }
        }
        config["Healthcheck"] = health.into();
    }
    config
}

/// An entry point of one's own drops the image's command; an empty one drops only the entry point.
fn command(config: &mut Value, image: &Value) {
    if is_blank(&config["Entrypoint"]) {
        if is_blank(&config["Cmd"]) && !is_blank(&image["Cmd"]) {
            config["Cmd"] = image["Cmd"].clone();
        }
        if config["Entrypoint"].is_null() && !is_blank(&image["Entrypoint"]) {
            config["Entrypoint"] = image["Entrypoint"].clone();
        }
    }
    if config["Entrypoint"] == json!([""]) {
        config["Entrypoint"] = Value::Null;
    }
}

fn environment(own: &Value, image: &Value) -> Value {
    let key =
        |value: &Value| value.as_str().unwrap_or_default().split('=').next().map(str::to_owned);
    let mut all = own.as_array().cloned().unwrap_or_default();
    let own: Vec<_> = all.iter().map(key).collect();
    let of_image = image.as_array().into_iter().flatten();
    all.extend(of_image.filter(|value| !own.contains(&key(value))).cloned());
    if own.is_empty() && all.is_empty() { json!([]) } else { all.into() }
}

fn union(image: &Value, own: &Value) -> Map<String, Value> {
    let mut all = image.as_object().cloned().unwrap_or_default();
    for (key, value) in own.as_object().into_iter().flatten() {
        all.insert(key.clone(), if value.is_null() { "".into() } else { value.clone() });
    }
    all
}

fn host_config(state: &State, given: &Value) -> Value {
    let mut host = DEFAULTS.clone();
    overlay(&mut host, given);
    for key in ["Mounts", "Tmpfs", "Init", "Sysctls", "StorageOpt", "Annotations"] {
        let kept = key != "Annotations" || state.since(43);
        if kept && (given[key].is_boolean() || !is_blank(&given[key])) {
            host[key] = given[key].clone();
        }
    }
    let newer = state.since(44);
    if is_blank(&host["NetworkMode"]) || (newer && host["NetworkMode"] == "default") {
        host["NetworkMode"] = if newer { "bridge" } else { "default" }.into();
    }
    let policy = &given["RestartPolicy"];
    let name = policy["Name"].as_str().unwrap_or_default();
    host["RestartPolicy"] = json!({
        "Name": if name.is_empty() && newer { "no" } else { name },
        "MaximumRetryCount": policy["MaximumRetryCount"].as_i64().unwrap_or(0),
    });
    let memory = host["Memory"].as_i64().unwrap_or(0);
    if memory > 0 && is_blank(&host["MemorySwap"]) {
        host["MemorySwap"] = (memory * 2).into();
    }
    if host["PidsLimit"].as_i64().is_some_and(|limit| limit <= 0) {
        host["PidsLimit"] = Value::Null;
    }
    let log = &given["LogConfig"];
    let driver = log["Type"].as_str().filter(|kind| !kind.is_empty()).unwrap_or("json-file");
    let settings = if log["Config"].is_object() { log["Config"].clone() } else { json!({}) };
    host["LogConfig"] = json!({ "Type": driver, "Config": settings });
    for (key, value) in [("ShmSize", json!(67_108_864)), ("IpcMode", json!("private"))] {
        if is_blank(&host[key]) {
            host[key] = value;
        }
    }
    if host["Privileged"] == true {
        host["SecurityOpt"] = json!(["label=disable"]);
        host["MaskedPaths"] = Value::Null;
        host["ReadonlyPaths"] = Value::Null;
    }
    bindings(&mut host);
    host
}

fn bindings(host: &mut Value) {
    for list in host["PortBindings"].as_object_mut().into_iter().flat_map(|map| map.values_mut()) {
        for binding in list.as_array_mut().into_iter().flatten() {
            let text = |key: &str| binding[key].as_str().unwrap_or_default().to_owned();
            *binding = json!({ "HostIp": text("HostIp"), "HostPort": text("HostPort") });
        }
    }
}

/// Puts what was given over the defaults, for the keys that the defaults have.
fn overlay(defaults: &mut Value, given: &Value) {
    for (key, value) in defaults.as_object_mut().into_iter().flatten() {
        if let Some(given) = given.get(key).filter(|given| !given.is_null()) {
            *value = given.clone();
        }
    }
}

/// What a body without a HostConfig becomes.
static DEFAULTS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("host-config.json")).unwrap());

/// An absolute path without `.`, `..` and doubled slashes.
pub fn cleaned(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
