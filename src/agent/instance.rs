//! Which start of the engine this is.
//!
//! The end of a container means something only under the engine that saw it run: an engine that is
//! stopped, or a host that goes down, ends containers in the same way as their own exit does.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// One start of one engine: two looks that are equal saw the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    /// The kernel's id of this boot.
    pub boot_id: String,
    /// The socket, which an engine makes anew as it starts.
    socket: Made,
    /// The engine's pid file beside the socket: where systemd holds the socket, an engine that
    /// starts again finds it there and makes but this one anew.
    pid_file: Option<Made>,
}

/// When a file was made or last written. Not its change time, which an engine moves on after it
/// began to listen (mode and group of the socket), and an admin by `chgrp`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Made {
    inode: u64,
    at: Timestamp,
}

impl Instance {
    /// Looks at the host and at what the engine made. An error of the kind
    /// [`NotFound`](io::ErrorKind::NotFound) when the socket is not there: no engine runs.
    pub fn look(socket: &Path) -> io::Result<Self> {
        let boot_id = std::fs::read_to_string(BOOT_ID)?.trim().to_owned();
        // `/var/run/docker.sock` is beside the pid file only once resolved.
        let socket = std::fs::canonicalize(socket)?;
        let metadata = std::fs::metadata(&socket)?;
        if !metadata.file_type().is_socket() {
            let message = format!("{} is not a socket", socket.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let pid_file = pid_files(&socket).into_iter().find_map(|path| Made::of_file(&path));
        Ok(Self { boot_id, socket: Made::of(&metadata), pid_file })
    }

    /// Since when the engine runs, or later: what it started before is of an earlier instance.
    pub fn began(&self) -> Timestamp {
        self.pid_file.iter().map(|file| file.at).fold(self.socket.at, Timestamp::max)
    }
}

impl Made {
    fn of(metadata: &Metadata) -> Self {
        let at = SignedDuration::new(
            metadata.mtime(),
            i32::try_from(metadata.mtime_nsec()).unwrap_or(0),
        );
        let at = Timestamp::from_duration(at).unwrap_or(Timestamp::UNIX_EPOCH);
        Self { inode: metadata.ino(), at }
    }

    fn of_file(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().filter(Metadata::is_file).map(|metadata| Self::of(&metadata))
    }
}

/// Where an engine that listens there keeps its pid: by its own name, or by Docker's.
fn pid_files(socket: &Path) -> [PathBuf; 3] {
    let beside = |name| socket.with_file_name(name);
    [socket.with_extension("pid"), beside("docker.pid"), beside("dockerd.pid")]
}

/// Time since the host booted, on a clock that nobody sets and that goes on while the host sleeps:
/// what a lease is measured by.
pub fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn look(directory: &Path) -> Instance {
        Instance::look(&directory.join("docker.sock")).unwrap()
    }

    /// Gives a file the time `seconds`.
    fn touch(path: &Path, seconds: u64) {
        let file = fs::File::open(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn an_engine_that_goes_on_is_the_same_instance_whoever_may_use_its_socket() {
        let temp = tempfile::tempdir().unwrap();
        let socket = temp.path().join("docker.sock");
        let _listener = UnixListener::bind(&socket).unwrap();
        let before = look(temp.path());
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o660)).unwrap();
        assert_eq!(look(temp.path()), before);
        symlink(&socket, temp.path().join("link.sock")).unwrap();
        assert_eq!(Instance::look(&temp.path().join("link.sock")).unwrap(), before);
        let text = serde_json::to_string(&before).unwrap();
        assert_eq!(serde_json::from_str::<Instance>(&text).unwrap(), before);
    }

    #[test]
    fn an_engine_that_makes_its_socket_anew_is_another_instance() {
        let temp = tempfile::tempdir().unwrap();
        let socket = temp.path().join("docker.sock");
        let first = UnixListener::bind(&socket).unwrap();
        let before = look(temp.path());
        fs::rename(&socket, temp.path().join("old.sock")).unwrap();
        let _second = UnixListener::bind(&socket).unwrap();
        drop(first);
        let after = look(temp.path());
        assert_ne!(after, before);
        assert!(after.began() >= before.began());
    }

    #[test]
    fn an_engine_behind_a_socket_of_systemd_is_known_by_its_pid_file() {
        for name in ["docker.pid", "dockerd.pid"] {
            let temp = tempfile::tempdir().unwrap();
            let _listener = UnixListener::bind(temp.path().join("docker.sock")).unwrap();
            let without = look(temp.path());
            let pid = temp.path().join(name);
            fs::write(&pid, "12").unwrap();
            touch(&pid, 4_000_000_000);
            let first = look(temp.path());
            assert_ne!(first, without);
            assert_eq!(first.began().as_second(), 4_000_000_000);
            fs::write(&pid, "13").unwrap();
            touch(&pid, 4_000_000_100);
            assert_ne!(look(temp.path()), first);
            touch(&pid, 1);
            assert_eq!(look(temp.path()).began(), without.began());
        }
    }

    #[test]
    fn without_an_engine_there_is_no_instance() {
        let temp = tempfile::tempdir().unwrap();
        let missing = Instance::look(&temp.path().join("docker.sock")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::write(temp.path().join("docker.sock"), "").unwrap();
        assert!(Instance::look(&temp.path().join("docker.sock")).is_err());
    }

    #[test]
    fn the_clock_of_leases_is_the_hosts_uptime() {
        let uptime = fs::read_to_string("/proc/uptime").unwrap();
        let told: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
        assert!((since_boot().as_secs_f64() - told).abs() < 5.0);
        assert!(since_boot() <= since_boot());
    }
}
