//! What on an engine is the agent's, and what it never touches.

use kibotos::{
    agent::volumes::{self, Done},
    api::{Reason, VolumeTask, workspace_run::RunMount},
    engine::Engine,
};
use serde_json::{Value, json};

use crate::{
    fake::{FakeEngine, Fault, Image, Process, What},
    fixture::send,
};

async fn engine() -> (FakeEngine, Engine) {
    let fake = FakeEngine::start();
    fake.add_image(Image::new("app:1", json!({ "Cmd": ["app"] })));
    fake.processes("app:1", Process::obedient(0));
    let engine = Engine::connect(&fake.socket()).await.unwrap();
    (fake, engine)
}

async fn make_volume(fake: &FakeEngine, name: &str, labels: Value) {
    let body = json!({ "Name": name, "Labels": labels });
    let made = send(&fake.socket(), "POST", "/volumes/create", Some(&body)).await.unwrap();
    assert_eq!(made.0, 201, "{made:?}");
}

fn task(uid: &str) -> VolumeTask {
    let volume = json!({ "name": "data", "uid": uid });
    serde_json::from_value(json!({
        "apiVersion": "kibotos.dev/v1alpha1", "kind": "VolumeTask", "metadata": { "name": "remove" },
        "spec": { "volume": volume, "driver": "local", "action": "Remove" },
    }))
    .unwrap()
}

fn mount(uid: &str) -> RunMount {
    let volume = json!({ "name": "data", "uid": uid });
    serde_json::from_value(json!({ "volume": volume, "driver": "local", "path": "/data" })).unwrap()
}

#[tokio::test]
async fn a_volume_of_the_name_without_the_label_is_neither_used_nor_removed() {
    let (fake, engine) = engine().await;
    make_volume(&fake, "kibotos-b", json!({})).await;
    make_volume(&fake, "a_kibotos-b", json!({ "kibotos.dev/volume-uid": "b" })).await;
    let refused = volumes::ensure(&engine, &mount("b"), "h").await.unwrap_err();
    assert_eq!(refused.hold.reason, Reason::NameConflict);
    let left = volumes::remove(&engine, &task("b"), &[]).await.unwrap();
    assert!(matches!(left, Done::NotYet(Reason::NameConflict, _)), "{left:?}");
    assert_eq!(fake.volumes(), ["a_kibotos-b", "kibotos-b"]);
    assert_eq!(fake.count("DELETE", "/volumes/.*"), 0);
    // What is not there needs no removal, whatever is named like it.
    assert_eq!(volumes::remove(&engine, &task("a"), &[]).await.unwrap(), Done::Gone);
}

#[tokio::test]
async fn the_data_of_a_volume_goes_only_when_no_run_and_no_container_has_it() {
    let (fake, engine) = engine().await;
    volumes::ensure(&engine, &mount("a"), "h").await.unwrap();
    let in_use = async |runs: &[String]| match volumes::remove(&engine, &task("a"), runs).await {
        Ok(Done::NotYet(Reason::VolumeInUse, message)) => message,
        other => panic!("{other:?}"),
    };
    assert!(in_use(&["web-1".to_owned()]).await.contains("web-1"));
    let mounts = json!([{ "Type": "volume", "Source": "kibotos-a", "Target": "/data" }]);
    fake.make("by-hand", json!({ "Image": "app:1", "HostConfig": { "Mounts": mounts } }));
    assert!(in_use(&[]).await.contains("by-hand"));
    assert_eq!(fake.count("DELETE", "/volumes/.*"), 0, "the engine is not asked to judge");
    assert_eq!(
        send(&fake.socket(), "DELETE", "/containers/by-hand?force=1", None).await.unwrap().0,
        204
    );
    assert_eq!(volumes::remove(&engine, &task("a"), &[]).await.unwrap(), Done::Gone);
    assert!(fake.volumes().is_empty());
}

#[tokio::test]
async fn a_removal_of_data_that_failed_once_succeeds_when_it_is_tried_again() {
    let (fake, engine) = engine().await;
    volumes::ensure(&engine, &mount("a"), "h").await.unwrap();
    let broken = What::Answer(500, "driver is away".into());
    fake.fault(Fault::on("DELETE", "/volumes/.*", broken).nth(1));
    let failed = volumes::remove(&engine, &task("a"), &[]).await.unwrap();
    assert!(matches!(failed, Done::NotYet(Reason::VolumeDriverFailed, _)), "{failed:?}");
    assert_eq!(volumes::remove(&engine, &task("a"), &[]).await.unwrap(), Done::Gone);
}
