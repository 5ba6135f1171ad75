//! What `docker inspect` prints: not the request but what an engine made of it, so what the engine
//! adds is taken off again.

mod engine;
mod image;

use serde_json::{Map, Value};

use super::notes::Notes;
use super::object::wanted;
use super::origin::Origins;
use super::{Beside, Found, Request, Unreadable, json};
use crate::api::names::label;
use image::Images;

/// Members that say how a container is, not how it is wanted.
const STATE: [&str; 24] = [
    "Id",
    "Created",
    "Path",
    "Args",
    "State",
    "Image",
    "ResolvConfPath",
    "HostnamePath",
    "HostsPath",
    "LogPath",
    "Name",
    "RestartCount",
    "Driver",
    "Platform",
    "MountLabel",
    "ProcessLabel",
    "AppArmorProfile",
    "ExecIDs",
    "GraphDriver",
    "Storage",
    "SizeRw",
    "SizeRootFs",
    "ImageManifestDescriptor",
    "Mounts",
];

/// The containers, but for ours. One that cannot be read is an error that leaves the others alone.
pub fn read(request: &Request<'_>, notes: &mut Notes) -> Result<Vec<Found>, Unreadable> {
    const WHAT: &str = "the output of docker inspect";
    let value = json::parse(WHAT, request.text)?;
    let images = request.image_config.map(Images::read).transpose()?;
    let list = match &value {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    };
    if list.is_empty() {
        return Err(Unreadable(format!(
            "{WHAT} is an empty list: give that of docker inspect CONTAINER, which prints one for a \
             container that is not there"
        )));
    }
    let mut found = Vec::new();
    for (i, item) in list.into_iter().enumerate() {
        let what = format!("[{i}]");
        let members = match members(item) {
            Ok(members) => members,
            Err(message) => {
                notes.error_at(format!("{what}{}", named(item)), message);
                continue;
            }
        };
        if ours(item) {
            let message = "is the container of a Workspace already (label kibotos.dev/workspace-uid): skipped";
            notes.warn_at(what, message);
            continue;
        }
        found.push(container(&what, members, images.as_ref(), notes));
    }
    if images.is_none() && !found.is_empty() {
        notes.warn_at(
            "Config",
            "what the image sets by itself (environment, command, labels, ports, volumes …) cannot be told \
             from what was asked for: give --image-config with the output of docker image inspect",
        );
    }
    Ok(found)
}

/// The members of a container, or what is wrong with it.
fn members(item: &Value) -> Result<&Map<String, Value>, String> {
    let members = item.as_object().ok_or_else(|| wanted("an object", item))?;
    for part in ["Config", "HostConfig"] {
        let value = members.get(part).unwrap_or(&Value::Null);
        if !value.is_object() {
            return Err(format!(
                "is no container of docker inspect: {part} {}",
                wanted("an object", value)
            ));
        }
    }
    Ok(members)
}

/// The name of an item for errors, where it has one.
fn named(item: &Value) -> String {
    let name = item.get("Name").and_then(Value::as_str).unwrap_or_default();
    let name = name.trim_start_matches('/');
    if name.is_empty() { String::new() } else { format!(" ({name})") }
}

/// Whether the container does not run and is not about to.
fn is_stopped(what: &str, state: Option<&Value>, notes: &mut Notes) -> bool {
    let state = state.unwrap_or(&Value::Null);
    let flag = |key: &str| state.get(key).and_then(Value::as_bool);
    let status = state.get("Status").and_then(Value::as_str).unwrap_or_default();
    let at = format!("{what}.State.Status");
    match status {
        // Engines before 1.21 have no such word.
        "" => flag("Running") == Some(false) && flag("Restarting") != Some(true),
        "running" | "restarting" => false,
        "paused" => {
            notes.warn_at(at, "is paused, which a Workspace cannot be: it will run");
            false
        }
        other => {
            let why = if other == "created" { "was never started" } else { "does not run" };
            let message = format!(
                "is {other}: the container {why}, so powerState is Stopped; set Running to start it"
            );
            notes.warn_at(at, message);
            true
        }
    }
}

/// Takes out the labels by which docker compose knows its containers: it would take the Workspace's
/// for one of its own, and remove it with the project.
fn without_compose(what: &str, config: &mut Map<String, Value>, notes: &mut Notes) {
    let Some(labels) = config.get_mut("Labels").and_then(Value::as_object_mut) else { return };
    let before = labels.len();
    labels.retain(|key, _| !key.starts_with("com.docker.compose."));
    if labels.len() < before {
        let message = "the labels com.docker.compose.* are left out: docker compose would take the \
                       Workspace's container for its own";
        notes.warn_at(format!("{what}.Config.Labels"), message);
    }
}

fn ours(item: &Value) -> bool {
    item["Config"]["Labels"].get(label::WORKSPACE_UID).is_some()
}

fn container(
    what: &str,
    members: &Map<String, Value>,
    images: Option<&Images>,
    notes: &mut Notes,
) -> Found {
    let part = |key: &str| members.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let (mut config, mut host, settings) =
        (part("Config"), part("HostConfig"), part("NetworkSettings"));
    let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default();
    let id = text("Id").get(..12).unwrap_or(text("Id"));
    let name = text("Name").trim_start_matches('/');
    let mut networks = match settings.get("Networks") {
        Some(Value::Object(networks)) => networks.clone(),
        _ => Map::new(),
    };
    without_compose(what, &mut config, notes);
    engine::subtract(what, id, &mut config, &mut host, &mut networks, notes);
    engine::anonymous_volumes(what, members.get("Mounts"), &host, notes);
    if let Some(images) = images {
        let reference = config.get("Image").and_then(Value::as_str).unwrap_or_default().to_owned();
        match images.of(text("Image"), &reference) {
            Some(image) => image::subtract(image, &mut config, &host),
            None => notes.warn_at(
                format!("{what}.Image"),
                format!("{reference} is not in --image-config: what it sets by itself stays in the manifest"),
            ),
        }
    }
    for key in members.keys() {
        let known = ["Config", "HostConfig", "NetworkSettings"];
        if !STATE.contains(&key.as_str()) && !known.contains(&key.as_str()) {
            notes.warn_at(format!("{what}.{key}"), "is not known: left out");
        }
    }
    let mut origins = Origins::default();
    origins.put("", format!("{what}.Config"));
    origins.put("name", format!("{what}.Name"));
    origins.put("HostConfig", format!("{what}.HostConfig"));
    let source = format!("{what}.NetworkSettings.Networks");
    origins.put("NetworkingConfig.EndpointsConfig", source);
    config.insert("HostConfig".to_owned(), Value::Object(host));
    let mut networking = Map::new();
    networking.insert("EndpointsConfig".to_owned(), Value::Object(networks));
    config.insert("NetworkingConfig".to_owned(), Value::Object(networking));
    let label = if name.is_empty() { id } else { name };
    let stopped = is_stopped(what, members.get("State"), notes);
    Found {
        label: label.to_owned(),
        container: Some(name.to_owned()).filter(|name| !name.is_empty()),
        body: Value::Object(config),
        origins,
        beside: Beside { stopped, ..Beside::default() },
    }
}
