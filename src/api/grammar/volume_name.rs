use std::str::FromStr;

use super::container_name::check_docker_name;
use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;

/// What the names of the engine volumes that hold Workspaces' data begin with.
const OURS: &str = "kibotos-";

/// The name of an engine volume that a user mounts: Docker's `[a-zA-Z0-9][a-zA-Z0-9_.-]+`, 2 to
/// 255 characters, not beginning `kibotos-`, since those hold another Workspace's data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeName {
    text: String,
}

text_type!(VolumeName);

impl VolumeName {
    /// The longest name, in characters: it is the name of a directory.
    pub const MAX_CHARS: usize = 255;

    fn rules() -> Vec<Rule> {
        vec![
            (
                matches("^[a-zA-Z0-9][a-zA-Z0-9_.-]+$"),
                "must have at least 2 characters, only letters, digits, '_', '.' and '-', \
                 and start with a letter or digit",
            ),
            (format!("!self.startsWith('{OURS}')"), Self::OURS_REFUSED),
        ]
    }

    pub(super) const OURS_REFUSED: &str = "must not be a volume whose name begins 'kibotos-': \
                                           those hold the data of other Workspaces";
}

impl FromStr for VolumeName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_docker_name("a volume name", text)?;
        check_length("a volume name", text, Self::MAX_CHARS)?;
        if text.starts_with(OURS) {
            return Err(Invalid::new(format!(
                "{} begins {OURS:?}: such volumes hold the data of other Workspaces; \
                 bind a Volume by spec.volume instead",
                quoted(text),
            )));
        }
        Ok(Self { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<VolumeName>(&["pgdata", "my_app.data-1", "kibotos", "Kibotos-x"]);
    }

    #[test]
    fn refused() {
        refuses::<VolumeName>(&[
            ("", "is empty"),
            ("v", "is too short: a volume name has at least 2 characters"),
            (".v", "starts with '.'"),
            ("a/b", "contains '/'"),
            ("kibotos-0d1e", "begins \"kibotos-\""),
            (&"a".repeat(256), "at most 255"),
        ]);
    }
}
