use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::invalid::Invalid;
use super::quantity::Quantity;

/// A quantity as the user wrote it, an integer or a text, not parsed yet.
///
/// Writes back exactly what it read, so that GitOps sees no difference. Its schema is that of
/// [`Quantity`], which [`parse`](Self::parse) turns it into.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RawQuantity {
    /// A JSON integer.
    Int(i64),
    /// A JSON string, whatever is in it.
    Text(String),
}

impl RawQuantity {
    /// The quantity that was written, or what is wrong with it.
    pub fn parse(&self) -> Result<Quantity, Invalid> {
        match self {
            Self::Int(int) => Ok(Quantity::from_int(*int)),
            Self::Text(text) => text.parse(),
        }
    }
}

impl From<i64> for RawQuantity {
    fn from(int: i64) -> Self {
        Self::Int(int)
    }
}

impl From<&str> for RawQuantity {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for RawQuantity {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Quantity> for RawQuantity {
    fn from(quantity: Quantity) -> Self {
        quantity.into_raw()
    }
}

impl fmt::Display for RawQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => fmt::Display::fmt(int, f),
            Self::Text(text) => f.pad(text),
        }
    }
}

impl Serialize for RawQuantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(int) => serializer.serialize_i64(*int),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RawQuantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for RawQuantity {
    fn inline_schema() -> bool {
        Quantity::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Quantity::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Quantity::json_schema(generator)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = RawQuantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer or a quantity such as \"512Mi\"")
    }

    fn visit_i64<E: de::Error>(self, int: i64) -> Result<RawQuantity, E> {
        Ok(RawQuantity::Int(int))
    }

    fn visit_u64<E: de::Error>(self, int: u64) -> Result<RawQuantity, E> {
        i64::try_from(int).map(RawQuantity::Int).map_err(|_| {
            E::custom(format!("{int} is too large: the largest integer is {}", i64::MAX))
        })
    }

    // Exact to the reader, not to a float: 0.1 would already be another number here.
    fn visit_f64<E: de::Error>(self, float: f64) -> Result<RawQuantity, E> {
        Err(E::custom(format!(
            "{float:?} is a floating-point number: put it in quotes, \"{float:?}\""
        )))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RawQuantity, E> {
        Ok(text.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn writes_back_what_it_read() {
        for json in
            [json!(0), json!(-5), json!(i64::MAX), json!("512Mi"), json!("0"), json!("bogus")]
        {
            let raw: RawQuantity = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(serde_json::to_value(&raw).unwrap(), json);
        }
    }

    #[test]
    fn refuses_other_json() {
        let error =
            |json: Value| serde_json::from_value::<RawQuantity>(json).unwrap_err().to_string();
        assert!(error(json!(1.5)).contains("put it in quotes, \"1.5\""));
        assert!(error(json!(u64::MAX)).contains("is too large"));
        assert!(error(json!(true)).contains("expected an integer or a quantity"));
        assert!(error(json!(null)).contains("expected an integer or a quantity"));
    }

    #[test]
    fn parses_later() {
        assert_eq!(RawQuantity::from(3).parse().unwrap().value(), 3);
        assert_eq!(RawQuantity::from("1Ki").parse().unwrap().value(), 1024);
        assert!(RawQuantity::from("bogus").parse().is_err());
    }
}
