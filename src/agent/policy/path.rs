//! Paths of the host: cleaned, so that no spelling is another path, and the prefixes that allow them.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::entry::{Entry, entry, short_or_long, truth};
use crate::api::grammar::Invalid;

/// Where engines listen on every host, beside the socket that the agent itself uses. Who reaches
/// one of them is root on the host.
const ENGINE_SOCKETS: [&str; 4] = [
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/docker/containerd/containerd.sock",
    "/run/podman/podman.sock",
];

/// An absolute path without `//`, `.`, `..` and a trailing `/`, and with `/run` for `/var/run`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPath(String);

entry!(HostPath);

impl HostPath {
    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is `directory` or something in it: `/srv/a` is not in `/srv/ab`.
    pub fn is_in(&self, directory: &Self) -> bool {
        is_in(&self.0, &directory.0)
    }

    /// Whether it is the root directory.
    pub fn is_root(&self) -> bool {
        self.0 == "/"
    }

    /// Whether it is an engine's socket or a directory that holds one.
    pub fn reaches_engine(&self, sockets: &[Self]) -> bool {
        ENGINE_SOCKETS
            .into_iter()
            .chain(sockets.iter().map(Self::as_str))
            .any(|s| is_in(s, &self.0))
    }

    /// Whether it is an engine's socket itself.
    pub fn is_engine_socket(&self, sockets: &[Self]) -> bool {
        sockets.contains(self) || ENGINE_SOCKETS.contains(&self.as_str())
    }

    /// Whether it leads through a process's links (`/proc/1/root`), which are not what they seem:
    /// text says one path, the kernel opens another.
    pub fn is_through_a_process(&self) -> bool {
        let first = self.0.strip_prefix("/proc/").and_then(|rest| rest.split('/').next());
        first.is_some_and(|name| {
            matches!(name, "self" | "thread-self") || name.bytes().all(|b| b.is_ascii_digit())
        })
    }
}

fn is_in(path: &str, directory: &str) -> bool {
    directory == "/"
        || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl FromStr for HostPath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong = |problem| Err(Invalid::new(format!("{text:?} {problem}")));
        if !text.starts_with('/') {
            return wrong("is not an absolute path: write one such as /srv/data");
        }
        if text.contains('\0') {
            return wrong("contains a NUL character");
        }
        if text.split('/').any(|segment| segment == "..") {
            return wrong("has a '..' segment: write the path that it leads to");
        }
        let clean: String = text
            .split('/')
            .filter(|segment| !matches!(*segment, "" | "."))
            .flat_map(|segment| ["/", segment])
            .collect();
        // Everywhere a symbolic link to /run.
        let clean = match clean.strip_prefix("/var/run") {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("/run{rest}"),
            _ => clean,
        };
        Ok(Self(if clean.is_empty() { "/".to_owned() } else { clean }))
    }
}

impl fmt::Display for HostPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A directory of the host that may be bound, with all that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindPrefix {
    /// The directory, or a single file.
    pub path: HostPath,
    /// Whether only read-only binds are allowed.
    pub read_only: bool,
    /// Whether mounts made in the container may appear on the host.
    pub shared: bool,
}

/// What a bind does with its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BindUse {
    /// Something under the source can change: it is writable, created, or relabelled.
    pub writes: bool,
    /// Mounts made in the container appear on the host.
    pub shared: bool,
}

/// Whether one of `prefixes` allows to bind `path` for such a use. Of paths that reach an engine's
/// socket this is not the whole answer: see [`check`](super::check).
pub fn covers(prefixes: &[BindPrefix], path: &HostPath, used: BindUse) -> bool {
    prefixes.iter().any(|prefix| {
        path.is_in(&prefix.path)
            && (!used.writes || !prefix.read_only)
            && (!used.shared || prefix.shared)
    })
}

/// [`BindPrefix`] as a map.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LongBindPrefix {
    path: HostPath,
    #[serde(default, deserialize_with = "truth")]
    read_only: bool,
    #[serde(default, deserialize_with = "truth")]
    shared: bool,
}

impl Entry for BindPrefix {
    const FORMS: &'static str = "a path such as /srv/shared, or a map {path, readOnly, shared}";
    type Long = LongBindPrefix;

    fn short(text: &str) -> Result<Self, Invalid> {
        Ok(Self { path: text.parse()?, read_only: false, shared: false })
    }

    fn long(LongBindPrefix { path, read_only, shared }: LongBindPrefix) -> Self {
        Self { path, read_only, shared }
    }
}

short_or_long!(BindPrefix);

/// A cgroup, absolute or relative to the engine's own, without `//`, `.`, `..` and a trailing `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup(String);

entry!(Cgroup);

impl Cgroup {
    /// Whether it is `parent` or below it.
    pub fn is_in(&self, parent: &Self) -> bool {
        is_in(&self.0, &parent.0) && self.0.starts_with('/') == parent.0.starts_with('/')
    }
}

impl FromStr for Cgroup {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.starts_with('/') {
            let whole = text.split('/').filter(|segment| !matches!(*segment, "" | "."));
            let path: String = whole.clone().flat_map(|segment| ["/", segment]).collect();
            return if whole.clone().any(|segment| segment == "..") || text.contains('\0') {
                Err(Invalid::new(format!("{text:?} is not a cgroup: it must have no '..' segment")))
            } else {
                Ok(Self(if path.is_empty() { "/".to_owned() } else { path }))
            };
        }
        let below: Self = format!("/{text}").parse()?;
        match below.0.strip_prefix('/') {
            Some(relative) if !relative.is_empty() => Ok(Self(relative.to_owned())),
            _ => Err(Invalid::new(format!(
                "{text:?} is not a cgroup: write one such as /workspaces or workspaces.slice"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> HostPath {
        text.parse().unwrap()
    }

    #[test]
    fn a_path_has_one_spelling() {
        for (text, clean) in [
            ("/srv//data/./x/", "/srv/data/x"),
            ("/", "/"),
            ("//", "/"),
            ("/./", "/"),
            ("/var/run/docker.sock", "/run/docker.sock"),
            ("//var/./run", "/run"),
            ("/var/runs", "/var/runs"),
            ("/a..b/..c", "/a..b/..c"),
        ] {
            assert_eq!(path(text).as_str(), clean, "{text}");
        }
        for text in ["", "srv", "./srv", "/srv/../etc", "/..", "/a\0"] {
            assert!(text.parse::<HostPath>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_prefix_is_a_directory_not_the_beginning_of_a_text() {
        let prefixes = [BindPrefix::short("/srv/shared/").unwrap()];
        let covered = |text| covers(&prefixes, &path(text), BindUse::default());
        assert!(covered("/srv/shared") && covered("/srv/shared/a/b"));
        assert!(!covered("/srv/shared2") && !covered("/srv") && !covered("/"));
    }

    #[test]
    fn each_use_needs_a_prefix_that_allows_it() {
        let read = BindUse::default();
        let write = BindUse { writes: true, ..read };
        let share = BindUse { shared: true, ..read };
        let one = |read_only, shared| [BindPrefix { path: path("/a"), read_only, shared }];
        assert!(covers(&one(true, false), &path("/a"), read));
        assert!(!covers(&one(true, false), &path("/a"), write));
        assert!(covers(&one(false, false), &path("/a"), write));
        assert!(!covers(&one(false, false), &path("/a"), share));
        assert!(covers(&one(true, true), &path("/a"), share));
    }

    #[test]
    fn a_directory_that_holds_an_engines_socket_reaches_it() {
        let own = [path("/srv/engine/docker.sock")];
        for text in
            ["/", "/run", "/var/run/", "/var/run/docker.sock", "/run/containerd", "/srv/engine"]
        {
            assert!(path(text).reaches_engine(&own), "{text}");
        }
        for text in ["/run/user", "/srv/engine2", "/run/docker.sock2", "/srv/engine/x"] {
            assert!(!path(text).reaches_engine(&own), "{text}");
        }
    }

    #[test]
    fn a_cgroup_is_below_its_parent_only_of_its_own_kind() {
        let is_in =
            |a: &str, b: &str| a.parse::<Cgroup>().unwrap().is_in(&b.parse::<Cgroup>().unwrap());
        assert!(is_in("/a//b/", "/a") && is_in("a.slice", "a.slice") && is_in("/a", "/"));
        assert!(
            !is_in("/ab", "/a")
                && !is_in("a", "/")
                && !is_in("a", "/a")
                && !is_in("a-b.slice", "a.slice")
        );
        assert!("/a/../b".parse::<Cgroup>().is_err() && "".parse::<Cgroup>().is_err());
        assert!("a/../b".parse::<Cgroup>().is_err() && ".".parse::<Cgroup>().is_err());
    }
}
