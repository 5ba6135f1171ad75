//! What is left of a spec without the fields that are wrong, so that one run can tell what is wrong
//! with the others.

use serde_json::Value;

use crate::api::field_error::FieldError;

/// Fields of a spec that are known to be wrong, by their paths: each is one of the spec or of its
/// container, for what is wrong within it may change what all of it means.
#[derive(Debug, Default)]
pub struct Wrong(Vec<String>);

impl Wrong {
    /// Takes note of errors. Whether any of them was not known before.
    pub fn note(&mut self, errors: &[FieldError]) -> bool {
        let before = self.0.len();
        for error in errors {
            if let Some(field) = field(&error.path)
                && !self.0.iter().any(|known| known == field)
            {
                self.0.push(field.to_owned());
            }
        }
        self.0.len() > before
    }

    /// Whether an error may come of the fields that were left out: it is within one of them, or
    /// above one and names it.
    pub fn explains(&self, error: &FieldError) -> bool {
        self.0.iter().any(|known| {
            let name = known.rsplit('.').next().unwrap_or(known);
            within(&error.path, known) || within(known, &error.path) && error.message.contains(name)
        })
    }

    /// The spec without them.
    pub fn left_out_of(&self, spec: &Value) -> Value {
        let mut spec = spec.clone();
        for field in &self.0 {
            let (parent, name) = match field.strip_prefix("spec.container.") {
                Some(name) => (spec.get_mut("container"), name),
                None => (Some(&mut spec), field.strip_prefix("spec.").unwrap_or(field)),
            };
            if let Some(parent) = parent.and_then(Value::as_object_mut) {
                parent.remove(name);
            }
        }
        spec
    }
}

/// `spec.container.ports` of `spec.container.ports[0].hostPort`; none above fields of a spec.
fn field(path: &str) -> Option<&str> {
    let begins = |prefix: &str| path.starts_with(prefix).then_some(prefix.len());
    let begin = begins("spec.container.").or_else(|| begins("spec."))?;
    let end = path.get(begin..)?.find(['.', '[']).map_or(path.len(), |end| begin + end);
    path.get(..end)
}

fn within(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_left_out_and_explains_what_follows_of_it() {
        let error = |path: &str| FieldError::new(path, "wrong");
        let mut wrong = Wrong::default();
        assert!(wrong.note(&[
            error("spec.container.ports[0].x"),
            error("spec.volume"),
            error("spec")
        ]));
        assert!(!wrong.note(&[error("spec.container.ports[1]"), error("metadata.name")]));
        let spec = json!({ "container": { "ports": [], "image": "a" }, "volume": {}, "stop": {} });
        assert_eq!(wrong.left_out_of(&spec), json!({ "container": { "image": "a" }, "stop": {} }));
        for (path, message, explained) in [
            ("spec", "set exactly one of volume and x", true),
            ("spec", "set exactly one of template and container.image", false),
            ("spec.volume.mode", "wrong", true),
            ("spec.container.ports", "wrong", true),
            ("spec.container.portsX", "wrong", false),
            ("spec.container.image", "wrong", false),
        ] {
            let error = FieldError::new(path, message);
            assert_eq!(wrong.explains(&error), explained, "{path} {message}");
        }
    }
}
