//! Every key: closed by default, open when allowed, and no further.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

/// A row of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    allow: Value,
    asks: Value,
    but: Value,
    field: String,
}

fn cases() -> Vec<Case> {
    serde_saphyr::from_str(include_str!("table.yaml")).unwrap()
}

#[test]
fn every_key_is_closed_by_default_opens_for_what_it_names_and_for_nothing_beside() {
    let mut keys = BTreeSet::new();
    for Case { allow, asks, but, field } in cases() {
        let closed = judge(&asks, &Allowances::default());
        let path = format!("spec.container.{field}");
        assert!(paths(&closed).contains(&path.as_str()), "{asks}: {closed:?}\n not at {path}");
        let told = |e: &FieldError| e.message.starts_with("not allowed by host policy: ");
        assert!(closed.iter().all(told), "{closed:?}");
        for key in allow.as_object().unwrap().keys() {
            let hint = format!("under policy.default.{key} in agent.yaml on the host");
            assert!(closed.iter().any(|e| e.message.contains(&hint)), "{closed:?}\n not {hint}");
            keys.insert(key.clone());
        }
        let allowed: Allowances = serde_json::from_value(allow.clone()).unwrap();
        assert_eq!(judge(&asks, &allowed), [], "{asks} with {allow}");
        assert!(!judge(&but, &allowed).is_empty(), "{but} with {allow}");
    }
    // Where the directory is, which is not in the body, has a test of its own.
    assert_eq!(keys.len(), 17, "{keys:?}");
}

#[test]
fn what_every_container_has_needs_no_allowance() {
    for host in [
        json!({}),
        json!({"CapAdd": ["cap_chown", "NET_RAW", "AUDIT_WRITE"], "CapDrop": ["ALL", "SYS_ADMIN"]}),
        json!({"SecurityOpt": ["no-new-privileges", "no-new-privileges:true", "no-new-privileges=1", "apparmor=docker-default"]}),
        json!({"NetworkMode": "bridge", "IpcMode": "private", "CgroupnsMode": "private", "PidMode": ""}),
        json!({"NetworkMode": "none", "IpcMode": "shareable"}),
        json!({"NetworkMode": "default", "IpcMode": "none"}),
        json!({"NetworkingConfig": {"EndpointsConfig": {"bridge": {"DriverOpts": {"com.docker.network.endpoint.ifname": "eth5"}}}}}),
        json!({"Mounts": [
            {"Type": "tmpfs", "Target": "/t"},
            {"Type": "image", "Source": "nginx", "Target": "/i"},
            {"Type": "volume", "Target": "/v", "VolumeOptions": {"Labels": {"a": "b"}, "DriverConfig": {"Name": "local"}}},
        ]}),
        json!({"LogConfig": {"Type": "json-file", "Config": {"max-size": "1m"}}}),
        json!({"LogConfig": {"Config": {"max-size": "1m"}}}),
        json!({"LogConfig": {"Type": "none"}}),
        json!({"OomScoreAdj": 500, "Ulimits": [{"Name": "nofile", "Soft": 9, "Hard": 9}, {"Name": "rtprio", "Soft": 0, "Hard": 0}]}),
        json!({"StorageOpt": {"size": "1"}, "Memory": 1, "BlkioDeviceReadBps": [{"Path": "/dev/sda", "Rate": 1}]}),
        json!({"Tmpfs": {"/run": "rw"}, "ExtraHosts": ["a:host-gateway"], "GroupAdd": ["docker"]}),
    ] {
        assert_eq!(judge(&host, &Allowances::default()), [], "{host}");
    }
}

#[test]
fn a_namespace_has_its_own_entry_in_place_of_the_default_and_is_told_so() {
    let policy: HostPolicy =
        serde_saphyr::from_str("{default: {privileged: true}, namespaces: {dev: {sysctls: [a]}}}")
            .unwrap();
    let asked = create(&json!({"Privileged": true}));
    let errors = judge_by(&asked, &run(&json!({})), &policy.governing("dev"));
    assert_eq!(
        errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["spec.container.privileged: not allowed by host policy: an admin can allow it under \
          policy.namespaces.dev.privileged in agent.yaml on the host"],
    );
    assert_eq!(judge_by(&asked, &run(&json!({})), &policy.governing("prod")), []);
}

#[test]
fn all_that_is_forbidden_is_told_at_once() {
    let mut asked = json!({});
    for case in cases() {
        for (key, value) in case.asks.as_object().unwrap() {
            asked[key] = value.clone();
        }
    }
    assert!(judge(&asked, &Allowances::default()).len() >= 25);
}
