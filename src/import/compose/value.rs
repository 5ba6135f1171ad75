//! Reading a compose file's values, which may be written in more than one way.

use serde_json::{Map, Value};

use crate::import::Variables;
use crate::import::interpolate::bare;
use crate::import::notes::Notes;
use crate::import::object::{is_zero, wanted};

/// An object of the file whose members are taken out one by one.
#[derive(Debug)]
pub struct Node<'a> {
    path: String,
    members: Option<Map<String, Value>>,
    other: Option<&'a Value>,
}

impl<'a> Node<'a> {
    /// The object at `path`; what is no object has no members.
    pub fn new(path: String, value: &'a Value) -> Self {
        let members = value.as_object().cloned();
        let other = Some(value).filter(|value| members.is_none() && !value.is_null());
        Self { path, members, other }
    }

    /// The path of the object, or of a member.
    pub fn at(&self, key: &str) -> String {
        if key.is_empty() { self.path.clone() } else { format!("{}.{key}", self.path) }
    }

    /// Takes a member out.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.members.as_mut()?.remove(key).filter(|value| !value.is_null())
    }

    /// A text; a number or a yes or no is the text of it.
    pub fn text(&mut self, key: &str, notes: &mut Notes) -> Option<String> {
        let value = self.take(key)?;
        scalar(&self.at(key), &value, notes)
    }

    /// A whole number, or the text of one.
    pub fn int(&mut self, key: &str, notes: &mut Notes) -> Option<i64> {
        let text = self.text(key, notes)?;
        let number = text.parse().ok();
        if number.is_none() {
            notes.error_at(self.at(key), format!("{text:?} is no whole number"));
        }
        number
    }

    /// A yes or no, or the text of one.
    pub fn flag(&mut self, key: &str, notes: &mut Notes) -> Option<bool> {
        let text = self.text(key, notes)?;
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "y" | "1" => Some(true),
            "false" | "no" | "off" | "n" | "0" => Some(false),
            _ => {
                notes.error_at(self.at(key), format!("{text:?} is neither true nor false"));
                None
            }
        }
    }

    /// A list, or one item that stands for a list of it.
    pub fn list(&mut self, key: &str) -> Vec<(String, Value)> {
        let at = self.at(key);
        match self.take(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => items
                .into_iter()
                .enumerate()
                .map(|(i, item)| (format!("{at}[{i}]"), item))
                .collect(),
            Some(one) => vec![(at, one)],
        }
    }

    /// A list of texts, or one that stands for a list of it.
    pub fn texts(&mut self, key: &str, notes: &mut Notes) -> Vec<(String, String)> {
        let items = self.list(key).into_iter();
        let text = |(at, item): (String, Value)| scalar(&at, &item, notes).map(|text| (at, text));
        items.filter_map(text).collect()
    }

    /// Pairs, as an object or as a list of `NAME=value`; a name alone has no value.
    pub fn pairs(&mut self, key: &str, notes: &mut Notes) -> Vec<(String, String, Option<String>)> {
        let at = self.at(key);
        let Some(Value::Object(map)) = self.members.as_ref().and_then(|m| m.get(key)) else {
            let split = |(at, text): (String, String)| match text.split_once('=') {
                Some((name, value)) => (at, name.to_owned(), Some(value.to_owned())),
                None => (at, text, None),
            };
            return self.texts(key, notes).into_iter().map(split).collect();
        };
        let map = map.clone();
        self.take(key);
        let mut pairs = Vec::new();
        for (name, value) in map {
            let at = format!("{at}.{name}");
            let value = if value.is_null() { None } else { scalar(&at, &value, notes) };
            pairs.push((at, name, value));
        }
        pairs
    }

    /// Warns of members that are there and says of each what to do.
    pub fn refuse(&mut self, members: &[(&str, &str)], notes: &mut Notes) {
        for (key, message) in members {
            if self.take(key).is_some_and(|value| !is_zero(&value)) {
                notes.warn_at(self.at(key), *message);
            }
        }
    }

    /// Ends the reading: what was not taken and says something is a warning.
    pub fn finish(self, notes: &mut Notes) {
        if let Some(other) = self.other {
            notes.error_at(self.path.clone(), wanted("an object", other));
        }
        for (key, value) in self.members.iter().flatten() {
            if !key.starts_with("x-") && !is_zero(value) {
                notes.warn_at(self.at(key), "has no counterpart in a Workspace: left out");
            }
        }
    }
}

/// A text; a number or a yes or no is the text of it.
pub fn scalar(at: &str, value: &Value, notes: &mut Notes) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match number.as_f64().filter(|_| number.is_f64()) {
            Some(fraction) => as_go_writes(fraction),
            None => number.to_string(),
        }),
        Value::Bool(flag) => Some(flag.to_string()),
        other => {
            notes.error_at(at, wanted("a text", other));
            None
        }
    }
}

/// A number with a fraction as compose makes a text of it: `1.0` is `1` and `1e21` is `1e+21`.
fn as_go_writes(number: f64) -> String {
    let plain = number == 0.0 || (1e-4..1e21).contains(&number.abs());
    if plain {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) =
                exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// Warns of variables that the file refers to, that are not set, and for which it says nothing.
pub fn unset(file: &Value, variables: &Variables, notes: &mut Notes) {
    fn walk(at: &str, value: &Value, variables: &Variables, notes: &mut Notes) {
        match value {
            Value::String(text) => {
                for name in bare(text) {
                    if !variables.contains_key(name) {
                        let message =
                            format!("{name} is not set, so it is empty: give --env-file with it");
                        notes.warn_at(at, message);
                    }
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    walk(&format!("{at}[{i}]"), item, variables, notes);
                }
            }
            Value::Object(members) => {
                for (key, value) in members {
                    let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                    walk(&at, value, variables, notes);
                }
            }
            _ => {}
        }
    }
    walk("", file, variables, notes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_texts_that_go_makes_of_them() {
        for (number, text) in [
            (1.0, "1"),
            (1.10, "1.1"),
            (1e3, "1000"),
            (-0.5, "-0.5"),
            (1e21, "1e+21"),
            (1.5e-5, "1.5e-05"),
            (0.0, "0"),
        ] {
            assert_eq!(as_go_writes(number), text);
        }
    }
}
