//! From a create body to a Workspace's spec.
//!
//! What the CRD would refuse is left out with a warning that names it, so that what comes out can
//! always be applied.

mod limits;
mod mounts;
mod network;
mod ports;
mod process;
mod security;
mod valid;

pub use valid::clean;

use crate::api::container::ImagePullPolicy;
use crate::api::grammar::{AbsolutePath, ContainerName};
use crate::api::workspace::{
    ConfigFile, PowerState, Retention, VolumeMode, WorkspaceSpec, WorkspaceVolume, WritableLayer,
};
use crate::api::{Container, names::DEFAULT_CONFIG_PATH};

use super::Found;
use super::notes::Notes;
use super::object::Object;

/// The parts of a body while it is read.
struct Body<'a> {
    config: Object<'a>,
    host: Object<'a>,
    networking: Object<'a>,
}

/// The spec of one container.
pub fn translate(found: &Found, notes: &mut Notes) -> WorkspaceSpec {
    let mut config = Object::of("", &found.body, notes);
    let host = config.object("HostConfig", notes);
    let networking = config.object("NetworkingConfig", notes);
    let mut body = Body { config, host, networking };
    let mut container = Container::default();
    let mut spec = WorkspaceSpec {
        volume: WorkspaceVolume { mode: VolumeMode::None, ..WorkspaceVolume::default() },
        ..WorkspaceSpec::default()
    };
    name(found, &mut container, notes);
    process::read(&mut body, &mut container, &mut spec, notes);
    process::govern(&mut body, &mut container, &mut spec.writable_layer, notes);
    network::read(&mut body, &mut container, notes);
    mounts::read(&mut body, &mut container, notes);
    security::read(&mut body, &mut container, notes);
    limits::read(&mut body, &mut container, &mut spec, notes);
    beside(found, &mut container, &mut spec, notes);
    finish(body, notes);
    spec.container = Some(container);
    spec
}

fn name(found: &Found, container: &mut Container, notes: &mut Notes) {
    let Some(name) = &found.container else { return };
    match name.parse::<ContainerName>() {
        Ok(_) => container.name = Some(name.clone()),
        Err(error) => notes.warn("name", format!("{error}: the container gets a name of ours")),
    }
}

fn beside(found: &Found, container: &mut Container, spec: &mut WorkspaceSpec, notes: &mut Notes) {
    let about = &found.beside;
    container.platform = about.platform.as_deref().and_then(|platform| {
        valid::if_so(
            "platform",
            platform,
            valid::is_platform,
            "must be OS/ARCHITECTURE[/VARIANT]",
            notes,
        )
    });
    container.directory = about
        .directory
        .as_deref()
        .and_then(|path| valid::path::<AbsolutePath>("directory", path, notes));
    container.image_pull_policy = match about.pull.as_deref() {
        None | Some("missing" | "if_not_present" | "") => None,
        Some("always") => Some(ImagePullPolicy::Always),
        Some("never") => Some(ImagePullPolicy::Never),
        Some(other) => {
            notes.warn("pull", format!("{other:?} is not always, missing or never: left out"));
            None
        }
    };
    if about.stopped {
        spec.power_state = PowerState::Stopped;
    }
    spec.config_file = about.config.as_ref().map(|content| ConfigFile {
        content: Some(content.clone()),
        config_map_key_ref: None,
        secret_key_ref: None,
        path: DEFAULT_CONFIG_PATH.to_owned(),
        reload_signal: None,
    });
}

/// Members of a client's own, and those that have a say only where there is no Linux.
fn finish(mut body: Body<'_>, notes: &mut Notes) {
    body.config.ignore(&["AttachStdin", "AttachStdout", "AttachStderr", "OnBuild", "ArgsEscaped"]);
    body.host.ignore(&["ConsoleSize", "ContainerIDFile"]);
    if let Some(isolation) = body.host.text("Isolation", notes)
        && isolation != "default"
    {
        notes.warn(&body.host.at("Isolation"), "is for Windows: left out");
    }
    for key in ["MaskedPaths", "ReadonlyPaths"] {
        if body.host.take(key).is_some() {
            let message = "the engine's own list always counts in a Workspace: left out";
            notes.warn(&body.host.at(key), message);
        }
    }
    for (key, message) in [
        (
            "Links",
            "links are not supported: join both to one network, where each is found by its name",
        ),
        ("VolumesFrom", "is not supported: name the volumes themselves in container.binds"),
    ] {
        if !body.host.list(key, notes).is_empty() {
            notes.warn(&body.host.at(key), message);
        }
    }
    body.config.finish(notes);
    body.host.finish(notes);
    body.networking.finish(notes);
}

/// The layer that is thrown away after each run.
fn discard(layer: &mut WritableLayer) {
    layer.retention = Retention::Discard;
}
