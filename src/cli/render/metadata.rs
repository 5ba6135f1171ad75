//! `metadata`, judged as an API server would.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::api::field_error::FieldError;
use crate::api::grammar::{DnsLabel, HostName, Invalid, ObjectName};
use crate::api::names;

/// The longest name of a label or annotation behind its prefix, and the longest value of a label.
const LONGEST: usize = 63;
/// The most that all annotations together may take.
const ANNOTATIONS_MAX: usize = 256 << 10;

/// The types of all fields that an object's metadata has.
pub fn schema() -> Value {
    let text = || json!({ "type": "string" });
    let texts = json!({ "type": "object", "additionalProperties": text() });
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "type": "object",
        "properties": {
            "name": text(),
            "generateName": text(),
            "namespace": text(),
            "labels": texts,
            "annotations": texts,
            "finalizers": { "type": "array", "items": text() },
            "ownerReferences": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["apiVersion", "kind", "name", "uid"],
                    "properties": {
                        "apiVersion": text(),
                        "kind": text(),
                        "name": text(),
                        "uid": text(),
                        "controller": { "type": "boolean" },
                        "blockOwnerDeletion": { "type": "boolean" },
                    },
                },
            },
            // What a server writes, and `kubectl get -o yaml` prints.
            "uid": text(),
            "resourceVersion": text(),
            "generation": { "type": "integer" },
            "creationTimestamp": text(),
            "deletionTimestamp": text(),
            "deletionGracePeriodSeconds": { "type": "integer" },
            "selfLink": text(),
            "managedFields": { "type": "array", "items": open },
        },
    })
}

/// All that is wrong with the texts in a manifest's metadata; their types are the schema's.
pub fn judge(kind: &str, manifest: &Value) -> Vec<FieldError> {
    let mut found = Vec::new();
    let metadata = &manifest["metadata"];
    match metadata["name"].as_str() {
        Some(text) => name(kind, text, manifest, &mut found),
        None if metadata["name"].is_null() => {
            let message = if metadata["generateName"].is_string() {
                "Required value: write a name; what becomes of generateName only a server knows"
            } else {
                "Required value"
            };
            found.push(FieldError::new("metadata.name", message));
        }
        None => {}
    }
    if let Some(namespace) = metadata["namespace"].as_str() {
        parsed::<DnsLabel>("metadata.namespace", namespace, &mut found);
    }
    if let Some(labels) = metadata["labels"].as_object() {
        for (key, value) in labels {
            let path = format!("metadata.labels[{key}]");
            found.extend(wrong_key(key).map(|wrong| FieldError::new(&path, wrong)));
            found.extend(value.as_str().and_then(wrong_value).map(|w| FieldError::new(&path, w)));
        }
    }
    if let Some(annotations) = metadata["annotations"].as_object() {
        self::annotations(annotations, &mut found);
    }
    found
}

fn name(kind: &str, text: &str, manifest: &Value, found: &mut Vec<FieldError>) {
    let path = "metadata.name";
    match kind {
        "Workspace" | "Template" | "Volume" => parsed::<DnsLabel>(path, text, found),
        "Host" => parsed::<HostName>(path, text, found),
        "StoragePool" if text == names::LOCAL_POOL => {
            let message = "local is the pool that every host has: write another name";
            found.push(FieldError::new(path, message));
        }
        "TemplateRevision" => {
            let spec = |field: &str| manifest["spec"][field].as_str();
            let (template, revision) = (spec("templateName"), spec("revision"));
            match template.zip(revision).map(|(t, r)| names::template_revision(t, r)) {
                Some(right) if right != text => {
                    let message =
                        format!("must be spec.templateName, '-', and spec.revision: write {right}");
                    found.push(FieldError::new(path, message));
                }
                _ => parsed::<ObjectName>(path, text, found),
            }
        }
        _ => parsed::<ObjectName>(path, text, found),
    }
}

fn parsed<T: FromStr<Err = Invalid>>(path: &str, text: &str, found: &mut Vec<FieldError>) {
    if let Err(wrong) = text.parse::<T>() {
        found.push(FieldError::new(path, wrong.to_string()));
    }
}

fn annotations(annotations: &Map<String, Value>, found: &mut Vec<FieldError>) {
    let mut size = 0;
    for (key, value) in annotations {
        // Kubernetes asks less of the prefix here than in labels.
        let wrong = wrong_key(&key.to_lowercase());
        found.extend(wrong.map(|w| FieldError::new(format!("metadata.annotations[{key}]"), w)));
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS_MAX {
        let message =
            format!("Too long: all together may not be more than {ANNOTATIONS_MAX} bytes");
        found.push(FieldError::new("metadata.annotations", message));
    }
}

/// What is wrong with the key of a label, or nothing.
fn wrong_key(key: &str) -> Option<String> {
    let name = match key.split_once('/') {
        Some((prefix, name)) => {
            if let Err(wrong) = prefix.parse::<ObjectName>() {
                return Some(format!("the part before '/' must be a DNS name: {wrong}"));
            }
            name
        }
        None => key,
    };
    (name.is_empty() || !is_label_text(name)).then(|| {
        format!(
            "a key is a name such as zone or example.com/zone: at most {LONGEST} letters, digits, \
             '-', '_' and '.', with a letter or digit at both ends"
        )
    })
}

fn wrong_value(value: &str) -> Option<String> {
    (!is_label_text(value)).then(|| {
        format!(
            "the value of a label has at most {LONGEST} letters, digits, '-', '_' and '.', with a \
             letter or digit at both ends: other text goes in annotations"
        )
    })
}

fn is_label_text(text: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.len() <= LONGEST
        && text.chars().all(inner)
        && edge(text.chars().next())
        && edge(text.chars().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{self, Schema};

    fn wrong(kind: &str, metadata: Value) -> Vec<String> {
        let spec = json!({ "templateName": "base", "revision": "v1" });
        let found = judge(kind, &json!({ "metadata": metadata, "spec": spec }));
        found.into_iter().map(|error| error.path).collect()
    }

    #[test]
    fn what_an_api_server_takes_is_fine() {
        for (kind, metadata) in [
            ("Workspace", json!({ "name": "a".repeat(63), "namespace": "team-1" })),
            ("Secret", json!({ "name": "tls.example.com" })),
            ("TemplateRevision", json!({ "name": "base-v1" })),
            (
                "Workspace",
                json!({
                    "name": "a",
                    "labels": { "app": "", "example.com/Zone_1.a": "b-1" },
                    "annotations": { "Example.com/any": "any text\n", "kibotos.dev/abandon": "true" },
                }),
            ),
        ] {
            assert_eq!(wrong(kind, metadata.clone()), [""; 0], "{metadata}");
        }
    }

    #[test]
    fn what_an_api_server_refuses_is_refused_at_its_field() {
        for (kind, metadata, path) in [
            ("Workspace", json!({}), "metadata.name"),
            ("Workspace", json!({ "generateName": "a-" }), "metadata.name"),
            ("Workspace", json!({ "name": "" }), "metadata.name"),
            ("Workspace", json!({ "name": "Web" }), "metadata.name"),
            ("Workspace", json!({ "name": "a.b" }), "metadata.name"),
            ("Workspace", json!({ "name": "a".repeat(64) }), "metadata.name"),
            ("Host", json!({ "name": "a".repeat(51) }), "metadata.name"),
            ("StoragePool", json!({ "name": "local" }), "metadata.name"),
            ("TemplateRevision", json!({ "name": "base" }), "metadata.name"),
            ("Secret", json!({ "name": "a_b" }), "metadata.name"),
            ("Workspace", json!({ "name": "a", "namespace": "a.b" }), "metadata.namespace"),
            ("Workspace", json!({ "name": "a", "labels": { "a": "b c" } }), "metadata.labels[a]"),
            ("Workspace", json!({ "name": "a", "labels": { "-a": "" } }), "metadata.labels[-a]"),
            ("Workspace", json!({ "name": "a", "labels": { "": "" } }), "metadata.labels[]"),
            ("Workspace", json!({ "name": "a", "labels": { "X/a": "" } }), "metadata.labels[X/a]"),
            (
                "Workspace",
                json!({ "name": "a", "labels": { "a": "b".repeat(64) } }),
                "metadata.labels[a]",
            ),
            (
                "Workspace",
                json!({ "name": "a", "annotations": { "a b": "" } }),
                "metadata.annotations[a b]",
            ),
            (
                "Workspace",
                json!({ "name": "a", "annotations": { "a": "b".repeat(262_144) } }),
                "metadata.annotations",
            ),
        ] {
            assert_eq!(wrong(kind, metadata), [path], "{kind}");
        }
    }

    #[test]
    fn an_unknown_field_or_a_wrong_type_is_an_error() {
        let metadata = json!({ "nmae": "a", "labels": { "a": 1 }, "name": 5 });
        let found = schema::validate(&Schema::read(&schema()), &metadata, "metadata");
        let told: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "metadata.labels[a]: must be a string, not a number",
                "metadata.name: must be a string, not a number",
                "metadata.nmae: unknown field",
            ]
        );
    }
}
