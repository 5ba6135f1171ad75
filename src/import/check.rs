//! The net under the translation: what an engine's host would refuse is no manifest.

use std::collections::BTreeMap;

use crate::agent::container::{Intent, create_body};
use crate::api::Workspace;
use crate::api::field_error::FieldError;
use crate::api::reference::WorkspaceRef;
use crate::controller::workspace::resolve::{Input, Sources, resolve};
use crate::docker::ApiVersion;

/// What is wrong with a Workspace that was made here; nothing, if all goes as it should.
pub fn refused(workspace: &Workspace) -> Vec<FieldError> {
    let name = workspace.metadata.name.clone().unwrap_or_default();
    let namespace = workspace.metadata.namespace.clone().unwrap_or_else(|| "default".to_owned());
    let reference = WorkspaceRef { namespace, name, uid: String::new() };
    let input = Input {
        workspace: &reference,
        spec: &workspace.spec,
        template: None,
        volume: None,
        sources: &Sources::default(),
        secret_name: "",
        sequence: 1,
        generation: 1,
    };
    let resolved = match resolve(&input) {
        Ok(resolved) => resolved,
        Err(missing) => {
            let of = |m: crate::controller::workspace::resolve::Missing| {
                FieldError::new(m.path, format!("{} {} is not given", m.kind, m.name))
            };
            return missing.into_iter().map(of).collect();
        }
    };
    let intent = Intent {
        run: &resolved.run,
        secret: &BTreeMap::new(),
        host_uid: "",
        root: "/",
        engine: ApiVersion::NEWEST,
    };
    create_body(&intent).err().unwrap_or_default()
}
