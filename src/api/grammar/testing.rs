//! What the tables of this module share.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Invalid;

/// All of `texts` parse, show as given, and survive JSON.
#[track_caller]
pub fn accepts<T>(texts: &[&str])
where
    T: FromStr<Err = Invalid> + Display + Debug + PartialEq + Serialize + DeserializeOwned,
{
    for text in texts {
        let parsed: T = text.parse().unwrap_or_else(|error| panic!("{text:?} refused: {error}"));
        assert_eq!(parsed.to_string(), *text);
        let json = serde_json::to_value(&parsed).unwrap();
        assert_eq!(json, Value::from(*text));
        assert_eq!(serde_json::from_value::<T>(json).unwrap(), parsed);
    }
}

/// Each text is refused with a message that contains what stands beside it, by parser and serde
/// alike.
#[track_caller]
pub fn refuses<T>(cases: &[(&str, &str)])
where
    T: FromStr<Err = Invalid> + Debug + DeserializeOwned,
{
    for (text, fragment) in cases {
        let error = text.parse::<T>().expect_err(text).to_string();
        assert!(error.contains(fragment), "{text:?}: {error:?} lacks {fragment:?}");
        assert!(!error.ends_with('.'), "{error:?}");
        assert!(error.len() < 400, "{error:?}");
        let json = serde_json::from_value::<T>(Value::from(*text)).expect_err(text).to_string();
        assert_eq!(json, error);
    }
}
