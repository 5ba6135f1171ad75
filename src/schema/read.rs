//! A schema, read once for many values.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

/// One node of a schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub(super) kind: Option<Kind>,
    pub(super) values: Option<Vec<Value>>,
    pub(super) longest: Option<u64>,
    pub(super) shortest: Option<u64>,
    pub(super) pattern: Option<Regex>,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    /// Of items or of entries.
    pub(super) fewest: Option<u64>,
    /// Of items or of entries.
    pub(super) most: Option<u64>,
    pub(super) items: Option<Box<Self>>,
    /// The fields that tell the items of a list apart; none for the whole item.
    pub(super) keys: Option<Vec<String>>,
    pub(super) required: Vec<String>,
    pub(super) properties: BTreeMap<String, Self>,
    /// What fields of any other name are.
    pub(super) others: Option<Box<Self>>,
    /// Takes fields that it does not know.
    pub(super) open: bool,
    pub(super) default: Value,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    IntOrString,
}

impl Schema {
    /// Reads the JSON form that CustomResourceDefinitions have.
    pub fn read(schema: &Value) -> Self {
        let number = |keyword: &str| schema[keyword].as_u64();
        let texts = |keyword: &str| -> Vec<String> {
            let list = schema[keyword].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let node = |keyword: &str| {
            schema[keyword].is_object().then(|| Box::new(Self::read(&schema[keyword])))
        };
        let properties = schema["properties"].as_object().into_iter().flatten();
        Self {
            kind: kind(schema),
            values: schema["enum"].as_array().cloned(),
            longest: number("maxLength"),
            shortest: number("minLength"),
            // A pattern that this engine cannot read is the API server's to judge.
            pattern: schema["pattern"].as_str().and_then(|pattern| Regex::new(pattern).ok()),
            minimum: schema["minimum"].as_f64(),
            maximum: schema["maximum"].as_f64(),
            fewest: number("minItems").or_else(|| number("minProperties")),
            most: number("maxItems").or_else(|| number("maxProperties")),
            items: node("items"),
            keys: match schema["x-kubernetes-list-type"].as_str() {
                Some("map") => Some(texts("x-kubernetes-list-map-keys")),
                Some("set") => Some(Vec::new()),
                _ => None,
            },
            required: texts("required"),
            properties: properties.map(|(name, node)| (name.clone(), Self::read(node))).collect(),
            others: node("additionalProperties"),
            open: schema["x-kubernetes-preserve-unknown-fields"] == Value::Bool(true),
            default: schema["default"].clone(),
        }
    }
}

fn kind(schema: &Value) -> Option<Kind> {
    if schema["x-kubernetes-int-or-string"] == Value::Bool(true) {
        return Some(Kind::IntOrString);
    }
    match schema["type"].as_str()? {
        "string" => Some(Kind::String),
        "integer" => Some(Kind::Integer),
        "number" => Some(Kind::Number),
        "boolean" => Some(Kind::Boolean),
        "array" => Some(Kind::Array),
        "object" => Some(Kind::Object),
        _ => None,
    }
}
