//! Every constraint that the schemas in `crds/` put on a manifest.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::kind::Kind;
use super::pair::Bound;

/// One constraint: on which kind, where, and what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Constraint {
    pub kind: Kind,
    pub at: String,
    pub bound: Bound,
}

/// One node of a schema.
pub struct Node {
    pub kind: Kind,
    pub at: String,
    pub schema: Value,
    pub required: bool,
}

/// The definitions as they lie in `crds/`.
pub fn definitions() -> Vec<Value> {
    let mut files: Vec<_> = fs::read_dir(directory())
        .expect("crds/ is there")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    files.iter().map(read).collect()
}

pub fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("crds")
}

/// Every node of every schema, the root (at `""`) included.
pub fn nodes() -> Vec<Node> {
    let mut found = Vec::new();
    for crd in definitions() {
        let kind = Kind::of(crd["spec"]["names"]["kind"].as_str().unwrap());
        let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        descend(kind, schema, String::new(), true, &mut found);
    }
    found
}

fn descend(kind: Kind, schema: &Value, at: String, required: bool, found: &mut Vec<Node>) {
    let below = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let required =
            schema["required"].as_array().is_some_and(|r| r.contains(&name.as_str().into()));
        descend(kind, property, below(name), required, found);
    }
    if schema["items"].is_object() {
        descend(kind, &schema["items"], format!("{at}[]"), false, found);
    }
    if schema["additionalProperties"].is_object() {
        descend(kind, &schema["additionalProperties"], format!("{at}{{}}"), false, found);
    }
    found.push(Node { kind, at, schema: schema.clone(), required });
}

/// Every rule, enum, pattern and bound.
pub fn constraints() -> BTreeSet<Constraint> {
    let mut found = BTreeSet::new();
    for Node { kind, at, schema, .. } in nodes() {
        let mut add = |bound| found.insert(Constraint { kind, at: at.clone(), bound });
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            let number = || value.as_f64().map(|n| n as i64).expect("bounds are numbers");
            match keyword.as_str() {
                "maxLength" => add(Bound::MaxLength(number())),
                "minLength" => add(Bound::MinLength(number())),
                "maxItems" => add(Bound::MaxItems(number())),
                "minItems" => add(Bound::MinItems(number())),
                "maxProperties" => add(Bound::MaxProperties(number())),
                "minimum" => add(Bound::Minimum(number())),
                "maximum" => add(Bound::Maximum(number())),
                "pattern" => add(Bound::Pattern(value.as_str().unwrap().to_owned())),
                "enum" => add(Bound::Enum(
                    value
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|v| v.as_str().unwrap().to_owned())
                        .collect(),
                )),
                "x-kubernetes-validations" => value.as_array().unwrap().iter().all(|rule| {
                    add(Bound::Rule(
                        rule["message"].as_str().expect("rules have a message").to_owned(),
                    ))
                }),
                "type"
                | "description"
                | "properties"
                | "items"
                | "additionalProperties"
                | "required"
                | "default"
                | "format"
                | "x-kubernetes-list-type"
                | "x-kubernetes-list-map-keys"
                | "x-kubernetes-int-or-string"
                | "x-kubernetes-map-type" => true,
                other => panic!("the walk does not know {other}, at {at} of {kind:?}"),
            };
        }
    }
    found
}
