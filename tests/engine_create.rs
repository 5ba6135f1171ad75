//! What the agent makes of a run is taken by a real engine, and its inspect says what the
//! Workspace asked for.

mod rows;
mod started;

use std::collections::{BTreeMap, BTreeSet};

use kibotos::agent::container::{Create, Intent, create_body};
use kibotos::api::{WorkspaceRun, WorkspaceRunSpec};
use kube::CustomResourceExt;
use serde_json::{Value, json};

use crate::fixture::{Engine, Scope, engine};
use rows::{Outcome, Row};

/// No command of its own, so that `args` decide.
const BUSYBOX: &str = "kibotos.test/busybox:1";
/// Every setting an image can have.
const ENTRY: &str = "kibotos.test/entry:1";

/// What a test has of an engine to itself.
pub struct Bench {
    engine: Engine,
    scope: Scope,
    /// Networks, which [`Bench::networked`] makes.
    networks: [String; 2],
    /// Volumes that are there.
    volumes: [String; 2],
}

impl Bench {
    async fn new(hint: &str) -> Self {
        let engine = engine().await;
        let scope = engine.scope(hint);
        let networks = ["front", "back"].map(|hint| scope.name(hint));
        let volumes = [scope.volume("one").await, scope.volume("two").await];
        Self { engine, scope, networks, volumes }
    }

    /// Not for every test, as a network takes an engine longer than anything else.
    async fn networked(hint: &str) -> Self {
        let bench = Self::new(hint).await;
        for hint in ["front", "back"] {
            bench.scope.network(hint).await;
        }
        bench
    }

    /// A run with `container` over the least there is, and whatever else `more` sets.
    fn run(name: &str, container: &Value, more: &Value) -> WorkspaceRunSpec {
        let mut spec = json!({
            "workspace": { "namespace": "default", "name": "web", "uid": "0123456789abcdef" },
            "sequence": 1, "generation": 1, "desired": "Running", "specHash": "1:00",
            "container": { "image": BUSYBOX, "args": ["sleep", "1000"], "name": name },
        });
        let merge = |into: &mut Value, from: &Value| {
            for (key, value) in from.as_object().unwrap() {
                into[key] = value.clone();
            }
            into.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        };
        merge(&mut spec["container"], container);
        merge(&mut spec, more);
        serde_json::from_value(spec).unwrap()
    }

    /// What the agent sends to this engine for a run, or what it refuses.
    fn translate(&self, run: &WorkspaceRunSpec) -> Result<Create, Vec<String>> {
        let secret = BTreeMap::from([("TOKEN".to_owned(), "s3cret".to_owned())]);
        let intent = Intent {
            run,
            secret: &secret,
            host_uid: "h-1",
            root: "/var/lib/kibotos",
            engine: self.engine.api(),
        };
        create_body(&intent).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    /// Creates the container and connects it, as the agent does; the answer of the create call.
    async fn create(&self, create: &Create) -> (u16, Value) {
        let platform = create.platform.as_ref().map(|p| format!("&platform={p}"));
        let query = format!("name={}{}", create.name, platform.unwrap_or_default());
        let body = serde_json::to_value(&create.body).unwrap();
        let (status, answer) = self.scope.create(&query, body).await;
        if status == 201 {
            for (network, settings) in &create.connect {
                let body = json!({ "Container": create.name, "EndpointConfig": settings });
                let path = format!("/networks/{network}/connect");
                self.engine.call("POST", &path, Some(&body)).await;
            }
        }
        (status, answer)
    }

    async fn start(&self, name: &str) -> (u16, Value) {
        let path = format!("/v{}/containers/{name}/start", self.engine.api());
        self.engine.request("POST", &path, None).await
    }

    /// What the engine says of a container; its mounts, which come in any order, by destination.
    async fn inspect(&self, name: &str) -> Value {
        let mut seen = self.engine.call("GET", &format!("/containers/{name}/json"), None).await;
        let mounts: BTreeMap<String, Value> = seen["Mounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|mount| (mount["Destination"].as_str().unwrap().to_owned(), mount.clone()))
            .collect();
        seen["Mounts"] = json!(mounts);
        seen
    }

    /// What is wrong with a row, if anything.
    async fn try_row(&self, i: usize, row: &Row) -> Result<(), String> {
        let name = self.scope.name(&format!("row{i}"));
        let run = Self::run(&name, &row.container, &row.more);
        let create = match (self.translate(&run), &row.outcome) {
            (Err(faults), Outcome::Needs(least)) if self.engine.api() < *least => {
                let told = format!("needs engine API {least}");
                let right = faults.iter().all(|fault| fault.contains(&told));
                return right.then_some(()).ok_or_else(|| format!("{faults:?}"));
            }
            (Err(faults), _) => return Err(format!("not translated: {faults:?}")),
            (Ok(create), _) => create,
        };
        let (status, answer) = self.create(&create).await;
        let refused = |what: &str, (status, answer): (u16, Value), why: &[&str]| {
            let message = answer["message"].as_str().unwrap_or_default();
            let known = status >= 400 && why.iter().any(|why| message.contains(why));
            known.then_some(()).ok_or_else(|| format!("{what}: {status} {answer}"))
        };
        if let Outcome::NotCreated(why) = row.outcome {
            return refused("create", (status, answer), why);
        }
        if status != 201 {
            return Err(format!("create: {status} {answer}"));
        }
        let warnings = answer["Warnings"].to_string();
        let seen = self.inspect(&create.name).await;
        let mut wrong = Vec::new();
        differences(&seen, &row.says, "", &mut wrong);
        if let Outcome::Unless(warning) = row.outcome
            && warnings.contains(warning)
        {
            return Ok(());
        }
        if warnings.contains("discarded") || !wrong.is_empty() {
            return Err(format!("{} {warnings}", wrong.join(", ")));
        }
        match row.outcome {
            Outcome::NotStarted(why) => refused("start", self.start(&create.name).await, why),
            _ => Ok(()),
        }
    }
}

/// Where `seen` does not say what `wanted` says: an object its members, anything else exactly;
/// null is also what is not there.
fn differences(seen: &Value, wanted: &Value, at: &str, wrong: &mut Vec<String>) {
    match wanted {
        Value::Object(members) if seen.is_object() => {
            for (key, value) in members {
                differences(&seen[key], value, &format!("{at}.{key}"), wrong);
            }
        }
        _ if seen == wanted => {}
        _ => wrong.push(format!("{at} is {seen} instead of {wanted}")),
    }
}

async fn all_hold(bench: Bench, rows: impl Fn(&Bench) -> Vec<Row>) {
    let mut wrong = Vec::new();
    for (i, row) in rows(&bench).iter().enumerate() {
        if let Err(why) = bench.try_row(i, row).await {
            wrong.push(format!("{} {}: {why}", row.container, row.more));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn what_runs_is_what_was_asked_for() {
    all_hold(Bench::new("process").await, rows::process).await;
}

#[tokio::test]
async fn it_is_begun_judged_and_ended_as_was_asked_for() {
    all_hold(Bench::new("lifecycle").await, rows::lifecycle).await;
}

#[tokio::test]
async fn the_networks_are_what_was_asked_for() {
    all_hold(Bench::networked("network").await, rows::network).await;
}

#[tokio::test]
async fn the_binds_are_what_was_asked_for() {
    all_hold(Bench::new("binds").await, rows::binds).await;
}

#[tokio::test]
async fn the_mounts_are_what_was_asked_for() {
    all_hold(Bench::new("mounts").await, rows::mounts).await;
}

#[tokio::test]
async fn the_rights_are_what_was_asked_for() {
    all_hold(Bench::new("rights").await, rows::rights).await;
}

#[tokio::test]
async fn the_limits_are_what_was_asked_for() {
    all_hold(Bench::new("limits").await, rows::limits).await;
}

/// No engine is told these: whether to pull is decided before, the directory is a prefix of the
/// config file's source, names of ports are for people, and of environment from elsewhere the run
/// holds what became of it.
const NEVER_SENT: [&str; 12] = [
    ".directory",
    ".imagePullPolicy",
    ".envFrom",
    ".envFrom[].configMapRef",
    ".envFrom[].configMapRef.name",
    ".envFrom[].configMapRef.optional",
    ".envFrom[].prefix",
    ".envFrom[].secretRef",
    ".envFrom[].secretRef.name",
    ".envFrom[].secretRef.optional",
    ".env[].valueFrom.secretKeyRef.optional",
    ".ports[].name",
];

#[tokio::test]
async fn every_field_of_a_container_has_its_row() {
    let crd = serde_json::to_value(WorkspaceRun::crd()).unwrap();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let schema = &schema["properties"]["spec"]["properties"]["container"];
    let mut missing = BTreeSet::new();
    fields(schema, None, "", &mut missing);
    assert!(missing.len() > 100, "{missing:?}");

    let bench = Bench::new("fields").await;
    for row in rows::all(&bench) {
        let mut container = row.container;
        // In a run it stands beside the container, where it can change.
        container["restartPolicy"] = row.more["restartPolicy"].clone();
        let mut said = BTreeSet::new();
        fields(schema, Some(&container), "", &mut said);
        missing.retain(|field| !said.contains(field));
    }
    for field in NEVER_SENT {
        assert!(missing.remove(field), "{field} has a row");
    }
    // A ConfigMap's value reaches a run the same way as a Secret's.
    missing.retain(|field| !field.starts_with(".env[].valueFrom.configMapKeyRef"));
    assert!(missing.is_empty(), "without a row: {missing:#?}");
}

/// The fields that a schema has, or those of them that `value` sets.
fn fields(schema: &Value, value: Option<&Value>, at: &str, found: &mut BTreeSet<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let below = value.map(|value| &value[name]);
        if below.is_none_or(|below| !below.is_null()) {
            let at = format!("{at}.{name}");
            fields(property, below, &at, found);
            found.insert(at);
        }
    }
    if schema["items"].is_object() {
        let at = format!("{at}[]");
        match value {
            None => fields(&schema["items"], None, &at, found),
            Some(value) => value
                .as_array()
                .into_iter()
                .flatten()
                .for_each(|item| fields(&schema["items"], Some(item), &at, found)),
        }
    }
}
