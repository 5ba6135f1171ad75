//! What is wrong with a text that is no YAML, in words for who wrote it.

use granit_parser::{ErrorKind, ScanError};

/// The message; its place is told beside it.
pub fn told(error: &ScanError) -> String {
    match error.kind() {
        ErrorKind::UnknownAnchor => {
            "there is no anchor of this name before: a text that begins with * takes quotes"
                .to_owned()
        }
        ErrorKind::MissingAnchorOrAliasName => {
            "* and & need a name behind them: a text that begins with one takes quotes".to_owned()
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => "a tab cannot indent: write spaces".to_owned(),
        ErrorKind::UnexpectedCharacter { character } => {
            format!("a text that begins with {character} takes quotes")
        }
        ErrorKind::InvalidIndentation => {
            "is indented unlike the lines before it: fields of one map begin in one column"
                .to_owned()
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            "a field is written KEY: VALUE, with a colon and a space".to_owned()
        }
        ErrorKind::ExpectedBlockMappingKey => {
            "must be KEY: VALUE in the column of the fields before it".to_owned()
        }
        ErrorKind::ExpectedBlockSequenceEntry => {
            "must be an item \"- …\" in the column of the items before it".to_owned()
        }
        ErrorKind::ExpectedFlowMappingSeparator => "needs , or } here".to_owned(),
        ErrorKind::ExpectedFlowSequenceSeparator => "needs , or ] here".to_owned(),
        ErrorKind::UnclosedFlowCollection { open } => format!("the {open} is never closed"),
        ErrorKind::UnexpectedEofFlowSequence => "the text ends before ]".to_owned(),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            "the text ends before }".to_owned()
        }
        ErrorKind::MisplacedFlowCollectionEnd => {
            "a bracket is closed that was never opened".to_owned()
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            format!("{open} is closed by {close}")
        }
        ErrorKind::UnclosedQuotedScalar => "the quotes are never closed".to_owned(),
        ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            "there is text behind the closing quotes: put all of it in quotes".to_owned()
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            "there is no such escape in double quotes: write \\\\ for a backslash, or use single \
             quotes"
                .to_owned()
        }
        ErrorKind::RecursionLimitExceeded => "is nested too deep".to_owned(),
        ErrorKind::UndeclaredTagHandle => {
            "the tag is not known: a text that begins with ! takes quotes".to_owned()
        }
        _ => format!("is no YAML: {}", error.info()),
    }
}
