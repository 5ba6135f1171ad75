//! Create bodies with a value that the CRD would refuse.

use serde_json::{Value, json};

/// Bodies with a value that the CRD would refuse, by what the first warning names.
#[allow(clippy::too_many_lines, reason = "a table")]
pub fn bodies() -> Vec<(&'static str, Value)> {
    let host = |value: Value| json!({ "Image": "app", "HostConfig": value });
    let config = |key: &str, value: Value| json!({ "Image": "app", key: value });
    let port = |binding: Value| {
        json!({ "Image": "app", "ExposedPorts": { "80/tcp": {} },
                "HostConfig": { "PortBindings": { "80/tcp": binding } } })
    };
    let mount = |mount: Value| host(json!({ "Mounts": [mount] }));
    vec![
        ("HostConfig.CpuShares", host(json!({ "CpuShares": 1 }))),
        ("HostConfig.CpuShares", host(json!({ "CpuShares": 300_000 }))),
        ("HostConfig.NanoCpus", host(json!({ "NanoCpus": 5_000_000 }))),
        ("HostConfig.Memory", host(json!({ "Memory": 1024 }))),
        (
            "HostConfig.MemoryReservation",
            host(json!({ "Memory": 8_388_608, "MemoryReservation": 9_388_608 })),
        ),
        ("HostConfig.MemorySwap", host(json!({ "MemorySwap": 9_388_608 }))),
        ("HostConfig.MemorySwap", host(json!({ "Memory": 9_388_608, "MemorySwap": 8_388_608 }))),
        ("HostConfig.MemorySwappiness", host(json!({ "MemorySwappiness": 101 }))),
        ("HostConfig.OomKillDisable", host(json!({ "OomKillDisable": true }))),
        ("HostConfig.PidsLimit", host(json!({ "PidsLimit": 5_000_000 }))),
        ("HostConfig.OomScoreAdj", host(json!({ "OomScoreAdj": 2000 }))),
        ("HostConfig.CpusetCpus", host(json!({ "CpusetCpus": "0-" }))),
        ("HostConfig.CpuQuota", host(json!({ "CpuQuota": 50000, "NanoCpus": 1_000_000_000 }))),
        ("HostConfig.CpuPeriod", host(json!({ "CpuPeriod": 10 }))),
        ("HostConfig.CpuRealtimeRuntime", host(json!({ "CpuRealtimeRuntime": 950_000 }))),
        ("HostConfig.StorageOpt.size", host(json!({ "StorageOpt": { "size": "big" } }))),
        ("HostConfig.StorageOpt.x", host(json!({ "StorageOpt": { "x": "y" } }))),
        ("HostConfig.BlkioWeight", host(json!({ "BlkioWeight": 5 }))),
        (
            "HostConfig.BlkioDeviceReadBps[0].Rate",
            host(json!({ "BlkioDeviceReadBps": [{ "Path": "/dev/sda" }] })),
        ),
        (
            "HostConfig.Ulimits[0]",
            host(json!({ "Ulimits": [{ "Name": "bogus", "Soft": 1, "Hard": 1 }] })),
        ),
        (
            "HostConfig.Ulimits[0]",
            host(json!({ "Ulimits": [{ "Name": "nofile", "Soft": 2, "Hard": 1 }] })),
        ),
        (
            "HostConfig.Ulimits[1]",
            host(json!({ "Ulimits": [{ "Name": "nofile", "Soft": 1, "Hard": 1 },
            { "Name": "nofile", "Soft": 1, "Hard": 1 }] })),
        ),
        (
            "HostConfig.PortBindings[80/tcp][0].HostIp",
            port(json!([{ "HostIp": "localhost", "HostPort": "80" }])),
        ),
        ("HostConfig.PortBindings[80/tcp][0].HostPort", port(json!([{ "HostPort": "70000" }]))),
        ("HostConfig.PortBindings[80/tcp][0].HostPort", port(json!([{ "HostPort": "8000-8010" }]))),
        (
            "HostConfig.PortBindings[80/tcp][1]",
            port(json!([{ "HostPort": "80" }, { "HostPort": "80" }])),
        ),
        ("HostConfig.PortBindings[80/tcp]", port(json!([]))),
        (
            "HostConfig.PortBindings[80]",
            json!({ "Image": "app", "ExposedPorts": { "80/tcp": {} },
            "HostConfig": { "PortBindings": { "80": [{ "HostPort": "80" }] } } }),
        ),
        ("ExposedPorts[80-82/tcp]", config("ExposedPorts", json!({ "80-82/tcp": {} }))),
        (
            "HostConfig.PortBindings[80/tcp]",
            json!({ "Image": "app", "ExposedPorts": { "80/tcp": {} },
            "HostConfig": { "NetworkMode": "host", "PortBindings": { "80/tcp": [{ "HostPort": "80" }] } } }),
        ),
        (
            "ExposedPorts",
            json!({ "Image": "app", "ExposedPorts": { "80/tcp": {} },
            "HostConfig": { "NetworkMode": "container:x" } }),
        ),
        (
            "HostConfig.Dns",
            json!({ "Image": "app", "HostConfig": { "NetworkMode": "container:xx", "Dns": ["1.1.1.1"] } }),
        ),
        ("HostConfig.NetworkMode", host(json!({ "NetworkMode": "my net" }))),
        (
            "MacAddress",
            json!({ "Image": "app", "MacAddress": "02:42:ac:11:00:02", "HostConfig": { "NetworkMode": "host" } }),
        ),
        (
            "MacAddress",
            json!({ "Image": "app", "MacAddress": "02:42:ac:11:00:02", "NetworkingConfig":
                { "EndpointsConfig": { "net": { "MacAddress": "02:42:ac:11:00:03" } } } }),
        ),
        (
            "HostConfig.NetworkMode",
            json!({ "Image": "app", "HostConfig": { "NetworkMode": "front" },
            "NetworkingConfig": { "EndpointsConfig": { "back": {} } } }),
        ),
        (
            "NetworkingConfig.EndpointsConfig[front]",
            json!({ "Image": "app", "HostConfig": { "NetworkMode": "none" },
            "NetworkingConfig": { "EndpointsConfig": { "front": {} } } }),
        ),
        (
            "NetworkingConfig.EndpointsConfig[bridge]",
            json!({ "Image": "app",
            "NetworkingConfig": { "EndpointsConfig": { "bridge": { "Aliases": ["x"] } } } }),
        ),
        (
            "NetworkingConfig.EndpointsConfig[net].IPAMConfig.IPv4Address",
            json!({ "Image": "app",
            "NetworkingConfig": { "EndpointsConfig": { "net": { "IPAMConfig": { "IPv4Address": "10.0.0" } } } } }),
        ),
        ("HostConfig.Dns[0]", host(json!({ "Dns": ["dns.example.com"] }))),
        ("HostConfig.ExtraHosts[0]", host(json!({ "ExtraHosts": ["db"] }))),
        ("MacAddress", config("MacAddress", json!("02:42"))),
        ("HostConfig.Binds[0]", host(json!({ "Binds": ["./x:/data"] }))),
        ("HostConfig.Binds[0]", host(json!({ "Binds": ["/x:/data:bogus"] }))),
        ("HostConfig.Binds[0]", host(json!({ "Binds": ["/x:/"] }))),
        ("HostConfig.Binds[0]", host(json!({ "Binds": ["kibotos-1:/data"] }))),
        ("HostConfig.Binds[1]", host(json!({ "Binds": ["/x:/data", "/y:/data/"] }))),
        (
            "HostConfig.Tmpfs[/data]",
            host(json!({ "Binds": ["/x:/data"], "Tmpfs": { "/data": "" } })),
        ),
        ("HostConfig.Tmpfs[run]", host(json!({ "Tmpfs": { "run": "" } }))),
        ("HostConfig.Mounts[0].Type", mount(json!({ "Type": "npipe", "Target": "/x" }))),
        (
            "HostConfig.Mounts[0].Source",
            mount(json!({ "Type": "bind", "Source": "x", "Target": "/x" })),
        ),
        ("HostConfig.Mounts[0].Target", mount(json!({ "Type": "volume", "Target": "x" }))),
        (
            "HostConfig.Mounts[0].Source",
            mount(json!({ "Type": "tmpfs", "Source": "x", "Target": "/x" })),
        ),
        ("HostConfig.Mounts[0].Source", mount(json!({ "Type": "image", "Target": "/x" }))),
        (
            "HostConfig.Mounts[0].TmpfsOptions",
            mount(json!({ "Type": "volume", "Target": "/x",
            "TmpfsOptions": { "SizeBytes": 1 } })),
        ),
        (
            "HostConfig.Mounts[0].BindOptions.Propagation",
            mount(json!({ "Type": "bind", "Source": "/x", "Target": "/x",
            "BindOptions": { "Propagation": "bogus" } })),
        ),
        (
            "HostConfig.Mounts[0].TmpfsOptions.Mode",
            mount(json!({ "Type": "tmpfs", "Target": "/x",
            "TmpfsOptions": { "Mode": 5000 } })),
        ),
        (
            "HostConfig.Mounts[0].VolumeOptions.Labels[kibotos.dev/x]",
            mount(json!({ "Type": "volume", "Target": "/x",
            "VolumeOptions": { "Labels": { "kibotos.dev/x": "y" } } })),
        ),
        (
            "HostConfig.Mounts[0].ClusterOptions",
            mount(json!({ "Type": "volume", "Target": "/x",
            "ClusterOptions": { "x": "y" } })),
        ),
        ("Volumes[data]", config("Volumes", json!({ "data": {} }))),
        ("HostConfig.CapAdd[0]", host(json!({ "CapAdd": ["NET_ADMN"] }))),
        ("HostConfig.SecurityOpt[0]", host(json!({ "SecurityOpt": ["bogus=1"] }))),
        ("HostConfig.Sysctls[vm.swappiness]", host(json!({ "Sysctls": { "vm.swappiness": "1" } }))),
        ("HostConfig.IpcMode", host(json!({ "IpcMode": "bogus" }))),
        ("HostConfig.UTSMode", host(json!({ "UTSMode": "private" }))),
        ("HostConfig.CgroupnsMode", host(json!({ "CgroupnsMode": "bogus" }))),
        (
            "Hostname",
            json!({ "Image": "app", "Hostname": "x", "HostConfig": { "UTSMode": "host" } }),
        ),
        ("Hostname", config("Hostname", json!("bad host!"))),
        (
            "HostConfig.Devices[0].CgroupPermissions",
            host(json!({ "Devices": [
            { "PathOnHost": "/dev/x", "PathInContainer": "/dev/x", "CgroupPermissions": "" }] })),
        ),
        (
            "HostConfig.Devices[0].CgroupPermissions",
            host(json!({ "Devices": [
            { "PathOnHost": "/dev/x", "PathInContainer": "/dev/x", "CgroupPermissions": "xyz" }] })),
        ),
        (
            "HostConfig.Devices[1]",
            host(json!({ "Devices": [
            { "PathOnHost": "/dev/x", "PathInContainer": "/dev/x", "CgroupPermissions": "r" },
            { "PathOnHost": "/dev/y", "PathInContainer": "/dev/x", "CgroupPermissions": "r" }] })),
        ),
        ("HostConfig.DeviceCgroupRules[0]", host(json!({ "DeviceCgroupRules": ["c 188 rwm"] }))),
        (
            "HostConfig.DeviceRequests[0].Count",
            host(json!({ "DeviceRequests": [{ "Count": 1, "DeviceIDs": ["0"] }] })),
        ),
        ("HostConfig.Links", host(json!({ "Links": ["a:b"] }))),
        ("HostConfig.VolumesFrom", host(json!({ "VolumesFrom": ["a"] }))),
        ("HostConfig.MaskedPaths", host(json!({ "MaskedPaths": [] }))),
        ("HostConfig.RestartPolicy.Name", host(json!({ "RestartPolicy": { "Name": "Always" } }))),
        (
            "HostConfig.RestartPolicy.MaximumRetryCount",
            host(json!({ "RestartPolicy": { "Name": "always", "MaximumRetryCount": 3 } })),
        ),
        (
            "HostConfig.AutoRemove",
            host(json!({ "AutoRemove": true, "RestartPolicy": { "Name": "always" } })),
        ),
        ("HostConfig.Bogus", host(json!({ "Bogus": true }))),
        ("Memory", config("Memory", json!(8_388_608))),
        ("Entrypoint", config("Entrypoint", json!([]))),
        ("Env[0]", config("Env", json!(["NOEQ"]))),
        ("Env[1]", config("Env", json!(["A=1", "A=2"]))),
        ("Env[0]", config("Env", json!(["=x"]))),
        ("Env[0]", config("Env", json!(["CONTAINER_NAME=other"]))),
        ("Labels[kibotos.dev/x]", config("Labels", json!({ "kibotos.dev/x": "y" }))),
        ("StopSignal", config("StopSignal", json!("SIGBOGUS"))),
        ("StopTimeout", config("StopTimeout", json!(-1))),
        ("WorkingDir", config("WorkingDir", json!("app"))),
        ("Healthcheck.Test", config("Healthcheck", json!({ "Test": ["BOGUS"] }))),
        ("Healthcheck.Interval", config("Healthcheck", json!({ "Interval": 30 }))),
        ("NetworkDisabled", config("NetworkDisabled", json!(true))),
    ]
}
