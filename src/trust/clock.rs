//! Time that no one sets: since the machine's boot, suspended time included.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A point in time that can be compared with others of the same boot, even by another process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The boot's id.
    pub boot: String,
    /// Since that boot.
    pub since_boot: Duration,
}

impl Moment {
    /// The present.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::Boottime);
        let since_boot = Duration::new(
            u64::try_from(time.tv_sec).unwrap_or_default(),
            u32::try_from(time.tv_nsec).unwrap_or_default(),
        );
        // Where the kernel does not tell, each process is a boot of its own.
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")
            .map_or_else(|_| format!("process {}", std::process::id()), |id| id.trim().to_owned());
        Self { boot, since_boot }
    }

    /// How long after `earlier` this is, where both are of one boot.
    pub fn after(&self, earlier: &Self) -> Option<Duration> {
        let same = self.boot == earlier.boot;
        same.then(|| self.since_boot.checked_sub(earlier.since_boot)).flatten()
    }
}
