//! YAML as it is written for readers of YAML 1.1, as Kubernetes' own is.

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_saphyr::{DoubleQuoted, SerializeError};

/// A value as one document, without the line `---`.
pub fn to_string(value: &Value) -> Result<String, SerializeError> {
    serde_saphyr::to_string(&Written(value))
}

/// A value as it is written: a text that a block would open with a tab goes in quotes, for which
/// Kubernetes' reader takes it as indentation.
struct Written<'a>(&'a Value);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                serializer.collect_map(members.iter().map(|(key, value)| (key, Self(value))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Self)),
            Value::String(text) if opens_with_tab(text) => DoubleQuoted(text).serialize(serializer),
            other => other.serialize(serializer),
        }
    }
}

fn opens_with_tab(text: &str) -> bool {
    let first = text.lines().find(|line| !line.is_empty()).unwrap_or_default();
    let indent = first.split(|c: char| !c.is_whitespace()).next().unwrap_or_default();
    text.contains('\n') && indent.contains('\t')
}
