//! A container as `GET /containers/json` tells it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::inspect::MountPoint;
use super::state::ContainerStatus;

/// One container of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct ListItem {
    pub id: String,
    /// With a `/` in front, and with links' names; see [`ListItem::name`].
    pub names: Vec<String>,
    /// As it was created with, or the id when no name of the image is left.
    pub image: String,
    #[serde(rename = "ImageID")]
    pub image_id: String,
    pub labels: BTreeMap<String, String>,
    pub state: ContainerStatus,
    /// For people: `Up 3 hours (healthy)`.
    pub status: String,
    /// Seconds since 1970.
    pub created: i64,
    pub mounts: Vec<MountPoint>,
}

impl ListItem {
    /// The container's own name: a link's has a second `/`.
    pub fn name(&self) -> Option<&str> {
        let names = self.names.iter().map(|name| name.trim_start_matches('/'));
        names.into_iter().find(|name| !name.contains('/'))
    }
}
