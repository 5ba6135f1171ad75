//! What goes wrong, on purpose.

use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use super::call::Call;

/// One thing that goes wrong with the calls it matches.
#[derive(Clone, Debug)]
pub struct Fault {
    method: &'static str,
    path: Regex,
    /// Only this one of the calls that match, counted from 1.
    nth: Option<u64>,
    pub what: What,
    seen: u64,
}

#[derive(Clone, Debug)]
pub enum What {
    /// The call has its effect, but later.
    Delay(Duration),
    /// Neither effect nor answer, while the client waits.
    Hang,
    /// The connection breaks, and nothing has happened.
    DropBefore,
    /// The connection breaks, and yet it has happened.
    DropAfter,
    /// Nothing has happened, and this is the answer.
    Answer(u16, String),
    /// Nothing has happened, and this is the answer, as of success.
    Json(Value),
}

impl Fault {
    /// For calls with this method whose path, without a version, matches the pattern as a whole.
    pub fn on(method: &'static str, path: &str, what: What) -> Self {
        let path = Regex::new(&format!("^{path}$")).unwrap();
        Self { method, path, nth: None, what, seen: 0 }
    }

    /// Only for the nth of them.
    pub fn nth(self, nth: u64) -> Self {
        Self { nth: Some(nth), ..self }
    }
}

/// What becomes of a call.
#[derive(Debug, Default)]
pub struct Fate {
    pub refused: bool,
    pub what: Vec<What>,
    /// The connection to the engine is cut once it has had its effect.
    pub last: bool,
    /// Its answer is lost.
    pub unanswered: bool,
}

/// Where of a changing call the connection to the engine is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is not done.
    Before,
    /// It is done, and its answer lost.
    During,
    /// It is done and answered.
    After,
}

#[derive(Default)]
pub struct Faults {
    rules: Vec<Fault>,
    /// How many changing calls are left before all is cut, and how the last one is cut.
    left: Option<(u64, Cut)>,
    pub cut: bool,
}

impl Faults {
    pub fn add(&mut self, fault: Fault) {
        self.rules.push(fault);
    }

    /// Everything is cut at so many changing calls from now on.
    pub fn cut_at(&mut self, calls: u64, how: Cut) {
        self.left = Some((calls, how));
        self.cut = calls == 0;
    }

    pub fn heal(&mut self) {
        *self = Self::default();
    }

    /// Judges a call; counts it.
    pub fn meet(&mut self, call: &Call) -> Fate {
        if self.cut {
            return Fate { refused: true, ..Fate::default() };
        }
        let mut fate = Fate::default();
        if let (true, Some((left, how))) = (call.is_mutating(), &mut self.left) {
            let is_last = *left == 1;
            *left = left.saturating_sub(1);
            if *left == 0 && (!is_last || *how == Cut::Before) {
                self.cut = true;
                return Fate { refused: true, ..Fate::default() };
            }
            fate.last = is_last;
            fate.unanswered = is_last && *how == Cut::During;
        }
        for rule in &mut self.rules {
            if rule.method == call.method && rule.path.is_match(&call.path) {
                rule.seen += 1;
                if rule.nth.is_none_or(|nth| nth == rule.seen) {
                    fate.what.push(rule.what.clone());
                }
            }
        }
        fate
    }
}
