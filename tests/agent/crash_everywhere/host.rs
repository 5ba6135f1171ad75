//! A host with an engine that can be cut, and all that is to be seen of one Workspace on it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use futures::StreamExt;
use kibotos::api::{VolumeTask, WorkspaceRun};
use kube::{
    Api, Resource,
    runtime::{
        WatchStreamExt,
        reflector::{self, Store},
        watcher,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    fake::{Call, Container, Cut, FakeEngine, Image, Process},
    fixture::{Agent, Cluster, Engine, send},
};

/// A stage that takes longer has failed.
const WITHIN: Duration = Duration::from_secs(40);

/// When and how a story is cut.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// At which change on the engine, counted from 1.
    pub cut: Option<(u64, Cut)>,
    /// Whether the agent is killed then, or only its way to the engine cut.
    pub kill: bool,
}

impl Row {
    pub fn uncut() -> Self {
        Self { cut: None, kill: false }
    }

    /// A name for a Workspace that no other row has.
    pub fn name(&self) -> String {
        let (at, letter) = match self.cut {
            None => (0, 'u'),
            Some((at, Cut::Before)) => (at, 'b'),
            Some((at, Cut::During)) => (at, 'd'),
            Some((at, Cut::After)) => (at, 'a'),
        };
        format!("{letter}{at:02}{}", if self.kill { 'k' } else { 'l' })
    }
}

/// A host on which stories are told, one after another.
pub struct StoryHost {
    pub agent: Agent,
    pub fake: FakeEngine,
    runs: Store<WorkspaceRun>,
    tasks: Store<VolumeTask>,
    _watches: JoinSet<()>,
    foreign: Vec<String>,
    cuts: u32,
}

impl StoryHost {
    /// Joins a host, whose engine has two networks and containers that are not the agent's.
    pub async fn new(cluster: &Cluster, engine: &Engine) -> Self {
        let fake = FakeEngine::start();
        fake.add_image(Image::new("kibotos.test/busybox:1", json!({ "Cmd": ["sh"] })));
        fake.processes("kibotos.test/busybox:1", Process::obedient(0));
        for name in ["first", "second"] {
            let body = json!({ "Name": name });
            let made = send(&fake.socket(), "POST", "/networks/create", Some(&body)).await;
            assert_eq!(made.unwrap().0, 201);
        }
        let mut agent = Agent::joined(cluster, engine, &fake.socket(), "crash").await;
        agent.start();
        // Asked again and again, the API server would take the time that the agents need.
        let mut watches = JoinSet::new();
        let runs = watched(agent.runs(), &mut watches);
        let tasks = Api::namespaced(cluster.admin(), &agent.joined.namespace);
        let tasks = watched(tasks, &mut watches);
        let foreign = Vec::new();
        let mut host = Self { agent, fake, runs, tasks, _watches: watches, foreign, cuts: 0 };
        host.add_foreign();
        host
    }

    /// One with nothing of ours, and one that has our labels, as from an image that was committed.
    fn add_foreign(&mut self) {
        let ours = json!({
            "kibotos.dev/host-uid": self.agent.host_uid, "kibotos.dev/workspace-uid": "other",
        });
        for (name, labels) in [("foreign", json!({ "a": "b" })), ("labelled", ours)] {
            self.fake.foreign(name, labels);
        }
        self.foreign = self.seen_foreign();
    }

    fn seen_foreign(&self) -> Vec<String> {
        let names = ["foreign", "labelled"];
        let whole = |name| Container { listed: None, ..self.fake.container(name).unwrap() };
        names.into_iter().map(|name| format!("{:?}", whole(name))).collect()
    }

    /// Begins a story: from now on the changes count.
    pub fn begin(&mut self, row: &Row) {
        self.fake.heal();
        self.fake.forget_calls();
        self.cuts = 0;
        if let Some((at, how)) = row.cut {
            self.fake.cut_at(at, how);
        }
    }

    /// Whether the cut has come.
    pub fn was_cut(&self) -> bool {
        self.cuts > 0
    }

    /// Ends one, and gives how many changes it took.
    pub fn end(&mut self, row: &Row) -> u64 {
        assert_eq!(self.cuts, u32::from(row.cut.is_some()), "{row:?}");
        assert_eq!(self.seen_foreign(), self.foreign, "{row:?}: foreign containers were changed");
        let changing = |call: &&Call| call.is_mutating();
        self.fake.calls().iter().filter(changing).count() as u64
    }

    /// How often the Workspace's container got the signal.
    pub fn signals(&self, signal: &str) -> usize {
        let calls = self.fake.calls();
        let killed = calls.iter().filter(|call| call.path.ends_with("/kill"));
        killed.filter(|call| call.parameter("signal").contains(signal)).count()
    }

    /// Waits until what is seen is right, makes good what was cut, and gives what is seen.
    pub async fn reach(
        &mut self,
        row: &Row,
        stage: &str,
        wanted: Option<&Value>,
        right: impl Fn(&Self, &Value) -> bool,
    ) -> Value {
        let began = Instant::now();
        loop {
            if self.fake.is_cut() {
                self.mend(row);
            }
            self.probe(row);
            let seen = self.see(row);
            let other = wanted.map_or_else(Vec::new, |wanted| difference(&seen, wanted));
            if right(self, &seen) && other.is_empty() {
                return seen;
            }
            assert!(
                began.elapsed() < WITHIN,
                "{row:?}: not {stage}; other than uncut: {other:#?}\n{}",
                if wanted.is_none() { format!("{seen:#}") } else { String::new() }
            );
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    }

    fn mend(&mut self, row: &Row) {
        self.cuts += 1;
        if row.kill {
            self.agent.kill();
            self.fake.heal();
            self.agent.start();
        } else {
            self.fake.heal();
        }
    }

    /// The engine's own health check.
    fn probe(&self, row: &Row) {
        for container in self.fake.containers() {
            let starting = container.health.as_deref() == Some("starting");
            if container.name == self.agent.scope.name(&row.name()) && starting {
                self.fake.health(&container.id, "healthy");
            }
        }
    }

    /// All that is to be seen of the row's Workspace, without what differs from row to row.
    fn see(&self, row: &Row) -> Value {
        let all = self.fake.containers();
        let foreign = ["foreign", "labelled"];
        let ours: Vec<_> = all.iter().filter(|c| !foreign.contains(&c.name.as_str())).collect();
        assert!(ours.len() <= 1, "{row:?}: two containers: {ours:?}");
        let id = ours.first().map_or("none", |container| container.id.as_str());
        let containers: Vec<_> = ours.iter().map(|container| told(container)).collect();
        let runs = self.runs.state();
        let told_of: BTreeMap<_, _> =
            runs.iter().map(|run| (run.metadata.name.clone().unwrap(), of_run(run, id))).collect();
        let tasks = self.tasks.state();
        let tasks: Vec<_> = tasks.iter().map(|t| t.status.as_ref().map(|s| s.phase)).collect();
        let seen = json!({
            "containers": containers, "volumes": self.fake.volumes(), "runs": told_of,
            "directories": tree(&self.agent.root()), "tasks": tasks,
            "made": self.fake.made_directories(),
        });
        let newest = runs.iter().max_by_key(|run| run.spec.sequence);
        let hash = newest.map_or("no hash", |run| run.spec.spec_hash.as_str());
        let uid = self.agent.run(&row.name(), 1, json!({})).spec.workspace.uid;
        let root = self.agent.root().display().to_string();
        let mut text = seen.to_string();
        for (own, general) in [
            (id, "ID"),
            (&id[..id.len().min(12)], "ID12"),
            (hash, "HASH"),
            (&uid, "UID"),
            (&uid[..8], "UID8"),
            (&self.agent.host_uid, "HOST"),
            (self.agent.scope.run(), "SCOPE"),
            (&root, "ROOT"),
            (&row.name(), "NAME"),
        ] {
            text = text.replace(own, general);
        }
        serde_json::from_str(&text).unwrap()
    }
}

/// All objects of a kind, as a watch tells of them.
fn watched<K>(api: Api<K>, watches: &mut JoinSet<()>) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let (store, writer) = reflector::store();
    let events = watcher(api, watcher::Config::default()).default_backoff().reflect(writer);
    watches.spawn(events.for_each(|_| std::future::ready(())));
    store
}

fn told(container: &Container) -> Value {
    let endpoints = container.endpoints.iter().map(|e| json!([e.network, e.settings]));
    let mounts = container.mounts.iter().map(|m| json!([m.source, m.destination, m.mode]));
    json!({
        "name": container.name, "status": container.status.word(), "exit": container.exit_code,
        "config": container.config, "host": container.host, "health": container.health,
        "endpoints": endpoints.collect::<Vec<_>>(), "mounts": mounts.collect::<Vec<_>>(),
        "restarts": container.restart_count, "image": container.image_id.is_empty(),
    })
}

/// What a run's status says, but for times, and steps, of which a cut has more.
fn of_run(run: &WorkspaceRun, id: &str) -> Value {
    let Some(status) = &run.status else { return Value::Null };
    let conditions: BTreeMap<_, _> = status
        .conditions
        .iter()
        .map(|c| (c.type_.as_str(), json!([c.status, c.reason, c.message, c.observed_generation])))
        .collect();
    let of_container = match &status.container_id {
        None => "none",
        Some(of) if of == id => "this",
        Some(_) => "gone",
    };
    json!({
        "generation": [run.metadata.generation, status.observed_generation],
        "phase": status.phase, "container": of_container, "exit": status.exit_code,
        "oom": status.oom_killed, "restarts": status.restarts, "guest": status.guest,
        "started": status.started_at.is_some(), "finished": status.finished_at.is_some(),
        "retry": status.next_retry_at.is_some(), "addresses": status.addresses.len(),
        "conditions": conditions,
    })
}

/// Where two values differ, and how.
fn difference(a: &Value, b: &Value) -> Vec<String> {
    match (a, b) {
        (Value::Object(of_a), Value::Object(of_b)) => {
            let keys: BTreeSet<_> = of_a.keys().chain(of_b.keys()).collect();
            let below = |key: &&String| {
                let found = difference(&a[key.as_str()], &b[key.as_str()]);
                found.into_iter().map(|of| format!("{key}.{of}")).collect::<Vec<_>>()
            };
            keys.iter().flat_map(below).collect()
        }
        (Value::Array(of_a), Value::Array(of_b)) if of_a.len() == of_b.len() => {
            of_a.iter().zip(of_b).flat_map(|(a, b)| difference(a, b)).collect()
        }
        _ if a == b => Vec::new(),
        _ => vec![format!(" is {a}, not {b}")],
    }
}

/// The Workspaces' directories below the agent's root, with what is in their files.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root).into_iter().flatten() {
        let Ok(entry) = entry else { continue };
        if entry.file_name().to_string_lossy().contains('_') {
            walk(root, &entry.path(), &mut found);
        }
    }
    found
}

fn walk(root: &Path, path: &Path, found: &mut BTreeMap<String, String>) {
    let name = path.strip_prefix(root).unwrap().display().to_string();
    if let Ok(content) = fs::read_to_string(path) {
        found.insert(name, content);
        return;
    }
    found.insert(name, "directory".to_owned());
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        walk(root, &entry.path(), found);
    }
}
