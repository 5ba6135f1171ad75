//! A warning speaks of fields as the source calls them.

use kibotos::import::{Kind, Request, import};
use serde_json::{Map, Value, json};

use super::{bad, compose, of_body, request, warned};

/// Whether a sentence has a word in the form of Docker's API, such as `NanoCpus`.
fn speaks_docker(sentence: &str) -> bool {
    let word = |word: &str| {
        let mut chars = word.chars();
        chars.next().is_some_and(char::is_uppercase)
            && word.contains(char::is_lowercase)
            && chars.any(char::is_uppercase)
    };
    let known = ["Memory", "Cmd", "Entrypoint"];
    let words = sentence.split(|c: char| !c.is_alphanumeric());
    words.filter(|text| !text.starts_with("IPv")).any(|text| word(text) || known.contains(&text))
}

/// A body's members in snake case, but for those whose names are the user's.
fn snake(value: &Value, users: bool) -> Value {
    match value {
        Value::Object(members) => {
            let of = |(key, value): (&String, &Value)| {
                let name = if users { key.clone() } else { snaked(key) };
                let users = ["Labels", "Sysctls", "Tmpfs", "StorageOpt", "PortBindings"];
                let users = users.contains(&key.as_str())
                    || ["ExposedPorts", "EndpointsConfig", "Volumes"].contains(&key.as_str());
                (name, snake(value, users))
            };
            Value::Object(members.iter().map(of).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| snake(item, false)).collect(),
        other => other.clone(),
    }
}

fn snaked(name: &str) -> String {
    match name {
        "EndpointsConfig" => return "endpoints".to_owned(),
        "Interval" => return "interval_ns".to_owned(),
        "UTSMode" => return "uts_mode".to_owned(),
        "DeviceIDs" => return "device_ids".to_owned(),
        "IPAMConfig" => return "ipam_config".to_owned(),
        "IPv4Address" => return "ipv4_address".to_owned(),
        _ => {}
    }
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

#[test]
fn warnings_of_a_device_command_name_its_own_fields() {
    for (path, body) in bad::bodies() {
        let mut body = body;
        if body.get("Entrypoint").is_none() {
            body["Cmd"] = json!(["x"]);
        }
        let mut config = snake(&body, false);
        let members = config.as_object_mut().unwrap();
        let host = members.remove("host_config").unwrap_or_default();
        let networking = members.remove("networking_config").unwrap_or_default();
        let command = json!({ "container_name": "app",
            "create": { "config": config, "host_config": host, "networking_config": networking } });
        let imported = import(&request(Kind::Device, &command.to_string())).unwrap();
        assert_eq!(imported.errors, [], "{path}");
        let warned = warned(&imported);
        for line in &warned {
            assert!(line.starts_with("create."), "{path}: {line}");
            assert!(!speaks_docker(line), "{path}: {line}");
        }
        // What the original fills in by itself is nothing to be warned of.
        let filled = path.ends_with(".CgroupPermissions") && body.to_string().contains("\"\"");
        assert_eq!(warned.is_empty(), filled, "{path}: {warned:?}");
    }
}

#[test]
fn the_names_in_a_sentence_are_those_of_the_source() {
    let body = json!({ "Image": "app", "HostConfig": { "MemorySwap": 9_388_608 } });
    assert_eq!(warned(&of_body(&body)), ["HostConfig.MemorySwap: needs Memory: left out"]);
    let command = json!({ "container_name": "app",
        "create": { "config": { "image": "app", "cmd": ["x"] }, "host_config": { "memory_swap": 9_388_608 } } });
    let imported = import(&request(Kind::Device, &command.to_string())).unwrap();
    assert_eq!(warned(&imported), ["create.host_config.memory_swap: needs memory: left out"]);
    for (service, warning) in [
        ("memswap_limit: 9m", "services.web.memswap_limit: needs mem_limit: left out"),
        (
            "mem_limit: 8m\nmem_reservation: 9m",
            "services.web.mem_reservation: is above mem_limit: left out",
        ),
        (
            "mem_reservation: 9m\ndeploy: {resources: {limits: {memory: 8m}}}",
            "services.web.mem_reservation: is above deploy.resources.limits.memory: left out",
        ),
        ("cpus: 1\ncpu_quota: 50000", "services.web.cpu_quota: goes not with cpus: left out"),
        (
            "network_mode: host\nports: ['80:80']",
            "services.web.ports[0]: ports are not published with network_mode host, none or container:…: left out",
        ),
        (
            "gpus: [{count: 1, device_ids: ['0']}]",
            "services.web.gpus[0].count: goes not with device_ids: left out",
        ),
        (
            "entrypoint: []",
            "services.web.entrypoint: is empty and command too, and a Workspace has no image's \
             entrypoint cleared without args: the image's own is kept",
        ),
    ] {
        assert_eq!(compose::one(service).1, [warning], "{service}");
    }
}

#[test]
fn warnings_of_a_compose_file_speak_of_its_own_fields() {
    for service in [
        "networks: {front: {ipv4_address: x}}",
        "volumes: [{type: bind, source: ./a, target: /a, bind: {propagation: bogus, create_host_path: false}}]",
        "volumes: [{type: tmpfs, target: /a, bind: {propagation: shared}}]",
        "volumes: [{type: bogus, target: /a}]",
        "devices: [{source: /dev/a, target: /dev/b, permissions: xyz}]",
        "devices: ['/dev/a:/dev/b:xyz']",
        "restart: Always",
        "deploy: {restart_policy: {condition: any, max_attempts: 3}}",
        "ulimits: {bogus: 1}",
        "healthcheck: {test: [BOGUS]}",
        "blkio_config: {device_read_bps: [{path: x, rate: 1}]}",
        "labels: {kibotos.dev/x: y}",
        "hostname: bad host!",
        "storage_opt: {x: y}",
        "oom_kill_disable: true",
        "cpuset: 0-",
        "pid: bogus",
        "platform: Linux",
        "pull_policy: daily",
        "environment: {CONTAINER_NAME: other}",
    ] {
        let text =
            format!("services:\n  web:\n    image: app\n    network_mode: bridge\n    {service}\n")
                .replace("    network_mode: bridge\n    networks", "    networks");
        let imported =
            import(&Request { env_file: None, ..request(Kind::Compose, &text) }).unwrap();
        let warned = warned(&imported);
        let told = warned.iter().filter(|line| !line.contains("must exist on the host"));
        assert_eq!(told.count(), 1, "{service}: {warned:?} {:?}", imported.errors);
        for line in &warned {
            assert!(line.starts_with("services.web."), "{line}");
            assert!(!speaks_docker(line), "{line}");
        }
    }
}
