use std::str::FromStr;

use super::dns_label::check_label;
use super::invalid::{Invalid, check_length};
use super::schema::{Rule, matches};
use super::text::text_type;

/// The name of a Kubernetes object such as a Secret: an RFC 1123 subdomain, that is labels joined
/// by `.`, at most 253 characters. (As in Kubernetes, one label may be longer than 63.)
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    text: String,
}

text_type!(ObjectName);

impl ObjectName {
    /// The longest name, in characters.
    pub const MAX_CHARS: usize = 253;

    fn rules() -> Vec<Rule> {
        vec![(
            matches(r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$"),
            "must have only lower-case letters, digits, '-' and '.', \
             and start and end with a letter or digit",
        )]
    }
}

impl FromStr for ObjectName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.split('.').try_for_each(|label| check_label(text, label))?;
        check_length("a name", text, Self::MAX_CHARS)?;
        Ok(Self { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<ObjectName>(&["a", "db-password", "tls.example.com", &"a".repeat(253)]);
    }

    #[test]
    fn refused() {
        refuses::<ObjectName>(&[
            ("", "empty part"),
            ("a..b", "empty part"),
            (".a", "empty part"),
            ("a.-b", "starts or ends with '-'"),
            ("A", "contains 'A'"),
            ("a/b", "contains '/'"),
            (&"a".repeat(254), "at most 253"),
        ]);
    }
}
