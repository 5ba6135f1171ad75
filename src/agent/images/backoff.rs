//! When a pull that failed is tried again.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(10);
const MOST: Duration = Duration::from_mins(5);

/// How often a pull failed, and until when it is not tried. All times are of one monotonic clock,
/// which the caller has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backoff {
    subject: String,
    failures: u32,
    until: Option<Duration>,
}

impl Backoff {
    /// Until when a pull waits, if it does. What is pulled, or with which login, is the subject:
    /// another one does not wait for what happened to the one before.
    pub fn until(&self, subject: &str, now: Duration) -> Option<Duration> {
        self.until.filter(|&until| self.subject == subject && until > now)
    }

    /// Notes a failure, and gives when to try again: after 10 s, doubling to 5 min, but not before
    /// `least` has passed. The jitter, from 0 to 1, makes that up to a tenth later.
    pub fn failed(
        &mut self,
        subject: &str,
        now: Duration,
        least: Duration,
        jitter: f64,
    ) -> Duration {
        if self.subject != subject {
            *self = Self { subject: subject.to_owned(), ..Self::default() };
        }
        let doubled = FIRST.saturating_mul(1 << self.failures.min(10));
        self.failures = self.failures.saturating_add(1);
        let wait = doubled.min(MOST).max(least);
        let until = now.saturating_add(wait + wait.mul_f64(jitter.clamp(0.0, 1.0) / 10.0));
        self.until = Some(until);
        until
    }

    /// How often it failed without a success between.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Forgets what failed.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn it_doubles_from_ten_seconds_to_five_minutes() {
        let mut backoff = Backoff::default();
        for wait in [10, 20, 40, 80, 160, 300, 300] {
            assert_eq!(backoff.failed("a", s(1000), s(0), 0.0), s(1000 + wait));
        }
        assert_eq!(backoff.failures(), 7);
        for _ in 0..100 {
            assert_eq!(backoff.failed("a", s(0), s(0), 0.0), s(300), "for ever");
        }
    }

    #[test]
    fn it_ends_with_success_or_another_subject() {
        let mut backoff = Backoff::default();
        backoff.failed("a", s(0), s(0), 0.0);
        backoff.failed("a", s(10), s(0), 0.0);
        assert_eq!(backoff.until("a", s(29)), Some(s(30)));
        assert_eq!(backoff.until("a", s(30)), None, "it is time");
        assert_eq!(backoff.until("b", s(11)), None);
        assert_eq!(backoff.failed("b", s(11), s(0), 0.0), s(21), "from the beginning");
        backoff.succeeded();
        assert_eq!(backoff.until("b", s(12)), None);
        assert_eq!(backoff.failed("b", s(12), s(0), 0.0), s(22));
    }

    #[test]
    fn a_registry_that_asks_for_less_is_left_alone_for_longer() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.failed("a", s(0), s(60), 0.0), s(60));
    }

    #[test]
    fn jitter_is_at_most_a_tenth() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.failed("a", s(0), s(0), 1.0), s(11));
        assert_eq!(backoff.failed("a", s(0), s(0), 99.0), s(22));
        assert_eq!(backoff.failed("a", s(0), s(0), -1.0), s(40));
        assert_eq!(backoff.failed("a", Duration::MAX, s(0), 1.0), Duration::MAX);
    }
}
