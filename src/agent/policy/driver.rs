//! Runtimes, and drivers of volumes, with what may be handed to them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::entry::{Entry, entry, short_or_long};
use super::pattern::Pattern;
use crate::api::grammar::Invalid;

/// In agent.yaml: the runtime of a container that names none.
const UNNAMED: &str = "default";
/// The driver of a volume that names none.
const LOCAL: &str = "local";

/// A runtime, and the annotations that may be handed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// None is the engine's own choice.
    name: Option<String>,
    annotations: Vec<Pattern>,
}

impl Runtime {
    /// Whether it allows the runtime `name`.
    pub fn covers(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name)
    }

    /// Whether it allows to hand the annotation `key` to the runtime `name`.
    pub fn covers_annotation(&self, name: Option<&str>, key: &str) -> bool {
        // The `/` of a key's domain is no border that a `*` should stop at.
        let key = key.replace('/', ".");
        self.name.as_deref() == name && self.annotations.iter().any(|allowed| allowed.matches(&key))
    }
}

/// [`Runtime`] as a map.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongRuntime {
    name: Name,
    #[serde(default)]
    annotations: Vec<Key>,
}

/// A name that is not empty.
struct Name(String);

entry!(Name);

impl std::str::FromStr for Name {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.contains(char::is_whitespace) {
            return Err(Invalid::new(format!("{text:?} is not a name: write one without spaces")));
        }
        Ok(Self(text.to_owned()))
    }
}

/// An annotation's key with `*`.
struct Key(Pattern);

entry!(Key);

impl std::str::FromStr for Key {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.replace('/', ".").parse().map(Self)
    }
}

impl Entry for Runtime {
    const FORMS: &'static str = "a name such as runsc, or a map {name, annotations}";
    type Long = LongRuntime;

    fn short(text: &str) -> Result<Self, Invalid> {
        Ok(Self::long(LongRuntime { name: text.parse()?, annotations: Vec::new() }))
    }

    fn long(LongRuntime { name: Name(name), annotations }: LongRuntime) -> Self {
        let annotations = annotations.into_iter().map(|Key(pattern)| pattern).collect();
        Self { name: Some(name).filter(|name| name != UNNAMED), annotations }
    }
}

short_or_long!(Runtime);

/// A volume driver that may be named and given options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeDriver {
    driver: String,
    /// Of the local driver: the file systems it may mount; none is whatever the options say.
    types: Option<Vec<String>>,
}

/// The driver of a name, which may be missing.
pub fn driver_name(name: Option<&str>) -> &str {
    name.filter(|name| !name.is_empty()).unwrap_or(LOCAL)
}

/// Whether a driver and its options are what every engine does when nothing is said.
pub fn is_plain(driver: &str, options: &BTreeMap<String, String>) -> bool {
    driver == LOCAL && options.is_empty()
}

impl VolumeDriver {
    /// Whether it allows the driver with these options.
    pub fn covers(&self, driver: &str, options: &BTreeMap<String, String>) -> bool {
        let Self { driver: allowed, types } = self;
        allowed == driver && types.as_ref().is_none_or(|types| mounts_only(types, options))
    }
}

/// Whether the local driver's options mount one of these file systems, and not, whatever the type
/// says, a part of the host: the flag `bind` makes the kernel ignore the type.
fn mounts_only(types: &[String], options: &BTreeMap<String, String>) -> bool {
    let flags = options.get("o").map(String::as_str).unwrap_or_default();
    options.keys().all(|key| matches!(key.as_str(), "type" | "device" | "o"))
        && options.get("type").is_some_and(|type_| types.contains(type_))
        && !flags.split(',').any(|flag| {
            ["bind", "rbind", "move", "remount"]
                .contains(&flag.trim().to_ascii_lowercase().as_str())
        })
}

/// [`VolumeDriver`] as a map.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongVolumeDriver {
    driver: Name,
    types: Vec<FileSystem>,
}

/// A file system that shows nothing of the host's own disks.
struct FileSystem(String);

entry!(FileSystem);

impl std::str::FromStr for FileSystem {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "nfs" | "nfs4" | "cifs" | "smb3" | "tmpfs" | "ceph" => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new(format!(
                "{text:?} can show the host's own files: write nfs, nfs4, cifs, smb3, ceph or \
                 tmpfs, or allow the driver with every option by its name alone"
            ))),
        }
    }
}

impl Entry for VolumeDriver {
    const FORMS: &'static str = "a driver such as local, or a map {driver, types}";
    type Long = LongVolumeDriver;

    fn short(text: &str) -> Result<Self, Invalid> {
        let Name(driver) = text.parse()?;
        Ok(Self { driver, types: None })
    }

    fn long(LongVolumeDriver { driver: Name(driver), types }: LongVolumeDriver) -> Self {
        let types = types.into_iter().map(|FileSystem(name)| name).collect();
        Self { driver, types: Some(types) }
    }
}

short_or_long!(VolumeDriver);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bind_in_disguise_is_not_among_the_types() {
        let nfs = [
            ("nfs", "addr=10.0.0.1", true),
            ("nfs", "addr=10.0.0.1,BIND ", false),
            ("none", "bind", false),
            ("nfs", "rbind", false),
            ("NFS", "", false),
            ("overlay", "", false),
        ];
        let allowed =
            VolumeDriver { driver: "local".to_owned(), types: Some(vec!["nfs".to_owned()]) };
        for (type_, o, covered) in nfs {
            let pairs = [("type", type_), ("o", o), ("device", ":/x")];
            let options = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
            assert_eq!(allowed.covers("local", &options), covered, "{options:?}");
        }
        assert!(!allowed.covers("local", &BTreeMap::from([("device".to_owned(), "/".to_owned())])));
        assert!(!allowed.covers("nfs-plugin", &BTreeMap::new()));
    }

    #[test]
    fn annotations_belong_to_their_runtime() {
        let long = |name: &str, key: &str| {
            Runtime::long(LongRuntime {
                name: name.parse().unwrap(),
                annotations: vec![key.parse().unwrap()],
            })
        };
        let kata = long("kata", "io.katacontainers.*");
        assert!(kata.covers_annotation(Some("kata"), "io.katacontainers.config/x"));
        assert!(!kata.covers_annotation(None, "io.katacontainers.config/x"));
        assert!(!kata.covers_annotation(Some("kata"), "org.systemd.property.x"));
        let unnamed = long("default", "a/b");
        assert!(unnamed.covers_annotation(None, "a/b") && !unnamed.covers("default"));
    }
}
