//! The form of a text that needs no parts: one regular expression, for the schema and for code.

use std::sync::OnceLock;

use regex::Regex;

use super::invalid::Invalid;

/// A regular expression that a text must match, and what a user is told where it does not.
///
/// For a text whose parts nobody reads, in place of a newtype: the rule in the schema and the check
/// in code come from the same expression, in the syntax that RE2 and this crate's engine share.
#[derive(Debug)]
pub struct Form {
    pattern: &'static str,
    message: &'static str,
    case: Case,
    regex: OnceLock<Option<Regex>>,
}

/// What is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    AsItIs,
    OrEmpty,
    Upper,
}

impl Form {
    const fn of(pattern: &'static str, message: &'static str, case: Case) -> Self {
        Self { pattern, message, case, regex: OnceLock::new() }
    }

    /// A text that matches `pattern`, which has its anchors and no single quote.
    pub const fn new(pattern: &'static str, message: &'static str) -> Self {
        Self::of(pattern, message, Case::AsItIs)
    }

    /// A text that is empty or matches.
    pub const fn or_empty(pattern: &'static str, message: &'static str) -> Self {
        Self::of(pattern, message, Case::OrEmpty)
    }

    /// A text that matches in upper case.
    pub const fn in_any_case(pattern: &'static str, message: &'static str) -> Self {
        Self::of(pattern, message, Case::Upper)
    }

    /// The regular expression.
    pub const fn pattern(&self) -> &'static str {
        self.pattern
    }

    /// What a user is told.
    pub const fn message(&self) -> &'static str {
        self.message
    }

    /// The CEL rule on a text.
    pub fn rule(&self) -> String {
        self.rule_of("self")
    }

    /// The CEL rule on a list of such texts, or on a map with such keys.
    pub fn rule_of_each(&self) -> String {
        format!("self.all(r, {})", self.rule_of("r"))
    }

    fn rule_of(&self, value: &str) -> String {
        let pattern = self.pattern;
        match self.case {
            Case::AsItIs => format!("{value}.matches('{pattern}')"),
            Case::OrEmpty => format!("{value} == '' || {value}.matches('{pattern}')"),
            Case::Upper => format!("{value}.upperAscii().matches('{pattern}')"),
        }
    }

    /// Whether a text has this form.
    pub fn fits(&self, text: &str) -> bool {
        // An expression that cannot be read fits nothing; a test reads them all.
        let regex = self.regex.get_or_init(|| Regex::new(self.pattern).ok());
        let matches = |text: &str| regex.as_ref().is_some_and(|regex| regex.is_match(text));
        match self.case {
            Case::AsItIs => matches(text),
            Case::OrEmpty => text.is_empty() || matches(text),
            Case::Upper => matches(&text.to_ascii_uppercase()),
        }
    }

    /// Refuses a text of another form.
    pub fn check(&self, text: &str) -> Result<(), Invalid> {
        if self.fits(text) { Ok(()) } else { Err(Invalid::new(self.message)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_fits_what_its_rule_accepts() {
        let form = Form::new("^[a-z]+$", "must be letters");
        assert!(form.fits("ab") && !form.fits("") && !form.fits("A") && !form.fits("a\n"));
        assert_eq!(form.rule(), "self.matches('^[a-z]+$')");
        assert_eq!(form.rule_of_each(), "self.all(r, r.matches('^[a-z]+$'))");
        assert_eq!(form.check("1").unwrap_err().to_string(), "must be letters");
        let form = Form::or_empty("^[a-z]+$", "");
        assert!(form.fits("") && form.fits("a"));
        assert_eq!(form.rule(), "self == '' || self.matches('^[a-z]+$')");
        let form = Form::in_any_case("^[A-Z]+$", "");
        assert!(form.fits("aB") && !form.fits("ä"));
        assert_eq!(form.rule(), "self.upperAscii().matches('^[A-Z]+$')");
    }

    #[test]
    fn an_expression_that_cannot_be_read_fits_nothing() {
        assert!(!Form::new("(", "").fits("a"));
    }
}
