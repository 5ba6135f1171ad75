//! Workspaces as YAML, as a user would have written them.

use crate::api::Workspace;
use crate::yaml;
use serde_json::{Map, Value, json};

/// The documents, safe for every reader: what YAML 1.1 would take for something else than a text is
/// in quotes.
pub fn yaml(workspaces: &[Workspace]) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    for workspace in workspaces {
        text.push_str("---\n");
        text.push_str(&yaml::to_string(&plain(workspace)?)?);
    }
    Ok(text)
}

/// A Workspace without what the API server fills in by itself.
pub fn plain(workspace: &Workspace) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(workspace)?;
    if let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) {
        for (key, default) in [("powerState", "Running"), ("update", "Recreate")] {
            drop_default(spec, key, &json!(default));
        }
        within(spec, "writableLayer", &[("retention", json!("UntilRecreated"))]);
        let path = crate::api::names::DEFAULT_MOUNT_PATH;
        within(spec, "volume", &[("mountPath", json!(path))]);
        let ports = spec.get_mut("container").and_then(|c| c.get_mut("ports"));
        for port in ports.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(port) = port.as_object_mut() {
                drop_default(port, "hostIP", &json!(""));
                drop_default(port, "hostPort", &json!(0));
            }
        }
    }
    Ok(value)
}

fn within(spec: &mut Map<String, Value>, key: &str, defaults: &[(&str, Value)]) {
    let Some(object) = spec.get_mut(key).and_then(Value::as_object_mut) else { return };
    for (member, default) in defaults {
        drop_default(object, member, default);
    }
    if object.is_empty() {
        spec.remove(key);
    }
}

fn drop_default(object: &mut Map<String, Value>, key: &str, default: &Value) {
    if object.get(key) == Some(default) {
        object.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::WorkspaceSpec;

    #[test]
    fn a_text_that_yaml_1_1_takes_for_something_else_is_in_quotes() {
        let texts = [
            "no",
            "No",
            "NO",
            "on",
            "off",
            "y",
            "Y",
            "n",
            "yes",
            "true",
            "null",
            "~",
            "",
            "0123",
            "0o17",
            "0x1F",
            "0b11",
            "1:30",
            "190:20:30",
            "1_000",
            "12e03",
            "1.5",
            ".5",
            ".inf",
            ".nan",
            "-1",
            "+1",
            "2024-01-02",
            "2024-01-02T03:04:05Z",
            "<<",
            "=",
            "!x",
            "&a",
            "*a",
            "- a",
            "a: b",
            "a #b",
            "%d",
            "@x",
            "`x",
            "'",
            "\"",
            "{}",
            "[]",
            "?",
            "|",
            ">",
            " x",
            "x ",
            "a\nb",
            "\t",
            "None",
            "é",
        ];
        let mut spec = WorkspaceSpec::default();
        let container = crate::api::Container {
            args: Some(texts.iter().map(|text| (*text).to_owned()).collect()),
            labels: Some(
                texts.iter().map(|text| (format!("k{text}"), (*text).to_owned())).collect(),
            ),
            sysctls: Some(
                texts.iter().map(|text| ((*text).to_owned(), (*text).to_owned())).collect(),
            ),
            ..crate::api::Container::default()
        };
        spec.container = Some(container.clone());
        let text = yaml(&[Workspace::new("x", spec)]).unwrap();
        let back: Workspace = serde_saphyr::from_str(text.trim_start_matches("---\n")).unwrap();
        assert_eq!(back.spec.container.unwrap(), container);
        for word in
            ["no", "on", "y", "0123", "1:30", "190:20:30", "1_000", "off", "n", "2024-01-02", "="]
        {
            let plain = format!("- {word}\n");
            assert!(!text.contains(&plain), "{word} is not in quotes:\n{text}");
        }
    }
}
