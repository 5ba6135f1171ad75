//! What was observed of one Workspace on its host.

use std::collections::BTreeSet;

use k8s_openapi::jiff::Timestamp;

use super::step::Hold;
use crate::docker::{ContainerStatus, RestartPolicy, Update};

/// One look at the engine and the disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The Workspace's container, if there is one.
    pub container: Option<SeenContainer>,
    /// A container that is not ours and has the wished name.
    pub holder: Option<String>,
    /// Whether the run's image is on the host.
    pub image: Image,
    /// Id of that image on the engine.
    pub image_id: Option<String>,
    /// Whether the image of the next run is on the host; None where none is asked for.
    pub prefetch: Option<Image>,
    /// Whether directory, config file, volumes and what is mounted are as they must be.
    pub ground: Ground,
    /// Why no container can be made or started, as far as that is known without trying.
    pub blocked: Option<Hold>,
    /// When the present instance of the engine began.
    pub began: Timestamp,
}

/// An image as seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Image {
    /// It was not looked for: a container that is as wished needs none.
    NotLooked,
    /// It is not there.
    Absent,
    /// It is there.
    Present,
}

/// What a container stands on, as seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Nothing of it is on the host.
    Bare,
    /// Something is missing that a start needs.
    Missing,
    /// All is there but the config file, whose content is another.
    ConfigStale,
    /// All is there.
    Ready,
}

/// A container of ours as inspected.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenContainer {
    /// Its full id.
    pub id: String,
    /// Its name, without the slash that an engine puts in front.
    pub name: String,
    /// The hash of the spec that it was made from, from its label.
    pub spec_hash: String,
    /// Id of its image.
    pub image_id: String,
    /// What it does.
    pub state: ContainerStatus,
    /// When it was last started, as the engine writes it; None if never.
    pub started_at: Option<String>,
    /// When it last ended.
    pub finished_at: Option<String>,
    /// Its last exit code.
    pub exit_code: i64,
    /// Whether the engine says that it ran out of memory.
    pub oom_killed: bool,
    /// The engine's word on a start that failed.
    pub error: String,
    /// How often the engine itself started it again.
    pub restart_count: i64,
    /// The restart policy that is in force.
    pub policy: RestartPolicy,
    /// The limits that are in force and can be changed.
    pub limits: Update,
    /// Names of its networks.
    pub networks: BTreeSet<String>,
    /// Those of them that were removed and made again since: it never starts until it is joined to
    /// them anew.
    pub stale_networks: BTreeSet<String>,
}

impl SeenContainer {
    /// Whether processes of it may live.
    pub fn is_alive(&self) -> bool {
        match self.state {
            ContainerStatus::Running
            | ContainerStatus::Paused
            | ContainerStatus::Restarting
            | ContainerStatus::Removing
            | ContainerStatus::Other(_) => true,
            ContainerStatus::Created | ContainerStatus::Exited | ContainerStatus::Dead => false,
        }
    }

    /// Whether the engine starts it by itself in some case.
    pub fn is_governed(&self) -> bool {
        !matches!(self.policy.name.as_str(), "" | "no")
    }
}
