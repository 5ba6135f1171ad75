//! A host joins, and what its agent then may and may not do, on a real API server.

mod program;
mod rights;
mod tokens;

use std::collections::BTreeMap;

use kibotos::api::Host;
use kibotos::trust::{JoinError, of_host};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
    core::DynamicObject,
};
use serde_json::json;
use tokio::net::TcpListener;

use crate::fixture::{cluster, join};

#[tokio::test]
async fn joining_twice_changes_nothing() {
    let cluster = cluster().await;
    let joined = join(&cluster, "twice").await;
    let before = versions(&cluster.admin(), &joined.host).await;
    let credential = joined.credential();

    let made = joined.again(&cluster).await;

    assert_eq!(made.len(), 12);
    assert!(made.iter().all(|line| line.ends_with(" unchanged")), "{made:#?}");
    assert_eq!(versions(&cluster.admin(), &joined.host).await, before);
    assert_eq!(joined.credential(), credential);
}

#[tokio::test]
async fn joining_again_leaves_what_an_admin_declared_of_the_host() {
    let cluster = cluster().await;
    let joined = join(&cluster, "declared").await;
    let hosts = Api::<Host>::all(cluster.admin());
    let cordon = Patch::Merge(json!({ "spec": { "mode": "Cordoned" } }));
    hosts.patch(&joined.host, &PatchParams::default(), &cordon).await.unwrap();

    let made = joined.again(&cluster).await;

    assert!(made.iter().all(|line| line.ends_with(" unchanged")), "{made:#?}");
    let spec = serde_json::to_value(hosts.get(&joined.host).await.unwrap().spec).unwrap();
    assert_eq!(spec["mode"], "Cordoned");
}

#[tokio::test]
async fn joining_again_makes_what_is_missing() {
    let cluster = cluster().await;
    let joined = join(&cluster, "missing").await;
    let namespace = joined.namespace.as_str();
    let roles = Api::<k8s_openapi::api::rbac::v1::Role>::namespaced(cluster.admin(), namespace);
    roles.delete("kibotos-agent", &DeleteParams::default()).await.unwrap();

    let made = joined.again(&cluster).await;

    let role = format!("role.rbac.authorization.k8s.io/kibotos-agent in {namespace} created");
    assert!(made.contains(&role), "{made:#?}");
}

#[tokio::test]
async fn a_cluster_without_definitions_is_told_what_to_run() {
    // As an API server answers for a kind that it does not serve.
    let missing = || async { (axum::http::StatusCode::NOT_FOUND, "404 page not found\n") };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server =
        tokio::spawn(
            async move { axum::serve(listener, axum::Router::new().fallback(missing)).await },
        );
    let url = format!("http://{address}").parse().unwrap();
    let client = Client::try_from(kube::Config::new(url)).unwrap();

    let error = kibotos::trust::join(&client, &"a".parse().unwrap(), |_| {}).await.unwrap_err();

    server.abort();
    assert!(matches!(error, JoinError::NoDefinitions), "{error}");
    assert!(error.to_string().contains("kibotos crds | kubectl apply --server-side -f -"));
}

/// The resourceVersion of all that a join makes.
async fn versions(client: &Client, host: &str) -> BTreeMap<String, Option<String>> {
    let mut versions = BTreeMap::new();
    for object in of_host(&host.parse().unwrap()) {
        let api: Api<DynamicObject> = match &object.object.metadata.namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &object.resource),
            None => Api::all_with(client.clone(), &object.resource),
        };
        let is = api.get(&object.object.name_any()).await.unwrap();
        // Shared by the hosts of all tests; its own line says `unchanged` as well.
        if object.object.name_any() != "kibotos-credentials" {
            versions.insert(object.title(), is.resource_version());
        }
    }
    versions
}
