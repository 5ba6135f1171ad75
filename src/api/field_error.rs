//! What is wrong with one field of a manifest.

use std::fmt;

/// A field and what is wrong with it, worded so that its user knows what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldError {
    /// Path of the field as the API server would name it, e.g. `spec.container.ports[0].hostIP`.
    pub path: String,
    /// What is wrong and what to write instead; lower case, without a period at its end.
    pub message: String,
}

impl FieldError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for FieldError {}
