//! From what people run in Docker already to Workspace manifests. Pure: no I/O, no clock.
//!
//! ```text
//!  inspect ─┐                        ┌▶ Workspace ─▶ check: is it one that an API server and a
//!  compose ─┼▶ create body ─▶ body:: ┤                host would take?
//!  device  ─┤   (Docker's)           └▶ notes: what could not be carried over, by its path
//!  create  ─┘                                   in the source
//! ```
//!
//! Every source is first brought into the one form that Docker's create call has, so that there is
//! one translation and not four. `origin` remembers which field of the source each field of the
//! body came from. A member of the source that nobody took is a warning: nothing is dropped in
//! silence but what means nothing.

mod body;
mod check;
mod compose;
mod create;
mod device;
mod env_file;
mod inspect;
mod interpolate;
mod json;
pub mod manifest;
mod name;
mod notes;
mod object;
mod origin;
mod size;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::Workspace;
use crate::api::field_error::FieldError;

use name::Names;
use notes::Notes;
use origin::Origins;

/// What the source is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The JSON body of `POST /containers/create`.
    Create,
    /// The JSON that `docker inspect` prints.
    Inspect,
    /// A compose file.
    Compose,
    /// The original agent's deploy command.
    Device,
}

/// Reads the file at an absolute path, for a compose file's `env_file`.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// What to import.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// What `text` is written in.
    pub kind: Kind,
    /// The source.
    pub text: &'a str,
    /// The name to give; `None` takes the container's own.
    pub name: Option<&'a str>,
    /// The namespace to write into the manifests.
    pub namespace: Option<&'a str>,
    /// `docker image inspect` of the images, whose defaults `inspect` then leaves out.
    pub image_config: Option<&'a str>,
    /// The variables that a compose file may refer to, as `NAME=value` lines.
    pub env_file: Option<&'a str>,
    /// The absolute path of the directory that the source lies in, for a compose file's relative
    /// paths and for the name of its project.
    pub directory: &'a str,
    /// Reads the files that a compose file names.
    pub read: ReadFile<'a>,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The Workspaces, in the order of the source.
    pub workspaces: Vec<Workspace>,
    /// What could not be carried over, by its path in the source.
    pub warnings: Vec<FieldError>,
    /// Why a container of the source is not among [`workspaces`](Self::workspaces).
    pub errors: Vec<FieldError>,
}

/// Why nothing at all could be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

/// One container of a source, in Docker's words.
#[derive(Clone, Debug, Default)]
struct Found {
    /// What `metadata.name` is made from.
    label: String,
    /// The container's name on its engine.
    container: Option<String>,
    /// The create body.
    body: Value,
    /// Which field of the source each field of the body came from.
    origins: Origins,
    /// Members that the create body has no place for.
    beside: Beside,
}

/// What a Workspace says and a create body does not.
#[derive(Clone, Debug, Default)]
struct Beside {
    platform: Option<String>,
    directory: Option<String>,
    pull: Option<String>,
    config: Option<String>,
    /// Whether the container is there and does not run.
    stopped: bool,
}

/// Turns a source into Workspaces.
pub fn import(request: &Request<'_>) -> Result<Imported, Unreadable> {
    let mut notes = Notes::default();
    let found = match request.kind {
        Kind::Create => create::read(request)?,
        Kind::Inspect => inspect::read(request, &mut notes)?,
        Kind::Compose => compose::read(request, &mut notes)?,
        Kind::Device => device::read(request)?,
    };
    if request.name.is_some() && found.len() > 1 {
        return Err(Unreadable(format!(
            "--name goes with one container, and the source has {}: leave it out, each has a name",
            found.len()
        )));
    }
    let mut names = Names::default();
    let mut workspaces = Vec::new();
    for container in &found {
        let wrong = notes.errors();
        notes.enter(container.origins.clone());
        let whose = (request.kind == Kind::Inspect).then_some(container.label.as_str());
        let spec = body::translate(container, &mut notes);
        let name = names.give(request.name.unwrap_or(&container.label), &mut notes);
        if notes.errors() > wrong {
            // By its index alone a container is hard to find.
            notes.say_whose(wrong, whose);
            continue;
        }
        let Some(name) = name else { continue };
        let mut workspace = Workspace::new(&name, spec);
        workspace.metadata.namespace = request.namespace.map(str::to_owned);
        let refused = check::refused(&workspace);
        if refused.is_empty() {
            workspaces.push(workspace);
        } else {
            notes.refuse(&container.label, refused);
        }
    }
    let (warnings, errors) = notes.into_parts();
    Ok(Imported { workspaces, warnings, errors })
}

/// Variables by their names.
type Variables = BTreeMap<String, String>;
