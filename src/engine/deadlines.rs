use std::time::Duration;

/// How long an answer is waited for, by what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// To make a container.
    pub create: Duration,
    /// To start one.
    pub start: Duration,
    /// To stop one, beyond the grace that it has.
    pub stop: Duration,
    /// To remove a container, volume or image.
    pub remove: Duration,
    /// All else.
    pub other: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            create: Duration::from_mins(1),
            start: Duration::from_mins(2),
            stop: Duration::from_secs(30),
            remove: Duration::from_mins(1),
            other: Duration::from_secs(30),
        }
    }
}

impl Deadlines {
    /// The same for everything.
    pub const fn all(within: Duration) -> Self {
        Self { create: within, start: within, stop: within, remove: within, other: within }
    }
}
