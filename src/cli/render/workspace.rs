//! One Workspace: judged by its schema, resolved with placeholders, translated.

use std::collections::BTreeMap;

use super::inputs::Inputs;
use super::{Connect, Options, Rendered};
use crate::agent::container::{self, Create, Intent};
use crate::agent::policy::{self, Context};
use crate::api::container::{Container, EnvVarSource};
use crate::api::field_error::FieldError;
use crate::api::names;
use crate::api::reference::{KeyRef, VolumeRef, WorkspaceRef};
use crate::api::workspace::VolumeMode;
use crate::api::workspace_run::RunMount;
use crate::api::{TemplateRevisionSpec, Workspace, WorkspaceSpec};
use crate::cli::manifest::Document;
use crate::controller::workspace::check;
use crate::controller::workspace::merge;
use crate::controller::workspace::resolve::{self, Data, Input, Missing, Sources};

const WORKSPACE_UID: &str = "<workspace-uid>";
const VOLUME_UID: &str = "<volume-uid>";
const HOST_UID: &str = "<host-uid>";
const SPEC_HASH: &str = "<spec-hash>";

/// What an engine would be sent; nothing for a manifest of another kind, which is only judged.
pub fn render(
    document: &Document,
    options: &Options,
    inputs: &Inputs,
) -> Result<Option<Rendered>, Vec<FieldError>> {
    let errors = inputs.judge(document);
    if !errors.is_empty() {
        return Err(errors);
    }
    if document.kind().1 != "Workspace" {
        return Ok(None);
    }
    let workspace: Workspace = serde_json::from_value(document.value.clone())
        .map_err(|error| vec![FieldError::new("", error.to_string())])?;
    let Some(name) = workspace.metadata.name.clone() else {
        return Err(vec![FieldError::new("metadata.name", "Required value")]);
    };
    let spec = &workspace.spec;
    let wrong = check::workspace(&name, spec);
    let namespace = workspace.metadata.namespace.as_deref().unwrap_or(&options.namespace);
    let workspace =
        WorkspaceRef { namespace: namespace.to_owned(), name, uid: WORKSPACE_UID.to_owned() };
    let rendered = template(spec, inputs)
        .and_then(|template| translate(&workspace, spec, template, options, inputs));
    check::together(wrong, rendered).map(Some)
}

fn translate(
    workspace: &WorkspaceRef,
    spec: &WorkspaceSpec,
    template: Option<&TemplateRevisionSpec>,
    options: &Options,
    inputs: &Inputs,
) -> Result<Rendered, Vec<FieldError>> {
    let volume = volume(spec);
    let whole = match (template, spec.container.as_ref()) {
        (Some(revision), own) => {
            merge::container(&revision.container, &own.cloned().unwrap_or_default())
        }
        (None, own) => own.cloned().unwrap_or_default(),
    };
    let unknown = Placeholders::of(&whole, spec, &inputs.sources);
    let input = Input {
        workspace,
        spec,
        template,
        volume: volume.as_ref(),
        sources: &unknown.sources,
        secret_name: "<run-secret>",
        sequence: 1,
        generation: 1,
    };
    let mut resolved = resolve::resolve(&input).map_err(|missing| told(&missing))?;
    if volume.is_some() || !resolved.secret.is_empty() {
        // Uids and versions that only the cluster knows enter the hash.
        SPEC_HASH.clone_into(&mut resolved.run.spec_hash);
    }
    let secret = text(&resolved.secret)?;
    let intent = Intent {
        run: &resolved.run,
        secret: &secret,
        host_uid: HOST_UID,
        root: &options.root,
        engine: options.engine_api,
    };
    let mut create = container::create_body(&intent)?;
    if let Some(policy) = &inputs.policy {
        let context = Context { run: &resolved.run, root: &options.root, sockets: &[] };
        let refused = policy::check(&create, &context, &policy.governing(&workspace.namespace));
        if !refused.is_empty() {
            return Err(refused);
        }
    }
    name_uid(&mut create, &resolved.run.container);
    create.body.env.extend(unknown.whole);
    let connect = create.connect.into_iter();
    Ok(Rendered {
        name: create.name,
        platform: create.platform,
        body: create.body,
        connect: connect.map(|(network, endpoint)| Connect { network, endpoint }).collect(),
    })
}

/// Writes `<uid8>` for the part of the uid that the Workspace's directory bears.
fn name_uid(create: &mut Create, container: &Container) {
    let binds = create.body.host_config.binds.as_mut();
    // The config file's bind is the first, and in the agent's own directory if none is named.
    if let (Some(first), None) = (binds.and_then(|b| b.first_mut()), &container.directory) {
        *first = first.replacen(names::short_uid(WORKSPACE_UID), "<uid8>", 1);
    }
}

/// The revision that a Workspace names, or its Template's default.
fn template<'a>(
    spec: &WorkspaceSpec,
    inputs: &'a Inputs,
) -> Result<Option<&'a TemplateRevisionSpec>, Vec<FieldError>> {
    let image = spec.container.as_ref().and_then(|container| container.image.as_ref());
    let told = |path: &str, message: String| Err(vec![FieldError::new(path, message)]);
    let Some(template) = &spec.template else {
        if image.is_none() {
            return told("spec", "set exactly one of template and container.image".to_owned());
        }
        return Ok(None);
    };
    if image.is_some() {
        return told("spec", "set exactly one of template and container.image".to_owned());
    }
    let Some(revision) = template.revision.as_ref().or_else(|| inputs.defaults.get(&template.name))
    else {
        let message = format!(
            "the default revision of Template {} is not known here: give the Template among the \
             manifests, or name a revision",
            template.name
        );
        return told("spec.template", message);
    };
    let name = names::template_revision(&template.name, revision);
    match inputs.revisions.get(&name) {
        Some(found) => Ok(Some(found)),
        None => told(
            "spec.template",
            format!("TemplateRevision {name} is not known here: give it with --template-revision"),
        ),
    }
}

fn volume(spec: &WorkspaceSpec) -> Option<RunMount> {
    let name = spec.volume.name.clone().unwrap_or_else(|| "<volume>".to_owned());
    (spec.volume.mode != VolumeMode::None).then(|| RunMount {
        volume: VolumeRef { name, uid: VOLUME_UID.to_owned() },
        driver: names::LOCAL_POOL.to_owned(),
        driver_options: None,
        path: spec.volume.mount_path.clone(),
    })
}

/// Stand-ins for Secrets and ConfigMaps that were not given.
struct Placeholders {
    sources: Sources,
    /// Entries of the environment for whole objects, whose keys are not known.
    whole: Vec<String>,
}

impl Placeholders {
    fn of(container: &Container, spec: &WorkspaceSpec, given: &Sources) -> Self {
        let mut found = Self { sources: given.clone(), whole: Vec::new() };
        for from in container.env_from.iter().flatten() {
            let prefix = from.prefix.as_deref().unwrap_or_default();
            if let Some(secret) = &from.secret_ref {
                found.all(given, true, prefix, &secret.name);
            }
            if let Some(map) = &from.config_map_ref {
                found.all(given, false, prefix, &map.name);
            }
        }
        for source in container.env.iter().flatten().filter_map(|v| v.value_from.as_ref()) {
            let EnvVarSource { secret_key_ref, config_map_key_ref } = source;
            found.key(given, true, secret_key_ref.as_ref());
            found.key(given, false, config_map_key_ref.as_ref());
        }
        if let Some(file) = &spec.config_file {
            found.key(given, true, file.secret_key_ref.as_ref());
            found.key(given, false, file.config_map_key_ref.as_ref());
        }
        found
    }

    fn object(&mut self, given: &Sources, secret: bool, name: &str) -> Option<&mut Data> {
        let (known, stand_ins) = if secret {
            (&given.secrets, &mut self.sources.secrets)
        } else {
            (&given.config_maps, &mut self.sources.config_maps)
        };
        (!known.contains_key(name)).then(|| stand_ins.entry(name.to_owned()).or_default())
    }

    fn key(&mut self, given: &Sources, secret: bool, key: Option<&KeyRef>) {
        let Some(KeyRef { name, key, .. }) = key else { return };
        let value = format!("<{} {name}/{key}>", kind(secret));
        if let Some(object) = self.object(given, secret, name) {
            object.data.insert(key.clone(), value.into_bytes());
        }
    }

    fn all(&mut self, given: &Sources, secret: bool, prefix: &str, name: &str) {
        if self.object(given, secret, name).is_some() {
            self.whole.push(format!("{prefix}<{} {name}/*>", kind(secret)));
        }
    }
}

fn kind(secret: bool) -> &'static str {
    if secret { "secret" } else { "config-map" }
}

fn told(missing: &[Missing]) -> Vec<FieldError> {
    let one = |Missing { kind, name, key, path }: &Missing| {
        let message = match key {
            Some(key) => format!("{kind} {name} has no key {key}"),
            None => format!("{kind} {name} is not there"),
        };
        FieldError::new(path.clone(), message)
    };
    missing.iter().map(one).collect()
}

/// The run's Secret as the text that an environment needs.
fn text(secret: &BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, String>, Vec<FieldError>> {
    let (mut text, mut errors) = (BTreeMap::new(), Vec::new());
    for (name, value) in secret {
        match String::from_utf8(value.clone()) {
            Ok(value) => {
                text.insert(name.clone(), value);
            }
            Err(_) => errors.push(FieldError::new(
                "spec.container.env",
                format!("the value of {name} is not UTF-8 text, which an environment needs"),
            )),
        }
    }
    if errors.is_empty() { Ok(text) } else { Err(errors) }
}
