//! The schemas that our CRDs give these types.

use schemars::{Schema, json_schema};
use serde_json::{Value, json};

/// A CEL rule over `self` and what a user is told when it does not hold.
pub(super) type Rule = (String, &'static str);

/// A string of at most `max_chars` characters for which all `rules` hold.
///
/// A rule rather than a `pattern`, since a failed pattern only shows its regular expression.
pub(super) fn string(max_chars: usize, rules: &[Rule]) -> Schema {
    json_schema!({
        "type": "string",
        "maxLength": max_chars,
        "x-kubernetes-validations": validations(rules),
    })
}

/// An integer, or a string of at most `max_chars` characters, for which all `rules` hold.
///
/// `type` must not stand beside `x-kubernetes-int-or-string`; `maxLength` may, and bounds what
/// the API server reckons the rules to cost.
pub(super) fn int_or_string(max_chars: usize, rules: &[Rule]) -> Schema {
    json_schema!({
        "x-kubernetes-int-or-string": true,
        "maxLength": max_chars,
        "x-kubernetes-validations": validations(rules),
    })
}

/// The rule that `self` matches the regular expression (RE2, no single quotes) `regex`.
pub(super) fn matches(regex: &str) -> String {
    format!("self.matches(r'{regex}')")
}

fn validations(rules: &[Rule]) -> Vec<Value> {
    rules.iter().map(|(rule, message)| json!({"rule": rule, "message": message})).collect()
}
