//! What runs, and how it is begun, judged and ended.

use kibotos::docker::ApiVersion;
use serde_json::json;

use super::Outcome::{Needs, NotCreated};
use super::{Row, config, entry, host, row};
use crate::engine_create::Bench;

pub fn process(bench: &Bench) -> Vec<Row> {
    let (name, other) = (bench.scope.name("named"), bench.scope.name("env"));
    vec![
        row(
            json!({ "name": name }),
            json!({
                "Name": format!("/{name}"),
                "Config": { "Env": [format!("CONTAINER_NAME={name}"), "PATH=/bin"] },
            }),
        ),
        config(
            json!({ "image": "kibotos.test/busybox:1" }),
            json!({ "Image": "kibotos.test/busybox:1" }),
        ),
        row(json!({ "image": "kibotos.test/nowhere" }), json!({}))
            .but(NotCreated(&["No such image: kibotos.test/nowhere:latest"])),
        // Three states each: unset, empty, set.
        config(
            entry(json!({})),
            json!({ "Entrypoint": ["/bin/busybox"], "Cmd": ["sh", "-c", "echo image"] }),
        ),
        config(
            entry(json!({ "args": ["true"] })),
            json!({ "Entrypoint": ["/bin/busybox"], "Cmd": ["true"] }),
        ),
        config(
            entry(json!({ "args": [] })),
            json!({ "Entrypoint": ["/bin/busybox"], "Cmd": ["sh", "-c", "echo image"] }),
        ),
        config(
            entry(json!({ "command": ["/bin/sh"] })),
            json!({ "Entrypoint": ["/bin/sh"], "Cmd": null }),
        ),
        config(
            entry(json!({ "command": ["/bin/sh", "-c"], "args": ["true"] })),
            json!({ "Entrypoint": ["/bin/sh", "-c"], "Cmd": ["true"] }),
        ),
        config(
            entry(json!({ "command": [], "args": ["true"] })),
            json!({ "Entrypoint": [], "Cmd": ["true"] }),
        ),
        config(
            entry(json!({ "name": other, "env": [
                { "name": "Z", "value": "a b=c" }, { "name": "A" },
                { "name": "TOKEN", "valueFrom": { "secretKeyRef": { "name": "run", "key": "TOKEN" } } },
            ] })),
            json!({ "Env": [
                format!("CONTAINER_NAME={other}"), "Z=a b=c", "A=", "TOKEN=s3cret", "PATH=/bin", "B=image",
            ] }),
        ),
        config(
            entry(json!({ "labels": { "of": "user", "mine": "" } })),
            json!({ "Labels": {
                "of": "user", "mine": "", "kept": "image", "kibotos.dev/workspace": "web",
                "kibotos.dev/workspace-namespace": "default", "kibotos.dev/host-uid": "h-1",
                "kibotos.dev/workspace-uid": "0123456789abcdef", "kibotos.dev/spec-hash": "1:00",
            } }),
        ),
        config(entry(json!({})), json!({ "User": "1000", "WorkingDir": "/w" })),
        config(
            entry(json!({ "user": "app:audio", "workingDir": "/tmp/x" })),
            json!({ "User": "app:audio", "WorkingDir": "/tmp/x" }),
        ),
        config(
            json!({ "hostname": "web-1", "domainname": "example.com" }),
            json!({ "Hostname": "web-1", "Domainname": "example.com" }),
        ),
        config(
            json!({ "tty": true, "stdin": true, "stdinOnce": true }),
            json!({ "Tty": true, "OpenStdin": true, "StdinOnce": true }),
        ),
        config(json!({}), json!({ "Tty": false, "OpenStdin": false, "StdinOnce": false })),
    ]
}

pub fn lifecycle(_: &Bench) -> Vec<Row> {
    let check = json!({ "test": ["CMD-SHELL", "true"], "interval": "30s", "timeout": "1m30s", "startPeriod": "1.5s" });
    vec![
        config(
            json!({ "healthcheck": check }),
            json!({ "Healthcheck": {
                "Test": ["CMD-SHELL", "true"], "Interval": 30_000_000_000_i64,
                "Timeout": 90_000_000_000_i64, "StartPeriod": 1_500_000_000,
            } }),
        ),
        // What is unset of a health check is the image's, field by field.
        config(
            entry(json!({})),
            json!({ "Healthcheck": { "Test": ["CMD", "/bin/true"], "Retries": 7 } }),
        ),
        config(
            entry(json!({ "healthcheck": { "retries": 2 } })),
            json!({ "Healthcheck": { "Test": ["CMD", "/bin/true"], "Retries": 2 } }),
        ),
        config(
            entry(json!({ "healthcheck": { "test": ["NONE"] } })),
            json!({ "Healthcheck": { "Test": ["NONE"] } }),
        ),
        config(
            json!({ "healthcheck": { "test": ["CMD", "true"], "startInterval": "1s" } }),
            json!({ "Healthcheck": { "StartInterval": 1_000_000_000 } }),
        )
        .but(Needs(ApiVersion::v1(44))),
        config(entry(json!({})), json!({ "StopSignal": "SIGINT", "StopTimeout": null })),
        config(entry(json!({})), json!({ "StopSignal": "SIGUSR1", "StopTimeout": 90 }))
            .with(json!({ "stop": { "signal": "usr1", "gracePeriod": "1m30s" } })),
        host(json!({ "init": true }), json!({ "Init": true })),
        host(json!({ "init": false }), json!({ "Init": false })),
        host(json!({}), json!({ "Init": null })),
        host(
            json!({}),
            json!({ "RestartPolicy": { "Name": "on-failure", "MaximumRetryCount": 3 } }),
        )
        .with(json!({ "restartPolicy": { "name": "on-failure", "maximumRetryCount": 3 } })),
        host(
            json!({}),
            json!({ "RestartPolicy": { "Name": "unless-stopped", "MaximumRetryCount": 0 } }),
        )
        .with(json!({ "restartPolicy": { "name": "unless-stopped" } })),
        host(json!({}), json!({ "RestartPolicy": { "Name": "no", "MaximumRetryCount": 0 } }))
            .with(json!({ "leased": true, "restartPolicy": { "name": "always" } })),
        host(
            json!({ "logging": { "type": "json-file", "config": { "max-size": "10m", "max-file": "2" } } }),
            json!({ "LogConfig": { "Type": "json-file", "Config": { "max-size": "10m", "max-file": "2" } } }),
        ),
        host(
            json!({ "logging": { "config": { "max-size": "10m" } } }),
            json!({ "LogConfig": { "Type": "json-file", "Config": { "max-size": "10m" } } }),
        ),
        host(json!({ "logging": { "type": "none" } }), json!({ "LogConfig": { "Type": "none" } })),
        host(json!({ "runtime": "runc" }), json!({ "Runtime": "runc" })),
        row(json!({ "runtime": "kata" }), json!({})).but(NotCreated(&[
            "nknown runtime specified kata",
            "unknown or invalid runtime name: kata",
        ])),
        row(json!({ "platform": platform() }), json!({ "Platform": "linux" })),
        row(json!({ "platform": "linux/s390x" }), json!({}))
            .but(NotCreated(&["does not match the specified platform"])),
        host(json!({ "annotations": { "a": "b" } }), json!({ "Annotations": { "a": "b" } }))
            .but(Needs(ApiVersion::v1(43))),
    ]
}

fn platform() -> &'static str {
    if cfg!(target_arch = "aarch64") { "linux/arm64" } else { "linux/amd64" }
}
