//! `docker inspect`.

use kibotos::import::{Imported, Kind, Request, import, manifest};
use serde_json::{Value, json};

use super::{request, warned};

const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// What an engine of cgroup v2 prints of `docker run --name web nginx`.
fn plain() -> Value {
    json!({
        "Id": ID, "Created": "2026-01-01T00:00:00Z", "Path": "nginx", "Args": [], "State": { "Running": true },
        "Image": "sha256:aa", "Name": "/web", "RestartCount": 0, "Driver": "overlay2", "Platform": "linux",
        "MountLabel": "", "AppArmorProfile": "docker-default", "ExecIDs": null, "GraphDriver": { "Name": "overlay2" },
        "LogPath": "/x", "Mounts": [],
        "Config": {
            "Hostname": "0123456789ab", "AttachStdout": true, "Env": ["PATH=/bin", "A=1"], "Cmd": ["nginx"], "Image": "nginx",
            "Entrypoint": ["/entry.sh"], "Labels": { "maintainer": "x", "mine": "y" }, "ExposedPorts": { "80/tcp": {} },
            "WorkingDir": "/srv", "StopSignal": "SIGQUIT", "User": "", "Volumes": { "/cache": {} },
        },
        "HostConfig": {
            "NetworkMode": "bridge", "RestartPolicy": { "Name": "no", "MaximumRetryCount": 0 }, "ShmSize": 67_108_864,
            "LogConfig": { "Type": "json-file", "Config": {} }, "IpcMode": "private", "CgroupnsMode": "private",
            "Runtime": "runc", "MemorySwap": 0, "Memory": 0, "OomKillDisable": null, "PidsLimit": null, "Isolation": "",
            "MaskedPaths": ["/proc/kcore"], "ReadonlyPaths": ["/proc/bus"], "ConsoleSize": [24, 80], "Binds": null,
        },
        "NetworkSettings": { "Ports": {}, "Networks": { "bridge": {
            "IPAMConfig": null, "Aliases": null, "NetworkID": "n", "IPAddress": "172.17.0.2", "MacAddress": "02:42:ac:11:00:02",
            "Gateway": "172.17.0.1", "DNSNames": null } } },
    })
}

fn image() -> String {
    json!([{ "Id": "sha256:aa", "RepoTags": ["nginx:latest"], "Config": {
        "Env": ["PATH=/bin"], "Cmd": ["nginx"], "Entrypoint": ["/entry.sh"], "Labels": { "maintainer": "x" },
        "ExposedPorts": { "80/tcp": {} }, "WorkingDir": "/srv", "StopSignal": "SIGQUIT", "User": "", "Volumes": { "/cache": {} },
    } }])
    .to_string()
}

fn inspect(containers: &Value, image: Option<&str>) -> Imported {
    let text = containers.to_string();
    import(&Request { image_config: image, ..request(Kind::Inspect, &text) }).unwrap()
}

fn changed(pointer: &str, value: Value) -> Value {
    let mut container = plain();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    container.pointer_mut(parent).unwrap()[key] = value;
    json!([container])
}

#[test]
fn what_engine_and_image_added_is_taken_off() {
    let imported = inspect(&json!([plain()]), Some(&image()));
    assert_eq!(warned(&imported), [""; 0]);
    assert_eq!(
        manifest::plain(&imported.workspaces[0]).unwrap()["spec"],
        json!({
            "container": { "name": "web", "image": "nginx", "env": [{ "name": "A", "value": "1" }],
                "labels": { "mine": "y" }, "restartPolicy": { "name": "no" } },
            "volume": { "mode": "None" },
        })
    );
}

#[test]
fn without_the_image_its_defaults_stay_and_one_warning_says_so() {
    let mut other = plain();
    other["Name"] = json!("/web_2");
    let imported = inspect(&json!([plain(), other]), None);
    let names: Vec<_> =
        imported.workspaces.iter().map(|w| w.metadata.name.clone().unwrap()).collect();
    assert_eq!(names, ["web", "web-2"]);
    assert_eq!(imported.warnings.len(), 1);
    assert!(imported.warnings[0].message.contains("--image-config"), "{:?}", imported.warnings);
    assert_eq!(imported.workspaces[0].spec.container.clone().unwrap().args.unwrap(), ["nginx"]);
}

#[test]
fn what_was_asked_for_stays() {
    for (pointer, value, at, made) in [
        ("/Config/Hostname", json!("own"), "/container/hostname", json!("own")),
        ("/Config/Cmd", json!(["other"]), "/container/args", json!(["other"])),
        ("/Config/Entrypoint", json!(["other"]), "/container/command", json!(["other"])),
        ("/Config/User", json!("7"), "/container/user", json!("7")),
        ("/HostConfig/CgroupnsMode", json!("host"), "/container/cgroupnsMode", json!("host")),
        ("/HostConfig/IpcMode", json!("host"), "/container/ipcMode", json!("host")),
        ("/HostConfig/ShmSize", json!(1024), "/container/shmSize", json!("1Ki")),
        ("/HostConfig/Runtime", json!("runsc"), "/container/runtime", json!("runsc")),
        (
            "/HostConfig/AutoRemove",
            json!(true),
            "/writableLayer",
            json!({ "retention": "Discard" }),
        ),
        (
            "/HostConfig/LogConfig",
            json!({ "Type": "local", "Config": {} }),
            "/container/logging",
            json!({ "type": "local" }),
        ),
        (
            "/HostConfig/RestartPolicy",
            json!({ "Name": "always" }),
            "/container/restartPolicy",
            json!({ "name": "always" }),
        ),
        (
            "/HostConfig/PortBindings",
            json!({ "80/tcp": [{ "HostIp": "", "HostPort": "8080" }] }),
            "/container/ports",
            json!([{ "containerPort": 80, "protocol": "TCP", "hostPort": 8080 }]),
        ),
        (
            "/NetworkSettings/Networks",
            json!({ "front": { "Aliases": ["0123456789ab", "www"], "IPAMConfig": { "IPv4Address": "10.0.0.2" } } }),
            "/container/networks",
            json!([{ "name": "front", "aliases": ["www"], "ipamConfig": { "ipv4Address": "10.0.0.2" } }]),
        ),
    ] {
        let imported = inspect(&changed(pointer, value), Some(&image()));
        assert_eq!(warned(&imported), [""; 0], "{pointer}");
        let spec = manifest::plain(&imported.workspaces[0]).unwrap()["spec"].clone();
        assert_eq!(spec.pointer(at), Some(&made), "{pointer} {spec:#}");
    }
}

#[test]
fn an_entrypoint_that_was_set_to_the_images_own_stays_since_it_drops_the_command() {
    let imported = inspect(&changed("/Config/Cmd", json!(null)), Some(&image()));
    let container = imported.workspaces[0].spec.container.clone().unwrap();
    assert_eq!(container.command.unwrap(), ["/entry.sh"]);
}

#[test]
fn engines_of_cgroup_v1_show_other_defaults() {
    let mut container = plain();
    container["HostConfig"]["OomKillDisable"] = json!(false);
    container["HostConfig"]["CgroupnsMode"] = json!("host");
    container["HostConfig"]["Memory"] = json!(8_388_608);
    container["HostConfig"]["MemorySwap"] = json!(16_777_216);
    container["HostConfig"]["Privileged"] = json!(true);
    container["HostConfig"]["SecurityOpt"] = json!(["label=disable"]);
    let imported = inspect(&json!([container]), Some(&image()));
    let container = imported.workspaces[0].spec.container.clone().unwrap();
    assert_eq!(
        (container.cgroupns_mode, container.memory_swap, container.security_opt),
        (None, None, None)
    );
    assert_eq!(container.privileged, Some(true));
}

#[test]
fn what_is_lost_is_warned_of_by_its_path() {
    let volume = json!([{ "Type": "volume", "Name": ID, "Destination": "/cache" }]);
    for (pointer, value, path) in [
        ("/Mounts", volume, "[0].Mounts[0]"),
        ("/NewMember", json!(1), "[0].NewMember"),
        ("/Config/NewMember", json!(1), "[0].Config.NewMember"),
        ("/HostConfig/Links", json!(["/db:/web/db"]), "[0].HostConfig.Links"),
        ("/HostConfig/MaskedPaths", json!([]), "[0].HostConfig.MaskedPaths"),
        ("/HostConfig/CpuShares", json!(1), "[0].HostConfig.CpuShares"),
        (
            "/NetworkSettings/Networks/bridge/MacAddress",
            json!("02:42:00:00:00:01"),
            "[0].NetworkSettings.Networks[bridge].MacAddress",
        ),
        (
            "/NetworkSettings/Networks/bridge/Aliases",
            json!(["x"]),
            "[0].NetworkSettings.Networks[bridge]",
        ),
        ("/Image", json!("sha256:bb"), ""),
    ] {
        let imported = inspect(&changed(pointer, value), Some(&image()));
        let paths: Vec<&str> = imported.warnings.iter().map(|w| w.path.as_str()).collect();
        let wanted: Vec<&str> = Some(path).into_iter().filter(|path| !path.is_empty()).collect();
        assert_eq!(paths, wanted, "{pointer}");
    }
}

#[test]
fn containers_of_workspaces_are_skipped() {
    let imported =
        inspect(&changed("/Config/Labels", json!({ "kibotos.dev/workspace-uid": "u" })), None);
    assert_eq!(imported.workspaces.len(), 0);
    assert!(imported.warnings[0].message.ends_with("skipped"), "{:?}", imported.warnings);
}

#[test]
fn one_name_cannot_be_for_many_containers() {
    let mut other = plain();
    other["Name"] = json!("/other");
    let text = json!([plain(), other]).to_string();
    let error = import(&Request { name: Some("x"), ..request(Kind::Inspect, &text) }).unwrap_err();
    assert!(error.to_string().starts_with("--name goes with one container"));
    let text = json!([plain()]).to_string();
    let imported = import(&Request {
        name: Some("x"),
        namespace: Some("ns"),
        ..request(Kind::Inspect, &text)
    })
    .unwrap();
    let workspace = &imported.workspaces[0];
    assert_eq!(workspace.metadata.name.as_deref(), Some("x"));
    assert_eq!(workspace.metadata.namespace.as_deref(), Some("ns"));
    assert_eq!(workspace.spec.container.clone().unwrap().name.as_deref(), Some("web"));
}

#[test]
fn the_labels_of_docker_compose_are_left_out_for_it_would_take_the_container_for_its_own() {
    let labels = json!({ "com.docker.compose.project": "stack", "com.docker.compose.config-hash": "aa", "mine": "y" });
    let imported = inspect(&changed("/Config/Labels", labels), Some(&image()));
    let container = imported.workspaces[0].spec.container.clone().unwrap();
    assert_eq!(container.labels.unwrap().into_keys().collect::<Vec<_>>(), ["mine"]);
    let warned = warned(&imported);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("com.docker.compose.*"), "{warned:?}");
}

#[test]
fn one_bad_element_is_an_error_that_leaves_the_others_alone() {
    let mut named = plain();
    named["Name"] = json!("/bad");
    named["HostConfig"]["Memory"] = json!("1g");
    let image = json!({ "Id": "sha256:aa", "Name": "/odd", "RepoTags": [], "Config": {} });
    let imported = inspect(&json!([plain(), named, 7, image, null]), None);
    let good: Vec<_> =
        imported.workspaces.iter().map(|w| w.metadata.name.clone().unwrap()).collect();
    assert_eq!(good, ["web"]);
    let errors: Vec<_> = imported.errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "[2]: must be an object, and is a number",
            "[3] (odd): is no container of docker inspect: HostConfig must be an object, and is null",
            "[4]: must be an object, and is null",
            "[1].HostConfig.Memory: must be a whole number, and is a text (container bad)",
        ]
    );
}

#[test]
fn a_container_that_does_not_run_becomes_a_workspace_that_does_not() {
    for (state, power, warning) in [
        (json!({ "Status": "running", "Running": true }), None, None),
        (json!({ "Status": "restarting", "Running": true, "Restarting": true }), None, None),
        (json!({ "Running": true }), None, None),
        (json!({ "Status": "paused", "Running": true, "Paused": true }), None, Some("is paused")),
        (
            json!({ "Status": "exited" }),
            Some("Stopped"),
            Some("is exited: the container does not run"),
        ),
        (json!({ "Status": "dead" }), Some("Stopped"), Some("is dead")),
        (
            json!({ "Status": "created" }),
            Some("Stopped"),
            Some("is created: the container was never"),
        ),
        (json!({ "Status": "removing" }), Some("Stopped"), Some("is removing")),
    ] {
        let imported = inspect(&changed("/State", state.clone()), Some(&image()));
        let made = manifest::plain(&imported.workspaces[0]).unwrap();
        assert_eq!(made["spec"].get("powerState").and_then(Value::as_str), power, "{state}");
        let warned = warned(&imported);
        assert_eq!(warned.len(), usize::from(warning.is_some()), "{state}: {warned:?}");
        let start = warning.map(|warning| format!("[0].State.Status: {warning}"));
        assert!(start.is_none_or(|start| warned[0].starts_with(&start)), "{state}: {warned:?}");
    }
}

#[test]
fn a_shell_of_the_containers_own_runs_its_health_check() {
    let check = |config: Value| {
        let mut container = plain();
        for (key, value) in config.as_object().unwrap() {
            container["Config"][key] = value.clone();
        }
        let imported = inspect(&json!([container]), Some(&image()));
        let made = imported.workspaces[0].spec.container.clone().unwrap().healthcheck;
        (made.and_then(|check| check.test).unwrap_or_default(), warned(&imported))
    };
    let line = json!({ "Test": ["CMD-SHELL", "a && b"] });
    let bash = json!(["/bin/bash", "-c"]);
    let (test, warned) = check(json!({ "Healthcheck": line, "Shell": bash }));
    assert_eq!(
        (test, warned.len()),
        (["CMD", "/bin/bash", "-c", "a && b"].map(str::to_owned).to_vec(), 0)
    );
    let (test, warned) = check(json!({ "Healthcheck": line }));
    assert_eq!((test, warned.len()), (["CMD-SHELL", "a && b"].map(str::to_owned).to_vec(), 0));
    let (_, warned) = check(json!({ "Shell": bash, "Healthcheck": { "Test": ["NONE"] } }));
    assert_eq!(warned, [""; 0]);
    let (_, warned) = check(json!({ "Shell": bash }));
    assert!(warned[0].starts_with("[0].Config.Shell: has no counterpart"), "{warned:?}");
}
