use std::fmt::Write;
use std::str::FromStr;

use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// The units in nanoseconds. Longer names come before those they begin with; the two `µs` are the
/// micro sign and the Greek letter.
const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", MINUTE),
    ("h", HOUR),
];

/// A length of time in Go's form, not negative: `30s`, `1.5s`, `1h30m`, `300ms`, `0`.
///
/// Numbers with a fraction or not, each with a unit `h m s ms us µs ns`, in any order; `0` needs
/// none. At most 64 characters. Exact in nanoseconds; a fraction of one is cut off (where Go, which
/// reckons fractions in floating point, can be one nanosecond off). At most 2^63-1 nanoseconds,
/// about 292 years; the CEL rule stops below the last 47 minutes of that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Duration {
    text: String,
    nanos: i64,
}

text_type!(Duration);

impl Duration {
    /// The longest text, in characters.
    pub const MAX_CHARS: usize = 64;

    /// `nanos` nanoseconds, written as Go prints them: `0s`, `1.5µs`, `300ms`, `1m30s`, `1h0m0s`.
    ///
    /// Refuses a negative number.
    pub fn from_nanos(nanos: i64) -> Result<Self, Invalid> {
        if nanos < 0 {
            return Err(Invalid::new(format!("{nanos}ns is negative: a duration is not")));
        }
        Ok(Self { text: go_text(nanos), nanos })
    }

    /// The length in nanoseconds, never negative.
    pub fn nanos(&self) -> i64 {
        self.nanos
    }

    /// The length as the standard library has it.
    pub fn as_std(&self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.nanos.unsigned_abs())
    }

    /// The length in seconds; none unless that is a whole number.
    pub fn whole_seconds(&self) -> Option<i64> {
        (self.nanos % SECOND == 0).then_some(self.nanos / SECOND)
    }

    fn rules() -> Vec<Rule> {
        let grammar = matches(
            r"^(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:h|m|s|ms|us|\x{b5}s|\x{3bc}s|ns))+)$",
        );
        vec![(
            // `duration` fails on what Go cannot hold, and with it the rule: refused as well.
            format!("{grammar} && duration(self) < duration('2562047h')"),
            "must be a duration such as 30s, 1.5s or 1h30m",
        )]
    }
}

impl FromStr for Duration {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_length("a duration", text, Self::MAX_CHARS)?;
        let wrong = |problem: &str| Invalid::new(format!("{} {problem}", quoted(text)));
        let nanos = parse_nanos(text).map_err(|fault| match fault {
            Fault::Signed => wrong("has a sign: a duration is not negative, write it without"),
            Fault::Number => wrong("is not a duration: write one such as 30s, 1.5s or 1h30m"),
            Fault::NoUnit => wrong("has a number without a unit: write one such as 30s or 1h30m"),
            Fault::Unit => wrong("has an unknown unit: write h, m, s, ms, us or ns"),
            Fault::Range => wrong("is too long: a duration is less than 292 years"),
        })?;
        Ok(Self { text: text.to_owned(), nanos })
    }
}

/// What is wrong with a text.
enum Fault {
    Signed,
    Number,
    NoUnit,
    Unit,
    Range,
}

fn parse_nanos(text: &str) -> Result<i64, Fault> {
    if text == "0" {
        return Ok(0);
    }
    if text.starts_with(['+', '-']) {
        return Err(Fault::Signed);
    }
    if text.is_empty() {
        return Err(Fault::Number);
    }
    let mut total = 0_i64;
    let mut rest = text;
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), split_digits);
        if whole.is_empty() && fraction.is_empty() {
            return Err(Fault::Number);
        }
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        let unit = match UNITS.iter().find(|(known, _)| *known == name) {
            Some((_, unit)) => *unit,
            None if name.is_empty() => return Err(Fault::NoUnit),
            None => return Err(Fault::Unit),
        };
        total = whole_nanos(whole, unit)
            .and_then(|nanos| nanos.checked_add(fraction_nanos(fraction, unit)))
            .and_then(|nanos| total.checked_add(nanos))
            .ok_or(Fault::Range)?;
        rest = after;
    }
    Ok(total)
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn whole_nanos(digits: &str, unit: i64) -> Option<i64> {
    let number = digits
        .bytes()
        .try_fold(0_i64, |sum, digit| sum.checked_mul(10)?.checked_add(i64::from(digit - b'0')))?;
    number.checked_mul(unit)
}

/// What `0.digits` of a unit is, cut off below a nanosecond. From the last digit to the first, each
/// step cuts off what the next would not see: exact, and never above one unit.
fn fraction_nanos(digits: &str, unit: i64) -> i64 {
    digits.bytes().rev().fold(0, |below, digit| (i64::from(digit - b'0') * unit + below) / 10)
}

fn go_text(nanos: i64) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = match nanos {
        0 => write!(text, "0s"),
        1..1_000 => write!(text, "{nanos}ns"),
        1_000..1_000_000 => write!(text, "{}\u{b5}s", decimal(nanos, 1_000)),
        1_000_000..SECOND => write!(text, "{}ms", decimal(nanos, 1_000_000)),
        _ => {
            let (hours, minutes) = (nanos / HOUR, nanos % HOUR / MINUTE);
            let seconds = decimal(nanos % MINUTE, SECOND);
            if hours > 0 {
                write!(text, "{hours}h{minutes}m{seconds}s")
            } else if minutes > 0 {
                write!(text, "{minutes}m{seconds}s")
            } else {
                write!(text, "{seconds}s")
            }
        }
    };
    text
}

/// `number / unit` in decimal without trailing zeros; `unit` is a power of ten.
fn decimal(number: i64, unit: i64) -> String {
    let places = usize::try_from(unit.ilog10()).unwrap_or_default();
    let text = format!("{}.{:0places$}", number / unit, number % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{accepts, refuses};
    use super::*;

    fn nanos(text: &str) -> i64 {
        text.parse::<Duration>().unwrap().nanos()
    }

    #[test]
    fn lengths() {
        // From the table of Go's own time.ParseDuration.
        for (text, expected) in [
            ("0", 0),
            ("0s", 0),
            ("5s", 5 * SECOND),
            ("1478s", 1478 * SECOND),
            ("5.0s", 5 * SECOND),
            ("5.6s", 5_600_000_000),
            ("5.s", 5 * SECOND),
            (".5s", SECOND / 2),
            ("1.00s", SECOND),
            ("1.004s", 1_004_000_000),
            ("1.0040s", 1_004_000_000),
            ("100.00100s", 100_001_000_000),
            ("10ns", 10),
            ("11us", 11_000),
            ("12\u{b5}s", 12_000),
            ("12\u{3bc}s10ns", 12_010),
            ("13ms", 13_000_000),
            ("15m", 15 * MINUTE),
            ("16h", 16 * HOUR),
            ("3h30m", 3 * HOUR + 30 * MINUTE),
            ("10.5s4m", 4 * MINUTE + 10_500_000_000),
            ("1h2m3s4ms5us6ns", HOUR + 2 * MINUTE + 3 * SECOND + 4_005_006),
            ("39h9m14.425s", 39 * HOUR + 9 * MINUTE + 14_425_000_000),
            ("52763797000ns", 52_763_797_000),
            ("0.9999999999999999s", 999_999_999),
            ("0.3333333333333333333333333333h", 1_199_999_999_999),
            ("0.100000000000000000000h", 6 * MINUTE),
            ("0.830103483285477580700h", 49 * MINUTE + 48_372_539_827),
            ("9223372036854775807ns", i64::MAX),
            ("9223372036854775.807us", i64::MAX),
            ("2562047h47m16.854775807s", i64::MAX),
        ] {
            assert_eq!(nanos(text), expected, "{text}");
            accepts::<Duration>(&[text]);
        }
    }

    #[test]
    fn refused() {
        refuses::<Duration>(&[
            ("", "is not a duration"),
            ("3", "without a unit"),
            ("1h30", "without a unit"),
            ("-5s", "has a sign"),
            ("+5s", "has a sign"),
            ("s", "is not a duration"),
            (".", "is not a duration"),
            (".s", "is not a duration"),
            ("5s-3s", "has an unknown unit"),
            ("1d", "unknown unit"),
            ("1 h", "unknown unit"),
            ("1H", "unknown unit"),
            ("1s ", "unknown unit"),
            (" 1s", "is not a duration"),
            ("1.2.3s", "without a unit"),
            ("1e3s", "unknown unit"),
            ("٣s", "is not a duration"),
            ("9223372036854775808ns", "less than 292 years"),
            ("9223372036854775.808us", "less than 292 years"),
            ("3000000h", "less than 292 years"),
            ("99999999999999999999s", "less than 292 years"),
            (&"1s".repeat(33), "at most 64"),
        ]);
        assert!(Duration::from_nanos(-1).is_err());
    }

    #[test]
    fn prints_as_go_does() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_100, "1.1\u{b5}s"),
            (2_200_000, "2.2ms"),
            (300_000_000, "300ms"),
            (3_300_000_000, "3.3s"),
            (90 * SECOND, "1m30s"),
            (4 * MINUTE + 5 * SECOND + 1_000_000, "4m5.001s"),
            (HOUR, "1h0m0s"),
            (5 * HOUR + 6 * MINUTE + 7_001_000_000, "5h6m7.001s"),
            (8 * MINUTE + 1, "8m0.000000001s"),
            (i64::MAX, "2562047h47m16.854775807s"),
        ] {
            assert_eq!(Duration::from_nanos(nanos).unwrap().as_str(), text);
        }
    }

    #[test]
    fn whole_seconds_are_exact() {
        let whole = |text: &str| text.parse::<Duration>().unwrap().whole_seconds();
        assert_eq!(whole("1m30s"), Some(90));
        assert_eq!(whole("0"), Some(0));
        assert_eq!(whole("1.5s"), None);
        assert_eq!("1.5s".parse::<Duration>().unwrap().as_std().as_millis(), 1500);
    }

    proptest! {
        #[test]
        fn what_is_printed_parses(nanos in prop_oneof![0..=i64::MAX, 0..10_000_000_000_i64]) {
            let printed = Duration::from_nanos(nanos).unwrap();
            prop_assert_eq!(printed.as_str().parse::<Duration>(), Ok(printed));
        }

        #[test]
        fn fractions_are_exact(digits in "[0-9]{0,18}", unit in prop::sample::select(&UNITS)) {
            let scale = 10_i128.pow(u32::try_from(digits.len()).unwrap());
            let exact = digits.parse::<i128>().unwrap_or(0) * i128::from(unit.1) / scale;
            prop_assert_eq!(i128::from(nanos(&format!("1.{digits}{}", unit.0))), exact + i128::from(unit.1));
        }
    }
}
