//! What the agent remembers while it lives.

use std::collections::BTreeMap;
use std::time::Duration;

use super::change;
use super::seen::{Ground, Seen, SeenContainer};
use super::step::{Hold, Pulled, Step};
use super::wish::{Wish, backoff};
use crate::api::workspace_run::DesiredState;
use crate::docker::Update;

/// A container that ran for so long was well: its next failure counts as the first.
const WELL_AFTER: Duration = Duration::from_mins(10);

/// What the agent remembers while it lives. Losing it costs a retry, no more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// Steps that failed when they were last tried, by name. Each by itself: a step that succeeds
    /// in between must not make another, which fails for ever, be tried without a pause.
    pub failures: BTreeMap<&'static str, Failure>,
    /// The step that was done last.
    pub done: Option<Done>,
    /// The last exit that is to be followed by a start.
    pub crash: Option<Crash>,
    /// Whether the image was pulled for the container to be made.
    pub pulled: bool,
    /// Whether the container was made since: one that was is of the newest image, whatever ids say,
    /// for image stores differ in what they call the id of an image.
    pub made: bool,
    /// How often the container was asked to stop in vain.
    pub stops: u32,
    /// The change that the engine was last asked for and that is not seen in force.
    pub applied: Option<Update>,
    /// Failed starts of the container at hand.
    pub failed_starts: u32,
    /// The instance under which the container was last told to start.
    pub told_under: Option<String>,
    /// The start that is seen running, and since when on the monotonic clock.
    pub running: Option<(String, Duration)>,
}

/// A step that failed, and when it is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Name of the step.
    pub step: &'static str,
    /// Why, in words a user can act on.
    pub hold: Hold,
    /// How often in a row.
    pub count: u32,
    /// On the monotonic clock.
    pub retry_at: Duration,
}

/// An exit after which the container is started again.
#[derive(Clone, Debug, PartialEq)]
pub struct Crash {
    /// StartedAt of the start that ended.
    pub of: String,
    /// How many in a row, each after less than ten minutes.
    pub count: u32,
    /// On the monotonic clock.
    pub retry_at: Duration,
}

/// A step that was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The step.
    pub step: Step,
    /// How often in a row, within ten minutes of each other.
    pub times: u32,
    /// When the engine was first looked at after it, on the monotonic clock.
    pub seen: Option<Duration>,
    /// When it was looked at after the time before.
    pub before: Option<Duration>,
}

impl Memory {
    pub(super) fn saw_run(&mut self, at: &str, running: bool, now: Duration) {
        if !running {
            return;
        }
        self.failed_starts = 0;
        let since = match &self.running {
            Some((start, since)) if start == at => *since,
            _ => now,
        };
        self.running = Some((at.to_owned(), since));
    }

    pub(super) fn saw_exit(&mut self, at: &str, now: Duration) {
        if self.crash.as_ref().is_some_and(|crash| crash.of == at) {
            return;
        }
        let well = matches!(&self.running, Some((start, since))
            if start == at && now.saturating_sub(*since) >= WELL_AFTER);
        let before = self.crash.as_ref().map_or(0, |crash| crash.count);
        let count = if well { 1 } else { before.saturating_add(1) };
        self.crash = Some(Crash { of: at.to_owned(), count, retry_at: now + backoff(count) });
        self.running = None;
    }

    /// Takes in that the engine was looked at.
    pub(super) fn looked(&mut self, now: Duration) {
        let Some(done) = self.done.as_mut().filter(|done| done.seen.is_none()) else { return };
        if done.before.is_some_and(|before| now.saturating_sub(before) >= WELL_AFTER) {
            done.times = 1;
        }
        done.seen = Some(now);
    }

    /// Takes in a container, which is another than the last one or not.
    pub(super) fn saw_container(&mut self, container: &SeenContainer, other: bool) {
        if other {
            (self.failed_starts, self.applied) = (0, None);
        }
        if other || !container.is_alive() {
            self.stops = 0;
        }
        if self.applied.as_ref().is_some_and(|applied| change::is_in_force(applied, container)) {
            self.applied = None;
        }
    }

    /// Forgets failures of what is seen done after all, by a lost answer or by hand.
    pub(super) fn forget_moot(&mut self, wish: &Wish, seen: &Seen) {
        let container = seen.container.as_ref();
        let alive = container.is_some_and(SeenContainer::is_alive);
        let as_wished = |container: &SeenContainer| match wish.desired {
            DesiredState::Running => change::due(wish, container).is_empty(),
            DesiredState::Stopped | DesiredState::Removed => !container.is_governed(),
        };
        self.failures.retain(|step, _| match *step {
            "Create" => container.is_none(),
            "Start" => !alive,
            "Stop" | "Kill" | "Unpause" => alive,
            "Remove" | "Recreate" => container.is_some(),
            "Rename" => container.is_some_and(|container| container.name != wish.name),
            "Update" => container.is_some_and(|container| !as_wished(container)),
            "WriteConfig" => seen.ground == Ground::ConfigStale,
            "Prepare" => matches!(seen.ground, Ground::Bare | Ground::Missing),
            "Clear" => seen.ground != Ground::Bare,
            _ => true,
        });
    }

    /// How the step failed when it was last tried, if it did.
    pub fn failure_of(&self, step: &'static str) -> Option<&Failure> {
        self.failures.get(step)
    }

    /// Until when the step is not done again, for it was just done and is to be done still.
    pub fn in_vain_until(&self, step: &Step, now: Duration) -> Option<Duration> {
        let done = self.done.as_ref().filter(|done| done.step == *step)?;
        done.seen.map(|seen| seen + backoff(done.times)).filter(|until| *until > now)
    }

    /// Takes in that a step was done. `instance` is the engine's before it.
    pub fn did(&mut self, step: &Step, instance: &str) {
        self.failures.remove(step.name());
        let before = self.done.take().filter(|done| done.step == *step);
        self.done = Some(Done {
            step: step.clone(),
            times: before.as_ref().map_or(0, |done| done.times).saturating_add(1),
            seen: None,
            before: before.and_then(|done| done.seen),
        });
        match step {
            Step::Pull(Pulled::Own) => (self.pulled, self.made) = (true, false),
            Step::Create => (self.failed_starts, self.made) = (0, true),
            Step::Recreate { .. } => self.failed_starts = 0,
            Step::Start { .. } => {
                self.pulled = false;
                self.failed_starts = 0;
                self.applied = None;
                self.told_under = Some(instance.to_owned());
            }
            Step::Stop { .. } | Step::Kill { .. } => self.stops = self.stops.saturating_add(1),
            Step::Update { change, .. } => self.applied = Some((**change).clone()),
            _ => {}
        }
    }

    /// Takes in that a step failed, and says when it is tried again: after `least` or longer.
    pub fn failed(&mut self, step: &Step, hold: Hold, least: Duration, now: Duration) {
        if matches!(step, Step::Start { .. }) {
            self.failed_starts = self.failed_starts.saturating_add(1);
        }
        let before = self.failures.get(step.name());
        let count = before.map_or(0, |failure| failure.count).saturating_add(1);
        let retry_at = now + backoff(count).max(least);
        let failure = Failure { step: step.name(), hold, count, retry_at };
        self.failures.insert(step.name(), failure);
    }

    /// Forgets what made it wait, for what is wished has changed.
    pub fn wish_changed(&mut self) {
        let Self { failures, done, crash, pulled, made, applied, stops, .. } = self;
        failures.clear();
        *made = false;
        (*done, *crash, *pulled, *applied, *stops) = (None, None, false, None, 0);
    }
}
