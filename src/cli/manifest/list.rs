//! `kind: List`, as `kubectl get -o yaml` prints: its items are manifests of their own.

use std::rc::Rc;

use serde_json::Value;

use super::{Document, Fault};

/// Gives the items of a list, lists in it as well, or the document itself where it is none.
pub fn unroll(mut document: Document, into: &mut Vec<Document>) {
    if !is_list(&document) {
        into.push(document);
        return;
    }
    let items = match document.value.get_mut("items").map(Value::take) {
        // An API server prints `items: null` for a list of nothing.
        None => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => {
            document.fault("items", "must be a list of manifests");
            into.push(document);
            return;
        }
    };
    for (i, value) in items.into_iter().enumerate() {
        let within = document.path(&format!("items[{i}]"));
        let item = Document {
            file: Rc::clone(&document.file),
            number: document.number,
            within,
            value,
            faults: Vec::new(),
        };
        unroll(item, into);
    }
    // What is wrong with the text is told once, by the list.
    if !document.faults.is_empty() {
        into.push(document);
    }
}

fn is_list(document: &Document) -> bool {
    match document.kind() {
        ("v1", kind) => kind == "List",
        (version, kind) => version.starts_with("kibotos.dev/") && kind.ends_with("List"),
    }
}

impl Document {
    fn fault(&mut self, path: &str, message: &str) {
        let (line, column) = self.place(path).unwrap_or((1, 1));
        let path = self.path(path);
        self.faults.push(Fault { line, column, path, message: message.to_owned() });
    }
}
