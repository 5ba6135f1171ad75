//! `kibotos render`: what a host's engine would be sent for a Workspace, offline.
//!
//! What only a cluster or a host knows is printed as `<workspace-uid>`, `<secret NAME/KEY>` and the
//! like. Either everything is printed or, where anything is wrong, all that is: a pipe never gets a
//! part.

mod clashes;
mod data;
mod inputs;
mod metadata;
mod placeholders;
mod rest;
mod workspace;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::manifest::{self, Document};
use crate::api::field_error::FieldError;
use crate::api::grammar::{AbsolutePath, DnsLabel, Invalid, ObjectName};
use crate::docker::{ApiVersion, CreateBody, EndpointSettings};
use crate::yaml;
use clashes::{Clash, Named};
use inputs::Inputs;

/// What `kibotos render` takes.
#[derive(Debug, Args)]
pub struct Options {
    /// File with manifests, `-` for standard input; may be given more than once. Workspaces in it
    /// are rendered; TemplateRevisions, Templates, Secrets and ConfigMaps in it are used. Two
    /// Workspaces with containers of one name are an error where both are placed on one host by
    /// placement.hostName, and a warning where they may come to one.
    #[arg(
        short,
        long = "filename",
        value_name = "FILE",
        required = true,
        env = "KIBOTOS_RENDER_FILENAME"
    )]
    filename: Vec<PathBuf>,
    /// Namespace of manifests that name none.
    #[arg(short, long, default_value = "default", value_parser = parsed::<DnsLabel>, env = "KIBOTOS_NAMESPACE")]
    namespace: String,
    /// API version of the engine, e.g. 1.41 for Docker 20.10.
    #[arg(long, default_value_t = ApiVersion::NEWEST, value_parser = spoken, env = "KIBOTOS_ENGINE_API")]
    engine_api: ApiVersion,
    /// File with a TemplateRevision; may be given more than once.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_TEMPLATE_REVISION")]
    template_revision: Vec<PathBuf>,
    /// Data of a Secret: its manifest, or lines KEY=VALUE with values as they stand, quotes and all.
    /// Its namespace is that of the manifest, else --namespace. May be given more than once.
    #[arg(long, value_name = "NAME=FILE", value_parser = name_and_file, env = "KIBOTOS_SECRET")]
    secret: Vec<(String, PathBuf)>,
    /// Data of a ConfigMap: its manifest, or lines KEY=VALUE with values as they stand, quotes and all.
    /// Its namespace is that of the manifest, else --namespace. May be given more than once.
    #[arg(long, value_name = "NAME=FILE", value_parser = name_and_file, env = "KIBOTOS_CONFIG_MAP")]
    config_map: Vec<(String, PathBuf)>,
    /// Host policy to judge by, an agent.yaml; an empty file is the closed default. Without it none
    /// is applied: the host's own decides later.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_HOST_POLICY")]
    host_policy: Option<PathBuf>,
    /// The agent's root on the host.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/kibotos", value_parser = parsed::<AbsolutePath>, env = "KIBOTOS_ROOT")]
    root: String,
    /// The form of what is printed.
    #[arg(short, long, value_enum, default_value_t, env = "KIBOTOS_OUTPUT")]
    output: Output,
}

/// The form of what is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// One JSON object a Workspace.
    #[default]
    Json,
    /// One YAML document a Workspace.
    Yaml,
}

/// What an engine would be sent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rendered {
    /// Name of the container, in the query of the create call.
    name: String,
    /// Platform, in the query of the create call.
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
    /// Body of the create call.
    body: CreateBody,
    /// Networks to connect before the start, for an engine that takes one at creation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    connect: Vec<Connect>,
}

/// A network to connect.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Connect {
    network: String,
    endpoint: EndpointSettings,
}

/// Some manifest was wrong; its errors were printed.
#[derive(Debug, thiserror::Error)]
#[error("{0} of the manifests cannot be rendered")]
struct Wrong(usize);

/// Some file of a flag was wrong; its errors were printed.
#[derive(Debug, thiserror::Error)]
#[error("what is given beside the manifests cannot be used")]
struct WrongFlags;

/// Nothing to do.
#[derive(Debug, thiserror::Error)]
#[error("there is no Workspace in {0}")]
struct NoWorkspace(String);

/// Renders every Workspace of the files.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut documents = Vec::new();
    for file in &options.filename {
        documents.extend(manifest::read(file)?);
    }
    let rendered = documents.len();
    for file in &options.template_revision {
        documents.extend(manifest::read(file)?);
    }
    let mut inputs = Inputs::new()?;
    let mut errors: Vec<_> = documents.iter().map(|d| judge(d, options, &mut inputs)).collect();
    let wrong_flags = inputs.take_flags(options)?;
    let workspaces = documents.iter().zip(&mut errors).enumerate().take(rendered);
    let workspaces = workspaces.filter(|(_, (d, _))| is_workspace(d));
    let (mut seen, mut found) = (0, Vec::new());
    for (i, (document, errors)) in workspaces {
        seen += 1;
        match workspace::render(document, errors, options, &inputs) {
            Ok(rendered) => found.extend(rendered.map(|rendered| (i, rendered))),
            Err(more) => errors.extend(more),
        }
    }
    let warnings = clashes(&documents, &found, options, &mut errors);
    tell(&documents, errors, &warnings, &wrong_flags)?;
    if seen == 0 {
        let files: Vec<_> = options.filename.iter().map(|f| f.display().to_string()).collect();
        return Err(NoWorkspace(files.join(", ")).into());
    }
    let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    for (_, rendered) in &found {
        print(&mut stdout, rendered, options.output)?;
    }
    Ok(stdout.flush()?)
}

fn is_workspace(document: &Document) -> bool {
    document.kind() == ("kibotos.dev/v1alpha1", "Workspace")
}

/// What is wrong with a manifest by itself; what it gives to others is taken.
fn judge(document: &Document, options: &Options, inputs: &mut Inputs) -> Vec<FieldError> {
    if document.value.is_null() {
        // It is no YAML, and says so already.
        return Vec::new();
    }
    match unknown(document) {
        Some(error) => vec![error],
        None => inputs.take(document, &options.namespace),
    }
}

/// Adds what is wrong with Workspaces beside each other; gives what may be.
fn clashes(
    documents: &[Document],
    found: &[(usize, Rendered)],
    options: &Options,
    errors: &mut [Vec<FieldError>],
) -> Vec<(usize, FieldError)> {
    let named: Vec<_> = found
        .iter()
        .filter_map(|(i, rendered)| {
            let document = documents.get(*i)?;
            let namespace = document.namespace().unwrap_or(&options.namespace);
            Some((*i, Named { document, namespace, container: &rendered.name }))
        })
        .collect();
    let list: Vec<_> = named.iter().map(|(_, named)| *named).collect();
    let mut warnings = Vec::new();
    for (at, clash) in clashes::find(&list) {
        let Some((i, _)) = named.get(at) else { continue };
        match clash {
            Clash::Warning(warning) => warnings.push((*i, warning)),
            Clash::Error(error) => {
                if let Some(errors) = errors.get_mut(*i) {
                    errors.push(error);
                }
            }
        }
    }
    warnings
}

/// Tells all warnings and errors, in the order of the manifests; whether there is no error.
fn tell(
    documents: &[Document],
    errors: Vec<Vec<FieldError>>,
    warnings: &[(usize, FieldError)],
    wrong_flags: &[String],
) -> Result<(), Box<dyn Error>> {
    let mut out = io::stderr().lock();
    for (i, warning) in warnings {
        let told = documents.get(*i).map(|document| document.told(warning));
        writeln!(out, "warning: {}", told.unwrap_or_default())?;
    }
    let mut wrong = 0;
    for (document, mut errors) in documents.iter().zip(errors) {
        if errors.is_empty() && document.faults.is_empty() {
            continue;
        }
        wrong += 1;
        for fault in &document.faults {
            writeln!(out, "{}", document.told_fault(fault))?;
        }
        errors.sort_by_key(|error| document.line(&error.path));
        for error in errors {
            writeln!(out, "{}", document.told(&error))?;
        }
    }
    for error in wrong_flags {
        writeln!(out, "{error}")?;
    }
    match wrong {
        0 if wrong_flags.is_empty() => Ok(()),
        0 => Err(WrongFlags.into()),
        wrong => Err(Wrong(wrong).into()),
    }
}

fn print(out: &mut impl Write, rendered: &Rendered, output: Output) -> Result<(), Box<dyn Error>> {
    match output {
        Output::Json => {
            serde_json::to_writer_pretty(&mut *out, rendered).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Output::Yaml => {
            let text = yaml::to_string(&serde_json::to_value(rendered)?)?;
            writeln!(out, "---\n{}", text.trim_end())?;
        }
    }
    Ok(())
}

/// Why a document is no manifest, or one that looks like ours and is not: nothing is skipped in
/// silence but other kinds of Kubernetes.
fn unknown(document: &Document) -> Option<FieldError> {
    match document.kind() {
        _ if !document.value.is_object() => {
            Some(FieldError::new("", "is no manifest: write apiVersion, kind, metadata and spec"))
        }
        ("", _) => Some(FieldError::new("apiVersion", "Required value")),
        (_, "") => Some(FieldError::new("kind", "Required value")),
        // What is wrong with a list is told; its items are manifests of their own.
        ("v1", "List") => None,
        (version, _)
            if version.starts_with("kibotos.dev/") && version != "kibotos.dev/v1alpha1" =>
        {
            Some(FieldError::new("apiVersion", "is not known: write kibotos.dev/v1alpha1"))
        }
        _ => None,
    }
}

/// A version of the API that is spoken.
fn spoken(text: &str) -> Result<ApiVersion, String> {
    let (oldest, newest) = (ApiVersion::OLDEST, ApiVersion::NEWEST);
    let version: ApiVersion = text.parse()?;
    if (oldest..=newest).contains(&version) {
        return Ok(version);
    }
    Err(format!("{version} is not spoken: give one from {oldest} to {newest}"))
}

/// A text that has a grammar.
fn parsed<T: FromStr<Err = Invalid>>(text: &str) -> Result<String, Invalid> {
    text.parse::<T>().map(|_| text.to_owned())
}

fn name_and_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((parsed::<ObjectName>(name).map_err(|e| e.to_string())?, PathBuf::from(file)))
        }
        _ => Err("write NAME=FILE".to_owned()),
    }
}
