//! Create bodies: what is warned of, what is an error.

use kibotos::import::{Kind, Request, import, manifest};
use serde_json::{Value, json};

use super::{bad, of_body, request, warned};

/// What one value becomes in the spec.
#[track_caller]
fn becomes(body: &Value, pointer: &str, value: &Value) {
    let mut whole = json!({ "Image": "app" });
    merge(&mut whole, body);
    let imported = of_body(&whole);
    assert_eq!(warned(&imported), [""; 0], "{body}");
    let made = manifest::plain(&imported.workspaces[0]).unwrap();
    assert_eq!(made["spec"].pointer(pointer).unwrap_or(&Value::Null), value, "{body}: {made:#}");
}

fn merge(into: &mut Value, from: &Value) {
    for (key, value) in from.as_object().unwrap() {
        into[key] = value.clone();
    }
}

#[test]
fn the_least_body_is_a_workspace_without_volume_that_is_not_restarted() {
    let imported = of_body(&json!({ "Image": "app" }));
    assert_eq!(
        manifest::yaml(&imported.workspaces).unwrap(),
        "---\napiVersion: kibotos.dev/v1alpha1\nkind: Workspace\nmetadata:\n  name: app\nspec:\n  container:\n    \
         image: app\n    name: app\n    restartPolicy:\n      name: \"no\"\n  volume:\n    mode: None\n"
    );
}

#[test]
fn every_value_goes_to_its_place() {
    let host = |value: Value| json!({ "HostConfig": value });
    for (body, pointer, value) in [
        (host(json!({ "AutoRemove": true })), "/writableLayer/retention", json!("Discard")),
        (host(json!({ "StorageOpt": { "size": "2G" } })), "/writableLayer/size", json!("2Gi")),
        (host(json!({ "NanoCpus": 1_500_000_000 })), "/resources/limits/cpu", json!("1500m")),
        (host(json!({ "Memory": 536_870_912 })), "/resources/limits/memory", json!("512Mi")),
        (host(json!({ "Memory": 536_870_913 })), "/resources/limits/memory", json!("536870913")),
        (
            host(json!({ "MemoryReservation": 268_435_456 })),
            "/resources/requests/memory",
            json!("256Mi"),
        ),
        (host(json!({ "CpuShares": 512 })), "/resources/requests/cpu", json!("500m")),
        (host(json!({ "CpuShares": 2 })), "/resources/requests/cpu", json!("1953125n")),
        (host(json!({ "CpuShares": 3 })), "/resources/requests/cpu", json!("2929688n")),
        (host(json!({ "PidsLimit": 64 })), "/resources/limits/kibotos.dev~1pids", json!(64)),
        (host(json!({ "PidsLimit": -1 })), "/resources", json!(null)),
        (
            host(json!({ "RestartPolicy": { "Name": "on-failure", "MaximumRetryCount": 3 } })),
            "/container/restartPolicy",
            json!({ "name": "on-failure", "maximumRetryCount": 3 }),
        ),
        (
            json!({ "StopTimeout": 90, "StopSignal": "SIGINT" }),
            "/stop",
            json!({ "gracePeriod": "1m30s", "signal": "SIGINT" }),
        ),
        (json!({ "StopTimeout": 0 }), "/stop/gracePeriod", json!("0s")),
        (
            json!({ "Healthcheck": { "Test": ["NONE"] } }),
            "/container/healthcheck",
            json!({ "test": ["NONE"] }),
        ),
        (
            json!({ "Healthcheck": { "Interval": 1_500_000_000, "StartPeriod": 300_000_000 } }),
            "/container/healthcheck",
            json!({ "interval": "1.5s", "startPeriod": "300ms" }),
        ),
        (json!({ "Entrypoint": [""], "Cmd": ["x"] }), "/container/command", json!([])),
        (
            json!({ "Env": ["CONTAINER_NAME=app", "A=b=c"] }),
            "/container/env",
            json!([{ "name": "A", "value": "b=c" }]),
        ),
        (json!({ "Volumes": { "/data/": {} } }), "/container/anonymousVolumes", json!(["/data"])),
        (
            host(json!({ "Binds": ["/a//b/../c/:/d/:ro", "/e"] })),
            "/container/binds",
            json!(["/a/c:/d:ro"]),
        ),
        (host(json!({ "Binds": ["/e"] })), "/container/anonymousVolumes", json!(["/e"])),
        (
            host(json!({ "VolumeDriver": "nfs", "Binds": ["vol:/d:ro"] })),
            "/container/mounts",
            json!([{ "type": "volume", "source": "vol", "target": "/d", "readOnly": true,
                     "volumeOptions": { "driverConfig": { "name": "nfs" } } }]),
        ),
        (
            host(json!({ "ExtraHosts": ["a=[::1]", "b:host-gateway"] })),
            "/container/extraHosts",
            json!(["a:::1", "b:host-gateway"]),
        ),
        (host(json!({ "NetworkMode": "host" })), "/container/networkMode", json!("host")),
        (
            json!({ "hostconfig": { "memory": 8_388_608 } }),
            "/resources/limits/memory",
            json!("8Mi"),
        ),
        (
            json!({ "ExposedPorts": { "53/udp": {}, "80/tcp": {} },
                 "HostConfig": { "PortBindings": { "80/tcp": [{ "HostIp": "127.0.0.1", "HostPort": "" }] } } }),
            "/container/ports",
            json!([{ "containerPort": 53, "protocol": "UDP" },
                   { "containerPort": 80, "protocol": "TCP", "hostIP": "127.0.0.1", "publish": true }]),
        ),
    ] {
        becomes(&body, pointer, &value);
    }
}

#[test]
fn what_the_schema_would_refuse_is_left_out_with_one_warning_that_names_it() {
    for (path, body) in bad::bodies() {
        let imported = of_body(&body);
        let paths: Vec<&str> =
            imported.warnings.iter().map(|warning| warning.path.as_str()).collect();
        assert_eq!(paths, [path], "{body}: {:?}", imported.warnings);
        assert_eq!(imported.errors, [], "{body}");
        assert_eq!(imported.workspaces.len(), 1, "{body}");
    }
}

#[test]
fn members_that_mean_nothing_are_left_out_in_silence() {
    let imported = of_body(&json!({
        "Image": "app", "AttachStdin": true, "AttachStdout": true, "AttachStderr": true, "OnBuild": null,
        "ArgsEscaped": true, "Unknown": { "x": [], "y": { "z": 0 } },
        "HostConfig": { "ConsoleSize": [24, 80], "ContainerIDFile": "/x", "Isolation": "default",
            "MemorySwappiness": -1, "KernelMemory": 0, "IOMaximumIOps": 0, "MaskedPaths": null,
            "LogConfig": { "Type": "", "Config": {} }, "CpuQuota": -1 },
        "NetworkingConfig": { "EndpointsConfig": { "default": { "IPAMConfig": null, "DNSNames": null,
            "IPPrefixLen": 0, "IPAddress": "10.0.0.1" } } },
    }));
    assert_eq!(warned(&imported), [""; 0]);
}

#[test]
fn a_value_of_the_wrong_type_is_an_error_that_names_it() {
    for (body, error) in [
        (json!({ "Image": 1 }), "Image: must be a text, and is a number"),
        (json!({ "Image": "app", "Env": "A=1" }), "Env: must be a list, and is a text"),
        (
            json!({ "Image": "app", "HostConfig": { "Memory": "512m" } }),
            "HostConfig.Memory: must be a whole number, and is a text",
        ),
        (
            json!({ "Image": "app", "HostConfig": { "Privileged": "yes" } }),
            "HostConfig.Privileged: must be true or false, and is a text",
        ),
        (
            json!({ "Image": "app", "Labels": { "a": 1 } }),
            "Labels[a]: must be a text, and is a number",
        ),
        (
            json!({ "Image": "app", "HostConfig": [] }),
            "HostConfig: must be an object, and is a list",
        ),
        (json!({ "Image": "Not An Image" }), "Image: \"Not An Image\" contains ' '"),
        (json!({ "HostConfig": {} }), "Image: is missing"),
    ] {
        let imported = of_body(&body);
        assert!(
            imported.errors.iter().any(|e| e.to_string().starts_with(error)),
            "{body}: {:?}",
            imported.errors
        );
        assert_eq!(imported.workspaces.len(), 0, "{body}");
    }
}

#[test]
fn what_is_no_json_is_an_error_with_line_and_column() {
    let fault = |kind: Kind, text: &str| {
        import(&Request { name: Some("app"), ..request(kind, text) }).unwrap_err().to_string()
    };
    assert_eq!(
        fault(Kind::Create, "{\n  \"Image\": app\n}"),
        "the create body is no JSON: expected value at line 2 column 12"
    );
    assert_eq!(fault(Kind::Create, "[]"), "the create body must be an object, and is a list");
    assert!(fault(Kind::Inspect, "{").contains("line 1 column 1"));
    assert!(fault(Kind::Device, "{\"a\":").contains("line 1 column 5"));
    let unnamed = import(&request(Kind::Create, "{\"Image\": \"app\"}")).unwrap_err().to_string();
    assert!(unnamed.ends_with("give --name"), "{unnamed}");
}

#[test]
fn a_source_without_a_container_is_an_error_that_says_what_is_expected() {
    for (kind, text, error) in [
        (Kind::Create, " \n", "the create body is empty: JSON is expected"),
        (Kind::Inspect, "", "the output of docker inspect is empty: JSON is expected"),
        (
            Kind::Inspect,
            "[]",
            "the output of docker inspect is an empty list: give that of docker inspect CONTAINER",
        ),
        (Kind::Compose, "\n", "the compose file is empty: services are expected"),
        (Kind::Compose, "# c\n", "the compose file must be an object with services in it"),
        (Kind::Compose, "{}", "services: is missing or empty"),
        (Kind::Compose, "version: '3'", "services: is missing or empty"),
        (Kind::Compose, "services:", "services: is missing or empty"),
        (Kind::Compose, "services: {}", "services: is missing or empty"),
        (Kind::Compose, "services: []", "services: must be an object, and is a list"),
        (Kind::Device, "", "the device command is empty: JSON is expected"),
        (Kind::Device, "{}", "create: is missing"),
    ] {
        let request = Request { name: Some("app"), ..request(kind, text) };
        let told = import(&request).unwrap_err().to_string();
        assert!(told.starts_with(error), "{kind:?} {text:?}: {told}");
    }
    for (kind, text) in
        [(Kind::Create, "{}"), (Kind::Inspect, "{}"), (Kind::Device, "{\"create\": {}}")]
    {
        let request = Request { name: Some("app"), ..request(kind, text) };
        assert!(!import(&request).unwrap().errors.is_empty(), "{kind:?}");
    }
}
