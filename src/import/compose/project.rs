//! What the services of one file share.

use serde_json::{Map, Value};

use super::value::Node;
use crate::import::notes::Notes;
use crate::import::{ReadFile, Request, Variables};

/// What the services of one file share.
pub struct Project<'a> {
    /// The project's name, which begins the names of its volumes and networks.
    pub name: String,
    /// Where relative paths begin.
    pub directory: &'a str,
    /// The variables of `--env-file`.
    pub variables: &'a Variables,
    /// Reads a file.
    pub read: ReadFile<'a>,
    volumes: Map<String, Value>,
    networks: Map<String, Value>,
}

impl<'a> Project<'a> {
    /// Reads what stands beside the services.
    pub fn new(
        file: &Map<String, Value>,
        request: &Request<'a>,
        variables: &'a Variables,
        notes: &mut Notes,
    ) -> Self {
        let declared = |key: &str| match file.get(key) {
            Some(Value::Object(map)) => map.clone(),
            _ => Map::new(),
        };
        let named = file.get("name").and_then(Value::as_str).unwrap_or_default();
        let last = request.directory.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let name = if named.is_empty() { normalised(last) } else { named.to_owned() };
        let project = Self {
            name,
            directory: request.directory,
            variables,
            read: request.read,
            volumes: declared("volumes"),
            networks: declared("networks"),
        };
        for (key, map) in [("volumes", &project.volumes), ("networks", &project.networks)] {
            for (name, value) in map {
                let mut node = Node::new(format!("{key}.{name}"), value);
                for known in ["name", "external"] {
                    node.take(known);
                }
                // The engine's own drivers, as they are without a word.
                if matches!(node.take("driver").as_ref().and_then(Value::as_str), Some(driver) if driver != "local" && driver != "bridge")
                {
                    notes.warn_at(
                        node.at("driver"),
                        "a Workspace makes no volumes and networks of drivers: make it on the host",
                    );
                }
                node.finish(notes);
            }
        }
        project
    }

    /// The name that a volume of the file has on its engine.
    pub fn volume(&self, name: &str) -> String {
        self.named(&self.volumes, name)
    }

    /// Whether the file declares a volume as one that is there already.
    pub fn is_external_volume(&self, name: &str) -> bool {
        is_external(self.volumes.get(name))
    }

    /// The name that a network of the file has on its engine.
    pub fn network(&self, name: &str) -> String {
        self.named(&self.networks, name)
    }

    /// Whether the file declares a network as one that is there already.
    pub fn is_external_network(&self, name: &str) -> bool {
        is_external(self.networks.get(name))
    }

    fn named(&self, declared: &Map<String, Value>, name: &str) -> String {
        let own = declared.get(name).and_then(|value| value.get("name")).and_then(Value::as_str);
        match own {
            Some(own) => own.to_owned(),
            None if is_external(declared.get(name)) => name.to_owned(),
            None => format!("{}_{name}", self.name),
        }
    }

    /// An absolute path for one that is relative to the file.
    pub fn absolute(&self, path: &str) -> String {
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{path}", self.directory)
        };
        crate::import::body::clean(&path)
    }
}

fn is_external(declared: Option<&Value>) -> bool {
    match declared.and_then(|value| value.get("external")) {
        Some(Value::Bool(external)) => *external,
        Some(Value::Object(_)) => true,
        Some(Value::String(text)) => text == "true",
        _ => false,
    }
}

/// As compose makes a project's name from a directory's.
fn normalised(directory: &str) -> String {
    let kept = |c: &char| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '_' || *c == '-';
    let name: String = directory.to_lowercase().chars().filter(kept).collect();
    let name = name.trim_start_matches(['_', '-']);
    if name.is_empty() { "default".to_owned() } else { name.to_owned() }
}
