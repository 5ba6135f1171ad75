//! Wrong input that people really give an engine, and where Kibotos catches each.
//!
//! The cases are in `fixture/docker-run/errors-given.json`, with what a real engine said to each; the
//! table below says of every one where it is caught: by the schema when it is applied, by the
//! translation (which `kibotos render` shows), by the agent with a reason, or why it cannot even be
//! written.

use std::collections::{BTreeMap, BTreeSet};

use kibotos::agent::container::{Intent, create_body};
use kibotos::api::{Reason, WorkspaceRunSpec};
use kibotos::docker::ApiVersion;
use serde_json::{Value, json};

use crate::fixture::cluster;
use crate::schema::judge::{Answer, Judge};
use crate::schema::kind::Kind;

/// Where a case is caught.
enum Caught {
    /// Refused when it is applied: this spec, at this field.
    Schema(Value, &'static str),
    /// Refused when it is translated: this container, at this field.
    Translation(Value, &'static str),
    /// No Workspace can say it: why.
    Unsayable(&'static str),
    /// What a user means is done, where the engine's client did something else: why.
    Meant(&'static str),
    /// Only the host can tell; its agent reports this.
    Agent(Reason, &'static str),
}

use Caught::{Agent, Meant, Schema, Translation, Unsayable};

#[allow(clippy::too_many_lines, reason = "one line a case")]
fn table() -> Vec<(&'static str, Caught)> {
    let container = |value: Value| {
        let mut container = json!({ "image": "app:1" });
        container.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        json!({ "container": container })
    };
    let schema = |value: Value, field: &'static str| Schema(container(value), field);
    let with_resources = |resources: Value, own: Value, field: &'static str| {
        let mut spec = container(own);
        spec["resources"] = resources;
        Schema(spec, field)
    };
    let memory = |limit: &str| json!({ "limits": { "memory": limit } });
    let port = |value: Value| json!({ "ports": [value] });
    vec![
        (
            "error-001",
            Agent(
                Reason::StartFailed,
                "which parents exist depends on the host's cgroup driver; host policy allows none by default",
            ),
        ),
        (
            "error-002",
            with_resources(
                json!({ "limits": { "memory": "64Mi" }, "requests": { "memory": "128Mi" } }),
                json!({}),
                "spec.resources.requests.memory",
            ),
        ),
        (
            "error-004",
            Meant("a null is as if the label were not there, as everywhere in Kubernetes"),
        ),
        (
            "error-006",
            schema(
                json!({ "healthcheck": { "test": ["curl", "-f", "http://localhost/"] } }),
                "spec.container.healthcheck.test",
            ),
        ),
        ("error-007", Agent(Reason::StartFailed, "a host's drivers are known to its engine only")),
        (
            "error-009",
            schema(
                port(json!({ "containerPort": 80, "hostPort": 70000 })),
                "spec.container.ports[0].hostPort",
            ),
        ),
        (
            "error-011",
            with_resources(
                json!({ "limits": { "cpu": "1" } }),
                json!({ "cpuQuota": 50_000 }),
                "spec.resources.limits.cpu",
            ),
        ),
        ("error-012", schema(json!({ "memry": 67_108_864 }), "spec.container.memry")),
        (
            "error-014",
            schema(
                json!({ "restartPolicy": { "name": "always", "maximumRetryCount": 3 } }),
                "spec.container.restartPolicy.maximumRetryCount",
            ),
        ),
        (
            "error-016",
            Agent(
                Reason::NoHostFits,
                "hosts report their runtimes, and placement asks for one that has it",
            ),
        ),
        (
            "error-017",
            schema(
                json!({ "networks": [{ "name": "default", "ipamConfig": { "ipv4Address": "172.17.55.66" } }] }),
                "spec.container.networks[0]",
            ),
        ),
        (
            "error-019",
            Agent(
                Reason::BindSourceMissing,
                "the agent looks before the engine would make a directory",
            ),
        ),
        (
            "error-021",
            schema(
                json!({ "binds": ["/srv/src:/data"], "mounts": [{ "type": "volume", "target": "/data" }] }),
                "spec.container",
            ),
        ),
        (
            "error-022",
            schema(
                port(json!({ "containerPort": 80, "publish": true, "hostIP": "localhost" })),
                "spec.container.ports[0].hostIP",
            ),
        ),
        (
            "error-024",
            schema(
                json!({ "devices": [{ "pathOnHost": "/dev/null", "pathInContainer": "/dev/x", "cgroupPermissions": "" }] }),
                "spec.container.devices[0].cgroupPermissions",
            ),
        ),
        (
            "error-026",
            schema(
                json!({ "networkMode": "host", "ports": [{ "containerPort": 80, "hostPort": 18080 }] }),
                "spec.container.ports",
            ),
        ),
        (
            "error-027",
            schema(
                json!({ "networkMode": "host", "networks": [{ "name": "front", "ipamConfig": { "ipv4Address": "192.168.10.5" } }] }),
                "spec.container.networks",
            ),
        ),
        ("error-029", Unsayable("one list of ports makes both of the engine's maps")),
        (
            "error-031",
            schema(
                json!({ "healthcheck": { "test": ["CMD", "true"], "interval": "30ns" } }),
                "spec.container.healthcheck.interval",
            ),
        ),
        (
            "error-032",
            Agent(
                Reason::StartFailed,
                "a host's log drivers are known to its engine only; host policy allows json-file and local by default",
            ),
        ),
        ("error-034", Agent(Reason::PortConflict, "a process of the host holds the port")),
        ("error-036", Meant("a host port is a number here, and text on the wire")),
        (
            "error-037",
            schema(
                json!({ "ulimits": [{ "name": "files", "soft": 10, "hard": 10 }] }),
                "spec.container.ulimits[0].name",
            ),
        ),
        (
            "error-039",
            schema(
                json!({ "binds": ["~/.laradock/data//redis:/data"] }),
                "spec.container.binds[0]",
            ),
        ),
        ("error-041", Meant("each may have 64 characters, and the engine takes both")),
        ("error-042", schema(json!({ "oomKillDisable": true }), "spec.container.oomKillDisable")),
        ("error-044", Agent(Reason::StartFailed, "which users there are is in the image")),
        ("error-046", with_resources(memory("512m"), json!({}), "spec.resources.limits.memory")),
        ("error-047", Agent(Reason::NoHostFits, "placement looks for a host with that many")),
        (
            "error-049",
            with_resources(
                memory("512Mi"),
                json!({ "memorySwap": "256Mi" }),
                "spec.container.memorySwap",
            ),
        ),
        ("error-051", schema(json!({ "links": ["missing:db"] }), "spec.container.links")),
        (
            "error-052",
            Agent(
                Reason::InvalidSpec,
                "which options a driver has depends on the engine's version; the engine's answer names the option",
            ),
        ),
        ("error-054", schema(json!({ "macAddress": "aa:bb:cc" }), "spec.container.macAddress")),
        ("error-056", Meant("an image that is not there is pulled")),
        (
            "error-057",
            Agent(
                Reason::UnsupportedByEngine,
                "whether a size can be bounded depends on the host's storage driver and file system",
            ),
        ),
        (
            "error-059",
            Unsayable("one list of ports makes both of the engine's maps, with one form of key"),
        ),
        ("error-061", schema(json!({ "memory": 67_108_864 }), "spec.container.memory")),
        ("error-062", schema(json!({ "extraHosts": ["db"] }), "spec.container.extraHosts")),
        (
            "error-064",
            schema(
                json!({ "networkMode": "container:peer", "ports": [{ "containerPort": 80 }] }),
                "spec.container.networkMode",
            ),
        ),
        ("error-066", {
            let mut spec = container(json!({}));
            spec["stop"] = json!({ "signal": "SIGTREM" });
            Schema(spec, "spec.stop.signal")
        }),
        ("error-067", schema(json!({ "dns": ["dns.example.com"] }), "spec.container.dns")),
        (
            "error-069",
            Agent(Reason::NetworkNotFound, "networks are the host's; a missing one is waited for"),
        ),
        (
            "error-071",
            schema(
                port(json!({ "containerPort": 80, "protocol": "HTTP" })),
                "spec.container.ports[0].protocol",
            ),
        ),
        (
            "error-072",
            Agent(Reason::StartFailed, "how far a limit may be raised is the engine's own limit"),
        ),
        (
            "error-074",
            with_resources(
                json!({ "requests": { "cpu": "1m" } }),
                json!({}),
                "spec.resources.requests.cpu",
            ),
        ),
        (
            "error-076",
            Agent(
                Reason::StartFailed,
                "containers are the host's; host policy allows joining none by default",
            ),
        ),
        ("error-077", schema(json!({ "capAdd": ["NET_ADMINS"] }), "spec.container.capAdd[0]")),
        (
            "error-079",
            Agent(Reason::BindSourceMissing, "the agent looks before the engine refuses"),
        ),
        ("error-081", Meant("the first network is joined at creation, the rest before the start")),
        ("error-082", Translation(json!({ "command": [] }), "spec.container.command")),
        (
            "error-084",
            schema(json!({ "utsMode": "host", "hostname": "app" }), "spec.container.hostname"),
        ),
        (
            "error-086",
            schema(json!({ "binds": ["./db:/opt/fasten/db"] }), "spec.container.binds[0]"),
        ),
        ("error-087", Agent(Reason::NameConflict, "a container that is not ours has the name")),
        (
            "error-089",
            schema(
                json!({ "networkMode": "container:peer", "extraHosts": ["db:192.0.2.1"] }),
                "spec.container.networkMode",
            ),
        ),
        ("error-091", Agent(Reason::StartFailed, "which groups there are is in the image")),
        (
            "error-092",
            Agent(
                Reason::StartFailed,
                "how a path is mounted is the host's; the engine's answer names it",
            ),
        ),
    ]
}

#[test]
fn every_case_is_in_the_table_once() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixture/docker-run/errors-given.json");
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases: BTreeSet<_> = cases.iter().map(|case| case["id"].as_str().unwrap()).collect();
    let told: Vec<_> = table().into_iter().map(|(id, _)| id).collect();
    assert_eq!(told.iter().copied().collect::<BTreeSet<_>>(), cases);
    assert_eq!(told.len(), cases.len());
}

#[test]
fn what_is_not_caught_here_says_why() {
    for (id, caught) in table() {
        if let Agent(reason, _) = &caught {
            assert!(Reason::ALL.contains(reason), "{id}");
        }
        if let Unsayable(why) | Meant(why) | Agent(_, why) = caught {
            assert!(why.len() > 10, "{id}");
        }
    }
}

#[test]
fn what_only_the_translation_can_know_is_refused_there() {
    for (id, caught) in table() {
        let Translation(container, field) = caught else { continue };
        let mut spec = json!({
            "workspace": { "namespace": "default", "name": "web", "uid": "0123456789" },
            "sequence": 1, "generation": 1, "desired": "Running", "specHash": "",
            "container": { "image": "app:1" },
        });
        spec["container"].as_object_mut().unwrap().extend(container.as_object().unwrap().clone());
        let run: WorkspaceRunSpec = serde_json::from_value(spec).unwrap();
        let secret = BTreeMap::new();
        let intent = Intent {
            run: &run,
            secret: &secret,
            host_uid: "h",
            root: "/var/lib/kibotos",
            engine: ApiVersion::NEWEST,
        };
        let errors = create_body(&intent).unwrap_err();
        assert!(errors.iter().any(|error| error.path == field), "{id}: {errors:?}");
    }
}

#[tokio::test]
async fn what_a_schema_can_know_is_refused_when_it_is_applied() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("errors").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let url = format!("{}?dryRun=All", judge.collection(Kind::Workspace));
    for (id, caught) in table() {
        let Schema(spec, field) = caught else { continue };
        let mut manifest = Kind::Workspace.least(id);
        manifest["spec"] = spec;
        match judge.write("POST", &url, &manifest).await {
            Answer::Accepted(_) => panic!("{id} is accepted"),
            // An unknown field is refused before there are causes.
            Answer::Refused(400, message, _) => {
                assert!(message.contains(&format!("unknown field \"{field}\"")), "{id}: {message}");
            }
            Answer::Refused(_, message, causes) => {
                assert!(causes.iter().any(|(at, _)| at == field), "{id}: {message} {causes:?}");
            }
        }
    }
}
