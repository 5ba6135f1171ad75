//! What the engine's refusal of a container means, in words a user can act on. Pure.
//!
//! The status alone does not tell: bad specs come back as 500, passing faults as 400 and 404. So a
//! refusal is read by the call, the status and what stable part of the message there is; what is
//! not known is tried again with backoff, and its own words are shown.

use std::time::Duration;

use super::lifecycle::Hold;
use crate::api::Reason;
use crate::engine::EngineError;

/// What a user must change is tried again so rarely.
const RARELY: Duration = Duration::from_mins(1);

/// Why a step failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Reason and message.
    pub hold: Hold,
    /// The least time until it is tried again.
    pub least: Duration,
    /// Whether it is unknown what the call did: the engine is to be looked at at once.
    pub unknown: bool,
    /// Whether it was a name that is taken.
    pub name_taken: bool,
}

impl Fault {
    /// A fault by its reason, tried again with backoff.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        let hold = Hold::new(reason, message);
        Self { hold, least: Duration::ZERO, unknown: false, name_taken: false }
    }

    /// The same, tried again rarely, for it takes a change by someone.
    #[must_use]
    pub fn rarely(mut self) -> Self {
        self.least = RARELY;
        self
    }
}

/// What of a message tells its kind: each row's words must all be there.
const KNOWN: &[(&[&str], Reason)] = &[
    (&["error while mounting volume"], Reason::VolumeDriverFailed),
    // A part of the engine does not answer, in words that a bad spec has too: it passes.
    (&["dial unix"], Reason::StartFailed),
    (&["containerd.sock"], Reason::StartFailed),
    (&["connection refused"], Reason::StartFailed),
    (&["port is already allocated"], Reason::PortConflict),
    (&["address already in use"], Reason::PortConflict),
    (&["cannot assign requested address"], Reason::PortConflict),
    (&["bind source path does not exist"], Reason::BindSourceMissing),
    (&["error gathering device information"], Reason::DeviceMissing),
    (&["executable file not found"], Reason::InvalidSpec),
    (&["network", "not found"], Reason::NetworkNotFound),
    (&["could not find", "network"], Reason::NetworkNotFound),
    (&["no space left on device"], Reason::NoSpace),
    (&["disk quota exceeded"], Reason::NoSpace),
    (&["no such image"], Reason::ImageNotFound),
    (&["does not match the specified platform"], Reason::PlatformMismatch),
    (&["platform", "does not match"], Reason::PlatformMismatch),
    (&["permission denied"], Reason::InvalidSpec),
    (&["no such file or directory"], Reason::InvalidSpec),
    (&["unable to find user"], Reason::InvalidSpec),
    (&["unknown or invalid runtime"], Reason::InvalidSpec),
    (&["unknown runtime"], Reason::InvalidSpec),
    (&["invalid"], Reason::InvalidSpec),
];

/// What an engine's refusal to make, start or change a container means.
pub fn of_container(error: &EngineError) -> Fault {
    let EngineError::Refused { status, message, call } = error else {
        return Fault { unknown: true, ..Fault::new(Reason::EngineUnreachable, error.to_string()) };
    };
    let text = message.to_lowercase();
    // A create or a rename meets no other conflict; Podman up to 4 calls it 500.
    let conflict = *status == 409 || text.contains("that name is already in use");
    if conflict && matches!(*call, "create container" | "rename container") {
        return Fault { name_taken: true, ..Fault::new(Reason::NameConflict, message.trim()) };
    }
    let known = KNOWN.iter().find(|(words, _)| words.iter().all(|word| text.contains(word)));
    let reason = known.map_or_else(
        || if *status == 400 { Reason::InvalidSpec } else { Reason::StartFailed },
        |(_, reason)| *reason,
    );
    let fault = Fault::new(reason, told(reason, message));
    match reason {
        Reason::InvalidSpec => fault.rarely(),
        _ => fault,
    }
}

fn told(reason: Reason, message: &str) -> String {
    let message = message.trim();
    match reason {
        Reason::PortConflict => format!(
            "{message}: free the port or set another hostPort; if nothing holds it, the engine itself does, and only its restart helps"
        ),
        Reason::NetworkNotFound => {
            format!(
                "{message}: make the network on the host (docker network create), or take it out of container.networks"
            )
        }
        Reason::NoSpace => format!("{message}: the host's disk is full"),
        Reason::VolumeDriverFailed => {
            format!("{message}: see the driver and its options in the StoragePool")
        }
        Reason::InvalidSpec => match field(message) {
            Some(field) => format!("{message}: see {field}"),
            None => message.to_owned(),
        },
        _ => message.to_owned(),
    }
}

/// The field that a refusal is about, where the engine's words tell.
fn field(message: &str) -> Option<&'static str> {
    const FIELDS: &[(&str, &str)] = &[
        ("unable to find user", "container.user"),
        ("no matching entries in passwd", "container.user"),
        ("unable to find group", "container.groupAdd, and the group in container.user"),
        ("unknown runtime", "container.runtime"),
        ("unknown or invalid runtime", "container.runtime"),
        ("exec: ", "container.command and container.args, and what the image runs by itself"),
    ];
    let text = message.to_lowercase();
    FIELDS.iter().find(|(word, _)| text.contains(word)).map(|(_, field)| *field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, message: &str) -> EngineError {
        EngineError::Refused { call: "start", status, message: message.to_owned() }
    }

    /// Messages of engines 20.10 to 29, as measured.
    #[test]
    fn the_known_refusals_have_their_reasons() {
        for (status, message, reason) in [
            (
                500,
                "driver failed programming external connectivity on endpoint web (f00): Bind for 0.0.0.0:8080 failed: port is already allocated",
                Reason::PortConflict,
            ),
            (
                500,
                "failed to set up container networking: driver failed programming external connectivity: Error starting userland proxy: listen tcp4 0.0.0.0:80: bind: address already in use",
                Reason::PortConflict,
            ),
            (
                400,
                "invalid mount config for type \"bind\": bind source path does not exist: /srv/x",
                Reason::BindSourceMissing,
            ),
            (
                500,
                "error gathering device information while adding custom device \"/dev/nope\": no such file or directory",
                Reason::DeviceMissing,
            ),
            (404, "network mynet not found", Reason::NetworkNotFound),
            (
                400,
                "failed to create shim: OCI runtime create failed: exec: \"nope\": executable file not found in $PATH: unknown",
                Reason::InvalidSpec,
            ),
            (
                400,
                "failed to create task: exec: \"networkctl\": executable file not found in $PATH",
                Reason::InvalidSpec,
            ),
            (404, "No such image: app:latest", Reason::ImageNotFound),
            (500, "write /var/lib/docker/tmp: no space left on device", Reason::NoSpace),
            (400, "Unknown runtime specified nope", Reason::InvalidSpec),
            (
                500,
                "error while mounting volume '/var/lib/docker/volumes/v/_data': failed to mount local volume: mount /srv/x:/var/lib/docker/volumes/v/_data, flags: 0x1000: no such file or directory",
                Reason::VolumeDriverFailed,
            ),
            (
                400,
                "failed to create task for container: connection error: desc = \"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: no such file or directory\"",
                Reason::StartFailed,
            ),
            (
                400,
                "dial unix /run/containerd/containerd.sock: connect: permission denied",
                Reason::StartFailed,
            ),
            (
                400,
                "connection error: desc = \"transport: error while dialing: connect: connection refused\": unavailable: invalid",
                Reason::StartFailed,
            ),
            (
                500,
                "error while mounting volume '': dial unix /run/docker/plugins/sshfs.sock: connect: no such file or directory",
                Reason::VolumeDriverFailed,
            ),
            (500, "something new", Reason::StartFailed),
        ] {
            assert_eq!(of_container(&refused(status, message)).hold.reason, reason, "{message}");
        }
    }

    #[test]
    fn a_refusal_names_the_field_that_it_is_about() {
        for (message, field) in [
            ("exec: \"nope\": executable file not found in $PATH: unknown", "container.command"),
            ("unable to find user nope: no matching entries in passwd file", "container.user"),
            ("Unknown runtime specified nope", "container.runtime"),
        ] {
            let told = of_container(&refused(400, message)).hold.message;
            assert!(told.starts_with(message) && told.contains(field), "{told}");
        }
    }

    #[test]
    fn a_conflict_at_create_or_rename_is_a_taken_name_and_no_other_conflict_is() {
        let message =
            "Conflict. The container name \"/web\" is already in use by container \"f00\"";
        for (call, taken) in
            [("create container", true), ("rename container", true), ("start container", false)]
        {
            let fault = of_container(&EngineError::Refused {
                call,
                status: 409,
                message: message.to_owned(),
            });
            assert_eq!(
                (fault.name_taken, fault.hold.reason == Reason::NameConflict),
                (taken, taken),
                "{call}"
            );
        }
        let podman = EngineError::Refused {
            call: "create container",
            status: 500,
            message: "container create: creating container storage: the container name \"web\" is \
                      already in use by f00. You have to remove that container to be able to reuse \
                      that name: that name is already in use"
                .to_owned(),
        };
        assert!(of_container(&podman).name_taken);
    }

    #[test]
    fn a_lost_answer_says_nothing_about_what_was_done() {
        let lost = EngineError::Deadline { call: "start", after: Duration::from_mins(2) };
        let fault = of_container(&lost);
        assert!(fault.unknown);
        assert_eq!(fault.hold.reason, Reason::EngineUnreachable);
    }

    #[test]
    fn a_port_that_is_taken_is_told_with_what_helps_also_where_nobody_holds_it() {
        let message = "driver failed programming external connectivity on endpoint web: \
                       Bind for 0.0.0.0:8080 failed: port is already allocated";
        let fault = of_container(&refused(500, message));
        for words in ["0.0.0.0:8080", "another hostPort", "only its restart helps"] {
            assert!(fault.hold.message.contains(words), "{}", fault.hold.message);
        }
    }
}
