//! Reads what an engine says, and bears what it says differently from its documentation.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads JSON into a type whose members all have defaults. An engine writes `null` for an empty
/// list or map, and which ones changes with its version: such a member counts as absent.
pub fn read<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    let mut value: Value = serde_json::from_slice(json)?;
    drop_nulls(&mut value);
    T::deserialize(value)
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(drop_nulls);
        }
        _ => {}
    }
}

/// An enumeration of Docker's: what this program does not know yet is kept as it was written.
macro_rules! open_enum {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $each:literal])+ $variant:ident = $text:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[doc = $each])+ $variant,)+
            /// One that an engine newer than this program has.
            Other(String),
        }

        impl $name {
            /// As Docker writes it.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$variant,)+
                    _ => Self::Other(text),
                }
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                match value {
                    $name::Other(text) => text,
                    known => known.as_str().to_owned(),
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(super) use open_enum;
