//! All that is wrong with a spec, gathered while it is translated.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::api::field_error::FieldError;
use crate::api::grammar::{Invalid, RawQuantity};
use crate::docker::ApiVersion;

/// Gathers errors; translation goes on past each, so that a user sees all of them at once.
#[derive(Debug)]
pub struct Faults {
    engine: ApiVersion,
    found: Vec<FieldError>,
}

impl Faults {
    pub fn new(engine: ApiVersion) -> Self {
        Self { engine, found: Vec::new() }
    }

    /// The engine's API version.
    pub fn engine(&self) -> ApiVersion {
        self.engine
    }

    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.found.push(FieldError::new(path, message));
    }

    /// Parses a text by its grammar.
    pub fn parse<T: FromStr<Err = Invalid>>(&mut self, path: &str, text: &str) -> Option<T> {
        text.parse().map_err(|fault: Invalid| self.add(path, fault.to_string())).ok()
    }

    /// A whole number from a quantity, e.g. bytes.
    pub fn whole(&mut self, path: &str, quantity: Option<&RawQuantity>) -> Option<i64> {
        self.quantity(path, quantity).map(|(value, _)| value)
    }

    /// Whole bytes from a quantity; less than a byte is a mistake, not to be rounded.
    pub fn bytes(&mut self, path: &str, quantity: Option<&RawQuantity>) -> Option<i64> {
        let (value, nanos) = self.quantity(path, quantity)?;
        if nanos % 1_000_000_000 != 0 {
            self.add(path, crate::api::quantity_rules::WHOLE_BYTES_MESSAGE);
        }
        Some(value)
    }

    /// Billionths from a quantity, e.g. of a core.
    pub fn nanos(&mut self, path: &str, quantity: Option<&RawQuantity>) -> Option<i128> {
        self.quantity(path, quantity).map(|(_, nanos)| nanos)
    }

    fn quantity(&mut self, path: &str, quantity: Option<&RawQuantity>) -> Option<(i64, i128)> {
        let parsed = quantity?.parse().map_err(|fault| self.add(path, fault.to_string())).ok()?;
        Some((parsed.value(), parsed.nanos()))
    }

    /// Says that a field needs a newer engine than the host has, if it does.
    pub fn needs(&mut self, path: impl Into<String>, used: bool, least: ApiVersion, docker: &str) {
        if used && self.engine < least {
            let engine = self.engine;
            self.add(
                path,
                format!(
                    "needs engine API {least} (Docker {docker}), and the host's engine has {engine}"
                ),
            );
        }
    }

    /// Refuses the one character that no program can be given in a text.
    pub fn no_nul(&mut self, path: impl Into<String>, text: &str) {
        if text.contains('\0') {
            self.add(path, "holds a NUL character, which no program can be given");
        }
    }

    pub fn into_result<T>(self, value: T) -> Result<T, Vec<FieldError>> {
        if self.found.is_empty() { Ok(value) } else { Err(self.found) }
    }
}

/// A list that is left out when it is empty.
pub fn filled<T: Clone>(list: Option<&Vec<T>>) -> Option<Vec<T>> {
    list.filter(|list| !list.is_empty()).cloned()
}

/// A map that is left out when it is empty.
pub fn entries(map: Option<&BTreeMap<String, String>>) -> Option<BTreeMap<String, String>> {
    map.filter(|map| !map.is_empty()).cloned()
}

/// A text that is left out when it is empty.
pub fn text(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}
