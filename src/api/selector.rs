//! The schema of a label selector, and the same as a check: what Kubernetes' own API checks of one, in a custom resource.
//!
//! A selector that nothing can honour must not be stored: `namespaceSelector` says who may run on a
//! host at all.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::field_error::FieldError;
use super::grammar::Form;

/// Stands for [`LabelSelector`] in schemas.
pub struct Selector;

static KEY: Form = Form::new(
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?\
                   [A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$",
    "must be a label key such as zone or example.com/zone",
);
static VALUE: Form = Form::new(
    "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
    "must be label values: at most 63 letters, digits, '-', '_' and '.', with a \
     letter or digit at both ends",
);
const VALUES_MESSAGE: &str = "In and NotIn need values, Exists and DoesNotExist take none";

impl Selector {
    /// All that is wrong with a selector, which stands at `path`.
    pub fn check(selector: &LabelSelector, path: &str) -> Vec<FieldError> {
        let mut found = Vec::new();
        let at = format!("{path}.matchLabels");
        for (key, value) in selector.match_labels.iter().flatten() {
            if !KEY.fits(key) {
                found.push(FieldError::new(&at, format!("keys {}", KEY.message())));
            }
            if !VALUE.fits(value) {
                found.push(FieldError::new(format!("{at}[{key}]"), VALUE.message()));
            }
        }
        for (i, one) in selector.match_expressions.iter().flatten().enumerate() {
            let at = |field: &str| format!("{path}.matchExpressions[{i}].{field}");
            let LabelSelectorRequirement { key, operator, values } = one;
            if !KEY.fits(key) {
                found.push(FieldError::new(at("key"), KEY.message()));
            }
            let values = values.as_deref().unwrap_or_default();
            if ["In", "NotIn"].contains(&operator.as_str()) == values.is_empty() {
                found.push(FieldError::new(at("values"), VALUES_MESSAGE));
            }
            if !values.iter().all(|value| VALUE.fits(value)) {
                found.push(FieldError::new(at("values"), VALUE.message()));
            }
        }
        found
    }
}

impl JsonSchema for Selector {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Selector".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let values_fit = "self.operator in ['In', 'NotIn'] ? has(self.values) && self.values.size() > 0 \
                          : !has(self.values) || self.values.size() == 0";
        json_schema!({
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "properties": {
                "matchLabels": {
                    "description": "Labels that must be there with just these values.",
                    "type": "object",
                    "maxProperties": 64,
                    "additionalProperties": { "type": "string", "maxLength": 63 },
                    "x-kubernetes-validations": [
                        {
                            "rule": format!("self.all(k, k.size() <= 317 && k.matches(r'{}'))", KEY.pattern()),
                            "message": format!("keys {}", KEY.message()),
                        },
                        {
                            "rule": format!("self.all(k, self[k].matches(r'{}'))", VALUE.pattern()),
                            "message": VALUE.message(),
                        },
                    ],
                },
                "matchExpressions": {
                    "description": "Further conditions, all of which must hold.",
                    "type": "array",
                    "x-kubernetes-list-type": "atomic",
                    "maxItems": 64,
                    "items": {
                        "type": "object",
                        "required": ["key", "operator"],
                        "x-kubernetes-validations": [{
                            "rule": values_fit,
                            "message": VALUES_MESSAGE,
                            "fieldPath": ".values",
                        }],
                        "properties": {
                            "key": {
                                "description": "Key of the label.",
                                "type": "string",
                                "maxLength": 317,
                                "x-kubernetes-validations": [{
                                    "rule": format!("self.matches(r'{}')", KEY.pattern()),
                                    "message": KEY.message(),
                                }],
                            },
                            "operator": {
                                "description": "How the label is compared: `In` and `NotIn` with `values`, \
                                                `Exists` and `DoesNotExist` without.",
                                "type": "string",
                                "enum": ["In", "NotIn", "Exists", "DoesNotExist"],
                            },
                            "values": {
                                "description": "Values to compare with.",
                                "type": "array",
                                "x-kubernetes-list-type": "atomic",
                                "maxItems": 64,
                                "items": { "type": "string", "maxLength": 63 },
                                "x-kubernetes-validations": [{
                                    "rule": format!("self.all(v, v.matches(r'{}'))", VALUE.pattern()),
                                    "message": VALUE.message(),
                                }],
                            },
                        },
                    },
                },
            },
        })
    }
}
