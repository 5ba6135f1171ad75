//! Files that neither a crash nor a full disk nor a container can bring into disorder.
//!
//! A [`Directory`] is held open, and all is done below it by name. No symbolic link is followed: not
//! on the way to the directory, and not at a name in it, where a container that has the directory as
//! a bind may put one. What was said to be done is on the disk.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FallocateFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

/// How much is written at once; little in tests, which stop between two writes.
const CHUNK: usize = if cfg!(test) { 16 } else { 64 * 1024 };

/// What stands at a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file that has this name alone.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, a file with a second name, a pipe, a device: writing to it would write
    /// elsewhere.
    Other,
}

/// A directory, held open.
#[derive(Debug)]
pub struct Directory(OwnedFd);

impl Directory {
    /// Opens the directory at an absolute path in which nothing is a symbolic link.
    pub fn open(path: &Path) -> io::Result<Self> {
        walk(path, None)
    }

    /// As [`open`](Self::open); makes what is missing, the last with `mode`, those above it with 0755.
    pub fn make(path: &Path, mode: Mode) -> io::Result<Self> {
        walk(path, Some(mode))
    }

    /// Sets the directory's mode.
    pub fn set_mode(&self, mode: Mode) -> io::Result<()> {
        let now = Mode::from_raw_mode(rustix::fs::fstat(&self.0)?.st_mode);
        if now != mode {
            step()?;
            rustix::fs::fchmod(&self.0, mode)?;
        }
        Ok(())
    }

    /// The names in it, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        names.sort();
        Ok(names)
    }

    /// What stands at `name`.
    pub fn entry(&self, name: &str) -> io::Result<Option<Entry>> {
        let stat = match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            other => other?,
        };
        Ok(Some(Entry::of(&stat)))
    }

    /// The content of the file at `name`, if there is one that is no longer than `most`.
    pub fn read(&self, name: &str, most: usize) -> io::Result<Option<Vec<u8>>> {
        if self.entry(name)? != Some(Entry::File) {
            return Ok(None);
        }
        // A pipe that was put there meanwhile must not hold us.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
            other => other?,
        };
        if Entry::of(&rustix::fs::fstat(&file)?) != Entry::File {
            return Ok(None);
        }
        let mut content = Vec::new();
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        File::from(file).take(limit).read_to_end(&mut content)?;
        Ok(Some(content).filter(|content| content.len() <= most))
    }

    /// Puts a file at `name` in place of what is there, at one stroke: a reader sees the old or the
    /// new one, whole. Until then the content is at `stage`; a stage that was left is made anew.
    pub fn replace(&self, name: &str, stage: &str, content: &[u8], mode: Mode) -> io::Result<()> {
        self.stage(stage, content, mode)?;
        step()?;
        rustix::fs::renameat(&self.0, stage, &self.0, name)?;
        self.sync()
    }

    /// Writes new content into the file at `name`, which stays the same file: a bind of it shows
    /// what was written. The content stands at `stage` from before the first byte is changed until
    /// the caller removes it, so that a stage that is found tells of a write that was cut off, or
    /// of which someone is yet to be told.
    pub fn overwrite(&self, name: &str, stage: &str, content: &[u8], mode: Mode) -> io::Result<()> {
        self.stage(stage, content, Mode::from_raw_mode(0o600))?;
        self.sync()?;
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        if Entry::of(&rustix::fs::fstat(&file)?) != Entry::File {
            return Err(io::Error::other(format!("{name} was replaced while it was written")));
        }
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        reserve(&file, length)?;
        let mut file = File::from(file);
        write(&mut file, content)?;
        step()?;
        rustix::fs::ftruncate(&file, length)?;
        rustix::fs::fchmod(&file, mode)?;
        step()?;
        file.sync_all()
    }

    /// Sets the mode of the file at `name`, if it is one.
    pub fn set_file_mode(&self, name: &str, mode: Mode) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        if Entry::of(&stat) == Entry::File && Mode::from_raw_mode(stat.st_mode) != mode {
            step()?;
            rustix::fs::fchmod(&file, mode)?;
        }
        Ok(())
    }

    /// Moves what is at `name` to a name in another directory of the same file system.
    pub fn move_to(&self, name: &str, other: &Self, to: &str) -> io::Result<()> {
        step()?;
        rustix::fs::renameat(&self.0, name, &other.0, to)?;
        self.sync()?;
        other.sync()
    }

    /// Removes what is at `name`, if anything; not a directory.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.unlink(name, AtFlags::empty())
    }

    /// Removes the directory at `name`, if there is one; an error when something is in it.
    pub fn remove_empty(&self, name: &str) -> io::Result<()> {
        self.unlink(name, AtFlags::REMOVEDIR)
    }

    fn unlink(&self, name: &str, flags: AtFlags) -> io::Result<()> {
        step()?;
        match rustix::fs::unlinkat(&self.0, name, flags) {
            Err(Errno::NOENT) => Ok(()),
            Err(other) => Err(other.into()),
            Ok(()) => self.sync(),
        }
    }

    fn stage(&self, stage: &str, content: &[u8], mode: Mode) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.0, stage, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(other) => return Err(other.into()),
        }
        step()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let private = Mode::from_raw_mode(0o600);
        let mut file = File::from(rustix::fs::openat(&self.0, stage, flags, private)?);
        write(&mut file, content)?;
        if mode != private {
            rustix::fs::fchmod(&file, mode)?;
        }
        step()?;
        file.sync_all()
    }

    fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }
}

impl Entry {
    fn of(stat: &rustix::fs::Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if stat.st_nlink == 1 => Self::File,
            FileType::Directory => Self::Directory,
            _ => Self::Other,
        }
    }
}

/// Opens a directory one name after the other, so that none is followed elsewhere.
fn walk(path: &Path, make: Option<Mode>) -> io::Result<Directory> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "not an absolute path");
    let pass = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = rustix::fs::open("/", pass, Mode::empty())?;
    let mut names = path.components();
    if names.next() != Some(Component::RootDir) {
        return Err(invalid());
    }
    let mut names = names.peekable();
    while let Some(component) = names.next() {
        let Component::Normal(name) = component else { return Err(invalid()) };
        at = match (rustix::fs::openat(&at, name, pass, Mode::empty()), make) {
            (Err(Errno::NOENT), Some(mode)) => {
                let last = names.peek().is_none();
                let mode = if last { mode } else { Mode::from_raw_mode(0o755) };
                make_directory(&at, name, mode)?
            }
            (found, _) => found?,
        };
    }
    Ok(Directory(readable(&at)?))
}

fn make_directory(parent: &OwnedFd, name: &OsStr, mode: Mode) -> io::Result<OwnedFd> {
    step()?;
    match rustix::fs::mkdirat(parent, name, mode) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(other) => return Err(other.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fresh = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    // The process's umask may have taken from it.
    rustix::fs::fchmod(&fresh, mode)?;
    rustix::fs::fsync(readable(parent)?)?;
    Ok(fresh)
}

fn readable(directory: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, ".", flags, Mode::empty())?)
}

/// Takes the space that is needed before the first byte is changed, where the file system can.
fn reserve(file: &OwnedFd, length: u64) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, 0, length) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(other) => Err(other.into()),
    }
}

fn write(file: &mut File, content: &[u8]) -> io::Result<()> {
    for chunk in content.chunks(CHUNK.max(content.len() / 64)) {
        step()?;
        file.write_all(chunk)?;
    }
    Ok(())
}

/// Stands before each change to the disk; in tests a crash can be made to happen there.
#[allow(clippy::unnecessary_wraps, reason = "it fails in tests alone")]
fn step() -> io::Result<()> {
    #[cfg(test)]
    crash::step()?;
    Ok(())
}

/// Crashes at every point there is.
#[cfg(test)]
pub mod crash {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    pub(super) fn step() -> io::Result<()> {
        match LEFT.get() {
            None => Ok(()),
            Some(0) => Err(io::Error::other("crash")),
            Some(left) => {
                LEFT.set(Some(left - 1));
                Ok(())
            }
        }
    }

    /// Runs `work` with no more than `steps` changes to the disk; says whether it came to its end.
    pub fn after<T, E>(steps: u32, work: impl FnOnce() -> Result<T, E>) -> bool {
        LEFT.set(Some(steps));
        let done = work().is_ok();
        LEFT.set(None);
        done
    }

    /// Calls `trial` with 0, 1, 2, … until it says that the work came to its end; gives the number.
    pub fn at_every_point(mut trial: impl FnMut(u32) -> bool) -> u32 {
        (0..u32::MAX).find(|steps| trial(*steps)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    const MODE: Mode = Mode::from_raw_mode(0o644);

    fn held() -> (tempfile::TempDir, Directory) {
        let temp = tempfile::tempdir().unwrap();
        let held = Directory::open(&temp.path().canonicalize().unwrap()).unwrap();
        (temp, held)
    }

    #[test]
    fn a_symbolic_link_on_the_way_is_not_followed() {
        let (temp, _) = held();
        fs::create_dir(temp.path().join("real")).unwrap();
        symlink("real", temp.path().join("link")).unwrap();
        assert!(Directory::open(&temp.path().join("real")).is_ok());
        assert!(Directory::open(&temp.path().join("link")).is_err());
        assert!(Directory::make(&temp.path().join("link/a"), MODE).is_err());
        assert!(!temp.path().join("real/a").exists());
        for bad in ["relative", "/tmp/../etc", ""] {
            assert!(Directory::open(Path::new(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_missing_on_the_way_is_made_for_all_to_pass_and_the_last_as_asked() {
        let (temp, _) = held();
        Directory::make(&temp.path().join("a/b/c"), Mode::from_raw_mode(0o700)).unwrap();
        let mode = |path: &str| fs::metadata(temp.path().join(path)).unwrap().mode() & 0o777;
        assert_eq!([mode("a"), mode("a/b"), mode("a/b/c")], [0o755, 0o755, 0o700]);
    }

    #[test]
    fn a_write_in_place_keeps_the_file_and_its_stage_tells_of_it() {
        let (temp, held) = held();
        held.replace("f", ".stage", b"a first content that is long", MODE).unwrap();
        let inode = fs::metadata(temp.path().join("f")).unwrap().ino();
        held.overwrite("f", ".stage", b"short", MODE).unwrap();
        assert_eq!(fs::read(temp.path().join("f")).unwrap(), b"short");
        assert_eq!(fs::metadata(temp.path().join("f")).unwrap().ino(), inode);
        assert_eq!(fs::read(temp.path().join(".stage")).unwrap(), b"short");
        held.remove(".stage").unwrap();
        assert_eq!(held.names().unwrap(), ["f"]);
    }

    #[test]
    fn nothing_is_written_through_a_link_a_second_name_or_a_pipe() {
        let (temp, held) = held();
        let outside = temp.path().join("outside");
        fs::write(&outside, "kept").unwrap();
        symlink("outside", temp.path().join("link")).unwrap();
        fs::hard_link(&outside, temp.path().join("second")).unwrap();
        let fifo = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(&held.0, "pipe", FileType::Fifo, fifo, 0).unwrap();
        for name in ["link", "second", "pipe"] {
            assert_eq!(held.entry(name).unwrap(), Some(Entry::Other), "{name}");
            assert_eq!(held.read(name, 100).unwrap(), None, "{name}");
            assert!(held.overwrite(name, ".stage", b"new", MODE).is_err(), "{name}");
        }
        // Nor through a stage that somebody else put there.
        held.remove(".stage").unwrap();
        symlink("outside", temp.path().join(".stage")).unwrap();
        held.replace("f", ".stage", b"new", MODE).unwrap();
        assert_eq!(fs::read_to_string(outside).unwrap(), "kept");
    }

    #[test]
    fn a_reader_of_a_replaced_file_sees_one_content_whole_wherever_the_writer_stopped() {
        let (old, new) = ([b'o'; 40].as_slice(), [b'n'; 50].as_slice());
        let points = crash::at_every_point(|steps| {
            let (temp, held) = held();
            held.replace("f", ".stage", old, MODE).unwrap();
            let done = crash::after(steps, || held.replace("f", ".stage", new, MODE));
            let seen = fs::read(temp.path().join("f")).unwrap();
            assert!(seen == old || seen == new);
            assert!(!done || seen == new);
            done
        });
        assert!(points >= 5, "{points}");
    }

    #[test]
    fn a_file_that_is_longer_than_asked_is_not_read_into_memory() {
        let (temp, held) = held();
        fs::write(temp.path().join("f"), "12345").unwrap();
        assert_eq!(held.read("f", 5).unwrap().as_deref(), Some(b"12345".as_slice()));
        assert_eq!(held.read("f", 4).unwrap(), None);
        assert_eq!(held.read("none", 4).unwrap(), None);
    }
}
