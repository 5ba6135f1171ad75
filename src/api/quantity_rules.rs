//! CEL rules on quantities, safe to evaluate on whatever a user sends.
//!
//! A quantity with an exponent of three digits and more costs an API server seconds, and it does so
//! before the rule of the quantity's own grammar refuses it. So every rule first lets such a text
//! pass: the grammar's rule, which stands beside, refuses it.

use super::grammar::{Form, Quantity, RawQuantity};

/// Holds for a text that must not be looked at as a quantity.
fn unfit(value: &str) -> String {
    format!("string({value}).matches(r'[eE][+-]?[0-9]{{3}}') || !isQuantity(string({value}))")
}

fn compare(value: &str, how: &str, with: &str) -> String {
    format!("quantity(string({value})).compareTo(quantity({with})) {how} 0")
}

/// What counts thousandths or a fraction of one byte, as far as its text tells.
static PART_OF_A_BYTE: Form = Form::new("([mun]|^[+-]?[0-9]*[.][0-9]*[1-9][0-9]*)$", "");

/// A whole number of bytes, as far as its text tells.
pub fn whole_bytes() -> String {
    format!("!string(self).matches('{}')", PART_OF_A_BYTE.pattern())
}

/// Whether a quantity is a whole number of bytes, by its text as the rule has it and by its amount.
pub fn is_whole_bytes(raw: &RawQuantity, parsed: &Quantity) -> bool {
    const BYTE: i128 = 1_000_000_000;
    parsed.nanos() % BYTE == 0
        && match raw {
            RawQuantity::Int(_) => true,
            RawQuantity::Text(text) => !PART_OF_A_BYTE.fits(text),
        }
}

/// What a user is told who wrote Docker's `512m`.
pub const WHOLE_BYTES_MESSAGE: &str =
    "must be whole bytes: Docker's 512m is 512Mi here, where m is a thousandth";

/// At least `least`, a quantity.
pub fn at_least(least: &str) -> String {
    format!("{} || {}", unfit("self"), compare("self", ">=", &format!("'{least}'")))
}

/// From `least` to `most`, both quantities.
pub fn between(least: &str, most: &str) -> String {
    let (least, most) = (format!("'{least}'"), format!("'{most}'"));
    let within = [compare("self", ">=", &least), compare("self", "<=", &most)].join(" && ");
    format!("{} || ({within})", unfit("self"))
}

/// A whole number from `least` to `most`.
pub fn whole_between(least: &str, most: &str) -> String {
    let within = [
        "quantity(string(self)).isInteger()".to_owned(),
        compare("self", ">=", &format!("'{least}'")),
        compare("self", "<=", &format!("'{most}'")),
    ];
    format!("{} || ({})", unfit("self"), within.join(" && "))
}

/// Above zero.
pub fn positive() -> String {
    format!("{} || {}", unfit("self"), compare("self", ">", "'0'"))
}

/// Above zero, or minus one.
pub fn positive_or_minus_one() -> String {
    let minus_one = compare("self", "==", "'-1'");
    format!("{} || {minus_one}", positive())
}

/// Zero or above.
pub fn not_negative() -> String {
    at_least("0")
}

/// One field at least as great as another; both paths must be present.
pub fn no_less_than(greater: &str, lesser: &str) -> String {
    let lesser_text = format!("string({lesser})");
    let compared = compare(greater, ">=", &lesser_text);
    format!("{} || {} || {compared}", unfit(greater), unfit(lesser))
}
