//! Docker's sizes: `64m`, `1gb`, `2G`, a plain number of bytes; units are powers of 1024.

/// How many bytes a size is.
pub fn bytes(text: &str) -> Option<i64> {
    let lower = text.trim().to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(end);
    let power = match unit.trim_start() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        "p" | "pb" | "pib" => 5,
        _ => return None,
    };
    let unit = 1024_i64.pow(power);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let whole = whole.parse::<i64>().ok()?.checked_mul(unit)?;
    whole.checked_add(part(fraction, unit)?)
}

/// `0.fraction` of a unit, rounded down.
fn part(fraction: &str, unit: i64) -> Option<i64> {
    let digits = fraction.get(..fraction.len().min(9))?;
    if digits.is_empty() {
        return Some(0);
    }
    let value = i128::from(digits.parse::<i64>().ok()?);
    let scale = 10_i128.pow(u32::try_from(digits.len()).ok()?);
    i64::try_from(value * i128::from(unit) / scale).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024_in_either_case_with_or_without_b() {
        for (text, size) in [
            ("0", Some(0)),
            ("1000000000", Some(1_000_000_000)),
            ("64m", Some(64 << 20)),
            ("64MB", Some(64 << 20)),
            ("512mb", Some(512 << 20)),
            ("1.5g", Some(3 << 29)),
            ("2G", Some(2 << 30)),
            ("1 GiB", Some(1 << 30)),
            ("10b", Some(10)),
            ("", None),
            ("x", None),
            ("1x", None),
            ("-1", None),
            ("9999999999t", None),
        ] {
            assert_eq!(bytes(text), size, "{text}");
        }
    }
}
