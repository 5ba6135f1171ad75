//! What the controller wants of this host, Workspace by Workspace. Pure.
//!
//! A Workspace has one run that acts, the one with the highest sequence; older ones are only
//! reported. What a run needs beside its object, its Secrets, is found or waited for.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;

use super::container::{Create, Intent, create_body, engine_policy};
use super::lifecycle::{Hold, Pull, Restart, Wish};
use super::policy::{Context, Governing, HostPath, check};
use crate::api::container::{ImagePullPolicy, RestartPolicyName};
use crate::api::field_error::FieldError;
use crate::api::names;
use crate::api::workspace::Retention;
use crate::api::workspace_run::DesiredState;
use crate::api::{Reason, WorkspaceRun};
use crate::docker::{ApiVersion, HostConfig, RestartPolicy, Update};

/// The key of a registry login in a run's Secret.
const LOGIN: &str = ".dockerconfigjson";

/// What one Workspace is to be on this host.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The run that acts.
    pub run: Arc<WorkspaceRun>,
    /// Runs before it that are still there, the oldest first.
    pub older: Vec<Arc<WorkspaceRun>>,
    /// The run's own Secret.
    pub secret: Given<BTreeMap<String, Vec<u8>>>,
    /// The content of the config file.
    pub config: Given<Vec<u8>>,
    /// The Secret with the login for the image of the next run.
    pub prefetch: Given<BTreeMap<String, Vec<u8>>>,
}

/// Something that a run needs from a Secret.
#[derive(Clone, PartialEq)]
pub enum Given<T> {
    /// It needs none.
    NotAsked,
    /// It is not there yet.
    Missing(Hold),
    /// It is there.
    There(Arc<T>),
}

/// Never shows what it holds.
impl<T> std::fmt::Debug for Given<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotAsked => f.write_str("NotAsked"),
            Self::Missing(hold) => f.debug_tuple("Missing").field(hold).finish(),
            Self::There(_) => f.write_str("There"),
        }
    }
}

impl<T> Given<T> {
    /// The thing, where it is there.
    pub fn there(&self) -> Option<&Arc<T>> {
        match self {
            Self::There(thing) => Some(thing),
            _ => None,
        }
    }

    fn missing(&self) -> Option<&Hold> {
        match self {
            Self::Missing(hold) => Some(hold),
            _ => None,
        }
    }
}

/// What the host brings to a run.
#[derive(Clone, Copy, Debug)]
pub struct Premises<'a> {
    /// Uid of the Host.
    pub host_uid: &'a str,
    /// The agent's root.
    pub root: &'a str,
    /// The engine's API version.
    pub engine: ApiVersion,
    /// What the host allows the run's namespace.
    pub governing: &'a Governing<'a>,
    /// The engine's sockets.
    pub sockets: &'a [HostPath],
}

/// Sorts runs into Workspaces, and finds what each needs. `secret` looks one up by name.
pub fn assign(
    runs: impl IntoIterator<Item = Arc<WorkspaceRun>>,
    secret: impl Fn(&str) -> Option<Arc<Secret>>,
) -> BTreeMap<String, Assignment> {
    let mut by_uid: BTreeMap<String, Vec<Arc<WorkspaceRun>>> = BTreeMap::new();
    for run in runs {
        by_uid.entry(run.spec.workspace.uid.clone()).or_default().push(run);
    }
    let mut assignments = BTreeMap::new();
    for (uid, mut runs) in by_uid {
        runs.sort_by_key(|run| run.spec.sequence);
        let Some(run) = runs.pop() else { continue };
        assignments.insert(uid, assignment(run, runs, &secret));
    }
    assignments
}

fn assignment(
    run: Arc<WorkspaceRun>,
    older: Vec<Arc<WorkspaceRun>>,
    secret: &impl Fn(&str) -> Option<Arc<Secret>>,
) -> Assignment {
    let data = |name: &str, what: &str| {
        // Shared ones, like a config file's, may be any run's.
        let own = run.spec.secret_name.as_deref() == Some(name);
        let found = secret(name).filter(|secret| !own || !is_of_another(secret, &run));
        found.ok_or_else(|| {
            let message = format!("the controller has not yet made the Secret {name} {what}");
            Hold::new(Reason::SecretNotFound, message)
        })
    };
    let whole = |name: Option<&String>, what: &str| match name {
        None => Given::NotAsked,
        Some(name) => match data(name, what) {
            Ok(secret) => Given::There(Arc::new(contents(&secret))),
            Err(hold) => Given::Missing(hold),
        },
    };
    let config = run.spec.config_file.as_ref().map(|config| {
        let secret = data(&config.secret_name, "with the config file")?;
        let content = contents(&secret).remove(&config.key);
        content.filter(|content| sha256(content) == config.sha256).ok_or_else(|| {
            let message = format!(
                "the Secret {} does not hold the config file that the run names by its hash",
                config.secret_name
            );
            Hold::new(Reason::SecretNotFound, message)
        })
    });
    let prefetch = run.spec.prefetch.as_ref().and_then(|prefetch| prefetch.secret_name.as_ref());
    Assignment {
        secret: whole(run.spec.secret_name.as_ref(), "of this run"),
        prefetch: whole(prefetch, "with the login for the next image"),
        config: match config {
            None => Given::NotAsked,
            Some(Ok(content)) => Given::There(Arc::new(content)),
            Some(Err(hold)) => Given::Missing(hold),
        },
        older,
        run,
    }
}

/// A Secret left by another run of that name.
fn is_of_another(secret: &Secret, run: &WorkspaceRun) -> bool {
    let owners = secret.metadata.owner_references.iter().flatten();
    let mut runs = owners.filter(|owner| owner.kind == "WorkspaceRun").peekable();
    let uid = run.metadata.uid.as_deref();
    runs.peek().is_some() && !runs.any(|owner| Some(owner.uid.as_str()) == uid)
}

fn contents(secret: &Secret) -> BTreeMap<String, Vec<u8>> {
    let data = secret.data.iter().flatten();
    data.map(|(key, value)| (key.clone(), value.0.clone())).collect()
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // A String takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Assignment {
    /// Whether the other wishes the same: what the agent itself wrote makes no difference.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = |a: &Arc<WorkspaceRun>, b: &Arc<WorkspaceRun>| {
            let (m, n) = (&a.metadata, &b.metadata);
            // The spec does not change without the generation.
            m.uid == n.uid
                && m.generation == n.generation
                && m.deletion_timestamp == n.deletion_timestamp
        };
        same(&self.run, &other.run)
            && self.older.len() == other.older.len()
            && self.older.iter().zip(&other.older).all(|(a, b)| same(a, b))
            && self.secret == other.secret
            && self.config == other.config
            && self.prefetch == other.prefetch
    }

    /// All runs of the Workspace, the one that acts last.
    pub fn runs(&self) -> impl Iterator<Item = &Arc<WorkspaceRun>> {
        self.older.iter().chain([&self.run])
    }

    /// Where the acting run is to go. One that is being deleted is stopped, and its container kept.
    pub fn desired(&self) -> DesiredState {
        let desired = self.run.spec.desired;
        match (desired, &self.run.metadata.deletion_timestamp) {
            (DesiredState::Running, Some(_)) => DesiredState::Stopped,
            _ => desired,
        }
    }

    /// The registry login for the run's image.
    pub fn login(&self) -> Option<&[u8]> {
        self.secret.there()?.get(LOGIN).map(Vec::as_slice)
    }

    /// The registry login for the image of the next run.
    pub fn prefetch_login(&self) -> Option<&[u8]> {
        self.prefetch.there()?.get(LOGIN).map(Vec::as_slice)
    }

    /// What to send to the engine, or why nothing can be.
    pub fn create(&self, premises: &Premises<'_>) -> Result<Create, Hold> {
        if let Some(hold) = self.secret.missing().or(self.config.missing()) {
            return Err(hold.clone());
        }
        let secret = self.environment()?;
        let run = &self.run.spec;
        let Premises { host_uid, root, engine, governing, sockets } = *premises;
        let create = create_body(&Intent { run, secret: &secret, host_uid, root, engine })
            .map_err(|faults| untranslatable(&faults))?;
        let refused = check(&create, &Context { run, root, sockets }, governing);
        if refused.is_empty() { Ok(create) } else { Err(forbidden(&refused)) }
    }

    /// The Secret as an environment needs it.
    fn environment(&self) -> Result<BTreeMap<String, String>, Hold> {
        let Some(secret) = self.secret.there() else { return Ok(BTreeMap::new()) };
        let variables = secret.iter().filter(|(key, _)| *key != LOGIN);
        let text = |(key, value): (&String, &Vec<u8>)| {
            let text = String::from_utf8(value.clone()).map_err(|_| {
                let message = format!("spec.container.env[{key}]: the value in its Secret is not UTF-8 text, which an environment needs");
                Hold::new(Reason::InvalidSpec, message)
            })?;
            Ok((key.clone(), text))
        };
        variables.map(text).collect()
    }

    /// The run reduced to what decides. `create` is what would be sent, where it can be told.
    pub fn wish(&self, create: Option<&Create>, fenced: bool) -> Wish {
        let run = &self.run.spec;
        let policy = run.restart_policy.as_ref();
        let most = policy.and_then(|p| p.maximum_retry_count).map_or(0, i64::from);
        let name = run.container.name.clone().unwrap_or_else(|| {
            names::default_container_name(&run.workspace.namespace, &run.workspace.name)
        });
        let host = create.map(|create| &create.body.host_config);
        let off = || RestartPolicy { name: "no".to_owned(), maximum_retry_count: None };
        Wish {
            desired: self.desired(),
            name,
            spec_hash: run.spec_hash.clone(),
            restart: match policy.map(|policy| policy.name) {
                None => Restart::Kept,
                Some(RestartPolicyName::Always | RestartPolicyName::UnlessStopped) => {
                    Restart::Always
                }
                Some(RestartPolicyName::OnFailure) => Restart::OnFailure(most),
                Some(RestartPolicyName::No) => Restart::No,
            },
            policy: engine_policy(run).unwrap_or_else(off),
            previous: run.previous.clone(),
            fresh_layer: run.writable_layer.retention == Retention::Discard,
            force: run.deletion.as_ref().and_then(|d| d.force).unwrap_or_default()
                && self.desired() == DesiredState::Removed,
            limits: host.map(limits).unwrap_or_default(),
            networks: create.iter().flat_map(|c| &c.connect).map(|(n, _)| n.clone()).collect(),
            pull: match run.container.image_pull_policy {
                Some(ImagePullPolicy::Always) => Pull::Always,
                Some(ImagePullPolicy::Never) => Pull::Never,
                None | Some(ImagePullPolicy::IfNotPresent) => Pull::IfNotPresent,
            },
            config: run.config_file.is_some(),
            fenced,
        }
    }
}

/// The limits that an engine changes in place.
fn limits(host: &HostConfig) -> Update {
    Update {
        memory: host.memory,
        memory_reservation: host.memory_reservation,
        // Docker's own rule, said aloud: it holds for a create only, and an update of the memory
        // alone is refused above what memory and swap were.
        memory_swap: host.memory_swap.or(host.memory.map(|memory| memory.saturating_mul(2))),
        nano_cpus: host.nano_cpus,
        cpu_shares: host.cpu_shares,
        pids_limit: host.pids_limit,
        ..Update::default()
    }
}

fn untranslatable(faults: &[FieldError]) -> Hold {
    let unsupported = faults.iter().all(|fault| fault.message.starts_with("needs engine API"));
    let reason = if unsupported { Reason::UnsupportedByEngine } else { Reason::InvalidSpec };
    Hold::new(reason, listed(faults))
}

/// The host's word on fields that its policy does not allow.
pub fn forbidden(refused: &[FieldError]) -> Hold {
    Hold::new(Reason::ForbiddenByHostPolicy, listed(refused))
}

fn listed(faults: &[FieldError]) -> String {
    let all: Vec<_> = faults.iter().map(ToString::to_string).collect();
    all.join("; ")
}

#[cfg(test)]
mod tests;
