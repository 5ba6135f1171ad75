//! What to do next for one Workspace on its host. Pure and total.
//!
//! ```text
//!  run ──────────▶ Wish ─┐
//!  engine, disk ─▶ Seen ─┼─▶ next ─▶ Step ─▶ executed, then everything is looked at again
//!  checkpoint ───▶ Record, Memory ─┘
//! ```
//!
//! A step is one operation that may be cut anywhere: what it did or not is seen at the next look.
//! So nothing here counts on a step having been done.
//!
//! | wished | seen | step |
//! |---|---|---|
//! | Running | no container | `Pull`, `Prepare`, `Create`, each where it is needed |
//! | | made from another spec, or a fresh layer is due | `Pull`, then `Stop`, then `Recreate` |
//! | | under another name | `Rename` |
//! | | created or exited, not started for this run | `Prepare`, `Connect`, `Update`, `Start` |
//! | | exited, started for this run | by restart policy: `Wait`, `Start`, or `Settle` |
//! | | paused | `Unpause` |
//! | | alive, and the run is over or may be another host's | as Stopped |
//! | | running, as the run before left it | as Stopped, then `Start` |
//! | | running | `Update` of limits and policy, `WriteConfig`, `Pull` for the next run, `Idle` |
//! | Stopped | alive | `Update` (restart policy off), `Stop`, then `Kill` |
//! | | not alive, or none | `Settle`, `Idle` |
//! | Removed | as Stopped, then | `Remove`, `Clear`, `Settle` |
//!
//! An end is one only under the instance of the engine that saw the container run: an engine that
//! is stopped makes its containers exit with 0 too. See [`Record::was_interrupted`].

mod change;
mod memory;
mod record;
mod running;
mod seen;
mod step;
mod stopping;
#[cfg(test)]
mod tests;
mod wish;

use std::time::Duration;

pub use memory::{Crash, Done, Failure, Memory};
pub use record::{End, Ended, Record, Start};
pub use seen::{Ground, Image, Seen, SeenContainer};
pub use step::{Hold, Pulled, Replacement, Step};
pub use wish::{LONGEST_BACKOFF, Pull, Restart, Wish, backoff};

use crate::api::Reason;
use crate::api::workspace_run::DesiredState;

/// All that decides.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// What is wished.
    pub wish: &'a Wish,
    /// What is seen.
    pub seen: &'a Seen,
    /// What has become of the run so far, this look taken in.
    pub record: &'a Record,
    /// What is remembered.
    pub memory: &'a Memory,
    /// The present instance of the engine.
    pub instance: &'a str,
    /// The monotonic clock.
    pub now: Duration,
}

/// The next step.
pub fn next(case: &Case<'_>) -> Step {
    match case.wish.desired {
        DesiredState::Running => running::next(case),
        DesiredState::Stopped => stopping::stopped(case),
        DesiredState::Removed => stopping::removed(case),
    }
}

/// Why a container is started that ran before; None where it did not, for this run.
pub fn why_again(case: &Case<'_>) -> Option<String> {
    running::why_again(case)
}

impl Case<'_> {
    /// A step that failed lately is tried again only when its time has come. So is one that was
    /// done and is still to be done: an engine may say yes and do nothing.
    fn unless_it_failed(&self, step: Step) -> Step {
        match self.memory.failure_of(step.name()) {
            Some(failure) if failure.retry_at > self.now => {
                return Step::Wait { until: Some(failure.retry_at), hold: failure.hold.clone() };
            }
            _ => {}
        }
        match self.memory.in_vain_until(&step, self.now) {
            Some(until) => Step::Wait { until: Some(until), hold: in_vain(&step) },
            None => step,
        }
    }
}

fn in_vain(step: &Step) -> Hold {
    match step {
        Step::Stop { .. } | Step::Kill { .. } => Hold::new(
            Reason::StuckStopping,
            "the engine has killed the container, and it still runs",
        ),
        _ => {
            let message = format!("{} was done, and nothing is seen of it yet", step.name());
            Hold::new(Reason::InProgress, message)
        }
    }
}
