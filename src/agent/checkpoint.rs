//! What was last asked of this host, on its disk: an agent that starts without an API goes on from
//! it.
//!
//! ```text
//! <root>/checkpoint/         0700
//!   identity                 which Host this is, and which it was
//!   identity.previous        the one before, for when the disk spoils the newest
//!   run-<uid>                one for each run, with its Secret and config file
//!   task-<uid>               one for each VolumeTask
//!   images                   the images that the agent pulled
//! <root>/checkpoint.bad-<n>  what could not be read, the newest few
//! ```
//!
//! A file for each, so that a change of one run writes a few kilobytes however many there are. Each
//! is replaced at one stroke, and begins with a line that says its version, length and hash: one that
//! is cut, changed or newer than this program is moved aside, never believed, and the rest go on.
//!
//! Only the identity keeps a copy of the one before: the API tells all else again, but not which
//! Hosts this agent was.

mod file;
mod values;

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::durable::Directory;
use super::root::Root;
use crate::api::field_error::FieldError;

pub use file::Bad;
pub use values::{HostIdentity, RunCheckpoint, Sealed};

const STAGE: &str = ".stage";
const IDENTITY: &str = "identity";
const PREVIOUS: &str = "identity.previous";
const IMAGES: &str = "images";
const RUN: &str = "run-";
const TASK: &str = "task-";
/// How many files that could not be read are kept.
const BAD_KEPT: usize = 8;
const BAD: &str = "checkpoint.bad-";

/// The checkpoint on the disk.
#[derive(Debug)]
pub struct Checkpoint {
    directory: Directory,
    above: Directory,
    root: PathBuf,
}

/// What a checkpoint held.
#[derive(Debug)]
pub struct Loaded<R, T, I> {
    /// Which Host this is; none on a fresh host.
    pub identity: Option<HostIdentity>,
    /// The runs.
    pub runs: Vec<RunCheckpoint<R>>,
    /// The VolumeTasks.
    pub tasks: Vec<T>,
    /// The images that were pulled.
    pub images: Option<I>,
    /// What could not be read.
    pub set_aside: Vec<SetAside>,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Its name in the checkpoint.
    pub name: String,
    /// What is wrong with it; never what is in it.
    pub why: Bad,
    /// Where it is now; none where it could not be moved.
    pub moved_to: Option<PathBuf>,
}

impl<R, T, I> Loaded<R, T, I> {
    /// Whether there was no checkpoint at all.
    pub fn is_fresh(&self) -> bool {
        let none = self.identity.is_none() && self.images.is_none() && self.set_aside.is_empty();
        none && self.runs.is_empty() && self.tasks.is_empty()
    }
}

impl Checkpoint {
    /// Opens the checkpoint below the root; makes an empty one where there is none.
    pub fn open(root: &Root) -> io::Result<Self> {
        Self::at(root.path(), &root.checkpoint())
    }

    fn at(root: &Path, path: &Path) -> io::Result<Self> {
        let private = Mode::from_raw_mode(0o700);
        let directory = Directory::make(path, private)?;
        directory.set_mode(private)?;
        Ok(Self { directory, above: Directory::open(root)?, root: root.to_owned() })
    }

    /// Reads all that is there. What cannot be read is moved aside; an error only where the
    /// directory itself cannot be read.
    pub fn load<R, T, I>(&self) -> io::Result<Loaded<R, T, I>>
    where
        R: DeserializeOwned,
        T: DeserializeOwned,
        I: DeserializeOwned,
    {
        let mut found = Loaded {
            identity: None,
            runs: Vec::new(),
            tasks: Vec::new(),
            images: None,
            set_aside: Vec::new(),
        };
        self.directory.remove(STAGE)?;
        let names = self.directory.names()?;
        for name in names.iter().filter_map(|name| name.to_str()) {
            let aside = &mut found.set_aside;
            if name.starts_with(RUN) {
                found.runs.extend(self.get(name, aside));
            } else if name.starts_with(TASK) {
                found.tasks.extend(self.get(name, aside));
            } else if name == IMAGES {
                found.images = self.get(name, aside);
            } else if name == IDENTITY {
                found.identity = self.get(name, aside);
            }
        }
        if found.identity.is_none() && names.iter().any(|name| name == PREVIOUS) {
            found.identity = self.get(PREVIOUS, &mut found.set_aside);
        }
        Ok(found)
    }

    /// Saves which Host this is.
    pub fn save_identity(&self, identity: &HostIdentity) -> io::Result<()> {
        // What is copied was read, or written by this process: else it would have been moved aside.
        self.keep_previous()?;
        self.put(IDENTITY, identity)
    }

    /// Saves a run, in place of what was saved of it.
    pub fn save_run<R: Serialize>(&self, run: &RunCheckpoint<R>) -> io::Result<()> {
        let uid = run.run.metadata.uid.as_deref().unwrap_or_default();
        self.put(&named(RUN, uid)?, run)
    }

    /// Forgets a run.
    pub fn remove_run(&self, uid: &str) -> io::Result<()> {
        self.directory.remove(&named(RUN, uid)?)
    }

    /// Saves a VolumeTask.
    pub fn save_task<T: Serialize>(&self, uid: &str, task: &T) -> io::Result<()> {
        self.put(&named(TASK, uid)?, task)
    }

    /// Forgets a VolumeTask.
    pub fn remove_task(&self, uid: &str) -> io::Result<()> {
        self.directory.remove(&named(TASK, uid)?)
    }

    /// Saves which images were pulled.
    pub fn save_images<I: Serialize>(&self, images: &I) -> io::Result<()> {
        self.put(IMAGES, images)
    }

    fn keep_previous(&self) -> io::Result<()> {
        let Some(now) = self.directory.read(IDENTITY, file::MOST)? else { return Ok(()) };
        self.directory.replace(PREVIOUS, STAGE, &now, Mode::from_raw_mode(0o600))
    }

    fn put<V: Serialize>(&self, name: &str, value: &V) -> io::Result<()> {
        let bytes = file::encode(value)?;
        self.directory.replace(name, STAGE, &bytes, Mode::from_raw_mode(0o600))
    }

    fn get<V: DeserializeOwned>(&self, name: &str, aside: &mut Vec<SetAside>) -> Option<V> {
        let read = match self.directory.read(name, file::MOST) {
            Ok(Some(bytes)) => file::decode(&bytes),
            Ok(None) => Err(Bad::NotAFile),
            Err(error) => Err(Bad::Unreadable(error.kind())),
        };
        read.map_err(|why| {
            let moved_to = self.set_aside(name).ok();
            aside.push(SetAside { name: name.to_owned(), why, moved_to });
        })
        .ok()
    }

    /// Moves a file out of the checkpoint, and forgets the oldest of those that were.
    fn set_aside(&self, name: &str) -> io::Result<PathBuf> {
        let numbers = self.above.names()?.into_iter();
        let mut kept: Vec<u64> =
            numbers.filter_map(|name| name.to_str()?.strip_prefix(BAD)?.parse().ok()).collect();
        kept.sort_unstable();
        let next = kept.last().map_or(1, |last| last + 1);
        let to = format!("{BAD}{next}");
        self.directory.move_to(name, &self.above, &to)?;
        for old in kept.iter().take((kept.len() + 1).saturating_sub(BAD_KEPT)) {
            // That an old one stays is no reason to fail.
            let _ = self.above.remove(&format!("{BAD}{old}"));
        }
        Ok(self.root.join(to))
    }
}

/// A file's name by a uid, which comes from the API and must not be a path.
fn named(prefix: &str, uid: &str) -> io::Result<String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    if uid.is_empty() || uid.len() > 128 || !uid.bytes().all(plain) {
        let error = FieldError::new("metadata.uid", "must be letters, digits and '-'");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    }
    Ok(format!("{prefix}{uid}"))
}

#[cfg(test)]
mod tests;
