//! The services of a compose file, each as the create body that `docker compose` would send.
//!
//! Variables come from `--env-file` alone, never from the environment of the process, so that the
//! same files always give the same manifests.

mod health;
mod mounts;
mod network;
mod ports;
mod process;
mod project;
mod resources;
mod service;
mod value;

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::notes::Notes;
use super::object::is_zero;
use super::{Found, Request, Unreadable, Variables, env_file};
use project::Project;
use value::Node;

/// Members of a compose file that say nothing about a container.
const BESIDE: [&str; 2] = ["version", "name"];

/// The services.
pub fn read(request: &Request<'_>, notes: &mut Notes) -> Result<Vec<Found>, Unreadable> {
    let variables = match request.env_file {
        Some(text) => {
            env_file::variables(text).map_err(|error| Unreadable(format!("--env-file: {error}")))?
        }
        None => Variables::new(),
    };
    let file = parse(request.text, &variables, notes)?;
    let Some(Value::Object(services)) = file.get("services") else {
        return Err(Unreadable("services: must be an object, one member a service".to_owned()));
    };
    for (key, value) in &file {
        match key.as_str() {
            "services" | "volumes" | "networks" => {}
            key if BESIDE.contains(&key) || key.starts_with("x-") => {}
            "secrets" | "configs" => notes.warn_at(
                key.clone(),
                "is not carried over: make a Secret or ConfigMap and use env valueFrom or configFile",
            ),
            "include" => notes.warn_at("include", "is not followed: import those files too"),
            _ if is_zero(value) => {}
            key => notes.warn_at(key, "is not known: left out"),
        }
    }
    let project = Project::new(&file, request, &variables, notes);
    let mut found = Vec::new();
    for (name, value) in services {
        let mut node = Node::new(format!("services.{name}"), value);
        found.extend(service::read(name, &mut node, &project, notes));
    }
    Ok(found)
}

/// The file with its variables filled in and its anchors and merge keys followed.
fn parse(
    text: &str,
    variables: &Variables,
    notes: &mut Notes,
) -> Result<Map<String, Value>, Unreadable> {
    let options = || {
        serde_saphyr::options! {
            strict_booleans: true,
            legacy_octal_numbers: true,
            with_snippet: false,
        }
    };
    let unreadable = |error: serde_saphyr::Error| {
        Unreadable(format!("the compose file cannot be read: {error}"))
    };
    let raw: Value = serde_saphyr::from_str_with_options(text, options()).map_err(unreadable)?;
    value::unset(&raw, variables, notes);
    let mut filled =
        options().with_properties(variables.clone().into_iter().collect::<HashMap<_, _>>());
    filled.property_syntax = serde_saphyr::options::PropertySyntax::DockerCompose;
    match serde_saphyr::from_str_with_options(text, filled).map_err(unreadable)? {
        Value::Object(file) => Ok(file),
        _ => Err(Unreadable("the compose file must be an object with services in it".to_owned())),
    }
}
