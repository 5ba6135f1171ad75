use std::borrow::Cow;
use std::str::FromStr;
use std::sync::LazyLock;

use k8s_openapi::jiff::Timestamp;
use regex::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::invalid::{Invalid, check_length, quoted};

/// A moment in RFC 3339, e.g. `2027-01-31T18:00:00Z` or `2027-01-31T20:00:00.5+02:00`, the text kept
/// as it was given.
///
/// To the nanosecond and before 9999-12-30: what an API server calls a `date-time` reaches further,
/// in ways that not every client can read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    text: String,
    at: Timestamp,
}

impl Moment {
    /// The longest moment, in characters.
    pub const MAX_CHARS: usize = 35;
    /// The form, for RE2.
    pub const PATTERN: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\
                               ([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";
    /// The rule on the time itself; CEL reads a `date-time` as a time.
    pub const RULE: &str = "self < timestamp('9999-12-30T00:00:00Z')";
    /// What a user is told where the rule does not hold.
    pub const MESSAGE: &str = "must be before 9999-12-30";

    /// The moment.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Moment {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        static FORM: LazyLock<Result<Regex, regex::Error>> =
            LazyLock::new(|| Regex::new(Moment::PATTERN));
        check_length("a moment", text, Self::MAX_CHARS)?;
        let wrong = |problem: &str| Invalid::new(format!("{} {problem}", quoted(text)));
        let form = FORM.as_ref().is_ok_and(|form| form.is_match(text));
        let at: Option<Timestamp> = if form { text.parse().ok() } else { None };
        let Some(at) = at else {
            return Err(wrong("is not a moment: write one such as 2027-01-31T18:00:00Z"));
        };
        let end: Option<Timestamp> = "9999-12-30T00:00:00Z".parse().ok();
        if end.is_some_and(|end| at >= end) {
            return Err(wrong("is too late: a moment is before 9999-12-30"));
        }
        Ok(Self { text: text.to_owned(), at })
    }
}

impl JsonSchema for Moment {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "date-time",
            "pattern": Self::PATTERN,
            "x-kubernetes-validations": [{ "rule": Self::RULE, "message": Self::MESSAGE }],
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_are_read_to_the_nanosecond_and_with_their_offset() {
        for (text, same) in [
            ("2027-01-31T18:00:00Z", "2027-01-31T18:00:00Z"),
            ("2027-01-31T20:00:00+02:00", "2027-01-31T18:00:00Z"),
            ("2027-01-31T18:00:00.123456789Z", "2027-01-31T18:00:00.123456789Z"),
            ("9999-12-29T23:59:59Z", "9999-12-29T23:59:59Z"),
        ] {
            let moment: Moment = text.parse().unwrap();
            assert_eq!(moment.as_str(), text);
            assert_eq!(moment.at(), same.parse().unwrap());
        }
    }

    #[test]
    fn what_not_every_client_can_read_is_refused() {
        for (text, fragment) in [
            ("tomorrow", "2027-01-31T18:00:00Z"),
            ("2027-01-31", "is not a moment"),
            ("2027-01-31 18:00:00Z", "is not a moment"),
            ("2027-02-30T18:00:00Z", "is not a moment"),
            ("2027-01-31T18:00:00.1234567890Z", "is not a moment"),
            ("2027-01-31T18:00:00+99:99", "is not a moment"),
            ("2027-01-31T18:00:00+23:60", "is not a moment"),
            ("2027-01-31T18:00:00-24:00", "is not a moment"),
            ("9999-12-30T01:00:00Z", "before 9999-12-30"),
            ("9999-12-31T23:59:59Z", "is not a moment"),
            ("2027-01-31T18:00:00.123456789+02:0000", "too long"),
        ] {
            let error = text.parse::<Moment>().unwrap_err().to_string();
            assert!(error.contains(fragment), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            let _ = text.parse::<Moment>();
        }
    }
}
