//! All that is wrong with a value by its schema, each with the path of its field.
//!
//! The words are those of a real API server where it has any. CEL rules are not evaluated here.

use regex::Regex;
use serde_json::{Map, Value};

use crate::api::field_error::FieldError;

/// Judges `value`, which stands at `path`, by `schema`.
pub fn validate(schema: &Value, value: &Value, path: &str) -> Vec<FieldError> {
    let mut found = Vec::new();
    node(schema, value, path, &mut found);
    found
}

fn node(schema: &Value, value: &Value, path: &str, found: &mut Vec<FieldError>) {
    let mut add = |message: String| found.push(FieldError::new(path, message));
    if let Some(wanted) = wrong_type(schema, value) {
        add(format!("must be {wanted}, not {}", type_name(value)));
        return;
    }
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.contains(value)) {
        let list: Vec<_> = values.iter().map(Value::to_string).collect();
        add(format!("Unsupported value: {value}: supported values: {}", list.join(", ")));
    }
    match value {
        Value::String(text) => string(schema, text, path, found),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let bound = |keyword: &str| schema[keyword].as_f64();
            if let Some(least) = bound("minimum").filter(|least| number < *least) {
                add(format!("should be greater than or equal to {least}"));
            }
            if let Some(most) = bound("maximum").filter(|most| number > *most) {
                add(format!("should be less than or equal to {most}"));
            }
        }
        Value::Array(items) => {
            count(schema, items.len(), ("minItems", "maxItems"), "items", path, found);
            for (i, item) in items.iter().enumerate() {
                node(&schema["items"], item, &format!("{path}[{i}]"), found);
            }
            duplicates(schema, items, path, found);
        }
        Value::Object(fields) => {
            count(schema, fields.len(), ("minProperties", "maxProperties"), "entries", path, found);
            object(schema, fields, path, found);
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn string(schema: &Value, text: &str, path: &str, found: &mut Vec<FieldError>) {
    let mut add = |message: String| found.push(FieldError::new(path, message));
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    if let Some(most) = schema["maxLength"].as_u64().filter(|most| length > *most) {
        add(format!("Too long: may not be more than {most} bytes"));
    }
    if let Some(least) = schema["minLength"].as_u64().filter(|least| length < *least) {
        add(format!("should be at least {least} chars long"));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        // A pattern that this engine cannot read is the API server's to judge.
        if Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text)) {
            add(format!("should match '{pattern}'"));
        }
    }
}

fn object(schema: &Value, fields: &Map<String, Value>, path: &str, found: &mut Vec<FieldError>) {
    let known = schema["properties"].as_object();
    let others = &schema["additionalProperties"];
    let open = schema["x-kubernetes-preserve-unknown-fields"] == Value::Bool(true);
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if fields.get(name).is_none_or(Value::is_null) {
            found.push(FieldError::new(join(path, name), "Required value"));
        }
    }
    for (name, value) in fields {
        match known.and_then(|known| known.get(name)) {
            // As the API server does: a null is as if the field were not there.
            Some(_) if value.is_null() => {}
            Some(property) => node(property, value, &join(path, name), found),
            None if others.is_object() => node(others, value, &format!("{path}[{name}]"), found),
            None if open => {}
            None => found.push(FieldError::new(join(path, name), "unknown field")),
        }
    }
}

fn duplicates(schema: &Value, items: &[Value], path: &str, found: &mut Vec<FieldError>) {
    let keys: Option<Vec<&str>> = match schema["x-kubernetes-list-type"].as_str() {
        Some("map") => schema["x-kubernetes-list-map-keys"]
            .as_array()
            .map(|keys| keys.iter().filter_map(Value::as_str).collect()),
        Some("set") => Some(Vec::new()),
        _ => None,
    };
    let Some(keys) = keys else { return };
    let default = |key: &str| schema["items"]["properties"][key]["default"].clone();
    let identity = |item: &Value| -> Vec<Value> {
        let of = |key: &&str| item.get(*key).cloned().unwrap_or_else(|| default(key));
        if keys.is_empty() { vec![item.clone()] } else { keys.iter().map(of).collect() }
    };
    let identities: Vec<_> = items.iter().map(identity).collect();
    for (i, one) in identities.iter().enumerate() {
        if identities.iter().take(i).any(|other| other == one) {
            let values: Vec<_> = one.iter().map(Value::to_string).collect();
            found.push(FieldError::new(
                format!("{path}[{i}]"),
                format!("Duplicate value: {}", values.join(", ")),
            ));
        }
    }
}

fn count(
    schema: &Value,
    length: usize,
    (least, most): (&str, &str),
    what: &str,
    path: &str,
    found: &mut Vec<FieldError>,
) {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    if let Some(most) = schema[most].as_u64().filter(|most| length > *most) {
        let message = format!("Too many: {length}: must have at most {most} {what}");
        found.push(FieldError::new(path, message));
    }
    if let Some(least) = schema[least].as_u64().filter(|least| length < *least) {
        found.push(FieldError::new(path, format!("should have at least {least} {what}")));
    }
}

/// The type that the schema wants, where the value is of another.
fn wrong_type(schema: &Value, value: &Value) -> Option<&'static str> {
    if schema["x-kubernetes-int-or-string"] == Value::Bool(true) {
        let right = value.is_string() || value.as_i64().is_some();
        return (!right).then_some("an integer or a string");
    }
    let (right, wanted) = match schema["type"].as_str()? {
        "string" => (value.is_string(), "a string"),
        "integer" => (value.as_i64().is_some() || is_whole(value), "an integer"),
        "number" => (value.is_number(), "a number"),
        "boolean" => (value.is_boolean(), "a boolean"),
        "array" => (value.is_array(), "a list"),
        "object" => (value.is_object(), "an object"),
        _ => return None,
    };
    (!right).then_some(wanted)
}

fn is_whole(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(schema: Value, value: Value) -> Vec<String> {
        validate(&schema, &value, "spec").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_faults_are_told_at_once_with_their_paths() {
        let schema = json!({
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": { "type": "string" },
                "mode": { "type": "string", "enum": ["A", "B"] },
                "ports": {
                    "type": "array",
                    "maxItems": 2,
                    "items": {
                        "type": "object",
                        "properties": { "port": { "type": "integer", "minimum": 1, "maximum": 65535 } },
                    },
                },
                "labels": { "type": "object", "additionalProperties": { "type": "string" } },
                "size": { "x-kubernetes-int-or-string": true },
            },
        });
        let value = json!({
            "mode": "C",
            "ports": [{ "port": 0 }, { "port": "x" }, { "port": 70000, "bogus": 1 }],
            "labels": { "a": 1 },
            "size": 0.5,
            "AutoRemove": true,
        });
        assert_eq!(
            told(schema, value),
            [
                "spec.name: Required value",
                "spec.AutoRemove: unknown field",
                "spec.labels[a]: must be a string, not a number",
                r#"spec.mode: Unsupported value: "C": supported values: "A", "B""#,
                "spec.ports: Too many: 3: must have at most 2 items",
                "spec.ports[0].port: should be greater than or equal to 1",
                "spec.ports[1].port: must be an integer, not a string",
                "spec.ports[2].bogus: unknown field",
                "spec.ports[2].port: should be less than or equal to 65535",
                "spec.size: must be an integer or a string, not a number",
            ]
        );
    }

    #[test]
    fn items_of_a_list_map_are_told_apart_by_their_keys_defaults_filled_in() {
        let schema = json!({
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {
                "type": "object",
                "properties": {
                    "port": { "type": "integer" },
                    "protocol": { "type": "string", "default": "TCP" },
                },
            },
        });
        let list = |b: Value| json!([{ "port": 53 }, b]);
        assert_eq!(told(schema.clone(), list(json!({ "port": 53, "protocol": "UDP" }))), [""; 0]);
        assert_eq!(
            told(schema, list(json!({ "port": 53, "protocol": "TCP" }))),
            [r#"spec[1]: Duplicate value: 53, "TCP""#]
        );
    }

    #[test]
    fn a_null_is_as_if_the_field_were_not_there() {
        let schema = json!({
            "type": "object",
            "required": ["a"],
            "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
        });
        assert_eq!(told(schema, json!({ "a": null, "b": null })), ["spec.a: Required value"]);
    }
}
