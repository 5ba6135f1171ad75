//! Template and TemplateRevision: system images that a deployer publishes for all namespaces.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::container::Container;
use super::grammar::DnsLabel;
use super::resources::Resources;

/// What a publisher says of a Template.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "Template",
    status = "TemplateStatus",
    shortname = "tpl",
    category = "kibotos",
    doc = "A published system image. Workspaces name it; its revisions say what runs, and one of them is the default.",
    printcolumn(name = "Default", type_ = "string", json_path = ".spec.defaultRevision"),
    printcolumn(name = "Ready", type_ = "string", json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Reason", type_ = "string", priority = 1, json_path = ".status.conditions[?(@.type==\"Ready\")].reason"),
    validation = Rule::new("self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')")
        .message("metadata.name must be a DNS label: at most 63 lower-case letters, digits and '-', with a letter or digit at both ends"),
)]
pub struct TemplateSpec {
    /// The revision, e.g. `v3`, that a Workspace gets which names none. A change touches no
    /// Workspace that exists.
    #[schemars(with = "DnsLabel")]
    pub default_revision: String,
}

/// What is known of a Template.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateStatus {
    /// The `metadata.generation` that this status speaks of.
    pub observed_generation: Option<i64>,
    /// `Ready`, `Reconciling` and `Stalled`. Ready says that the default revision exists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// One revision of a Template: immutable.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, CustomResource, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "kibotos.dev",
    version = "v1alpha1",
    kind = "TemplateRevision",
    status = "TemplateRevisionStatus",
    shortname = "tplrev",
    category = "kibotos",
    doc = "One revision of a Template: what runs in the Workspaces made from it. Immutable; publish the next revision instead.",
    selectable = ".spec.templateName",
    printcolumn(name = "Template", type_ = "string", json_path = ".spec.templateName"),
    printcolumn(name = "Revision", type_ = "string", json_path = ".spec.revision"),
    printcolumn(name = "Image", type_ = "string", json_path = ".spec.container.image"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Ready", type_ = "string", priority = 1, json_path = ".status.conditions[?(@.type==\"Ready\")].status"),
    validation = Rule::new("self.metadata.name == self.spec.templateName + '-' + self.spec.revision")
        .message("metadata.name must be spec.templateName, '-', and spec.revision"),
)]
#[x_kube(
    validation = Rule::new("self == oldSelf")
        .message("a TemplateRevision is immutable: publish another revision"),
    validation = Rule::new("has(self.container.image)")
        .message("a revision needs an image").field_path(".container.image"),
    validation = Rule::new(
        "!(has(self.container.cpuPeriod) || has(self.container.cpuQuota)) \
         || !has(self.resources) || !has(self.resources.limits) || !has(self.resources.limits.cpu)")
        .message("resources.limits.cpu goes with neither container.cpuQuota nor container.cpuPeriod: set one or the other")
        .field_path(".resources.limits.cpu"),
)]
pub struct TemplateRevisionSpec {
    /// Name of the Template.
    #[schemars(with = "DnsLabel")]
    pub template_name: String,
    /// The revision, a DNS label, e.g. `v3`.
    #[schemars(with = "DnsLabel")]
    pub revision: String,
    /// What runs, unless a Workspace says otherwise.
    pub container: Container,
    /// What the container may use, unless a Workspace says otherwise.
    pub resources: Option<Resources>,
}

/// What is known of a TemplateRevision.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateRevisionStatus {
    /// The `metadata.generation` that this status speaks of.
    pub observed_generation: Option<i64>,
    /// `Ready`, `Reconciling` and `Stalled`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
