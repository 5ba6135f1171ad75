//! From runs and Secrets to what each Workspace is to be.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};

use super::{Assignment, Given, Premises, assign, sha256};
use crate::agent::lifecycle::{Hold, Pull, Restart};
use crate::agent::policy::HostPolicy;
use crate::api::workspace_run::DesiredState;
use crate::api::{Reason, WorkspaceRun};
use crate::docker::ApiVersion;

fn run(uid: &str, sequence: i64, more: Value) -> Arc<WorkspaceRun> {
    let mut run = json!({
        "apiVersion": "kibotos.dev/v1alpha1",
        "kind": "WorkspaceRun",
        "metadata": { "name": format!("web-{uid}-{sequence}"), "uid": format!("{uid}-{sequence}") },
        "spec": {
            "workspace": { "namespace": "default", "name": "web", "uid": uid },
            "sequence": sequence,
            "generation": 1,
            "desired": "Running",
            "container": { "image": "app:1" },
            "specHash": "1:00",
        },
    });
    run["spec"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Arc::new(serde_json::from_value(run).unwrap())
}

/// A Secret with one key, owned by the run of that uid.
fn secret(owner: &str, key: &str, value: &[u8]) -> Arc<Secret> {
    let mut secret: Secret = serde_json::from_value(json!({
        "metadata": { "name": "s", "ownerReferences": [
            { "apiVersion": "kibotos.dev/v1alpha1", "kind": "WorkspaceRun", "name": "r", "uid": owner }
        ] },
    }))
    .unwrap();
    let value = k8s_openapi::ByteString(value.to_vec());
    secret.data = Some([(key.to_owned(), value)].into());
    Arc::new(secret)
}

fn assigned(run: Arc<WorkspaceRun>, found: Option<Arc<Secret>>) -> Assignment {
    assign([run], |_| found.clone()).into_values().next().unwrap()
}

fn created(assignment: &Assignment, engine: ApiVersion) -> Result<(), Hold> {
    let policy = HostPolicy::default();
    let governing = policy.governing("default");
    let premises = Premises {
        host_uid: "h-1",
        root: "/var/lib/kibotos",
        engine,
        governing: &governing,
        sockets: &[],
    };
    assignment.create(&premises).map(|_| ())
}

fn hold(assignment: &Assignment) -> Hold {
    created(assignment, ApiVersion::NEWEST).unwrap_err()
}

#[test]
fn the_run_with_the_highest_sequence_acts_and_the_others_are_told_of_oldest_first() {
    let runs = [(2, "a"), (10, "a"), (1, "b"), (9, "a")].map(|(n, uid)| run(uid, n, json!({})));
    let assigned = assign(runs, |_| None);
    let a = &assigned["a"];
    let older: Vec<_> = a.older.iter().map(|run| run.spec.sequence).collect();
    assert_eq!((a.run.spec.sequence, older), (10, vec![2, 9]));
    assert_eq!((assigned["b"].run.spec.sequence, assigned["b"].older.len()), (1, 0));
}

#[test]
fn a_secret_is_waited_for_until_it_is_this_runs_own() {
    let run = || run("a", 2, json!({ "secretName": "s" }));
    let missing = assigned(run(), None);
    assert_eq!(hold(&missing).reason, Reason::SecretNotFound);
    assert!(hold(&missing).message.contains("Secret s"));
    // Left by another run of that name.
    let others = assigned(run(), Some(secret("a-1", "TOKEN", b"x")));
    assert_eq!(hold(&others).reason, Reason::SecretNotFound);
    let own = assigned(run(), Some(secret("a-2", "TOKEN", b"x")));
    assert_eq!(created(&own, ApiVersion::NEWEST), Ok(()));
}

#[test]
fn a_config_file_is_the_one_of_its_hash_or_none() {
    let run = |sha256: &str| {
        let path = "/usr/local/etc/service.conf";
        let config = json!({ "secretName": "s", "key": "conf", "sha256": sha256, "path": path });
        run("a", 1, json!({ "configFile": config }))
    };
    let found = || Some(secret("a-1", "conf", b"abc"));
    // The digest of "abc", from FIPS 180-2.
    let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(b"abc"), of_abc);
    assert!(matches!(assigned(run(of_abc), found()).config, Given::There(_)));
    let wrong = assigned(run(&"0".repeat(64)), found());
    assert_eq!(hold(&wrong).reason, Reason::SecretNotFound);
    assert_eq!(hold(&assigned(run(of_abc), None)).reason, Reason::SecretNotFound);
}

#[test]
fn a_value_that_is_no_text_is_refused_by_its_name_and_never_shown() {
    let run = run("a", 1, json!({ "secretName": "s" }));
    let binary = assigned(run, Some(secret("a-1", "TOKEN", b"hush\xff")));
    let hold = hold(&binary);
    assert_eq!(hold.reason, Reason::InvalidSpec);
    assert!(hold.message.starts_with("spec.container.env[TOKEN]:"), "{}", hold.message);
    assert!(!format!("{hold:?} {binary:?}").contains("hush"));
}

#[test]
fn a_run_that_is_being_deleted_is_stopped_and_its_container_kept() {
    for (desired, then) in [("Running", "Stopped"), ("Stopped", "Stopped"), ("Removed", "Removed")]
    {
        let mut run = WorkspaceRun::clone(&run("a", 1, json!({ "desired": desired })));
        assert_eq!(format!("{:?}", assigned(Arc::new(run.clone()), None).desired()), desired);
        let at = serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
        run.metadata.deletion_timestamp = Some(at);
        assert_eq!(format!("{:?}", assigned(Arc::new(run), None).desired()), then);
    }
}

#[test]
fn what_cannot_be_is_told_by_reason_and_every_field() {
    let of = |container: Value| assigned(run("a", 1, json!({ "container": container })), None);
    let forbidden = hold(&of(json!({ "image": "app:1", "privileged": true, "pidMode": "host" })));
    assert_eq!(forbidden.reason, Reason::ForbiddenByHostPolicy);
    for path in ["spec.container.privileged:", "spec.container.pidMode:"] {
        assert!(forbidden.message.contains(path), "{}", forbidden.message);
    }
    let check = json!({ "test": ["CMD", "true"], "startInterval": "1s" });
    let healthcheck = of(json!({ "image": "app:1", "healthcheck": check }));
    let old = created(&healthcheck, ApiVersion::v1(41)).unwrap_err();
    assert_eq!(old.reason, Reason::UnsupportedByEngine);
    assert!(old.message.contains("spec.container.healthcheck.startInterval"), "{}", old.message);
    // One field that is wrong everywhere makes it more than the engine's age.
    let both = of(json!({ "image": "app:1", "name": "x", "healthcheck": check }));
    let both = created(&both, ApiVersion::v1(41)).unwrap_err();
    assert_eq!(both.reason, Reason::InvalidSpec);
    assert!(both.message.contains("spec.container.name") && both.message.contains("startInterval"));
}

#[test]
fn the_wish_is_the_run_reduced_also_where_no_container_can_be_made_of_it() {
    let policy = |name: &str, more: Value| {
        let mut spec = json!({ "restartPolicy": { "name": name } });
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let wish = assigned(run("a", 1, spec), None).wish(None, false);
        (wish.restart, wish.policy.name)
    };
    assert_eq!(policy("always", json!({})), (Restart::Always, "always".to_owned()));
    assert_eq!(policy("unless-stopped", json!({})), (Restart::Always, "unless-stopped".to_owned()));
    assert_eq!(policy("on-failure", json!({})), (Restart::OnFailure(0), "on-failure".to_owned()));
    assert_eq!(policy("no", json!({})), (Restart::No, "no".to_owned()));
    // An engine that comes back must start nothing that another host may have taken over.
    assert_eq!(policy("always", json!({ "leased": true })), (Restart::Always, "no".to_owned()));

    let wish =
        assigned(run("a", 1, json!({ "deletion": { "force": true } })), None).wish(None, true);
    assert_eq!((wish.restart, wish.policy.name.as_str()), (Restart::Kept, "no"));
    assert_eq!((wish.name.as_str(), wish.pull), ("default_web", Pull::IfNotPresent));
    // A stop has its grace period: force speaks of removal.
    assert_eq!((wish.desired, wish.force, wish.fenced), (DesiredState::Running, false, true));
}
