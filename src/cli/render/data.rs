//! Data of Secrets and ConfigMaps: from manifests, and from lines `KEY=VALUE`.
//!
//! No error shows a value, nor a text that may be one.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use serde::Deserialize;
use serde_json::{Value, json};

use super::metadata;
use crate::api::field_error::FieldError;
use crate::api::grammar::DataKey;
use crate::cli::manifest::Document;
use crate::controller::workspace::resolve::Data;

/// The schemas of Secret and ConfigMap.
pub fn schemas() -> [(String, Value); 2] {
    let texts = || json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let schema = |more: [(&str, Value); 3]| {
        let mut properties = json!({
            "apiVersion": { "type": "string" },
            "kind": { "type": "string" },
            "metadata": metadata::schema(),
            "immutable": { "type": "boolean" },
        });
        for (field, schema) in more {
            properties[field] = schema;
        }
        json!({ "type": "object", "properties": properties })
    };
    let text = json!({ "type": "string" });
    let secret = schema([("type", text.clone()), ("data", texts()), ("stringData", texts())]);
    let map =
        schema([("data", texts()), ("binaryData", texts()), ("metadata", metadata::schema())]);
    [("Secret".to_owned(), secret), ("ConfigMap".to_owned(), map)]
}

/// The data of a manifest that fits its schema, or what is wrong with it.
pub fn of_manifest(document: &Document) -> Result<Data, Vec<FieldError>> {
    let (plain, base64) = match document.kind().1 {
        "Secret" => ("stringData", "data"),
        _ => ("data", "binaryData"),
    };
    let (mut data, mut errors) = (BTreeMap::new(), Vec::new());
    // What is plain text counts over the same key in base64, as on a server.
    for (field, encoded) in [(base64, true), (plain, false)] {
        for (key, value) in document.value[field].as_object().into_iter().flatten() {
            let path = format!("{field}[{key}]");
            if let Err(wrong) = key.parse::<DataKey>() {
                errors.push(FieldError::new(&path, wrong.to_string()));
            }
            if encoded {
                match ByteString::deserialize(value) {
                    Ok(ByteString(bytes)) => {
                        data.insert(key.clone(), bytes);
                    }
                    Err(_) => errors.push(FieldError::new(
                        path,
                        format!("must be base64: write plain text in {plain}"),
                    )),
                }
            } else if let Some(text) = value.as_str() {
                data.insert(key.clone(), text.as_bytes().to_vec());
            }
        }
    }
    if errors.is_empty() { Ok(Data { data, ..Data::default() }) } else { Err(errors) }
}

/// Data from lines `KEY=VALUE`, a value being all that stands behind `=`; or all that is wrong,
/// each with its line.
///
/// As `kubectl create secret --from-env-file` reads them: blank lines and comments are left out,
/// quotes are part of a value.
pub fn of_lines(text: &str) -> Result<Data, Vec<String>> {
    let (mut data, mut errors) = (BTreeMap::new(), Vec::new());
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (number, line) = (i + 1, line.trim_start());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut wrong = |message: &str| errors.push(format!("line {number} {message}"));
        let Some((key, value)) = line.split_once('=') else {
            wrong("is not KEY=VALUE");
            continue;
        };
        if key.starts_with("export ") {
            wrong("begins with export: leave that word out");
        } else if key.parse::<DataKey>().is_err() {
            wrong("is not KEY=VALUE: a key has only letters, digits, '-', '_' and '.'");
        } else if let Some(first) = lines.insert(key, number) {
            wrong(&format!("has the key of line {first} again: leave one of the two out"));
        } else {
            data.insert(key.to_owned(), value.as_bytes().to_vec());
        }
    }
    if errors.is_empty() { Ok(Data { data, ..Data::default() }) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_kubectl_reads_an_env_file() {
        let text = "\u{feff}A=1\r\n# c\n\n  # d\n  b.c=x=y # z\nQ=\"q\"\nE=\n";
        let data = of_lines(text).unwrap().data;
        let read: Vec<_> = data
            .iter()
            .map(|(key, value)| (key.as_str(), std::str::from_utf8(value).unwrap()))
            .collect();
        assert_eq!(read, [("A", "1"), ("E", ""), ("Q", "\"q\""), ("b.c", "x=y # z")]);
    }

    #[test]
    fn all_wrong_lines_are_told_by_number_and_without_what_is_in_them() {
        let text = "a=hush\nexport b=hush\nhush\n=hush\nhush hush=1\na=hush\nc/d=hush\n";
        let told = of_lines(text).unwrap_err();
        let begins: Vec<_> = told.iter().map(|line| line.get(..8).unwrap()).collect();
        assert_eq!(
            begins,
            ["line 2 b", "line 3 i", "line 4 i", "line 5 i", "line 6 h", "line 7 i"]
        );
        assert!(told[0].contains("export") && told[4].contains("line 1"), "{told:?}");
        assert!(!told.concat().contains("hush"), "{told:?}");
    }
}
