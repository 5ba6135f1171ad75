use std::time::Duration;

use bollard::models::NetworkDisconnectRequest;
use bollard::query_parameters::{
    KillContainerOptionsBuilder, RemoveContainerOptionsBuilder, RenameContainerOptionsBuilder,
    StopContainerOptionsBuilder,
};
use serde::Deserialize;

use super::call::{Call, found};
use super::verbs::verb;
use super::{Engine, EngineError};
use crate::docker::{
    CreateBody, EndpointSettings, Inspect, ListItem, Network, NetworkConnect, Update,
};

/// What the engine gives a container to end by itself that says nothing of it.
const DEFAULT_GRACE: i64 = 10;

/// A container to make.
#[derive(Clone, Copy, Debug)]
pub struct Create<'a> {
    /// Its name.
    pub name: &'a str,
    /// The platform its image must have, `os/architecture[/variant]`.
    pub platform: Option<&'a str>,
    /// All else.
    pub body: &'a CreateBody,
}

/// A container that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Created {
    /// Its full id.
    pub id: String,
    /// What of the body has no effect on this host.
    pub warnings: Vec<String>,
}

/// How a container is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remove {
    /// With its anonymous volumes, which nothing else ever removes.
    pub volumes: bool,
    /// Also if it runs: its processes are killed at once.
    pub force: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Warnings {
    warnings: Vec<String>,
}

impl Engine {
    /// All containers that bear all the labels, each `key` or `key=value`, whether they run or not.
    pub async fn list(&self, labels: &[String]) -> Result<Vec<ListItem>, EngineError> {
        let call = Call::get("list containers", "/containers/json").query("all", "1");
        self.answer(call.labelled(labels)).await?.things()
    }

    /// The container of exactly this full id or name; none if there is none.
    pub async fn inspect(&self, container: &str) -> Result<Option<Inspect>, EngineError> {
        if container.is_empty() {
            return Ok(None);
        }
        let call = Call::get("inspect container", format!("/containers/{container}/json"));
        let Some(answer) = found(self.answer(call).await)? else { return Ok(None) };
        let inspect: Inspect = answer.thing()?;
        // An engine also takes the beginning of an id, and a name may look like one.
        Ok(Some(inspect).filter(|found| found.id == container || found.name() == container))
    }

    /// Makes a container.
    pub async fn create(&self, create: &Create<'_>) -> Result<Created, EngineError> {
        let mut call =
            Call::post("create container", "/containers/create").query("name", create.name);
        if let Some(platform) = create.platform {
            call = call.query("platform", platform);
        }
        call.body(create.body)?.answer(&self.wire, self.deadlines.create).await?.thing()
    }

    /// Starts a container; success also if it runs already.
    pub async fn start(&self, id: &str) -> Result<(), EngineError> {
        verb(&self.wire, "start container", self.deadlines.start, async |docker| {
            docker.start_container(id, None).await
        })
        .await
    }

    /// Stops a container and waits for its end: its signal, then after the grace, of whole
    /// seconds, SIGKILL. Without a grace the container's own holds. Success also if it does not run
    /// or is gone.
    pub async fn stop(&self, id: &str, grace: Option<Duration>) -> Result<(), EngineError> {
        let call = "stop container";
        let seconds = match grace {
            Some(grace) => i64::try_from(grace.as_secs()).unwrap_or(i64::MAX),
            None => match self.inspect(id).await? {
                Some(inspect) => inspect.config.stop_timeout.unwrap_or(DEFAULT_GRACE),
                None => return Ok(()),
            },
        };
        // A negative one is without end: then it is the caller who gives up.
        let waits = Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::from(u32::MAX)));
        let seconds = i32::try_from(seconds).unwrap_or(i32::MAX);
        let within = waits.saturating_add(self.deadlines.stop);
        let options = StopContainerOptionsBuilder::new().t(seconds).build();
        let stopped = verb(&self.wire, call, within, async |docker| {
            docker.stop_container(id, Some(options)).await
        });
        ok_if_gone(stopped.await)
    }

    /// Sends a signal to a container's first process. SIGKILL is success also if it does not run
    /// or is gone. Any other signal may switch off the engine's restart policy.
    pub async fn kill(&self, id: &str, signal: &str) -> Result<(), EngineError> {
        let options = KillContainerOptionsBuilder::new().signal(signal).build();
        let killed = verb(&self.wire, "kill container", self.deadlines.other, async |docker| {
            docker.kill_container(id, Some(options)).await
        })
        .await;
        let kills = matches!(signal, "KILL" | "SIGKILL" | "9");
        self.unless(killed, id, |now| kills && now.is_none_or(|now| !now.state.running)).await
    }

    /// Removes a container; success also if it is gone already.
    pub async fn remove(&self, id: &str, how: Remove) -> Result<(), EngineError> {
        let options = RemoveContainerOptionsBuilder::new().v(how.volumes).force(how.force).build();
        let removed = verb(&self.wire, "remove container", self.deadlines.remove, async |docker| {
            docker.remove_container(id, Some(options)).await
        });
        ok_if_gone(removed.await)
    }

    /// Gives a container another name; success also if it has it already.
    pub async fn rename(&self, id: &str, name: &str) -> Result<(), EngineError> {
        let options = RenameContainerOptionsBuilder::new().name(name).build();
        let renamed = verb(&self.wire, "rename container", self.deadlines.other, async |docker| {
            docker.rename_container(id, options).await
        })
        .await;
        self.unless(renamed, id, |now| now.is_some_and(|now| now.name() == name)).await
    }

    /// Lets a paused container go on; success also if it is not paused.
    pub async fn unpause(&self, id: &str) -> Result<(), EngineError> {
        let unpaused =
            verb(&self.wire, "unpause container", self.deadlines.other, async |docker| {
                docker.unpause_container(id).await
            })
            .await;
        self.unless(unpaused, id, |now| now.is_some_and(|now| !now.state.paused)).await
    }

    /// Changes limits and restart policy in place, and gives the engine's warnings.
    pub async fn update(&self, id: &str, update: &Update) -> Result<Vec<String>, EngineError> {
        let call = Call::post("update container", format!("/containers/{id}/update"));
        let warnings: Warnings = self.answer(call.body(update)?).await?.read()?;
        Ok(warnings.warnings)
    }

    /// Puts a container in a network; success also if it is in it already, whatever its settings
    /// there are.
    pub async fn connect_network(
        &self,
        network: &str,
        id: &str,
        settings: &EndpointSettings,
    ) -> Result<(), EngineError> {
        let call = Call::post("connect network", format!("/networks/{network}/connect"));
        let body = NetworkConnect { container: id, endpoint_config: settings };
        let connected = self.answer(call.body(&body)?).await.map(drop);
        self.unless(connected, id, |now| now.is_some_and(|now| is_in(now, network))).await
    }

    /// Takes a container out of a network; success also if it is not in it or is gone.
    pub async fn disconnect_network(&self, network: &str, id: &str) -> Result<(), EngineError> {
        let request = NetworkDisconnectRequest { container: id.to_owned(), force: None };
        let gone = verb(&self.wire, "disconnect network", self.deadlines.other, async |docker| {
            docker.disconnect_network(network, request).await
        })
        .await;
        self.unless(gone, id, |now| now.is_none_or(|now| !is_in(now, network))).await
    }

    /// The network of exactly this name or full id; none if there is none.
    pub async fn network(&self, name: &str) -> Result<Option<Network>, EngineError> {
        if name.is_empty() {
            return Ok(None);
        }
        let call = Call::get("inspect network", format!("/networks/{name}"));
        let Some(answer) = found(self.answer(call).await)? else { return Ok(None) };
        let network: Network = answer.thing()?;
        Ok(Some(network).filter(|found| found.name == name || found.id == name))
    }

    /// A refusal is success where the container is already as it was to become. The engine's
    /// status and words for that differ with its version; how the container is does not.
    async fn unless(
        &self,
        done: Result<(), EngineError>,
        id: &str,
        already: impl FnOnce(Option<&Inspect>) -> bool + Send,
    ) -> Result<(), EngineError> {
        let Err(refused @ EngineError::Refused { .. }) = done else { return done };
        let now = self.inspect(id).await?;
        if already(now.as_ref()) { Ok(()) } else { Err(refused) }
    }
}

fn is_in(container: &Inspect, network: &str) -> bool {
    let networks = &container.network_settings.networks;
    networks.contains_key(network) || networks.values().any(|each| each.network_id == network)
}

fn ok_if_gone(done: Result<(), EngineError>) -> Result<(), EngineError> {
    match done {
        Err(error) if error.is_not_found() => Ok(()),
        done => done,
    }
}
