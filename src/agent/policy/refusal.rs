//! What is refused, gathered so that a user sees all of it at once.

use super::allowances::{Allowances, Governing};
use crate::api::field_error::FieldError;

/// How many characters of a user's text a message repeats.
const SHOWN_CHARS: usize = 60;

/// Gathers refusals.
pub struct Refusals<'a> {
    governing: &'a Governing<'a>,
    found: Vec<FieldError>,
}

impl<'a> Refusals<'a> {
    pub fn new(governing: &'a Governing<'a>) -> Self {
        Self { governing, found: Vec::new() }
    }

    pub fn allowances(&self) -> &'a Allowances {
        self.governing.allowances
    }

    /// Refuses `what` unless it is allowed; `key` is where an admin would allow it.
    pub fn need(&mut self, allowed: bool, path: impl Into<String>, what: &str, key: &str) {
        if !allowed {
            let place = self.governing.place(key);
            self.never(path, &format!("an admin can allow {} under {place}", shown(what)));
        }
    }

    /// Refuses what no policy allows.
    pub fn never(&mut self, path: impl Into<String>, why: &str) {
        self.found.push(FieldError::new(path, format!("not allowed by host policy: {why}")));
    }

    pub fn into_found(self) -> Vec<FieldError> {
        self.found
    }
}

/// A text of the user's on one line, cut short with `…` when it is long.
pub fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
