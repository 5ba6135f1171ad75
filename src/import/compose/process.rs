//! What runs and how: image, command, environment, labels, rights, namespaces.

use serde_json::{Map, Value};

use super::environment;
use super::project::Project;
use super::service::Draft;
use super::value::{Node, scalar};
use crate::import::notes::Notes;

/// Texts of the body itself.
const TEXTS: [(&str, &str); 7] = [
    ("image", "Image"),
    ("user", "User"),
    ("working_dir", "WorkingDir"),
    ("hostname", "Hostname"),
    ("domainname", "Domainname"),
    ("mac_address", "MacAddress"),
    ("stop_signal", "StopSignal"),
];

/// Texts of its host part.
const HOST_TEXTS: [(&str, &str); 7] = [
    ("ipc", "IpcMode"),
    ("pid", "PidMode"),
    ("uts", "UTSMode"),
    ("userns_mode", "UsernsMode"),
    ("cgroup", "CgroupnsMode"),
    ("cgroup_parent", "CgroupParent"),
    ("runtime", "Runtime"),
];

/// Lists of texts of its host part.
const LISTS: [(&str, &str); 8] = [
    ("cap_add", "CapAdd"),
    ("cap_drop", "CapDrop"),
    ("security_opt", "SecurityOpt"),
    ("group_add", "GroupAdd"),
    ("device_cgroup_rules", "DeviceCgroupRules"),
    ("dns", "Dns"),
    ("dns_search", "DnsSearch"),
    ("dns_opt", "DnsOptions"),
];

/// What runs and how.
pub fn read(node: &mut Node<'_>, draft: &mut Draft, project: &Project<'_>, notes: &mut Notes) {
    for (key, docker) in TEXTS {
        if let Some(text) = node.text(key, notes) {
            draft.config(docker, &node.at(key), text);
        }
    }
    for (key, docker) in HOST_TEXTS {
        if let Some(text) = node.text(key, notes) {
            let joins = text.strip_prefix("service:");
            if let Some(service) = joins {
                let message =
                    format!("write container:NAME of the container of service {service}: left out");
                notes.warn_at(node.at(key), message);
            } else {
                draft.host(docker, &node.at(key), text);
            }
        }
    }
    for (key, docker) in LISTS {
        for (at, text) in node.texts(key, notes) {
            draft.push(docker, &at, text);
        }
    }
    for (key, docker) in [("tty", "Tty"), ("stdin_open", "OpenStdin")] {
        if let Some(flag) = node.flag(key, notes) {
            draft.config(docker, &node.at(key), flag);
        }
    }
    for (key, docker) in
        [("privileged", "Privileged"), ("read_only", "ReadonlyRootfs"), ("init", "Init")]
    {
        if let Some(flag) = node.flag(key, notes) {
            draft.host(docker, &node.at(key), flag);
        }
    }
    words("command", "Cmd", node, draft, notes);
    words("entrypoint", "Entrypoint", node, draft, notes);
    environment::read(node, draft, project, notes);
    let mut labels = Map::new();
    for (at, name, value) in node.pairs("labels", notes) {
        draft.origin(&format!("Labels[{name}]"), &at);
        labels.insert(name, value.unwrap_or_default().into());
    }
    draft.config("Labels", &node.at("labels"), labels);
    for (key, docker) in
        [("annotations", "Annotations"), ("sysctls", "Sysctls"), ("storage_opt", "StorageOpt")]
    {
        for (at, name, value) in node.pairs(key, notes) {
            draft.entry(docker, &name, &at, value.unwrap_or_default());
        }
    }
    restart(node, draft, notes);
    logging(node, draft, notes);
}

/// A command as a list, or as a line that is split as a shell splits it.
fn words(key: &str, docker: &str, node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = node.at(key);
    let words = match node.take(key) {
        None => return,
        Some(Value::Array(items)) => {
            let word = |(i, item)| scalar(&format!("{at}[{i}]"), item, notes);
            items.iter().enumerate().filter_map(word).collect::<Vec<_>>()
        }
        Some(line) => {
            let Some(line) = scalar(&at, &line, notes) else { return };
            let Some(words) = shlex::split(&line) else {
                notes.error_at(at, "has a quote that does not end: close it, or write a list");
                return;
            };
            words
        }
    };
    draft.config(docker, &at, words);
}

/// The engine's name of a restart policy. Compose knows each by a swarm's too, and a bare `no` is
/// false for some readers.
pub fn policy_name(name: &str) -> &str {
    match name {
        "none" | "false" => "no",
        "any" => "always",
        other => other,
    }
}

fn restart(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let Some(text) = node.text("restart", notes) else { return };
    let at = node.at("restart");
    let (name, count) = match text.split_once(':') {
        Some((name, count)) => (name, count.parse::<i64>().ok()),
        None => (text.as_str(), Some(0)),
    };
    let Some(count) = count else {
        notes.error_at(at, format!("{text:?} has no number after the ':'"));
        return;
    };
    draft.host(
        "RestartPolicy",
        &at,
        serde_json::json!({ "Name": policy_name(name), "MaximumRetryCount": count }),
    );
}

fn logging(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = node.at("logging");
    let Some(value) = node.take("logging") else { return };
    let mut logging = Node::new(at.clone(), &value);
    let driver = logging.text("driver", notes).unwrap_or_default();
    let options: Map<String, Value> = logging
        .pairs("options", notes)
        .into_iter()
        .map(|(_, name, value)| (name, value.unwrap_or_default().into()))
        .collect();
    logging.finish(notes);
    draft.host("LogConfig", &at, serde_json::json!({ "Type": driver, "Config": options }));
    draft.members("HostConfig.LogConfig", &at, &[("Type", "driver"), ("Config", "options")]);
}
