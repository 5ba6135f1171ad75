//! Pairs of names, and of the kinds with little in them.

use serde_json::json;

use super::grammar::{data_key, dns_label, moment, selector};
use crate::schema::kind::Kind::{
    Host, StoragePool, Template, TemplateRevision, Volume, VolumeTask, Workspace, WorkspaceRecord,
    WorkspaceRun,
};
use crate::schema::pair::{Bound, Pair, fields, rule, text};

pub fn pairs() -> Vec<Pair> {
    [names(), template(), task(), record(), pool(), moments()].concat()
}

/// Every time that is in a status or a record.
fn moments() -> Vec<Pair> {
    let conditions =
        [Workspace, Volume, Template, TemplateRevision, Host, StoragePool, WorkspaceRun];
    let mut pairs = moment(&conditions, "status.conditions[].lastTransitionTime");
    for at in ["status.startedAt", "status.finishedAt", "status.nextRetryAt"] {
        pairs.extend(moment(&[Workspace, WorkspaceRun], at));
    }
    pairs.extend(moment(&[Workspace], "status.expiresAt"));
    pairs.extend(moment(&[WorkspaceRun], "status.steps[].at"));
    pairs.extend(moment(&[VolumeTask], "status.finishedAt"));
    pairs.extend(moment(&[WorkspaceRecord], "spec.createdAt"));
    pairs.extend(moment(&[WorkspaceRecord], "spec.deletedAt"));
    pairs
}

fn names() -> Vec<Pair> {
    let name = |name: &str| fields([("metadata.name", json!(name))]);
    let long = |count| fields([("metadata.name", text(count))]);
    vec![
        Pair::on(
            &[Workspace, Volume, Template],
            "",
            rule("metadata.name must be a DNS label: at most 63 lower-case letters, digits and '-', with a letter or digit at both ends"),
        )
        .refuse_fields(name("a.b"))
        .refuse_fields(long(64))
        .accept_fields(name("a-b"))
        .accept_fields(long(63)),
        Pair::on(
            &[Host],
            "",
            rule("metadata.name must be a DNS label of at most 50 characters, so that the namespace kibotos-host-<name> fits: lower-case letters, digits and '-', with a letter or digit at both ends"),
        )
        .refuse_fields(name("edge.example"))
        .refuse_fields(long(51))
        .accept_fields(name("edge-1"))
        .accept_fields(long(50)),
        Pair::on(&[StoragePool], "", rule("metadata.name local is taken: the pool of that name is always there"))
            .refuse_fields(name("local"))
            .accept_fields(name("local.nfs")),
    ]
}

fn template() -> Vec<Pair> {
    let revision = |template: &str, revision: &str, name: &str| {
        fields([
            ("metadata.name", json!(name)),
            ("spec.templateName", json!(template)),
            ("spec.revision", json!(revision)),
        ])
    };
    let mut pairs = vec![
        Pair::on(
            &[TemplateRevision],
            "",
            rule("metadata.name must be spec.templateName, '-', and spec.revision"),
        )
        .refuse_fields(revision("base", "v1", "base"))
        .refuse_fields(revision("base", "v1", "base-v2"))
        .refuse_fields(revision("base", "v1", "base.v1"))
        .accept_fields(revision("base", "v1", "base-v1")),
        Pair::on(&[TemplateRevision], "spec", rule("a revision needs an image"))
            .field("spec.container.image")
            .refuse_fields(fields([("spec.container", json!({ "args": ["a"] }))]))
            .accept_fields(fields([("spec.container", json!({ "image": "app" }))])),
        Pair::on(
            &[TemplateRevision],
            "spec",
            rule("a TemplateRevision is immutable: publish another revision"),
        )
        .refuse_change(vec![], fields([("spec.container.image", json!("app:2"))]))
        .refuse_change(vec![], fields([("spec.container.tty", json!(true))]))
        .refuse_change(vec![], fields([("spec.resources.limits.memory", json!("1Gi"))]))
        .accept_change(vec![], fields([("metadata.labels", json!({ "a": "b" }))])),
    ];
    pairs.extend(dns_label(&[Template], "spec.defaultRevision"));
    // A revision's name follows from these two, so the manifest that bears them has one.
    for (field, other) in [("templateName", "revision"), ("revision", "templateName")] {
        let at = format!("spec.{field}");
        for mut pair in dns_label(&[TemplateRevision], &at) {
            for case in &mut pair.accepted {
                let value = case.set[0].1.as_str().unwrap().to_owned();
                let name =
                    if field == "revision" { format!("x-{value}") } else { format!("{value}-x") };
                case.set.push((format!("spec.{other}"), json!("x")));
                case.set.push(("metadata.name".to_owned(), json!(name)));
            }
            pairs.push(pair);
        }
    }
    pairs
}

fn task() -> Vec<Pair> {
    let kinds = &[VolumeTask];
    let mut pairs = vec![
        Pair::choice(kinds, "spec.action", &["Remove"]),
        Pair::choice(kinds, "status.phase", &["Pending", "Running", "Succeeded", "Failed"]),
        Pair::on(kinds, "spec", rule("a VolumeTask is immutable"))
            .refuse_change(vec![], fields([("spec.driver", json!("nfs"))]))
            .refuse_change(vec![], fields([("spec.volume.uid", json!("u-2"))]))
            .accept_change(vec![], fields([("metadata.labels", json!({ "a": "b" }))])),
    ];
    pairs.extend(dns_label(kinds, "spec.volume.name"));
    pairs
}

fn record() -> Vec<Pair> {
    let kinds = &[WorkspaceRecord];
    let named = |uid: &str, name: &str| {
        fields([("spec.workspaceUid", json!(uid)), ("metadata.name", json!(name))])
    };
    let long = "a".repeat(253);
    vec![
        Pair::choice(kinds, "spec.phase", &["Deleted"]),
        Pair::on(kinds, "", rule("metadata.name must be spec.workspaceUid"))
            .refuse_fields(named("u-1", "u-2"))
            .accept_fields(named("u-1", "u-1")),
        Pair::on(kinds, "spec.workspaceUid", Bound::MaxLength(253))
            .refuse(text(254))
            .accept_fields(named(&long, &long)),
        Pair::on(kinds, "spec", rule("a WorkspaceRecord is immutable"))
            .refuse_change(vec![], fields([("spec.message", json!("rewritten"))]))
            .refuse_change(vec![], fields([("spec.runGeneration", json!(4))]))
            .accept_change(vec![], fields([("metadata.labels", json!({ "a": "b" }))])),
    ]
}

fn pool() -> Vec<Pair> {
    let mut pairs = selector(&[Host], "spec.namespaceSelector");
    pairs.extend(selector(&[StoragePool], "spec.hostSelector"));
    pairs.extend([
        Pair::on(&[StoragePool], "spec.driver", Bound::MinLength(1))
            .refuse(json!(""))
            .accept(json!("x")),
        Pair::choice(&[Host], "spec.mode", &["Active", "Cordoned", "Restricted"]),
    ]);
    pairs
}

/// The keys of a run's config file, which only a run has.
pub fn config_secret() -> Vec<Pair> {
    data_key(&[WorkspaceRun], "spec.configFile.key")
}
