//! From the events of a YAML text to values, as Kubernetes reads them.
//!
//! A null is as if the field were not there; of a key that stands twice, the first is read and the
//! second is a fault. A fault in one document hides nothing of the others.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write as _};

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::{Map, Value};

use super::place::Place;
use super::scalar;
use super::syntax;

/// How deep values may be nested, aliases followed.
const DEEPEST: usize = 255;
/// How many bytes a value takes at the least, to weigh what aliases make of a small text.
const WEIGHT: usize = 32;
/// What aliases may make of a text of any size.
const MOST: usize = 64 << 20;

/// One document.
#[derive(Debug, Default)]
pub struct Read {
    /// Its content; null where it is no YAML.
    pub value: Value,
    /// The places of its fields, where they were asked for.
    pub place: Option<Place>,
    /// What is wrong with it as a text.
    pub faults: Vec<Fault>,
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// The field; empty where it has no name yet.
    pub path: String,
    /// What is wrong and what to write instead.
    pub message: String,
}

/// All documents of a text that have content; with the places of all fields, if asked for.
pub fn read(text: &str, places: bool) -> Vec<Read> {
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader {
        parser: Parser::new_from_str_with_options(text, options),
        places,
        anchors: HashMap::new(),
        left: MOST.max(text.len().saturating_mul(4)),
        faults: Vec::new(),
    };
    let mut found = Vec::new();
    loop {
        let document = reader.document();
        let faults = std::mem::take(&mut reader.faults);
        match document {
            Ok(None) => return found,
            Ok(Some(node)) if node.value.is_null() && faults.is_empty() => {}
            Ok(Some(node)) => found.push(Read { value: node.value, place: node.place, faults }),
            Err(error) => {
                let mut read = Read { faults, ..Read::default() };
                read.faults.push(Fault {
                    line: error.marker().line(),
                    column: error.marker().col() + 1,
                    path: String::new(),
                    message: syntax::told(&error),
                });
                found.push(read);
                // What follows the next `---` can still be read.
                if !reader.parser.proceed_next_document().is_ok_and(|more| more) {
                    return found;
                }
            }
        }
    }
}

/// A value while it is made.
struct Node {
    value: Value,
    place: Option<Place>,
    /// What it is counted for where an alias repeats it.
    weight: usize,
    depth: usize,
}

/// The way to a value, for who has to tell of it.
#[derive(Clone, Copy)]
enum Path<'a> {
    Root,
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

struct Reader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    places: bool,
    anchors: HashMap<usize, Node>,
    /// What aliases may still make.
    left: usize,
    faults: Vec<Fault>,
}

type Next<'t> = (Event<'t>, Span);

impl<'t> Reader<'t> {
    /// The next document; none at the end.
    fn document(&mut self) -> Result<Option<Node>, ScanError> {
        self.anchors.clear();
        let mut node = None;
        loop {
            let Some(next) = self.parser.next_event() else { return Ok(None) };
            let (event, span) = next?;
            match event {
                Event::StreamEnd => return Ok(None),
                Event::DocumentEnd => return Ok(node),
                event if event.is_node() => node = Some(self.node((event, span), Path::Root)?),
                _ => {}
            }
        }
    }

    /// The next event within a document.
    fn next(&mut self) -> Result<Next<'t>, ScanError> {
        match self.parser.next_event() {
            Some(next) => next,
            // The parser closes what it opened; if it did not, what is open ends here.
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, (event, span): Next<'t>, path: Path<'_>) -> Result<Node, ScanError> {
        let (anchor, node) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, self.scalar(text, style, tag.as_deref(), &span, path))
            }
            Event::SequenceStart(_, anchor, _) => (anchor, self.list(&span, path)?),
            Event::MappingStart(_, anchor, _) => (anchor, self.map(&span, path)?),
            Event::Alias(id) => (0, self.alias(id, &span, path)),
            _ => (0, self.leaf(Value::Null, &span)),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, node.copy());
        }
        Ok(node)
    }

    fn leaf(&self, value: Value, span: &Span) -> Node {
        let weight = WEIGHT + value.as_str().map_or(0, str::len);
        let place = self.places.then(|| Place::of_scalar(span.start.line(), span.start.col() + 1));
        Node { value, place, weight, depth: 1 }
    }

    fn scalar(
        &mut self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &Span,
        path: Path<'_>,
    ) -> Node {
        let core = tag.and_then(Tag::core_suffix);
        let as_plain = match core {
            Some("str" | "binary") => false,
            Some("int" | "float" | "bool" | "null") => true,
            // `!` alone says that it is a text.
            _ => style == ScalarStyle::Plain && tag.is_none_or(|tag| tag.original() != "!"),
        };
        let read = if as_plain {
            scalar::plain(&text).map_err(|_| "must be finite: write a number")
        } else {
            Ok(Value::String(text.into_owned()))
        };
        let read = match (core, read) {
            (Some("binary"), _) => Err("a tag !!binary is not read: write the text itself"),
            (Some("int"), Ok(value)) if !value.is_i64() && !value.is_u64() => {
                Err("must be a whole number, as its tag says")
            }
            (Some("float"), Ok(value)) if !value.is_number() => {
                Err("must be a number, as its tag says")
            }
            (Some("bool"), Ok(value)) if !value.is_boolean() => {
                Err("must be true or false, as its tag says")
            }
            (Some("null"), Ok(value)) if !value.is_null() => Err("must be null, as its tag says"),
            (_, read) => read,
        };
        let value = read.unwrap_or_else(|message| {
            self.fault(span, path, message);
            Value::Null
        });
        self.leaf(value, span)
    }

    fn list(&mut self, span: &Span, path: Path<'_>) -> Result<Node, ScanError> {
        let (mut items, mut places) = (Vec::new(), Vec::new());
        let (mut weight, mut depth) = (WEIGHT, 0);
        loop {
            let next = self.next()?;
            if matches!(next.0, Event::SequenceEnd | Event::StreamEnd) {
                break;
            }
            let node = self.node(next, Path::Index(&path, items.len()))?;
            weight += node.weight;
            depth = depth.max(node.depth);
            items.push(node.value);
            places.extend(node.place);
        }
        let place =
            self.places.then(|| Place::of_list(span.start.line(), span.start.col() + 1, places));
        Ok(Node { value: Value::Array(items), place, weight, depth: depth + 1 })
    }

    fn map(&mut self, span: &Span, path: Path<'_>) -> Result<Node, ScanError> {
        let mut made = Fields::default();
        let (mut weight, mut depth) = (WEIGHT, 0);
        loop {
            let (event, at) = self.next()?;
            if matches!(event, Event::MappingEnd | Event::StreamEnd) {
                break;
            }
            let key = self.key((event, at), path)?;
            let next = self.next()?;
            let Some(key) = key else {
                self.node(next, path)?;
                continue;
            };
            let node = self.node(next, Path::Key(&path, &key.text))?;
            weight += node.weight + key.text.len();
            depth = depth.max(node.depth);
            if key.merges {
                if !made.merge(node) {
                    self.fault(&at, path, "<< takes a map or a list of maps, by their aliases");
                }
                continue;
            }
            if made.has(&key.text) {
                let message = "stands twice: leave one of the two out";
                self.fault(&at, Path::Key(&path, &key.text), message);
                continue;
            }
            made.put(key.text.into_owned(), node, &at);
        }
        let Fields { values, places, .. } = made;
        let place =
            self.places.then(|| Place::of_map(span.start.line(), span.start.col() + 1, places));
        Ok(Node { value: Value::Object(values), place, weight, depth: depth + 1 })
    }

    fn key(
        &mut self,
        (event, span): Next<'t>,
        path: Path<'_>,
    ) -> Result<Option<Key<'t>>, ScanError> {
        let plain = matches!(&event, Event::Scalar(_, ScalarStyle::Plain, _, None));
        if let Event::Scalar(text, _, 0, None) = event {
            let merges = plain && text == "<<";
            let read = match scalar::plain(&text) {
                _ if !plain => None,
                Ok(Value::Bool(bool)) => Some(bool.to_string()),
                Ok(Value::Number(number)) => Some(number.to_string()),
                Ok(Value::Null) | Err(_) => Some("null".to_owned()),
                _ => None,
            };
            // As Kubernetes does: a key that is no text becomes one, though hardly the one meant.
            if let Some(read) = read.filter(|read| *read != text) {
                let message = format!("Kubernetes reads this key as {read}: put it in quotes");
                self.fault(&span, Path::Key(&path, &text), &message);
            }
            return Ok(Some(Key { text, merges }));
        }
        let node = self.node((event, span), path)?;
        if let Value::String(text) = node.value {
            return Ok(Some(Key { text: text.into(), merges: false }));
        }
        self.fault(&span, path, "a key must be a text: put it in quotes");
        Ok(None)
    }

    fn alias(&mut self, id: usize, span: &Span, path: Path<'_>) -> Node {
        let Some(node) = self.anchors.get(&id) else {
            self.fault(span, path, "an alias cannot stand within what it names: write it out");
            return self.leaf(Value::Null, span);
        };
        let message = if node.depth + path.depth() > DEEPEST {
            "is nested too deep by its aliases: write it out"
        } else if let Some(left) = self.left.checked_sub(node.weight) {
            self.left = left;
            let place = node.place.clone();
            let at = |place: Place| place.at(span.start.line(), span.start.col() + 1);
            return Node { place: place.map(at), ..node.copy() };
        } else {
            "aliases make more of this text than can be meant: write it out"
        };
        self.fault(span, path, message);
        self.leaf(Value::Null, span)
    }

    fn fault(&mut self, span: &Span, path: Path<'_>, message: &str) {
        let mut text = String::new();
        // Writing to a text cannot fail.
        let _ = write!(text, "{path}");
        self.faults.push(Fault {
            line: span.start.line(),
            column: span.start.col() + 1,
            path: text,
            message: message.to_owned(),
        });
    }
}

struct Key<'t> {
    text: Cow<'t, str>,
    /// It is `<<`.
    merges: bool,
}

/// A map while it is made.
#[derive(Default)]
struct Fields {
    values: Map<String, Value>,
    places: Vec<(String, Place)>,
    /// The keys that are null.
    nulls: BTreeSet<String>,
    /// The keys that are merged into it and do not stand in it.
    merged: BTreeSet<String>,
}

impl Fields {
    /// Whether a key stands in the map already.
    fn has(&self, key: &str) -> bool {
        self.values.contains_key(key) && !self.merged.contains(key) || self.nulls.contains(key)
    }

    fn put(&mut self, key: String, node: Node, at: &Span) {
        if let Some(place) = node.place {
            self.places.push((key.clone(), place.at(at.start.line(), at.start.col() + 1)));
        }
        self.merged.remove(&key);
        if node.value.is_null() {
            self.values.remove(&key);
            self.nulls.insert(key);
        } else {
            self.values.insert(key, node.value);
        }
    }

    /// Takes what is not there yet from a map, or from a list of maps.
    fn merge(&mut self, node: Node) -> bool {
        let maps = match node.value {
            Value::Object(fields) => vec![fields],
            Value::Array(items) => {
                let of = |item| if let Value::Object(fields) = item { Some(fields) } else { None };
                let Some(maps) = items.into_iter().map(of).collect() else { return false };
                maps
            }
            _ => return false,
        };
        for (key, value) in maps.into_iter().flatten() {
            if !self.nulls.contains(&key) && !self.values.contains_key(&key) {
                self.merged.insert(key.clone());
                self.values.insert(key, value);
            }
        }
        // In front: of two places of one key, the last is its own.
        self.places.splice(0..0, node.place.iter().flat_map(Place::fields).cloned());
        true
    }
}

impl Node {
    fn copy(&self) -> Self {
        Self {
            value: self.value.clone(),
            place: self.place.clone(),
            weight: self.weight,
            depth: self.depth,
        }
    }
}

impl Path<'_> {
    fn depth(&self) -> usize {
        match self {
            Self::Root => 0,
            Self::Key(parent, _) | Self::Index(parent, _) => parent.depth() + 1,
        }
    }
}

#[cfg(test)]
mod tests;
