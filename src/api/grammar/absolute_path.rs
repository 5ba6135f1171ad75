use std::str::FromStr;

use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;

/// An absolute path below `/`, written the one way that a path can be written: mount
/// destinations, `container.directory`.
///
/// It starts with `/` and is not `/` itself; has no empty, `.` or `..` segment, no trailing `/`,
/// no `:` (Docker's separator) and no control character; at most 1024 characters. So two equal
/// paths are equal texts, which lets a CEL rule find duplicates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AbsolutePath {
    text: String,
}

text_type!(AbsolutePath);

impl AbsolutePath {
    /// The longest path, in characters.
    pub const MAX_CHARS: usize = 1024;

    /// A regular expression, not anchored, for exactly these paths. RE2 cannot look ahead, so a
    /// segment is one that starts with no dot, with one dot and another character, or with two
    /// and any third.
    pub(super) const REGEX: &str = concat!(
        r"(?:/(?:[^/.:\x00-\x1f\x7f-\x{9f}]|\.[^/.:\x00-\x1f\x7f-\x{9f}]",
        r"|\.\.[^/:\x00-\x1f\x7f-\x{9f}])[^/:\x00-\x1f\x7f-\x{9f}]*)+",
    );

    fn rules() -> Vec<Rule> {
        vec![
            (
                "self.startsWith('/') && self != '/'".to_owned(),
                "must be an absolute path below '/', such as /data",
            ),
            (
                format!(
                    "!self.startsWith('/') || self == '/' || {}",
                    matches(&format!("^{}$", Self::REGEX)),
                ),
                "must have no '//', no '.' or '..' segment, no trailing '/', no ':' \
                 and no control character",
            ),
        ]
    }
}

impl FromStr for AbsolutePath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let text = clean(text)?;
        if text.contains(':') {
            return Err(Invalid::new(format!(
                "{} contains ':', which separates the parts of a mount: rename the path",
                quoted(&text)
            )));
        }
        Ok(Self { text })
    }
}

/// An absolute path below `/` that is written the one way that a path can be written.
pub(super) fn clean(text: &str) -> Result<String, Invalid> {
    let wrong = |problem: &str| Err(Invalid::new(format!("{} {problem}", quoted(text))));
    let Some(below) = text.strip_prefix('/') else {
        return wrong("is not an absolute path: write one that starts with '/', such as /data");
    };
    check_length("a path", text, AbsolutePath::MAX_CHARS)?;
    if let Some(bad) = text.chars().find(|c| c.is_control()) {
        return wrong(&format!("contains the control character {bad:?}"));
    }
    if below.split('/').any(|segment| segment == "..") {
        return wrong("has a '..' segment: write the path that it leads to");
    }
    let parts: Vec<&str> =
        below.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
    if parts.is_empty() {
        return wrong("is the root directory: write a path below it, such as /data");
    }
    let clean = format!("/{}", parts.join("/"));
    if clean != text {
        return wrong(&format!(
            "has '//', a '.' segment or a trailing '/': write {}",
            quoted(&clean)
        ));
    }
    Ok(clean)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<AbsolutePath>(&[
            "/data",
            "/a/b/c",
            "/a b/ü",
            "/.hidden",
            "/..a",
            "/...",
            "/a./b..",
            "/.a./..b/-",
            "/dev/ttyUSB0",
            &format!("/{}", "é".repeat(1023)),
        ]);
    }

    #[test]
    fn refused() {
        refuses::<AbsolutePath>(&[
            ("", "not an absolute path"),
            ("data", "not an absolute path"),
            ("./data", "not an absolute path"),
            ("/", "is the root directory"),
            ("//", "is the root directory"),
            ("/.", "is the root directory"),
            ("/data/", "write \"/data\""),
            ("/a//b", "write \"/a/b\""),
            ("//a", "write \"/a\""),
            ("/a/./b", "write \"/a/b\""),
            ("/a/.", "write \"/a\""),
            ("/a/../b", "'..' segment"),
            ("/..", "'..' segment"),
            ("/a:b", "contains ':'"),
            ("/a\0", "control character '\\0'"),
            ("/a\n", "control character '\\n'"),
            ("/a\u{85}", "control character"),
            (&format!("/{}", "é".repeat(1024)), "at most 1024 characters"),
        ]);
    }

    proptest! {
        #[test]
        fn clean_paths_are_accepted(segments in prop::collection::vec("[a-z._-]{1,5}", 1..5)) {
            let text = format!("/{}", segments.join("/"));
            let dotted = segments.iter().any(|segment| segment == "." || segment == "..");
            prop_assert_eq!(text.parse::<AbsolutePath>().is_ok(), !dotted);
        }
    }
}
