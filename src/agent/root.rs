//! The agent's root: the one directory of the host that is the agent's own, held by one process.
//!
//! ```text
//! <root>/                      0700
//!   lock                       who holds the root
//!   checkpoint/                what was last asked of this host, with Secrets
//!   checkpoint.bad-<n>         checkpoints that could not be read
//!   <namespace>_<name>_<uid8>/ one for each Workspace
//! ```
//!
//! A Workspace's directory has a `_` in its name, and nothing else here has.

use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::durable::Directory;

const LOCK: &str = "lock";
const CHECKPOINT: &str = "checkpoint";
/// The longest command that is told of who holds the root, in characters.
const COMMAND_CHARS: usize = 200;

/// The root, locked for as long as this value lives.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    text: String,
    _lock: std::fs::File,
}

/// Why the root cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The path, or what is there, is not fit to be a root.
    #[error("--root {}: {problem}", path.display())]
    Unfit {
        /// As it was given.
        path: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
    /// Another process holds it.
    #[error("--root {}: in use by {holder}: stop it, or give this agent another --root", path.display())]
    Held {
        /// The root.
        path: PathBuf,
        /// Who.
        holder: Holder,
    },
    /// The file system failed.
    #[error("--root {}: {source}", path.display())]
    Io {
        /// As it was given.
        path: PathBuf,
        /// How.
        source: io::Error,
    },
}

/// The process that holds a root, as it wrote of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its pid, where it has said so.
    pub pid: Option<u32>,
    /// Its command line.
    pub command: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid} ({})", self.command),
            None => f.write_str("another process"),
        }
    }
}

impl Root {
    /// Makes the root if it is missing, and locks it.
    ///
    /// A root that is reached by symbolic links is fine (data on another disk); what it leads to
    /// must be ours and out of others' reach, for who can write there decides what runs on the host.
    pub fn open(path: &Path) -> Result<Self, RootError> {
        let io = |source| RootError::Io { path: path.to_owned(), source };
        let unfit = |problem: String| RootError::Unfit { path: path.to_owned(), problem };
        std::fs::DirBuilder::new().recursive(true).mode(0o755).create(parent(path)).map_err(io)?;
        match std::fs::DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(io(error)),
            _ => {}
        }
        let resolved = std::fs::canonicalize(path).map_err(io)?;
        let text = fit(&resolved).map_err(unfit)?;
        let held = Directory::open(&resolved).map_err(io)?;
        held.set_mode(Mode::from_raw_mode(0o700)).map_err(io)?;
        let lock = lock(&resolved.join(LOCK)).map_err(io)?;
        match lock {
            Ok(lock) => Ok(Self { path: resolved, text, _lock: lock }),
            Err(holder) => Err(RootError::Held { path: resolved, holder }),
        }
    }

    /// The directory, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same as text, as create bodies are made with it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where the checkpoint is.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join(CHECKPOINT)
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a directory can be the root; gives it as text.
fn fit(path: &Path) -> Result<String, String> {
    let text = path.to_str().filter(|text| !text.contains(|c: char| c == ':' || c.is_control()));
    let Some(text) = text else {
        return Err("must be UTF-8 without ':' and control characters, which no bind of Docker's \
                    can name: choose another path"
            .to_owned());
    };
    if path.parent().is_none() {
        return Err("must be a directory of the agent's own, such as /var/lib/kibotos".to_owned());
    }
    let us = rustix::process::geteuid().as_raw();
    for (directory, own) in
        path.ancestors().zip(std::iter::once(true).chain(std::iter::repeat(false)))
    {
        let shown = directory.display();
        let seen = std::fs::metadata(directory).map_err(|error| format!("{shown}: {error}"))?;
        if !seen.is_dir() {
            return Err(format!("{shown} is not a directory"));
        }
        if own && seen.uid() != us {
            let owner = seen.uid();
            return Err(format!(
                "{shown} belongs to user {owner}, not to {us} as whom the agent runs: \
                 chown it, or choose another path"
            ));
        }
        // Others may write to /tmp, but not put theirs in place of ours: it is sticky.
        if !own && seen.mode() & 0o1002 == 0o002 {
            return Err(format!(
                "every user may write to {shown}, and so put a directory in its place: \
                 chmod o-w {shown}, or choose another path"
            ));
        }
    }
    Ok(text.to_owned())
}

/// Locks a file and writes into it who holds it; else says who does.
fn lock(path: &Path) -> io::Result<Result<std::fs::File, Holder>> {
    loop {
        let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600).custom_flags(no_follow);
        let mut file = options.open(path)?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(Err(holder(&mut file))),
            Err(other) => return Err(other.into()),
        }
        // A file that was removed meanwhile locks nobody out.
        let same = std::fs::metadata(path).is_ok_and(|now| {
            file.metadata().is_ok_and(|ours| (ours.dev(), ours.ino()) == (now.dev(), now.ino()))
        });
        if same {
            file.set_len(0)?;
            let command: Vec<_> =
                std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
            write!(file, "{}\n{}\n", std::process::id(), command.join(" "))?;
            return Ok(Ok(file));
        }
    }
}

fn holder(file: &mut std::fs::File) -> Holder {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(64 * 1024).read_to_string(&mut text));
    let mut lines = text.lines();
    let pid = read.ok().and_then(|_| lines.next()).and_then(|pid| pid.parse().ok());
    // One that has just locked it has not yet written, and the text is of who held it before.
    let pid = pid.filter(|pid: &u32| Path::new(&format!("/proc/{pid}")).exists());
    let command = lines.next().unwrap_or_default();
    Holder { pid, command: command.chars().take(COMMAND_CHARS).collect() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn message(path: &Path) -> String {
        Root::open(path).unwrap_err().to_string()
    }

    #[test]
    fn a_missing_root_is_made_for_its_owner_alone() {
        let temp = tempfile::tempdir().unwrap();
        let root = Root::open(&temp.path().join("a/root")).unwrap();
        assert_eq!(fs::metadata(root.path()).unwrap().mode() & 0o777, 0o700);
        assert!(root.checkpoint().starts_with(root.path()));
    }

    #[test]
    fn a_root_that_others_could_read_is_closed() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("root");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Root::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_second_process_is_told_who_holds_the_root_until_that_one_is_gone() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("root");
        let first = Root::open(&path).unwrap();
        // A lock belongs to the file as it was opened: a second one in this process is as good.
        let told = message(&path);
        let us = format!("in use by process {} (", std::process::id());
        assert!(told.contains(&us) && told.contains("another --root"), "{told}");
        drop(first);
        Root::open(&path).unwrap();
    }

    #[test]
    fn a_holder_that_has_not_yet_said_its_name_is_not_taken_for_the_one_before() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("root");
        let first = Root::open(&path).unwrap();
        fs::write(path.join("lock"), "4194305\nkibotos agent\n").unwrap();
        assert!(message(&path).contains("in use by another process"));
        drop(first);
    }

    #[test]
    fn a_root_may_be_reached_by_a_link_and_is_known_by_where_it_leads() {
        let temp = tempfile::tempdir().unwrap();
        let real = temp.path().canonicalize().unwrap().join("real");
        fs::create_dir(&real).unwrap();
        symlink(&real, temp.path().join("link")).unwrap();
        let root = Root::open(&temp.path().join("link")).unwrap();
        assert_eq!(root.path(), real);
        assert!(matches!(Root::open(&real), Err(RootError::Held { .. })));
    }

    #[test]
    fn a_directory_that_somebody_else_governs_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let theirs = temp.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        chown(&theirs, Some(12345), None).unwrap();
        symlink(&theirs, temp.path().join("link")).unwrap();
        for path in [theirs, temp.path().join("link")] {
            assert!(message(&path).contains("belongs to user 12345"), "{}", message(&path));
        }
        let open = temp.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(message(&open.join("root")).contains("every user may write to"));
    }

    #[test]
    fn what_no_bind_can_name_is_no_root() {
        let temp = tempfile::tempdir().unwrap();
        assert!(message(&temp.path().join("a:b")).contains("without ':'"));
        assert!(message(Path::new("/")).contains("of the agent's own"));
        fs::write(temp.path().join("file"), "").unwrap();
        assert!(message(&temp.path().join("file")).contains("not a directory"));
    }
}
