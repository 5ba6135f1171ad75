//! How full a file system is.

use std::io;
use std::path::Path;

/// How full the file system of a path is, in percent of what can be used without being root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskUse {
    /// Of its space, rounded up, as `df` shows it.
    pub space: u8,
    /// Of its inodes, rounded up; none where it has no fixed number of them.
    pub inodes: Option<u8>,
}

impl DiskUse {
    /// Looks at the file system that holds `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let stat = rustix::fs::statvfs(path)?;
        Ok(Self {
            // A file system that counts no blocks (some virtual ones) is never full.
            space: percent(stat.f_blocks, stat.f_bfree, stat.f_bavail).unwrap_or(0),
            inodes: percent(stat.f_files, stat.f_ffree, stat.f_favail),
        })
    }

    /// The fuller of the two: either ends what can be written.
    pub fn fullest(self) -> u8 {
        self.space.max(self.inodes.unwrap_or(0))
    }
}

/// The part that is used of what is used and what may still be: what only root may take is neither.
fn percent(all: u64, free: u64, available: u64) -> Option<u8> {
    let used = all.saturating_sub(free);
    let whole = u128::from(used) + u128::from(available);
    if whole == 0 {
        return (all > 0).then_some(100);
    }
    u8::try_from((u128::from(used) * 100).div_ceil(whole)).ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_percentage_is_the_one_that_df_shows() {
        for (all, free, available, shown) in [
            (0, 0, 0, None),
            (100, 100, 100, Some(0)),
            (100, 99, 99, Some(1)),
            (1000, 999, 999, Some(1)),
            (100, 15, 10, Some(90)),
            (100, 5, 0, Some(100)),
            (100, 0, 0, Some(100)),
            (u64::MAX, 0, 0, Some(100)),
        ] {
            assert_eq!(percent(all, free, available), shown, "{all} {free} {available}");
        }
    }

    #[test]
    fn a_real_file_system_is_as_full_as_df_says() {
        let of = |column: &str| {
            let out = Command::new("df").args([&format!("--output={column}"), "/proc/.."]).output();
            let text = String::from_utf8(out.unwrap().stdout).unwrap();
            text.lines().nth(1).unwrap().trim().trim_end_matches('%').parse::<u8>().ok()
        };
        // Others write at the same time.
        let near = |a: u8, b: u8| a.abs_diff(b) <= 1;
        let seen = DiskUse::of(Path::new("/")).unwrap();
        assert!(near(seen.space, of("pcent").unwrap()), "{seen:?}");
        assert!(near(seen.inodes.unwrap_or(0), of("ipcent").unwrap_or(0)), "{seen:?}");
        assert!(DiskUse::of(Path::new("/no/such/path")).is_err());
    }
}
