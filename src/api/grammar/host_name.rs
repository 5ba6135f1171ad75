use std::str::FromStr;

use super::dns_label::{DnsLabel, check_label};
use super::invalid::{Invalid, check_length};
use super::schema::Rule;
use super::text::text_type;

/// The name of a Host: a DNS label of at most 50 characters, so that its namespace
/// `kibotos-host-<name>` is one of at most 63.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName {
    text: String,
}

text_type!(HostName);

impl HostName {
    /// The longest name, in characters.
    pub const MAX_CHARS: usize = 50;

    fn rules() -> Vec<Rule> {
        DnsLabel::rules()
    }
}

impl FromStr for HostName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_label(text, text)?;
        check_length("a host name", text, Self::MAX_CHARS)?;
        Ok(Self { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<HostName>(&["a", "edge-17", &"a".repeat(50)]);
    }

    #[test]
    fn refused() {
        refuses::<HostName>(&[
            ("", "at least one"),
            ("edge.example.com", "contains '.'"),
            (&"a".repeat(51), "a host name has at most 50 characters"),
        ]);
    }
}
