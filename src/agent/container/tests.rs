//! The mapping, row by row: what a Workspace says and the exact JSON that an engine is sent.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Create, Intent, create_body};
use crate::api::WorkspaceRunSpec;
use crate::docker::ApiVersion;

/// A run with `container` and whatever else `more` sets.
fn run(container: Value, more: Value) -> WorkspaceRunSpec {
    let mut spec = json!({
        "workspace": { "namespace": "default", "name": "web", "uid": "0123456789abcdef" },
        "sequence": 1,
        "generation": 1,
        "desired": "Running",
        "container": { "image": "app:1" },
        "specHash": "1:00",
    });
    let merge = |into: &mut Value, from: Value| {
        into.as_object_mut().unwrap().extend(from.as_object().unwrap().clone());
    };
    merge(&mut spec["container"], container);
    merge(&mut spec, more);
    serde_json::from_value(spec).unwrap()
}

fn create_on(engine: ApiVersion, run: &WorkspaceRunSpec) -> Result<Create, Vec<String>> {
    let secret = BTreeMap::from([("TOKEN".to_owned(), "s3cret".to_owned())]);
    let intent = Intent { run, secret: &secret, host_uid: "h-1", root: "/var/lib/kibotos", engine };
    create_body(&intent).map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

fn create(run: &WorkspaceRunSpec) -> Create {
    create_on(ApiVersion::NEWEST, run).unwrap()
}

/// The body without our labels.
fn body(run: &WorkspaceRunSpec) -> Value {
    let mut body = serde_json::to_value(create(run).body).unwrap();
    let labels = body["Labels"].as_object_mut().unwrap();
    labels.retain(|key, _| !key.starts_with("kibotos.dev/"));
    body
}

/// What a run with nothing but an image is sent.
fn least() -> Value {
    json!({
        "Image": "app:1",
        "Env": ["CONTAINER_NAME=default_web"],
        "Labels": {},
        "Volumes": {},
        "User": "",
        "WorkingDir": "",
        "Hostname": "",
        "ExposedPorts": {},
        "Healthcheck": {},
        "NetworkingConfig": {},
        "HostConfig": {},
    })
}

/// Asserts that `container` and `more` change just what `differs` says of the least body.
#[track_caller]
fn row(container: Value, more: Value, differs: Value) {
    let mut wanted = least();
    for (key, value) in differs.as_object().unwrap() {
        wanted[key] = value.clone();
    }
    assert_eq!(body(&run(container.clone(), more.clone())), wanted, "{container} {more}");
}

#[track_caller]
fn host(container: Value, host: Value) {
    row(container, json!({}), json!({ "HostConfig": host }));
}

#[track_caller]
fn refused(engine: &str, container: Value, more: Value, errors: &[&str]) {
    let told = create_on(engine.parse().unwrap(), &run(container, more)).unwrap_err();
    assert_eq!(told, errors);
}

#[test]
fn a_workspace_with_an_image_alone_sends_what_the_original_always_sent() {
    row(json!({}), json!({}), json!({}));
    assert_eq!(create(&run(json!({}), json!({}))).name, "default_web");
}

#[test]
fn every_row_of_the_containers_config() {
    row(json!({ "name": "my_app" }), json!({}), json!({ "Env": ["CONTAINER_NAME=my_app"] }));
    row(
        json!({ "image": "localhost:5000/app" }),
        json!({}),
        json!({ "Image": "localhost:5000/app:latest" }),
    );
    row(json!({ "args": ["a", "b"] }), json!({}), json!({ "Cmd": ["a", "b"] }));
    row(json!({ "args": [] }), json!({}), json!({ "Cmd": [] }));
    row(json!({ "command": ["a"] }), json!({}), json!({ "Entrypoint": ["a"] }));
    row(
        json!({ "command": [], "args": ["a"] }),
        json!({}),
        json!({ "Entrypoint": [], "Cmd": ["a"] }),
    );
    row(
        json!({ "env": [{ "name": "B", "value": "1" }, { "name": "A" }] }),
        json!({}),
        json!({ "Env": ["CONTAINER_NAME=default_web", "B=1", "A="] }),
    );
    row(json!({ "labels": { "a": "b" } }), json!({}), json!({ "Labels": { "a": "b" } }));
    row(json!({ "anonymousVolumes": ["/data"] }), json!({}), json!({ "Volumes": { "/data": {} } }));
    row(
        json!({ "user": "1000:1000", "workingDir": "/app", "hostname": "web" }),
        json!({}),
        json!({ "User": "1000:1000", "WorkingDir": "/app", "Hostname": "web" }),
    );
    row(
        json!({ "ports": [
            { "containerPort": 80, "protocol": "TCP" }, { "containerPort": 53, "protocol": "UDP" },
        ] }),
        json!({}),
        json!({ "ExposedPorts": { "80/tcp": {}, "53/udp": {} } }),
    );
    row(
        json!({ "networks": [{ "name": "bridge" }] }),
        json!({}),
        json!({ "NetworkingConfig": { "EndpointsConfig": { "bridge": {} } } }),
    );
    row(
        json!({ "domainname": "example", "tty": true, "stdin": true, "stdinOnce": true }),
        json!({ "stop": { "signal": "int", "gracePeriod": "1m30s" } }),
        json!({
            "Domainname": "example", "Tty": true, "OpenStdin": true, "StdinOnce": true,
            "StopSignal": "SIGINT", "StopTimeout": 90,
        }),
    );
}

#[test]
fn health_checks_are_sent_in_nanoseconds() {
    let test = json!(["CMD-SHELL", "curl -f http://localhost || exit 1"]);
    row(
        json!({ "healthcheck": { "test": test, "interval": "30s", "timeout": "10s", "retries": 3 } }),
        json!({}),
        json!({ "Healthcheck": {
            "Test": test, "Interval": 30_000_000_000_i64, "Timeout": 10_000_000_000_i64, "Retries": 3,
        } }),
    );
    row(
        json!({ "healthcheck": { "startPeriod": "1m", "startInterval": "1.5s" } }),
        json!({}),
        json!({ "Healthcheck": {
            "StartPeriod": 60_000_000_000_i64, "StartInterval": 1_500_000_000_i64,
        } }),
    );
    row(
        json!({ "healthcheck": { "test": ["NONE"] } }),
        json!({}),
        json!({ "Healthcheck": { "Test": ["NONE"] } }),
    );
}

#[test]
fn every_row_of_the_host_config() {
    host(
        json!({ "binds": ["/host/log:/var/log:ro"] }),
        json!({ "Binds": ["/host/log:/var/log:ro"] }),
    );
    host(json!({ "networkMode": "host" }), json!({ "NetworkMode": "host" }));
    host(json!({ "privileged": true }), json!({ "Privileged": true }));
    host(json!({ "capAdd": ["NET_ADMIN"] }), json!({ "CapAdd": ["NET_ADMIN"], "CapDrop": [] }));
    host(json!({ "capDrop": ["ALL"] }), json!({ "CapAdd": [], "CapDrop": ["ALL"] }));
    let tty = "/dev/ttyUSB0";
    host(
        json!({ "devices": [{ "pathOnHost": tty, "pathInContainer": tty }] }),
        json!({ "Devices": [{ "PathOnHost": tty, "PathInContainer": tty, "CgroupPermissions": "rwm" }] }),
    );
    host(
        json!({ "ulimits": [{ "name": "nofile", "soft": 1024, "hard": 2048 }] }),
        json!({ "Ulimits": [{ "Name": "nofile", "Soft": 1024, "Hard": 2048 }] }),
    );
    host(
        json!({ "tmpfs": { "/tmp": "", "/run": "rw,size=64m" } }),
        json!({ "Tmpfs": { "/tmp": "", "/run": "rw,size=64m" } }),
    );
    host(
        json!({ "sysctls": { "net.ipv4.ip_forward": "1" } }),
        json!({ "Sysctls": { "net.ipv4.ip_forward": "1" } }),
    );
    host(
        json!({ "extraHosts": ["host.docker.internal:host-gateway"] }),
        json!({ "ExtraHosts": ["host.docker.internal:host-gateway"] }),
    );
    for (policy, sent) in [
        (json!({ "name": "always" }), json!({ "Name": "always" })),
        (json!({ "name": "no" }), json!({ "Name": "no" })),
        (
            json!({ "name": "unless-stopped", "maximumRetryCount": 0 }),
            json!({ "Name": "unless-stopped" }),
        ),
        (
            json!({ "name": "on-failure", "maximumRetryCount": 3 }),
            json!({ "Name": "on-failure", "MaximumRetryCount": 3 }),
        ),
    ] {
        row(
            json!({}),
            json!({ "restartPolicy": policy }),
            json!({ "HostConfig": { "RestartPolicy": sent } }),
        );
    }
}

#[test]
fn resources_are_exact_to_the_byte_and_the_share() {
    let sent = |resources: Value, host: Value| {
        row(json!({}), json!({ "resources": resources }), json!({ "HostConfig": host }));
    };
    sent(
        json!({
            "limits": { "memory": "512Mi", "cpu": "1500m", "kibotos.dev/pids": 100 },
            "requests": { "memory": "256Mi", "cpu": "500m" },
        }),
        json!({
            "Memory": 536_870_912, "MemoryReservation": 268_435_456, "NanoCpus": 1_500_000_000,
            "CpuShares": 512, "PidsLimit": 100,
        }),
    );
    sent(json!({ "limits": { "memory": "6Ti" } }), json!({ "Memory": 6_597_069_766_656_i64 }));
    sent(json!({ "requests": { "cpu": "1953125n" } }), json!({ "CpuShares": 2 }));
    sent(json!({ "requests": { "cpu": "0.9999" } }), json!({ "CpuShares": 1023 }));
}

#[test]
fn published_ports_stand_in_both_maps_under_one_key() {
    let port = |value: Value| json!({ "ports": [value] });
    let sent = |container: Value, bindings: Value| {
        row(
            container,
            json!({}),
            json!({
                "ExposedPorts": { "80/tcp": {} },
                "HostConfig": { "PortBindings": { "80/tcp": bindings } },
            }),
        );
    };
    sent(
        port(json!({ "containerPort": 80, "hostPort": 8080 })),
        json!([{ "HostIp": "", "HostPort": "8080" }]),
    );
    sent(
        port(json!({ "containerPort": 80, "hostPort": 80, "hostIP": "127.0.0.1" })),
        json!([{ "HostIp": "127.0.0.1", "HostPort": "80" }]),
    );
    sent(
        port(json!({ "containerPort": 80, "publish": true })),
        json!([{ "HostIp": "", "HostPort": "" }]),
    );
    sent(
        json!({ "ports": [{ "containerPort": 80, "hostPort": 80 }, { "containerPort": 80, "hostPort": 81 }] }),
        json!([{ "HostIp": "", "HostPort": "80" }, { "HostIp": "", "HostPort": "81" }]),
    );
    host(json!({ "publishAllPorts": true }), json!({ "PublishAllPorts": true }));
}

#[test]
fn every_further_field_of_the_host_config() {
    host(
        json!({ "securityOpt": ["no-new-privileges"] }),
        json!({ "SecurityOpt": ["no-new-privileges"] }),
    );
    host(
        json!({ "logging": { "type": "json-file", "config": { "max-size": "10m" } } }),
        json!({ "LogConfig": { "Type": "json-file", "Config": { "max-size": "10m" } } }),
    );
    host(json!({ "readOnlyRootFilesystem": true }), json!({ "ReadonlyRootfs": true }));
    host(
        json!({ "ipcMode": "shareable", "pidMode": "host", "utsMode": "host", "usernsMode": "host", "cgroupnsMode": "private" }),
        json!({ "IpcMode": "shareable", "PidMode": "host", "UTSMode": "host", "UsernsMode": "host", "CgroupnsMode": "private" }),
    );
    host(
        json!({ "deviceRequests": [{ "driver": "nvidia", "count": -1, "capabilities": [["gpu"]] }] }),
        json!({ "DeviceRequests": [{ "Driver": "nvidia", "Count": -1, "Capabilities": [["gpu"]] }] }),
    );
    host(
        json!({ "deviceRequests": [{ "deviceIDs": ["0"], "options": { "a": "b" } }] }),
        json!({ "DeviceRequests": [{ "DeviceIDs": ["0"], "Options": { "a": "b" } }] }),
    );
    host(json!({ "shmSize": "128Mi" }), json!({ "ShmSize": 134_217_728 }));
    host(
        json!({ "dns": ["1.1.1.1"], "dnsSearch": ["example.com"], "dnsOptions": ["ndots:2"] }),
        json!({ "Dns": ["1.1.1.1"], "DnsSearch": ["example.com"], "DnsOptions": ["ndots:2"] }),
    );
    host(
        json!({ "deviceCgroupRules": ["c 188:* rwm"] }),
        json!({ "DeviceCgroupRules": ["c 188:* rwm"] }),
    );
    host(json!({ "memorySwappiness": 0 }), json!({ "MemorySwappiness": 0 }));
    host(
        json!({ "cpusetCpus": "0-1", "cpusetMems": "0" }),
        json!({ "CpusetCpus": "0-1", "CpusetMems": "0" }),
    );
    host(
        json!({ "cpuPeriod": 100_000, "cpuQuota": 50_000 }),
        json!({ "CpuPeriod": 100_000, "CpuQuota": 50_000 }),
    );
    host(json!({ "init": true }), json!({ "Init": true }));
    host(json!({ "init": false }), json!({ "Init": false }));
    host(json!({ "groupAdd": ["audio"] }), json!({ "GroupAdd": ["audio"] }));
    host(
        json!({ "runtime": "runsc", "cgroupParent": "/x" }),
        json!({ "Runtime": "runsc", "CgroupParent": "/x" }),
    );
    host(json!({ "oomScoreAdj": -500 }), json!({ "OomScoreAdj": -500 }));
    row(
        json!({ "oomKillDisable": true }),
        json!({ "resources": { "limits": { "memory": "6Mi" } } }),
        json!({ "HostConfig": { "OomKillDisable": true, "Memory": 6_291_456 } }),
    );
    host(json!({ "annotations": { "a": "b" } }), json!({ "Annotations": { "a": "b" } }));
    let (rate, sent) =
        (json!([{ "path": "/dev/sda", "rate": 5 }]), json!([{ "Path": "/dev/sda", "Rate": 5 }]));
    host(
        json!({ "blkio": {
            "weight": 300, "weightDevice": [{ "path": "/dev/sda", "weight": 10 }],
            "deviceReadBps": rate, "deviceWriteBps": rate, "deviceReadIOps": rate, "deviceWriteIOps": rate,
        } }),
        json!({
            "BlkioWeight": 300, "BlkioWeightDevice": [{ "Path": "/dev/sda", "Weight": 10 }],
            "BlkioDeviceReadBps": sent, "BlkioDeviceWriteBps": sent,
            "BlkioDeviceReadIOps": sent, "BlkioDeviceWriteIOps": sent,
        }),
    );
    row(
        json!({ "memorySwap": -1 }),
        json!({ "resources": { "limits": { "memory": "6Mi" } }, "writableLayer": { "size": "1Gi" } }),
        json!({ "HostConfig": {
            "Memory": 6_291_456, "MemorySwap": -1, "StorageOpt": { "size": "1073741824" },
        } }),
    );
    assert_eq!(
        create(&run(json!({ "platform": "linux/arm64" }), json!({}))).platform.as_deref(),
        Some("linux/arm64")
    );
}

#[test]
fn what_is_empty_or_a_default_is_left_out() {
    row(
        json!({
            "env": [], "labels": {}, "anonymousVolumes": [], "ports": [], "networks": [], "binds": [],
            "mounts": [], "tmpfs": {}, "capAdd": [], "capDrop": [], "devices": [], "ulimits": [],
            "sysctls": {}, "extraHosts": [], "dns": [], "dnsSearch": [], "dnsOptions": [], "groupAdd": [],
            "securityOpt": [], "deviceCgroupRules": [], "deviceRequests": [], "annotations": {},
            "networkMode": "", "runtime": "", "user": "", "workingDir": "", "hostname": "",
            "domainname": "", "tty": false, "stdin": false, "privileged": false,
            "readOnlyRootFilesystem": false, "publishAllPorts": false, "oomScoreAdj": 0,
            "oomKillDisable": false, "healthcheck": {},
        }),
        json!({}),
        json!({}),
    );
}

#[test]
fn mounts_are_sent_with_every_option() {
    let mount = |mount: Value, sent: Value| {
        host(json!({ "mounts": [mount] }), json!({ "Mounts": [sent] }));
    };
    mount(
        json!({
            "type": "bind", "source": "/srv", "target": "/mnt", "readOnly": true, "consistency": "cached",
            "bindOptions": {
                "propagation": "rslave", "nonRecursive": true, "createMountpoint": true,
                "readOnlyNonRecursive": true, "readOnlyForceRecursive": true,
            },
        }),
        json!({
            "Type": "bind", "Source": "/srv", "Target": "/mnt", "ReadOnly": true, "Consistency": "cached",
            "BindOptions": {
                "Propagation": "rslave", "NonRecursive": true, "CreateMountpoint": true,
                "ReadOnlyNonRecursive": true, "ReadOnlyForceRecursive": true,
            },
        }),
    );
    mount(
        json!({
            "type": "volume", "source": "cache", "target": "/mnt",
            "volumeOptions": {
                "noCopy": true, "labels": { "a": "b" }, "subpath": "x",
                "driverConfig": { "name": "local", "options": { "type": "nfs" } },
            },
        }),
        json!({
            "Type": "volume", "Source": "cache", "Target": "/mnt",
            "VolumeOptions": {
                "NoCopy": true, "Labels": { "a": "b" }, "Subpath": "x",
                "DriverConfig": { "Name": "local", "Options": { "type": "nfs" } },
            },
        }),
    );
    mount(
        json!({ "type": "image", "source": "app:2", "target": "/mnt", "imageOptions": { "subpath": "x" } }),
        json!({ "Type": "image", "Source": "app:2", "Target": "/mnt", "ImageOptions": { "Subpath": "x" } }),
    );
    mount(
        json!({
            "type": "tmpfs", "target": "/mnt",
            "tmpfsOptions": { "sizeBytes": 1024, "mode": 1023, "options": [["noexec"]] },
        }),
        json!({
            "Type": "tmpfs", "Target": "/mnt",
            "TmpfsOptions": { "SizeBytes": 1024, "Mode": 1023, "Options": [["noexec"]] },
        }),
    );
}

#[test]
fn the_config_file_is_the_first_bind_and_the_volume_the_first_mount() {
    let config = json!({
        "secretName": "s", "key": "content", "sha256": "00", "path": "/etc/app.conf",
    });
    let volume =
        json!({ "volume": { "name": "d", "uid": "v-1" }, "driver": "local", "path": "/data" });
    row(
        json!({ "binds": ["/a:/b"], "mounts": [{ "type": "volume", "target": "/c" }] }),
        json!({ "configFile": config, "mounts": [volume] }),
        json!({
            "Volumes": { "/etc/app.conf": {} },
            "HostConfig": {
                "Binds": ["/var/lib/kibotos/default_web_01234567/service.conf:/etc/app.conf", "/a:/b"],
                "Mounts": [
                    { "Type": "volume", "Source": "kibotos-v-1", "Target": "/data" },
                    { "Type": "volume", "Target": "/c" },
                ],
            },
        }),
    );
    row(
        json!({ "directory": "/data/apps/x" }),
        json!({ "configFile": config }),
        json!({
            "Volumes": { "/etc/app.conf": {} },
            "HostConfig": { "Binds": ["/data/apps/x/service.conf:/etc/app.conf"] },
        }),
    );
}

#[test]
fn values_from_the_runs_secret_enter_the_environment_where_they_are_there() {
    let from = |name: &str| json!({ "name": name, "valueFrom": { "secretKeyRef": { "name": "run", "key": name } } });
    row(
        json!({ "env": [from("TOKEN"), from("OPTIONAL")] }),
        json!({}),
        json!({ "Env": ["CONTAINER_NAME=default_web", "TOKEN=s3cret"] }),
    );
}

#[test]
fn our_labels_say_whose_container_it_is_and_never_which_try() {
    let labels = create(&run(json!({}), json!({ "sequence": 7, "generation": 5 }))).body.labels;
    let wanted = [
        ("kibotos.dev/host-uid", "h-1"),
        ("kibotos.dev/spec-hash", "1:00"),
        ("kibotos.dev/workspace", "web"),
        ("kibotos.dev/workspace-namespace", "default"),
        ("kibotos.dev/workspace-uid", "0123456789abcdef"),
    ];
    assert_eq!(labels, wanted.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
}

#[test]
fn where_another_host_may_take_over_the_engine_restarts_nothing() {
    row(
        json!({}),
        json!({ "leased": true, "restartPolicy": { "name": "always" } }),
        json!({ "HostConfig": { "RestartPolicy": { "Name": "no" } } }),
    );
}

#[test]
fn an_old_engine_gets_one_network_at_creation_and_the_rest_before_the_start() {
    let spec = run(
        json!({
            "networks": [{ "name": "back" }, { "name": "front", "aliases": ["web"] }],
            "networkMode": "front",
        }),
        json!({}),
    );
    let old = create_on(ApiVersion::v1(43), &spec).unwrap();
    let endpoints = |create: &Create| serde_json::to_value(&create.body.networking_config).unwrap();
    assert_eq!(endpoints(&old), json!({ "EndpointsConfig": { "front": { "Aliases": ["web"] } } }));
    assert_eq!(old.connect.len(), 1);
    assert_eq!(old.connect[0].0, "back");
    let new = create_on(ApiVersion::v1(44), &spec).unwrap();
    assert_eq!(
        endpoints(&new),
        json!({ "EndpointsConfig": { "back": {}, "front": { "Aliases": ["web"] } } })
    );
    assert!(new.connect.is_empty());
}

#[test]
fn a_mac_address_goes_where_the_engine_looks_for_it() {
    let mac = "02:42:ac:11:00:02";
    let spec = run(json!({ "macAddress": mac }), json!({}));
    let old = create_on(ApiVersion::v1(43), &spec).unwrap().body;
    assert_eq!(old.mac_address.as_deref(), Some(mac));
    let new = serde_json::to_value(create_on(ApiVersion::v1(44), &spec).unwrap().body).unwrap();
    assert_eq!(new["MacAddress"], Value::Null);
    assert_eq!(
        new["NetworkingConfig"],
        json!({ "EndpointsConfig": { "default": { "MacAddress": mac } } })
    );
}

#[test]
fn what_the_engine_is_too_old_for_is_refused_by_field_and_version() {
    let told = |field: &str, least: &str, docker: &str, has: &str| {
        format!(
            "{field}: needs engine API {least} (Docker {docker}), and the host's engine has {has}"
        )
    };
    let mounts = "spec.container.mounts[0]";
    let bind = |option: &str| json!({ "mounts": [{ "type": "bind", "source": "/a", "target": "/b", "bindOptions": { option: true } }] });
    for (container, field, least, docker, has) in [
        (
            json!({ "healthcheck": { "startInterval": "1s" } }),
            "spec.container.healthcheck.startInterval".to_owned(),
            "1.44",
            "25",
            "1.43",
        ),
        (
            json!({ "annotations": { "a": "b" } }),
            "spec.container.annotations".to_owned(),
            "1.43",
            "24",
            "1.42",
        ),
        (
            bind("createMountpoint"),
            format!("{mounts}.bindOptions.createMountpoint"),
            "1.42",
            "23",
            "1.41",
        ),
        (
            bind("readOnlyNonRecursive"),
            format!("{mounts}.bindOptions.readOnlyNonRecursive"),
            "1.44",
            "25",
            "1.43",
        ),
        (
            bind("readOnlyForceRecursive"),
            format!("{mounts}.bindOptions.readOnlyForceRecursive"),
            "1.44",
            "25",
            "1.43",
        ),
        (
            json!({ "mounts": [{ "type": "volume", "target": "/b", "volumeOptions": { "subpath": "x" } }] }),
            format!("{mounts}.volumeOptions.subpath"),
            "1.45",
            "26",
            "1.44",
        ),
        (
            json!({ "mounts": [{ "type": "image", "source": "a", "target": "/b" }] }),
            format!("{mounts}.type"),
            "1.48",
            "28",
            "1.47",
        ),
        (
            json!({ "mounts": [{ "type": "tmpfs", "target": "/b", "tmpfsOptions": { "options": [["noexec"]] } }] }),
            format!("{mounts}.tmpfsOptions.options"),
            "1.46",
            "27",
            "1.45",
        ),
        (
            json!({ "networks": [{ "name": "a", "macAddress": "02:42:ac:11:00:02" }] }),
            "spec.container.networks[0].macAddress".to_owned(),
            "1.44",
            "25",
            "1.43",
        ),
        (
            json!({ "networks": [{ "name": "a", "gwPriority": 1 }] }),
            "spec.container.networks[0].gwPriority".to_owned(),
            "1.48",
            "28",
            "1.47",
        ),
    ] {
        refused(has, container.clone(), json!({}), &[&told(&field, least, docker, has)]);
        let enough = create_on(least.parse().unwrap(), &run(container, json!({})));
        assert!(enough.is_ok(), "{field} on {least}: {enough:?}");
    }
}

#[test]
fn all_errors_are_told_at_once() {
    refused(
        "1.41",
        json!({
            "name": "t",
            "image": "",
            "command": [],
            "env": [{ "name": "A", "value": "1" }, { "name": "A", "value": "2" }, { "name": "CONTAINER_NAME", "value": "x" }],
            "labels": { "kibotos.dev/x": "y" },
            "binds": ["/a:/b", "relative:/b/", "/c:/b"],
            "ports": [
                { "containerPort": 80, "hostPort": 80 },
                { "containerPort": 81, "hostPort": 80, "hostIP": "127.0.0.1" },
            ],
            "healthcheck": { "test": ["BOGUS"], "interval": "soon" },
        }),
        json!({ "stop": { "gracePeriod": "1.5s" }, "resources": { "limits": { "memory": "5Mi" } } }),
        &[
            r#"spec.container.name: "t" is too short: a container name has at least 2 characters"#,
            "spec.container.ports[1].hostPort: host port 80/tcp is published twice on one address: use another port or hostIP",
            r#"spec.container.binds[1]: destination "/b/" has '//', a '.' segment or a trailing '/': write "/b""#,
            "spec.container.binds[2]: /b is already mounted by spec.container.binds[0]: a path may be used once",
            "spec.resources.limits.memory: must be at least 6Mi: the engine takes no less",
            "spec.container.command: is empty, which clears the image's entrypoint and arguments: set args, or leave command out",
            "spec.stop.gracePeriod: must be whole seconds, e.g. 30s or 1m30s",
            "spec.container.image: is missing: name an image, e.g. nginx:1.29",
            "spec.container.env[1].name: A is set twice: set it once",
            "spec.container.env[2].name: CONTAINER_NAME is reserved, it always holds the container's name: leave it out",
            "spec.container.labels[kibotos.dev/x]: a label key may be neither empty nor begin with kibotos.dev/",
            r#"spec.container.healthcheck.interval: "soon" is not a duration: write one such as 30s, 1.5s or 1h30m"#,
            "spec.container.healthcheck.test: must be [NONE], [CMD, PROGRAM, ARG…] or [CMD-SHELL, LINE]",
        ],
    );
}

#[test]
fn container_name_given_as_it_is_stands_in_the_environment_once() {
    row(
        json!({ "name": "app", "env": [{ "name": "CONTAINER_NAME", "value": "app" }] }),
        json!({}),
        json!({ "Env": ["CONTAINER_NAME=app"] }),
    );
}

proptest! {
    #[test]
    fn one_input_always_makes_the_same_bytes(
        labels in prop::collection::btree_map("[a-z]{1,8}", ".{0,8}", 0..8),
        env in prop::collection::btree_map("[A-Z]{1,8}", "[^\0]{0,8}", 0..8),
        ports in prop::collection::btree_set(1..65535_i32, 0..8),
    ) {
        let env: Vec<_> = env.iter().map(|(n, v)| json!({ "name": n, "value": v })).collect();
        let ports: Vec<_> = ports.iter().map(|p| json!({ "containerPort": p, "hostPort": p })).collect();
        let spec = run(json!({ "labels": labels, "env": env, "ports": ports }), json!({}));
        let bytes = |spec: &WorkspaceRunSpec| serde_json::to_vec(&create(spec).body).unwrap();
        prop_assert_eq!(bytes(&spec), bytes(&spec.clone()));
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,64}", api in 41..53_u32) {
        let spec = run(
            json!({
                "name": text, "image": text, "directory": text, "workingDir": text, "macAddress": text,
                "binds": [text], "tmpfs": { (text.as_str()): text }, "anonymousVolumes": [text],
                "env": [{ "name": text, "value": text }], "labels": { (text.as_str()): text },
                "mounts": [{ "type": "bind", "target": text, "source": text }],
                "ports": [{ "containerPort": 0, "hostIP": text, "hostPort": -1 }],
                "networks": [{ "name": text, "macAddress": text }], "networkMode": text,
                "healthcheck": { "test": [text], "interval": text },
                "devices": [{ "pathOnHost": text, "pathInContainer": text }],
                "shmSize": text, "memorySwap": text, "platform": text,
            }),
            json!({
                "resources": { "limits": { "cpu": text, "memory": text, "kibotos.dev/pids": text } },
                "stop": { "signal": text, "gracePeriod": text },
            }),
        );
        let _ = create_on(ApiVersion::v1(api), &spec);
    }
}
