//! What the checkpoint holds of a host and of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use k8s_openapi::ByteString;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::WorkspaceRun;
use crate::api::host::HostMode;

/// Which Host this agent is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostIdentity {
    /// The Host's name.
    pub name: String,
    /// The Host's uid.
    pub uid: String,
    /// Every uid that this agent's Host had before, oldest first: containers bear them.
    #[serde(default)]
    pub earlier_uids: Vec<String>,
    /// The Host's mode, as it was last read.
    #[serde(default)]
    pub mode: HostMode,
    /// Full ids of the containers that were seen, by the Workspace's uid: with the labels they tell
    /// which are the agent's.
    #[serde(default)]
    pub containers: BTreeMap<String, BTreeSet<String>>,
}

impl HostIdentity {
    /// All uids of this agent's Host, the present one last.
    pub fn uids(&self) -> Vec<String> {
        let present = Some(self.uid.clone()).filter(|uid| !uid.is_empty());
        self.earlier_uids.iter().cloned().chain(present).collect()
    }

    /// The same agent with another Host, whose uid so far is kept.
    #[must_use]
    pub fn with_uid(mut self, uid: &str) -> Self {
        if self.uid != uid {
            let before = std::mem::replace(&mut self.uid, uid.to_owned());
            self.earlier_uids.retain(|earlier| *earlier != before && earlier != uid);
            if !before.is_empty() {
                self.earlier_uids.push(before);
            }
        }
        self
    }
}

/// A run as it was last read, and what was done for it.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunCheckpoint<R> {
    /// The run.
    pub run: WorkspaceRun,
    /// Whether its Secret was there.
    #[serde(default)]
    pub has_secret: bool,
    /// Its Secret's data.
    #[serde(default)]
    pub secret: Sealed,
    /// Its config file's content, by the name `content`; it may come from a Secret.
    #[serde(default)]
    pub config: Sealed,
    /// What drives the run keeps here what it needs.
    pub record: R,
}

/// Values that are shown nowhere.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(pub BTreeMap<String, ByteString>);

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.iter().map(|(key, value)| (key, format!("{} bytes", value.0.len())));
        f.debug_map().entries(shown).finish()
    }
}
