//! Files of `NAME=value` lines, as docker compose reads them.

use std::collections::HashMap;

use super::Variables;
use super::interpolate::{bare, fill};

/// A variable; a name alone has no value.
pub type Variable = (String, Option<String>);

/// What a file says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EnvFile {
    /// The variables in order.
    pub variables: Vec<Variable>,
    /// Which variables it refers to that are not set, each with its line.
    pub unset: Vec<(usize, String)>,
}

/// Reads a file whose values may refer to variables: to those `known`, which count first, to those
/// `before` it, and to those above in the file itself.
///
/// Blank lines and comments are left out and `export` is borne. A value in single quotes is taken
/// as it is, one in double quotes may have escapes, either may have many lines; outside of quotes a
/// `#` after a space begins a comment.
pub fn parse(text: &str, known: &Variables, before: &Variables) -> Result<EnvFile, String> {
    let mut scope: HashMap<String, String> = before.clone().into_iter().collect();
    scope.extend(known.clone());
    let mut file = EnvFile::default();
    for Statement { line, name, value } in statements(text)? {
        let value = match value {
            None => known.get(&name).cloned(),
            Some(Text::Literal(value)) => Some(value),
            Some(Text::Template(value)) => {
                let missing = bare(&value).into_iter().filter(|name| !scope.contains_key(*name));
                file.unset.extend(missing.map(|name| (line, name.to_owned())));
                Some(fill(&value, &scope).map_err(|error| format!("line {line}: {error}"))?)
            }
        };
        if let Some(value) = value.as_ref().filter(|_| !known.contains_key(&name)) {
            scope.insert(name.clone(), value.clone());
        }
        file.variables.push((name, value));
    }
    Ok(file)
}

/// Reads a file whose values are taken as they are (`format: raw`), quotes and all.
pub fn raw(text: &str) -> Result<Vec<Variable>, String> {
    let mut variables = Vec::new();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim_start_matches([' ', '\t']);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (line, None),
        };
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(wrong(number + 1));
        }
        variables.push((name.to_owned(), value));
    }
    Ok(variables)
}

fn wrong(line: usize) -> String {
    format!("line {line}: must be NAME=value")
}

/// One variable of a file.
struct Statement {
    line: usize,
    name: String,
    value: Option<Text>,
}

/// A value, before variables are filled in.
enum Text {
    Literal(String),
    Template(String),
}

fn statements(text: &str) -> Result<Vec<Statement>, String> {
    let mut list = Vec::new();
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while !rest.is_empty() {
        if rest.starts_with('#') {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
            continue;
        }
        let read = text.get(..text.len().saturating_sub(rest.len())).unwrap_or_default();
        let line = read.matches('\n').count() + 1;
        let exported = rest.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t']));
        rest = exported.unwrap_or(rest).trim_start_matches(is_blank);
        let end = rest.find(['=', ':', '\n']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let name = name.trim();
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(wrong(line));
        }
        let (value, after) = match after.strip_prefix(['=', ':']) {
            None => (None, after),
            Some(after) => {
                let unclosed = || format!("line {line}: the value's quote does not end");
                let found = value(after.trim_start_matches(is_blank)).ok_or_else(unclosed)?;
                (Some(found.0), found.1)
            }
        };
        list.push(Statement { line, name: name.to_owned(), value });
        rest = after.trim_start();
    }
    Ok(list)
}

fn is_blank(c: char) -> bool {
    c != '\n' && c.is_whitespace()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_.-[]".contains(c)
}

/// The value at the beginning of `text`, and what stands after it.
fn value(text: &str) -> Option<(Text, &str)> {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else {
        let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
        let line = line.split_once(" #").map_or(line, |(line, _)| line).trim_end();
        return Some((Text::Template(line.to_owned()), rest));
    };
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    loop {
        match chars.next()? {
            (i, c) if c == quote => {
                let made =
                    if quote == '"' { Text::Template(unescaped(&out)) } else { Text::Literal(out) };
                return Some((made, text.get(i + 1..).unwrap_or_default()));
            }
            (_, '\\') => {
                let (_, next) = chars.next()?;
                if next != quote {
                    out.push('\\');
                }
                out.push(next);
            }
            (_, c) => out.push(c),
        }
    }
}

/// The escapes of a value in double quotes; `\$` is a `$` that begins no variable.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        let octal = after.get(1..4).filter(|_| after.starts_with('0'));
        let octal = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(code) = octal {
            out.push(char::from(code));
            rest = after.get(4..).unwrap_or_default();
            continue;
        }
        match chars.next() {
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('v') => out.push('\u{b}'),
            Some('$') => out.push_str("$$"),
            Some(c @ ('"' | '\\')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
        rest = chars.as_str();
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Variables {
        let file = parse(text, &Variables::new(), &Variables::new()).unwrap();
        file.variables.into_iter().map(|(name, value)| (name, value.unwrap_or_default())).collect()
    }

    /// The cases are those of compose's own reader, `dotenv/godotenv_test.go` of compose-go.
    #[test]
    fn a_line_is_read_as_compose_reads_it() {
        for (line, value) in [
            ("FOO=bar", "bar"),
            ("FOO =bar", "bar"),
            ("FOO= bar", "bar"),
            ("FOO=\"bar\"", "bar"),
            ("FOO='bar'", "bar"),
            (r#"FOO="escaped\"bar""#, "escaped\"bar"),
            ("FOO=\"'d'\"", "'d'"),
            ("FOO: 1", "1"),
            ("FOO: Foo=bar", "Foo=bar"),
            ("FOO=1:B", "1:B"),
            ("export FOO=2", "2"),
            ("\texport\tFOO='\\n'", "\\n"),
            (r#"FOO="bar\nbaz""#, "bar\nbaz"),
            (r"FOO=a\tb", r"a\tb"),
            (r#"FOO="Z\aZ\bZ\fZ\rZ\tZ\vZ\\Z\0123Z""#, "Z\u{7}Z\u{8}Z\u{c}Z\rZ\tZ\u{b}Z\\ZSZ"),
            (r#"FOO="bar\n\ b\az""#, "bar\n\\ b\u{7}z"),
            (r#"FOO="bar\\r\ b""#, "bar\\r\\ b"),
            (r#"FOO="\x07""#, r"\x07"),
            ("FOO=foobar=", "foobar="),
            ("FOO=bar # c", "bar"),
            ("FOO=123#not", "123#not"),
            ("FOO=\"bar#baz\" # c", "bar#baz"),
            ("FOO='Let\\'s go!'", "Let's go!"),
            ("FOO=", ""),
            ("FOO='first\nsecond'", "first\nsecond"),
            ("FOO='quote $BAR'", "quote $BAR"),
            (r#"FOO="foo\${BAR}""#, "foo${BAR}"),
            ("FOO=a$$b", "a$b"),
            ("FOO=${NO:-d}", "d"),
        ] {
            assert_eq!(of(line).get("FOO").map(String::as_str), Some(value), "{line}");
        }
        let all = of("\u{feff}# c\n\nA=1\nB=${A}2\nC=\"$B\" # c\nD\nA=3\r\nE=$A");
        let of = |name: &str| all.get(name).map(String::as_str);
        assert_eq!(
            (of("B"), of("C"), of("D"), of("E")),
            (Some("12"), Some("12"), Some(""), Some("3"))
        );
    }

    #[test]
    fn known_variables_count_before_those_of_the_file_and_these_before_earlier_files() {
        let map = |pairs: &[(&str, &str)]| -> Variables {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let (known, before) = (map(&[("A", "known")]), map(&[("A", "b"), ("B", "b"), ("C", "b")]));
        let file = parse("A=f\nB=f\nX=$A $B $C\nA\nY=$NO", &known, &before).unwrap();
        let values: Vec<_> = file.variables.iter().map(|(_, v)| v.as_deref().unwrap()).collect();
        assert_eq!(values, ["f", "f", "known f b", "known", ""]);
        assert_eq!(file.unset, [(5, "NO".to_owned())]);
    }

    #[test]
    fn what_is_no_variable_is_named_by_its_line_and_never_shown() {
        let error = |text: &str| parse(text, &Variables::new(), &Variables::new()).unwrap_err();
        assert_eq!(error("A=1\nx y\n"), "line 2: must be NAME=value");
        assert_eq!(error("=1"), "line 1: must be NAME=value");
        assert_eq!(error("\nA='s3cret\n"), "line 2: the value's quote does not end");
        let required = error("P=s3cret\nA=$P${X:?set X}");
        assert!(required.starts_with("line 2: ") && required.contains("set X"), "{required}");
        assert!(!required.contains("s3cret"), "{required}");
    }

    #[test]
    fn raw_values_are_taken_as_they_are() {
        let list = raw("\u{feff}# c\n  A=\"$B\" # x \nB\n").unwrap();
        assert_eq!(list[0], ("A".to_owned(), Some("\"$B\" # x ".to_owned())));
        assert_eq!(list[1], ("B".to_owned(), None));
        assert_eq!(raw("A =1").unwrap_err(), "line 1: must be NAME=value");
    }
}
