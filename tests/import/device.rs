//! The original device command.

use kibotos::docker::ApiVersion;
use kibotos::import::{Kind, import, manifest};
use serde_json::{Value, json};

use super::{rendered, request, same, seen, warned};

fn command() -> Value {
    json!({
        "container_name": "my_nginx",
        "container_dir": "/data/apps/my_nginx",
        "create": {
            "config": {
                "image": "docker.io/library/nginx:latest", "cmd": ["nginx", "-g", "daemon off;"], "entrypoint": [],
                "env": ["ENV=prod"], "labels": {"some_key": "v"}, "volumes": ["/data"], "user": "", "working_dir": "",
                "hostname": "", "exposed_ports": ["80/tcp"],
                "healthcheck": {"test": ["CMD-SHELL", "curl -f http://localhost || exit 1"],
                    "interval_ns": 30_000_000_000_i64, "timeout_ns": 10_000_000_000_i64, "retries": 3},
            },
            "host_config": {
                "binds": ["/host/data:/data"], "restart_policy": {"name": "on-failure", "maximum_retry_count": 3},
                "privileged": false, "cap_add": ["NET_ADMIN"],
                "devices": [{"path_on_host": "/dev/ttyUSB0", "path_in_container": "/dev/ttyUSB0", "cgroup_permissions": "rwm"}],
                "memory": 536_870_912, "memory_reservation": 268_435_456, "nano_cpus": 1_500_000_000, "cpu_shares": 512,
                "ulimits": [{"name": "nofile", "soft": 1024, "hard": 2048}], "tmpfs": {"/run_dir": "rw,size=64m"},
                "sysctls": {"net.ipv4.ip_forward": "1"}, "extra_hosts": ["host.docker.internal:host-gateway"],
            },
            "networking_config": {"endpoints": ["bridge"]},
        },
    })
}

#[test]
fn a_command_is_rendered_as_the_original_sent_it() {
    let imported = import(&request(Kind::Device, &command().to_string())).unwrap();
    assert_eq!(warned(&imported), [""; 0]);
    let workspace = &imported.workspaces[0];
    assert_eq!(workspace.metadata.name.as_deref(), Some("my-nginx"));
    assert_eq!(
        workspace.spec.container.as_ref().unwrap().directory.as_deref(),
        Some("/data/apps/my_nginx")
    );
    assert_eq!(workspace.spec.config_file, None);
    let create = rendered(workspace, ApiVersion::NEWEST).unwrap();
    assert_eq!(create.name, "my_nginx");
    let wanted = json!({
        "Image": "docker.io/library/nginx:latest", "Cmd": ["nginx", "-g", "daemon off;"], "Entrypoint": [],
        "Env": ["ENV=prod"], "Labels": {"some_key": "v"}, "Volumes": {"/data": {}}, "ExposedPorts": {"80/tcp": {}},
        "Healthcheck": {"Test": ["CMD-SHELL", "curl -f http://localhost || exit 1"],
            "Interval": 30_000_000_000_i64, "Timeout": 10_000_000_000_i64, "Retries": 3},
        "HostConfig": {"Binds": ["/host/data:/data"], "RestartPolicy": {"Name": "on-failure", "MaximumRetryCount": 3},
            "CapAdd": ["NET_ADMIN"],
            "Devices": [{"PathOnHost": "/dev/ttyUSB0", "PathInContainer": "/dev/ttyUSB0", "CgroupPermissions": "rwm"}],
            "Memory": 536_870_912, "MemoryReservation": 268_435_456, "NanoCpus": 1_500_000_000, "CpuShares": 512,
            "Ulimits": [{"Name": "nofile", "Soft": 1024, "Hard": 2048}], "Tmpfs": {"/run_dir": "rw,size=64m"},
            "Sysctls": {"net.ipv4.ip_forward": "1"}, "ExtraHosts": ["host.docker.internal:host-gateway"]},
    });
    assert_eq!(
        same::differences(&same::normalise(&wanted), &same::normalise(&seen(&create))),
        [""; 0]
    );
}

#[test]
fn the_entrypoint_is_cleared_as_the_original_always_did_unless_nothing_would_run() {
    let of = |config: Value| {
        let command = json!({ "container_name": "app", "create": { "config": config } });
        import(&request(Kind::Device, &command.to_string())).unwrap()
    };
    let imported = of(json!({ "image": "app", "cmd": ["x"] }));
    assert_eq!(imported.workspaces[0].spec.container.clone().unwrap().command.unwrap(), [""; 0]);
    let imported = of(json!({ "image": "app" }));
    assert_eq!(imported.workspaces[0].spec.container.clone().unwrap().command, None);
    assert_eq!(imported.warnings[0].path, "create.config.entrypoint");
}

#[test]
fn a_config_in_the_command_is_a_config_file_where_the_original_mounts_it() {
    let mut command = command();
    command["config"] = json!("a = 1\n");
    let imported = import(&request(Kind::Device, &command.to_string())).unwrap();
    let made = manifest::plain(&imported.workspaces[0]).unwrap();
    assert_eq!(
        made["spec"]["configFile"],
        json!({ "content": "a = 1\n", "path": "/usr/local/etc/service.conf" })
    );
}

#[test]
fn warnings_and_errors_name_the_fields_as_the_command_has_them() {
    let of = |key: &str, value: Value| {
        let mut command = command();
        command["create"]["host_config"][key] = value;
        import(&request(Kind::Device, &command.to_string())).unwrap()
    };
    for (key, value, path) in [
        ("cpu_shares", json!(1), "create.host_config.cpu_shares"),
        ("bogus_member", json!(1), "create.host_config.bogus_member"),
        ("uts_mode", json!("x"), "create.host_config.uts_mode"),
        ("restart_policy", json!({ "name": "bogus" }), "create.host_config.restart_policy.name"),
        (
            "ulimits",
            json!([{ "name": "x", "soft": 1, "hard": 1 }]),
            "create.host_config.ulimits[0]",
        ),
        ("tmpfs", json!({ "x": "" }), "create.host_config.tmpfs.x"),
    ] {
        assert_eq!(of(key, value).warnings[0].path, path);
    }
    assert_eq!(of("memory", json!("1g")).errors[0].path, "create.host_config.memory");
    let error = |text: &str| import(&request(Kind::Device, text)).unwrap_err().to_string();
    assert!(error("{}").starts_with("create: is missing"));
    assert!(error("{\"create\": {}}").starts_with("container_name: is missing"));
    assert_eq!(error("{\"create\": 1}"), "create: must be an object, and is a number");
}
