//! What a Workspace may refer to, from files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::{Options, data, metadata};
use crate::agent::config::AgentConfig;
use crate::agent::policy::HostPolicy;
use crate::api::TemplateRevisionSpec;
use crate::api::crds;
use crate::api::field_error::FieldError;
use crate::api::names;
use crate::cli::manifest::{self, Document};
use crate::controller::workspace::check;
use crate::controller::workspace::resolve::{Data, Sources};
use crate::schema::{self, Schema};

/// What was given.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Revisions, by their names.
    pub revisions: BTreeMap<String, TemplateRevisionSpec>,
    /// Names of revisions that were given and are wrong.
    pub wrong_revisions: BTreeSet<String>,
    /// Default revisions, by their Templates' names.
    pub defaults: BTreeMap<String, String>,
    /// Secrets and ConfigMaps, by their namespaces.
    pub sources: BTreeMap<String, Sources>,
    /// What the host allows, where it was given.
    pub policy: Option<HostPolicy>,
    /// The schemas of the kinds that are judged.
    schemas: BTreeMap<String, Schema>,
}

impl Inputs {
    /// Of nothing yet.
    pub fn new() -> Result<Self, crds::Error> {
        let data = data::schemas().map(|(kind, schema)| (kind, Schema::read(&schema)));
        let mut schemas = BTreeMap::from(data);
        for crd in crds::all()? {
            let kind = crd.spec.names.kind.clone();
            let version = crd.spec.versions.first().and_then(|version| version.schema.as_ref());
            let schema = version.and_then(|schema| schema.open_api_v3_schema.as_ref());
            let schema = schema.and_then(|schema| serde_json::to_value(schema).ok());
            let mut schema = schema.unwrap_or_default();
            for field in ["apiVersion", "kind"] {
                schema["properties"][field] = json!({ "type": "string" });
            }
            schema["properties"]["metadata"] = metadata::schema();
            schemas.insert(kind, Schema::read(&schema));
        }
        Ok(Self { schemas, ..Self::default() })
    }

    /// Takes what the flags give, which counts over manifests; says all that is wrong with it.
    pub fn take_flags(&mut self, options: &Options) -> Result<Vec<String>, manifest::Error> {
        let mut errors = Vec::new();
        for (kind, list) in [("Secret", &options.secret), ("ConfigMap", &options.config_map)] {
            for (name, file) in list {
                match given(kind, name, file, self)? {
                    Ok((namespace, data)) => {
                        let namespace = namespace.as_deref().unwrap_or(&options.namespace);
                        self.put(kind, namespace, name, data);
                    }
                    Err(wrong) => errors.extend(wrong),
                }
            }
        }
        if let Some(file) = &options.host_policy {
            match AgentConfig::parse(&manifest::read_text(file)?) {
                Ok(config) => self.policy = Some(config.policy),
                Err(error) => errors.push(format!("{}: {error}", file.display())),
            }
        }
        Ok(errors)
    }

    /// Takes what a manifest gives, `namespace` being that of manifests which name none; says all
    /// that is wrong with it.
    pub fn take(&mut self, document: &Document, namespace: &str) -> Vec<FieldError> {
        let errors = self.judge(document);
        let sound = errors.is_empty() && document.faults.is_empty();
        let name = document.name();
        let spec = &document.value["spec"];
        match document.kind() {
            ("kibotos.dev/v1alpha1", "TemplateRevision") if sound => {
                match TemplateRevisionSpec::deserialize(spec) {
                    Ok(revision) => {
                        let errors = check::revision(name, &revision);
                        if !errors.is_empty() {
                            self.wrong_revisions.insert(name.to_owned());
                            return errors;
                        }
                        self.revisions.insert(name.to_owned(), revision);
                    }
                    Err(error) => return vec![FieldError::new("spec", error.to_string())],
                }
            }
            ("kibotos.dev/v1alpha1", "TemplateRevision") => {
                let text = |field: &str| spec[field].as_str().unwrap_or_default();
                let by_spec = names::template_revision(text("templateName"), text("revision"));
                self.wrong_revisions.extend([name.to_owned(), by_spec]);
            }
            ("kibotos.dev/v1alpha1", "Template") => {
                if let Some(default) = spec["defaultRevision"].as_str() {
                    self.defaults.insert(name.to_owned(), default.to_owned());
                }
            }
            ("v1", kind @ ("Secret" | "ConfigMap")) if sound => match data::of_manifest(document) {
                Ok(data) => self.put(kind, document.namespace().unwrap_or(namespace), name, data),
                Err(errors) => return errors,
            },
            _ => {}
        }
        errors
    }

    fn put(&mut self, kind: &str, namespace: &str, name: &str, data: Data) {
        let sources = self.sources.entry(namespace.to_owned()).or_default();
        let of_kind =
            if kind == "Secret" { &mut sources.secrets } else { &mut sources.config_maps };
        of_kind.insert(name.to_owned(), data);
    }

    /// All that is wrong with a manifest by the schema of its kind, and with its metadata.
    fn judge(&self, document: &Document) -> Vec<FieldError> {
        let (("kibotos.dev/v1alpha1", kind) | ("v1", kind @ ("Secret" | "ConfigMap"))) =
            document.kind()
        else {
            return Vec::new();
        };
        let Some(schema) = self.schemas.get(kind) else {
            let message = format!("there is no kind {kind} in kibotos.dev/v1alpha1");
            return vec![FieldError::new("kind", message)];
        };
        let mut errors = metadata::judge(kind, &document.value);
        errors.extend(schema::validate(schema, &document.value, ""));
        errors
    }
}

/// The data that a flag `NAME=FILE` gives, and the namespace if its manifest names one; or all that
/// is wrong.
type Given = Result<(Option<String>, Data), Vec<String>>;

fn given(kind: &str, name: &str, file: &Path, inputs: &Inputs) -> Result<Given, manifest::Error> {
    let shown = file.display().to_string();
    let text = manifest::read_text(file)?;
    let documents = manifest::parse(&shown, text.clone());
    let is_manifest = |document: &Document| {
        let (version, kind) = document.kind();
        !version.is_empty() && !kind.is_empty()
    };
    if !documents.iter().any(is_manifest) {
        let data = data::of_lines(&text).map(|data| (None, data));
        return Ok(data
            .map_err(|wrong| wrong.into_iter().map(|line| format!("{shown}: {line}")).collect()));
    }
    let [document] = documents.as_slice() else {
        let count = documents.len();
        return Ok(Err(vec![format!(
            "{shown}: has {count} manifests: give one {kind}, or all of them with --filename"
        )]));
    };
    let wrong = |path: &str, message: String| document.told(&FieldError::new(path, message));
    let mut errors: Vec<_> = document.faults.iter().map(|f| document.told_fault(f)).collect();
    if document.kind() != ("v1", kind) {
        errors.push(wrong("kind", format!("is no {kind} of v1: give one, or lines KEY=VALUE")));
        return Ok(Err(errors));
    }
    if !document.name().is_empty() && document.name() != name {
        let message = format!("is not {name}, the name that it is given for: write one of the two");
        errors.push(wrong("metadata.name", message));
    }
    errors.extend(inputs.judge(document).iter().map(|error| document.told(error)));
    let data = data::of_manifest(document);
    Ok(match data {
        Ok(data) if errors.is_empty() => Ok((document.namespace().map(str::to_owned), data)),
        Ok(_) => Err(errors),
        Err(more) => {
            errors.extend(more.iter().map(|error| document.told(error)));
            Err(errors)
        }
    })
}
