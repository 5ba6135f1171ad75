//! What holds for every body and every policy.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};

use super::*;

/// Parts of a host configuration, and whether each is a power: something that reaches beyond what
/// every container has.
fn parts() -> Vec<(bool, Value)> {
    let bind = |text: &str| json!({"Binds": [text]});
    let mount = |mount: Value| json!({"Mounts": [mount]});
    vec![
        (true, json!({"Privileged": true})),
        (true, json!({"NetworkMode": "host"})),
        (true, json!({"NetworkMode": "container:x1"})),
        (true, json!({"NetworkMode": "front"})),
        (false, json!({"NetworkMode": "bridge"})),
        (false, json!({"NetworkMode": "none"})),
        (true, json!({"PidMode": "host"})),
        (true, json!({"PidMode": "container:x1"})),
        (true, json!({"IpcMode": "host"})),
        (false, json!({"IpcMode": "shareable"})),
        (true, json!({"UTSMode": "host"})),
        (true, json!({"UsernsMode": "host"})),
        (true, json!({"CgroupnsMode": "host"})),
        (false, json!({"CgroupnsMode": "private"})),
        (true, bind("/srv/a:/x")),
        (true, bind("/srv/a/b:/x1:ro")),
        (true, bind("/srv/a:/x2:rshared")),
        (true, bind("/run/docker.sock:/x3")),
        (true, bind("/run:/x4:ro")),
        (true, bind("cache-1:/x5")),
        (true, bind("kibotos-1:/x6")),
        (true, mount(json!({"Type": "bind", "Source": "/srv/a", "Target": "/y"}))),
        (true, mount(json!({"Type": "volume", "Source": "cache-2", "Target": "/y1"}))),
        (
            true,
            mount(
                json!({"Type": "volume", "Target": "/y2", "VolumeOptions": {"DriverConfig": {"Options": {"type": "nfs"}}}}),
            ),
        ),
        (
            true,
            mount(
                json!({"Type": "volume", "Target": "/y3", "VolumeOptions": {"DriverConfig": {"Name": "sshfs"}}}),
            ),
        ),
        (true, mount(json!({"Type": "cluster", "Target": "/y4"}))),
        (false, mount(json!({"Type": "volume", "Target": "/y5"}))),
        (false, mount(json!({"Type": "tmpfs", "Target": "/y6"}))),
        (false, mount(json!({"Type": "image", "Source": "a", "Target": "/y7"}))),
        (true, json!({"CapAdd": ["NET_ADMIN"]})),
        (true, json!({"CapAdd": ["ALL"]})),
        (false, json!({"CapAdd": ["cap_chown"]})),
        (false, json!({"CapDrop": ["ALL"]})),
        (true, json!({"SecurityOpt": ["seccomp=unconfined"]})),
        (true, json!({"SecurityOpt": ["label=disable"]})),
        (false, json!({"SecurityOpt": ["no-new-privileges"]})),
        (
            true,
            json!({"Devices": [{"PathOnHost": "/dev/a", "PathInContainer": "/dev/a", "CgroupPermissions": "rw"}]}),
        ),
        (true, json!({"DeviceCgroupRules": ["c 1:2 r"]})),
        (true, json!({"DeviceRequests": [{"Driver": "nvidia"}]})),
        (true, json!({"DeviceRequests": [{"Capabilities": [["gpu"]]}]})),
        (true, json!({"Sysctls": {"net.core.somaxconn": "1"}})),
        (true, json!({"Runtime": "runsc"})),
        (true, json!({"Annotations": {"a": "b"}})),
        (true, json!({"LogConfig": {"Type": "journald"}})),
        (false, json!({"LogConfig": {"Type": "local"}})),
        (true, json!({"PortBindings": {"80/tcp": [{"HostIp": "", "HostPort": "80"}]}})),
        (true, json!({"PortBindings": {"81/udp": [{"HostIp": "127.0.0.1", "HostPort": ""}]}})),
        (true, json!({"PublishAllPorts": true})),
        (true, json!({"CgroupParent": "/w"})),
        (true, json!({"OomScoreAdj": -5})),
        (false, json!({"OomScoreAdj": 5})),
        (true, json!({"OomKillDisable": true})),
        (true, json!({"Ulimits": [{"Name": "rtprio", "Soft": 1, "Hard": 1}]})),
        (false, json!({"Ulimits": [{"Name": "nofile", "Soft": 1, "Hard": 1}]})),
        (true, json!({"NetworkingConfig": {"EndpointsConfig": {"back": {}}}})),
        (true, json!({"NetworkingConfig": {"EndpointsConfig": {"host": {}}}})),
        (false, json!({"NetworkingConfig": {"EndpointsConfig": {"bridge": {}}}})),
        (false, json!({"Memory": 5, "ShmSize": 5, "Init": true, "ReadonlyRootfs": true})),
    ]
}

/// Policies that allow one thing each.
const ALLOWED: [&str; 34] = [
    "privileged: true",
    "hostNamespaces: [network]",
    "hostNamespaces: [pid, ipc]",
    "hostNamespaces: [uts, user, cgroup]",
    "joinContainers: [x1]",
    "bindPrefixes: [/srv/a]",
    "bindPrefixes: [{path: /srv/a/b, readOnly: true}]",
    "bindPrefixes: [{path: /srv, shared: true, readOnly: true}]",
    "bindPrefixes: [/]",
    "dockerSocket: true",
    "directoryPrefixes: [/data]",
    "devices: [\"/dev/*\"]",
    "devices: [{path: /dev/a, permissions: r}]",
    "devices: [\"c 1:* rwm\"]",
    "deviceRequests: [nvidia]",
    "deviceRequests: [gpu]",
    "capabilities: [NET_ADMIN, SYS_RESOURCE]",
    "capabilities: [ALL]",
    "sysctls: [net.*]",
    "securityOpts: [seccomp=unconfined]",
    "securityOpts: [\"label=*\"]",
    "runtimes: [runsc]",
    "runtimes: [{name: default, annotations: [\"*\"]}]",
    "runtimes: [{name: runsc, annotations: [\"*\"]}]",
    "volumeDriverOptions: [sshfs]",
    "volumeDriverOptions: [{driver: local, types: [nfs]}]",
    "namedVolumes: [\"*\"]",
    "networks: [front]",
    "networks: [\"*\"]",
    "logDrivers: [journald]",
    "hostPorts: [80, \"127.0.0.1:dynamic\"]",
    "hostPorts: [dynamic]",
    "cgroupParents: [/]",
    "{}",
];

static PARSED: LazyLock<Vec<Allowances>> =
    LazyLock::new(|| ALLOWED.iter().map(|yaml| allowances(yaml)).collect());

/// One body of all parts: lists grow, of a member that stands once the last counts.
fn whole(parts: &[(bool, Value)]) -> Value {
    let mut host = Map::new();
    for (_, part) in parts {
        for (key, value) in part.as_object().unwrap() {
            match (host.get_mut(key), value) {
                (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
                _ => {
                    host.insert(key.clone(), value.clone());
                }
            }
        }
    }
    Value::Object(host)
}

/// Says from the JSON alone, without the policy's code, what a body has of its host.
fn has_a_power(body: &Value) -> bool {
    let host = &body["HostConfig"];
    let none = |key: &str| host[key].is_null();
    let among = |value: &Value, known: &[&str]| value.as_str().is_none_or(|v| known.contains(&v));
    let all = |key: &str, fine: &dyn Fn(&Value) -> bool| {
        host[key].as_array().into_iter().flatten().all(fine)
    };
    let own_bind = |bind: &Value| {
        bind.as_str().unwrap().starts_with("/var/lib/kibotos/dev_web_3f2b8c1e/service.conf:")
    };
    let plain_mount = |mount: &Value| {
        let unnamed = mount["Source"].is_null() && mount["VolumeOptions"]["DriverConfig"].is_null();
        match mount["Type"].as_str().unwrap() {
            "tmpfs" | "image" => true,
            "volume" => unnamed || mount["Source"] == json!("kibotos-0d1e"),
            _ => false,
        }
    };
    let networks = body["NetworkingConfig"]["EndpointsConfig"].as_object();
    let nothing = [
        "Privileged",
        "PidMode",
        "UTSMode",
        "UsernsMode",
        "Devices",
        "DeviceCgroupRules",
        "DeviceRequests",
        "Sysctls",
        "Runtime",
        "Annotations",
        "PortBindings",
        "PublishAllPorts",
        "CgroupParent",
        "OomKillDisable",
    ]
    .iter()
    .all(|key| none(key))
        && among(&host["NetworkMode"], &["bridge", "none"])
        && among(&host["IpcMode"], &["shareable"])
        && among(&host["CgroupnsMode"], &["private"])
        && among(&host["LogConfig"]["Type"], &["local"])
        && networks.into_iter().flatten().all(|(name, _)| name == "bridge")
        && host["OomScoreAdj"].as_i64().is_none_or(|score| score >= 0)
        && all("Binds", &own_bind)
        && all("Mounts", &plain_mount)
        && all("CapAdd", &|cap| cap == "cap_chown")
        && all("SecurityOpt", &|option| option == "no-new-privileges")
        && all("Ulimits", &|limit| limit["Name"] == "nofile");
    !nothing
}

proptest! {
    #[test]
    fn an_empty_policy_accepts_a_body_exactly_if_it_has_no_power(
        parts in subsequence(parts(), 0..6),
    ) {
        let host = whole(&parts);
        let sent = serde_json::to_value(create(&host).body).unwrap();
        let refused = !judge(&host, &Allowances::default()).is_empty();
        prop_assert_eq!(refused, has_a_power(&sent), "{}", sent);
    }

    #[test]
    fn with_more_allowances_nothing_more_is_refused(
        parts in subsequence(parts(), 0..8),
        one in subsequence((0..ALLOWED.len()).collect::<Vec<_>>(), 0..8),
        more in subsequence((0..ALLOWED.len()).collect::<Vec<_>>(), 0..8),
    ) {
        let of = |list: &[usize]| {
            list.iter().map(|i| PARSED[*i].clone()).fold(Allowances::default(), Allowances::union)
        };
        let host = whole(&parts);
        let (less, more) = (of(&one), of(&one).union(of(&more)));
        let before = judge(&host, &less);
        let after = judge(&host, &more);
        for error in &after {
            prop_assert!(before.contains(error), "{} is new: {:?}", error, before);
        }
    }

    #[test]
    fn the_policy_never_panics_on_any_text(text in "\\PC{0,12}|[/.a:*=, -]{0,12}") {
        let host = json!({
            "Binds": [text], "Mounts": [{"Type": "bind", "Source": text, "Target": text}, {"Type": text, "Target": "/"}],
            "NetworkMode": text, "PidMode": text, "IpcMode": text, "CapAdd": [text], "SecurityOpt": [text],
            "DeviceCgroupRules": [text], "Sysctls": {text.clone(): text}, "Runtime": text, "CgroupParent": text,
            "PortBindings": {text.clone(): [{"HostIp": text, "HostPort": text}]}, "LogConfig": {"Type": text},
            "Devices": [{"PathOnHost": text, "PathInContainer": text, "CgroupPermissions": text}],
        });
        judge(&host, &Allowances::default());
        judge(&host, &PARSED.iter().cloned().fold(Allowances::default(), Allowances::union));
    }
}

#[test]
fn each_part_alone_is_refused_if_it_is_a_power_and_only_then() {
    for (power, part) in parts() {
        assert_eq!(!judge(&part, &Allowances::default()).is_empty(), power, "{part}");
    }
}
