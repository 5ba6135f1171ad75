//! Reading JSON.

use serde_json::{Map, Value};

use super::Unreadable;
use super::object::wanted;

/// The JSON of `what`; an error names the line and column.
pub fn parse(what: &str, text: &str) -> Result<Value, Unreadable> {
    if text.trim().is_empty() {
        return Err(Unreadable(format!("{what} is empty: JSON is expected")));
    }
    serde_json::from_str(text).map_err(|error| Unreadable(format!("{what} is no JSON: {error}")))
}

/// The members of `value`, which is all of `what`.
pub fn members<'a>(what: &str, value: &'a Value) -> Result<&'a Map<String, Value>, Unreadable> {
    value.as_object().ok_or_else(|| Unreadable(format!("{what} {}", wanted("an object", value))))
}
