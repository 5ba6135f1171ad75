//! The forms of a container's texts.

use std::net::IpAddr;

use crate::api::grammar::{Form, HostIp, Invalid};

/// A host name.
pub static HOSTNAME: Form = Form::or_empty(
    "^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$",
    "must be a host name: letters, digits, '-', '_' and '.', with a letter or digit at both ends",
);
/// A domain name.
pub static DOMAINNAME: Form = Form::or_empty(
    "^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$",
    "must be a domain name: letters, digits, '-', '_' and '.', with a letter or digit at both ends",
);
/// A MAC address.
pub static MAC_ADDRESS: Form = Form::new(
    "^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$",
    "must be a MAC address such as 02:42:ac:11:00:02",
);
/// A network mode.
pub static NETWORK_MODE: Form = Form::or_empty(
    "^(container:)?[A-Za-z0-9][A-Za-z0-9_.-]*$",
    "must be bridge, host, none, container:NAME or a network's name",
);
/// The name of a network, but for [`NO_NETWORKS`].
pub static NETWORK: Form = Form::new(
    "^[A-Za-z0-9][A-Za-z0-9_.-]*$",
    "must be a network's name; for host and none use networkMode",
);
/// What is no network, though it looks like one.
pub const NO_NETWORKS: [&str; 2] = ["host", "none"];
/// An IPC namespace.
pub static IPC_MODE: Form = Form::new(
    "^(none|private|shareable|host|container:[A-Za-z0-9][A-Za-z0-9_.-]*)$",
    "must be private, shareable, host, none or container:NAME",
);
/// A PID namespace.
pub static PID_MODE: Form =
    Form::new("^(host|container:[A-Za-z0-9][A-Za-z0-9_.-]*)$", "must be host or container:NAME");
/// A platform.
pub static PLATFORM: Form = Form::new(
    "^[a-z0-9]+/[a-z0-9]+(/[a-z0-9]+)?$",
    "must be OS/ARCHITECTURE[/VARIANT], e.g. linux/arm64/v8",
);
/// CPUs or memory nodes.
pub static CPUSET: Form =
    Form::new("^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$", "must be numbers and ranges such as 0-2,4");
/// The name of an environment variable.
pub static ENV_NAME: Form =
    Form::new("^[^=[:cntrl:]]+$", "must be a name without '=' and control characters");
/// The name of a port.
pub static PORT_NAME: Form = Form::new(
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "must be lower-case letters, digits and '-', with a letter or digit at both ends",
);
/// What a container may do with a device.
pub static DEVICE_ACCESS: Form = Form::new("^[rwm]{1,3}$", "must be letters of rwm");
/// A device rule of the kernel.
pub static DEVICE_RULE: Form = Form::new(
    "^[acb] ([0-9]+|[*]):([0-9]+|[*]) [rwm]{1,3}$",
    "must be TYPE MAJOR:MINOR ACCESS, e.g. c 188:* rwm",
);
/// The source of a bind mount, but for its `..`.
pub static BIND_SOURCE: Form = Form::new("^/[^[:cntrl:]]*$", "");
/// The source of a volume mount.
pub static VOLUME_SOURCE: Form = Form::or_empty("^[A-Za-z0-9][A-Za-z0-9_.-]+$", "");

/// What is told of an entry of `extraHosts`.
pub const EXTRA_HOST_MESSAGE: &str =
    "must be NAME:IP or NAME:host-gateway, e.g. host.docker.internal:host-gateway";

/// The address that a text is, as the rule `isIP` has it: no zone, no mapped address.
pub fn ip(text: &str) -> Option<IpAddr> {
    text.parse::<HostIp>().ok()?.addr()
}

/// Refuses what is no address.
pub fn check_ip(text: &str) -> Result<(), Invalid> {
    ip(text).map(|_| ()).ok_or_else(|| Invalid::new("must be an IP address"))
}

/// Refuses what is no entry for /etc/hosts.
pub fn check_extra_host(text: &str) -> Result<(), Invalid> {
    let named = |name: &str| {
        !name.is_empty()
            && !name.contains(|c: char| c == '=' || c.is_ascii_whitespace() || c == '\x0b')
    };
    match text.split_once(':') {
        Some((name, to)) if named(name) && (to == "host-gateway" || ip(to).is_some()) => Ok(()),
        _ => Err(Invalid::new(EXTRA_HOST_MESSAGE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_can_be_read() {
        for (form, fits) in [
            (&HOSTNAME, "web-1.example"),
            (&DOMAINNAME, "example.com"),
            (&MAC_ADDRESS, "02:42:AC:11:00:02"),
            (&NETWORK_MODE, "container:db"),
            (&NETWORK, "front_end.1"),
            (&IPC_MODE, "shareable"),
            (&PID_MODE, "container:db"),
            (&PLATFORM, "linux/arm64/v8"),
            (&CPUSET, "0-2,4"),
            (&ENV_NAME, "my.var-1"),
            (&PORT_NAME, "http"),
            (&DEVICE_ACCESS, "mr"),
            (&DEVICE_RULE, "c 188:* rmw"),
            (&BIND_SOURCE, "/srv/a b"),
            (&VOLUME_SOURCE, "data"),
        ] {
            assert!(form.fits(fits), "{form:?}");
            assert!(!form.fits("\u{1}"), "{form:?}");
        }
    }
}
