//! Environment variables and where their values come from.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::form;
use crate::api::reference::{KeyRef, SourceRef};

/// One environment variable.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.value) || !has(self.valueFrom)")
    .message("set value or valueFrom, not both")
    .field_path(".valueFrom"))]
pub struct EnvVar {
    /// Name of the variable.
    #[schemars(length(max = 256))]
    #[x_kube(validation = Rule::new(form::ENV_NAME.rule()).message(form::ENV_NAME.message()))]
    pub name: String,
    /// Its value, as it is: `$(VAR)` is not expanded. Default empty.
    pub value: Option<String>,
    /// Where its value comes from.
    pub value_from: Option<EnvVarSource>,
}

/// Where the value of an environment variable comes from.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.secretKeyRef) != has(self.configMapKeyRef)")
    .message("set exactly one of secretKeyRef and configMapKeyRef"))]
pub struct EnvVarSource {
    /// A key of a Secret in the Workspace's namespace. A changed Secret counts at the next run.
    pub secret_key_ref: Option<KeyRef>,
    /// A key of a ConfigMap in the Workspace's namespace. A changed ConfigMap counts at the next
    /// run.
    pub config_map_key_ref: Option<KeyRef>,
}

/// A Secret or ConfigMap whose every key becomes an environment variable.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.secretRef) != has(self.configMapRef)")
    .message("set exactly one of secretRef and configMapRef"))]
pub struct EnvFromSource {
    /// Put before each key.
    pub prefix: Option<String>,
    /// The Secret.
    pub secret_ref: Option<SourceRef>,
    /// The ConfigMap.
    pub config_map_ref: Option<SourceRef>,
}
