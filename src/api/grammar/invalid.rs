//! The one error of this module.

/// How many characters of a refused text a message repeats.
const ECHOED_CHARS: usize = 60;

/// Why a text is not what its field wants.
///
/// Its `Display` is one lower-case clause for a user of kubectl, without a trailing period and
/// without the name of the field, which the caller knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Invalid {
    message: String,
}

impl Invalid {
    /// An error that reads `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// `text` in double quotes, control characters escaped, cut short with `…` when it is long.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(ECHOED_CHARS) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
    }
}

/// Refuses `text` of more than `max` characters; `what` names the grammar with its article.
pub(super) fn check_length(what: &str, text: &str, max: usize) -> Result<(), Invalid> {
    // Bytes are never fewer than characters: no need to count those of a short text.
    if text.len() <= max || text.chars().count() <= max {
        return Ok(());
    }
    Err(Invalid::new(format!("{} is too long: {what} has at most {max} characters", quoted(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_at_a_character() {
        let shown = quoted(&"é".repeat(100));
        assert_eq!(shown, format!("\"{}\"…", "é".repeat(ECHOED_CHARS)));
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(quoted("a\n\0"), r#""a\n\0""#);
    }

    #[test]
    fn length_counts_characters() {
        assert!(check_length("a word", "éé", 2).is_ok());
        let error = check_length("a word", "ééé", 2).unwrap_err().to_string();
        assert_eq!(error, "\"ééé\" is too long: a word has at most 2 characters");
    }
}
