//! From a run to what its host says of it, and the `agent.yaml` that is delivered.

use std::collections::BTreeMap;

use kibotos::agent::config::AgentConfig;
use kibotos::agent::container::{Create, Intent, create_body};
use kibotos::agent::policy::{Context, HostPolicy, check};
use kibotos::api::WorkspaceRunSpec;
use kibotos::docker::ApiVersion;
use serde_json::{Value, json};

const ROOT: &str = "/var/lib/kibotos";
const DELIVERED: &str = include_str!("../deploy/systemd/agent.yaml");

fn run(container: &Value) -> WorkspaceRunSpec {
    serde_json::from_value(json!({
        "workspace": {"namespace": "dev", "name": "web", "uid": "3f2b8c1e-9a77"},
        "sequence": 1, "generation": 1, "desired": "Running", "specHash": "v1-0",
        "container": container,
        "mounts": [{"volume": {"name": "v", "uid": "0d1e"}, "driver": "local", "path": "/data"}],
        "configFile": {"secretName": "s", "key": "k", "sha256": "0".repeat(64), "path": "/etc/service.conf"},
    }))
    .unwrap()
}

fn refused(container: &Value, config: &str, engine: u32) -> Vec<String> {
    let run = run(container);
    let intent = Intent {
        run: &run,
        secret: &BTreeMap::new(),
        host_uid: "h",
        root: ROOT,
        engine: ApiVersion::v1(engine),
    };
    let create: Create = create_body(&intent).unwrap();
    let policy: HostPolicy = AgentConfig::parse(config).unwrap().policy;
    let context = Context { run: &run, root: ROOT, sockets: &[] };
    let errors = check(&create, &context, &policy.governing("dev"));
    errors.into_iter().map(|error| error.to_string()).collect()
}

#[test]
fn what_the_run_itself_mounts_needs_no_allowance() {
    assert_eq!(refused(&json!({"image": "nginx"}), "", 48), Vec::<String>::new());
    let own = json!({"image": "nginx", "directory": "/data/apps/web"});
    let allowed = "policy: {default: {directoryPrefixes: [/data/apps]}}";
    assert_eq!(refused(&own, allowed, 48), Vec::<String>::new());
}

#[test]
fn fields_are_named_as_their_user_wrote_them() {
    let container = json!({
        "image": "nginx",
        "privileged": true,
        "binds": ["/srv/ok:/ok", "/etc:/x:ro"],
        "mounts": [
            {"type": "tmpfs", "target": "/t"},
            {"type": "bind", "source": "/root", "target": "/r"},
        ],
        "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP", "hostPort": 53}, {"containerPort": 81, "publish": true}],
        "networks": [{"name": "bridge"}, {"name": "back"}],
    });
    let config = "policy: {namespaces: {dev: {bindPrefixes: [/srv/ok]}}}";
    // Before 1.44 the second network is connected after creation.
    for engine in [41, 48] {
        let mut paths = refused(&container, config, engine);
        for error in &mut paths {
            assert!(error.contains(": not allowed by host policy: an admin can allow "), "{error}");
            assert!(error.contains(" under policy.namespaces.dev."), "{error}");
            error.truncate(error.find(": ").unwrap());
        }
        paths.sort();
        assert_eq!(
            paths,
            [
                "spec.container.binds[1]",
                "spec.container.mounts[1].source",
                "spec.container.networks[1].name",
                "spec.container.ports[1].hostPort",
                "spec.container.ports[2].hostPort",
                "spec.container.privileged",
            ],
            "engine {engine}"
        );
    }
}

#[test]
fn the_delivered_document_is_the_closed_default() {
    assert_eq!(AgentConfig::parse(DELIVERED).unwrap(), AgentConfig::default());
}

/// The delivered document with each commented example in place of the closed line before it.
fn with_examples() -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut in_example = false;
    for line in DELIVERED.lines() {
        let Some((indent, text)) = line.split_once("# ").filter(|(i, _)| i.trim().is_empty())
        else {
            in_example = false;
            lines.push(line.to_owned());
            continue;
        };
        let begins =
            lines.last().is_some_and(|closed| key(closed).is_some() && key(closed) == key(text));
        if begins && !in_example {
            lines.pop();
            in_example = true;
        }
        lines.push(if in_example { format!("{indent}{text}") } else { line.to_owned() });
    }
    lines.join("\n")
}

/// The key of a line that is not a comment.
fn key(line: &str) -> Option<&str> {
    let key = line.split_once(':')?.0.trim();
    key.chars().all(char::is_alphanumeric).then_some(key)
}

#[test]
fn every_example_in_the_delivered_document_is_right() {
    let text = with_examples();
    let config = AgentConfig::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let closed = AgentConfig::default();
    assert_ne!(config, closed);
    let (open, shut) = (&config.policy.default, &closed.policy.default);
    assert_ne!(open.host_namespaces, shut.host_namespaces);
    assert_eq!(open.bind_prefixes.len(), 3);
    assert_eq!(open.devices.len(), 3);
    assert_eq!(open.runtimes.len(), 2);
    assert_eq!(open.host_ports.len(), 5);
    assert_eq!(config.policy.governing("media").allowances.bind_prefixes.len(), 1);
    assert_eq!(config.policy.governing("untrusted").allowances, shut);
}

#[test]
fn the_delivered_document_explains_every_key() {
    // The parser's own list of keys, as it tells who writes a wrong one.
    let error = AgentConfig::parse("policy: {default: {x: 1}}").unwrap_err().message;
    let keys: Vec<&str> = error.split_once("one of ").unwrap().1.split(", ").collect();
    assert_eq!(keys.len(), 18);
    for key in keys {
        let at = DELIVERED.find(&format!("\n    {key}:"));
        let before = DELIVERED[..at.unwrap_or_else(|| panic!("{key} is missing"))].lines().last();
        assert!(before.unwrap().trim_start().starts_with("# "), "{key} is not explained");
    }
}
