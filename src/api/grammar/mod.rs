//! Strings with a grammar: each a newtype, parsed once, that says what is wrong and what to write
//! instead.
//!
//! ```text
//!  text ──FromStr──▶ newtype ──▶ parts (source(), nanos(), canonical() …)
//!                       ├──────▶ Display, Serialize: the text as it was given
//!                       └──────▶ JsonSchema: maxLength and CEL rules for the same language
//! ```
//!
//! The rules are never looser than the parser: what an API server with our CRDs stored, the
//! parser takes. Where a rule is stricter, the type says so.
//!
//! A text whose parts nobody reads has a [`Form`] in place of a newtype.
//!
//! Pure: no I/O, no clock, no randomness.

mod absolute_path;
mod bind;
mod bind_option;
mod capability;
mod container_name;
mod data_key;
mod device_path;
mod dns_label;
mod duration;
mod form;
mod host_ip;
mod host_name;
mod image_reference;
mod invalid;
mod kernel_parameter;
mod moment;
mod object_name;
mod port;
mod protocol;
mod quantity;
mod raw_quantity;
mod schema;
mod signal;
mod text;
mod volume_name;
mod working_dir;

pub use absolute_path::AbsolutePath;
pub use bind::{Bind, BindSource};
pub use bind_option::BindOption;
pub use capability::Capability;
pub use container_name::ContainerName;
pub use data_key::DataKey;
pub use device_path::DevicePath;
pub use dns_label::DnsLabel;
pub use duration::Duration;
pub use form::Form;
pub use host_ip::HostIp;
pub use host_name::HostName;
pub use image_reference::ImageReference;
pub use invalid::Invalid;
pub use kernel_parameter::KernelParameter;
pub use moment::Moment;
pub use object_name::ObjectName;
pub use port::Port;
pub use protocol::Protocol;
pub use quantity::Quantity;
pub use raw_quantity::RawQuantity;
pub use signal::Signal;
pub use volume_name::VolumeName;
pub use working_dir::WorkingDir;

#[cfg(test)]
mod never_panics;
#[cfg(test)]
mod testing;
