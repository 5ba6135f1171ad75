//! The host in the API: its Lease, its status, and what an admin says of it.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;

use crate::api::condition::{ConditionType, Conditions, Observation, State};
use crate::api::host::{ContainerCounts, HostMode, HostStatus};
use crate::api::names::{annotation, manager};
use crate::api::resources::HostResources;
use crate::api::{Host, Reason};
use crate::docker::Info;
use crate::engine::Engine;

/// How often the Lease is renewed.
pub const RENEW_EVERY: Duration = Duration::from_secs(10);
/// How long the Lease lasts.
pub const LEASE_LASTS: Duration = Duration::from_secs(40);
/// A leased run is stopped when the Lease was not renewed for so long: two thirds of the grace that
/// a controller gives a host by default.
pub const FENCED_AFTER: Duration = Duration::from_secs(26);

/// What an admin says of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// The Host's uid.
    pub uid: String,
    /// What it takes on.
    pub mode: HostMode,
    /// Whether what an earlier Host of that name left is to be removed.
    pub remove_released: bool,
}

impl Orders {
    /// As they stand in the Host.
    pub fn of(host: &Host) -> Self {
        let annotations = host.annotations();
        Self {
            uid: host.metadata.uid.clone().unwrap_or_default(),
            mode: host.spec.mode,
            remove_released: annotations
                .get(annotation::REMOVE_RELEASED)
                .is_some_and(|value| value == "true"),
        }
    }
}

/// What is seen of the host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// What the engine says of itself, once it did.
    pub engine: Option<EngineFacts>,
    /// Why the engine does not answer.
    pub away: Option<String>,
    /// Id of the machine's present boot.
    pub boot_id: Option<String>,
    /// How many containers there are.
    pub containers: Option<ContainerCounts>,
    /// How full the engine's disk is, in percent, and from where on it counts as nearly full.
    pub disk: Option<(u8, u8)>,
}

/// What is told of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineFacts {
    /// Its own version.
    pub version: String,
    /// The newest API version that both speak.
    pub api: String,
    /// What else it says.
    pub info: Box<Info>,
}

/// Asks the engine what it is.
pub async fn ask(engine: &Engine) -> Result<EngineFacts, crate::engine::EngineError> {
    let info = engine.info().await?;
    let version = info.server_version.clone();
    Ok(EngineFacts { version, api: engine.api().to_string(), info: Box::new(info) })
}

/// The Host's status but for the conditions that others write. Pure.
pub fn status(
    facts: &Facts,
    before: Option<&HostStatus>,
    generation: Option<i64>,
    now: Timestamp,
) -> HostStatus {
    let before = before.cloned().unwrap_or_default();
    let engine = facts.engine.as_ref();
    let info = engine.map(|engine| &engine.info);
    let has = info.map(|info| HostResources {
        cpu: Some(info.cpus.into()),
        memory: Some(info.mem_total.into()),
        pids: None,
    });
    HostStatus {
        agent_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        engine_version: engine.map(|e| e.version.clone()).or(before.engine_version),
        engine_api_version: engine.map(|e| e.api.clone()).or(before.engine_api_version),
        os: info.map(|info| info.os_type.clone()).or(before.os),
        architecture: info.map(|i| architecture(&i.architecture)).or(before.architecture),
        capacity: has.clone().or(before.capacity),
        allocatable: has.or(before.allocatable),
        runtimes: info.map_or(before.runtimes, |info| info.runtimes.keys().cloned().collect()),
        storage_driver: info.map(|info| info.driver.clone()).or(before.storage_driver),
        boot_id: facts.boot_id.clone().or(before.boot_id),
        containers: facts.containers.clone().or(before.containers),
        observed_generation: generation,
        conditions: conditions(facts, &before.conditions, generation, now),
    }
}

fn conditions(
    facts: &Facts,
    before: &[Condition],
    generation: Option<i64>,
    now: Timestamp,
) -> Vec<Condition> {
    let own =
        [ConditionType::AgentReady, ConditionType::EngineReachable, ConditionType::DiskPressure];
    let kept: Vec<_> = before
        .iter()
        .filter(|c| own.iter().any(|kind| kind.as_str() == c.type_))
        .cloned()
        .collect();
    let mut conditions = Conditions::from_status(&kept);
    let mut set = |kind, state, reason, message: String| {
        conditions.set(Observation { kind, state, reason, message }, generation, now);
    };
    set(ConditionType::AgentReady, State::True, Reason::AgentAlive, String::new());
    match (&facts.away, &facts.engine) {
        (Some(why), _) => {
            set(
                ConditionType::EngineReachable,
                State::False,
                Reason::EngineUnreachable,
                why.clone(),
            );
        }
        (None, Some(_)) => {
            set(
                ConditionType::EngineReachable,
                State::True,
                Reason::EngineResponding,
                String::new(),
            );
        }
        (None, None) => {
            set(ConditionType::EngineReachable, State::Unknown, Reason::Pending, String::new());
        }
    }
    match facts.disk {
        None => set(ConditionType::DiskPressure, State::Unknown, Reason::Pending, String::new()),
        Some((full, most)) if full >= most => {
            let message =
                format!("at least {most} % of the engine's disk are used: make room on it");
            set(ConditionType::DiskPressure, State::True, Reason::DiskNearlyFull, message);
        }
        Some(_) => set(ConditionType::DiskPressure, State::False, Reason::DiskOk, String::new()),
    }
    conditions.into_status()
}

/// As Kubernetes and images write it.
fn architecture(machine: &str) -> String {
    let known: BTreeMap<_, _> =
        [("x86_64", "amd64"), ("aarch64", "arm64"), ("armv7l", "arm"), ("i686", "386")].into();
    known.get(machine).map_or_else(|| machine.to_owned(), |name| (*name).to_owned())
}

/// Writes the Host's status.
pub async fn write(client: &Client, host: &Host, status: &HostStatus) -> Result<(), kube::Error> {
    let name = host.name_any();
    let body = json!({
        "apiVersion": Host::api_version(&()),
        "kind": Host::kind(&()),
        "metadata": { "name": name, "uid": host.metadata.uid },
        "status": status,
    });
    let api: Api<Host> = Api::all(client.clone());
    let params = PatchParams::apply(manager::AGENT).force();
    api.patch_status(&name, &params, &Patch::Apply(&body)).await.map(drop)
}
