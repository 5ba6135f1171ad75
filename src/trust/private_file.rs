//! Files that hold a secret: whole or not at all, and nobody else's.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Writes a file of mode 0600, so that a crash at any instruction leaves the old file or the new.
pub fn write(path: &Path, content: &str) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".kibotos-")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(directory)?;
    file.write_all(content.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    // The new name must last as the content does.
    File::open(directory)?.sync_all()
}

/// Reads a file, and refuses it where others could have read it before.
///
/// The rule is ssh's: a file of one's own must not be open to group or others; one that belongs to
/// another user, as a mounted Secret does, is that user's care.
pub fn read(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    let own = facts.uid() == rustix::process::geteuid().as_raw();
    if own && facts.mode() & 0o077 != 0 {
        let (mode, path) = (facts.mode() & 0o777, path.display());
        let message = format!("its mode {mode:03o} lets others read it; run: chmod 600 {path}");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    let mut content = String::new();
    file.read_to_string(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_written_is_the_owners_alone_and_replaces_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        fs::write(&path, "a longer text of before").unwrap();

        write(&path, "new").unwrap();

        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_with_what_to_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        write(&path, "text").unwrap();
        for mode in [0o640, 0o604, 0o660] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("chmod 600 {}", path.display())), "{error}");
        }
        fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
        assert_eq!(read(&path).unwrap(), "text");
    }
}
