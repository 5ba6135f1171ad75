//! The schema of a label selector: what Kubernetes' own API checks of one, in a custom resource.
//!
//! A selector that nothing can honour must not be stored: `namespaceSelector` says who may run on a
//! host at all.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Stands for [`LabelSelector`](k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector) in
/// schemas.
pub struct Selector;

const KEY: &str = "^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?\
                   [A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
const VALUE: &str = "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$";
const KEY_MESSAGE: &str = "must be a label key such as zone or example.com/zone";
const VALUE_MESSAGE: &str = "must be label values: at most 63 letters, digits, '-', '_' and '.', with a \
                             letter or digit at both ends";

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
                            "rule": format!("self.all(k, k.size() <= 317 && k.matches(r'{KEY}'))"),
                            "message": format!("keys {KEY_MESSAGE}"),
                        },
                        {
                            "rule": format!("self.all(k, self[k].matches(r'{VALUE}'))"),
                            "message": VALUE_MESSAGE,
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
                            "message": "In and NotIn need values, Exists and DoesNotExist take none",
                            "fieldPath": ".values",
                        }],
                        "properties": {
                            "key": {
                                "description": "Key of the label.",
                                "type": "string",
                                "maxLength": 317,
                                "x-kubernetes-validations": [{
                                    "rule": format!("self.matches(r'{KEY}')"),
                                    "message": KEY_MESSAGE,
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
                                    "rule": format!("self.all(v, v.matches(r'{VALUE}'))"),
                                    "message": VALUE_MESSAGE,
                                }],
                            },
                        },
                    },
                },
            },
        })
    }
}
