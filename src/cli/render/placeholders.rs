//! Stand-ins for Secrets and ConfigMaps that were not given.

use crate::api::WorkspaceSpec;
use crate::api::container::{Container, EnvVarSource};
use crate::api::reference::KeyRef;
use crate::controller::workspace::resolve::{Data, Sources};

/// What one Workspace refers to: what was given of it, and stand-ins for the rest.
pub struct Placeholders {
    /// By name, of the Workspace's namespace.
    pub sources: Sources,
    /// Entries of the environment for whole objects, whose keys are not known.
    pub whole: Vec<String>,
}

impl Placeholders {
    /// Of a container, its Template merged in, and of its Workspace.
    pub fn of(container: &Container, spec: &WorkspaceSpec, given: Option<&Sources>) -> Self {
        let mut found = Self { sources: Sources::default(), whole: Vec::new() };
        for from in container.env_from.iter().flatten() {
            let prefix = from.prefix.as_deref().unwrap_or_default();
            if let Some(secret) = &from.secret_ref {
                found.all(given, true, prefix, &secret.name);
            }
            if let Some(map) = &from.config_map_ref {
                found.all(given, false, prefix, &map.name);
            }
        }
        for source in container.env.iter().flatten().filter_map(|v| v.value_from.as_ref()) {
            let EnvVarSource { secret_key_ref, config_map_key_ref } = source;
            found.key(given, true, secret_key_ref.as_ref());
            found.key(given, false, config_map_key_ref.as_ref());
        }
        if let Some(file) = &spec.config_file {
            found.key(given, true, file.secret_key_ref.as_ref());
            found.key(given, false, file.config_map_key_ref.as_ref());
        }
        found
    }

    /// The stand-in for an object; nothing where it was given.
    fn object(&mut self, given: Option<&Sources>, secret: bool, name: &str) -> Option<&mut Data> {
        let (known, ours) = if secret {
            (given.and_then(|given| given.secrets.get(name)), &mut self.sources.secrets)
        } else {
            (given.and_then(|given| given.config_maps.get(name)), &mut self.sources.config_maps)
        };
        let entry = ours.entry(name.to_owned());
        match known {
            Some(data) => {
                entry.or_insert_with(|| data.clone());
                None
            }
            None => Some(entry.or_default()),
        }
    }

    fn key(&mut self, given: Option<&Sources>, secret: bool, key: Option<&KeyRef>) {
        let Some(KeyRef { name, key, .. }) = key else { return };
        let value = format!("<{} {name}/{key}>", kind(secret));
        if let Some(object) = self.object(given, secret, name) {
            object.data.insert(key.clone(), value.into_bytes());
        }
    }

    fn all(&mut self, given: Option<&Sources>, secret: bool, prefix: &str, name: &str) {
        if self.object(given, secret, name).is_some() {
            self.whole.push(format!("{prefix}<{} {name}/*>", kind(secret)));
        }
    }
}

fn kind(secret: bool) -> &'static str {
    if secret { "secret" } else { "config-map" }
}
