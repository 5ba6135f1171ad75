//! Binds, mounts, tmpfs, volumes without a name.

use kibotos::docker::ApiVersion;
use serde_json::{Value, json};

use super::Outcome::{Needs, NotCreated};
use super::{Row, entry, host, row};
use crate::engine_create::{Bench, ENTRY};

/// The short forms, and what has no mount of its own in the API.
pub fn binds(bench: &Bench) -> Vec<Row> {
    let [one, _] = &bench.volumes;
    let config = json!({
        "secretName": "s", "key": "content", "sha256": "00", "path": "/etc/app.conf",
    });
    vec![
        row(
            entry(json!({ "anonymousVolumes": ["/data"] })),
            json!({
                "Config": { "Volumes": { "/data": {}, "/image-data": {} } },
                "Mounts": { "/data": { "Type": "volume", "Driver": "local", "RW": true } },
            }),
        ),
        row(
            json!({ "binds": ["/usr:/a:ro", format!("{one}:/b:nocopy"), "/tmp:/c:rslave"] }),
            json!({
                "HostConfig": { "Binds": ["/usr:/a:ro", format!("{one}:/b:nocopy"), "/tmp:/c:rslave"] },
                "Mounts": {
                    "/a": { "Type": "bind", "Source": "/usr", "RW": false },
                    "/b": { "Type": "volume", "Name": one, "RW": true },
                    "/c": { "Type": "bind", "Source": "/tmp", "RW": true, "Propagation": "rslave" },
                },
            }),
        ),
        // An anonymous volume and a bind on one path: the bind wins.
        row(
            json!({ "anonymousVolumes": ["/data"], "binds": ["/usr:/data"] }),
            json!({ "Mounts": { "/data": { "Type": "bind", "Source": "/usr", "RW": true } } }),
        ),
        host(
            json!({ "tmpfs": { "/run": "rw,size=64m", "/cache": "" } }),
            json!({ "Tmpfs": { "/run": "rw,size=64m", "/cache": "" } }),
        ),
        host(json!({ "readOnlyRootFilesystem": true }), json!({ "ReadonlyRootfs": true })),
        host(json!({ "shmSize": "128Mi" }), json!({ "ShmSize": 134_217_728 })),
        row(
            json!({ "binds": ["/usr:/a"] }),
            json!({
                "HostConfig": { "Binds": [
                    "/var/lib/kibotos/default_web_01234567/service.conf:/etc/app.conf", "/usr:/a",
                ] },
                "Mounts": { "/etc/app.conf": {
                    "Type": "bind", "RW": true,
                    "Source": "/var/lib/kibotos/default_web_01234567/service.conf",
                } },
            }),
        )
        .with(json!({ "configFile": config })),
    ]
}

/// The long form.
pub fn mounts(bench: &Bench) -> Vec<Row> {
    let [one, two] = &bench.volumes;
    let mount = |mut mount: Value| {
        mount["target"] = "/m".into();
        json!({ "mounts": [mount] })
    };
    let seen = |says: Value| json!({ "Mounts": { "/m": says } });
    let bind =
        |options: Value| mount(json!({ "type": "bind", "source": "/usr", "bindOptions": options }));
    let new = bench.scope.name("new");
    vec![
        row(
            mount(
                json!({ "type": "bind", "source": "/usr", "readOnly": true, "consistency": "cached" }),
            ),
            json!({
                "Mounts": { "/m": { "Type": "bind", "Source": "/usr", "RW": false } },
                "HostConfig": { "Mounts": [
                    { "Type": "bind", "Source": "/usr", "Target": "/m", "ReadOnly": true, "Consistency": "cached" },
                ] },
            }),
        ),
        row(
            bind(json!({ "propagation": "rslave", "nonRecursive": true })),
            json!({
                "Mounts": { "/m": { "Propagation": "rslave" } },
                "HostConfig": { "Mounts": [
                    { "Type": "bind", "Source": "/usr", "Target": "/m",
                      "BindOptions": { "Propagation": "rslave", "NonRecursive": true } },
                ] },
            }),
        ),
        row(bind(json!({ "createMountpoint": true })), seen(json!({ "Type": "bind" })))
            .but(Needs(ApiVersion::v1(42))),
        row(
            mount(json!({ "type": "bind", "source": "/usr", "readOnly": true,
                "bindOptions": { "readOnlyNonRecursive": true } })),
            seen(json!({ "RW": false })),
        )
        .but(Needs(ApiVersion::v1(44))),
        row(
            mount(json!({ "type": "bind", "source": "/usr", "readOnly": true,
                "bindOptions": { "readOnlyForceRecursive": true, "propagation": "rprivate" } })),
            seen(json!({ "RW": false })),
        )
        .but(Needs(ApiVersion::v1(44))),
        row(mount(json!({ "type": "bind", "source": "/nowhere" })), json!({}))
            .but(NotCreated(&["bind source path does not exist: /nowhere"])),
        row(
            mount(json!({ "type": "volume", "source": two, "volumeOptions": { "noCopy": true } })),
            json!({
                "Mounts": { "/m": { "Type": "volume", "Name": two, "RW": true } },
                "HostConfig": { "Mounts": [
                    { "Type": "volume", "Source": two, "Target": "/m", "VolumeOptions": { "NoCopy": true } },
                ] },
            }),
        ),
        row(
            mount(json!({ "type": "volume" })),
            seen(json!({ "Type": "volume", "Driver": "local" })),
        ),
        row(
            mount(json!({ "type": "volume", "source": new, "volumeOptions": {
                // The label by which the volume goes with the test.
                "labels": bench.scope.labels(),
                "driverConfig": { "name": "local", "options": { "type": "tmpfs", "device": "tmpfs" } },
            } })),
            seen(json!({ "Type": "volume", "Name": new, "Driver": "local" })),
        ),
        row(
            mount(json!({ "type": "volume", "source": one, "volumeOptions": { "subpath": "x" } })),
            seen(json!({ "Type": "volume" })),
        )
        .but(Needs(ApiVersion::v1(45))),
        row(
            mount(
                json!({ "type": "image", "source": ENTRY, "imageOptions": { "subpath": "bin" } }),
            ),
            seen(json!({ "Type": "image" })),
        )
        .but(Needs(ApiVersion::v1(48))),
        row(
            mount(
                json!({ "type": "tmpfs", "tmpfsOptions": { "sizeBytes": 1_048_576, "mode": 1023 } }),
            ),
            json!({
                "Mounts": { "/m": { "Type": "tmpfs" } },
                "HostConfig": { "Mounts": [
                    { "Type": "tmpfs", "Target": "/m", "TmpfsOptions": { "SizeBytes": 1_048_576, "Mode": 1023 } },
                ] },
            }),
        ),
        row(
            mount(json!({ "type": "tmpfs", "tmpfsOptions": { "options": [["noexec"]] } })),
            seen(json!({ "Type": "tmpfs" })),
        )
        .but(Needs(ApiVersion::v1(46))),
    ]
}
