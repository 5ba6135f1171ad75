//! Names with `*`, as an admin writes them.

use std::str::FromStr;

use super::entry::entry;
use crate::api::grammar::Invalid;
use crate::api::names::ENGINE_VOLUME_PREFIX;

/// A name in which `*` stands for any characters but `/`, also none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

entry!(Pattern);

impl Pattern {
    /// Whether `text` is such a name. Letter for letter: what the engine tells apart, this does.
    pub fn matches(&self, text: &str) -> bool {
        glob(self.0.as_bytes(), text.as_bytes())
    }

    /// Whether `name` is such a name of a network or container.
    ///
    /// An engine also takes an id and the beginning of an id for a name: those are covered only by
    /// an entry without `*`, which an admin wrote in full knowledge, and by `*` alone.
    pub fn matches_name(&self, name: &str) -> bool {
        let like_id = !name.is_empty() && name.bytes().all(|b| b.is_ascii_hexdigit());
        self.matches(name) && (!like_id || self.0 == "*" || !self.0.contains('*'))
    }
}

impl FromStr for Pattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(Invalid::new(format!(
                "{text:?} is not a name: write one without spaces, in which * stands for any characters"
            )));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Whether `*` in `pattern` can stand for something without `/` in `text`.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // After the last `*`, and where in `text` what follows it was tried.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, t));
        } else if pattern.get(p) == Some(byte) {
            p += 1;
            t += 1;
        } else if let Some((after, tried)) = star
            && text.get(tried) != Some(&b'/')
        {
            star = Some((after, tried + 1));
            (p, t) = (after, tried + 1);
        } else {
            return false;
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}

/// A volume's name with `*`; never one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumePattern(Pattern);

entry!(VolumePattern);

impl VolumePattern {
    /// Whether `name` is such a name.
    pub fn matches(&self, name: &str) -> bool {
        self.0.matches(name)
    }
}

impl FromStr for VolumePattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.starts_with(ENGINE_VOLUME_PREFIX) {
            return Err(Invalid::new(format!(
                "{text:?}: volumes whose name begins with {ENGINE_VOLUME_PREFIX} hold the data of \
                 Workspaces and are never allowed: leave it out"
            )));
        }
        text.parse().map(Self)
    }
}

/// A network's name with `*`; not the host's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPattern(Pattern);

entry!(NetworkPattern);

impl NetworkPattern {
    /// Whether `name` is such a name.
    pub fn matches(&self, name: &str) -> bool {
        self.0.matches_name(name)
    }
}

impl FromStr for NetworkPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "host" {
            return Err(Invalid::new(
                "the host's network is no network among others: write hostNamespaces: [network]",
            ));
        }
        if text.starts_with("container:") {
            return Err(Invalid::new("write the container's name under joinContainers"));
        }
        text.parse().map(Self)
    }
}

/// A kernel parameter with `*`, which also stands for dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysctlPattern(Pattern);

entry!(SysctlPattern);

impl SysctlPattern {
    /// Whether `key` is such a parameter.
    pub fn matches(&self, key: &str) -> bool {
        self.0.matches(key)
    }
}

impl FromStr for SysctlPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.contains(['/', '=']) {
            return Err(Invalid::new(format!(
                "{text:?} is not a kernel parameter: write it with dots and without a value, e.g. net.ipv4.*"
            )));
        }
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters_but_a_slash() {
        for (pattern, yes, no) in [
            ("cache-*", "cache-", "cache"),
            ("*", "x", "a/b"),
            ("/dev/ttyUSB*", "/dev/ttyUSB12", "/dev/ttyUSB/0"),
            ("/dev/*/by-id/a*", "/dev/serial/by-id/abc", "/dev/a/b/by-id/a"),
            ("a*b*c", "a-b-b-c", "a-b-b"),
            ("net.ipv4.*", "net.ipv4.conf.all.forwarding", "net.ipv6.x"),
            ("**a", "ba", "b"),
        ] {
            let pattern: Pattern = pattern.parse().unwrap();
            assert!(pattern.matches(yes), "{pattern:?} {yes}");
            assert!(!pattern.matches(no), "{pattern:?} {no}");
        }
    }

    #[test]
    fn what_may_be_an_id_is_matched_only_literally_or_by_a_star_alone() {
        let matches =
            |pattern: &str, name: &str| pattern.parse::<Pattern>().unwrap().matches_name(name);
        assert!(!matches("a*", "abc"));
        assert!(matches("a*", "app"));
        assert!(matches("abc", "abc"));
        assert!(matches("*", "abc"));
    }
}
