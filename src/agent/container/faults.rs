//! All that is wrong with a spec, gathered while it is translated.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::api::field_error::FieldError;
use crate::api::grammar::{Form, Invalid, Quantity, RawQuantity};
use crate::api::quantity_rules::{WHOLE_BYTES_MESSAGE, is_whole_bytes};
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

    /// Refuses what is not as it must be.
    pub fn check(&mut self, path: impl Into<String>, judged: Result<(), Invalid>) {
        if let Err(fault) = judged {
            self.add(path, fault.to_string());
        }
    }

    /// Refuses a text of another form, where there is one.
    pub fn fits(&mut self, path: impl Into<String>, text: Option<&String>, form: &Form) {
        if let Some(text) = text {
            self.check(path, form.check(text));
        }
    }

    /// Whole bytes from a quantity; less than a byte is a mistake, not to be rounded.
    pub fn bytes(&mut self, path: &str, quantity: Option<&RawQuantity>) -> Option<i64> {
        let parsed = self.quantity(path, quantity)?;
        if !quantity.is_some_and(|raw| is_whole_bytes(raw, &parsed)) {
            self.add(path, WHOLE_BYTES_MESSAGE);
            return None;
        }
        Some(parsed.value())
    }

    /// Whole bytes above 0 from a quantity.
    pub fn size(&mut self, path: &str, quantity: Option<&RawQuantity>) -> Option<i64> {
        let bytes = self.bytes(path, quantity)?;
        if bytes <= 0 {
            self.add(path, "must be above 0");
        }
        Some(bytes)
    }

    /// Billionths from a quantity, e.g. of a core.
    pub fn nanos(&mut self, path: &str, quantity: Option<&RawQuantity>) -> Option<i128> {
        self.quantity(path, quantity).map(|parsed| parsed.nanos())
    }

    fn quantity(&mut self, path: &str, quantity: Option<&RawQuantity>) -> Option<Quantity> {
        quantity?.parse().map_err(|fault| self.add(path, fault.to_string())).ok()
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
