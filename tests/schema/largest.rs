//! The largest container there can be: what the rules cost at run time has a bound too, and a rule
//! that passes at the creation of its definition may still pass it.

use serde_json::{Value, json};

use super::full::never;
use super::judge::{Answer, Judge};
use super::kind::{CONTAINER, Kind};
use super::manifest::get;
use super::pair::{entries, many};
use super::walk;
use crate::fixture::cluster;

/// Every list and map of a container with as many items as it may have, each as long as it is
/// likely to get, and paths of `length` characters or some more.
fn largest(length: usize) -> Value {
    let long = || "d".repeat(length);
    let path = |stem: &str, i: usize| json!(format!("/{stem}/{i:04}/{}", long()));
    let device = |i: usize| format!("/dev/disk/by-id/nvme-{}-{i:04}", long());
    let rate = |i: usize| json!({ "path": device(i), "rate": 1_000_000 });
    let limits = "core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime sigpending stack";
    let ulimit = |name: &str| json!({ "name": name, "soft": 1, "hard": 1 });
    let sha = "a".repeat(64);
    json!({
        "image": format!("registry.example.com:5000/{}/app:1.27@sha256:{sha}", "team/".repeat(20).trim_end_matches('/')),
        "env": many(1024, |i| json!({ "name": format!("{}_{i:04}", "N".repeat(40)), "value": "v".repeat(100) })),
        "envFrom": many(64, |i| json!({ "prefix": format!("P{i}_"), "secretRef": { "name": format!("{}-{i}", "s".repeat(60)) } })),
        "labels": entries(1024, |i| format!("com.example.{}.{i:04}", "l".repeat(60)), &"v".repeat(63)),
        "anonymousVolumes": many(64, |i| path("anonymous", i)),
        "ports": many(512, |i| json!({
            "containerPort": 1 + i, "protocol": "SCTP", "hostIP": "2001:db8:1111:2222:3333:4444:5555:6666",
            "hostPort": 10_000 + i, "name": format!("{}-{i:04}", "p".repeat(58)),
        })),
        "networks": many(64, |i| json!({
            "name": format!("{}-{i:04}", "n".repeat(60)),
            "ipamConfig": {
                "ipv4Address": "172.20.30.33", "ipv6Address": "2001:db8:1111:2222:3333:4444:5555:6666",
                "linkLocalIPs": many(16, |k| json!(format!("169.254.{i}.{k}"))),
            },
            "macAddress": "02:42:ac:11:00:02",
        })),
        "dns": many(16, |i| json!(format!("2001:db8:1111:2222:3333:4444:5555:{i:x}"))),
        "extraHosts": many(256, |i| json!(format!("{}{i:04}.example.com:2001:db8:1111:2222:3333:4444:5555:6666", "h".repeat(60)))),
        "binds": many(64, |i| json!(format!("/s/{i:04}:/b/{i:04}/{}:ro,rslave", long()))),
        "mounts": many(64, |i| json!({
            "type": "volume", "target": path("mount", i), "source": format!("{}-{i:04}", "v".repeat(60)),
            "volumeOptions": { "labels": entries(64, |k| format!("com.example.{}.{k:02}", "l".repeat(20)), "value") },
        })),
        "tmpfs": entries(64, |i| format!("/tmpfs/{i:04}/{}", long()), "rw,noexec,nosuid,size=65536k"),
        "healthcheck": { "test": many(128, |i| json!(if i == 0 { "CMD".to_owned() } else { "a".repeat(20) })) },
        "capAdd": many(64, |_| json!("CAP_CHECKPOINT_RESTORE")),
        "capDrop": many(64, |_| json!("CAP_CHECKPOINT_RESTORE")),
        "sysctls": entries(256, |i| format!("net.ipv4.conf.interface{i:04}.log_martians"), "1"),
        "ulimits": limits.split(' ').map(ulimit).collect::<Vec<_>>(),
        "devices": many(256, |i| json!({ "pathOnHost": device(i), "pathInContainer": device(i), "cgroupPermissions": "rwm" })),
        "deviceCgroupRules": many(256, |i| json!(format!("c {i}:* rwm"))),
        "deviceRequests": many(64, |i| json!({ "driver": "cdi", "deviceIDs": [format!("vendor.com/device={i}")] })),
        "blkio": {
            "weightDevice": many(64, |i| json!({ "path": device(i), "weight": 500 })),
            "deviceReadBps": many(64, rate), "deviceWriteBps": many(64, rate),
            "deviceReadIOps": many(64, rate), "deviceWriteIOps": many(64, rate),
        },
    })
}

/// The least manifest with the largest container in it, and what else can be large.
fn largest_of(kind: Kind, length: usize) -> Value {
    let mut manifest = kind.least("largest");
    let mut container = largest(length);
    container
        .as_object_mut()
        .unwrap()
        .retain(|name, _| !never(kind, &format!("spec.container.{name}")));
    manifest["spec"]["container"] = container;
    if kind == Kind::Workspace {
        let login = |i| json!({ "name": format!("{}-{i}", "l".repeat(60)) });
        manifest["spec"]["imagePullSecrets"] = many(64, login);
        manifest["spec"]["configFile"] = json!({ "content": "c".repeat(204_800) });
    }
    manifest
}

#[tokio::test]
async fn the_largest_container_stays_within_what_the_rules_may_cost() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("largest").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    for &kind in CONTAINER {
        // More than could be stored, so the rules bear all that can be.
        let url = format!("{}?dryRun=All", judge.collection(kind));
        if let Answer::Refused(code, message, _) =
            judge.write("POST", &url, &largest_of(kind, 960)).await
        {
            panic!("{kind:?}: {code} {message}");
        }
        // An update is judged by the rules on a change too.
        let mut object = judge.create(kind, &largest_of(kind, 400)).await;
        let name = object["metadata"]["name"].as_str().unwrap();
        let url = format!("{}/{name}", judge.collection(kind));
        object["metadata"]["labels"] = json!({ "changed": "true" });
        if let Answer::Refused(code, message, _) = judge.write("PUT", &url, &object).await {
            panic!("{kind:?}: {code} {message}");
        }
    }
}

#[test]
fn the_largest_container_has_every_bounded_list_and_map_at_its_bound() {
    let mut manifest = Kind::Workspace.least("largest");
    manifest["spec"]["container"] = largest(1);
    for walk::Node { kind, at, schema, .. } in walk::nodes() {
        let bound =
            ["maxItems", "maxProperties"].iter().find_map(|keyword| schema[keyword].as_u64());
        let (Some(bound), Kind::Workspace, true) = (bound, kind, at.starts_with("spec.container."))
        else {
            continue;
        };
        // There are fewer limits than that, and other mounts than those.
        if at == "spec.container.ulimits" || at.contains("tmpfsOptions") {
            continue;
        }
        let there = get(&manifest, &at)
            .map(|v| v.as_array().map_or_else(|| v.as_object().unwrap().len(), Vec::len));
        assert_eq!(there, Some(usize::try_from(bound).unwrap()), "{at}");
    }
}
