use std::str::FromStr;

use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;

/// A key in the data of a Secret or `ConfigMap`: letters, digits, `-`, `_` and `.`, 1 to 253
/// characters, not `.` and not beginning `..`, as Kubernetes has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataKey {
    text: String,
}

text_type!(DataKey);

impl DataKey {
    /// The longest key, in characters.
    pub const MAX_CHARS: usize = 253;

    fn rules() -> Vec<Rule> {
        vec![(
            format!("{} && self != '.' && !self.startsWith('..')", matches("^[-._a-zA-Z0-9]+$")),
            "must have only letters, digits, '-', '_' and '.', at least one of them, \
             and not be '.' nor begin '..'",
        )]
    }
}

impl FromStr for DataKey {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong = |problem: &str| Err(Invalid::new(format!("{} {problem}", quoted(text))));
        if text.is_empty() {
            return wrong("is empty: write the name of a key in the data");
        }
        if let Some(bad) =
            text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        {
            return wrong(&format!(
                "contains {bad:?}: a key has only letters, digits, '-', '_' and '.'"
            ));
        }
        if text == "." || text.starts_with("..") {
            return wrong("is '.' or begins '..', which no key may");
        }
        check_length("a key", text, Self::MAX_CHARS)?;
        Ok(Self { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<DataKey>(&["a", "service.conf", ".dockerconfigjson", "-_", &"a".repeat(253)]);
    }

    #[test]
    fn refused() {
        refuses::<DataKey>(&[
            ("", "is empty"),
            (".", "begins '..'"),
            ("..", "begins '..'"),
            ("..a", "begins '..'"),
            ("a/b", "contains '/'"),
            ("é", "contains 'é'"),
            (&"a".repeat(254), "at most 253"),
        ]);
    }
}
