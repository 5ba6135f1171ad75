//! Ports that a container listens on.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::form;
use crate::api::grammar::{HostIp, Protocol};

/// A port that the container listens on. With `hostPort` or `publish` it can be reached on the
/// host.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("self.hostPort == 0 || !has(self.publish) || self.publish")
        .message("publish: false contradicts hostPort: leave one of the two out")
        .field_path(".publish"),
    validation = Rule::new("self.hostIP == '' || self.hostPort > 0 || (has(self.publish) && self.publish)")
        .message("hostIP means nothing without hostPort or publish: true")
        .field_path(".hostIP"),
)]
pub struct ContainerPort {
    /// Port in the container, from 1 to 65535.
    #[schemars(range(min = 1, max = 65535))]
    pub container_port: i32,
    /// `TCP` (default), `UDP` or `SCTP`.
    #[serde(default)]
    pub protocol: Protocol,
    /// Address of the host to publish on; empty (default) is every address.
    #[serde(rename = "hostIP", default)]
    #[schemars(with = "HostIp")]
    pub host_ip: String,
    /// Port of the host to publish on, from 1 to 65535; 0 (default) publishes only with `publish:
    /// true`, on a free port that the engine picks.
    #[serde(default)]
    #[schemars(range(min = 0, max = 65535))]
    pub host_port: i32,
    /// Whether to publish without a `hostPort`, on a free port that the engine picks and status
    /// reports.
    pub publish: Option<bool>,
    /// A name to refer to the port by; unique in the container.
    #[schemars(length(max = 63))]
    #[x_kube(validation = Rule::new(form::PORT_NAME.rule()).message(form::PORT_NAME.message()))]
    pub name: Option<String>,
}
