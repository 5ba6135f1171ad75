//! Server-side apply by two managers: what merges, by which key, and what conflicts.

use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::{Api, Client, Error};
use serde_json::{Value, json};

use super::judge::Judge;
use super::kind::Kind;
use super::manifest::{get, set};
use crate::fixture::cluster;

/// One object that two managers share.
struct Shared {
    api: Api<DynamicObject>,
    kind: Kind,
    name: String,
}

impl Shared {
    /// Creates the object, whose least fields belong to neither of the two.
    async fn create(client: Client, namespace: &str, kind: Kind, tag: &str) -> Self {
        let manifest = kind.least(tag);
        Judge::new(client.clone(), namespace).create(kind, &manifest).await;
        let gvk = GroupVersionKind::gvk("kibotos.dev", "v1alpha1", kind.name());
        let resource = ApiResource::from_gvk_with_plural(&gvk, &kind.plural());
        let api = if kind.namespaced() {
            Api::namespaced_with(client, namespace, &resource)
        } else {
            Api::all_with(client, &resource)
        };
        Self { api, kind, name: manifest["metadata"]["name"].as_str().unwrap().to_owned() }
    }

    /// Applies these fields as `manager`, and no others; the object as it then is.
    async fn apply(&self, manager: &str, fields: &[(&str, Value)]) -> Result<Value, Error> {
        let mut config = json!({
            "apiVersion": "kibotos.dev/v1alpha1",
            "kind": self.kind.name(),
            "metadata": { "name": self.name },
        });
        for (at, value) in fields {
            set(self.kind, &mut config, at, value.clone());
        }
        let params = PatchParams::apply(manager);
        let patch = Patch::Apply(&config);
        let answer = if fields.iter().any(|(at, _)| at.starts_with("status")) {
            self.api.patch_status(&self.name, &params, &patch).await
        } else {
            self.api.patch(&self.name, &params, &patch).await
        };
        answer.map(|object| serde_json::to_value(object).unwrap())
    }

    /// Applies, and is not refused.
    async fn accept(&self, manager: &str, at: &str, value: &Value) -> Value {
        match self.apply(manager, &[(at, value.clone())]).await {
            Ok(object) => get(&object, at).cloned().unwrap_or_default(),
            Err(error) => panic!("{manager} {at}: {error}"),
        }
    }

    /// Applies the parent of a field without it: what is left of the field.
    async fn withdraw(&self, manager: &str, at: &str) -> Value {
        let (parent, _) = at.rsplit_once('.').unwrap();
        match self.apply(manager, &[(parent, json!({}))]).await {
            Ok(object) => get(&object, at).cloned().unwrap_or_default(),
            Err(error) => panic!("{manager} {at}: {error}"),
        }
    }

    /// The fields that the refusal of an apply names.
    async fn conflicts(&self, manager: &str, at: &str, value: &Value) -> Vec<(String, String)> {
        match self.apply(manager, &[(at, value.clone())]).await {
            Err(Error::Api(status)) if status.code == 409 => {
                let causes = status.details.into_iter().flat_map(|details| details.causes);
                causes.map(|cause| (cause.field, cause.message)).collect()
            }
            Err(error) => panic!("{manager} {at}: {error}"),
            Ok(_) => panic!("{manager} {at}: accepted"),
        }
    }
}

/// A list whose items merge: an item by each manager, as it reads back, and the first's with
/// another value, with the field that then conflicts.
struct Merging {
    kind: Kind,
    at: &'static str,
    alice: Value,
    bob: Value,
    other: Value,
    conflict: &'static str,
}

fn merging_lists() -> Vec<Merging> {
    let on =
        |kind, at, alice, bob, other, conflict| Merging { kind, at, alice, bob, other, conflict };
    let workspace =
        |at, alice, bob, other, conflict| on(Kind::Workspace, at, alice, bob, other, conflict);
    let port = |protocol: &str, host: i32, name: &str| json!({ "containerPort": 53, "protocol": protocol, "hostIP": "", "hostPort": host, "name": name });
    let condition = |kind: &str, status: &str| {
        let since = "2026-01-02T03:04:05Z";
        json!({ "type": kind, "status": status, "reason": "A", "message": "", "lastTransitionTime": since })
    };
    let mut lists = vec![
        workspace(
            "spec.container.env",
            json!({ "name": "A", "value": "1" }),
            json!({ "name": "B", "value": "1" }),
            json!({ "name": "A", "value": "2" }),
            r#".spec.container.env[name="A"].value"#,
        ),
        // One port by two protocols, and by two ports of the host.
        workspace(
            "spec.container.ports",
            port("TCP", 0, "tcp"),
            port("UDP", 0, "udp"),
            port("TCP", 0, "other"),
            r#".spec.container.ports[containerPort=53,hostIP="",hostPort=0,protocol="TCP"].name"#,
        ),
        workspace(
            "spec.container.ports",
            port("TCP", 1053, "a"),
            port("TCP", 1054, "b"),
            port("TCP", 1053, "other"),
            r#".spec.container.ports[containerPort=53,hostIP="",hostPort=1053,protocol="TCP"].name"#,
        ),
        workspace(
            "spec.container.mounts",
            json!({ "target": "/a", "type": "volume", "source": "vol-a" }),
            json!({ "target": "/b", "type": "tmpfs" }),
            json!({ "target": "/a", "type": "volume", "source": "vol-b" }),
            r#".spec.container.mounts[target="/a"].source"#,
        ),
        workspace(
            "spec.container.networks",
            json!({ "name": "front", "aliases": ["web"] }),
            json!({ "name": "back" }),
            json!({ "name": "front", "aliases": ["api"] }),
            r#".spec.container.networks[name="front"].aliases"#,
        ),
        workspace(
            "spec.container.ulimits",
            json!({ "name": "nofile", "soft": 1, "hard": 2 }),
            json!({ "name": "core", "soft": 0, "hard": 0 }),
            json!({ "name": "nofile", "soft": 2, "hard": 2 }),
            r#".spec.container.ulimits[name="nofile"].soft"#,
        ),
        workspace(
            "spec.container.devices",
            json!({ "pathInContainer": "/dev/a", "pathOnHost": "/dev/x" }),
            json!({ "pathInContainer": "/dev/b", "pathOnHost": "/dev/x" }),
            json!({ "pathInContainer": "/dev/a", "pathOnHost": "/dev/y" }),
            r#".spec.container.devices[pathInContainer="/dev/a"].pathOnHost"#,
        ),
    ];
    for kind in Kind::ALL.iter().filter(|k| !matches!(k, Kind::VolumeTask | Kind::WorkspaceRecord))
    {
        lists.push(on(
            *kind,
            "status.conditions",
            condition("Ready", "True"),
            condition("AgentReady", "True"),
            condition("Ready", "False"),
            r#".status.conditions[type="Ready"].status"#,
        ));
    }
    lists
}

#[tokio::test]
async fn items_of_two_managers_merge_by_key_and_each_withdraws_its_own() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("merge").await;
    for (number, list) in merging_lists().into_iter().enumerate() {
        let Merging { kind, at, alice, bob, .. } = list;
        let tag = format!("merge{number}");
        let object = Shared::create(cluster.admin(), namespace.name(), kind, &tag).await;
        assert_eq!(
            object.accept("alice", at, &json!([alice])).await,
            json!([alice]),
            "{kind:?} {at}"
        );
        let both = object.accept("bob", at, &json!([bob])).await;
        let both = both.as_array().unwrap();
        assert!(both.len() == 2 && both.contains(&alice) && both.contains(&bob), "{at}: {both:?}");
        assert_eq!(object.withdraw("alice", at).await, json!([bob]), "{kind:?} {at}");
        assert_eq!(object.withdraw("bob", at).await, Value::Null, "{kind:?} {at}");
    }
}

#[tokio::test]
async fn another_value_for_an_item_of_another_manager_is_a_conflict_that_names_the_field() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("conflict").await;
    for (number, list) in merging_lists().into_iter().enumerate() {
        let Merging { kind, at, alice, other, conflict, .. } = list;
        let tag = format!("conflict{number}");
        let object = Shared::create(cluster.admin(), namespace.name(), kind, &tag).await;
        object.accept("alice", at, &json!([alice])).await;
        let causes = object.conflicts("bob", at, &json!([other])).await;
        let part = if at.starts_with("status") { r#" with subresource "status""# } else { "" };
        let wanted = (conflict.to_owned(), format!(r#"conflict with "alice"{part}"#));
        assert_eq!(causes, [wanted], "{kind:?} {at}");
        // The same value is nobody's loss.
        object.accept("bob", at, &json!([alice])).await;
    }
}

#[tokio::test]
async fn a_port_applied_by_its_number_alone_is_the_one_with_the_keys_defaults() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("number").await;
    let object = Shared::create(cluster.admin(), namespace.name(), Kind::Workspace, "number").await;
    let at = "spec.container.ports";
    let whole = json!({ "containerPort": 53, "protocol": "TCP", "hostIP": "", "hostPort": 0 });
    let udp = json!({ "containerPort": 53, "protocol": "UDP", "hostIP": "", "hostPort": 0 });
    let short = json!([{ "containerPort": 53 }]);
    assert_eq!(object.accept("alice", at, &short).await, json!([whole]));
    let short = json!([{ "containerPort": 53, "protocol": "UDP" }]);
    assert_eq!(object.accept("bob", at, &short).await, json!([whole, udp]));
    assert_eq!(object.withdraw("alice", at).await, json!([udp]));
}

#[tokio::test]
async fn image_pull_secrets_and_sets_merge_by_their_items() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("sets").await;
    for (number, (kind, at, alice, bob)) in [
        (Kind::Workspace, "spec.imagePullSecrets", json!({ "name": "a" }), json!({ "name": "b" })),
        (Kind::Workspace, "spec.container.anonymousVolumes", json!("/a"), json!("/b")),
        (Kind::Host, "status.runtimes", json!("runc"), json!("runsc")),
    ]
    .into_iter()
    .enumerate()
    {
        let tag = format!("sets{number}");
        let object = Shared::create(cluster.admin(), namespace.name(), kind, &tag).await;
        object.accept("alice", at, &json!([alice])).await;
        assert_eq!(object.accept("bob", at, &json!([bob])).await, json!([alice, bob]), "{at}");
        assert_eq!(object.withdraw("alice", at).await, json!([bob]), "{at}");
    }
}

#[tokio::test]
async fn a_runs_mounts_are_told_apart_by_path() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("run-mounts").await;
    let mount = |path: &str, driver: &str| json!({ "path": path, "driver": driver, "volume": { "name": "data", "uid": "u-1" } });
    // Immutable once the run is there, they never merge; a path twice is refused before that.
    let object =
        Shared::create(cluster.admin(), namespace.name(), Kind::WorkspaceRun, "mounts").await;
    let two = json!([mount("/a", "local"), mount("/a", "other")]);
    let error = object.apply("alice", &[("spec.mounts", two)]).await.unwrap_err();
    assert!(error.to_string().contains(r#"duplicate entries for key [path="/a"]"#), "{error}");
}

#[tokio::test]
async fn maps_and_resources_merge_by_key() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("maps").await;
    for (number, (at, alice, bob)) in [
        ("spec.container.labels", ["a", "1"], ["b", "1"]),
        ("spec.container.annotations", ["a", "1"], ["b", "1"]),
        ("spec.container.sysctls", ["net.ipv4.ip_forward", "1"], ["kernel.msgmax", "65536"]),
        ("spec.container.tmpfs", ["/a", ""], ["/b", "size=1m"]),
        ("spec.resources.limits", ["cpu", "1500m"], ["memory", "1Gi"]),
        ("spec.resources.requests", ["cpu", "1500m"], ["memory", "1Gi"]),
    ]
    .into_iter()
    .enumerate()
    {
        let tag = format!("maps{number}");
        let object = Shared::create(cluster.admin(), namespace.name(), Kind::Workspace, &tag).await;
        let map = |[key, value]: [&str; 2]| json!({ key: value });
        object.accept("alice", at, &map(alice)).await;
        let both = json!({ alice[0]: alice[1], bob[0]: bob[1] });
        assert_eq!(object.accept("bob", at, &map(bob)).await, both, "{at}");
        let causes = object.conflicts("bob", at, &map([alice[0], "2"])).await;
        let [(field, _)] = &causes[..] else { panic!("{at}: {causes:?}") };
        assert_eq!(*field, format!(".{at}.{}", alice[0]));
        assert_eq!(object.withdraw("alice", at).await, map(bob), "{at}");
    }
}

#[tokio::test]
async fn lists_whose_order_counts_conflict_as_a_whole() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("atomic").await;
    for (number, (at, alice, bob)) in [
        ("spec.container.args", "a", "b"),
        ("spec.container.command", "a", "b"),
        ("spec.container.binds", "/a:/a", "/b:/b"),
        ("spec.container.capAdd", "NET_ADMIN", "SYS_TIME"),
        ("spec.container.capDrop", "NET_ADMIN", "SYS_TIME"),
        ("spec.container.dns", "9.9.9.9", "1.1.1.1"),
        ("spec.container.healthcheck.test", "NONE", "CMD"),
    ]
    .into_iter()
    .enumerate()
    {
        let tag = format!("atomic{number}");
        let object = Shared::create(cluster.admin(), namespace.name(), Kind::Workspace, &tag).await;
        object.accept("alice", at, &json!([alice])).await;
        let causes = object.conflicts("bob", at, &json!([alice, bob])).await;
        let [(field, _)] = &causes[..] else { panic!("{at}: {causes:?}") };
        assert_eq!(*field, format!(".{at}"));
    }
}
