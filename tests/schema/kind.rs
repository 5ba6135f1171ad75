//! The kinds, each with the least manifest that is accepted.

use serde_json::{Value, json};

/// The kinds of `kibotos.dev/v1alpha1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Workspace,
    Volume,
    Template,
    TemplateRevision,
    Host,
    StoragePool,
    WorkspaceRun,
    VolumeTask,
    WorkspaceRecord,
}

use Kind::*;

/// The kinds whose spec has a `container`.
pub const CONTAINER: &[Kind] = &[Workspace, TemplateRevision, WorkspaceRun];
/// The kinds that say how one container is run and stopped.
pub const RUNNABLE: &[Kind] = &[Workspace, WorkspaceRun];

impl Kind {
    pub const ALL: &[Self] = &[
        Workspace,
        Volume,
        Template,
        TemplateRevision,
        Host,
        StoragePool,
        WorkspaceRun,
        VolumeTask,
        WorkspaceRecord,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Workspace => "Workspace",
            Volume => "Volume",
            Template => "Template",
            TemplateRevision => "TemplateRevision",
            Host => "Host",
            StoragePool => "StoragePool",
            WorkspaceRun => "WorkspaceRun",
            VolumeTask => "VolumeTask",
            WorkspaceRecord => "WorkspaceRecord",
        }
    }

    pub fn of(name: &str) -> Self {
        *Self::ALL.iter().find(|k| k.name() == name).unwrap_or_else(|| panic!("no kind {name}"))
    }

    pub fn plural(self) -> String {
        format!("{}s", self.name().to_lowercase())
    }

    pub fn namespaced(self) -> bool {
        !matches!(self, Template | TemplateRevision | Host | StoragePool)
    }

    /// The least manifest of this kind that is accepted, under a name unique to `tag`.
    pub fn least(self, tag: &str) -> Value {
        let uid = "7d0ad9a8-5c1b-4b5e-9d1c-0a9b8c7d6e5f";
        let (name, spec) = match self {
            Workspace => (tag.to_owned(), json!({ "container": { "image": "app:1" } })),
            Volume | Host => (tag.to_owned(), json!({})),
            Template => (tag.to_owned(), json!({ "defaultRevision": "v1" })),
            TemplateRevision => (
                format!("{tag}-v1"),
                json!({ "templateName": tag, "revision": "v1", "container": { "image": "app:1" } }),
            ),
            StoragePool => (tag.to_owned(), json!({ "driver": "local" })),
            WorkspaceRun => (
                tag.to_owned(),
                json!({
                    "workspace": { "namespace": "default", "name": "web", "uid": uid },
                    "sequence": 1,
                    "generation": 1,
                    "desired": "Running",
                    "container": { "image": "app:1" },
                    "specHash": "1:00",
                }),
            ),
            VolumeTask => (
                tag.to_owned(),
                json!({
                    "volume": { "name": "data", "uid": uid },
                    "driver": "local",
                    "action": "Remove",
                }),
            ),
            WorkspaceRecord => (
                tag.to_owned(),
                json!({
                    "workspaceName": "web",
                    "workspaceUid": tag,
                    "runGeneration": 3,
                    "createdAt": "2026-01-02T03:04:05Z",
                    "deletedAt": "2026-02-03T04:05:06Z",
                    "reason": "Deleting",
                }),
            ),
        };
        json!({
            "apiVersion": "kibotos.dev/v1alpha1",
            "kind": self.name(),
            "metadata": { "name": name },
            "spec": spec,
        })
    }
}
