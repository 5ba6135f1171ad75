//! How an agent comes to its tokens, keeps them, and learns that it gets no more.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kibotos::{
    api::WorkspaceRun,
    trust::{self, Access, State, TrustError, token_file},
};
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use serde_json::{Value, json};

use crate::fixture::{Joined, cluster, eventually, join};

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_stored_token_is_the_owners_alone_and_serves_the_next_start() {
    let cluster = cluster().await;
    let joined = join(&cluster, "stored").await;
    drop(joined.access().await);
    let file = token_file(joined.root());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&joined.credential).unwrap().permissions().mode() & 0o777, 0o600);
    let stored = read(&file);
    assert_eq!(stored["lifetimeSeconds"], 86_400, "what was asked is what this server grants");

    // Nothing could be minted now.
    let secrets = Api::<Secret>::namespaced(cluster.admin(), "kibotos-credentials");
    let secret = format!("kibotos-refresh-{}", joined.host);
    secrets.delete(&secret, &DeleteParams::default()).await.unwrap();
    let access = trust::connect(&joined.credential(), joined.root()).unwrap();

    assert_eq!(access.ready(Duration::ZERO).await, Ok(()), "without a word from the API");
    eventually("its rights are in force", async || runs(&access).await.ok()).await;
    assert_eq!(read(&file), stored);
    let state = access.renewal.unwrap().state().borrow().clone();
    assert_eq!(state, State::Starting, "it is not due");
}

#[tokio::test]
async fn a_token_of_an_earlier_boot_is_used_and_renewed() {
    let cluster = cluster().await;
    let joined = join(&cluster, "boot").await;
    drop(joined.access().await);
    let file = token_file(joined.root());
    let mut stored = read(&file);
    let boot = stored["boot"].clone();
    stored["boot"] = json!("an earlier one");
    fs::write(&file, stored.to_string()).unwrap();

    let access = trust::connect(&joined.credential(), joined.root()).unwrap();

    assert_eq!(access.ready(Duration::ZERO).await, Ok(()));
    eventually("it is renewed", async || (read(&file)["boot"] == boot).then_some(())).await;
    assert_ne!(read(&file)["token"], stored["token"]);
}

#[tokio::test]
async fn a_token_that_the_api_refuses_is_replaced_before_it_is_due() {
    let cluster = cluster().await;
    let joined = join(&cluster, "replaced").await;
    drop(joined.access().await);
    let file = token_file(joined.root());
    let mut stored = read(&file);
    stored["token"] = json!("bogus");
    stored["receivedMillis"] = json!(0);
    stored["lifetimeSeconds"] = json!(1_000_000_000);
    fs::write(&file, stored.to_string()).unwrap();
    let access = trust::connect(&joined.credential(), joined.root()).unwrap();

    let refused = runs(&access).await.unwrap_err();

    assert!(matches!(&refused, kube::Error::Api(status) if status.code == 401), "{refused}");
    eventually("another token serves", async || runs(&access).await.ok()).await;
}

#[tokio::test]
async fn a_revoked_refresh_token_says_what_an_admin_has_to_run() {
    let cluster = cluster().await;
    let joined = join(&cluster, "revoked").await;
    drop(joined.access().await);
    let secrets = Api::<Secret>::namespaced(cluster.admin(), "kibotos-credentials");
    let secret = format!("kibotos-refresh-{}", joined.host);
    secrets.delete(&secret, &DeleteParams::default()).await.unwrap();

    says_what_to_run(&joined, 401).await;
}

#[tokio::test]
async fn a_deleted_account_says_what_an_admin_has_to_run_and_a_join_mends_it() {
    let cluster = cluster().await;
    let joined = join(&cluster, "deleted").await;
    drop(joined.access().await);
    let accounts = Api::<ServiceAccount>::namespaced(cluster.admin(), &joined.namespace);
    accounts.delete("kibotos-agent", &DeleteParams::default()).await.unwrap();

    says_what_to_run(&joined, 404).await;

    joined.again(&cluster).await;
    let access = joined.access().await;
    eventually("the agent works again", async || runs(&access).await.ok()).await;
}

#[tokio::test]
async fn an_api_that_is_away_is_not_taken_for_a_refusal() {
    let cluster = cluster().await;
    let joined = join(&cluster, "away").await;
    let mut credential = joined.credential();
    // Nothing listens there.
    credential.server = "https://127.0.0.1:1".parse().unwrap();

    let access = trust::connect(&credential, joined.root()).unwrap();

    let error = access.ready(SOON).await.unwrap_err();
    assert!(matches!(error, TrustError::Away { .. }), "{error}");
    assert!(error.to_string().contains("https://127.0.0.1:1"), "{error}");
    let error = runs(&access).await.unwrap_err().to_string();
    assert!(error.contains("no token for the API yet"), "{error}");
}

#[tokio::test]
async fn a_kubeconfig_serves_in_place_of_a_credential() {
    let cluster = cluster().await;
    let joined = join(&cluster, "kubeconfig").await;
    let host = joined.host.parse().unwrap();

    let access = trust::connect_with_kubeconfig(cluster.kubeconfig(), None, &host).unwrap();

    assert_eq!((&access.host, &access.namespace), (&joined.host, &joined.namespace));
    access.ready(Duration::ZERO).await.unwrap();
    runs(&access).await.unwrap();
}

/// A start with nothing stored is refused, with this status, once the revocation is in force.
async fn says_what_to_run(joined: &Joined, wanted: u16) {
    let error = eventually("the credential is refused", async || {
        let root = empty(joined);
        let access = trust::connect(&joined.credential(), &root).unwrap();
        access.ready(SOON).await.err()
    })
    .await;
    assert!(matches!(error, TrustError::Refused { status, .. } if status == wanted), "{error}");
    let run = format!("kibotos host join {} --out", joined.host);
    assert!(error.to_string().contains(&run), "{error}");
}

fn empty(joined: &Joined) -> PathBuf {
    let root = joined.root().join("empty");
    let _ = fs::remove_dir_all(&root);
    fs::create_dir(&root).unwrap();
    root
}

async fn runs(access: &Access) -> kube::Result<()> {
    let runs = Api::<WorkspaceRun>::namespaced(access.client.clone(), &access.namespace);
    runs.list(&ListParams::default()).await.map(drop)
}

fn read(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}
