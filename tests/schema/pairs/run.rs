//! Pairs of WorkspaceRun alone.

use serde_json::json;

use super::grammar::{absolute_path, dns_label, image, object_name};
use super::kinds::config_secret;
use crate::schema::kind::Kind::WorkspaceRun;
use crate::schema::pair::{Bound, Fields, Pair, fields, rule};

pub fn pairs() -> Vec<Pair> {
    let kinds = &[WorkspaceRun];
    let mut pairs = immutable();
    pairs.extend(desired());
    pairs.extend(resolved());
    pairs.extend(config_secret());
    pairs.extend(Pair::range(kinds, "spec.sequence", 1, None));
    pairs.extend(Pair::range(kinds, "spec.generation", 1, None));
    pairs.extend(dns_label(kinds, "spec.workspace.namespace"));
    pairs.extend(dns_label(kinds, "spec.workspace.name"));
    pairs.extend(object_name(kinds, "spec.secretName"));
    pairs.extend(object_name(kinds, "spec.configFile.secretName"));
    pairs.extend(image(kinds, "spec.prefetch.image"));
    pairs.extend(object_name(kinds, "spec.prefetch.secretName"));
    pairs.extend(absolute_path(kinds, "spec.mounts[].path"));
    pairs.extend(dns_label(kinds, "spec.mounts[].volume.name"));
    let mount = |i: usize| json!({ "volume": { "name": "data", "uid": "u-1" }, "driver": "local", "path": format!("/m{i}") });
    pairs.push(Pair::items(kinds, "spec.mounts", 16, mount));
    pairs.push(
        Pair::on(kinds, "spec.configFile.sha256", Bound::Pattern("^[0-9a-f]{64}$".to_owned()))
            .refuse(json!("A".repeat(64)))
            .refuse(json!("0".repeat(63)))
            .refuse(json!("0".repeat(65)))
            .accept(json!("0123456789abcdef".repeat(4))),
    );
    pairs.extend(restart_policy());
    pairs.extend(status());
    pairs
}

/// What is set and then changed, taken away, or added is refused; what stays is accepted.
fn fixed(field: &str, message: &str, before: Fields, changes: Vec<Fields>) -> Pair {
    let pair = Pair::on(&[WorkspaceRun], "spec", rule(message)).field(field);
    let pair = pair.accept_change(before.clone(), before.clone());
    changes.into_iter().fold(pair, |pair, change| pair.refuse_change(before.clone(), change))
}

fn immutable() -> Vec<Pair> {
    let one = |at: &str, value| fields([(at, value)]);
    let optional = |at: &str, message: &str, a: serde_json::Value, b: serde_json::Value| {
        fixed(at, message, one(at, a.clone()), vec![one(at, b), one(at, json!(null))])
            .refuse_change(vec![], one(at, a))
    };
    let mounts = |path: &str| json!([{ "volume": { "name": "data", "uid": "u-1" }, "driver": "local", "path": path }]);
    let newer = "is immutable: a change takes a new run";
    vec![
        fixed(
            "spec.workspace",
            "workspace is immutable",
            vec![],
            vec![
                one("spec.workspace.uid", json!("u-2")),
                one("spec.workspace.name", json!("other")),
            ],
        ),
        fixed(
            "spec.sequence",
            "sequence is immutable",
            vec![],
            vec![one("spec.sequence", json!(2))],
        ),
        fixed(
            "spec.generation",
            "generation is immutable",
            vec![],
            vec![one("spec.generation", json!(2))],
        ),
        fixed(
            "spec.container",
            &format!("container {newer}"),
            vec![],
            vec![
                one("spec.container.image", json!("app:2")),
                one("spec.container.tty", json!(true)),
            ],
        ),
        fixed(
            "spec.writableLayer",
            &format!("writableLayer {newer}"),
            vec![],
            vec![
                one("spec.writableLayer.retention", json!("Discard")),
                one("spec.writableLayer.size", json!("1Gi")),
            ],
        ),
        fixed(
            "spec.specHash",
            "specHash is immutable",
            vec![],
            vec![one("spec.specHash", json!("1:01"))],
        ),
        optional("spec.mounts", &format!("mounts {newer}"), mounts("/a"), mounts("/b")),
        optional("spec.secretName", "secretName is immutable", json!("a"), json!("b")),
        optional(
            "spec.previous",
            "previous is immutable",
            json!({ "containerId": "1" }),
            json!({ "containerId": "1", "startedAt": "2026-01-02T03:04:05Z" }),
        ),
    ]
}

fn desired() -> Vec<Pair> {
    let kinds = &[WorkspaceRun];
    let is = |state: &str| fields([("spec.desired", json!(state))]);
    let moves = "desired moves only forward: Running, Stopped, Removed";
    vec![
        Pair::choice(kinds, "spec.desired", &["Running", "Stopped", "Removed"]),
        Pair::on(kinds, "spec", rule(moves))
            .field("spec.desired")
            .refuse_change(is("Stopped"), is("Running"))
            .refuse_change(is("Removed"), is("Stopped"))
            .refuse_change(is("Removed"), is("Running"))
            .accept_change(is("Running"), is("Stopped"))
            .accept_change(is("Stopped"), is("Removed"))
            .accept_change(is("Running"), is("Removed"))
            .accept_change(is("Removed"), is("Removed")),
    ]
}

/// What the controller resolves before it makes a run.
fn resolved() -> Vec<Pair> {
    let on = |message, field: &str| Pair::on(&[WorkspaceRun], "spec", rule(message)).field(field);
    let container = |value| fields([("spec.container", value)]);
    vec![
        on("a run needs an image", "spec.container.image")
            .refuse_fields(container(json!({ "args": ["a"] })))
            .accept_fields(container(json!({ "image": "app" }))),
        on(
            "in a run restartPolicy stands beside container, where it can change",
            "spec.container.restartPolicy",
        )
        .refuse_fields(fields([("spec.container.restartPolicy", json!({ "name": "always" }))]))
        .accept_fields(fields([("spec.restartPolicy", json!({ "name": "always" }))])),
        on("in a run envFrom is resolved into env", "spec.container.envFrom")
            .refuse_fields(fields([(
                "spec.container.envFrom",
                json!([{ "secretRef": { "name": "a" } }]),
            )]))
            .accept_fields(fields([(
                "spec.container.env",
                json!([{ "name": "A", "value": "b" }]),
            )])),
    ]
}

fn restart_policy() -> Vec<Pair> {
    let kinds = &[WorkspaceRun];
    let mut pairs = vec![
        Pair::choice(
            kinds,
            "spec.restartPolicy.name",
            &["no", "always", "unless-stopped", "on-failure"],
        ),
        Pair::on(
            kinds,
            "spec.restartPolicy",
            rule("maximumRetryCount goes with name on-failure only"),
        )
        .field("spec.restartPolicy.maximumRetryCount")
        .refuse(json!({ "name": "always", "maximumRetryCount": 3 }))
        .accept(json!({ "name": "on-failure", "maximumRetryCount": 3 })),
    ];
    pairs.extend(Pair::range(kinds, "spec.restartPolicy.maximumRetryCount", 0, None));
    pairs
}

fn status() -> Vec<Pair> {
    let kinds = &[WorkspaceRun];
    let phases = &[
        "Pending", "Pulling", "Creating", "Running", "Stopping", "Exited", "Failed", "Removed",
        "Unknown",
    ];
    let step = |_| json!({ "name": "Pull", "outcome": "Started", "at": "2026-01-02T03:04:05Z" });
    vec![
        Pair::choice(kinds, "status.phase", phases),
        Pair::choice(kinds, "status.steps[].outcome", &["Started", "Succeeded", "Failed"]),
        Pair::items(kinds, "status.steps", 32, step),
    ]
}
