//! Reading a JSON object member by member, so that what nobody took can be told.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::notes::Notes;

/// An object whose members are taken out one by one.
#[derive(Debug, Default)]
pub struct Object<'a> {
    path: String,
    members: Vec<(&'a str, &'a Value)>,
}

impl<'a> Object<'a> {
    /// The members of an object at `path`.
    pub fn new(path: impl Into<String>, members: &'a Map<String, Value>) -> Self {
        let members = members.iter().map(|(key, value)| (key.as_str(), value)).collect();
        Self { path: path.into(), members }
    }

    /// `value` as an object; an error where it is something else.
    pub fn of(path: &str, value: &'a Value, notes: &mut Notes) -> Self {
        match value {
            Value::Object(members) => Self::new(path, members),
            Value::Null => Self { path: path.to_owned(), members: Vec::new() },
            other => {
                notes.error(path, wanted("an object", other));
                Self { path: path.to_owned(), members: Vec::new() }
            }
        }
    }

    /// The path of a member.
    pub fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Takes a member out. An engine reads names in either case, so we do too, the exact one first.
    pub fn take(&mut self, key: &str) -> Option<&'a Value> {
        let exact = self.members.iter().position(|(name, _)| *name == key);
        let found = exact
            .or_else(|| self.members.iter().position(|(name, _)| name.eq_ignore_ascii_case(key)))?;
        let (_, value) = self.members.remove(found);
        Some(value).filter(|value| !value.is_null())
    }

    /// Takes out members that mean nothing for how a container runs.
    pub fn ignore(&mut self, keys: &[&str]) {
        for key in keys {
            self.take(key);
        }
    }

    /// A text that is not empty.
    pub fn text(&mut self, key: &str, notes: &mut Notes) -> Option<String> {
        let value = self.take(key)?;
        text(&self.at(key), value, notes).filter(|text| !text.is_empty())
    }

    /// A yes or no.
    pub fn flag(&mut self, key: &str, notes: &mut Notes) -> Option<bool> {
        let value = self.take(key)?;
        if value.as_bool().is_none() {
            notes.error(&self.at(key), wanted("true or false", value));
        }
        value.as_bool()
    }

    /// A whole number.
    pub fn int(&mut self, key: &str, notes: &mut Notes) -> Option<i64> {
        let value = self.take(key)?;
        if value.as_i64().is_none() {
            notes.error(&self.at(key), wanted("a whole number", value));
        }
        value.as_i64()
    }

    /// A list; empty where there is none.
    pub fn list(&mut self, key: &str, notes: &mut Notes) -> Vec<(String, &'a Value)> {
        let at = self.at(key);
        match self.take(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let item = |(i, item)| (format!("{at}[{i}]"), item);
                items.iter().enumerate().map(item).collect()
            }
            Some(other) => {
                notes.error(&at, wanted("a list", other));
                Vec::new()
            }
        }
    }

    /// A list of texts, each with its path.
    pub fn texts(&mut self, key: &str, notes: &mut Notes) -> Vec<(String, String)> {
        let items = self.list(key, notes);
        let item = |(at, item): (String, &Value)| text(&at, item, notes).map(|text| (at, text));
        items.into_iter().filter_map(item).collect()
    }

    /// An object; one without members where there is none.
    pub fn object(&mut self, key: &str, notes: &mut Notes) -> Self {
        let at = self.at(key);
        match self.take(key) {
            Some(value) => Self::of(&at, value, notes),
            None => Self { path: at, members: Vec::new() },
        }
    }

    /// An object of texts. A null is an empty text, as an engine reads it.
    pub fn map(&mut self, key: &str, notes: &mut Notes) -> BTreeMap<String, String> {
        let object = self.object(key, notes);
        let path = object.path.clone();
        let entry = |(name, value): (&str, &Value)| {
            let at = format!("{path}[{name}]");
            let value = if value.is_null() { Some(String::new()) } else { text(&at, value, notes) };
            value.map(|value| (name.to_owned(), value))
        };
        object.members.into_iter().filter_map(entry).collect()
    }

    /// All that is left, each with its path.
    pub fn rest(self) -> Vec<(&'a str, String, &'a Value)> {
        let path = self.path;
        let entry = |(key, value)| (key, format!("{path}[{key}]"), value);
        self.members.into_iter().map(entry).collect()
    }

    /// Whether nothing is left that says something.
    pub fn says_nothing(&self) -> bool {
        self.members.iter().all(|(_, value)| is_zero(value))
    }

    /// Ends the reading: what was not taken and says something is a warning.
    pub fn finish(self, notes: &mut Notes) {
        for (key, value) in &self.members {
            if !is_zero(value) {
                notes.warn(&self.at(key), "has no counterpart in a Workspace: left out");
            }
        }
    }
}

/// `value` as a text; an error where it is something else.
pub fn text(path: &str, value: &Value, notes: &mut Notes) -> Option<String> {
    if value.as_str().is_none() {
        notes.error(path, wanted("a text", value));
    }
    value.as_str().map(str::to_owned)
}

/// Whether a value says nothing: null, false, 0, empty, or made of such alone.
pub fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_zero),
    }
}

/// What to say of a value of the wrong type.
pub fn wanted(what: &str, value: &Value) -> String {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("must be {what}, and is {is}")
}
