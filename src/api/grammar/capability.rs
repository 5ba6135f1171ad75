use std::str::FromStr;

use super::invalid::{Invalid, check_length, quoted};
use super::schema::Rule;
use super::text::text_type;

/// A capability as capabilities(7) has it, in either case and with or without `CAP_`; `ALL` is all
/// of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability {
    text: String,
}

text_type!(Capability);

impl Capability {
    /// The longest text, in characters.
    pub const MAX_CHARS: usize = 32;

    /// The capabilities, in capitals and without `CAP_`.
    pub const KNOWN: [&str; 41] = [
        "AUDIT_CONTROL",
        "AUDIT_READ",
        "AUDIT_WRITE",
        "BLOCK_SUSPEND",
        "BPF",
        "CHECKPOINT_RESTORE",
        "CHOWN",
        "DAC_OVERRIDE",
        "DAC_READ_SEARCH",
        "FOWNER",
        "FSETID",
        "IPC_LOCK",
        "IPC_OWNER",
        "KILL",
        "LEASE",
        "LINUX_IMMUTABLE",
        "MAC_ADMIN",
        "MAC_OVERRIDE",
        "MKNOD",
        "NET_ADMIN",
        "NET_BIND_SERVICE",
        "NET_BROADCAST",
        "NET_RAW",
        "PERFMON",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYSLOG",
        "SYS_ADMIN",
        "SYS_BOOT",
        "SYS_CHROOT",
        "SYS_MODULE",
        "SYS_NICE",
        "SYS_PACCT",
        "SYS_PTRACE",
        "SYS_RAWIO",
        "SYS_RESOURCE",
        "SYS_TIME",
        "SYS_TTY_CONFIG",
        "WAKE_ALARM",
    ];

    fn rules() -> Vec<Rule> {
        // `upperAscii` and not `(?i)`, for which 'ſ' is an 's'.
        let known = Self::KNOWN.join("|");
        vec![(
            format!("self.upperAscii().matches('^(ALL|(CAP_)?({known}))$')"),
            "must be ALL or a Linux capability such as NET_ADMIN, see capabilities(7)",
        )]
    }
}

impl FromStr for Capability {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_length("a capability", text, Self::MAX_CHARS)?;
        let upper = text.to_ascii_uppercase();
        let name = upper.strip_prefix("CAP_").unwrap_or(&upper);
        if upper != "ALL" && !Self::KNOWN.contains(&name) {
            return Err(Invalid::new(format!(
                "{} is no Linux capability: write ALL, or one such as NET_ADMIN, see capabilities(7)",
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
        accepts::<Capability>(&["NET_ADMIN", "net_admin", "CAP_SYS_TIME", "cap_bpf", "ALL", "all"]);
    }

    #[test]
    fn refused() {
        refuses::<Capability>(&[
            ("", "is no Linux capability"),
            ("CAP_", "is no Linux capability"),
            ("CAP_ALL", "is no Linux capability"),
            ("CAP_CAP_BPF", "is no Linux capability"),
            ("NET_ADMINS", "is no Linux capability"),
            ("ſys_time", "is no Linux capability"),
            ("A23456789012345678901234567890123", "at most 32"),
        ]);
    }

    #[test]
    fn the_list_is_sorted_and_has_each_once() {
        assert!(Capability::KNOWN.is_sorted_by(|a, b| a < b));
    }
}
