//! Weights and limits of block devices.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::grammar::DevicePath;

/// Weights and limits of block devices (Docker's Blkio fields).
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Blkio {
    /// Weight against other containers, from 10 to 1000; 0 is the engine's default.
    #[schemars(range(min = 0, max = 1000))]
    #[x_kube(validation = Rule::new("self == 0 || self >= 10").message("must be 0 or from 10 to 1000"))]
    pub weight: Option<i32>,
    /// Weights on single devices.
    #[schemars(length(max = 64))]
    pub weight_device: Option<Vec<DeviceWeight>>,
    /// Bytes read per second, by device.
    #[schemars(length(max = 64))]
    pub device_read_bps: Option<Vec<DeviceRate>>,
    /// Bytes written per second, by device.
    #[schemars(length(max = 64))]
    pub device_write_bps: Option<Vec<DeviceRate>>,
    /// Reads per second, by device.
    #[serde(rename = "deviceReadIOps")]
    #[schemars(length(max = 64))]
    pub device_read_iops: Option<Vec<DeviceRate>>,
    /// Writes per second, by device.
    #[serde(rename = "deviceWriteIOps")]
    #[schemars(length(max = 64))]
    pub device_write_iops: Option<Vec<DeviceRate>>,
}

/// The weight on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceWeight {
    /// Path of the device on the host.
    #[schemars(with = "DevicePath")]
    pub path: String,
    /// Its weight, from 10 to 1000.
    #[schemars(range(min = 10, max = 1000))]
    pub weight: i32,
}

/// A limit on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceRate {
    /// Path of the device on the host.
    #[schemars(with = "DevicePath")]
    pub path: String,
    /// Bytes or operations per second.
    #[schemars(range(min = 1))]
    pub rate: i64,
}
