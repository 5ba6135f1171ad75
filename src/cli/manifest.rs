//! Manifests as they are read from files: YAML or JSON, many documents, each field with its place.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

/// One document.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file it is from, as it was named.
    pub file: String,
    /// Its number in the file, from 1; documents without content do not count.
    pub number: usize,
    /// Its content.
    pub value: Value,
    /// Lines of its fields, by their paths as in [`crate::api::field_error::FieldError`].
    lines: BTreeMap<String, u64>,
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file itself.
    #[error("read {file}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// What is in it.
    #[error("{file}: {message}")]
    Parse {
        /// The file.
        file: String,
        /// Where and why.
        message: String,
    },
}

/// Reads a file, or standard input where it is `-`.
pub fn read_text(file: &Path) -> Result<String, Error> {
    let name = file.display().to_string();
    let read = if name == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(file)
    };
    read.map_err(|source| Error::Read { file: name, source })
}

/// All documents of a file that are not empty.
pub fn read(file: &Path) -> Result<Vec<Document>, Error> {
    parse(&file.display().to_string(), &read_text(file)?)
}

/// All documents of a text that are not empty.
pub fn parse(file: &str, text: &str) -> Result<Vec<Document>, Error> {
    // As Kubernetes reads YAML: 0644 is octal, a key that stands twice is a mistake.
    // What a text can hold grows with it; depth, aliases and anchors keep their limits, and with them
    // what a small text can be blown up to.
    let most = text.len().max(1024);
    let options = serde_saphyr::options! {
        with_snippet: false,
        legacy_octal_numbers: true,
        budget: serde_saphyr::budget! {
            max_documents: most,
            max_nodes: most.max(250_000),
            max_events: most.max(1_000_000),
            max_total_scalar_bytes: most.max(64 << 20),
            max_total_comment_bytes: most.max(64 << 20),
        },
    };
    let nodes: Vec<Spanned<Node>> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|e| Error::Parse { file: file.to_owned(), message: e.to_string() })?;
    let documents = nodes.into_iter().enumerate().filter(|(_, node)| node.value != Node::Null);
    Ok(documents
        .map(|(i, node)| {
            let mut lines = BTreeMap::new();
            let value = node.value.into_value(node.referenced.line(), String::new(), &mut lines);
            Document { file: file.to_owned(), number: i + 1, value, lines }
        })
        .collect())
}

impl Document {
    /// The line of a field, or of the nearest parent that is there.
    pub fn line(&self, path: &str) -> Option<u64> {
        let mut path = path;
        loop {
            if let Some(line) = self.lines.get(path) {
                return Some(*line);
            }
            let end = path.rfind(['.', '['])?;
            path = path.get(..end)?;
        }
    }

    /// `apiVersion` and `kind`.
    pub fn kind(&self) -> (&str, &str) {
        let text = |field: &str| self.value[field].as_str().unwrap_or_default();
        (text("apiVersion"), text("kind"))
    }

    /// `metadata.name`.
    pub fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }
}

/// A value whose parts know where they stand.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Spanned<Self>>),
    Map(Vec<(String, Spanned<Self>)>),
}

impl Node {
    fn into_value(self, line: u64, path: String, lines: &mut BTreeMap<String, u64>) -> Value {
        let value = match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(bool),
            Self::Number(number) => Value::Number(number),
            Self::String(text) => Value::String(text),
            Self::List(items) => {
                let item = |(i, node): (usize, Spanned<Self>)| {
                    let line = node.referenced.line();
                    node.value.into_value(line, format!("{path}[{i}]"), lines)
                };
                items.into_iter().enumerate().map(item).collect()
            }
            Self::Map(fields) => {
                let field = |(name, node): (String, Spanned<Self>)| {
                    let below =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    let line = node.referenced.line();
                    let value = node.value.into_value(line, below, lines);
                    (name, value)
                };
                // As Kubernetes does: a null is as if the field were not there.
                let fields = fields.into_iter().filter(|(_, node)| node.value != Self::Null);
                Value::Object(fields.map(field).collect::<Map<_, _>>())
            }
        };
        lines.insert(path, line);
        value
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Node, E> {
        Ok(Node::Bool(bool))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Node, E> {
        // As Kubernetes reads it: 80.0 is 80.
        #[allow(
            clippy::cast_possible_truncation,
            reason = "whole, and within what a double tells apart"
        )]
        if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
            return Ok(Node::Number((number as i64).into()));
        }
        let number = Number::from_f64(number);
        number.map(Node::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Node, E> {
        Ok(Node::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Node::Map(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_knows_its_line() {
        let text =
            "kind: A\nspec:\n  list:\n  - x: 1\n    y: 2\n  - x: 3\n---\n# nothing\n---\nkind: B\n";
        let documents = parse("f.yaml", text).unwrap();
        assert_eq!(documents.len(), 2);
        let first = &documents[0];
        assert_eq!(first.line("spec.list[0].y"), Some(5));
        assert_eq!(first.line("spec.list[1].x"), Some(6));
        assert_eq!(first.line("spec.list[1].missing"), Some(6), "the nearest parent");
        assert_eq!(documents[1].line("kind"), Some(10));
        assert_eq!(documents[1].number, 2, "documents without content do not count");
    }

    #[test]
    fn a_syntax_error_names_file_and_line() {
        let error = parse("f.yaml", "a: 1\nb: [1,\n").unwrap_err().to_string();
        assert!(error.starts_with("f.yaml: "), "{error}");
        assert!(error.contains("line"), "{error}");
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error() {
        assert!(parse("f.yaml", "a: 1\na: 2\n").is_err());
    }
}
