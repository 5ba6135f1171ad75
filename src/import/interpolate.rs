//! Variables in texts, as docker compose fills them in.

use std::collections::HashMap;

use serde_saphyr::options::PropertySyntax;

/// `text` with `$NAME`, `${NAME}`, `${NAME:-default}` and their like filled in; `$$` is a `$`.
///
/// An error says what is wrong and never what a variable holds.
pub fn fill(text: &str, variables: &HashMap<String, String>) -> Result<String, String> {
    if !text.contains('$') {
        return Ok(text.to_owned());
    }
    // As a YAML text in quotes, so that it is filled in as the compose file itself is.
    let quoted = serde_json::to_string(text).map_err(|error| error.to_string())?;
    let mut options =
        serde_saphyr::options! { with_snippet: false }.with_properties(variables.clone());
    options.property_syntax = PropertySyntax::DockerCompose;
    serde_saphyr::from_str_with_options(&quoted, options)
        .map_err(|error| error.without_snippet().to_string())
}

/// The names in `$NAME` and `${NAME}`, which say nothing of what holds if it is not set.
pub fn bare(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('$') {
        if let Some(escaped) = after.strip_prefix('$') {
            rest = escaped;
            continue;
        }
        let braced = after.starts_with('{');
        let body = after.strip_prefix('{').unwrap_or(after);
        let end =
            body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(body.len());
        let (name, tail) = body.split_at(end);
        if !name.is_empty() && (!braced || tail.starts_with('}')) {
            names.push(name);
        }
        rest = tail;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_without_a_default_are_named() {
        for (text, names) in [
            ("$A/${B}", vec!["A", "B"]),
            ("$$A ${B:-x} ${C-} ${D:?e} ${E:+x}", vec![]),
            ("${A:-${B}}", vec!["B"]),
            ("a$", vec![]),
        ] {
            assert_eq!(bare(text), names, "{text}");
        }
    }
}
