//! Pairs of a Workspace's `volume` and of Volume.

use serde_json::json;

use super::grammar::{absolute_path, dns_label, host_name, object_name, size};
use crate::schema::kind::Kind;
use crate::schema::pair::{Pair, fields, rule};

pub fn pairs() -> Vec<Pair> {
    [of_workspace(), volume()].concat()
}

fn of_workspace() -> Vec<Pair> {
    let kinds = &[Kind::Workspace];
    let on = |message, field: &str| Pair::on(kinds, "spec.volume", rule(message)).field(field);
    let mode = |mode: &str| fields([("spec.volume", json!({ "mode": mode, "name": "data" }))]);
    let sized = |size| fields([("spec.volume.size", size)]);
    let pooled = |pool| fields([("spec.volume.storagePool", pool)]);
    let mut pairs = vec![
        Pair::choice(kinds, "spec.volume.deletionPolicy", &["Delete", "Retain"]),
        Pair::choice(kinds, "spec.volume.mode", &["Create", "Bind", "None"]),
        on("mode Bind needs the name of the Volume to bind", "spec.volume.name")
            .refuse(json!({ "mode": "Bind" }))
            .accept_fields(mode("Bind")),
        on("with mode None there is no Volume to name: leave name out", "spec.volume.name")
            .refuse_fields(mode("None"))
            .accept(json!({ "mode": "None" })),
        on("size goes with mode Create only: a bound Volume has its own", "spec.volume.size")
            .refuse(json!({ "mode": "Bind", "name": "data", "size": "1Gi" }))
            .refuse(json!({ "mode": "None", "size": "1Gi" }))
            .accept(json!({ "size": "1Gi" })),
        on(
            "storagePool goes with mode Create only: a bound Volume has its own",
            "spec.volume.storagePool",
        )
        .refuse(json!({ "mode": "Bind", "name": "data", "storagePool": "nfs" }))
        .refuse(json!({ "mode": "None", "storagePool": "nfs" }))
        .accept(json!({ "storagePool": "nfs" })),
        on("size is immutable while mode is Create: grow the Volume itself", "spec.volume.size")
            .refuse_change(sized(json!("1Gi")), sized(json!("2Gi")))
            .refuse_change(sized(json!("1Gi")), sized(json!(null)))
            .refuse_change(vec![], sized(json!("1Gi")))
            .accept_change(sized(json!("1Gi")), sized(json!("1Gi")))
            .accept_change(
                sized(json!("1Gi")),
                fields([("spec.volume", json!({ "mode": "None" }))]),
            ),
        on("storagePool is immutable while mode is Create", "spec.volume.storagePool")
            .refuse_change(pooled(json!("nfs")), pooled(json!("ceph")))
            .refuse_change(pooled(json!("nfs")), pooled(json!(null)))
            .refuse_change(vec![], pooled(json!("nfs")))
            .accept_change(pooled(json!("nfs")), pooled(json!("nfs")))
            .accept_change(pooled(json!("nfs")), mode("Bind")),
    ];
    // The enum's last pair sets mode alone, which Bind and its name belong to.
    pairs[1].accepted[1].set = mode("Bind");
    pairs.extend(dns_label(kinds, "spec.volume.name"));
    pairs.extend(size(kinds, "spec.volume.size"));
    pairs.extend(object_name(kinds, "spec.volume.storagePool"));
    pairs.extend(absolute_path(kinds, "spec.volume.mountPath"));
    pairs
}

fn volume() -> Vec<Pair> {
    let kinds = &[Kind::Volume];
    let sized = |size| fields([("spec.size", size)]);
    let on_host = |host| fields([("spec.hostName", host)]);
    let pooled = |pool| fields([("spec.storagePool", pool)]);
    let mut pairs = vec![
        Pair::on(kinds, "spec", rule("storagePool is immutable: make a new Volume"))
            .field("spec.storagePool")
            .refuse_change(pooled(json!("nfs")), pooled(json!("ceph")))
            .refuse_change(pooled(json!("nfs")), pooled(json!(null)))
            .refuse_change(vec![], pooled(json!("nfs")))
            .accept_change(pooled(json!("nfs")), pooled(json!("nfs")))
            .accept_change(vec![], pooled(json!("local"))),
        Pair::on(kinds, "spec", rule("hostName is immutable: make a new Volume"))
            .field("spec.hostName")
            .refuse_change(on_host(json!("a")), on_host(json!("b")))
            .refuse_change(on_host(json!("a")), on_host(json!(null)))
            .refuse_change(vec![], on_host(json!("a")))
            .accept_change(on_host(json!("a")), on_host(json!("a"))),
        Pair::on(kinds, "spec", rule("size can be neither added nor removed: make a new Volume"))
            .field("spec.size")
            .refuse_change(sized(json!("1Gi")), sized(json!(null)))
            .refuse_change(vec![], sized(json!("1Gi")))
            .accept_change(sized(json!("1Gi")), sized(json!("1Gi"))),
        Pair::on(kinds, "spec", rule("size can only grow"))
            .field("spec.size")
            .refuse_change(sized(json!("1Gi")), sized(json!("1023Mi")))
            .refuse_change(sized(json!("1Gi")), sized(json!(1_073_741_823)))
            .accept_change(sized(json!("1Gi")), sized(json!("1024Mi")))
            .accept_change(sized(json!("1Gi")), sized(json!("1025Mi"))),
        Pair::choice(kinds, "status.phase", &["Pending", "Available", "Bound", "Deleting"]),
    ];
    pairs.extend(size(kinds, "spec.size"));
    pairs.extend(object_name(kinds, "spec.storagePool"));
    pairs.extend(host_name(kinds, "spec.hostName"));
    pairs
}
