//! All that is wrong with a value by its schema, each with the path of its field.
//!
//! The words are those of a real API server where it has any. CEL rules are not evaluated here.

use serde_json::{Map, Value};

use super::path::Path;
use super::read::{Kind, Schema};
use crate::api::field_error::FieldError;

/// Judges `value`, which stands at `path`, by `schema`.
pub fn validate(schema: &Schema, value: &Value, path: &str) -> Vec<FieldError> {
    let mut found = Vec::new();
    node(schema, value, Path::Top(path), &mut found);
    found
}

fn add(found: &mut Vec<FieldError>, path: Path<'_>, message: impl Into<String>) {
    found.push(FieldError::new(path.to_string(), message));
}

fn node(schema: &Schema, value: &Value, path: Path<'_>, found: &mut Vec<FieldError>) {
    if let Some(wanted) = wrong_type(schema, value) {
        add(found, path, format!("must be {wanted}, not {}", type_name(value)));
        return;
    }
    if let Some(values) = schema.values.as_ref().filter(|values| !values.contains(value)) {
        let list: Vec<_> = values.iter().map(Value::to_string).collect();
        let list = list.join(", ");
        add(found, path, format!("Unsupported value: {value}: supported values: {list}"));
    }
    match value {
        Value::String(text) => string(schema, text, path, found),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            if let Some(least) = schema.minimum.filter(|least| number < *least) {
                add(found, path, format!("should be greater than or equal to {least}"));
            }
            if let Some(most) = schema.maximum.filter(|most| number > *most) {
                add(found, path, format!("should be less than or equal to {most}"));
            }
        }
        Value::Array(items) => {
            count(schema, items.len(), "items", path, found);
            for (i, item) in items.iter().enumerate() {
                if let Some(schema) = &schema.items {
                    node(schema, item, Path::Index(&path, i), found);
                }
            }
            duplicates(schema, items, path, found);
        }
        Value::Object(fields) => {
            count(schema, fields.len(), "entries", path, found);
            object(schema, fields, path, found);
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn string(schema: &Schema, text: &str, path: Path<'_>, found: &mut Vec<FieldError>) {
    let length = || u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    if let Some(most) = schema.longest.filter(|most| length() > *most) {
        add(found, path, format!("Too long: may not be more than {most} bytes"));
    }
    if let Some(least) = schema.shortest.filter(|least| length() < *least) {
        add(found, path, format!("should be at least {least} chars long"));
    }
    if let Some(pattern) = schema.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
        add(found, path, format!("should match '{pattern}'"));
    }
}

fn object(
    schema: &Schema,
    fields: &Map<String, Value>,
    path: Path<'_>,
    found: &mut Vec<FieldError>,
) {
    for name in &schema.required {
        if fields.get(name).is_none_or(Value::is_null) {
            add(found, Path::Field(&path, name), "Required value");
        }
    }
    for (name, value) in fields {
        match (schema.properties.get(name), &schema.others) {
            // As the API server does: a null is as if the field were not there.
            (Some(_), _) if value.is_null() => {}
            (Some(property), _) => node(property, value, Path::Field(&path, name), found),
            (None, Some(others)) => node(others, value, Path::Entry(&path, name), found),
            (None, None) if schema.open => {}
            (None, None) => add(found, Path::Field(&path, name), "unknown field"),
        }
    }
}

fn duplicates(schema: &Schema, items: &[Value], path: Path<'_>, found: &mut Vec<FieldError>) {
    let Some(keys) = schema.keys.as_ref().filter(|_| items.len() > 1) else { return };
    let default = |key: &str| {
        let property = schema.items.as_ref().and_then(|items| items.properties.get(key));
        property.map_or(&Value::Null, |property| &property.default)
    };
    let identity = |item: &'_ Value| -> Vec<Value> {
        let of = |key: &String| item.get(key).unwrap_or_else(|| default(key)).clone();
        if keys.is_empty() { vec![item.clone()] } else { keys.iter().map(of).collect() }
    };
    let identities: Vec<_> = items.iter().map(identity).collect();
    for (i, one) in identities.iter().enumerate() {
        if identities.iter().take(i).any(|other| other == one) {
            let values: Vec<_> = one.iter().map(Value::to_string).collect();
            let message = format!("Duplicate value: {}", values.join(", "));
            add(found, Path::Index(&path, i), message);
        }
    }
}

fn count(schema: &Schema, length: usize, what: &str, path: Path<'_>, found: &mut Vec<FieldError>) {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    if let Some(most) = schema.most.filter(|most| length > *most) {
        add(found, path, format!("Too many: {length}: must have at most {most} {what}"));
    }
    if let Some(least) = schema.fewest.filter(|least| length < *least) {
        add(found, path, format!("should have at least {least} {what}"));
    }
}

/// The type that the schema wants, where the value is of another.
fn wrong_type(schema: &Schema, value: &Value) -> Option<&'static str> {
    let (right, wanted) = match schema.kind? {
        Kind::IntOrString => {
            (value.is_string() || value.as_i64().is_some(), "an integer or a string")
        }
        Kind::String => (value.is_string(), "a string"),
        Kind::Integer => (value.as_i64().is_some() || is_whole(value), "an integer"),
        Kind::Number => (value.is_number(), "a number"),
        Kind::Boolean => (value.is_boolean(), "a boolean"),
        Kind::Array => (value.is_array(), "a list"),
        Kind::Object => (value.is_object(), "an object"),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(schema: Value, value: Value) -> Vec<String> {
        validate(&Schema::read(&schema), &value, "spec").iter().map(ToString::to_string).collect()
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
