//! The services of a compose file, each as the create body that `docker compose` would send.
//!
//! Variables come from `--env-file` alone, never from the environment of the process, so that the
//! same files always give the same manifests.

mod environment;
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
use super::object::{is_zero, wanted};
use super::{Found, Request, Unreadable, Variables, env_file};
use project::Project;
use value::Node;

/// Members of a compose file that say nothing about a container.
const BESIDE: [&str; 2] = ["version", "name"];

/// The services.
pub fn read(request: &Request<'_>, notes: &mut Notes) -> Result<Vec<Found>, Unreadable> {
    let variables = variables(request.env_file.unwrap_or_default(), notes)?;
    if request.text.trim().is_empty() {
        return Err(Unreadable("the compose file is empty: services are expected".to_owned()));
    }
    let file = parse(request.text, &variables, notes)?;
    let services = match file.get("services") {
        Some(Value::Object(services)) if !services.is_empty() => services,
        None | Some(Value::Null | Value::Object(_)) => {
            return Err(Unreadable(
                "services: is missing or empty: the compose file holds no container; write each \
                 under services, by a name with an image"
                    .to_owned(),
            ));
        }
        Some(other) => {
            return Err(Unreadable(format!("services: {}", wanted("an object", other))));
        }
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

/// The variables of `--env-file`, the last of one name counting.
fn variables(text: &str, notes: &mut Notes) -> Result<Variables, Unreadable> {
    let none = Variables::new();
    let file = env_file::parse(text, &none, &none)
        .map_err(|error| Unreadable(format!("--env-file: {error}")))?;
    for (line, name) in file.unset {
        let message = format!("line {line}: {name} is not set above, so it is empty");
        notes.warn_at("--env-file", message);
    }
    let set = |(name, value): env_file::Variable| value.map(|value| (name, value));
    Ok(file.variables.into_iter().filter_map(set).collect())
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
