//! `kibotos render`: what a host's engine would be sent for a Workspace, offline.
//!
//! What only a cluster or a host knows is printed as `<workspace-uid>`, `<secret NAME/KEY>` and the
//! like. Either everything is printed or, where anything is wrong, all that is: a pipe never gets a
//! part.

mod inputs;
mod workspace;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::manifest::{self, Document};
use crate::api::field_error::FieldError;
use crate::docker::{ApiVersion, CreateBody, EndpointSettings};
use crate::yaml;
use inputs::Inputs;

/// What `kibotos render` takes.
#[derive(Debug, Args)]
pub struct Options {
    /// File with manifests, `-` for standard input; may be given more than once. Workspaces in it
    /// are rendered; TemplateRevisions, Templates, Secrets and ConfigMaps in it are used.
    #[arg(
        short,
        long = "filename",
        value_name = "FILE",
        required = true,
        env = "KIBOTOS_RENDER_FILENAME"
    )]
    filename: Vec<PathBuf>,
    /// Namespace of manifests that name none.
    #[arg(short, long, default_value = "default", env = "KIBOTOS_NAMESPACE")]
    namespace: String,
    /// API version of the engine, e.g. 1.41 for Docker 20.10.
    #[arg(long, default_value_t = ApiVersion::NEWEST, value_parser = spoken, env = "KIBOTOS_ENGINE_API")]
    engine_api: ApiVersion,
    /// File with a TemplateRevision; may be given more than once.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_TEMPLATE_REVISION")]
    template_revision: Vec<PathBuf>,
    /// Data of a Secret: a manifest, or lines KEY=VALUE; may be given more than once.
    #[arg(long, value_name = "NAME=FILE", value_parser = name_and_file, env = "KIBOTOS_SECRET")]
    secret: Vec<(String, PathBuf)>,
    /// Data of a ConfigMap: a manifest, or lines KEY=VALUE; may be given more than once.
    #[arg(long, value_name = "NAME=FILE", value_parser = name_and_file, env = "KIBOTOS_CONFIG_MAP")]
    config_map: Vec<(String, PathBuf)>,
    /// Host policy to judge by, an agent.yaml; an empty file is the closed default. Without it none
    /// is applied: the host's own decides later.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_HOST_POLICY")]
    host_policy: Option<PathBuf>,
    /// The agent's root on the host.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/kibotos", env = "KIBOTOS_ROOT")]
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
    let mut wrong = 0;
    let inputs = Inputs::gather(options, &documents)?;
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut stderr = io::stderr().lock();
    for document in &documents {
        if let Some(error) = unknown(document) {
            wrong += 1;
            writeln!(stderr, "{}", located(document, &error))?;
            continue;
        }
        match document.kind() {
            ("kibotos.dev/v1alpha1", "Workspace") => seen += 1,
            ("kibotos.dev/v1alpha1", _) => {}
            _ => continue,
        }
        match workspace::render(document, options, &inputs) {
            Ok(rendered) => found.extend(rendered),
            Err(mut errors) => {
                wrong += 1;
                errors.sort_by_key(|error| document.line(&error.path));
                for error in errors {
                    writeln!(stderr, "{}", located(document, &error))?;
                }
            }
        }
    }
    if seen == 0 {
        let files: Vec<_> = options.filename.iter().map(|f| f.display().to_string()).collect();
        return Err(NoWorkspace(files.join(", ")).into());
    }
    if wrong > 0 {
        return Err(Wrong(wrong).into());
    }
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    for rendered in &found {
        print(&mut stdout, rendered, options.output)?;
    }
    Ok(stdout.flush()?)
}

fn print(out: &mut impl Write, rendered: &Rendered, output: Output) -> Result<(), Box<dyn Error>> {
    match output {
        Output::Json => writeln!(out, "{}", serde_json::to_string_pretty(rendered)?)?,
        Output::Yaml => {
            let text = yaml::to_string(&serde_json::to_value(rendered)?)?;
            writeln!(out, "---\n{}", text.trim_end())?;
        }
    }
    Ok(())
}

/// `ws.yaml:12: document 2, Workspace web: spec.container.name: …`
fn located(document: &Document, error: &FieldError) -> String {
    let line = document.line(&error.path).map(|line| format!("{line}:")).unwrap_or_default();
    let Document { file, number, .. } = document;
    let (_, kind) = document.kind();
    format!("{file}:{line} document {number}, {kind} {}: {error}", document.name())
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
        ("v1", "List") => {
            Some(FieldError::new("kind", "is a list: give its items as documents of their own"))
        }
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

fn name_and_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), PathBuf::from(file)))
        }
        _ => Err("write NAME=FILE".to_owned()),
    }
}
