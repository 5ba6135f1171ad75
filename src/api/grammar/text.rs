//! What all newtypes over a text share.

/// Gives a struct with a field `text: String` and `FromStr<Err = Invalid>` its accessor, `Display`,
/// serde as a string, and the schema of its `MAX_CHARS` and `rules()`.
macro_rules! text_type {
    ($name:ident) => {
        impl $name {
            /// The text as it was given.
            pub fn as_str(&self) -> &str {
                &self.text
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.text)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        $crate::api::grammar::text::text_schema!($name);
    };
}

/// Gives a type the inline schema of its `MAX_CHARS` and `rules()`.
macro_rules! text_schema {
    ($name:ident) => {
        impl schemars::JsonSchema for $name {
            // A CRD has no `$ref`.
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::api::grammar::schema::string(Self::MAX_CHARS, &Self::rules())
            }
        }
    };
}

pub(super) use {text_schema, text_type};
