//! `environment` and `env_file`.

use serde_json::Value;

use super::project::Project;
use super::service::Draft;
use super::value::{Node, scalar};
use crate::import::notes::Notes;
use crate::import::{Variables, env_file};

/// `environment` over `env_file`, each variable once.
pub fn read(node: &mut Node<'_>, draft: &mut Draft, project: &Project<'_>, notes: &mut Notes) {
    let files = node.list("env_file");
    let own = node.pairs("environment", notes);
    // What the files may refer to: the project's variables count before the service's own.
    let mut known: Variables =
        own.iter().filter_map(|(_, name, value)| Some((name.clone(), value.clone()?))).collect();
    known.extend(project.variables.clone());
    let mut before = Variables::new();
    let mut list: Vec<(String, String, Option<String>)> = Vec::new();
    let mut put = |at: String, name: String, value: Option<String>| {
        list.retain(|(_, before, _)| *before != name);
        list.push((at, name, value));
    };
    for (at, item) in files {
        for (name, value) in file(&at, &item, &known, &before, project, notes) {
            if let Some(value) = &value {
                before.insert(name.clone(), value.clone());
            }
            put(at.clone(), name, value);
        }
    }
    for (at, name, value) in own {
        put(at, name, value);
    }
    let mut env: Vec<Value> = Vec::new();
    for (at, name, value) in list {
        let Some(value) = value.or_else(|| project.variables.get(&name).cloned()) else {
            let message = "has no value, which compose takes from the shell: left out, give --env-file with it";
            notes.warn_at(at, format!("{name} {message}"));
            continue;
        };
        draft.origin(&format!("Env[{}]", env.len()), &at);
        env.push(format!("{name}={value}").into());
    }
    if !env.is_empty() {
        draft.config("Env", &node.at("environment"), env);
    }
}

/// The variables of one file, named by its path or by an object with its path.
fn file(
    at: &str,
    item: &Value,
    known: &Variables,
    before: &Variables,
    project: &Project<'_>,
    notes: &mut Notes,
) -> Vec<env_file::Variable> {
    let (path, required, format) = if item.is_object() {
        let mut long = Node::new(at.to_owned(), item);
        let path = long.text("path", notes);
        let required = long.flag("required", notes) != Some(false);
        let format = long.text("format", notes).unwrap_or_default();
        long.finish(notes);
        (path, required, format)
    } else {
        (scalar(at, item, notes), true, String::new())
    };
    let Some(path) = path else {
        notes.error_at(at, "must be a path, or an object with a path");
        return Vec::new();
    };
    let text = match (project.read)(&project.absolute(&path)) {
        Ok(text) => text,
        Err(error) if !required => {
            notes.warn_at(at, format!("{path} cannot be read: {error}: left out"));
            return Vec::new();
        }
        Err(error) => {
            notes.error_at(at, format!("{path} cannot be read: {error}"));
            return Vec::new();
        }
    };
    let read = match format.as_str() {
        "" | ".env" => env_file::parse(&text, known, before),
        "raw" => env_file::raw(&text)
            .map(|variables| env_file::EnvFile { variables, ..env_file::EnvFile::default() }),
        other => Err(format!("{other:?} is no format of an env_file: leave it out, or write raw")),
    };
    match read {
        Ok(file) => {
            for (line, name) in file.unset {
                let message = format!(
                    "{path}: line {line}: {name} is not set, so it is empty: give --env-file with it"
                );
                notes.warn_at(at, message);
            }
            file.variables
        }
        Err(error) => {
            notes.error_at(at, format!("{path}: {error}"));
            Vec::new()
        }
    }
}
