use std::str::FromStr;

use super::absolute_path::clean;
use super::invalid::Invalid;
use super::schema::{Rule, matches};
use super::text::text_type;

/// The path of a device, on the host or in the container: an absolute path below `/`, written the
/// one way that a path can be written.
///
/// As [`AbsolutePath`](super::AbsolutePath), but with `:`, which stable names of devices have:
/// `/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0`. Docker gets it in a field of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePath {
    text: String,
}

text_type!(DevicePath);

impl DevicePath {
    /// The longest path, in characters.
    pub const MAX_CHARS: usize = 1024;

    const REGEX: &str = concat!(
        r"(?:/(?:[^/.\x00-\x1f\x7f-\x{9f}]|\.[^/.\x00-\x1f\x7f-\x{9f}]",
        r"|\.\.[^/\x00-\x1f\x7f-\x{9f}])[^/\x00-\x1f\x7f-\x{9f}]*)+",
    );

    fn rules() -> Vec<Rule> {
        vec![
            (
                "self.startsWith('/') && self != '/'".to_owned(),
                "must be an absolute path below '/', such as /dev/ttyUSB0",
            ),
            (
                format!(
                    "!self.startsWith('/') || self == '/' || {}",
                    matches(&format!("^{}$", Self::REGEX)),
                ),
                "must have no '//', no '.' or '..' segment, no trailing '/' and no control character",
            ),
        ]
    }
}

impl FromStr for DevicePath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self { text: clean(text)? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<DevicePath>(&[
            "/dev/ttyUSB0",
            "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0",
            "/dev/.udev/..x",
        ]);
    }

    #[test]
    fn refused() {
        refuses::<DevicePath>(&[
            ("ttyUSB0", "not an absolute path"),
            ("/", "root directory"),
            ("/dev/../etc", "'..' segment"),
            ("/dev//x", "'//'"),
            ("/dev/x/", "trailing '/'"),
            ("/dev/a\nb", "control character"),
        ]);
    }
}
