//! The version of an engine's API.

use std::fmt;
use std::str::FromStr;

/// An engine's API version, e.g. `1.41` (Docker 20.10) or `1.52` (Docker 29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion {
    major: u32,
    minor: u32,
}

impl ApiVersion {
    /// The oldest API that is spoken: Docker 20.10's.
    pub const OLDEST: Self = Self::v1(41);
    /// The newest API that is spoken: Docker 29's.
    pub const NEWEST: Self = Self::v1(52);

    /// Version 1 of the API, of which there is only that one.
    pub const fn v1(minor: u32) -> Self {
        Self { major: 1, minor }
    }
}

impl FromStr for ApiVersion {
    type Err = String;

    /// Reads `1.41`; a leading `v` is borne.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an engine API version: write one such as 1.41");
        let (major, minor) = text.trim_start_matches('v').split_once('.').ok_or_else(wrong)?;
        let number = |part: &str| part.parse().map_err(|_| wrong());
        Ok(Self { major: number(major)?, minor: number(minor)? })
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_number_not_by_text() {
        let of = |text: &str| text.parse::<ApiVersion>().unwrap();
        assert!(of("1.9") < of("1.41") && of("1.41") < of("v1.52") && of("1.52") < of("2.0"));
        assert_eq!(of("1.41").to_string(), "1.41");
    }

    #[test]
    fn what_is_no_version_is_refused_with_an_example() {
        for text in ["", "1", "1.x", "latest", "1.-2"] {
            assert!(text.parse::<ApiVersion>().unwrap_err().contains("1.41"), "{text}");
        }
    }
}
