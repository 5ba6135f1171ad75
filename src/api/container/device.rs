//! Devices of the host, and devices asked of a driver.

use std::collections::BTreeMap;

use kube::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::form;
use crate::api::grammar::DevicePath;

/// A device of the host that the container may use.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// Path on the host, e.g. `/dev/ttyUSB0`; host policy must allow it. One that is missing is
    /// waited for.
    #[schemars(with = "DevicePath")]
    pub path_on_host: String,
    /// Path in the container.
    #[schemars(with = "DevicePath")]
    pub path_in_container: String,
    /// What the container may do: `r` read, `w` write, `m` make nodes. Default `rwm`.
    #[schemars(length(max = 3))]
    #[x_kube(validation = Rule::new(form::DEVICE_ACCESS.rule()).message(form::DEVICE_ACCESS.message()))]
    pub cgroup_permissions: Option<String>,
}

/// Devices asked of a driver, e.g. GPUs.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.count) || self.count == 0 || !has(self.deviceIDs) || self.deviceIDs.size() == 0")
    .message("set count or deviceIDs, not both")
    .field_path(".deviceIDs"))]
pub struct DeviceRequest {
    /// The driver, e.g. `nvidia`, or `cdi`.
    pub driver: Option<String>,
    /// How many; -1 is all.
    #[schemars(range(min = -1))]
    pub count: Option<i32>,
    /// Which, by the driver's identifiers.
    #[serde(rename = "deviceIDs")]
    pub device_ids: Option<Vec<String>>,
    /// What they must be capable of: one of the lists, all of its words, e.g. `[[gpu, compute]]`.
    pub capabilities: Option<Vec<Vec<String>>>,
    /// The driver's options.
    pub options: Option<BTreeMap<String, String>>,
}
