use std::str::FromStr;

use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;

/// A container's name on its engine: Docker's `[a-zA-Z0-9][a-zA-Z0-9_.-]+`, 2 to 255 characters.
///
/// An engine takes longer names; 255 is what a file name and a network alias can hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContainerName {
    text: String,
}

text_type!(ContainerName);

impl ContainerName {
    /// The longest name, in characters.
    pub const MAX_CHARS: usize = 255;

    fn rules() -> Vec<Rule> {
        vec![(
            matches("^[a-zA-Z0-9][a-zA-Z0-9_.-]+$"),
            "must have at least 2 characters, only letters, digits, '_', '.' and '-', \
             and start with a letter or digit",
        )]
    }
}

impl FromStr for ContainerName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_docker_name("a container name", text)?;
        check_length("a container name", text, Self::MAX_CHARS)?;
        Ok(Self { text: text.to_owned() })
    }
}

/// Checks the grammar that Docker has for names of containers and volumes; `what` names the thing
/// with its article.
pub(super) fn check_docker_name(what: &str, text: &str) -> Result<(), Invalid> {
    let wrong = |problem: &str| Err(Invalid::new(format!("{} {problem}", quoted(text))));
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return wrong(&format!("is empty: {what} has at least 2 characters"));
    };
    if !first.is_ascii_alphanumeric() {
        return wrong(&format!("starts with {first:?}: {what} starts with a letter or digit"));
    }
    if let Some(bad) =
        chars.clone().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
    {
        return wrong(&format!(
            "contains {bad:?}: {what} has only letters, digits, '_', '.' and '-'"
        ));
    }
    if chars.next().is_none() {
        return wrong(&format!("is too short: {what} has at least 2 characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<ContainerName>(&["my_nginx", "0a", "A.-_", "default_web", &"a".repeat(255)]);
    }

    #[test]
    fn refused() {
        refuses::<ContainerName>(&[
            ("", "is empty"),
            ("t", "\"t\" is too short: a container name has at least 2 characters"),
            ("-a", "starts with '-'"),
            ("/web", "starts with '/'"),
            ("my web", "contains ' '"),
            ("wéb", "contains 'é'"),
            ("web\n", "contains '\\n'"),
            (&"a".repeat(256), "is too long: a container name has at most 255 characters"),
        ]);
    }
}
