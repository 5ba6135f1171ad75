//! From a Workspace to the run that a host gets. Pure.
//!
//! All references are followed here, on what the caller has read: the template, the Secrets and
//! ConfigMaps, the Volume. What is missing is said by name, so that the caller can wait for it.

use std::collections::BTreeMap;

use super::hash::{Source, spec_hash};
use super::merge;
use crate::api::container::{Container, EnvFromSource, EnvVar, EnvVarSource};
use crate::api::reference::{KeyRef, SourceRef, WorkspaceRef};
use crate::api::workspace_run::{DesiredState, RunConfigFile, RunMount};
use crate::api::{TemplateRevisionSpec, WorkspaceRunSpec, WorkspaceSpec};

/// The key of a run's config Secret that holds the content.
pub const CONFIG_KEY: &str = "content";

/// A Secret or ConfigMap as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Its uid.
    pub uid: String,
    /// Its resourceVersion.
    pub resource_version: String,
    /// Its data.
    pub data: BTreeMap<String, Vec<u8>>,
}

/// What has been read of that which a Workspace refers to, by name.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Secrets of its namespace.
    pub secrets: BTreeMap<String, Data>,
    /// ConfigMaps of its namespace.
    pub config_maps: BTreeMap<String, Data>,
}

/// What a run is made from.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The Workspace it is of.
    pub workspace: &'a WorkspaceRef,
    /// What the user wants.
    pub spec: &'a WorkspaceSpec,
    /// The revision that the Workspace is made from, if it is made from one.
    pub template: Option<&'a TemplateRevisionSpec>,
    /// The Volume as the run mounts it, but for its path, which the Workspace says.
    pub volume: Option<&'a RunMount>,
    /// Secrets and ConfigMaps.
    pub sources: &'a Sources,
    /// Name of the run's own Secret, which bears what [`Resolved::secret`] holds.
    pub secret_name: &'a str,
    /// Counts the runs.
    pub sequence: i64,
    /// The generation that the run is if it starts.
    pub generation: i64,
}

/// A run, and what goes into its Secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The run.
    pub run: WorkspaceRunSpec,
    /// Values of environment variables, by their names.
    pub secret: BTreeMap<String, Vec<u8>>,
    /// Content of the config file.
    pub config: Option<Vec<u8>>,
}

/// Something that a Workspace refers to and that is not there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// `Secret` or `ConfigMap`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// The key that it lacks; `None` where the whole object is missing.
    pub key: Option<String>,
    /// The field that refers to it.
    pub path: String,
}

/// The run, or all that is missing.
pub fn resolve(input: &Input<'_>) -> Result<Resolved, Vec<Missing>> {
    let Input { workspace, spec, template, volume, sources, secret_name, sequence, generation } =
        *input;
    let own = spec.container.clone().unwrap_or_default();
    let (mut container, resources) = match template {
        Some(revision) => (
            merge::container(&revision.container, &own),
            merge::resources(revision.resources.as_ref(), spec.resources.as_ref()),
        ),
        None => (own, spec.resources.clone()),
    };
    let mut reader = Reader { sources, missing: Vec::new() };
    let environment = environment(&mut container, secret_name, &mut reader);
    let (config_file, config) = config_file(spec, &mut reader);
    if !reader.missing.is_empty() {
        return Err(reader.missing);
    }
    let restart_policy = container.restart_policy.take();
    let mounts = volume
        .map(|volume| vec![RunMount { path: spec.volume.mount_path.clone(), ..volume.clone() }]);
    let moves = crate::api::workspace::OnHostLoss::Move;
    let mut run = WorkspaceRunSpec {
        workspace: workspace.clone(),
        sequence,
        generation,
        desired: DesiredState::Running,
        container,
        resources,
        restart_policy,
        mounts,
        writable_layer: spec.writable_layer.clone(),
        stop: spec.stop.clone(),
        deletion: spec.deletion.clone(),
        config_file,
        prefetch: None,
        secret_name: Some(secret_name.to_owned()).filter(|_| !environment.values.is_empty()),
        leased: spec.placement.as_ref().filter(|p| p.on_host_loss == moves).map(|_| true),
        previous: None,
        spec_hash: String::new(),
    };
    run.spec_hash = spec_hash(&run, &environment.sources);
    Ok(Resolved { run, secret: environment.values, config })
}

/// What the environment takes from Secrets and ConfigMaps, by variable.
#[derive(Default)]
struct Environment {
    values: BTreeMap<String, Vec<u8>>,
    sources: BTreeMap<String, Source>,
}

/// Turns `envFrom` and `valueFrom` into references onto the run's own Secret.
fn environment(
    container: &mut Container,
    secret_name: &str,
    reader: &mut Reader<'_>,
) -> Environment {
    let mut found = Environment::default();
    let mut list: Vec<EnvVar> = Vec::new();
    let mut put = |variable: EnvVar| match list.iter_mut().find(|v| v.name == variable.name) {
        Some(before) => *before = variable,
        None => list.push(variable),
    };
    for (i, from) in container.env_from.take().iter().flatten().enumerate() {
        for (name, value, source) in reader.all_of(from, &format!("spec.container.envFrom[{i}]")) {
            found.values.insert(name.clone(), value);
            found.sources.insert(name.clone(), source);
            put(referring(name, secret_name));
        }
    }
    for (i, variable) in container.env.take().into_iter().flatten().enumerate() {
        let Some(from) = &variable.value_from else {
            found.values.remove(&variable.name);
            found.sources.remove(&variable.name);
            put(variable);
            continue;
        };
        let path = format!("spec.container.env[{i}].valueFrom");
        // An optional one that is missing leaves what envFrom says, as in Kubernetes.
        if let Some((value, source)) = reader.one_of(from, &path) {
            found.values.insert(variable.name.clone(), value);
            found.sources.insert(variable.name.clone(), source);
            put(referring(variable.name, secret_name));
        }
    }
    container.env = Some(list).filter(|list| !list.is_empty());
    found
}

fn referring(name: String, secret_name: &str) -> EnvVar {
    let key = KeyRef { name: secret_name.to_owned(), key: name.clone(), optional: None };
    let from = EnvVarSource { secret_key_ref: Some(key), config_map_key_ref: None };
    EnvVar { name, value: None, value_from: Some(from) }
}

fn config_file(
    spec: &WorkspaceSpec,
    reader: &mut Reader<'_>,
) -> (Option<RunConfigFile>, Option<Vec<u8>>) {
    let Some(file) = &spec.config_file else { return (None, None) };
    let content = match (&file.content, &file.config_map_key_ref, &file.secret_key_ref) {
        (Some(content), ..) => Some(content.clone().into_bytes()),
        (None, Some(key), _) => {
            let path = "spec.configFile.configMapKeyRef";
            reader.key(Kind::ConfigMap, key, path).map(|(value, _)| value)
        }
        (None, None, Some(key)) => {
            reader.key(Kind::Secret, key, "spec.configFile.secretKeyRef").map(|(value, _)| value)
        }
        (None, None, None) => None,
    };
    // An optional source that is missing is an empty file: the container still finds one.
    let content = content.unwrap_or_default();
    let sha256 = super::hash::sha256(&content);
    let run = RunConfigFile {
        secret_name: format!("config-{sha256}"),
        key: CONFIG_KEY.to_owned(),
        sha256,
        path: file.path.clone(),
        reload_signal: file.reload_signal.clone(),
    };
    (Some(run), Some(content))
}

#[derive(Clone, Copy)]
enum Kind {
    Secret,
    ConfigMap,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
        }
    }
}

/// Follows references and notes what is missing.
struct Reader<'a> {
    sources: &'a Sources,
    missing: Vec<Missing>,
}

impl Reader<'_> {
    fn object(&self, kind: Kind, name: &str) -> Option<&Data> {
        match kind {
            Kind::Secret => self.sources.secrets.get(name),
            Kind::ConfigMap => self.sources.config_maps.get(name),
        }
    }

    fn miss(
        &mut self,
        kind: Kind,
        name: &str,
        key: Option<&str>,
        path: &str,
        optional: Option<bool>,
    ) {
        if optional != Some(true) {
            self.missing.push(Missing {
                kind: kind.name(),
                name: name.to_owned(),
                key: key.map(str::to_owned),
                path: path.to_owned(),
            });
        }
    }

    fn key(&mut self, kind: Kind, key: &KeyRef, path: &str) -> Option<(Vec<u8>, Source)> {
        let Some(object) = self.object(kind, &key.name) else {
            self.miss(kind, &key.name, None, path, key.optional);
            return None;
        };
        match object.data.get(&key.key) {
            Some(value) => Some((value.clone(), source(kind, &key.name, object, &key.key))),
            None => {
                self.miss(kind, &key.name, Some(&key.key), path, key.optional);
                None
            }
        }
    }

    fn one_of(&mut self, from: &EnvVarSource, path: &str) -> Option<(Vec<u8>, Source)> {
        match (&from.secret_key_ref, &from.config_map_key_ref) {
            (Some(key), _) => self.key(Kind::Secret, key, &format!("{path}.secretKeyRef")),
            (None, Some(key)) => self.key(Kind::ConfigMap, key, &format!("{path}.configMapKeyRef")),
            (None, None) => None,
        }
    }

    fn all_of(&mut self, from: &EnvFromSource, path: &str) -> Vec<(String, Vec<u8>, Source)> {
        let prefix = from.prefix.as_deref().unwrap_or_default();
        let (kind, SourceRef { name, optional }, field) =
            match (&from.secret_ref, &from.config_map_ref) {
                (Some(secret), _) => (Kind::Secret, secret, "secretRef"),
                (None, Some(map)) => (Kind::ConfigMap, map, "configMapRef"),
                (None, None) => return Vec::new(),
            };
        let Some(object) = self.object(kind, name) else {
            self.miss(kind, name, None, &format!("{path}.{field}"), *optional);
            return Vec::new();
        };
        let entry = |(key, value): (&String, &Vec<u8>)| {
            (format!("{prefix}{key}"), value.clone(), source(kind, name, object, key))
        };
        object.data.iter().map(entry).collect()
    }
}

fn source(kind: Kind, name: &str, object: &Data, key: &str) -> Source {
    Source {
        kind: kind.name(),
        name: name.to_owned(),
        uid: object.uid.clone(),
        resource_version: object.resource_version.clone(),
        key: key.to_owned(),
    }
}

#[cfg(test)]
mod tests;
