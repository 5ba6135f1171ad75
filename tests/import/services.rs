//! Each member of a compose file's service, and what it is on the wire.

use kibotos::docker::ApiVersion;
use serde_json::{Value, json};

use super::compose::one;
use super::{rendered, same, seen};

/// What a service becomes on the wire.
fn body(service: &str) -> Value {
    let (workspace, _) = one(service);
    same::normalise(&seen(&rendered(&workspace, ApiVersion::NEWEST).unwrap()))
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn each_member_of_a_service_goes_to_its_place() {
    for (service, pointer, value) in [
        ("command: nginx -g 'daemon off;'", "/Cmd", json!(["nginx", "-g", "daemon off;"])),
        ("entrypoint: [/bin/app, 1]", "/Entrypoint", json!(["/bin/app", "1"])),
        (
            "environment: {A: 1, B: yes, C: '', D: true, PORT: }",
            "/Env",
            json!(["A=1", "B=yes", "C=", "D=true", "PORT=8080"]),
        ),
        ("environment: [A=1, PORT]\nenv_file: a.env", "/Env", json!(["A=1", "B=x y", "PORT=8080"])),
        (
            "env_file: [{path: ./a.env}, {path: b.env, required: false}]",
            "/Env",
            json!(["A=1", "B=x y"]),
        ),
        (
            "environment: ['T=${TAG}', 'D=${NO:-d}', 'E=${EMPTY:-e}', 'F=${EMPTY-f}', 'G=${PORT:+g}', 'H=$$x']",
            "/Env",
            json!(["D=d", "E=e", "F=", "G=g", "H=$x", "T=1.10"]),
        ),
        (
            "ports: ['${PORT}:80']",
            "/HostConfig/PortBindings",
            json!({ "80/tcp": [{ "HostPort": "8080" }] }),
        ),
        (
            "ports: ['127.0.0.1:5000-5001:80-81/udp', 90]",
            "/HostConfig/PortBindings",
            json!({ "80/udp": [{ "HostIp": "127.0.0.1", "HostPort": "5000" }],
                    "81/udp": [{ "HostIp": "127.0.0.1", "HostPort": "5001" }], "90/tcp": [{}] }),
        ),
        (
            "ports: ['[::1]:80:80', {target: 53, published: '54', protocol: udp, host_ip: 10.0.0.1, mode: host}]",
            "/HostConfig/PortBindings",
            json!({ "80/tcp": [{ "HostIp": "::1", "HostPort": "80" }], "53/udp": [{ "HostIp": "10.0.0.1", "HostPort": "54" }] }),
        ),
        (
            "expose: [80, '90-91/udp']",
            "/ExposedPorts",
            json!({ "80/tcp": {}, "90/udp": {}, "91/udp": {} }),
        ),
        (
            "volumes: [./a:/a:ro, ../b:/b, /c/:/c, vol:/d, /e]",
            "/HostConfig/Binds",
            json!(["/srv/b:/b", "/srv/stack/a:/a:ro", "/c:/c", "stack_vol:/d"]),
        ),
        ("volumes: [/e]", "/Volumes", json!({ "/e": {} })),
        (
            "volumes: [{type: bind, source: ./a, target: /a, bind: {propagation: rslave}}]",
            "/HostConfig/Binds",
            json!(["/srv/stack/a:/a:rslave"]),
        ),
        (
            "volumes: [{type: bind, source: ./a, target: /a, bind: {create_host_path: false}}]",
            "/HostConfig/Mounts",
            json!([{ "Type": "bind", "Source": "/srv/stack/a", "Target": "/a" }]),
        ),
        (
            "volumes: [{type: tmpfs, target: /t, tmpfs: {size: 64m, mode: 01777}}]",
            "/HostConfig/Mounts",
            json!([{ "Type": "tmpfs", "Target": "/t", "TmpfsOptions": { "SizeBytes": 67_108_864, "Mode": 1023 } }]),
        ),
        (
            "volumes: [{type: volume, source: v1, target: /v, volume: {nocopy: true, subpath: x}}]",
            "/HostConfig/Mounts",
            json!([{ "Type": "volume", "Source": "stack_v1", "Target": "/v", "VolumeOptions": { "NoCopy": true, "Subpath": "x" } }]),
        ),
        (
            "tmpfs: ['/run:size=64m', /tmp]",
            "/HostConfig/Tmpfs",
            json!({ "/run": "size=64m", "/tmp": "" }),
        ),
        ("network_mode: host", "/HostConfig/NetworkMode", json!("host")),
        (
            "networks: {front: {aliases: [a], ipv4_address: 10.0.0.2}}",
            "/NetworkingConfig/EndpointsConfig",
            json!({ "stack_front": { "Aliases": ["a", "web"], "IPAMConfig": { "IPv4Address": "10.0.0.2" } } }),
        ),
        ("networks: {b: {priority: 1}, a: }", "/HostConfig/NetworkMode", json!("stack_b")),
        (
            "restart: on-failure:3",
            "/HostConfig/RestartPolicy",
            json!({ "Name": "on-failure", "MaximumRetryCount": 3 }),
        ),
        ("restart: no", "/HostConfig/RestartPolicy", json!(null)),
        ("restart: any", "/HostConfig/RestartPolicy", json!({ "Name": "always" })),
        (
            "restart: always\ndeploy: {restart_policy: {condition: none}}",
            "/HostConfig/RestartPolicy",
            json!(null),
        ),
        (
            "deploy: {restart_policy: {condition: on-failure, max_attempts: 2}}",
            "/HostConfig/RestartPolicy",
            json!({ "Name": "on-failure", "MaximumRetryCount": 2 }),
        ),
        (
            "healthcheck: {test: curl x, interval: 1m30s, retries: 3, start_interval: 2s}",
            "/Healthcheck",
            json!({ "Test": ["CMD-SHELL", "curl x"], "Interval": 90_000_000_000_i64, "Retries": 3, "StartInterval": 2_000_000_000_i64 }),
        ),
        ("healthcheck: {disable: true}", "/Healthcheck", json!({ "Test": ["NONE"] })),
        (
            "mem_limit: 512m\nmem_reservation: 256m\nmemswap_limit: 1g\ncpus: 0.5\npids_limit: 64",
            "/HostConfig",
            json!({ "Memory": 536_870_912, "MemoryReservation": 268_435_456, "NanoCpus": 500_000_000, "PidsLimit": 64 }),
        ),
        ("memswap_limit: -1\nmem_limit: 1gb", "/HostConfig/MemorySwap", json!(-1)),
        (
            "deploy: {resources: {limits: {cpus: '1.5', memory: 1g, pids: 3}, reservations: {memory: 512m}}}",
            "/HostConfig",
            json!({ "Memory": 1_073_741_824, "MemoryReservation": 536_870_912, "NanoCpus": 1_500_000_000, "PidsLimit": 3 }),
        ),
        (
            "deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}",
            "/HostConfig/DeviceRequests",
            json!([{ "Driver": "nvidia", "Count": -1, "Capabilities": [["gpu"]] }]),
        ),
        (
            "gpus: all",
            "/HostConfig/DeviceRequests",
            json!([{ "Count": -1, "Capabilities": [["gpu"]] }]),
        ),
        (
            "devices: [/dev/a, '/dev/b:/dev/c:r', vendor.com/class=x]",
            "/HostConfig/Devices",
            json!([{ "PathOnHost": "/dev/a", "PathInContainer": "/dev/a", "CgroupPermissions": "rwm" },
                   { "PathOnHost": "/dev/b", "PathInContainer": "/dev/c", "CgroupPermissions": "r" }]),
        ),
        (
            "ulimits: {nofile: {soft: 1, hard: 2}, nproc: 3}",
            "/HostConfig/Ulimits",
            json!([{ "Name": "nofile", "Soft": 1, "Hard": 2 }, { "Name": "nproc", "Soft": 3, "Hard": 3 }]),
        ),
        (
            "extra_hosts: {a: 10.0.0.1, b: '::1'}",
            "/HostConfig/ExtraHosts",
            json!(["a:10.0.0.1", "b:::1"]),
        ),
        (
            "extra_hosts: {a: [10.0.0.1, '::1']}",
            "/HostConfig/ExtraHosts",
            json!(["a:10.0.0.1", "a:::1"]),
        ),
        (
            "extra_hosts: ['a=10.0.0.1', 'b:host-gateway']",
            "/HostConfig/ExtraHosts",
            json!(["a:10.0.0.1", "b:host-gateway"]),
        ),
        (
            "dns: 1.1.1.1\ndns_search: [a]\ndns_opt: [ndots:2]",
            "/HostConfig",
            json!({ "Dns": ["1.1.1.1"], "DnsSearch": ["a"], "DnsOptions": ["ndots:2"] }),
        ),
        (
            "sysctls: [net.core.somaxconn=1]",
            "/HostConfig/Sysctls",
            json!({ "net.core.somaxconn": "1" }),
        ),
        (
            "cap_add: [NET_ADMIN]\ncap_drop: [ALL]",
            "/HostConfig",
            json!({ "CapAdd": ["CAP_NET_ADMIN"], "CapDrop": ["ALL"] }),
        ),
        (
            "logging: {driver: json-file, options: {max-size: 1m, max-file: 3}}",
            "/HostConfig/LogConfig",
            json!({ "Type": "json-file", "Config": { "max-size": "1m", "max-file": "3" } }),
        ),
        ("stop_grace_period: 1m\nstop_signal: SIGINT", "/StopTimeout", json!(60)),
        (
            "tty: true\nstdin_open: true\nuser: 1000\nworking_dir: /a\nhostname: h\ndomainname: d",
            "",
            json!({ "Image": "app:latest", "Tty": true, "OpenStdin": true, "User": "1000", "WorkingDir": "/a", "Hostname": "h", "Domainname": "d" }),
        ),
        (
            "privileged: true\nread_only: true\ninit: true\nshm_size: 128m\nipc: host\npid: host\nuserns_mode: host\n\
          cgroup: private\nruntime: runsc\ncgroup_parent: /x\noom_score_adj: 5\noom_kill_disable: true\nmem_limit: 1g\ncpuset: 0-1\n\
          cpu_shares: 512\nmem_swappiness: 0\ngroup_add: [1]\nsecurity_opt: [no-new-privileges]\nstorage_opt: {size: 1G}\n\
          blkio_config: {weight: 300, device_read_bps: [{path: /dev/sda, rate: 1m}]}\nannotations: {a: b}",
            "/HostConfig",
            json!({ "Privileged": true, "ReadonlyRootfs": true, "Init": true, "ShmSize": 134_217_728, "IpcMode": "host",
                "PidMode": "host", "UsernsMode": "host", "CgroupnsMode": "private", "Runtime": "runsc", "CgroupParent": "/x",
                "OomScoreAdj": 5, "OomKillDisable": true, "Memory": 1_073_741_824, "CpusetCpus": "0-1", "CpuShares": 512, "MemorySwappiness": 0,
                "GroupAdd": ["1"], "SecurityOpt": ["no-new-privileges=true"], "StorageOpt": { "size": "1073741824" },
                "BlkioWeight": 300, "BlkioDeviceReadBps": [{ "Path": "/dev/sda", "Rate": 1_048_576 }], "Annotations": { "a": "b" } }),
        ),
        ("labels: [a=b, c]", "/Labels", json!({ "a": "b", "c": "" })),
    ] {
        let body = body(service);
        assert_eq!(
            body.pointer(pointer).unwrap_or(&Value::Null),
            &sorted(value),
            "{service}\n{body:#}"
        );
    }
}

/// Binds in canonical order, as the canonical form has them.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(mut items)
            if items.iter().all(|i| i.as_str().is_some_and(|t| t.contains(":/"))) =>
        {
            items.sort_by_key(|item| item.as_str().unwrap().to_owned());
            items.into()
        }
        other => other,
    }
}
