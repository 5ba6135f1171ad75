//! Full manifests: together they set every field of every kind, so that a field which is lost on
//! the way through the API server or through our types is missed here.
//!
//! What excludes each other is in different variants, `workspace-a.yaml`, `workspace-b.yaml`, …; the
//! container of a variant, which three kinds share, is in `container-a.yaml`, ….

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use http::Request;
use kibotos::api;
use kube::Client;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::judge::{Answer, Judge};
use super::kind::{CONTAINER, Kind};
use super::manifest::{get, set};
use super::walk;
use crate::fixture::cluster;

/// What no manifest of a kind can set, for it is refused there.
const NEVER: &[(Kind, &str)] = &[
    (Kind::WorkspaceRun, "spec.container.restartPolicy"),
    (Kind::WorkspaceRun, "spec.container.envFrom"),
];

/// Fields, each with its value in JSON.
type Defaults = &'static [(&'static str, &'static str)];

/// The defaults that the API server adds to the variants. All other variants set every field that
/// has one.
const DEFAULTS: &[(Kind, char, Defaults)] = &[
    (Kind::Workspace, 'c', &[PROTOCOL, HOST_IP, HOST_PORT, LAYER, VOLUME, PATH, POWER, UPDATE]),
    (Kind::Workspace, 'd', &[LAYER, VOLUME, POWER, UPDATE]),
    (Kind::TemplateRevision, 'c', &[PROTOCOL, HOST_IP, HOST_PORT]),
    (Kind::WorkspaceRun, 'c', &[PROTOCOL, HOST_IP, HOST_PORT, LAYER]),
    (Kind::WorkspaceRun, 'd', &[LAYER]),
    (Kind::WorkspaceRecord, 'b', &[("spec.phase", r#""Deleted""#)]),
];
const PROTOCOL: (&str, &str) = ("spec.container.ports[].protocol", r#""TCP""#);
const HOST_IP: (&str, &str) = ("spec.container.ports[].hostIP", r#""""#);
const HOST_PORT: (&str, &str) = ("spec.container.ports[].hostPort", "0");
const LAYER: (&str, &str) = ("spec.writableLayer", r#"{"retention": "UntilRecreated"}"#);
const VOLUME: (&str, &str) = ("spec.volume", r#"{"mode": "Create", "mountPath": "/data"}"#);
const PATH: (&str, &str) = ("spec.configFile.path", r#""/usr/local/etc/service.conf""#);
const POWER: (&str, &str) = ("spec.powerState", r#""Running""#);
const UPDATE: (&str, &str) = ("spec.update", r#""Recreate""#);

/// One full manifest.
#[derive(Clone)]
pub struct Variant {
    pub kind: Kind,
    pub letter: char,
    pub manifest: Value,
}

/// The full manifests of one kind.
pub fn variants(kind: Kind) -> &'static [Variant] {
    static READ: LazyLock<BTreeMap<Kind, Vec<Variant>>> = LazyLock::new(|| {
        let read = |kind| ('a'..='z').map_while(|letter| Variant::read(kind, letter)).collect();
        Kind::ALL.iter().map(|&kind| (kind, read(kind))).collect()
    });
    &READ[&kind]
}

/// Whether no manifest of the kind can set this field.
pub fn never(kind: Kind, at: &str) -> bool {
    NEVER.iter().any(|(of, path)| *of == kind && at.starts_with(path))
}

fn read(name: &str) -> Option<Value> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/schema/full");
    let text = fs::read_to_string(directory.join(name)).ok()?;
    Some(serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
}

impl Variant {
    fn read(kind: Kind, letter: char) -> Option<Self> {
        let mut manifest = read(&format!("{}-{letter}.yaml", kind.name().to_lowercase()))?;
        if CONTAINER.contains(&kind) {
            let mut container = read(&format!("container-{letter}.yaml")).unwrap();
            let fields = container.as_object_mut().unwrap();
            if manifest["spec"]["template"].is_object() {
                fields.remove("image");
            }
            fields.retain(|name, _| !never(kind, &format!("spec.container.{name}")));
            manifest["spec"]["container"] = container;
        }
        Some(Self { kind, letter, manifest })
    }

    /// The manifest under a name of the calling test's own.
    pub fn named(&self, tag: &str) -> Value {
        let mut manifest = self.manifest.clone();
        let name = format!("{tag}-{}", self.letter);
        match self.kind {
            Kind::TemplateRevision => manifest["spec"]["templateName"] = json!(tag),
            Kind::WorkspaceRecord => manifest["spec"]["workspaceUid"] = json!(name),
            _ => (),
        }
        manifest["metadata"]["name"] = json!(name);
        manifest
    }

    /// The manifest with what the API server adds to it.
    fn defaulted(&self, tag: &str) -> Value {
        let mut manifest = self.named(tag);
        let defaults = DEFAULTS
            .iter()
            .filter(|(kind, letter, _)| *kind == self.kind && *letter == self.letter);
        for (at, value) in defaults.flat_map(|(_, _, defaults)| *defaults) {
            assert_eq!(get(&manifest, at), None, "{at} needs no default");
            set(self.kind, &mut manifest, at, serde_json::from_str(value).unwrap());
        }
        manifest
    }
}

/// Creates the object, with its status, and reads it back.
async fn stored(client: &Client, judge: &Judge, kind: Kind, manifest: &Value) -> Value {
    let mut object = judge.create(kind, manifest).await;
    let name = manifest["metadata"]["name"].as_str().unwrap();
    let url = format!("{}/{name}", judge.collection(kind));
    if manifest["status"].is_object() {
        object["status"] = manifest["status"].clone();
        if let Answer::Refused(code, message, _) =
            judge.write("PUT", &format!("{url}/status"), &object).await
        {
            panic!("{code} {message}");
        }
    }
    client.request(Request::get(url).body(Vec::new()).unwrap()).await.unwrap()
}

/// What our type makes of what the API server answers.
fn through_our_type(kind: Kind, object: Value) -> Value {
    read_by_our_type(kind, object).unwrap()
}

/// As [`through_our_type`], where our type can read it.
pub fn read_by_our_type(kind: Kind, object: Value) -> Result<Value, serde_json::Error> {
    fn through<K: DeserializeOwned + Serialize>(object: Value) -> Result<Value, serde_json::Error> {
        serde_json::to_value(serde_json::from_value::<K>(object)?)
    }
    match kind {
        Kind::Workspace => through::<api::Workspace>(object),
        Kind::Volume => through::<api::Volume>(object),
        Kind::Template => through::<api::Template>(object),
        Kind::TemplateRevision => through::<api::TemplateRevision>(object),
        Kind::Host => through::<api::Host>(object),
        Kind::StoragePool => through::<api::StoragePool>(object),
        Kind::WorkspaceRun => through::<api::WorkspaceRun>(object),
        Kind::VolumeTask => through::<api::VolumeTask>(object),
        Kind::WorkspaceRecord => through::<api::WorkspaceRecord>(object),
    }
}

fn nulls(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::Null => vec![at.to_owned()],
        Value::Array(items) => items.iter().flat_map(|item| nulls(item, at)).collect(),
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| nulls(value, &format!("{at}.{key}"))).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn every_field_has_a_place_in_a_full_manifest() {
    let placed = |kind: Kind, at: &str| {
        variants(kind).iter().any(|variant| match at.strip_suffix("{}") {
            Some(map) => get(&variant.manifest, map).is_some_and(|map| map != &json!({})),
            None => get(&variant.manifest, at).is_some(),
        })
    };
    let mut missing = Vec::new();
    for walk::Node { kind, at, .. } in walk::nodes() {
        let ours = at.starts_with("spec") || at.starts_with("status");
        if ours && placed(kind, &at) == never(kind, &at) {
            missing.push(format!("{kind:?} {at}"));
        }
    }
    assert!(missing.is_empty(), "{} are set nowhere: {missing:#?}", missing.len());
}

#[tokio::test]
async fn a_full_manifest_reads_back_as_it_was_written_but_for_defaults() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("full").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    for kind in Kind::ALL {
        for variant in variants(*kind) {
            let answer = stored(&cluster.admin(), &judge, *kind, &variant.named("as-sent")).await;
            let mut wanted = variant.defaulted("as-sent");
            if wanted["status"].is_null() && *kind != Kind::WorkspaceRecord {
                wanted["status"] = json!({ "observedGeneration": -1 });
            }
            let label = format!("{kind:?} {}", variant.letter);
            assert_eq!(answer["spec"], wanted["spec"], "{label}");
            assert_eq!(answer["status"], wanted["status"], "{label}");
            for part in ["name", "labels", "annotations"] {
                assert_eq!(answer["metadata"][part], wanted["metadata"][part], "{label}");
            }
        }
    }
}

#[tokio::test]
async fn our_types_lose_nothing_that_the_api_server_answers() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("lossless").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    for kind in Kind::ALL {
        for variant in variants(*kind) {
            let answer = stored(&cluster.admin(), &judge, *kind, &variant.named("typed")).await;
            let ours = through_our_type(*kind, answer.clone());
            assert_eq!(ours, answer, "{kind:?} {}", variant.letter);
            assert_eq!(nulls(&ours, ""), [""; 0], "{kind:?} {}", variant.letter);
        }
    }
}

/// Date-times that an API server takes for one, and might.
const MOMENTS: &[&str] = &[
    "2037-01-31T18:00:00+02:00",
    "2037-01-31T18:00:00.5Z",
    "2037-01-31T18:00:00.000Z",
    "2037-01-31T18:00:00.123456789123Z",
    "2037-01-31T18:00:00,5Z",
    "2037-01-31T18:00:00x5Z",
    "2037-01-31t18:00:00z",
    "2037-01-31T18:00:00+23:59",
    "2037-01-31T18:00:00-23:59",
    "2037-01-31T18:00:00+23:60",
    "2037-01-31T18:00:00+24:00",
    "2037-01-31T18:00:00+24:59",
    "2037-01-31T18:00:00-24:60",
    "2037-01-31T18:00:00+99:99",
    "0000-01-01T00:00:00Z",
    "9999-12-30T00:00:00Z",
    "9999-12-31T23:59:59Z",
];

#[tokio::test]
async fn a_date_time_that_the_api_server_accepts_leaves_the_object_readable() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("moments").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let (mut accepted, mut unreadable) = (0, Vec::new());
    let date_times = walk::nodes().into_iter().filter(|n| n.schema["format"] == "date-time");
    for (number, walk::Node { kind, at, .. }) in date_times.enumerate() {
        let has = |variant: &&Variant| get(&variant.manifest, &at).is_some();
        let variant = variants(kind).iter().find(has).unwrap();
        let mut object = variant.named(&format!("moments{number}"));
        let url = judge.collection(kind);
        let (method, url) = if at.starts_with("status") {
            let there = judge.create(kind, &object).await;
            object["metadata"] = there["metadata"].clone();
            let name = there["metadata"]["name"].as_str().unwrap();
            ("PUT", format!("{url}/{name}/status?dryRun=All"))
        } else {
            ("POST", format!("{url}?dryRun=All"))
        };
        for moment in MOMENTS {
            set(kind, &mut object, &at, json!(moment));
            if let Answer::Accepted(answer) = judge.write(method, &url, &object).await {
                accepted += 1;
                if let Err(error) = read_by_our_type(kind, answer) {
                    unreadable.push(format!("{kind:?} {at}: {moment}: {error}"));
                }
            }
        }
    }
    assert!(accepted > 0, "no date-time is accepted");
    assert!(unreadable.is_empty(), "{} of {accepted}: {unreadable:#?}", unreadable.len());
}

#[tokio::test]
async fn a_moment_in_a_spec_keeps_its_spelling() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("spelling").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let url = format!("{}?dryRun=All", judge.collection(Kind::Workspace));
    for moment in MOMENTS {
        let mut manifest = Kind::Workspace.least("spelling");
        set(Kind::Workspace, &mut manifest, "spec.lifetime", json!({ "expiresAt": moment }));
        if let Answer::Accepted(answer) = judge.write("POST", &url, &manifest).await {
            assert_eq!(through_our_type(Kind::Workspace, answer.clone()), answer, "{moment}");
        }
    }
}

#[tokio::test]
async fn the_api_server_accepts_what_our_types_write() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("written").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    for kind in Kind::ALL {
        for variant in variants(*kind) {
            let written = through_our_type(*kind, variant.named("written"));
            assert_eq!(nulls(&written, ""), [""; 0], "{kind:?} {}", variant.letter);
            let answer = stored(&cluster.admin(), &judge, *kind, &written).await;
            assert_eq!(answer["spec"], written["spec"], "{kind:?} {}", variant.letter);
        }
    }
}
