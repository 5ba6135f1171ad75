use std::str::FromStr;

use super::invalid::{Invalid, quoted};

/// A kernel parameter of a container's own namespaces: below `net.` or `fs.mqueue.`, or one of
/// those of the IPC namespace below `kernel.`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelParameter;

impl KernelParameter {
    /// Those of the IPC namespace.
    const IPC: [&str; 8] = [
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
        "kernel.sem",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
    ];

    /// What to say of any other.
    pub const MESSAGE: &str = "only parameters of a container's own namespaces can be set: net.*, \
                               fs.mqueue.*, kernel.msg*, kernel.sem, kernel.shm*";

    /// The CEL rule for a map by parameters.
    pub fn keys_rule() -> String {
        let list = Self::IPC.map(|name| format!("'{name}'")).join(", ");
        format!("self.all(k, k.matches('^(net|fs[.]mqueue)[.].+$') || k in [{list}])")
    }
}

impl FromStr for KernelParameter {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let below = |prefix: &str| text.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty());
        // In the rule a `.` is any character but the end of a line.
        let namespaced = (below("net.") || below("fs.mqueue.")) && !text.contains('\n');
        if namespaced || Self::IPC.contains(&text) {
            return Ok(Self);
        }
        Err(Invalid::new(format!(
            "{} is no parameter of a container's own namespaces: write one below net. or fs.mqueue., \
             or one of {}",
            quoted(text),
            Self::IPC.join(", "),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parameters_of_a_containers_own_namespaces_are_taken() {
        for name in ["net.ipv4.ip_forward", "net.x", "fs.mqueue.msg_max", "kernel.sem"] {
            assert!(name.parse::<KernelParameter>().is_ok(), "{name}");
        }
        for name in
            ["", "net.", "net", "vm.swappiness", "kernel.core_pattern", "kernel.sem.x", "net.a\nb"]
        {
            assert!(name.parse::<KernelParameter>().is_err(), "{name}");
        }
    }
}
