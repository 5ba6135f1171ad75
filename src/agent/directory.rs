//! The directory of a Workspace on its host, and the config file in it.
//!
//! ```text
//! <root>/<namespace>_<name>_<uid8>/   0700
//!   service.conf                      0644, or in container.directory where that is set
//!   .service.conf.stage               while service.conf is written and its reader not told
//!   .container_dir                    what container.directory says
//!   .record                           which directories outside the root hold files of ours
//! ```
//!
//! All is made before the container is, for an engine that finds no source for a bind makes a
//! directory in its place. The bind pins the file: so an update is written into it, never put in its
//! place. A write that was cut off is seen by its stage, or by the content's hash, and done again;
//! the stage stays until the container was told of the new content, for that may be cut off too.
//!
//! A container may write into `service.conf`, and where `container.directory` is below a bind of its
//! own, put anything in its place: a link, a pipe or a file with a second name is replaced, never
//! written through; a directory is replaced when it is empty.
//!
//! Each function can be stopped anywhere and called again.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::container::{CONFIG_FILE, own_directory};
use super::durable::{Directory, Entry};
use super::policy::{Context, Governing, check_directory};
use super::resolve::{resolve, resolved};
use crate::api::field_error::FieldError;
use crate::api::reference::WorkspaceRef;

const STAGE: &str = ".service.conf.stage";
const CONTAINER_DIR: &str = ".container_dir";
const RECORD: &str = ".record";
/// The stage of the files that only the agent sees.
const OWN_STAGE: &str = ".stage";
const PRIVATE: Mode = Mode::from_raw_mode(0o700);
const READABLE: Mode = Mode::from_raw_mode(0o644);
/// The longest content of a config file.
pub const CONFIG_MAX: usize = 1024 * 1024;
const RECORD_MAX: usize = 1024 * 1024;

/// Where a Workspace's directory is: judged, and without symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    own: PathBuf,
    given: Option<Given>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    written: String,
    resolved: PathBuf,
}

/// What is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryState {
    /// The directory is not made, or not wholly.
    Missing,
    /// There is no config file, or something else in its place.
    ConfigMissing,
    /// The config file has other content, or a write to it was cut off.
    ConfigStale,
    /// All is as it should be.
    Ready,
}

/// Why a directory cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The host's policy does not allow it there.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Refused(Vec<FieldError>),
    /// A directory with something in it stands where the config file should be.
    #[error("{} is a directory with something in it: remove it, a config file belongs there", .0.display())]
    Occupied(PathBuf),
    /// The config file's content is too long.
    #[error("spec.configFile: the content is {0} bytes long: at most {CONFIG_MAX} are allowed")]
    TooLong(usize),
    /// Something is mounted in the directory, and would be emptied with it.
    #[error("{} is a mount in the Workspace's directory: unmount it", .0.display())]
    Mounted(PathBuf),
    /// The file system failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// How.
        source: io::Error,
    },
}

/// The directories outside the root in which files of ours are, or were.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    directories: Vec<Outside>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Outside {
    path: PathBuf,
    /// Whether it is ours to remove.
    made: bool,
}

impl Place {
    /// Finds where the directory is, and judges it by where it leads.
    pub fn of(context: &Context<'_>, governing: &Governing<'_>) -> Result<Self, DirectoryError> {
        let own = own_path(context.root, &context.run.workspace)?;
        let said = context.run.container.directory.as_deref();
        let Some(written) = said.filter(|said| !said.is_empty()) else {
            return Ok(Self { own, given: None });
        };
        let refused = |errors| Err(DirectoryError::Refused(errors));
        let errors = check_directory(context, governing);
        if !errors.is_empty() {
            return refused(errors);
        }
        let leads = resolve(written).map_err(at(Path::new(written)))?.path;
        let mut run = context.run.clone();
        run.container.directory = Some(leads.clone());
        let allowances = resolved(governing.allowances);
        let mut governing = governing.clone();
        governing.allowances = &allowances;
        let mut errors = check_directory(&Context { run: &run, ..*context }, &governing);
        if Path::new(&leads).starts_with(context.root) {
            let path = "spec.container.directory";
            errors.push(FieldError::new(path, "not allowed by host policy: it is the agent's own"));
        }
        if !errors.is_empty() {
            return refused(errors);
        }
        let given = Given { written: written.to_owned(), resolved: leads.into() };
        Ok(Self { own, given: Some(given) })
    }

    /// The directory that holds the config file.
    pub fn directory(&self) -> &Path {
        self.given.as_ref().map_or(&self.own, |given| &given.resolved)
    }
}

/// Looks what is there; `sha256` is of the config file's content, where the run has one.
pub fn look(place: &Place, sha256: Option<&str>) -> Result<DirectoryState, DirectoryError> {
    let Some(own) = existing(&place.own)? else { return Ok(DirectoryState::Missing) };
    if let Some(given) = &place.given {
        let said = own.read(CONTAINER_DIR, RECORD_MAX).map_err(at(&place.own))?;
        let known = record(&own).directories.iter().any(|d| d.path == given.resolved);
        if said.as_deref() != Some(given.written.as_bytes()) || !known {
            return Ok(DirectoryState::Missing);
        }
    }
    let Some(directory) = existing(place.directory())? else { return Ok(DirectoryState::Missing) };
    let Some(sha256) = sha256 else { return Ok(DirectoryState::Ready) };
    let fault = || at(place.directory());
    if directory.entry(CONFIG_FILE).map_err(fault())? != Some(Entry::File) {
        return Ok(DirectoryState::ConfigMissing);
    }
    let whole = directory.entry(STAGE).map_err(fault())?.is_none();
    let content = directory.read(CONFIG_FILE, CONFIG_MAX).map_err(fault())?;
    let right = content.is_some_and(|content| hash(&content) == sha256);
    Ok(if whole && right { DirectoryState::Ready } else { DirectoryState::ConfigStale })
}

/// Makes the directory, and the config file in it where the run has one.
pub fn prepare(place: &Place, config: Option<&[u8]>) -> Result<(), DirectoryError> {
    let own = Directory::make(&place.own, PRIVATE).map_err(at(&place.own))?;
    own.set_mode(PRIVATE).map_err(at(&place.own))?;
    match &place.given {
        None => own.remove(CONTAINER_DIR).map_err(at(&place.own))?,
        Some(given) => {
            remember(&own, given).map_err(at(&place.own))?;
            Directory::make(&given.resolved, PRIVATE).map_err(at(&given.resolved))?;
        }
    }
    config.map_or(Ok(()), |content| write_config(place, content))
}

/// Writes the config file's content, of which nobody is to be told.
pub fn write_config(place: &Place, content: &[u8]) -> Result<(), DirectoryError> {
    change_config(place, content)?;
    settle_config(place)
}

/// The config file's new content was told of, where someone is to be told.
pub fn settle_config(place: &Place) -> Result<(), DirectoryError> {
    let path = place.directory();
    let directory = Directory::open(path).map_err(at(path))?;
    match directory.entry(STAGE).map_err(at(path))? {
        Some(_) => directory.remove(STAGE).map_err(at(path)),
        None => Ok(()),
    }
}

/// Writes the config file's content; the file stays the same one, as a container has it mounted. It
/// counts as not written until [`settle_config`].
pub fn change_config(place: &Place, content: &[u8]) -> Result<(), DirectoryError> {
    if content.len() > CONFIG_MAX {
        return Err(DirectoryError::TooLong(content.len()));
    }
    let path = place.directory();
    let directory = Directory::open(path).map_err(at(path))?;
    let entry = directory.entry(CONFIG_FILE).map_err(at(path))?;
    if entry == Some(Entry::Directory) {
        directory.remove_empty(CONFIG_FILE).map_err(|source| {
            let file = path.join(CONFIG_FILE);
            match source.kind() {
                io::ErrorKind::DirectoryNotEmpty => DirectoryError::Occupied(file),
                _ => DirectoryError::Io { path: file, source },
            }
        })?;
    }
    put(&directory, entry, content).map_err(at(&path.join(CONFIG_FILE)))
}

fn put(directory: &Directory, entry: Option<Entry>, content: &[u8]) -> io::Result<()> {
    // Only a container that has the directory could have made one of it.
    if directory.entry(STAGE)? == Some(Entry::Directory) {
        directory.remove_empty(STAGE)?;
    }
    if entry != Some(Entry::File) {
        return directory.replace(CONFIG_FILE, STAGE, content, READABLE);
    }
    let same = directory.read(CONFIG_FILE, CONFIG_MAX)?.as_deref() == Some(content);
    // What reads the same may yet be on its way to the disk, if a write was cut off.
    if same && directory.entry(STAGE)?.is_none() {
        return directory.set_file_mode(CONFIG_FILE, READABLE);
    }
    directory.overwrite(CONFIG_FILE, STAGE, content, READABLE)
}

/// Removes the Workspace's directory in the root with all that is in it, and of directories outside
/// what was made there: the config file, and a directory that was made and is empty.
///
/// A directory outside that has become a symbolic link is left, for nothing behind it was made.
pub fn remove(root: &str, workspace: &WorkspaceRef) -> Result<(), DirectoryError> {
    let path = own_path(root, workspace)?;
    let Some(own) = existing(&path)? else { return Ok(()) };
    if let Some(mount) = mount_below(&path)? {
        return Err(DirectoryError::Mounted(mount));
    }
    for outside in record(&own).directories {
        leave(&outside).map_err(at(&outside.path))?;
    }
    match std::fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(&path)(error)),
        _ => Ok(()),
    }
}

fn leave(outside: &Outside) -> io::Result<()> {
    let directory = match Directory::open(&outside.path) {
        Ok(directory) => directory,
        Err(error) if is_gone(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    for name in [CONFIG_FILE, STAGE] {
        if directory.entry(name)? != Some(Entry::Directory) {
            directory.remove(name)?;
        }
    }
    let (Some(parent), Some(name)) = (outside.path.parent(), outside.path.file_name()) else {
        return Ok(());
    };
    let (true, Some(name)) = (outside.made, name.to_str()) else { return Ok(()) };
    match Directory::open(parent).and_then(|parent| parent.remove_empty(name)) {
        // Something of the user's is in it.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}

/// Writes down, before anything is made there, that files of ours are in a directory outside.
fn remember(own: &Directory, given: &Given) -> io::Result<()> {
    let mut record = record(own);
    if !record.directories.iter().any(|outside| outside.path == given.resolved) {
        let made = std::fs::symlink_metadata(&given.resolved).is_err();
        record.directories.push(Outside { path: given.resolved.clone(), made });
        let text = serde_json::to_vec(&record)?;
        own.replace(RECORD, OWN_STAGE, &text, Mode::from_raw_mode(0o600))?;
    }
    let written = given.written.as_bytes();
    if own.read(CONTAINER_DIR, RECORD_MAX)?.as_deref() != Some(written) {
        own.replace(CONTAINER_DIR, OWN_STAGE, written, READABLE)?;
    }
    Ok(())
}

/// The record; one that cannot be read, as after a fault of the disk, is an empty one: what it said
/// of is left where it is.
fn record(own: &Directory) -> Record {
    let text = own.read(RECORD, RECORD_MAX).ok().flatten();
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn own_path(root: &str, workspace: &WorkspaceRef) -> Result<PathBuf, DirectoryError> {
    let path = PathBuf::from(own_directory(workspace, root));
    // Names come from the API, which is not trusted with paths.
    if path.parent() != Some(Path::new(root)) {
        let error = FieldError::new("spec.workspace", "a name or uid with '/' names no directory");
        return Err(DirectoryError::Refused(vec![error]));
    }
    Ok(path)
}

fn existing(path: &Path) -> Result<Option<Directory>, DirectoryError> {
    match Directory::open(path) {
        Ok(directory) => Ok(Some(directory)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path)(error)),
    }
}

/// Whether nothing is at a path, or something else than the directory that once was.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A mount below a directory, which removal would empty.
fn mount_below(path: &Path) -> Result<Option<PathBuf>, DirectoryError> {
    let table = Path::new("/proc/self/mountinfo");
    let text = std::fs::read(table).map_err(at(table))?;
    let text = String::from_utf8_lossy(&text);
    let mounts = text.lines().filter_map(|line| line.split(' ').nth(4));
    // The table's own spelling of what would break its lines; the others a root cannot have.
    let mut paths = mounts.map(|path| PathBuf::from(path.replace("\\040", " ")));
    Ok(paths.find(|mount| mount.starts_with(path)))
}

fn hash(content: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(content).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> DirectoryError {
    let path = path.to_owned();
    move |source| DirectoryError::Io { path, source }
}

#[cfg(test)]
mod tests;
