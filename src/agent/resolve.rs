//! Where a path of the host leads, also one that is not there.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::policy::Allowances;

/// As many symbolic links as the kernel follows.
const MOST_LINKS: u32 = 40;

/// Where a path leads: no symbolic link is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The path, as the API and the engine need it.
    pub path: String,
    /// Whether something is there.
    pub exists: bool,
}

/// Follows every symbolic link in an absolute path, also to where nothing is.
///
/// The links of `/proc/PID` are followed by what they say, not as the kernel would; sound, since
/// what is judged and sent is the path that comes out.
pub fn resolve(path: &str) -> io::Result<Resolved> {
    let path = Path::new(path);
    if !path.is_absolute() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not an absolute path"));
    }
    // What is still to be walked, the next one last.
    let mut rest = reversed(path);
    let mut at = PathBuf::from("/");
    let (mut exists, mut links) = (true, 0);
    while let Some(name) = rest.pop() {
        if name == OsStr::new("..") {
            at.pop();
            continue;
        }
        let next = at.join(&name);
        match std::fs::symlink_metadata(&next) {
            Ok(seen) if seen.is_symlink() => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::other("too many symbolic links"));
                }
                let target = std::fs::read_link(&next)?;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                rest.extend(reversed(&target));
            }
            Ok(seen) if !seen.is_dir() && !rest.is_empty() => {
                let message = format!("{} is not a directory", next.display());
                return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
            }
            Ok(_) => at = next,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                exists = false;
                at = next;
            }
            Err(error) => return Err(error),
        }
    }
    let path = at.into_os_string().into_string();
    let path = path.map_err(|_| io::Error::other("it leads to a path that is not UTF-8"))?;
    Ok(Resolved { path, exists })
}

/// Allowances whose directories are allowed also by where they lead: an admin may name one by a link.
pub fn resolved(allowances: &Allowances) -> Allowances {
    allowances.clone().resolved(|path| resolve(path).ok().map(|resolved| resolved.path))
}

fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    let mut names: Vec<_> = names.collect();
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_as_the_kernel_follows_them() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().canonicalize().unwrap().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/file"), "").unwrap();
        symlink("a/b", at("relative")).unwrap();
        symlink(at("a"), at("absolute")).unwrap();
        symlink("../..", at("a/b/up")).unwrap();
        for path in ["relative/file", "absolute/b/file", "a/b/up/relative/up/a", "relative/up"] {
            let resolved = resolve(at(path).to_str().unwrap()).unwrap();
            assert_eq!(Path::new(&resolved.path), fs::canonicalize(at(path)).unwrap(), "{path}");
            assert!(resolved.exists);
        }
    }

    #[test]
    fn what_is_missing_is_where_it_would_be() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().canonicalize().unwrap().join(path);
        fs::create_dir(at("a")).unwrap();
        symlink("a/nowhere", at("dangling")).unwrap();
        symlink("/etc/none", at("out")).unwrap();
        for (path, wanted) in [
            ("a/x/y", at("a/x/y")),
            ("dangling/y", at("a/nowhere/y")),
            ("out", PathBuf::from("/etc/none")),
        ] {
            let resolved = resolve(at(path).to_str().unwrap()).unwrap();
            assert_eq!(Path::new(&resolved.path), wanted, "{path}");
            assert!(!resolved.exists, "{path}");
        }
    }

    #[test]
    fn what_leads_nowhere_is_an_error() {
        let temp = tempfile::tempdir().unwrap();
        let at = |path: &str| temp.path().join(path).to_str().unwrap().to_owned();
        symlink("loop", at("loop")).unwrap();
        fs::write(at("file"), "").unwrap();
        assert!(resolve(&at("loop")).is_err());
        assert_eq!(resolve(&at("file/x")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert!(resolve("relative").is_err());
    }
}
