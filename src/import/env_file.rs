//! Files of `NAME=value` lines.

use super::Variables;

/// The variables of an env file in order; a name alone has no value.
///
/// As Docker reads it: blank lines and comments are left out, `export` is borne, quotes around a
/// value are taken off (in double quotes with the usual escapes), and outside of quotes a `#` after
/// a space begins a comment. References to other variables are not followed.
pub fn parse(text: &str) -> Result<Vec<(String, Option<String>)>, String> {
    let mut variables = Vec::new();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(unquoted(value.trim()))),
            None => (line, None),
        };
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(format!("line {}: must be NAME=value", number + 1));
        }
        variables.push((name.to_owned(), value));
    }
    Ok(variables)
}

/// The variables of an env file that have a value, the last of one name counting.
pub fn variables(text: &str) -> Result<Variables, String> {
    let list = parse(text)?.into_iter();
    Ok(list.filter_map(|(name, value)| value.map(|value| (name, value))).collect())
}

fn unquoted(value: &str) -> String {
    let inner = |quote: char| {
        let rest = value.strip_prefix(quote)?;
        let end = rest
            .char_indices()
            .scan(false, |escaped, (i, c)| {
                let ends = c == quote && !(*escaped && quote == '"');
                *escaped = c == '\\' && !*escaped;
                Some((i, ends))
            })
            .find_map(|(i, ends)| ends.then_some(i))?;
        rest.get(..end)
    };
    if let Some(text) = inner('\'') {
        return text.to_owned();
    }
    if let Some(text) = inner('"') {
        return unescaped(text);
    }
    let end = value.find(" #").unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim_end().to_owned()
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            (c, false) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_docker_reads_them() {
        let text = "\u{feff}# c\n\nA=1\nexport B = two words # c\nC='a # b'\nD=\"x\\n\\\"y\\\"\" # c\nE=\nF\nA=3\nG=a#b\n";
        let variables = parse(text).unwrap();
        let of = |name: &str| variables.iter().rfind(|(n, _)| n == name).unwrap().1.as_deref();
        assert_eq!(of("A"), Some("3"));
        assert_eq!(of("B"), Some("two words"));
        assert_eq!(of("C"), Some("a # b"));
        assert_eq!(of("D"), Some("x\n\"y\""));
        assert_eq!(of("E"), Some(""));
        assert_eq!(of("G"), Some("a#b"));
        assert_eq!(of("F"), None);
        assert_eq!(parse("A=1\nx y\n").unwrap_err(), "line 2: must be NAME=value");
    }
}
