//! Create bodies that engines refuse, and in which words.

use std::path::Path;

use serde_json::Value;

use super::{
    answer::{Answer, refusal},
    process,
    state::State,
};

/// The least memory a container may have.
const LEAST_MEMORY: i64 = 6 << 20;

pub fn name(name: &str) -> Result<(), Answer> {
    let plain = name.strip_prefix('/').unwrap_or(name);
    let first = plain.starts_with(|c: char| c.is_ascii_alphanumeric());
    let rest = plain.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    if first && rest && plain.len() >= 2 {
        return Ok(());
    }
    let message =
        format!("Invalid container name ({name}), only [a-zA-Z0-9][a-zA-Z0-9_.-] are allowed");
    Err(refusal(400, message))
}

/// All that can be wrong about a body before the image is looked for.
pub fn body(state: &State, body: &Value) -> Result<(), Answer> {
    let host = &body["HostConfig"];
    types(state, body)?;
    process_settings(body)?;
    restart_policy(&host["RestartPolicy"])?;
    if host["AutoRemove"] == true
        && !["", "no"].contains(&host["RestartPolicy"]["Name"].as_str().unwrap_or_default())
    {
        return Err(refusal(400, "can't create 'AutoRemove' container with restart policy"));
    }
    resources(state, host)?;
    ports(host)?;
    if let Some(runtime) = host["Runtime"].as_str().filter(|r| !["", "runc"].contains(r)) {
        return Err(refusal(400, format!("Unknown runtime specified {runtime}")));
    }
    if let Some(target) = host["PidMode"].as_str().and_then(|m| m.strip_prefix("container:")) {
        state.get(target).map_err(|_| refusal(400, format!("No such container: {target}")))?;
    }
    let driver = host["LogConfig"]["Type"].as_str().unwrap_or_default();
    if !["", "json-file", "local", "none", "syslog", "journald"].contains(&driver) {
        let message =
            format!("error looking up logging plugin {driver}: plugin \"{driver}\" not found");
        return Err(refusal(400, message));
    }
    for option in host["SecurityOpt"].as_array().into_iter().flatten() {
        let text = option.as_str().unwrap_or_default();
        let key = text.split(['=', ':']).next().unwrap_or_default();
        if !["label", "apparmor", "seccomp", "no-new-privileges", "systempaths"].contains(&key) {
            return Err(refusal(500, format!("invalid --security-opt 2: {text:?}")));
        }
    }
    Ok(())
}

fn types(state: &State, body: &Value) -> Result<(), Answer> {
    let status = if state.since(44) { 400 } else { 500 };
    let of_config = |field: &str, kind: &str, of: &str| {
        let message =
            format!("json: cannot unmarshal {kind} into Go struct field {field} of type {of}");
        Err(refusal(status, message))
    };
    if body["HostConfig"]["Memory"].is_string() {
        return of_config("HostConfig.HostConfig.Memory", "string", "int64");
    }
    if body["Labels"].as_object().into_iter().flatten().any(|(_, label)| label.is_number()) {
        return of_config("ContainerConfigWrapper.Labels", "number", "string");
    }
    Ok(())
}

fn process_settings(body: &Value) -> Result<(), Answer> {
    let directory = body["WorkingDir"].as_str().unwrap_or_default();
    if !directory.is_empty() && !directory.starts_with('/') {
        let message = format!(
            "the working directory '{directory}' is invalid, it needs to be an absolute path"
        );
        return Err(refusal(400, message));
    }
    for variable in body["Env"].as_array().into_iter().flatten() {
        let text = variable.as_str().unwrap_or_default();
        if text.is_empty() || text.starts_with('=') {
            return Err(refusal(400, format!("invalid environment variable: {text}")));
        }
    }
    if let Some(signal) = body["StopSignal"].as_str().filter(|text| !text.is_empty()) {
        process::signal(signal).ok_or_else(|| refusal(400, format!("Invalid signal: {signal}")))?;
    }
    for key in ["Interval", "Timeout", "StartPeriod"] {
        if body["Healthcheck"][key].as_i64().is_some_and(|nanos| nanos != 0 && nanos < 1_000_000) {
            return Err(refusal(400, format!("{key} in Healthcheck cannot be less than 1ms")));
        }
    }
    Ok(())
}

pub fn restart_policy(policy: &Value) -> Result<(), Answer> {
    let name = policy["Name"].as_str().unwrap_or_default();
    let count = policy["MaximumRetryCount"].as_i64().unwrap_or(0);
    match name {
        "always" | "unless-stopped" | "no" if count != 0 => Err(refusal(
            400,
            format!("maximum retry count cannot be used with restart policy '{name}'"),
        )),
        "on-failure" if count < 0 => Err(refusal(400, "maximum retry count cannot be negative")),
        "" | "always" | "unless-stopped" | "no" | "on-failure" => Ok(()),
        other => Err(refusal(400, format!("invalid restart policy '{other}'"))),
    }
}

/// Of a create. An update is judged less strictly.
pub fn resources(state: &State, host: &Value) -> Result<(), Answer> {
    let amount = |key: &str| host[key].as_i64().unwrap_or(0);
    let (memory, swap) = (amount("Memory"), amount("MemorySwap"));
    least_memory(host)?;
    if memory > 0 && swap > 0 && swap < memory {
        let message = "Minimum memoryswap limit should be larger than memory limit, see usage";
        return Err(refusal(400, message));
    }
    if memory == 0 && swap > 0 {
        let message =
            "You should always set the Memory limit when using Memoryswap limit, see usage";
        return Err(refusal(400, message));
    }
    if memory > 0 && amount("MemoryReservation") > memory {
        let message =
            "Minimum memory limit can not be less than memory reservation limit, see usage";
        return Err(refusal(400, message));
    }
    cpus(state, host)?;
    let score = amount("OomScoreAdj");
    if !(-1000..=1000).contains(&score) {
        let message = format!("Invalid value {score}, range for oom score adj is [-1000, 1000]");
        return Err(refusal(400, message));
    }
    for key in ["CapAdd", "CapDrop"] {
        for capability in host[key].as_array().into_iter().flatten() {
            let upper = capability.as_str().unwrap_or_default().to_uppercase();
            let name = upper.strip_prefix("CAP_").unwrap_or(&upper);
            if name.starts_with("BOGUS") {
                let message = format!("invalid {key}: unknown capability: \"CAP_{name}\"");
                return Err(refusal(400, message));
            }
        }
    }
    Ok(())
}

pub fn least_memory(host: &Value) -> Result<(), Answer> {
    match host["Memory"].as_i64().unwrap_or(0) {
        memory if memory > 0 && memory < LEAST_MEMORY => {
            Err(refusal(400, "Minimum memory limit allowed is 6MB"))
        }
        _ => Ok(()),
    }
}

pub fn cpus(state: &State, host: &Value) -> Result<(), Answer> {
    let nano = host["NanoCpus"].as_i64().unwrap_or(0);
    if nano != 0 && host["CpuQuota"].as_i64().unwrap_or(0) != 0 {
        let message = "Conflicting options: Nano CPUs and CPU Quota cannot both be set";
        return Err(refusal(400, message));
    }
    let cpus = state.options.cpus;
    if nano < 0 || nano > i64::from(cpus) * 1_000_000_000 {
        let message = format!(
            "Range of CPUs is from 0.01 to {cpus}.00, as there are only {cpus} CPUs available"
        );
        return Err(refusal(400, message));
    }
    Ok(())
}

fn ports(host: &Value) -> Result<(), Answer> {
    let bindings = host["PortBindings"].as_object().into_iter().flatten();
    for binding in bindings.flat_map(|(_, list)| list.as_array().into_iter().flatten()) {
        let port = binding["HostPort"].as_str().unwrap_or_default();
        if !port.is_empty() && port.split('-').any(|port| port.parse::<u16>().is_err()) {
            return Err(refusal(400, format!("invalid port specification: {port:?}")));
        }
    }
    Ok(())
}

/// What is wrong about one of `HostConfig.Mounts`.
pub fn mount(mount: &Value) -> Result<(), Answer> {
    let text = |key: &str| mount[key].as_str().unwrap_or_default();
    let (kind, source, target) = (text("Type"), text("Source"), text("Target"));
    let wrong =
        |why: &str| Err(refusal(400, format!("invalid mount config for type \"{kind}\": {why}")));
    if !target.starts_with('/') {
        return wrong(&format!("invalid mount path: '{target}' mount path must be absolute"));
    }
    if kind == "bind" {
        if !source.starts_with('/') {
            return wrong(&format!("invalid mount path: '{source}' mount path must be absolute"));
        }
        let made = mount["BindOptions"]["CreateMountpoint"] == true;
        if !made && !Path::new(source).exists() {
            return wrong(&format!("bind source path does not exist: {source}"));
        }
    }
    Ok(())
}
