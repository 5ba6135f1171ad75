//! From a run to the body of Docker's create call. Pure: the same input makes the same bytes.
//!
//! [`create_body`] is total: it gives either what to send or everything that is wrong with the
//! spec, each with its field's path. What the host's engine cannot honour is an error that names
//! the field and the version, never left out in silence.

mod faults;
mod limits;
mod mounts;
mod network;
mod process;
mod security;

use std::collections::BTreeMap;

use crate::api::WorkspaceRunSpec;
use crate::api::container::form;
use crate::api::field_error::FieldError;
use crate::api::grammar::{AbsolutePath, ContainerName};
use crate::api::names;
use crate::api::reference::WorkspaceRef;
use crate::docker::{ApiVersion, CreateBody, EndpointSettings, HostConfig};

use faults::Faults;
pub use mounts::CONFIG_FILE;
pub(super) use process::engine_policy;

/// What a container is made from.
#[derive(Clone, Copy, Debug)]
pub struct Intent<'a> {
    /// The run, resolved.
    pub run: &'a WorkspaceRunSpec,
    /// The run's own Secret: values of environment variables, by their names.
    pub secret: &'a BTreeMap<String, String>,
    /// Uid of the Host, for the label that says whose container it is.
    pub host_uid: &'a str,
    /// The agent's root, which holds the Workspaces' directories.
    pub root: &'a str,
    /// The API version of the host's engine.
    pub engine: ApiVersion,
}

/// What to send to the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    /// The container's name, in the query.
    pub name: String,
    /// The platform, in the query.
    pub platform: Option<String>,
    /// The body.
    pub body: CreateBody,
    /// Networks to connect after the create call and before the start, for an engine that takes but
    /// one at creation.
    pub connect: Vec<(String, EndpointSettings)>,
}

/// Translates a run into what the engine is sent, or says all that is wrong with it.
pub fn create_body(intent: &Intent<'_>) -> Result<Create, Vec<FieldError>> {
    let run = intent.run;
    let mut faults = Faults::new(intent.engine);
    let name = name(intent, &mut faults);
    if let Some(directory) = run.container.directory.as_deref() {
        faults.parse::<AbsolutePath>("spec.container.directory", directory);
    }
    let mut host = HostConfig::default();
    let (networking, mac_address, connect) =
        network::attach(&run.container, &mut host, &mut faults);
    network::publish(&run.container, &mut host, &mut faults);
    mounts::mount(intent, &mut host, &mut faults);
    limits::limit(run, &mut host, &mut faults);
    security::confine(&run.container, &mut host, &mut faults);
    process::govern(run, &mut host, &mut faults);
    let mut body = process::body(intent, &name, &mut faults);
    body.exposed_ports = network::exposed(&run.container);
    body.volumes = mounts::anonymous(run, &mut faults);
    body.mac_address = mac_address;
    body.networking_config = networking;
    body.host_config = host;
    let platform = run.container.platform.clone();
    faults.fits("spec.container.platform", platform.as_ref(), &form::PLATFORM);
    faults.into_result(Create { name, platform, body, connect })
}

/// The Workspace's directory on its host.
pub fn directory(run: &WorkspaceRunSpec, root: &str) -> String {
    match run.container.directory.as_deref().filter(|directory| !directory.is_empty()) {
        Some(directory) => directory.to_owned(),
        None => own_directory(&run.workspace, root),
    }
}

/// The Workspace's directory in the agent's root.
pub fn own_directory(workspace: &WorkspaceRef, root: &str) -> String {
    let (root, uid) = (root.trim_end_matches('/'), names::short_uid(&workspace.uid));
    format!("{root}/{}_{}_{uid}", workspace.namespace, workspace.name)
}

fn name(intent: &Intent<'_>, faults: &mut Faults) -> String {
    let run = intent.run;
    match &run.container.name {
        Some(name) => {
            faults.parse::<ContainerName>("spec.container.name", name);
            name.clone()
        }
        None => names::default_container_name(&run.workspace.namespace, &run.workspace.name),
    }
}

#[cfg(test)]
mod tests;
