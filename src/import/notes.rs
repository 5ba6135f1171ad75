//! What is to be said of a source: warnings and errors, by the path of their field in it.

use crate::api::field_error::FieldError;

use super::origin::Origins;

/// Gathers what is to be said.
#[derive(Debug, Default)]
pub struct Notes {
    origins: Origins,
    warnings: Vec<FieldError>,
    errors: Vec<FieldError>,
}

impl Notes {
    /// Begins the next container, whose fields came from these.
    pub fn enter(&mut self, origins: Origins) {
        self.origins = origins;
    }

    /// What the source calls a field of the create body, for a sentence about another.
    pub fn name(&self, path: &str) -> String {
        self.origins.name_of(path)
    }

    /// Says that the field at `path` of the create body is not carried over as it is.
    pub fn warn(&mut self, path: &str, message: impl Into<String>) {
        let path = self.origins.source_of(path);
        self.warn_at(path, message);
    }

    /// As [`warn`](Self::warn), of a path that is the source's own.
    pub fn warn_at(&mut self, path: impl Into<String>, message: impl Into<String>) {
        let warning = FieldError::new(path, message);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Says that the container cannot be imported for the field at `path` of the create body.
    pub fn error(&mut self, path: &str, message: impl Into<String>) {
        let path = self.origins.source_of(path);
        self.error_at(path, message);
    }

    /// As [`error`](Self::error), of a path that is the source's own.
    pub fn error_at(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.errors.push(FieldError::new(path, message));
    }

    /// Names the container that the errors from the given one on are of.
    pub fn say_whose(&mut self, from: usize, container: Option<&str>) {
        let Some(container) = container else { return };
        for error in self.errors.iter_mut().skip(from) {
            error.message = format!("{} (container {container})", error.message);
        }
    }

    /// Says that what came of a container would be refused.
    pub fn refuse(&mut self, container: &str, faults: Vec<FieldError>) {
        for FieldError { path, message } in faults {
            self.error_at(container, format!("would be refused for {path}: {message}"));
        }
    }

    /// How many errors there are.
    pub fn errors(&self) -> usize {
        self.errors.len()
    }

    /// The warnings and the errors.
    pub fn into_parts(self) -> (Vec<FieldError>, Vec<FieldError>) {
        (self.warnings, self.errors)
    }
}
