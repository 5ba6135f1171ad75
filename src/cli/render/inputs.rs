//! What a Workspace may refer to, from files.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::Options;
use crate::agent::config::{AgentConfig, ConfigError};
use crate::agent::policy::HostPolicy;
use crate::api::TemplateRevisionSpec;
use crate::api::crds;
use crate::api::field_error::FieldError;
use crate::api::{TemplateRevision, names};
use crate::cli::manifest::{self, Document};
use crate::controller::workspace::check;
use crate::controller::workspace::resolve::{Data, Sources};
use crate::schema;

/// What was given.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Revisions, by their names.
    pub revisions: BTreeMap<String, TemplateRevisionSpec>,
    /// Default revisions, by their Templates' names.
    pub defaults: BTreeMap<String, String>,
    /// Secrets and ConfigMaps.
    pub sources: Sources,
    /// What the host allows, where it was given.
    pub policy: Option<HostPolicy>,
    /// The schemas of our kinds.
    pub schemas: BTreeMap<String, Value>,
}

/// Why an input could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error(transparent)]
    Manifest(#[from] manifest::Error),
    /// A definition could not be made.
    #[error(transparent)]
    Definition(#[from] crds::Error),
    /// It is not what was asked for.
    #[error("{file}: {message}")]
    Wrong {
        /// The file.
        file: String,
        /// What is wrong and what to give instead.
        message: String,
    },
}

impl Inputs {
    /// Everything from the flags and from the manifests themselves; flags count over manifests.
    pub fn gather(options: &Options, documents: &[Document]) -> Result<Self, Error> {
        let mut inputs = Self { schemas: schemas()?, ..Self::default() };
        for document in documents {
            inputs.take(document)?;
        }
        for file in &options.template_revision {
            for document in manifest::read(file)? {
                inputs.take(&document)?;
            }
        }
        for (name, file) in &options.secret {
            inputs.sources.secrets.insert(name.clone(), data(file, "Secret")?);
        }
        if let Some(file) = &options.host_policy {
            let config = AgentConfig::parse(&manifest::read_text(file)?);
            let told = |error: ConfigError| Error::Wrong {
                file: file.display().to_string(),
                message: error.to_string(),
            };
            inputs.policy = Some(config.map_err(told)?.policy);
        }
        for (name, file) in &options.config_map {
            inputs.sources.config_maps.insert(name.clone(), data(file, "ConfigMap")?);
        }
        Ok(inputs)
    }

    fn take(&mut self, document: &Document) -> Result<(), Error> {
        let name = document.name().to_owned();
        match document.kind() {
            ("kibotos.dev/v1alpha1", "TemplateRevision") => {
                let errors = self.judge(document);
                if !errors.is_empty() {
                    return Err(wrong(document, &join(&errors)));
                }
                let revision: TemplateRevision = serde_json::from_value(document.value.clone())
                    .map_err(|error| wrong(document, &error.to_string()))?;
                let errors = check::revision(&name, &revision.spec);
                if !errors.is_empty() {
                    return Err(wrong(document, &join(&errors)));
                }
                let TemplateRevisionSpec { template_name, revision: v, .. } = &revision.spec;
                self.revisions.insert(names::template_revision(template_name, v), revision.spec);
            }
            ("kibotos.dev/v1alpha1", "Template") => {
                if let Some(default) = document.value["spec"]["defaultRevision"].as_str() {
                    self.defaults.insert(name, default.to_owned());
                }
            }
            ("v1", "Secret") => {
                self.sources.secrets.insert(name, from_manifest(document)?);
            }
            ("v1", "ConfigMap") => {
                self.sources.config_maps.insert(name, from_manifest(document)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// All that is wrong with a manifest by the schema of its kind.
    pub fn judge(&self, document: &Document) -> Vec<FieldError> {
        let (_, kind) = document.kind();
        let Some(schema) = self.schemas.get(kind) else {
            return vec![FieldError::new(
                "kind",
                format!("there is no kind {kind} in kibotos.dev/v1alpha1"),
            )];
        };
        let mut manifest = document.value.clone();
        if let Some(object) = manifest.as_object_mut() {
            // Kubernetes' own to judge.
            for field in ["apiVersion", "kind", "metadata"] {
                object.remove(field);
            }
        }
        schema::validate(schema, &manifest, "")
    }
}

fn schemas() -> Result<BTreeMap<String, Value>, crds::Error> {
    let mut schemas = BTreeMap::new();
    for crd in crds::all()? {
        let kind = crd.spec.names.kind.clone();
        let version = crd.spec.versions.first().and_then(|version| version.schema.as_ref());
        let schema = version.and_then(|schema| schema.open_api_v3_schema.as_ref());
        let schema = schema.and_then(|schema| serde_json::to_value(schema).ok());
        schemas.insert(kind, schema.unwrap_or_default());
    }
    Ok(schemas)
}

/// A Secret's or ConfigMap's data from a file: its manifest, or lines `KEY=VALUE`.
fn data(file: &Path, kind: &str) -> Result<Data, Error> {
    let name = file.display().to_string();
    let text = manifest::read_text(file)?;
    if let Ok(documents) = manifest::parse(&name, &text)
        && let [document] = documents.as_slice()
        && !document.kind().0.is_empty()
        && !document.kind().1.is_empty()
    {
        if document.kind() != ("v1", kind) {
            return Err(wrong(
                document,
                &format!("is no {kind} of v1: give one, or lines KEY=VALUE"),
            ));
        }
        return from_manifest(document);
    }
    let mut data = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            // The line may hold a secret: it is not shown.
            let message = format!("line {} is not KEY=VALUE", i + 1);
            return Err(Error::Wrong { file: name, message });
        };
        data.insert(key.to_owned(), value.as_bytes().to_vec());
    }
    Ok(Data { data, ..Data::default() })
}

fn from_manifest(document: &Document) -> Result<Data, Error> {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    // What serde says would show the value.
    let unreadable = |_: serde_json::Error| {
        let message = "cannot be read: data must be base64 text by key, stringData and a \
                       ConfigMap's data plain text by key (numbers in quotes)";
        wrong(document, message)
    };
    let mut data = BTreeMap::new();
    if document.kind().1 == "Secret" {
        let secret: Secret = serde_json::from_value(document.value.clone()).map_err(unreadable)?;
        data.extend(secret.data.into_iter().flatten().map(|(key, value)| (key, value.0)));
        let text = secret.string_data.into_iter().flatten();
        data.extend(text.map(|(key, value)| (key, value.into_bytes())));
    } else {
        let map: ConfigMap = serde_json::from_value(document.value.clone()).map_err(unreadable)?;
        data.extend(map.binary_data.into_iter().flatten().map(|(key, value)| (key, value.0)));
        let text = map.data.into_iter().flatten();
        data.extend(text.map(|(key, value)| (key, value.into_bytes())));
    }
    Ok(Data { data, ..Data::default() })
}

fn wrong(document: &Document, message: &str) -> Error {
    let (_, kind) = document.kind();
    let message = format!("document {}, {kind} {}: {message}", document.number, document.name());
    Error::Wrong { file: document.file.clone(), message }
}

fn join(errors: &[FieldError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
