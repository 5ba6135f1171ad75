//! All that the engine knows, and how things are found in it. No I/O but a look at host paths.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use k8s_openapi::jiff::Timestamp;
use tokio::sync::watch;

use super::{
    answer::{Answer, refusal},
    call::Call,
    container::Container,
    events::Events,
    images::Image,
    networks::Network,
    process::Process,
    pulls::Pull,
    volumes::Volume,
};

/// What of the host the engine stands on, and which engine it is.
#[derive(Clone, Debug)]
pub struct Options {
    /// The newest API version, which is also how old the engine behaves: 1.41 to 1.52.
    pub api: (u16, u16),
    pub cpus: u32,
    pub memory: i64,
    /// Ports that something else of the host has.
    pub taken_ports: BTreeSet<u16>,
    /// How long a removal takes, for `removal of container … is already in progress`.
    pub removal_takes: Duration,
    /// Containers outlive the engine's end.
    pub live_restore: bool,
    /// Every later create answers with these.
    pub create_warnings: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            api: (1, 41),
            cpus: 2,
            memory: 8 << 30,
            taken_ports: BTreeSet::new(),
            removal_takes: Duration::ZERO,
            live_restore: false,
            create_warnings: Vec::new(),
        }
    }
}

/// What the engine will do by itself later.
pub struct Due {
    pub after: Duration,
    pub id: String,
    /// The run of the container for which this holds.
    pub run: u64,
}

pub struct State {
    pub options: Options,
    pub containers: BTreeMap<String, Container>,
    pub names: BTreeMap<String, String>,
    pub images: Vec<Image>,
    pub volumes: BTreeMap<String, Volume>,
    pub networks: Vec<Network>,
    pub events: Events,
    pub pulls: BTreeMap<String, Pull>,
    /// What the processes of an image's containers do, by image reference.
    pub processes: BTreeMap<String, Process>,
    /// Host directories that the engine made since a bind's source was missing.
    pub made_directories: Vec<String>,
    pub due: Vec<Due>,
    /// Counts changes, for those that wait for one.
    pub changes: watch::Sender<u64>,
    sequence: u64,
}

impl State {
    pub fn new(options: Options) -> Self {
        let mut state = Self {
            options,
            containers: BTreeMap::new(),
            names: BTreeMap::new(),
            images: Vec::new(),
            volumes: BTreeMap::new(),
            networks: Vec::new(),
            events: Events::default(),
            pulls: BTreeMap::new(),
            processes: BTreeMap::new(),
            made_directories: Vec::new(),
            due: Vec::new(),
            changes: watch::Sender::new(0),
            sequence: 0,
        };
        for (name, driver) in [("bridge", "bridge"), ("host", "host"), ("none", "null")] {
            let network = state.make_network(name, driver, &serde_json::Value::Null);
            state.networks.push(network);
        }
        state
    }

    /// One more than before.
    pub fn next(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Whether the engine is of this API version or newer.
    pub fn since(&self, minor: u16) -> bool {
        self.options.api >= (1, minor)
    }

    /// The version in which a call is to be answered.
    pub fn api_of(&self, call: &Call) -> (u16, u16) {
        call.version
            .as_deref()
            .and_then(version)
            .map_or(self.options.api, |v| v.min(self.options.api))
    }

    /// The id that a client's word for a container stands for: id, name, or the start of an id.
    pub fn resolve(&self, word: &str) -> Result<String, Answer> {
        if self.containers.contains_key(word) {
            return Ok(word.to_owned());
        }
        if let Some(id) = self.names.get(word.trim_start_matches('/')) {
            return Ok(id.clone());
        }
        let mut found = self
            .containers
            .range(word.to_owned()..)
            .map(|(id, _)| id)
            .take_while(|id| !word.is_empty() && id.starts_with(word));
        match (found.next(), found.next()) {
            (Some(id), None) => Ok(id.clone()),
            (Some(_), Some(_)) => {
                Err(refusal(400, format!("Multiple IDs found with provided prefix: {word}")))
            }
            (None, _) => Err(refusal(404, format!("No such container: {word}"))),
        }
    }

    pub fn get(&self, word: &str) -> Result<&Container, Answer> {
        self.resolve(word).map(|id| &self.containers[&id])
    }

    pub fn get_mut(&mut self, word: &str) -> Result<&mut Container, Answer> {
        let id = self.resolve(word)?;
        self.changes.send_modify(|changes| *changes += 1);
        let container = self.containers.get_mut(&id).unwrap();
        container.listed = None;
        Ok(container)
    }
}

/// The time, which in real engines has nanoseconds.
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// As Docker writes a time that may not have been yet.
pub fn written(time: Option<Timestamp>) -> String {
    time.map_or_else(|| "0001-01-01T00:00:00Z".to_owned(), |time| time.to_string())
}

/// 64 hexadecimal digits that no one had before.
pub fn fresh_id() -> String {
    let word = || format!("{:016x}", RandomState::new().build_hasher().finish());
    [word(), word(), word(), word()].concat()
}

/// The first twelve digits of an id.
pub fn short(id: &str) -> &str {
    let hex = id.strip_prefix("sha256:").unwrap_or(id);
    &hex[..hex.len().min(12)]
}

/// `1.41` as numbers.
pub fn version(text: &str) -> Option<(u16, u16)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
