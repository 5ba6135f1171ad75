//! Limits: of the service itself and under `deploy`.

use serde_json::{Map, Value, json};

use super::process::policy_name;
use super::service::Draft;
use super::value::{Node, scalar};
use crate::api::grammar::Quantity;
use crate::import::notes::Notes;
use crate::import::object::wanted;
use crate::import::size;

const SIZES: [(&str, &str); 4] = [
    ("mem_limit", "Memory"),
    ("mem_reservation", "MemoryReservation"),
    ("memswap_limit", "MemorySwap"),
    ("shm_size", "ShmSize"),
];

const NUMBERS: [(&str, &str); 8] = [
    ("mem_swappiness", "MemorySwappiness"),
    ("pids_limit", "PidsLimit"),
    ("oom_score_adj", "OomScoreAdj"),
    ("cpu_shares", "CpuShares"),
    ("cpu_rt_period", "CpuRealtimePeriod"),
    ("cpu_rt_runtime", "CpuRealtimeRuntime"),
    ("cpu_period", "CpuPeriod"),
    ("cpu_quota", "CpuQuota"),
];

/// Members of a request for devices.
const REQUEST: [(&str, &str); 5] = [
    ("Driver", "driver"),
    ("Count", "count"),
    ("DeviceIDs", "device_ids"),
    ("Capabilities", "capabilities"),
    ("Options", "options"),
];

/// All limits; those under `deploy` count over the service's own.
pub fn read(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    for (key, docker) in SIZES {
        bytes(key, docker, node, draft, notes);
    }
    for (key, docker) in NUMBERS {
        if key == "cpu_period" || key == "cpu_quota" || key.starts_with("cpu_rt") {
            micros(key, docker, node, draft, notes);
        } else if let Some(number) = node.int(key, notes) {
            draft.host(docker, &node.at(key), number);
        }
    }
    cpus("cpus", node, draft, notes);
    for (key, docker) in [("cpuset", "CpusetCpus"), ("cpuset_mems", "CpusetMems")] {
        if let Some(text) = node.text(key, notes) {
            draft.host(docker, &node.at(key), text);
        }
    }
    if let Some(flag) = node.flag("oom_kill_disable", notes) {
        draft.host("OomKillDisable", &node.at("oom_kill_disable"), flag);
    }
    ulimits(node, draft, notes);
    blkio(node, draft, notes);
    gpus(node, draft, notes);
    deploy(node, draft, notes);
}

fn bytes(key: &str, docker: &str, node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let Some(text) = node.text(key, notes) else { return };
    let bytes = if text == "-1" { Some(-1) } else { size::bytes(&text) };
    match bytes {
        Some(bytes) => draft.host(docker, &node.at(key), bytes),
        None => notes.error_at(node.at(key), format!("{text:?} is no size such as 64m")),
    }
}

/// Microseconds as a number, or a duration.
fn micros(key: &str, docker: &str, node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let Some(text) = node.text(key, notes) else { return };
    let of_duration = || {
        let duration = text.parse::<crate::api::grammar::Duration>().ok()?;
        Some(duration.nanos() / 1000)
    };
    match text.parse::<i64>().ok().or_else(of_duration) {
        Some(micros) => draft.host(docker, &node.at(key), micros),
        None => notes.error_at(node.at(key), format!("{text:?} is no number of microseconds")),
    }
}

fn cpus(key: &str, node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let Some(text) = node.text(key, notes) else { return };
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let nanos = text.parse::<Quantity>().ok().filter(|_| plain);
    match nanos.and_then(|quantity| i64::try_from(quantity.nanos()).ok()) {
        Some(nanos) => draft.host("NanoCpus", &node.at(key), nanos),
        None => notes.error_at(node.at(key), format!("{text:?} is no number of CPUs such as 0.5")),
    }
}

fn ulimits(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = node.at("ulimits");
    let Some(value) = node.take("ulimits") else { return };
    let Value::Object(limits) = value else {
        notes.error_at(at, wanted("an object", &value));
        return;
    };
    for (name, value) in &limits {
        let at = format!("{at}.{name}");
        let (soft, hard) = if value.is_object() {
            let mut limit = Node::new(at.clone(), value);
            let pair = (limit.int("soft", notes), limit.int("hard", notes));
            limit.finish(notes);
            pair
        } else {
            let number = scalar(&at, value, notes).and_then(|text| text.parse::<i64>().ok());
            (number, number)
        };
        let (Some(soft), Some(hard)) = (soft, hard) else {
            notes.error_at(at, "must be a number, or soft and hard");
            continue;
        };
        draft.push("Ulimits", &at, json!({ "Name": name, "Soft": soft, "Hard": hard }));
    }
}

fn blkio(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = node.at("blkio_config");
    let Some(value) = node.take("blkio_config") else { return };
    let mut config = Node::new(at, &value);
    if let Some(weight) = config.int("weight", notes) {
        draft.host("BlkioWeight", &config.at("weight"), weight);
    }
    for (key, docker, member) in [
        ("weight_device", "BlkioWeightDevice", "weight"),
        ("device_read_bps", "BlkioDeviceReadBps", "rate"),
        ("device_write_bps", "BlkioDeviceWriteBps", "rate"),
        ("device_read_iops", "BlkioDeviceReadIOps", "rate"),
        ("device_write_iops", "BlkioDeviceWriteIOps", "rate"),
    ] {
        for (at, item) in config.list(key) {
            let mut device = Node::new(at.clone(), &item);
            let path = device.text("path", notes);
            let number = device.text(member, notes).and_then(|text| size::bytes(&text));
            device.finish(notes);
            let docker_member = if member == "rate" { "Rate" } else { "Weight" };
            let path = draft.push(docker, &at, json!({ "Path": path, docker_member: number }));
            draft.members(&path, &at, &[("Path", "path"), (docker_member, member)]);
        }
    }
    config.finish(notes);
}

fn gpus(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = node.at("gpus");
    match node.take("gpus") {
        None => {}
        Some(Value::String(all)) if all == "all" => {
            draft.push("DeviceRequests", &at, json!({ "Count": -1, "Capabilities": [["gpu"]] }));
        }
        Some(Value::Array(items)) => {
            for (i, item) in items.iter().enumerate() {
                let at = format!("{at}[{i}]");
                let request = request(&at, item, &["gpu"], notes);
                let path = draft.push("DeviceRequests", &at, request);
                draft.members(&path, &at, &REQUEST);
            }
        }
        Some(_) => notes.error_at(at, "must be all, or a list of devices"),
    }
}

fn request(at: &str, item: &Value, implied: &[&str], notes: &mut Notes) -> Value {
    let mut node = Node::new(at.to_owned(), item);
    let texts = |list: Vec<(String, String)>| list.into_iter().map(|(_, t)| t).collect::<Vec<_>>();
    let ids = texts(node.texts("device_ids", notes));
    let count = match node.text("count", notes).as_deref() {
        // As compose does: all, unless it is said which.
        None => {
            if ids.is_empty() {
                Some(-1)
            } else {
                None
            }
        }
        Some("all") => Some(-1),
        Some(number) => {
            let count = number.parse::<i64>().ok();
            if count.is_none() {
                notes.error_at(node.at("count"), format!("{number:?} is neither all nor a number"));
            }
            count
        }
    };
    let mut capabilities = texts(node.texts("capabilities", notes));
    for word in implied {
        if !capabilities.iter().any(|there| there == word) {
            capabilities.push((*word).to_owned());
        }
    }
    let options: Map<String, Value> = node
        .pairs("options", notes)
        .into_iter()
        .map(|(_, name, value)| (name, value.unwrap_or_default().into()))
        .collect();
    let request = json!({
        "Driver": node.text("driver", notes),
        "Count": count,
        "DeviceIDs": ids,
        "Capabilities": [capabilities],
        "Options": options,
    });
    node.finish(notes);
    request
}

fn deploy(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = node.at("deploy");
    let Some(value) = node.take("deploy") else { return };
    let mut deploy = Node::new(at, &value);
    if deploy.int("replicas", notes).is_some_and(|replicas| replicas != 1) {
        let message =
            "a Workspace is one container: make one Workspace each, or powerState Stopped for none";
        notes.warn_at(deploy.at("replicas"), message);
    }
    restart_policy(&mut deploy, draft, notes);
    let resources_at = deploy.at("resources");
    let value = deploy.take("resources").unwrap_or_default();
    let mut resources = Node::new(resources_at, &value);
    let (limits_at, reserved_at) = (resources.at("limits"), resources.at("reservations"));
    let value = resources.take("limits").unwrap_or_default();
    let mut limits = Node::new(limits_at, &value);
    cpus("cpus", &mut limits, draft, notes);
    bytes("memory", "Memory", &mut limits, draft, notes);
    if let Some(pids) = limits.int("pids", notes) {
        draft.host("PidsLimit", &limits.at("pids"), pids);
    }
    limits.finish(notes);
    let value = resources.take("reservations").unwrap_or_default();
    let mut reserved = Node::new(reserved_at, &value);
    bytes("memory", "MemoryReservation", &mut reserved, draft, notes);
    reserved.refuse(
        &[(
            "cpus",
            "docker compose makes nothing of it: set cpu_shares, or resources.requests.cpu",
        )],
        notes,
    );
    for (at, item) in reserved.list("devices") {
        let request = request(&at, &item, &[], notes);
        let path = draft.push("DeviceRequests", &at, request);
        draft.members(&path, &at, &REQUEST);
    }
    reserved.finish(notes);
    resources.finish(notes);
    deploy.refuse(
        &[
            ("labels", "are of a swarm's service, not of its containers: left out"),
            ("placement", "is of a swarm: use spec.placement"),
            ("update_config", "is of a swarm: see spec.update"),
            ("endpoint_mode", "is of a swarm: left out"),
            ("rollback_config", "is of a swarm: left out"),
        ],
        notes,
    );
    if let Some(mode) = deploy.text("mode", notes)
        && mode != "replicated"
    {
        notes.warn_at(deploy.at("mode"), "is of a swarm: a Workspace is one container");
    }
    deploy.finish(notes);
}

/// Counts over the service's own `restart`, as docker compose has it.
fn restart_policy(deploy: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = deploy.at("restart_policy");
    let Some(value) = deploy.take("restart_policy") else { return };
    let mut policy = Node::new(at.clone(), &value);
    let condition = policy.text("condition", notes).unwrap_or_default();
    if condition.is_empty() {
        let message =
            "is not set, for which docker compose restarts nothing, whatever a swarm does";
        notes.warn_at(policy.at("condition"), message);
    }
    let count = policy.int("max_attempts", notes).unwrap_or_default();
    policy.refuse(
        &[
            ("delay", "the engine has its own delay: left out"),
            ("window", "the engine has its own: left out"),
        ],
        notes,
    );
    policy.finish(notes);
    if draft.has_host("RestartPolicy") {
        notes.warn_at(at.clone(), "counts over restart, as docker compose has it");
    }
    let value = json!({ "Name": policy_name(&condition), "MaximumRetryCount": count });
    draft.host("RestartPolicy", &at, value);
    let names = [("Name", "condition"), ("MaximumRetryCount", "max_attempts")];
    draft.members("HostConfig.RestartPolicy", &at, &names);
}
