//! Capabilities and security options, each in one spelling.

use std::str::FromStr;

use super::entry::entry;
use crate::api::grammar::{self, Invalid};

/// Every container has these unless it drops them, so to add one of them gives it nothing.
const DOCKER_DEFAULT: [&str; 14] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// A capability without `CAP_`, in capitals; `ALL` is all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability(String);

entry!(Capability);

impl Capability {
    /// From a create body, where it may be one that no kernel knows.
    pub fn asked(text: &str) -> Self {
        let upper = text.to_ascii_uppercase();
        Self(upper.strip_prefix("CAP_").map(str::to_owned).unwrap_or(upper))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether every container has it anyway.
    pub fn is_default(&self) -> bool {
        DOCKER_DEFAULT.contains(&self.as_str())
    }

    /// Whether it allows `asked`; `ALL` allows every one and itself, and nothing else allows `ALL`.
    pub fn covers(&self, asked: &Self) -> bool {
        self.0 == "ALL" || self == asked
    }
}

impl FromStr for Capability {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let known = Self::asked(text);
        let name = known.as_str();
        if name != "ALL" && !grammar::Capability::KNOWN.contains(&name) {
            return Err(Invalid::new(format!(
                "{text:?} is not a capability: write ALL, or one such as NET_ADMIN, see capabilities(7)"
            )));
        }
        Ok(known)
    }
}

/// A security option as `KEY=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityOption {
    key: String,
    value: String,
}

impl SecurityOption {
    /// As the engine reads it: `=` counts before `:`, and some options are a word alone.
    pub fn asked(text: &str) -> Self {
        let (key, value) = match text {
            "no-new-privileges" | "writable-cgroups" => (text, "true"),
            "disable" => ("label", "disable"),
            _ => text.split_once('=').or_else(|| text.split_once(':')).unwrap_or((text, "")),
        };
        let value = match key {
            "no-new-privileges" | "writable-cgroups" => switch(value),
            _ => value,
        };
        Self { key: key.to_owned(), value: value.to_owned() }
    }

    /// Whether it takes something from the container, or is what the engine does anyway.
    pub fn is_harmless(&self) -> bool {
        matches!(
            (self.key.as_str(), self.value.as_str()),
            ("no-new-privileges", "true")
                | ("writable-cgroups", "false")
                | ("apparmor", "docker-default")
        )
    }

    /// What to show of it: a profile's content is long.
    pub fn shown(&self) -> String {
        let long = self.key == "seccomp" && self.value.contains('{');
        let value = if long { "*, for a profile of one's own," } else { &self.value };
        format!("{}={value}", self.key)
    }
}

/// A truth as Go reads it, which is what the engine does.
fn switch(value: &str) -> &str {
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => "true",
        "0" | "f" | "F" | "false" | "FALSE" | "False" => "false",
        _ => value,
    }
}

/// A security option that is allowed; a `*` at the end of its value stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityAllowance(SecurityOption);

entry!(SecurityAllowance);

impl SecurityAllowance {
    /// Whether it allows `asked`.
    pub fn covers(&self, asked: &SecurityOption) -> bool {
        let SecurityOption { key, value } = &self.0;
        *key == asked.key
            && match value.strip_suffix('*') {
                Some(start) => asked.value.starts_with(start),
                None => asked.value == *value,
            }
    }
}

impl FromStr for SecurityAllowance {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let option = SecurityOption::asked(text);
        let right = match option.key.as_str() {
            "seccomp" | "apparmor" | "label" | "systempaths" => !option.value.is_empty(),
            "no-new-privileges" | "writable-cgroups" => {
                matches!(option.value.as_str(), "true" | "false")
            }
            _ => false,
        };
        if right {
            return Ok(Self(option));
        }
        Err(Invalid::new(format!(
            "{text:?} is not a security option: write e.g. seccomp=unconfined, seccomp=* (any profile), \
             apparmor=NAME, label=disable, no-new-privileges=false"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_has_one_spelling() {
        for text in ["NET_ADMIN", "net_admin", "CAP_NET_ADMIN", "cap_Net_Admin"] {
            assert_eq!(Capability::asked(text).as_str(), "NET_ADMIN");
        }
        let all: Capability = "cap_all".parse().unwrap();
        assert!(
            all.covers(&Capability::asked("All")) && all.covers(&Capability::asked("SYS_TIME"))
        );
        let one: Capability = "net_admin".parse().unwrap();
        assert!(
            !one.covers(&Capability::asked("ALL")) && !one.covers(&Capability::asked("NET_RAW"))
        );
        assert!("NET_ADMINS".parse::<Capability>().is_err());
        assert!("CAP_CAP_NET_ADMIN".parse::<Capability>().is_err());
    }

    #[test]
    fn what_every_container_has_is_known() {
        assert!(DOCKER_DEFAULT.iter().all(|name| grammar::Capability::KNOWN.contains(name)));
    }

    #[test]
    fn a_security_option_has_one_spelling() {
        for (text, key, value) in [
            ("seccomp:unconfined", "seccomp", "unconfined"),
            ("label:type:spc_t", "label", "type:spc_t"),
            ("seccomp={\"a\":\"=\"}", "seccomp", "{\"a\":\"=\"}"),
            ("apparmor:a=b", "apparmor:a", "b"),
            ("no-new-privileges:f", "no-new-privileges", "false"),
            ("no-new-privileges=T", "no-new-privileges", "true"),
            ("no-new-privileges", "no-new-privileges", "true"),
            ("disable", "label", "disable"),
        ] {
            let asked = SecurityOption::asked(text);
            assert_eq!((asked.key.as_str(), asked.value.as_str()), (key, value), "{text}");
        }
    }

    #[test]
    fn an_allowance_covers_its_option_and_no_other() {
        let covers = |allowed: &str, asked: &str| {
            allowed.parse::<SecurityAllowance>().unwrap().covers(&SecurityOption::asked(asked))
        };
        assert!(covers("seccomp:unconfined", "seccomp=unconfined"));
        assert!(!covers("seccomp=unconfined", "seccomp={}"));
        assert!(covers("seccomp=*", "seccomp={}"));
        assert!(!covers("seccomp=*", "apparmor=x"));
        assert!(covers("label=type:*", "label:type:spc_t"));
        assert!(!covers("label=type:*", "label=disable"));
        for text in ["", "seccomp", "seccomp=", "bogus=1", "no-new-privileges=maybe", "*"] {
            assert!(text.parse::<SecurityAllowance>().is_err(), "{text}");
        }
    }
}
