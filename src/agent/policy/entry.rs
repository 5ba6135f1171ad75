//! How entries of the lists in agent.yaml are read: a text, or a map where a text says too little.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, Visitor};

use crate::api::grammar::Invalid;

/// Gives a type with `FromStr<Err = Invalid>` its `Deserialize`.
macro_rules! entry {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Gives a type that is an [`Entry`](super::entry::Entry) its `Deserialize`.
macro_rules! short_or_long {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($crate::agent::policy::entry::EntryVisitor::new())
            }
        }
    };
}

pub(super) use {entry, short_or_long};

/// An entry that is either a text or a map.
pub trait Entry: Sized {
    /// Both forms, for who wrote neither.
    const FORMS: &'static str;
    /// The map.
    type Long: DeserializeOwned;

    /// From a text.
    fn short(text: &str) -> Result<Self, Invalid>;

    /// From a map.
    fn long(long: Self::Long) -> Self;
}

/// Reads an [`Entry`].
pub struct EntryVisitor<T>(PhantomData<T>);

impl<T> EntryVisitor<T> {
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Entry> Visitor<'de> for EntryVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::FORMS)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::short(text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::Long::deserialize(MapAccessDeserializer::new(map)).map(T::long)
    }
}

/// A list or map that may be left empty in the document, as when all below its key is a comment.
pub fn or_empty<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// `true` or `false`, and no text that looks like one.
pub fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct Truth;

    impl Visitor<'_> for Truth {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("true or false")
        }

        fn visit_bool<E>(self, truth: bool) -> Result<bool, E> {
            Ok(truth)
        }
    }

    deserializer.deserialize_any(Truth)
}
