use std::str::FromStr;

use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;

/// An RFC 1123 label: 1 to 63 lower-case letters, digits and `-`, starting and ending with a
/// letter or digit. Namespaces, and all names that become part of a Docker or host name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DnsLabel {
    text: String,
}

text_type!(DnsLabel);

impl DnsLabel {
    /// The longest label, in characters.
    pub const MAX_CHARS: usize = 63;

    pub(super) fn rules() -> Vec<Rule> {
        vec![(
            matches("^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$"),
            "must have only lower-case letters, digits and '-', \
             and start and end with a letter or digit",
        )]
    }
}

impl FromStr for DnsLabel {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_label(text, text)?;
        check_length("a name", text, Self::MAX_CHARS)?;
        Ok(Self { text: text.to_owned() })
    }
}

/// Checks all of an RFC 1123 label but its length; `whole` is what a message shows.
pub(super) fn check_label(whole: &str, label: &str) -> Result<(), Invalid> {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let wrong = if let Some(bad) = label.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-'))
    {
        format!("contains {bad:?}: use only lower-case letters, digits and '-'")
    } else if label.is_empty() {
        "has an empty part: write at least one letter or digit".to_owned()
    } else if !edge(label.chars().next()) || !edge(label.chars().next_back()) {
        "starts or ends with '-': start and end with a letter or digit".to_owned()
    } else {
        return Ok(());
    };
    Err(Invalid::new(format!("{} {wrong}", quoted(whole))))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<DnsLabel>(&["a", "0", "web-1", "a--b", &"a".repeat(63)]);
    }

    #[test]
    fn refused() {
        refuses::<DnsLabel>(&[
            ("", "at least one"),
            ("Web", "contains 'W'"),
            ("a.b", "contains '.'"),
            ("a_b", "contains '_'"),
            ("-a", "starts or ends with '-'"),
            ("a-", "starts or ends with '-'"),
            (&"a".repeat(64), "at most 63"),
        ]);
    }
}
