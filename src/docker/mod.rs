//! Docker's own words: what is sent to an engine and what comes back, and which engine takes what.
//!
//! Knows no kind of ours and does no I/O. All maps are sorted, so the same value always makes the
//! same bytes. What comes back is read with [`read()`]: every member of it has a default, and an
//! unknown value of an enumeration is kept.

mod create;
mod event;
mod image;
mod info;
mod inspect;
mod lines;
mod list;
mod network;
mod read;
mod state;
mod update;
mod version;
mod volume;

pub use create::{
    BindOptions, CreateBody, DeviceMapping, DeviceRequest, DriverConfig, Empty, EndpointIpam,
    EndpointSettings, Health, HostConfig, ImageOptions, LogConfig, Mount, NetworkingConfig,
    PortBinding, RestartPolicy, ThrottleDevice, TmpfsOptions, Ulimit, VolumeOptions, WeightDevice,
};
pub use event::{Actor, Event, EventTime};
pub use image::{ImageConfig, ImageInspect, ImageItem, ProgressDetail, PullFault, PullProgress};
pub use info::{Info, Plugins};
pub use inspect::{Config, Endpoint, Inspect, Limits, MountPoint, NetworkSettings};
pub use lines::{Lines, TooLong};
pub use list::ListItem;
pub use network::{Network, NetworkConnect};
pub use read::read;
pub use state::{ContainerStatus, HealthProbe, HealthState, HealthStatus, State};
pub use update::Update;
pub use version::ApiVersion;
pub use volume::{Volume, VolumeCreate, VolumeList};

#[cfg(test)]
mod tests;
