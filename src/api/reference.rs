//! References from one object to another, or to one key of a Secret or ConfigMap.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::grammar::{DataKey, DnsLabel, ObjectName};

/// One key of a Secret or ConfigMap in the Workspace's namespace.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRef {
    /// Name of the Secret or ConfigMap.
    #[schemars(with = "ObjectName")]
    pub name: String,
    /// The key in its data.
    #[schemars(with = "DataKey")]
    pub key: String,
    /// Whether it may be missing. A missing one that is not optional is waited for. Default false.
    pub optional: Option<bool>,
}

/// A whole Secret or ConfigMap in the Workspace's namespace.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceRef {
    /// Name of the Secret or ConfigMap.
    #[schemars(with = "ObjectName")]
    pub name: String,
    /// Whether it may be missing. A missing one that is not optional is waited for. Default false.
    pub optional: Option<bool>,
}

/// An object of a known kind in the same namespace, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalRef {
    /// Name of the object.
    #[schemars(with = "ObjectName")]
    pub name: String,
}

/// A Workspace, told apart from any other of that name by its uid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceRef {
    /// Namespace of the Workspace.
    #[schemars(with = "DnsLabel")]
    pub namespace: String,
    /// Name of the Workspace.
    #[schemars(with = "DnsLabel")]
    pub name: String,
    /// Uid of the Workspace.
    pub uid: String,
}

/// A Volume, told apart from any other of that name by its uid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct VolumeRef {
    /// Name of the Volume.
    #[schemars(with = "DnsLabel")]
    pub name: String,
    /// Uid of the Volume.
    pub uid: String,
}

/// The run that a Workspace claims: made, or about to be made, exactly as named here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRef {
    /// The host namespace the run is in.
    pub namespace: String,
    /// Name of the WorkspaceRun.
    pub name: String,
    /// Its sequence: counts the runs made for the Workspace.
    pub sequence: i64,
}
