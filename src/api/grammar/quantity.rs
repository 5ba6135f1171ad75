use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::invalid::{Invalid, check_length, quoted};
use super::raw_quantity::RawQuantity;
use super::schema::{self, Rule, matches};

/// One unit in nanos, the smallest amount.
const UNIT: i128 = 1_000_000_000;

/// The amounts a text can give are smaller than this many units, as Kubernetes' own (it takes
/// larger ones for this, in silence, where we refuse them).
const LIMIT: i64 = i64::MAX;

/// The most digits of a written exponent. Nothing in range needs more, and Kubernetes works for
/// seconds on reading `1e-10000000` and on each comparison with `1e10000000`.
const MAX_EXPONENT_DIGITS: usize = 2;

const DECIMAL: [(&str, i32); 10] = [
    ("E", 18),
    ("P", 15),
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("k", 3),
    ("", 0),
    ("m", -3),
    ("u", -6),
    ("n", -9),
];

const BINARY: [(&str, u32); 6] = [("Ei", 6), ("Pi", 5), ("Ti", 4), ("Gi", 3), ("Mi", 2), ("Ki", 1)];

/// An amount as Kubernetes writes it: an integer, or a text such as `512Mi`, `1.5` or `500m`.
///
/// A text is an optional sign, digits with an optional fraction (`.5` and `1.` are fine), and a
/// suffix: `n u m k M G T P E` (powers of 1000), `Ki Mi Gi Ti Pi Ei` (powers of 1024), or an
/// exponent of one or two digits, `e3`, `E-3`. At most 64 characters.
///
/// The amount is exact in nanos; what is below a nano rounds away from zero, as in Kubernetes. A
/// text gives amounts between -(2^63-1) and 2^63-1 units, both excluded.
///
/// Writes back exactly what it read. Equality is of what was written; for the amount see
/// [`cmp_amount`](Self::cmp_amount).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantity {
    raw: RawQuantity,
    nanos: i128,
}

impl Quantity {
    /// The longest text, in characters.
    pub const MAX_CHARS: usize = 64;

    /// `int` whole units, written as an integer.
    pub fn from_int(int: i64) -> Self {
        Self { raw: RawQuantity::Int(int), nanos: i128::from(int) * UNIT }
    }

    /// `nanos` billionths of a unit, as Kubernetes prints an amount of CPU: an integer with the
    /// largest power of 1000 that keeps it exact, such as `1500m` or `2k`.
    ///
    /// Refuses what a text cannot give: 2^63-1 units or more, either way.
    pub fn from_nanos(nanos: i128) -> Result<Self, Invalid> {
        check_range(nanos).map_err(|()| Invalid::new(format!("{nanos}n is out of range")))?;
        let fits = DECIMAL.iter().find_map(|(suffix, exponent)| {
            let unit = 10_i128.pow(u32::try_from(exponent + 9).ok()?);
            (nanos != 0 && nanos % unit == 0).then(|| format!("{}{suffix}", nanos / unit))
        });
        Ok(Self { raw: fits.unwrap_or_else(|| "0".to_owned()).into(), nanos })
    }

    /// `bytes` as Kubernetes prints an amount of memory: an integer with the largest power of 1024
    /// that keeps it exact, such as `512Mi`.
    ///
    /// Refuses what a text cannot give: `i64::MAX` and its negative, and `i64::MIN`.
    pub fn from_bytes(bytes: i64) -> Result<Self, Invalid> {
        let nanos = i128::from(bytes) * UNIT;
        check_range(nanos).map_err(|()| Invalid::new(format!("{bytes} is out of range")))?;
        let fits = BINARY.iter().find_map(|(suffix, power)| {
            let unit = 1024_i64.pow(*power);
            (bytes != 0 && bytes % unit == 0).then(|| format!("{}{suffix}", bytes / unit))
        });
        Ok(Self { raw: fits.unwrap_or_else(|| bytes.to_string()).into(), nanos })
    }

    /// The amount in nanos (billionths of a unit): exactly, and never out of range.
    pub fn nanos(&self) -> i128 {
        self.nanos
    }

    /// The amount in whole units, a fraction rounded away from zero as Kubernetes does for what
    /// it asks of a node.
    pub fn value(&self) -> i64 {
        // In range by construction; a saturated answer could only ever be off by rounding.
        let whole = divide_away(self.nanos, UNIT);
        i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX })
    }

    /// The amount in thousandths, a fraction rounded away from zero. An error above 2^63-1 of
    /// them.
    pub fn milli(&self) -> Result<i64, Invalid> {
        i64::try_from(divide_away(self.nanos, UNIT / 1000))
            .map_err(|_| Invalid::new(format!("{} is too large", quoted(&self.to_string()))))
    }

    /// Compares the amounts, however they are written.
    pub fn cmp_amount(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    /// What was written.
    pub fn raw(&self) -> &RawQuantity {
        &self.raw
    }

    /// What was written.
    pub fn into_raw(self) -> RawQuantity {
        self.raw
    }

    fn rules() -> Vec<Rule> {
        let grammar = matches(
            r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$",
        );
        vec![
            (
                // Kubernetes' parser takes more ('Ki' for 0, say), so it alone does not do.
                format!("type(self) == int || ({grammar} && isQuantity(self))"),
                "must be a quantity such as 512Mi, 1.5 or 500m",
            ),
            (
                format!(
                    "type(self) == int || !{grammar} || (quantity(self).isLessThan(quantity('{LIMIT}')) \
                     && quantity(self).isGreaterThan(quantity('-{LIMIT}')))",
                ),
                "must be less than 2^63-1, about 8Ei",
            ),
        ]
    }
}

impl FromStr for Quantity {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_length("a quantity", text, Self::MAX_CHARS)?;
        let nanos = parse_nanos(text).map_err(|fault| {
            let problem = match fault {
                Fault::NoNumber => {
                    "is not a quantity: write a number and a unit, such as 512Mi, 1.5 or 500m"
                }
                Fault::Suffix("K") => "has the unit K: write k for 1000 or Ki for 1024",
                Fault::Suffix(
                    "B" | "KB" | "kB" | "MB" | "GB" | "TB" | "b" | "kb" | "mb" | "gb",
                ) => "has a 'B' for bytes: leave it out, and write Ki, Mi or Gi for powers of 1024",
                Fault::Suffix(suffix) if suffix.starts_with(char::is_whitespace) => {
                    "has a space after the number: write the unit right behind it, as in 512Mi"
                }
                Fault::Suffix(_) => {
                    "has an unknown unit: write one of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, \
                     Pi, Ei, or none"
                }
                Fault::Exponent => "has an exponent of more than two digits: write a unit instead",
                Fault::Range => "is out of range: a quantity is less than 2^63-1, about 8Ei",
            };
            Invalid::new(format!("{} {problem}", quoted(text)))
        })?;
        Ok(Self { raw: text.into(), nanos })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawQuantity::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Quantity {
    // A CRD has no `$ref`.
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schema::int_or_string(Self::MAX_CHARS, &Self::rules())
    }
}

/// What is wrong with a text.
enum Fault<'a> {
    NoNumber,
    Suffix(&'a str),
    Exponent,
    Range,
}

fn parse_nanos(text: &str) -> Result<i128, Fault<'_>> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, rest) = split_digits(unsigned);
    let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(Fault::NoNumber);
    }
    let (exponent, power) = scale(suffix)?;
    let places = i32::try_from(fraction.len()).map_err(|_| Fault::Range)?;

    let mut digits: Vec<u8> =
        whole.bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
    for _ in 0..power {
        multiply_by_1024(&mut digits);
    }
    let magnitude = shift(&digits, exponent - places + 9).ok_or(Fault::Range)?;
    let nanos = if text.starts_with('-') { -magnitude } else { magnitude };
    check_range(nanos).map_err(|()| Fault::Range)?;
    Ok(nanos)
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// The powers of 10 and of 1024 that a suffix stands for.
fn scale(suffix: &str) -> Result<(i32, u32), Fault<'_>> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
        return Ok((*exponent, 0));
    }
    if let Some((_, power)) = BINARY.iter().find(|(known, _)| *known == suffix) {
        return Ok((0, *power));
    }
    let signed = suffix.strip_prefix(['e', 'E']).ok_or(Fault::Suffix(suffix))?;
    let digits = signed.strip_prefix(['+', '-']).unwrap_or(signed);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(Fault::Suffix(suffix));
    }
    if digits.len() > MAX_EXPONENT_DIGITS {
        return Err(Fault::Exponent);
    }
    let exponent = signed.parse::<i32>().map_err(|_| Fault::Exponent)?;
    Ok((exponent, 0))
}

/// Multiplies a number, its most significant decimal digit first.
fn multiply_by_1024(digits: &mut Vec<u8>) {
    let mut carry = 0_u32;
    for digit in digits.iter_mut().rev() {
        carry += u32::from(*digit) * 1024;
        *digit = last_digit(carry);
        carry /= 10;
    }
    while carry > 0 {
        digits.insert(0, last_digit(carry));
        carry /= 10;
    }
}

fn last_digit(number: u32) -> u8 {
    u8::try_from(number % 10).unwrap_or_default()
}

/// `digits` times 10 to the `exponent`, rounded up; none if it does not fit.
fn shift(digits: &[u8], exponent: i32) -> Option<i128> {
    let dropped = usize::try_from(-exponent).unwrap_or(0).min(digits.len());
    let zeros = usize::try_from(exponent).unwrap_or(0);
    let (kept, below) = digits.split_at(digits.len() - dropped);
    let number = kept
        .iter()
        .chain(std::iter::repeat_n(&0, zeros))
        .try_fold(0_i128, |sum, digit| sum.checked_mul(10)?.checked_add(i128::from(*digit)))?;
    number.checked_add(i128::from(below.iter().any(|digit| *digit != 0)))
}

fn check_range(nanos: i128) -> Result<(), ()> {
    let limit = u128::from(LIMIT.unsigned_abs()) * UNIT.unsigned_abs();
    if nanos.unsigned_abs() < limit { Ok(()) } else { Err(()) }
}

/// `number / divisor`, rounded away from zero.
fn divide_away(number: i128, divisor: i128) -> i128 {
    number / divisor + if number % divisor == 0 { 0 } else { number.signum() }
}

#[cfg(test)]
mod tests;
