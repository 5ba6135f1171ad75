//! Mounts in Docker's long form.

use std::collections::BTreeMap;

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::form;
use crate::api::field_describes;
use crate::api::grammar::AbsolutePath;

/// One mount, with every member of Docker's Mount.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(
        format!("self.type == 'bind' ? has(self.source) && self.source.matches('{}') && !self.source.matches('/[.][.](/|$)') \
         : self.type == 'tmpfs' ? !has(self.source) \
         : self.type == 'image' ? has(self.source) && self.source != '' \
         : !has(self.source) || self.source == '' || self.source.matches('{}')",
         form::BIND_SOURCE.pattern(), form::VOLUME_SOURCE.pattern()))
        .message("type bind needs an absolute path of the host without '..', type image an image, type volume a volume's name or nothing, type tmpfs nothing")
        .field_path(".source"),
    validation = Rule::new("self.type != 'volume' || !has(self.source) || !self.source.startsWith('kibotos-')")
        .message("volumes whose name begins with kibotos- hold the data of other Workspaces")
        .field_path(".source"),
    validation = Rule::new("!has(self.bindOptions) || self.type == 'bind'")
        .message("bindOptions goes with type bind only").field_path(".bindOptions"),
    validation = Rule::new("!has(self.volumeOptions) || self.type == 'volume'")
        .message("volumeOptions goes with type volume only").field_path(".volumeOptions"),
    validation = Rule::new("!has(self.imageOptions) || self.type == 'image'")
        .message("imageOptions goes with type image only").field_path(".imageOptions"),
    validation = Rule::new("!has(self.tmpfsOptions) || self.type == 'tmpfs'")
        .message("tmpfsOptions goes with type tmpfs only").field_path(".tmpfsOptions"),
)]
pub struct Mount {
    /// `bind` (a path of the host), `volume`, `tmpfs` or `image` (needs Docker 28, API 1.48).
    #[serde(rename = "type")]
    pub type_: MountType,
    /// Path in the container.
    #[schemars(with = "AbsolutePath")]
    pub target: String,
    /// What is mounted: a path of the host that exists, a volume's name (none: a volume without a
    /// name), or an image.
    #[schemars(length(max = 1024))]
    pub source: Option<String>,
    /// Whether the mount is read-only.
    pub read_only: Option<bool>,
    /// A hint of how strictly host and container must agree, kept for Docker Desktop.
    pub consistency: Option<Consistency>,
    /// Options of type `bind`.
    pub bind_options: Option<BindOptions>,
    /// Options of type `volume`.
    pub volume_options: Option<VolumeOptions>,
    /// Options of type `image`.
    pub image_options: Option<ImageOptions>,
    /// Options of type `tmpfs`.
    pub tmpfs_options: Option<TmpfsOptions>,
}

/// The kinds of mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = field_describes)]
pub enum MountType {
    /// A path of the host.
    Bind,
    /// A volume of the engine.
    Volume,
    /// Memory.
    Tmpfs,
    /// The content of an image.
    Image,
}

impl MountType {
    /// As Docker writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bind => "bind",
            Self::Volume => "volume",
            Self::Tmpfs => "tmpfs",
            Self::Image => "image",
        }
    }
}

/// How strictly host and container must agree on what a mount holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = field_describes)]
pub enum Consistency {
    /// The engine's default.
    Default,
    /// Always.
    Consistent,
    /// The host decides.
    Cached,
    /// The container decides.
    Delegated,
}

impl Consistency {
    /// As Docker writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Consistent => "consistent",
            Self::Cached => "cached",
            Self::Delegated => "delegated",
        }
    }
}

/// Options of a bind mount.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct BindOptions {
    /// Whether mounts made later on one side appear on the other.
    pub propagation: Option<Propagation>,
    /// Whether mounts below the source are left out.
    pub non_recursive: Option<bool>,
    /// Whether a missing source is created as a directory of root's. Default false: it is waited
    /// for. Needs Docker 23 (API 1.42).
    pub create_mountpoint: Option<bool>,
    /// Whether mounts below the source stay writable when the mount is read-only. Needs Docker 25
    /// (API 1.44).
    pub read_only_non_recursive: Option<bool>,
    /// Whether it is an error when mounts below the source cannot be made read-only. Needs Docker
    /// 25 (API 1.44).
    pub read_only_force_recursive: Option<bool>,
}

/// Whether mounts made later on one side appear on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = field_describes)]
pub enum Propagation {
    /// Neither way.
    Private,
    /// Neither way, for mounts below too.
    Rprivate,
    /// Both ways.
    Shared,
    /// Both ways, for mounts below too.
    Rshared,
    /// From host to container.
    Slave,
    /// From host to container, for mounts below too.
    Rslave,
}

impl Propagation {
    /// As Docker writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Rprivate => "rprivate",
            Self::Shared => "shared",
            Self::Rshared => "rshared",
            Self::Slave => "slave",
            Self::Rslave => "rslave",
        }
    }
}

/// Options of a volume mount.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeOptions {
    /// Whether an empty volume is left empty instead of filled with what the image has at the path.
    pub no_copy: Option<bool>,
    /// Labels of a volume that is created with the container. Keys under `kibotos.dev/` are refused.
    #[schemars(extend("maxProperties" = 64))]
    #[x_kube(validation = Rule::new("self.all(k, k != '' && !k.startsWith('kibotos.dev/'))")
        .message("a label key may be neither empty nor begin with kibotos.dev/"))]
    pub labels: Option<BTreeMap<String, String>>,
    /// Driver of a volume that is created with the container.
    pub driver_config: Option<DriverConfig>,
    /// A path inside the volume to mount instead of its root. Needs Docker 26 (API 1.45).
    pub subpath: Option<String>,
}

/// The driver that creates a volume.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct DriverConfig {
    /// Name of the driver.
    pub name: Option<String>,
    /// Its options; host policy must allow them.
    pub options: Option<BTreeMap<String, String>>,
}

/// Options of an image mount.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageOptions {
    /// A path inside the image to mount instead of its root.
    pub subpath: Option<String>,
}

/// Options of a tmpfs mount.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct TmpfsOptions {
    /// Size in bytes; 0 is without limit.
    #[schemars(range(min = 0))]
    pub size_bytes: Option<i64>,
    /// File mode as a number, e.g. 1023, which YAML also reads from `01777`.
    #[schemars(range(min = 0, max = 4095))]
    pub mode: Option<i32>,
    /// Further options, each `[NAME]` or `[NAME, VALUE]`. Needs Docker 27 (API 1.46).
    #[schemars(length(max = 64), inner(length(min = 1, max = 2)))]
    pub options: Option<Vec<Vec<String>>>,
}
