//! Pairs of a Workspace's spec outside `container`, and of what it shares with its runs.

use serde_json::json;

use super::grammar::{
    absolute_path, dns_label, duration, host_name, key_ref, moment, object_name, selector, signal,
    size,
};
use super::resources::crossings;
use crate::schema::kind::{Kind, RUNNABLE};
use crate::schema::pair::{Pair, fields, rule, text};

const KINDS: &[Kind] = &[Kind::Workspace];

pub fn pairs() -> Vec<Pair> {
    [
        template(),
        mount_paths(),
        config_file(),
        lifetime(),
        placement(),
        memory_swap(),
        crossings(),
        shared_with_runs(),
        choices(),
    ]
    .concat()
}

fn choices() -> Vec<Pair> {
    let phases = &[
        "Creating",
        "Starting",
        "Available",
        "Stopping",
        "Stopped",
        "Failed",
        "Unknown",
        "Deleting",
    ];
    let mut pairs = vec![
        Pair::choice(KINDS, "spec.powerState", &["Running", "Stopped"]),
        Pair::choice(KINDS, "spec.update", &["Recreate", "OnNextStart"]),
        Pair::choice(KINDS, "status.phase", phases),
        Pair::choice(RUNNABLE, "status.guest", &["Responding", "Unresponsive", "Unknown"]),
        Pair::choice(RUNNABLE, "status.ports[].protocol", &["TCP", "UDP", "SCTP"]),
        Pair::items(KINDS, "spec.imagePullSecrets", 64, |i| json!({ "name": format!("s{i}") })),
    ];
    pairs.extend(object_name(KINDS, "spec.imagePullSecrets[].name"));
    pairs
}

fn template() -> Vec<Pair> {
    let no_image = ("spec.container", json!(null));
    let from = |template| fields([("spec.container", json!(null)), ("spec.template", template)]);
    let fixed = "template is immutable, and so is the choice between template and container.image: make a new Workspace";
    let v1 = || from(json!({ "name": "base", "revision": "v1" }));
    let mut pairs = vec![
        Pair::on(KINDS, "spec", rule("set exactly one of template and container.image"))
            .refuse_fields(fields([no_image.clone()]))
            .refuse_fields(fields([("spec.container", json!({ "args": ["a"] }))]))
            .refuse_fields(fields([("spec.template", json!({ "name": "base" }))]))
            .accept_fields(from(json!({ "name": "base" })))
            .accept_fields(fields([
                ("spec.template", json!({ "name": "base" })),
                ("spec.container", json!({ "args": ["a"] })),
            ]))
            .accept_fields(fields([("spec.container", json!({ "image": "app" }))])),
        Pair::on(KINDS, "spec", rule(fixed))
            .field("spec.template")
            .refuse_change(v1(), from(json!({ "name": "base", "revision": "v2" })))
            .refuse_change(v1(), from(json!({ "name": "base" })))
            .refuse_change(v1(), from(json!({ "name": "other", "revision": "v1" })))
            .refuse_change(from(json!({ "name": "base" })), v1())
            .refuse_change(
                v1(),
                fields([
                    ("spec.template", json!(null)),
                    ("spec.container", json!({ "image": "app" })),
                ]),
            )
            .refuse_change(vec![], v1())
            .accept_change(v1(), v1())
            .accept_change(v1(), fields([("spec.container", json!({ "args": ["a"] }))]))
            .accept_change(vec![], fields([("spec.container.image", json!("app:2"))])),
    ];
    for field in ["spec.template.name", "spec.template.revision"] {
        for mut pair in dns_label(KINDS, field) {
            for case in pair.refused.iter_mut().chain(&mut pair.accepted) {
                case.set.insert(0, ("spec.container".to_owned(), json!(null)));
            }
            pairs.push(pair);
        }
    }
    pairs
}

/// The paths of the Volume and the config file against those of the container's own mounts.
fn mount_paths() -> Vec<Pair> {
    let bind = |to: &str| ("spec.container.binds", json!([format!("/srv/x:{to}:ro")]));
    let mount = |to: &str| ("spec.container.mounts", json!([{ "type": "tmpfs", "target": to }]));
    let tmpfs = |to: &str| ("spec.container.tmpfs", json!({ (to): "" }));
    let none = ("spec.volume.mode", json!("None"));
    let file = || ("spec.configFile", json!({ "content": "", "path": "/etc/app.conf" }));
    vec![
        Pair::on(
            KINDS,
            "spec",
            rule("volume.mountPath is also the path of a mount in container: set volume.mode None, or change one of the paths"),
        )
        .field("spec.volume.mountPath")
        .refuse_fields(fields([bind("/data")]))
        .refuse_fields(fields([mount("/data")]))
        .refuse_fields(fields([tmpfs("/data")]))
        .refuse_fields(fields([("spec.volume.mountPath", json!("/work")), bind("/work")]))
        .accept_fields(fields([bind("/data"), none.clone()]))
        .accept_fields(fields([("spec.volume.mountPath", json!("/work")), bind("/data")]))
        .accept_fields(fields([bind("/data/sub")]))
        .accept_fields(fields([("spec.container.anonymousVolumes", json!(["/data"]))])),
        Pair::on(
            KINDS,
            "spec",
            rule("configFile.path is also the path of a mount in container: change one of the paths"),
        )
        .field("spec.configFile.path")
        .refuse_fields(fields([file(), bind("/etc/app.conf")]))
        .refuse_fields(fields([file(), mount("/etc/app.conf")]))
        .refuse_fields(fields([file(), tmpfs("/etc/app.conf")]))
        .accept_fields(fields([file(), bind("/etc/app.conf.d")])),
        Pair::on(KINDS, "spec", rule("configFile.path and volume.mountPath are one path: change one of them"))
            .field("spec.configFile.path")
            .refuse_fields(fields([("spec.configFile", json!({ "content": "", "path": "/data" }))]))
            .accept_fields(fields([
                ("spec.configFile", json!({ "content": "", "path": "/data" })),
                none,
            ])),
    ]
}

fn config_file() -> Vec<Pair> {
    let key = json!({ "name": "a", "key": "b" });
    let mut pairs = vec![
        Pair::on(
            KINDS,
            "spec.configFile",
            rule("set exactly one of content, configMapKeyRef and secretKeyRef"),
        )
        .refuse(json!({ "path": "/etc/app.conf" }))
        .refuse(json!({ "content": "", "secretKeyRef": key }))
        .refuse(json!({ "configMapKeyRef": key, "secretKeyRef": key }))
        .accept(json!({ "content": "" }))
        .accept(json!({ "configMapKeyRef": key }))
        .accept(json!({ "secretKeyRef": key })),
        Pair::length(KINDS, "spec.configFile.content", 204_800, text),
    ];
    for source in ["configMapKeyRef", "secretKeyRef"] {
        for mut pair in key_ref(KINDS, &format!("spec.configFile.{source}")) {
            for case in pair.refused.iter_mut().chain(&mut pair.accepted) {
                case.set.push(("spec.configFile.content".to_owned(), json!(null)));
            }
            pairs.push(pair);
        }
    }
    pairs
}

fn lifetime() -> Vec<Pair> {
    let at = "2027-01-31T18:00:00Z";
    let mut pairs = duration(KINDS, "spec.lifetime.ttl");
    for mut pair in moment(KINDS, "spec.lifetime.expiresAt") {
        for case in pair.refused.iter_mut().chain(&mut pair.accepted) {
            case.set.push(("spec.lifetime.ttl".to_owned(), json!(null)));
        }
        pairs.push(pair);
    }
    pairs.extend([
        Pair::on(KINDS, "spec.lifetime", rule("set exactly one of expiresAt and ttl"))
            .refuse(json!({ "expiresAt": at, "ttl": "1h" }))
            .refuse(json!({ "onExpiry": "Delete" }))
            .accept(json!({ "expiresAt": at }))
            .accept(json!({ "ttl": "1h" })),
        Pair::on(KINDS, "spec.lifetime.ttl", rule("must be above 0"))
            .refuse_all(["0s", "0", "0h0m"])
            .accept_all(["1ns", "1h"]),
        Pair::choice(KINDS, "spec.lifetime.onExpiry", &["Stop", "Delete"]),
    ]);
    pairs
}

fn placement() -> Vec<Pair> {
    let chosen = json!({ "matchLabels": { "zone": "a" } });
    let moves = |retention: &str| {
        fields([
            ("spec.placement.onHostLoss", json!("Move")),
            ("spec.writableLayer.retention", json!(retention)),
        ])
    };
    let mut choice = Pair::choice(KINDS, "spec.placement.onHostLoss", &["Wait", "Move"]);
    choice.accepted[1].set = moves("Discard");
    let mut pairs = vec![
        choice,
        Pair::on(KINDS, "spec.placement", rule("set hostName or hostSelector, not both"))
            .field("spec.placement.hostSelector")
            .refuse(json!({ "hostName": "a", "hostSelector": chosen }))
            .accept(json!({ "hostName": "a" }))
            .accept(json!({ "hostSelector": chosen })),
        Pair::on(
            KINDS,
            "spec",
            rule("onHostLoss Move needs writableLayer.retention Discard: a writable layer cannot leave its host"),
        )
        .field("spec.placement.onHostLoss")
        .refuse_fields(moves("UntilRecreated"))
        .refuse_fields(fields([("spec.placement.onHostLoss", json!("Move"))]))
        .accept_fields(moves("Discard")),
    ];
    pairs.extend(selector(KINDS, "spec.placement.hostSelector"));
    pairs.extend(host_name(KINDS, "spec.placement.hostName"));
    pairs
}

fn memory_swap() -> Vec<Pair> {
    let limits = |memory, swap| {
        fields([("spec.resources.limits.memory", memory), ("spec.container.memorySwap", swap)])
    };
    let oom = "container.oomKillDisable needs resources.limits.memory: without a limit the whole host is at stake";
    vec![
        Pair::on(KINDS, "spec", rule(oom))
            .field("spec.container.oomKillDisable")
            .refuse_fields(fields([("spec.container.oomKillDisable", json!(true))]))
            .accept_fields(fields([("spec.container.oomKillDisable", json!(false))]))
            .accept_fields(fields([
                ("spec.container.oomKillDisable", json!(true)),
                ("spec.resources.limits.memory", json!("6Mi")),
            ])),
        Pair::on(KINDS, "spec", rule("container.memorySwap needs resources.limits.memory"))
            .field("spec.container.memorySwap")
            .refuse_fields(fields([("spec.container.memorySwap", json!("1Gi"))]))
            .accept_fields(limits(json!("512Mi"), json!("1Gi")))
            .accept_fields(fields([
                ("spec.template", json!({ "name": "base" })),
                ("spec.container", json!({ "memorySwap": "1Gi" })),
            ])),
        Pair::on(
            KINDS,
            "spec",
            rule("container.memorySwap counts memory and swap together: it is below resources.limits.memory"),
        )
        .field("spec.container.memorySwap")
        .refuse_fields(limits(json!("512Mi"), json!("511Mi")))
        .refuse_fields(limits(json!("512Mi"), json!(536_870_911)))
        .accept_fields(limits(json!("512Mi"), json!("512Mi")))
        .accept_fields(limits(json!("512Mi"), json!(-1))),
    ]
}

/// What a Workspace and its runs say in the same words.
fn shared_with_runs() -> Vec<Pair> {
    let mut pairs = duration(RUNNABLE, "spec.stop.gracePeriod");
    // Not every duration is a grace period.
    pairs[1].accepted.retain(|case| case.set[0].1 != json!("1.5s"));
    pairs.push(
        Pair::on(
            RUNNABLE,
            "spec.stop.gracePeriod",
            rule("must be whole seconds, e.g. 30s or 1m30s"),
        )
        .refuse_all(["1.5s", "1500ms", "500ms"])
        .accept_all(["0s", "30s", "1m30s"]),
    );
    pairs.extend(signal(RUNNABLE, "spec.stop.signal"));
    pairs.extend(signal(RUNNABLE, "spec.configFile.reloadSignal"));
    pairs.extend(absolute_path(RUNNABLE, "spec.configFile.path"));
    pairs.push(Pair::choice(
        RUNNABLE,
        "spec.writableLayer.retention",
        &["UntilRecreated", "Discard"],
    ));
    pairs.extend(size(RUNNABLE, "spec.writableLayer.size"));
    pairs
}
