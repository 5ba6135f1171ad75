//! Rights, namespaces, devices and kernel parameters.

use serde_json::json;

use super::Outcome::{NotCreated, NotStarted};
use super::{Row, host, row};
use crate::engine_create::Bench;

pub fn rights(_: &Bench) -> Vec<Row> {
    vec![
        host(
            json!({ "capAdd": ["NET_ADMIN", "CAP_SYS_TIME"] }),
            json!({ "CapAdd": ["NET_ADMIN", "CAP_SYS_TIME"], "CapDrop": [] }),
        ),
        host(json!({ "capDrop": ["ALL"] }), json!({ "CapAdd": [], "CapDrop": ["ALL"] })),
        host(json!({ "privileged": true }), json!({ "Privileged": true, "ReadonlyPaths": null })),
        host(
            json!({ "securityOpt": ["no-new-privileges", "seccomp=unconfined"] }),
            json!({ "SecurityOpt": ["no-new-privileges", "seccomp=unconfined"] }),
        ),
        host(json!({ "groupAdd": ["audio", "7"] }), json!({ "GroupAdd": ["audio", "7"] })),
        host(
            json!({ "sysctls": { "net.ipv4.ip_forward": "1" } }),
            json!({ "Sysctls": { "net.ipv4.ip_forward": "1" } }),
        ),
        host(
            json!({ "ulimits": [{ "name": "nofile", "soft": 1024, "hard": 2048 }, { "name": "core", "soft": -1, "hard": -1 }] }),
            json!({ "Ulimits": [{ "Name": "nofile", "Soft": 1024, "Hard": 2048 }, { "Name": "core", "Soft": -1, "Hard": -1 }] }),
        ),
        host(
            json!({ "devices": [
                { "pathOnHost": "/dev/null", "pathInContainer": "/dev/nothing" },
                { "pathOnHost": "/dev/zero", "pathInContainer": "/dev/nil", "cgroupPermissions": "r" },
            ] }),
            json!({ "Devices": [
                { "PathOnHost": "/dev/null", "PathInContainer": "/dev/nothing", "CgroupPermissions": "rwm" },
                { "PathOnHost": "/dev/zero", "PathInContainer": "/dev/nil", "CgroupPermissions": "r" },
            ] }),
        ),
        row(
            json!({ "devices": [{ "pathOnHost": "/dev/ttyUSB99", "pathInContainer": "/dev/tty1" }] }),
            json!({}),
        )
        .but(NotStarted(&["error gathering device information while adding custom device \"/dev/ttyUSB99\""])),
        host(
            json!({ "deviceCgroupRules": ["c 188:* rwm"] }),
            json!({ "DeviceCgroupRules": ["c 188:* rwm"] }),
        ),
        host(
            json!({ "deviceRequests": [
                { "driver": "nvidia", "count": -1, "capabilities": [["gpu"]], "options": { "a": "b" } },
            ] }),
            json!({ "DeviceRequests": [
                { "Driver": "nvidia", "Count": -1, "DeviceIDs": null, "Capabilities": [["gpu"]], "Options": { "a": "b" } },
            ] }),
        )
        .but(NotStarted(&["could not select device driver \"nvidia\""])),
        host(
            json!({ "deviceRequests": [{ "deviceIDs": ["0"], "capabilities": [["gpu"]] }] }),
            json!({ "DeviceRequests": [
                { "Driver": "", "Count": 0, "DeviceIDs": ["0"], "Capabilities": [["gpu"]], "Options": null },
            ] }),
        )
        .but(NotStarted(&["could not select device driver \"\" with capabilities: [[gpu]]"])),
        host(
            json!({ "ipcMode": "shareable", "pidMode": "host", "utsMode": "host", "usernsMode": "host", "cgroupnsMode": "private" }),
            json!({ "IpcMode": "shareable", "PidMode": "host", "UTSMode": "host", "UsernsMode": "host", "CgroupnsMode": "private" }),
        ),
        host(json!({ "ipcMode": "none", "cgroupnsMode": "host" }), json!({ "IpcMode": "none", "CgroupnsMode": "host" })),
        row(json!({ "pidMode": "container:nowhere" }), json!({}))
            .but(NotCreated(&["No such container: nowhere"])),
        host(json!({ "cgroupParent": "/kibotos-rows" }), json!({ "CgroupParent": "/kibotos-rows" })),
        host(json!({ "oomScoreAdj": 500 }), json!({ "OomScoreAdj": 500 })),
    ]
}
