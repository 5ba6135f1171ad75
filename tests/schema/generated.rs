//! `crds/` against the types it is made from.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::kind::Kind;
use super::walk::{self, Node};

#[test]
fn the_files_in_crds_are_what_the_program_writes() {
    let out = std::env::temp_dir().join(format!("kibotos-crds-{}", std::process::id()));
    let status =
        Command::new(env!("CARGO_BIN_EXE_kibotos")).arg("crds").arg("--out").arg(&out).status();
    assert!(status.unwrap().success());
    let read = |directory: &std::path::Path| -> BTreeMap<String, String> {
        let entries = fs::read_dir(directory).unwrap().map(|e| e.unwrap());
        entries
            .map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap()))
            .collect()
    };
    let (made, kept) = (read(&out), read(&walk::directory()));
    fs::remove_dir_all(&out).unwrap();
    let names: Vec<_> = made.keys().collect();
    assert_eq!(names, kept.keys().collect::<Vec<_>>(), "run `make crds`");
    for (name, text) in &made {
        assert!(kept[name] == *text, "crds/{name} is not what the types say: run `make crds`");
    }
}

#[test]
fn there_is_one_file_a_kind() {
    let kinds: Vec<_> = walk::definitions()
        .iter()
        .map(|crd| Kind::of(crd["spec"]["names"]["kind"].as_str().unwrap()))
        .collect();
    let mut all = Kind::ALL.to_vec();
    all.sort_by_key(|k| k.plural());
    assert_eq!(kinds, all);
}

#[test]
fn what_is_printed_is_what_is_written() {
    let printed = Command::new(env!("CARGO_BIN_EXE_kibotos")).arg("crds").output().unwrap();
    assert!(printed.status.success());
    let printed = String::from_utf8(printed.stdout).unwrap();
    for entry in fs::read_dir(walk::directory()).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            printed.contains(fs::read_to_string(&path).unwrap().trim_end()),
            "{}",
            path.display()
        );
    }
}

#[test]
fn every_field_has_a_description() {
    let without: Vec<_> = walk::nodes()
        .into_iter()
        .filter(|node| !node.at.ends_with("[]") && !node.at.ends_with("{}"))
        .filter(|Node { schema, .. }| {
            let text = schema["description"].as_str().unwrap_or_default();
            text.len() < 3 || !text.ends_with(['.', ':'])
        })
        .filter(|node| !node.at.contains("conditions[]") && !node.at.contains("Selector."))
        .map(|node| format!("{:?} {}", node.kind, node.at))
        .collect();
    assert!(without.is_empty(), "fields without a sentence for `kubectl explain`: {without:#?}");
}

/// The parts that are Kubernetes' own types have Kubernetes' own words.
#[test]
fn every_field_of_kubernetes_own_types_has_a_description() {
    for node in walk::nodes() {
        if !node.at.ends_with("[]") && !node.at.ends_with("{}") {
            assert!(node.schema["description"].is_string(), "{:?} {}", node.kind, node.at);
        }
    }
}

#[test]
fn every_kind_has_what_kubectl_and_its_users_expect() {
    for crd in walk::definitions() {
        let kind = Kind::of(crd["spec"]["names"]["kind"].as_str().unwrap());
        let names = &crd["spec"]["names"];
        assert_eq!(names["plural"], kind.plural(), "{kind:?}");
        assert_eq!(names["categories"], serde_json::json!(["kibotos"]), "{kind:?}");
        let short = match kind {
            Kind::Workspace => Some("ws"),
            Kind::Volume => Some("vol"),
            Kind::Template => Some("tpl"),
            Kind::TemplateRevision => Some("tplrev"),
            Kind::Host => Some("khost"),
            Kind::StoragePool => Some("pool"),
            Kind::WorkspaceRun => Some("wsr"),
            Kind::VolumeTask | Kind::WorkspaceRecord => None,
        };
        assert_eq!(names["shortNames"][0].as_str(), short, "{kind:?}");
        let scope = if kind.namespaced() { "Namespaced" } else { "Cluster" };
        assert_eq!(crd["spec"]["scope"], scope, "{kind:?}");
        let version = &crd["spec"]["versions"][0];
        let schema = &version["schema"]["openAPIV3Schema"];
        assert_eq!(schema["required"], serde_json::json!(["spec"]), "{kind:?}");
        let has_status = kind != Kind::WorkspaceRecord;
        assert_eq!(version["subresources"]["status"].is_object(), has_status, "{kind:?}");
        let default = &schema["properties"]["status"]["default"];
        let wanted =
            if has_status { serde_json::json!({ "observedGeneration": -1 }) } else { Value::Null };
        assert_eq!(*default, wanted, "{kind:?}");
    }
}

#[test]
fn the_defaults_are_those_of_the_design_and_no_others() {
    let defaults: Vec<_> = walk::nodes()
        .into_iter()
        .filter(|node| !node.schema["default"].is_null() && node.at != "status")
        .map(|node| format!("{:?} {} {}", node.kind, node.at, node.schema["default"]))
        .collect();
    let port = |kind: &str| {
        ["hostIP \"\"", "hostPort 0", "protocol \"TCP\""]
            .map(|field| format!("{kind} spec.container.ports[].{field}"))
    };
    let mut wanted = [
        r#"Workspace spec.powerState "Running""#,
        r#"Workspace spec.update "Recreate""#,
        r#"Workspace spec.writableLayer {"retention":"UntilRecreated"}"#,
        r#"Workspace spec.writableLayer.retention "UntilRecreated""#,
        r#"Workspace spec.volume {"mode":"Create","mountPath":"/data"}"#,
        r#"Workspace spec.volume.mode "Create""#,
        r#"Workspace spec.volume.mountPath "/data""#,
        r#"Workspace spec.configFile.path "/usr/local/etc/service.conf""#,
        r#"Workspace spec.lifetime.onExpiry "Stop""#,
        r#"Workspace spec.placement.onHostLoss "Wait""#,
        r#"Volume spec.storagePool "local""#,
        r#"Host spec.mode "Active""#,
        "StoragePool spec.shared false",
        r#"WorkspaceRun spec.writableLayer {"retention":"UntilRecreated"}"#,
        r#"WorkspaceRun spec.writableLayer.retention "UntilRecreated""#,
        r#"WorkspaceRecord spec.phase "Deleted""#,
    ]
    .map(str::to_owned)
    .to_vec();
    for kind in ["Workspace", "TemplateRevision", "WorkspaceRun"] {
        wanted.extend(port(kind));
    }
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    assert_eq!(sorted(defaults), sorted(wanted));
}

#[test]
fn a_field_says_what_it_is_for_and_not_what_its_type_is() {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in walk::nodes().into_iter().filter(|node| node.schema["enum"].is_array()) {
        let description = node.schema["description"].as_str().unwrap_or_default().to_owned();
        let name = node.at.rsplit('.').next().unwrap().to_owned();
        let names = fields.entry(description).or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let shared: Vec<_> = fields.iter().filter(|(_, names)| names.len() > 1).collect();
    assert!(shared.is_empty(), "one text for several fields: {shared:#?}");
    let says = |at: &str| {
        let nodes = walk::nodes();
        let node = nodes.iter().find(|n| n.kind == Kind::Workspace && n.at == at).unwrap();
        node.schema["description"].as_str().unwrap().to_owned()
    };
    assert!(says("spec.volume.deletionPolicy").contains("Unset:"));
    assert!(says("spec.container.imagePullPolicy").contains("`:latest`"));
    assert!(says("status.phase").contains("programs wait for conditions"));
}
