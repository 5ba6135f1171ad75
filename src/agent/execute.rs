//! Does one step: one thing on the engine or on the disk, and nothing after it.
//!
//! What a step did is not told from here but seen at the next look; only why it could not is.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::container::Create;
use super::context::Context;
use super::directory::{self, DirectoryError, Place};
use super::fault::{Fault, of_container};
use super::images::auth::Keyring;
use super::images::progress::Progress;
use super::images::pull::Ask;
use super::intent::{Assignment, forbidden};
use super::lifecycle::{Hold, Pulled, Step, Wish};
use super::link::Up;
use super::mounts;
use super::policy;
use super::volumes;
use crate::api::grammar::{self, ImageReference};
use crate::api::names::DEFAULT_STOP_GRACE;
use crate::api::{Reason, WorkspaceRunSpec};
use crate::engine::{self, Engine, Remove};

/// Networks that every engine has.
pub const BUILT_IN_NETWORKS: [&str; 4] = ["bridge", "default", "host", "none"];

/// What a step is done with.
#[derive(Clone, Copy)]
pub struct Deed<'a> {
    /// The host.
    pub context: &'a Context,
    /// The engine.
    pub up: &'a Up,
    /// Uid of the Host.
    pub host_uid: &'a str,
    /// What is assigned.
    pub assignment: &'a Arc<Assignment>,
    /// What is wished.
    pub wish: &'a Wish,
    /// What would be sent, or why nothing would.
    pub create: Result<&'a Create, &'a Hold>,
}

/// What a person may want to know of a step that was done.
pub type Note = Option<String>;

impl Deed<'_> {
    /// Does the step. `progress` gets what is worth telling while it lasts.
    pub async fn execute(&self, step: &Step, progress: impl Fn(String)) -> Result<Note, Fault> {
        let engine = &self.up.engine;
        let done = |()| None;
        match step {
            Step::Pull(which) => self.pull(*which, progress).await,
            Step::Prepare => self.prepare().await.map(done),
            Step::Create => self.create().await,
            Step::Connect { id, network } => self.connect(id, network).await.map(done),
            Step::Start { id } => {
                // An engine makes a directory in place of a source that is gone.
                let judged = self.resolve().await?;
                self.still_leads(id, judged).await?;
                engine.start(id).await.map(done).map_err(|e| of_container(&e))
            }
            Step::Unpause { id } => {
                engine.unpause(id).await.map(done).map_err(|e| of_container(&e))
            }
            Step::Rename { id } => self.rename(id).await.map(done),
            Step::Update { id, change } => {
                let warnings = engine.update(id, change).await.map_err(|e| of_container(&e))?;
                Ok(Some(warnings.join("; ")).filter(|note| !note.is_empty()))
            }
            Step::WriteConfig { signal } => self.write_config(signal.as_deref()).await.map(done),
            Step::Stop { id } => self.stop(id).await.map(done),
            Step::Kill { id } => kill(engine, id, "SIGKILL").await.map(done),
            Step::Remove { id } | Step::Recreate { id, .. } => self.remove(id).await.map(done),
            Step::Clear => self.clear().await.map(done),
            Step::Settle(_) | Step::Wait { .. } | Step::Idle => Ok(None),
        }
    }

    fn run(&self) -> &WorkspaceRunSpec {
        &self.assignment.run.spec
    }

    fn body(&self) -> Result<&Create, Fault> {
        self.create.map_err(|hold| Fault::new(hold.reason, hold.message.clone()).rarely())
    }

    async fn pull(&self, which: Pulled, progress: impl Fn(String)) -> Result<Note, Fault> {
        let run = self.run();
        let (image, login) = match (which, &run.prefetch) {
            (Pulled::Prefetch, Some(next)) => (Some(&next.image), self.assignment.prefetch_login()),
            _ => (run.container.image.as_ref(), self.assignment.login()),
        };
        let image = image.map(|image| image.parse::<ImageReference>());
        let Some(Ok(image)) = image else {
            let message = "spec.container.image: must be an image, e.g. nginx:1.29";
            return Err(Fault::new(Reason::InvalidSpec, message).rarely());
        };
        let logins = match login.map(Keyring::parse) {
            None => Vec::new(),
            Some(Ok(keyring)) => keyring.logins(&image),
            Some(Err(why)) => {
                let message = format!("spec.imagePullSecrets: {why}");
                return Err(Fault::new(Reason::Unauthorized, message));
            }
        };
        let reference = image.canonical().into_owned();
        let platform = run.container.platform.clone().filter(|platform| !platform.is_empty());
        let mut pull = self.context.pulls.join(&self.up.engine, Ask { image, platform, logins });
        let pulled = loop {
            match pull.progress() {
                Some(far) => progress(told(&reference, far)),
                None => break pull.ended().await,
            }
            pull.changed().await;
        };
        let pulled = pulled.map_err(|fault| Fault {
            least: fault.least_wait,
            ..Fault::new(fault.reason, fault.message)
        })?;
        if pulled.is_new {
            self.context.memoir.pulled(&reference, &pulled.id);
        }
        Ok(Some(
            pulled.digest.map_or(reference.clone(), |digest| format!("{reference} is {digest}")),
        ))
    }

    /// The directory, the config file, the volumes.
    async fn prepare(&self) -> Result<(), Fault> {
        self.body()?;
        let config = self.assignment.config.there().cloned();
        self.with_place(move |place| {
            directory::prepare(place, config.as_ref().map(|content| content.as_slice()))
        })
        .await?;
        for mount in self.run().mounts.iter().flatten() {
            volumes::ensure(&self.up.engine, mount, self.host_uid).await?;
        }
        Ok(())
    }

    /// An engine before 25 makes a container for a network that is not there, and cannot start it.
    async fn has_networks(&self, create: &Create) -> Result<(), Fault> {
        let endpoints = create.body.networking_config.endpoints_config.iter().flatten();
        let joined = endpoints.map(|(name, _)| name).chain(create.connect.iter().map(|(n, _)| n));
        let mode = create.body.host_config.network_mode.iter();
        for network in joined.chain(mode.filter(|mode| !mode.starts_with("container:"))) {
            self.has_network(network).await?;
        }
        Ok(())
    }

    async fn has_network(&self, name: &str) -> Result<(), Fault> {
        if name.is_empty() || BUILT_IN_NETWORKS.contains(&name) {
            return Ok(());
        }
        match self.up.engine.network(name).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Fault::new(
                Reason::NetworkNotFound,
                format!(
                    "the network {name} is not on the host: make it there (docker network create {name}), or take it out of container.networks"
                ),
            )),
            Err(error) => Err(of_container(&error)),
        }
    }

    /// The body as it is sent: what it mounts is there, and judged by what it resolves to.
    async fn resolve(&self) -> Result<Create, Fault> {
        let create = self.body()?.clone();
        let run = self.run().clone();
        let root = self.context.root.as_str().to_owned();
        let sockets = self.context.sockets.clone();
        let policy = self.context.config.policy.clone();
        blocking(move || {
            let governing = policy.governing(&run.workspace.namespace);
            let context = policy::Context { run: &run, root: &root, sockets: &sockets };
            mounts::resolve(create, &context, &governing)
        })
        .await?
        .map_err(|faults| {
            let first = faults.first().map_or(Reason::InvalidSpec, |fault| fault.reason);
            let fields: Vec<_> = faults.into_iter().map(|fault| fault.error).collect();
            let hold = forbidden(&fields);
            Fault::new(first, hold.message)
        })
    }

    /// The body was judged as it would be sent now; what is mounted is what the container was made
    /// with.
    async fn still_leads(&self, id: &str, judged: Create) -> Result<(), Fault> {
        let found = self.up.engine.inspect(id).await.map_err(|error| of_container(&error))?;
        let Some(found) = found else { return Ok(()) };
        let message = blocking(move || mounts::led_astray(&found.mounts, &judged)).await?;
        match message {
            None => Ok(()),
            Some(message) => Err(Fault::new(Reason::ForbiddenByHostPolicy, message).rarely()),
        }
    }

    async fn create(&self) -> Result<Note, Fault> {
        let create = self.resolve().await?;
        self.has_networks(&create).await?;
        let sent = engine::Create {
            name: &create.name,
            platform: create.platform.as_deref(),
            body: &create.body,
        };
        match self.up.engine.create(&sent).await {
            Ok(created) => Ok(Some(created.warnings.join("; ")).filter(|note| !note.is_empty())),
            Err(error) if error.is_conflict() => {
                let name = &create.name;
                let message = format!("the name {name} is taken on the host");
                Err(Fault { name_taken: true, ..Fault::new(Reason::NameConflict, message) })
            }
            Err(error) => Err(of_container(&error)),
        }
    }

    async fn connect(&self, id: &str, network: &str) -> Result<(), Fault> {
        let create = self.body()?;
        let later = create.connect.iter().find(|(name, _)| name == network).map(|(_, s)| s);
        let first = create.body.networking_config.endpoints_config.as_ref();
        let settings = later.or_else(|| first.and_then(|endpoints| endpoints.get(network)));
        let engine = &self.up.engine;
        // Of a network that was made again the container still has the one of then.
        match engine.disconnect_network(network, id).await {
            Err(error) if error.is_engine_away() => return Err(of_container(&error)),
            _ => {}
        }
        let settings = settings.cloned().unwrap_or_default();
        let connected = engine.connect_network(network, id, &settings).await;
        connected.map_err(|error| of_container(&error))
    }

    async fn rename(&self, id: &str) -> Result<(), Fault> {
        let name = &self.wish.name;
        match self.up.engine.rename(id, name).await {
            Err(error) if error.is_conflict() => {
                let message = format!(
                    "the container was renamed on the host, and another has its name {name} now: remove or rename that one"
                );
                Err(Fault::new(Reason::NameConflict, message))
            }
            other => other.map_err(|error| of_container(&error)),
        }
    }

    async fn write_config(&self, signal: Option<&str>) -> Result<(), Fault> {
        let Some(content) = self.assignment.config.there().cloned() else { return Ok(()) };
        let wanted = self.run().config_file.as_ref().and_then(|c| c.reload_signal.as_deref());
        let (Some(id), Some(signal)) = (signal, wanted) else {
            return self.with_place(move |place| directory::write_config(place, &content)).await;
        };
        self.with_place(move |place| directory::change_config(place, &content)).await?;
        // An engine takes a signal for a wish to end: at the container's next exit it does not
        // restart it, whatever its policy, also not when that is set once more. The agent does.
        kill(&self.up.engine, id, signal).await?;
        self.with_place(directory::settle_config).await
    }

    async fn stop(&self, id: &str) -> Result<(), Fault> {
        let stop = self.run().stop.as_ref();
        let grace = stop
            .and_then(|stop| stop.grace_period.as_deref())
            .and_then(|text| text.parse::<grammar::Duration>().ok())
            .map_or(DEFAULT_STOP_GRACE, |grace| grace.as_std());
        let signal = stop.and_then(|stop| stop.signal.as_deref());
        let engine = &self.up.engine;
        if let Some(signal) = signal.filter(|_| !grace.is_zero()) {
            // The container was made with the signal of then; the one of now counts.
            let made = engine.inspect(id).await.map_err(|error| of_container(&error))?;
            let made = made.and_then(|found| found.config.stop_signal);
            if made.as_deref().and_then(name_of) != name_of(signal) {
                kill(engine, id, signal).await?;
                ends(engine, id, grace).await?;
                // Had it the grace once more, it would get the other signal in the midst of it.
                let stopped = engine.stop(id, Some(Duration::ZERO)).await;
                return stopped.map_err(|error| of_container(&error));
            }
        }
        engine.stop(id, Some(grace)).await.map_err(|error| of_container(&error))
    }

    async fn remove(&self, id: &str) -> Result<(), Fault> {
        let deletion = self.run().deletion.as_ref();
        let volumes = deletion.and_then(|deletion| deletion.remove_volumes).unwrap_or(true);
        let how = Remove { volumes, force: false };
        match self.up.engine.remove(id, how).await {
            // What is half removed goes by force only; nothing of it runs.
            Err(error) if error.status() == Some(500) => {
                let how = Remove { volumes, force: true };
                self.up.engine.remove(id, how).await.map_err(|error| of_container(&error))
            }
            other => other.map_err(|error| of_container(&error)),
        }
    }

    async fn clear(&self) -> Result<(), Fault> {
        let root = self.context.root.as_str().to_owned();
        let workspace = self.run().workspace.clone();
        blocking(move || directory::remove(&root, &workspace)).await?.map_err(|e| of_directory(&e))
    }

    async fn with_place(
        &self,
        work: impl FnOnce(&Place) -> Result<(), DirectoryError> + Send + 'static,
    ) -> Result<(), Fault> {
        let run = self.run().clone();
        let root = self.context.root.as_str().to_owned();
        let sockets = self.context.sockets.clone();
        let policy = self.context.config.policy.clone();
        blocking(move || {
            let governing = policy.governing(&run.workspace.namespace);
            let context = policy::Context { run: &run, root: &root, sockets: &sockets };
            work(&Place::of(&context, &governing)?)
        })
        .await?
        .map_err(|error| of_directory(&error))
    }
}

/// How far a pull is, for a person.
fn told(reference: &str, far: Progress) -> String {
    const MEGA: u64 = 1_000_000;
    let Progress { layers, layers_done, current, total } = far;
    if layers == 0 {
        return format!("pulling {reference}");
    }
    let (current, total) = (current / MEGA, total / MEGA);
    format!("pulling {reference}: {layers_done} of {layers} layers, {current} of {total} MB")
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Fault::new(Reason::StartFailed, error.to_string()))
}

fn of_directory(error: &DirectoryError) -> Fault {
    match error {
        DirectoryError::Refused(errors) => {
            let hold = forbidden(errors);
            Fault::new(hold.reason, hold.message).rarely()
        }
        DirectoryError::Occupied(_) | DirectoryError::TooLong(_) | DirectoryError::Mounted(_) => {
            Fault::new(Reason::InvalidSpec, error.to_string()).rarely()
        }
        DirectoryError::Io { source, .. } => {
            let full = source.kind() == std::io::ErrorKind::StorageFull;
            let reason = if full { Reason::NoSpace } else { Reason::StartFailed };
            Fault::new(reason, error.to_string())
        }
    }
}

fn name_of(signal: &str) -> Option<String> {
    signal.parse::<grammar::Signal>().ok().map(|signal| signal.canonical().into_owned())
}

/// Success also where there is nothing left to signal.
async fn kill(engine: &Engine, id: &str, signal: &str) -> Result<(), Fault> {
    match engine.kill(id, signal).await {
        Err(error) if error.is_conflict() || error.is_not_found() => Ok(()),
        other => other.map_err(|error| of_container(&error)),
    }
}

/// Waits until a container does not run, or the grace is over.
async fn ends(engine: &Engine, id: &str, grace: Duration) -> Result<(), Fault> {
    const EVERY: Duration = Duration::from_millis(100);
    let over = Instant::now() + grace;
    loop {
        let found = engine.inspect(id).await.map_err(|error| of_container(&error))?;
        let left = over.saturating_duration_since(Instant::now());
        if !found.is_some_and(|found| found.state.running) || left.is_zero() {
            return Ok(());
        }
        tokio::time::sleep(left.min(EVERY)).await;
    }
}

/// How long a call that may be cut is waited for when the agent ends.
pub const LAST_CALL: Duration = Duration::from_secs(20);
