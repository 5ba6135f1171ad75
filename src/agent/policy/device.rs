//! Devices: by path, and by the kernel's numbers.

use std::str::FromStr;

use serde::Deserialize;

use super::entry::{Entry, entry, short_or_long};
use super::path::HostPath;
use super::pattern::Pattern;
use crate::api::grammar::Invalid;

/// Which of read, write and make-node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    read: bool,
    write: bool,
    mknod: bool,
}

entry!(Access);

impl Access {
    const ALL: Self = Self { read: true, write: true, mknod: true };

    fn is_in(self, other: Self) -> bool {
        (!self.read || other.read) && (!self.write || other.write) && (!self.mknod || other.mknod)
    }
}

impl FromStr for Access {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.len() > 3 || text.contains(|c| !"rwm".contains(c)) {
            return Err(Invalid::new(format!("{text:?} must be letters of rwm, e.g. rw")));
        }
        let has = |c| text.contains(c);
        Ok(Self { read: has('r'), write: has('w'), mknod: has('m') })
    }
}

/// A rule in the kernel's form, `TYPE MAJOR:MINOR ACCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRule {
    /// `b`, `c`, or `a` for all, which has no numbers.
    kind: char,
    /// None is every number.
    major: Option<u64>,
    minor: Option<u64>,
    access: Access,
}

impl DeviceRule {
    fn is_in(self, other: Self) -> bool {
        let number =
            |asked: Option<u64>, allowed: Option<u64>| allowed.is_none() || asked == allowed;
        (other.kind == 'a' || self.kind == other.kind)
            && number(self.major, other.major)
            && number(self.minor, other.minor)
            && self.access.is_in(other.access)
    }
}

impl FromStr for DeviceRule {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong =
            || Invalid::new(format!("{text:?} must be TYPE MAJOR:MINOR ACCESS, e.g. c 188:* rwm"));
        let number = |text: &str| match text {
            "*" => Ok(None),
            _ if text.bytes().all(|b| b.is_ascii_digit()) => {
                text.parse().map(Some).map_err(|_| wrong())
            }
            _ => Err(wrong()),
        };
        let mut words = text.split(' ');
        let (Some(kind), Some(numbers), Some(access), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(wrong());
        };
        let (major, minor) = numbers.split_once(':').ok_or_else(wrong)?;
        let (major, minor) = (number(major)?, number(minor)?);
        let access = access.parse()?;
        match kind {
            // The kernel reads no numbers after `a`.
            "a" => Ok(Self { kind: 'a', major: None, minor: None, access }),
            "b" => Ok(Self { kind: 'b', major, minor, access }),
            "c" => Ok(Self { kind: 'c', major, minor, access }),
            _ => Err(wrong()),
        }
    }
}

/// What of the host's devices is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceAllowance {
    /// Devices by their path, in which `*` stands within one segment.
    Path {
        /// The path.
        path: DevicePath,
        /// What may be done with it.
        permissions: Access,
    },
    /// Devices by their numbers.
    Rule(DeviceRule),
}

impl DeviceAllowance {
    /// Whether it allows a device by its path.
    pub fn covers_path(&self, path: &HostPath, access: Access) -> bool {
        match self {
            Self::Path { path: allowed, permissions } => {
                allowed.0.matches(path.as_str()) && access.is_in(*permissions)
            }
            Self::Rule(_) => false,
        }
    }

    /// The entry for the path that `link` leads to, where this one allows `link`.
    pub fn led(&self, link: &HostPath, to: &HostPath) -> Option<Self> {
        match self {
            // A `*` in the path would stand for more than was asked.
            Self::Path { path, permissions }
                if path.0.matches(link.as_str()) && !to.as_str().contains('*') =>
            {
                let path = to.as_str().parse().ok()?;
                Some(Self::Path { path, permissions: *permissions })
            }
            Self::Path { .. } | Self::Rule(_) => None,
        }
    }

    /// Whether it allows a rule.
    pub fn covers_rule(&self, rule: DeviceRule) -> bool {
        matches!(self, Self::Rule(allowed) if rule.is_in(*allowed))
    }
}

/// The path of devices, with `*` within its segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePath(Pattern);

entry!(DevicePath);

impl FromStr for DevicePath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self(text.parse::<HostPath>()?.as_str().parse()?))
    }
}

/// [`DeviceAllowance`] as a map.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongDevice {
    path: DevicePath,
    permissions: Access,
}

impl Entry for DeviceAllowance {
    const FORMS: &'static str =
        "a path such as /dev/ttyUSB*, a rule such as c 188:* rwm, or a map {path, permissions}";
    type Long = LongDevice;

    fn short(text: &str) -> Result<Self, Invalid> {
        if text.starts_with('/') {
            return Ok(Self::Path { path: text.parse()?, permissions: Access::ALL });
        }
        let rule = text.parse().map(Self::Rule);
        rule.map_err(|_| Invalid::new(format!("{text:?} is not {}", Self::FORMS)))
    }

    fn long(LongDevice { path, permissions }: LongDevice) -> Self {
        Self::Path { path, permissions }
    }
}

short_or_long!(DeviceAllowance);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_covered_by_one_that_says_as_much_or_more() {
        for (asked, allowed, covered) in [
            ("c 188:0 rw", "c 188:* rwm", true),
            ("c 188:* rwm", "c 188:* rwm", true),
            ("c 0188:00 mr", "c 188:0 rm", true),
            ("c 188:* r", "c 188:0 rwm", false),
            ("c 189:0 r", "c 188:* rwm", false),
            ("b 188:0 r", "c 188:* rwm", false),
            ("c 188:0 rw", "c 188:* r", false),
            ("c *:* rwm", "a *:* rwm", true),
            ("a 1:3 r", "c *:* rwm", false),
            ("a 1:3 r", "a *:* r", true),
        ] {
            let parsed = |text: &str| text.parse::<DeviceRule>().unwrap();
            assert_eq!(parsed(asked).is_in(parsed(allowed)), covered, "{asked} by {allowed}");
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in [
            "",
            "c",
            "c 1:2",
            "c 1:2 x",
            "c 1:2 rwmr",
            "d 1:2 r",
            "c +1:2 r",
            "c 1 r",
            "c  1:2 r",
            "c 1:2 r ",
            "C 1:2 r",
        ] {
            assert!(text.parse::<DeviceRule>().is_err(), "{text:?}");
        }
    }
}
