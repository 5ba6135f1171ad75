//! What a plain scalar means, as Kubernetes' own reader of YAML has it: 1.1 with Go's numbers.

use serde_json::{Number, Value};

/// Why a scalar has no value that a manifest could have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite;

/// The value of a scalar without quotes.
pub fn plain(text: &str) -> Result<Value, NotFinite> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" | "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "false" | "False" | "FALSE" | "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        _ => match text.as_bytes().first() {
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
                if is_not_finite(text) {
                    return Err(NotFinite);
                }
                number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
            }
            _ => Value::String(text.to_owned()),
        },
    })
}

fn is_not_finite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn number(text: &str) -> Option<Number> {
    if text.starts_with('.') {
        return float(text);
    }
    let digits = text.replace('_', "");
    integer(&digits).or_else(|| float(&digits))
}

fn integer(text: &str) -> Option<Number> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match rest.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, rest.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, rest.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, rest.get(2..)?),
        [b'0', _, ..] => (8, rest.get(1..)?),
        _ => (10, rest),
    };
    // A second sign is none of the digits.
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    if negative {
        return i64::from_str_radix(&format!("-{digits}"), radix).ok().map(Number::from);
    }
    u64::from_str_radix(digits, radix).ok().map(Number::from)
}

fn float(text: &str) -> Option<Number> {
    // Rust reads `inf` and `nan` as numbers too.
    let digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !text.chars().all(digit) {
        return None;
    }
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
    // As Kubernetes reads it: 80.0 is 80.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "whole, and within what a double tells apart"
    )]
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        return Some((number as i64).into());
    }
    Number::from_f64(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_mean_what_kubectl_reads() {
        // What `kubectl label --local -o json` (1.36) made of each.
        for (text, value) in [
            ("y", json!(true)),
            ("On", json!(true)),
            ("oN", json!("oN")),
            ("NULL", json!(null)),
            ("nULL", json!("nULL")),
            ("0o17", json!(15)),
            ("017", json!(15)),
            ("-017", json!(-15)),
            ("0_7", json!(7)),
            ("08", json!(8)),
            ("09.5", json!(9.5)),
            ("0o8", json!("0o8")),
            ("1_000", json!(1000)),
            ("1__0", json!(10)),
            ("1_0.5", json!(10.5)),
            ("_1", json!("_1")),
            ("0x1F", json!(31)),
            ("0X1F", json!(31)),
            ("-0x1f", json!(-31)),
            ("0b11", json!(3)),
            ("-0b11", json!(-3)),
            ("0b2", json!("0b2")),
            ("1e3", json!(1000)),
            ("1e400", json!("1e400")),
            (".5", json!(0.5)),
            ("1.", json!(1)),
            ("0.0", json!(0)),
            ("+1", json!(1)),
            ("2024-01-01", json!("2024-01-01")),
            ("12:30:45", json!("12:30:45")),
            ("<<", json!("<<")),
            ("=", json!("=")),
            ("1.25.3", json!("1.25.3")),
            ("123456789012345678901234567890", json!(1.234_567_890_123_456_8e29)),
        ] {
            assert_eq!(plain(text), Ok(value), "{text}");
        }
        assert_eq!(plain(".inf"), Err(NotFinite));
        assert_eq!(plain("-"), Ok(json!("-")));
    }
}
