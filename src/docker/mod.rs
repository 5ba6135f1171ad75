//! Docker's own words: what is sent to an engine and what comes back, and which engine takes what.
//!
//! Knows no kind of ours and does no I/O. All maps are sorted, so the same value always makes the
//! same bytes.

mod create;
mod version;

pub use create::{
    BindOptions, CreateBody, DeviceMapping, DeviceRequest, DriverConfig, Empty, EndpointIpam,
    EndpointSettings, Health, HostConfig, ImageOptions, LogConfig, Mount, NetworkingConfig,
    PortBinding, RestartPolicy, ThrottleDevice, TmpfsOptions, Ulimit, VolumeOptions, WeightDevice,
};
pub use version::ApiVersion;
