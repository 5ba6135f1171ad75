//! The one list of reasons: conditions, Events and metric labels take theirs from here.

use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Why something is as it is: what is being waited for, or what the user must change.
        ///
        /// Written as its own name, e.g. `ImageNotFound`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Reason {
            /// Every reason there is, in the order of this list.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The reason as it stands in a condition or an Event.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// What the reason means, as its doc comment says it.
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }
    };
}

reasons! {
    /// Nothing has been looked at yet.
    Pending,
    /// All is as declared.
    AsDeclared,
    /// Does not apply to this object.
    NotApplicable,
    /// Under way; nothing to do but wait.
    InProgress,

    /// The container runs.
    Running,
    /// Stopped, as `powerState` says.
    Stopped,
    /// The run ended by itself with exit code 0, and its restart policy asks for no restart.
    Completed,
    /// Stopped because `lifetime` ran out.
    Expired,
    /// The object is being deleted.
    Deleting,

    /// A host was found.
    Scheduled,
    /// No host fits; the message counts hosts by what is missing.
    NoHostFits,
    /// The Workspace's host was deleted or given up.
    HostRemoved,
    /// The host has not been heard of for longer than the grace.
    HostUnreachable,
    /// The host's mode takes no new run.
    HostCordoned,
    /// The Workspace cannot move: its data or writable layer is on that host.
    PinnedToHost,

    /// The Template or TemplateRevision does not exist; it is waited for.
    TemplateNotFound,
    /// A Secret that the spec names does not exist or lacks the key; it is waited for.
    SecretNotFound,
    /// A ConfigMap that the spec names does not exist or lacks the key; it is waited for.
    ConfigMapNotFound,

    /// The Volume is bound to this Workspace.
    VolumeBound,
    /// The Volume to bind does not exist; it is waited for.
    VolumeNotFound,
    /// The Volume is bound to another Workspace; it is waited for.
    VolumeInUse,
    /// The Volume to bind is being deleted.
    VolumeDeleting,
    /// A Volume of the name to create exists, and this Workspace did not make it.
    VolumeNameTaken,
    /// The StoragePool does not exist; it is waited for.
    StoragePoolNotFound,
    /// The volume driver cannot enforce the size.
    SizeNotEnforced,
    /// The volume driver failed.
    VolumeDriverFailed,

    /// The image is on the host.
    ImagePresent,
    /// The image is being pulled.
    Pulling,
    /// The pull failed and is tried again at `nextRetryAt`.
    ImagePullBackOff,
    /// The registry has no such image or tag.
    ImageNotFound,
    /// The registry refused the login, or wants one.
    Unauthorized,
    /// The registry could not be reached.
    RegistryUnreachable,
    /// The image has no variant for the host's platform.
    PlatformMismatch,
    /// `imagePullPolicy` is Never and the image is not on the host.
    ImageNeverPulled,
    /// The host's disk is too full.
    NoSpace,

    /// The spec is wrong in a way that only the engine or the host could tell.
    InvalidSpec,
    /// The host's policy does not allow a field of the spec.
    ForbiddenByHostPolicy,
    /// The host's engine is too old for a field of the spec.
    UnsupportedByEngine,
    /// A container that is not ours has the name.
    NameConflict,
    /// A host port is taken.
    PortConflict,
    /// The source of a bind does not exist on the host.
    BindSourceMissing,
    /// A device does not exist on the host.
    DeviceMissing,
    /// A network that the spec names does not exist on the host.
    NetworkNotFound,
    /// The container could not be started.
    StartFailed,
    /// The container ends again and again; it is started anew at `nextRetryAt`.
    CrashLoopBackOff,
    /// The container ended with an exit code other than 0, and its restart policy asks for no
    /// restart.
    ExitedWithError,
    /// The container was killed for want of memory.
    OutOfMemory,
    /// The container ended with its host or engine, and its restart policy asks for no restart.
    Interrupted,
    /// The container was stopped by hand on the host; the declared state is restored.
    StoppedByHand,
    /// The container does not stop.
    StuckStopping,

    /// The running container is as the spec says.
    UpToDate,
    /// The changed spec takes effect at the next start.
    WaitingForNextStart,
    /// The changed spec is being put in force.
    Updating,
    /// The change needs a new container, and with it a new writable layer.
    WritableLayerReplaced,

    /// The agent renews its Lease.
    AgentAlive,
    /// The agent's Lease ran out.
    AgentLost,
    /// The engine answers.
    EngineResponding,
    /// The engine does not answer.
    EngineUnreachable,
    /// The disk has room.
    DiskOk,
    /// The disk is nearly full.
    DiskNearlyFull,

    /// The default revision does not exist.
    RevisionNotFound,
    /// The object can be used.
    Available,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_a_condition_reason_of_kubernetes_and_says_what_it_means() {
        for reason in Reason::ALL {
            let name = reason.as_str();
            assert!(name.starts_with(|c: char| c.is_ascii_uppercase()), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{name}");
            assert!(reason.explanation().ends_with('.'), "{name}");
        }
    }

    #[test]
    fn no_reason_stands_twice() {
        let mut names: Vec<_> = Reason::ALL.iter().map(|r| r.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Reason::ALL.len());
    }
}
