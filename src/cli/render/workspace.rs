//! One Workspace: judged by its schema, resolved with placeholders, translated.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::inputs::Inputs;
use super::placeholders::Placeholders;
use super::rest::Wrong;
use super::{Connect, Options, Rendered};
use crate::agent::container::{self, Create, Intent};
use crate::agent::policy::{self, Context};
use crate::api::container::Container;
use crate::api::field_error::FieldError;
use crate::api::names;
use crate::api::reference::{VolumeRef, WorkspaceRef};
use crate::api::workspace::VolumeMode;
use crate::api::workspace_run::RunMount;
use crate::api::{TemplateRevisionSpec, WorkspaceSpec};
use crate::cli::manifest::Document;
use crate::controller::workspace::check;
use crate::controller::workspace::merge;
use crate::controller::workspace::resolve::{self, Input, Missing};

const WORKSPACE_UID: &str = "<workspace-uid>";
const VOLUME_UID: &str = "<volume-uid>";
const HOST_UID: &str = "<host-uid>";
const SPEC_HASH: &str = "<spec-hash>";

/// What an engine would be sent for a Workspace; or all that is wrong with it, beside `known`, what
/// is wrong by its schema.
///
/// What is found wrong is left out and the rest tried again, as far as something new comes of it: so
/// an error of one stage does not hide those that the next would find in other fields.
pub fn render(
    document: &Document,
    known: &[FieldError],
    options: &Options,
    inputs: &Inputs,
) -> Result<Option<Rendered>, Vec<FieldError>> {
    // A Workspace without a sound name or spec is no ground to judge more on.
    let hopeless = |path: &str| matches!(path, "" | "spec" | "spec.container" | "kind");
    if known.iter().any(|error| hopeless(&error.path)) {
        return Ok(None);
    }
    let whole = &document.value["spec"];
    if known.is_empty() {
        match attempt(document, whole, options, inputs) {
            Err(errors) => return Err(others(errors, &[], document, options, inputs)),
            rendered => return rendered,
        }
    }
    match others(Vec::new(), known, document, options, inputs) {
        errors if errors.is_empty() => Ok(None),
        errors => Err(errors),
    }
}

/// The errors that were found, and those of the fields that neither they nor `known` are about.
fn others(
    mut found: Vec<FieldError>,
    known: &[FieldError],
    document: &Document,
    options: &Options,
    inputs: &Inputs,
) -> Vec<FieldError> {
    let mut wrong = Wrong::default();
    wrong.note(known);
    let mut more = wrong.note(&found) || !known.is_empty();
    while more {
        let spec = wrong.left_out_of(&document.value["spec"]);
        let Err(mut errors) = attempt(document, &spec, options, inputs) else { break };
        errors.retain(|error| !wrong.explains(error) && !found.contains(error));
        more = wrong.note(&errors);
        found.extend(errors);
    }
    found
}

/// The revision and what else of a Workspace is known when it is translated.
struct Ground<'a> {
    workspace: WorkspaceRef,
    spec: &'a WorkspaceSpec,
    template: Option<&'a TemplateRevisionSpec>,
}

fn attempt(
    document: &Document,
    spec: &Value,
    options: &Options,
    inputs: &Inputs,
) -> Result<Option<Rendered>, Vec<FieldError>> {
    let mut spec = WorkspaceSpec::deserialize(spec)
        .map_err(|error| vec![FieldError::new("spec", error.to_string())])?;
    let mut errors = check::workspace(document.name(), &spec);
    // Judged, and told, with the rest of the metadata.
    errors.retain(|error| !error.path.starts_with("metadata."));
    let template = match template(&spec, inputs) {
        Ok(Known::Revision(revision)) => revision,
        // Its own errors are told already.
        Ok(Known::Wrong) if errors.is_empty() => return Ok(None),
        Ok(Known::Wrong) => return Err(errors),
        Err(more) => {
            let told = |error: &FieldError| errors.iter().any(|known| known.path == error.path);
            let more: Vec<_> = more.into_iter().filter(|error| !told(error)).collect();
            errors.extend(more);
            None
        }
    };
    if !errors.is_empty() {
        // Only to see what else is wrong.
        let container = spec.container.get_or_insert_default();
        container.image.get_or_insert_with(|| "image".to_owned());
    }
    let namespace = document.namespace().unwrap_or(&options.namespace).to_owned();
    let name = document.name().to_owned();
    let workspace = WorkspaceRef { namespace, name, uid: WORKSPACE_UID.to_owned() };
    let ground = Ground { workspace, spec: &spec, template };
    check::together(errors, translate(&ground, options, inputs)).map(Some)
}

fn translate(
    ground: &Ground<'_>,
    options: &Options,
    inputs: &Inputs,
) -> Result<Rendered, Vec<FieldError>> {
    let Ground { workspace, spec, template } = ground;
    let volume = volume(spec);
    let own = spec.container.as_ref();
    let given = inputs.sources.get(&workspace.namespace);
    let unknown = match template {
        Some(revision) => {
            let own = own.cloned().unwrap_or_default();
            Placeholders::of(&merge::container(&revision.container, &own), spec, given)
        }
        None => match own {
            Some(own) => Placeholders::of(own, spec, given),
            None => Placeholders::of(&Container::default(), spec, given),
        },
    };
    let input = Input {
        workspace,
        spec,
        template: *template,
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
        root: options.root.as_str(),
        engine: options.engine_api,
    };
    let mut create = container::create_body(&intent)?;
    if let Some(policy) = &inputs.policy {
        let context = Context { run: &resolved.run, root: options.root.as_str(), sockets: &[] };
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

/// What is known of a Workspace's revision.
enum Known<'a> {
    /// It, if the Workspace has one.
    Revision(Option<&'a TemplateRevisionSpec>),
    /// It was given, and is wrong.
    Wrong,
}

/// The revision that a Workspace names, or its Template's default.
fn template<'a>(spec: &WorkspaceSpec, inputs: &'a Inputs) -> Result<Known<'a>, Vec<FieldError>> {
    let image = spec.container.as_ref().and_then(|container| container.image.as_ref());
    let told = |path: &str, message: String| Err(vec![FieldError::new(path, message)]);
    let Some(template) = &spec.template else {
        if image.is_none() {
            return told("spec", "set exactly one of template and container.image".to_owned());
        }
        return Ok(Known::Revision(None));
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
        Some(found) => Ok(Known::Revision(Some(found))),
        None if inputs.wrong_revisions.contains(&name) => Ok(Known::Wrong),
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
