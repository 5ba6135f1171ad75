//! Manifests as they are read from files: YAML or JSON, many documents, each field with its place.

mod list;
mod place;
mod reader;
mod scalar;
mod syntax;

use std::cell::OnceCell;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use serde_json::Value;

use crate::api::field_error::FieldError;
use place::Place;
pub use reader::Fault;

/// One manifest: a document, or an item of a document that is a list.
#[derive(Clone, Debug)]
pub struct Document {
    file: Rc<File>,
    /// Its document's number in the file, from 1; documents without content do not count.
    pub number: usize,
    /// Where it stands in its document: `items[3]` in a list, else empty.
    within: String,
    /// Its content.
    pub value: Value,
    /// What is wrong with it before its fields mean anything.
    pub faults: Vec<Fault>,
}

/// A text with documents.
#[derive(Debug)]
struct File {
    /// As it was named.
    name: String,
    text: String,
    /// Read when the first error has to be told: most texts have none.
    places: OnceCell<Vec<Option<Place>>>,
}

/// A file could not be read.
#[derive(Debug, thiserror::Error)]
#[error("read {file}")]
pub struct Error {
    /// The file.
    file: String,
    /// Why.
    source: io::Error,
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
    read.map_err(|source| Error { file: name, source })
}

/// All manifests of a file.
pub fn read(file: &Path) -> Result<Vec<Document>, Error> {
    Ok(parse(&file.display().to_string(), read_text(file)?))
}

/// All manifests of a text: its documents that are not empty, the items of lists for the lists.
pub fn parse(name: &str, text: String) -> Vec<Document> {
    let read = reader::read(&text, false);
    let file = Rc::new(File { name: name.to_owned(), text, places: OnceCell::new() });
    let mut documents = Vec::with_capacity(read.len());
    for (i, read) in read.into_iter().enumerate() {
        let document = Document {
            file: Rc::clone(&file),
            number: i + 1,
            within: String::new(),
            value: read.value,
            faults: read.faults,
        };
        list::unroll(document, &mut documents);
    }
    documents
}

impl Document {
    /// The file it is from, as it was named.
    pub fn file(&self) -> &str {
        &self.file.name
    }

    /// The line of a field, or of the nearest parent that is there.
    pub fn line(&self, path: &str) -> Option<usize> {
        self.place(path).map(|(line, _)| line)
    }

    /// The line and column of a field, or of the nearest parent that is there.
    fn place(&self, path: &str) -> Option<(usize, usize)> {
        let places = self.file.places.get_or_init(|| {
            reader::read(&self.file.text, true).into_iter().map(|read| read.place).collect()
        });
        let place = places.get(self.number.checked_sub(1)?)?.as_ref()?;
        let found = place.find(&self.path(path));
        Some((found.line, found.column))
    }

    /// A field's path from the top of its document.
    pub fn path(&self, path: &str) -> String {
        match (self.within.as_str(), path) {
            ("", path) => path.to_owned(),
            (within, "") => within.to_owned(),
            (within, path) => format!("{within}.{path}"),
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

    /// `metadata.namespace`, if it has one.
    pub fn namespace(&self) -> Option<&str> {
        self.value["metadata"]["namespace"].as_str()
    }

    /// `document 2, Workspace web`, as much of it as is there.
    pub fn title(&self) -> String {
        let (_, kind) = self.kind();
        let what = [kind, self.name()].join(" ");
        match what.trim() {
            "" => format!("document {}", self.number),
            what => format!("document {}, {what}", self.number),
        }
    }

    /// `ws.yaml:12: document 2, Workspace web: spec.container.name: …`
    pub fn told(&self, error: &FieldError) -> String {
        let line = self.line(&error.path).map(|line| format!("{line}:")).unwrap_or_default();
        let path = self.path(&error.path);
        let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
        format!("{}:{line} {}: {path}{}", self.file(), self.title(), error.message)
    }

    /// `ws.yaml:12:3: document 2, Workspace web: line 12, column 3: …`
    pub fn told_fault(&self, fault: &Fault) -> String {
        let Fault { line, column, path, message } = fault;
        let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
        format!(
            "{}:{line}: {}: line {line}, column {column}: {path}{message}",
            self.file(),
            self.title()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<Document> {
        parse("f.yaml", text.to_owned())
    }

    #[test]
    fn every_field_knows_its_line() {
        let text =
            "kind: A\nspec:\n  list:\n  - x: 1\n    y: 2\n  - x: 3\n---\n# nothing\n---\nkind: B\n";
        let documents = parsed(text);
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
        let [document] = parsed("a: 1\nb: [1,\n").try_into().unwrap();
        let error = document.told_fault(&document.faults[0]);
        assert!(error.starts_with("f.yaml:"), "{error}");
        assert!(error.contains("line"), "{error}");
    }

    #[test]
    fn a_key_that_stands_twice_is_an_error() {
        let [document] = parsed("a: 1\na: 2\n").try_into().unwrap();
        assert_eq!(
            document.told_fault(&document.faults[0]),
            "f.yaml:2: document 1: line 2, column 1: a: stands twice: leave one of the two out"
        );
    }

    #[test]
    fn the_items_of_a_list_are_manifests_of_their_own() {
        let text = "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems:\n\
                    - {kind: A, spec: {x: 1}}\n- kind: B\n  spec:\n    z: 2\n";
        let [a, b] = parsed(text).try_into().unwrap();
        assert_eq!((a.kind().1, b.kind().1), ("A", "B"));
        assert_eq!((b.path("spec.z"), b.line("spec.z")), ("items[1].spec.z".to_owned(), Some(8)));
        let [wrong] = parsed("apiVersion: v1\nkind: List\nitems: x\n").try_into().unwrap();
        assert_eq!(wrong.faults[0].message, "must be a list of manifests");
        assert!(parsed("apiVersion: v1\nkind: List\nitems: []\n").is_empty());
    }
}
