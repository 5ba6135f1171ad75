use proptest::prelude::*;
use serde_json::json;

use super::super::testing::{accepts, refuses};
use super::*;

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Amounts, and what `Value()` and `MilliValue()` of Kubernetes 1.36 answer to each.
#[test]
fn amounts_are_those_of_kubernetes() {
    const EXA: i128 = 1_000_000_000_000_000_000;
    for (text, nanos, value, milli) in [
        ("0", 0, 0, Some(0)),
        ("-0", 0, 0, Some(0)),
        ("0e99", 0, 0, Some(0)),
        ("1", UNIT, 1, Some(1000)),
        ("+1", UNIT, 1, Some(1000)),
        ("-1", -UNIT, -1, Some(-1000)),
        ("00012", 12 * UNIT, 12, Some(12_000)),
        ("0.5", UNIT / 2, 1, Some(500)),
        (".5", UNIT / 2, 1, Some(500)),
        ("1.", UNIT, 1, Some(1000)),
        ("-0.5", -UNIT / 2, -1, Some(-500)),
        ("-1.5", -3 * UNIT / 2, -2, Some(-1500)),
        ("1500m", 3 * UNIT / 2, 2, Some(1500)),
        ("1n", 1, 1, Some(1)),
        ("1u", 1000, 1, Some(1)),
        ("1k", 1000 * UNIT, 1000, Some(1_000_000)),
        ("3.0001k", 3_000_100_000_000, 3001, Some(3_000_100)),
        ("1e3", 1000 * UNIT, 1000, Some(1_000_000)),
        ("1E+3", 1000 * UNIT, 1000, Some(1_000_000)),
        ("1e03", 1000 * UNIT, 1000, Some(1_000_000)),
        ("1e-3", 1_000_000, 1, Some(1)),
        ("1Ki", 1024 * UNIT, 1024, Some(1_024_000)),
        ("1.5Ki", 1536 * UNIT, 1536, Some(1_536_000)),
        ("0.5Ki", 512 * UNIT, 512, Some(512_000)),
        ("0.0001Ki", 102_400_000, 1, Some(103)),
        ("2Mi", 2_097_152 * UNIT, 2_097_152, Some(2_097_152_000)),
        ("1.5Gi", 1_610_612_736 * UNIT, 1_610_612_736, Some(1_610_612_736_000)),
        ("1E", EXA * UNIT, 1_000_000_000_000_000_000, None),
        ("1Ei", (1_i128 << 60) * UNIT, 1 << 60, None),
        ("7Ei", (7_i128 << 60) * UNIT, 7 << 60, None),
        ("9223372036854775806.5", 9_223_372_036_854_775_806_500_000_000, i64::MAX, None),
        // Below a nano.
        ("0.1n", 1, 1, Some(1)),
        ("12e-10", 2, 1, Some(1)),
        ("1e-99", 1, 1, Some(1)),
        ("1.0000000001", 1_000_000_001, 2, Some(1001)),
        ("1.0000000000001Ki", 1_024_000_000_001, 1025, Some(1_024_001)),
        // Kubernetes' Value() answers 1 to this one.
        ("-0.0000000001", -1, -1, Some(-1)),
    ] {
        let parsed = quantity(text);
        assert_eq!(parsed.nanos(), nanos, "{text}");
        assert_eq!(parsed.value(), value, "{text}");
        assert_eq!(parsed.milli().ok(), milli, "{text}");
        accepts::<Quantity>(&[text]);
    }
}

#[test]
fn refused() {
    refuses::<Quantity>(&[
        ("", "is not a quantity"),
        ("+", "is not a quantity"),
        (".", "is not a quantity"),
        ("Ki", "is not a quantity"),
        (".Ki", "is not a quantity"),
        ("m", "is not a quantity"),
        ("--1", "is not a quantity"),
        (" 1", "is not a quantity"),
        ("٣", "is not a quantity"),
        ("1K", "write k for 1000 or Ki for 1024"),
        ("512MB", "leave it out"),
        ("512mb", "leave it out"),
        ("1 Gi", "has a space after the number"),
        ("1Gib", "unknown unit"),
        ("1ki", "unknown unit"),
        ("1mi", "unknown unit"),
        ("1g", "unknown unit"),
        ("1e", "unknown unit"),
        ("1e+", "unknown unit"),
        ("1e1.5", "unknown unit"),
        ("1e3k", "unknown unit"),
        ("1..5", "unknown unit"),
        ("1,5", "unknown unit"),
        ("0x10", "unknown unit"),
        ("1_000", "unknown unit"),
        ("1µ", "unknown unit"),
        ("1e100", "exponent of more than two digits"),
        ("0e100", "exponent of more than two digits"),
        ("1e-100", "exponent of more than two digits"),
        ("1e99999999999999", "exponent of more than two digits"),
        ("1e003", "exponent of more than two digits"),
        ("1e19", "out of range"),
        ("1e30", "out of range"),
        ("8Ei", "out of range"),
        ("-10Ei", "out of range"),
        ("9223372036854775807", "out of range"),
        ("9223372036854775806.9999999991", "out of range"),
        (&"9".repeat(64), "out of range"),
        (&"1".repeat(65), "at most 64 characters"),
    ]);
}

#[test]
fn integers_stay_integers() {
    for int in [0, 5, -5, i64::MAX, i64::MIN] {
        let read: Quantity = serde_json::from_value(json!(int)).unwrap();
        assert_eq!(read, Quantity::from_int(int));
        assert_eq!(read.value(), int);
        assert_eq!(serde_json::to_value(&read).unwrap(), json!(int));
    }
    let error = serde_json::from_value::<Quantity>(json!(0.5)).unwrap_err().to_string();
    assert!(error.contains("put it in quotes, \"0.5\""), "{error}");
}

#[test]
fn equal_amounts_may_be_written_differently() {
    assert_ne!(quantity("1024Mi"), quantity("1Gi"));
    assert_eq!(quantity("1024Mi").cmp_amount(&quantity("1Gi")), Ordering::Equal);
    assert_eq!(Quantity::from_int(1).cmp_amount(&quantity("1000m")), Ordering::Equal);
    assert_eq!(quantity("1G").cmp_amount(&quantity("1Gi")), Ordering::Less);
}

#[test]
fn canonical_texts_are_those_of_kubernetes() {
    for (nanos, text) in [
        (0, "0"),
        (1, "1n"),
        (-1, "-1n"),
        (1000, "1u"),
        (102_400_000, "102400u"),
        (UNIT / 2, "500m"),
        (3 * UNIT / 2, "1500m"),
        (1000 * UNIT, "1k"),
        (1024 * UNIT, "1024"),
        (1_000_000_000_000_000_000 * UNIT, "1E"),
    ] {
        assert_eq!(Quantity::from_nanos(nanos).unwrap().to_string(), text);
    }
    for (bytes, text) in
        [(0, "0"), (1024, "1Ki"), (1536, "1536"), (1 << 29, "512Mi"), (-(1 << 60), "-1Ei")]
    {
        assert_eq!(Quantity::from_bytes(bytes).unwrap().to_string(), text);
    }
    assert!(Quantity::from_nanos(i128::MAX).is_err());
    assert!(Quantity::from_nanos(i128::MIN).is_err());
    assert!(Quantity::from_bytes(i64::MIN).is_err());
}

/// A text, and its amount as the fraction `numerator / denominator`.
fn written() -> impl Strategy<Value = (String, i128, i128)> {
    let unit = prop_oneof![
        prop::sample::select(&DECIMAL).prop_map(|(suffix, exponent)| {
            let power = 10_i128.pow(exponent.unsigned_abs());
            (suffix, if exponent < 0 { (1, power) } else { (power, 1) })
        }),
        prop::sample::select(&BINARY)
            .prop_map(|(suffix, power)| (suffix, (1024_i128.pow(power), 1))),
    ];
    (any::<bool>(), 0..1000_i128, 0..5_u32, unit).prop_map(|(negative, digits, places, unit)| {
        let (suffix, (numerator, denominator)) = unit;
        let sign = if negative { "-" } else { "" };
        let scale = 10_i128.pow(places);
        let width = usize::try_from(places).unwrap();
        let text = if places == 0 {
            format!("{sign}{digits}{suffix}")
        } else {
            format!("{sign}{}.{:0width$}{suffix}", digits / scale, digits % scale)
        };
        (text, digits * numerator * if negative { -1 } else { 1 }, denominator * scale)
    })
}

proptest! {
    #[test]
    fn order_is_that_of_the_rationals((a, a_over, a_under) in written(), (b, b_over, b_under) in written()) {
        if let (Ok(left), Ok(right)) = (a.parse::<Quantity>(), b.parse::<Quantity>()) {
            // Below a nano two amounts may round to one.
            let exact = (a_over * b_under).cmp(&(b_over * a_under));
            let order = left.cmp_amount(&right);
            prop_assert!(order == exact || order == Ordering::Equal, "{} {:?} {}", a, order, b);
            if UNIT % a_under == 0 && UNIT % b_under == 0 {
                prop_assert_eq!(order, exact);
            }
        }
    }

    #[test]
    fn nanos_are_exact((text, over, under) in written()) {
        let exact = divide_away(over * UNIT, under);
        match text.parse::<Quantity>() {
            Ok(parsed) => prop_assert_eq!(parsed.nanos(), exact),
            Err(_) => prop_assert!(check_range(exact).is_err()),
        }
    }

    #[test]
    fn canonical_text_parses_to_the_same(nanos in prop_oneof![
        any::<i64>().prop_map(i128::from),
        any::<i64>().prop_map(|n| i128::from(n) * (UNIT - 1)),
        (-5000..5000_i128).prop_map(|n| n * UNIT),
    ]) {
        let canonical = Quantity::from_nanos(nanos).unwrap();
        prop_assert_eq!(canonical.to_string().parse::<Quantity>(), Ok(canonical));
    }

    #[test]
    fn bytes_parse_to_the_same(mantissa in -1023..1024_i64, shift in 0..53_u32) {
        let canonical = Quantity::from_bytes(mantissa << shift).unwrap();
        prop_assert_eq!(canonical.value(), mantissa << shift);
        prop_assert_eq!(canonical.to_string().parse::<Quantity>(), Ok(canonical));
    }
}
