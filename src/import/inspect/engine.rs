//! What an engine writes into a container's configuration by itself.

use serde_json::{Map, Value, json};

use crate::import::notes::Notes;

type Members = Map<String, Value>;

/// Takes off what the engine added.
pub fn subtract(
    what: &str,
    id: &str,
    config: &mut Members,
    host: &mut Members,
    networks: &mut Members,
    notes: &mut Notes,
) {
    if config.get("Image").and_then(Value::as_str).is_some_and(|image| image.starts_with("sha256:"))
    {
        let message =
            "is the id of an image, which cannot be pulled: name it by repository and tag";
        notes.warn_at(format!("{what}.Config.Image"), message);
    }
    let mode = host.get("NetworkMode").and_then(Value::as_str).unwrap_or_default().to_owned();
    host_name(what, id, &mode, config, notes);
    if mode == "bridge" {
        host.remove("NetworkMode");
    }
    if mode.strip_prefix("container:").is_some_and(|target| target.len() == 64) {
        let message =
            "names the other container by its id, which a new one will not have: use its name";
        notes.warn_at(format!("{what}.HostConfig.NetworkMode"), message);
    }
    host_defaults(host);
    masks(what, host, notes);
    let desired = config.get("MacAddress").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (name, endpoint) in networks.iter_mut() {
        if let Some(endpoint) = endpoint.as_object_mut() {
            let at = format!("{what}.NetworkSettings.Networks[{name}].MacAddress");
            address(&at, &desired, endpoint, notes);
            aliases(id, endpoint);
        }
    }
}

/// Unset, a host name is the container's id; with the host's network it is the host's.
fn host_name(what: &str, id: &str, mode: &str, config: &mut Members, notes: &mut Notes) {
    let name = config.get("Hostname").and_then(Value::as_str).unwrap_or_default();
    let echoed = mode.starts_with("container:");
    if name == id || echoed {
        config.remove("Hostname");
    } else if mode == "host" && !name.is_empty() {
        let message =
            format!("{name} is the host's own name with its network, unless it was set: left out");
        notes.warn_at(format!("{what}.Config.Hostname"), message);
        config.remove("Hostname");
    }
}

fn host_defaults(host: &mut Members) {
    // Only cgroup v2 has no such switch, and there a private namespace is the default.
    let version_2 = host.get("OomKillDisable").is_none_or(Value::is_null);
    let privileged = host.get("Privileged") == Some(&json!(true));
    let memory = host.get("Memory").and_then(Value::as_i64).unwrap_or_default();
    for (key, default) in [
        ("ShmSize", json!(64 << 20)),
        ("IpcMode", json!("private")),
        ("CgroupnsMode", json!(if version_2 { "private" } else { "host" })),
        ("Runtime", json!("runc")),
        ("LogConfig", json!({ "Type": "json-file", "Config": {} })),
        ("LogConfig", json!({ "Type": "json-file", "Config": null })),
        ("MemorySwap", json!(memory.saturating_mul(2))),
    ] {
        if host.get(key) == Some(&default) {
            host.remove(key);
        }
    }
    let of_host = |key: &str| host.get(key) == Some(&json!("host"));
    if privileged || of_host("IpcMode") || of_host("PidMode") {
        labels_off(host);
    }
}

/// The engine adds `label=disable` where the container shares so much with the host, unless another
/// label was asked for.
fn labels_off(host: &mut Members) {
    let Some(options) = host.get_mut("SecurityOpt").and_then(Value::as_array_mut) else { return };
    options.retain(|option| *option != json!("label=disable"));
    if options.is_empty() {
        host.remove("SecurityOpt");
    }
}

/// The engine lists what it hides; only an empty list was asked for, and a privileged container has
/// none.
fn masks(what: &str, host: &mut Members, notes: &mut Notes) {
    for key in ["MaskedPaths", "ReadonlyPaths"] {
        let shown = host.remove(key);
        let empty = shown.as_ref().and_then(Value::as_array).is_some_and(Vec::is_empty);
        if empty && host.get("Privileged") != Some(&json!(true)) {
            let message = "is empty (systempaths=unconfined), and in a Workspace the engine's own list counts";
            notes.warn_at(format!("{what}.HostConfig.{key}"), message);
        }
    }
}

/// What an endpoint shows is the address it has, which the engine made unless it was asked for.
fn address(at: &str, desired: &str, endpoint: &mut Members, notes: &mut Notes) {
    let mac = endpoint.get("MacAddress").and_then(Value::as_str).unwrap_or_default().to_owned();
    let ip = endpoint.get("IPAddress").and_then(Value::as_str).unwrap_or_default().to_owned();
    endpoint.remove("MacAddress");
    let octets: Option<Vec<u8>> = ip.split('.').map(|octet| octet.parse().ok()).collect();
    let of_ip = octets
        .unwrap_or_default()
        .iter()
        .fold("02:42".to_owned(), |mac, octet| format!("{mac}:{octet:02x}"));
    if !mac.is_empty() && mac != desired && mac != of_ip {
        let message = format!(
            "{mac} is the address it has now, asked for or not: left out, set macAddress if it must stay"
        );
        notes.warn_at(at, message);
    }
}

fn aliases(id: &str, endpoint: &mut Members) {
    if let Some(list) = endpoint.get_mut("Aliases").and_then(Value::as_array_mut) {
        list.retain(|alias| alias.as_str() != Some(id));
    }
}

/// Data in a volume without a name stays with the old container.
pub fn anonymous_volumes(what: &str, mounts: Option<&Value>, host: &Members, notes: &mut Notes) {
    let asked = |name: &str| {
        let lists = [host.get("Binds"), host.get("Mounts")];
        lists.into_iter().flatten().any(|list| list.to_string().contains(name))
    };
    let list = mounts.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (i, mount) in list.iter().enumerate() {
        let text = |key: &str| mount.get(key).and_then(Value::as_str).unwrap_or_default();
        let (name, target) = (text("Name"), text("Destination"));
        let anonymous = name.len() == 64 && name.chars().all(|c| c.is_ascii_hexdigit());
        if text("Type") == "volume" && anonymous && !asked(name) {
            let message = format!(
                "the data at {target} is in a volume without a name, and the new container gets an empty one: \
                 to keep it, bind {name}:{target}"
            );
            notes.warn_at(format!("{what}.Mounts[{i}]"), message);
        }
    }
}
