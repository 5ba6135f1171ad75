//! A pair: what a constraint refuses, and what it accepts at its bound.

use serde_json::{Value, json};

use super::kind::Kind;
use super::walk::Constraint;

/// A constraint's keyword with its value, as the test says it must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    MaxLength(i64),
    MinLength(i64),
    MaxItems(i64),
    MinItems(i64),
    MaxProperties(i64),
    Minimum(i64),
    Maximum(i64),
    Pattern(String),
    Enum(Vec<String>),
    /// A CEL rule, by its message.
    Rule(String),
}

/// Fields to set, by path; a null removes one.
pub type Fields = Vec<(String, Value)>;

/// A manifest in the making: what is there before, for rules on a change, and what is then set.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub before: Option<Fields>,
    pub set: Fields,
}

#[derive(Clone, Debug)]
pub struct Pair {
    pub kinds: Vec<Kind>,
    pub at: String,
    pub bound: Bound,
    pub refused: Vec<Case>,
    pub accepted: Vec<Case>,
    /// Path that the refusal names.
    pub field: String,
    /// What the refusal says.
    pub message: String,
}

pub fn rule(message: &str) -> Bound {
    Bound::Rule(message.to_owned())
}

/// `count` items, made from their number.
pub fn many(count: usize, item: impl Fn(usize) -> Value) -> Value {
    Value::Array((0..count).map(item).collect())
}

/// A map of `count` entries, made from their number.
pub fn entries(count: usize, key: impl Fn(usize) -> String, value: &str) -> Value {
    (0..count).map(|i| (key(i), json!(value))).collect::<serde_json::Map<_, _>>().into()
}

/// A text of `count` characters.
pub fn text(count: usize) -> Value {
    json!("a".repeat(count))
}

/// `/aaaa…` of `count` characters.
pub fn path(count: usize) -> Value {
    json!(format!("/{}", "a".repeat(count - 1)))
}

pub fn fields<const N: usize>(set: [(&str, Value); N]) -> Fields {
    set.into_iter().map(|(at, value)| (at.to_owned(), value)).collect()
}

impl Pair {
    pub fn on(kinds: &[Kind], at: &str, bound: Bound) -> Self {
        // A refusal at the root has no path.
        let indexed = if at.is_empty() { "<nil>".to_owned() } else { at.replace("[]", "[0]") };
        Self {
            kinds: kinds.to_vec(),
            at: at.to_owned(),
            message: bound.refusal(),
            field: indexed,
            bound,
            refused: Vec::new(),
            accepted: Vec::new(),
        }
    }

    /// An enum: every value that it lists is accepted, another is refused.
    pub fn choice(kinds: &[Kind], at: &str, values: &[&str]) -> Self {
        let bound = Bound::Enum(values.iter().map(|&v| v.to_owned()).collect());
        let pair = Self::on(kinds, at, bound).refuse(json!("Bogus"));
        values.iter().fold(pair, |pair, &value| pair.accept(json!(value)))
    }

    /// The least and the greatest integer.
    pub fn range(kinds: &[Kind], at: &str, least: i64, greatest: Option<i64>) -> Vec<Self> {
        let minimum = Self::on(kinds, at, Bound::Minimum(least));
        let maximum = |most| {
            Self::on(kinds, at, Bound::Maximum(most)).refuse(json!(most + 1)).accept(json!(most))
        };
        let minimum = minimum.refuse(json!(least - 1)).accept(json!(least));
        std::iter::once(minimum).chain(greatest.map(maximum)).collect()
    }

    /// The most items of a list.
    pub fn items(kinds: &[Kind], at: &str, most: usize, item: impl Fn(usize) -> Value) -> Self {
        let pair = Self::on(kinds, at, Bound::MaxItems(most as i64));
        pair.refuse(many(most + 1, &item)).accept(many(most, &item))
    }

    /// The most characters of a text made by `text`.
    pub fn length(kinds: &[Kind], at: &str, most: usize, text: impl Fn(usize) -> Value) -> Self {
        let pair = Self::on(kinds, at, Bound::MaxLength(most as i64));
        pair.refuse(text(most + 1)).accept(text(most))
    }

    pub fn refuse(self, value: Value) -> Self {
        let at = self.at.clone();
        self.refuse_fields(vec![(at, value)])
    }

    pub fn accept(self, value: Value) -> Self {
        let at = self.at.clone();
        self.accept_fields(vec![(at, value)])
    }

    pub fn refuse_all<const N: usize>(self, values: [&str; N]) -> Self {
        values.into_iter().fold(self, |pair, value| pair.refuse(json!(value)))
    }

    pub fn accept_all<const N: usize>(self, values: [&str; N]) -> Self {
        values.into_iter().fold(self, |pair, value| pair.accept(json!(value)))
    }

    pub fn refuse_fields(mut self, set: Fields) -> Self {
        self.refused.push(Case { before: None, set });
        self
    }

    pub fn accept_fields(mut self, set: Fields) -> Self {
        self.accepted.push(Case { before: None, set });
        self
    }

    pub fn refuse_change(mut self, before: Fields, set: Fields) -> Self {
        self.refused.push(Case { before: Some(before), set });
        self
    }

    pub fn accept_change(mut self, before: Fields, set: Fields) -> Self {
        self.accepted.push(Case { before: Some(before), set });
        self
    }

    /// The path that the refusal names, where it is not the constraint's own.
    pub fn field(mut self, field: &str) -> Self {
        field.clone_into(&mut self.field);
        self
    }

    pub fn constraints(&self) -> impl Iterator<Item = Constraint> + '_ {
        self.kinds.iter().map(|&kind| Constraint {
            kind,
            at: self.at.clone(),
            bound: self.bound.clone(),
        })
    }
}

impl Bound {
    /// What a real API server says when it refuses a field for this bound, after the field's name.
    fn refusal(&self) -> String {
        match self {
            Self::MaxLength(n) => format!("Too long: may not be more than {n} bytes"),
            Self::MinLength(n) => format!("in body should be at least {n} chars long"),
            Self::MinItems(n) => format!("in body should have at least {n} items"),
            Self::MaxItems(n) | Self::MaxProperties(n) => format!("must have at most {n} items"),
            Self::Minimum(n) => format!("in body should be greater than or equal to {n}"),
            Self::Maximum(n) => format!("in body should be less than or equal to {n}"),
            Self::Pattern(text) => format!("in body should match '{text}'"),
            Self::Enum(values) => {
                let quoted: Vec<_> = values.iter().map(|v| format!("\"{v}\"")).collect();
                format!("Unsupported value: \"Bogus\": supported values: {}", quoted.join(", "))
            }
            Self::Rule(message) => message.clone(),
        }
    }
}
