//! The CustomResourceDefinitions, made from the types.
//!
//! `kube` makes the schemas; [`definition`] then brings them to the form an API server and its
//! users expect:
//! - nothing is `nullable`: Kubernetes drops a null and CEL's `has()` stays true to its word,
//! - only formats that Kubernetes knows, and of its `date-time` only what every client can read:
//!   one time that a client cannot read takes the whole list from it,
//! - a description is one line a paragraph, as `kubectl explain` wants it,
//! - no `default: []`: it would be written into every object for nothing,
//! - the default of a status, `{observedGeneration: -1}`, without which a fresh object passes for
//!   one that was already looked at.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResourceExt, Resource};
use serde_json::{Value, json};

use super::grammar::Moment;
use super::{
    Host, StoragePool, Template, TemplateRevision, Volume, VolumeTask, Workspace, WorkspaceRecord,
    WorkspaceRun,
};

/// The formats of integers and strings that Kubernetes knows and our types use.
const FORMATS: &[&str] = &["int32", "int64", "date-time"];

/// Why a definition could not be made; a fault of this program, not of its user.
#[derive(Debug, thiserror::Error)]
#[error("make the definition of {kind}")]
pub struct Error {
    kind: String,
    source: serde_json::Error,
}

/// The definitions of all kinds, in the order in which a reader wants them.
pub fn all() -> Result<Vec<CustomResourceDefinition>, Error> {
    Ok(vec![
        definition::<Workspace>()?,
        definition::<Volume>()?,
        definition::<Template>()?,
        definition::<TemplateRevision>()?,
        definition::<Host>()?,
        definition::<StoragePool>()?,
        definition::<WorkspaceRun>()?,
        definition::<VolumeTask>()?,
        definition::<WorkspaceRecord>()?,
    ])
}

/// The definition of one kind.
pub fn definition<K>() -> Result<CustomResourceDefinition, Error>
where
    K: CustomResourceExt + Resource<DynamicType = ()>,
{
    let failed = |source| Error { kind: K::kind(&()).into_owned(), source };
    let mut crd = serde_json::to_value(K::crd()).map_err(failed)?;
    if let Some(versions) = crd.pointer_mut("/spec/versions").and_then(Value::as_array_mut) {
        for schema in versions.iter_mut().filter_map(|v| v.pointer_mut("/schema/openAPIV3Schema")) {
            tidy(schema);
            if let Some(status) = schema.pointer_mut("/properties/status") {
                status["default"] = json!({ "observedGeneration": -1 });
            }
        }
    }
    serde_json::from_value(crd).map_err(failed)
}

/// Brings one node of a schema, and all below it, to Kubernetes' form.
fn tidy(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    node.remove("nullable");
    node.remove("title");
    if let Some(Value::String(text)) = node.get_mut("description") {
        *text = unwrapped(text);
    }
    if node.get("default") == Some(&json!([])) {
        node.remove("default");
    }
    if node.get("format").and_then(Value::as_str).is_some_and(|f| !FORMATS.contains(&f)) {
        node.remove("format");
    }
    if node.get("format") == Some(&json!("date-time")) && !node.contains_key("pattern") {
        node.insert("pattern".to_owned(), json!(Moment::PATTERN));
        let rule = json!([{ "rule": Moment::RULE, "message": Moment::MESSAGE }]);
        node.insert("x-kubernetes-validations".to_owned(), rule);
    }
    for part in ["items", "additionalProperties"] {
        if let Some(below) = node.get_mut(part) {
            tidy(below);
        }
    }
    if let Some(properties) = node.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(tidy);
    }
}

/// Joins the lines of each paragraph: a doc comment is broken where the source line ends.
fn unwrapped(text: &str) -> String {
    let paragraphs: Vec<_> = text.split("\n\n").map(|p| p.replace('\n', " ")).collect();
    paragraphs.join("\n\n")
}
