use std::str::FromStr;

use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;

/// The directory a container's process starts in: an absolute path, or empty for the image's.
///
/// The engine cleans it, so `/`, `//`, `..` and a trailing `/` are fine; no NUL; at most 4096
/// characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkingDir {
    text: String,
}

text_type!(WorkingDir);

impl WorkingDir {
    /// The longest path, in characters.
    pub const MAX_CHARS: usize = 4096;

    fn rules() -> Vec<Rule> {
        vec![(
            matches(r"^(?:/[^\x00]*)?$"),
            "must be an absolute path such as /app, or empty for the image's own directory",
        )]
    }
}

impl FromStr for WorkingDir {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if !text.is_empty() && !text.starts_with('/') {
            return Err(Invalid::new(format!(
                "{} is not an absolute path: write one that starts with '/', such as /app",
                quoted(text),
            )));
        }
        if text.contains('\0') {
            return Err(Invalid::new(format!("{} contains a NUL character", quoted(text))));
        }
        check_length("a working directory", text, Self::MAX_CHARS)?;
        Ok(Self { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<WorkingDir>(&["", "/", "/app", "/app/", "//a/../b", "/a:b", "/a\nb"]);
    }

    #[test]
    fn refused() {
        refuses::<WorkingDir>(&[
            ("app", "not an absolute path"),
            ("./", "not an absolute path"),
            (" /app", "not an absolute path"),
            ("/a\0", "NUL"),
            (&format!("/{}", "a".repeat(4096)), "at most 4096"),
        ]);
    }
}
