//! Pulls by a real engine, from a real registry and from registries that misbehave.

mod scripted;

use std::{net::SocketAddr, sync::atomic::Ordering, time::Duration};

use kibotos::{
    agent::images::{
        auth::{Keyring, Login},
        collect::{Pulled, Threshold, collect},
        fault::Fault,
        pull::{Ask, Image, Patience, Pulls, Waiting},
    },
    api::{Reason, grammar::ImageReference},
    docker::CreateBody,
    engine::{Create, Deadlines, Engine},
};
use serde_json::json;

use crate::{
    fake::{FakeEngine, Fault as FakeFault, Gate, Image as FakeImage, Pull, What},
    fixture::{LOGIN, engine, eventually, registry},
};
use scripted::{Reply, Scripted};

const BUSYBOX: &str = "kibotos.test/busybox:1";

async fn client() -> Engine {
    Engine::connect(engine().await.socket()).await.unwrap()
}

fn ask(image: &str, logins: Vec<Login>) -> Ask {
    Ask { image: image.parse().unwrap(), platform: None, logins }
}

/// The logins for an image of a Secret with these registries, users and passwords.
fn logins(image: &str, auths: &[(&str, &str, &str)]) -> Vec<Login> {
    let auths: serde_json::Map<_, _> = auths
        .iter()
        .map(|&(registry, username, password)| {
            (registry.to_owned(), json!({ "username": username, "password": password }))
        })
        .collect();
    let json = json!({ "auths": auths }).to_string();
    Keyring::parse(json.as_bytes()).unwrap().logins(&image.parse().unwrap())
}

async fn ended(mut waiting: Waiting) -> Result<Image, Fault> {
    tokio::time::timeout(Duration::from_mins(2), waiting.ended()).await.expect("the pull ends")
}

async fn pull(ask: Ask) -> Result<Image, Fault> {
    ended(Pulls::default().join(&client().await, ask)).await
}

/// A pull that never succeeds.
async fn fails(image: &str, logins: Vec<Login>) -> Fault {
    pull(ask(image, logins)).await.unwrap_err()
}

#[tokio::test]
async fn an_image_is_pulled_and_its_id_and_digest_reported() {
    let (engine, registry, client) = (engine().await, registry().await, client().await);
    registry.push(&engine, BUSYBOX, "pulled").await;
    let image = format!("{}/pulled:1", registry.plain());

    let first = pull(ask(&image, Vec::new())).await.unwrap();

    let found = client.image(&image).await.unwrap().unwrap();
    assert_eq!(first.id, found.id);
    assert!(first.is_new);
    let digest = first.digest.clone().unwrap();
    assert!(
        found.repo_digests.contains(&format!("{}/pulled@{digest}", registry.plain())),
        "{digest} {found:?}"
    );
    let again = pull(ask(&image, Vec::new())).await.unwrap();
    assert_eq!(again, Image { is_new: false, ..first.clone() }, "it was there");
    client.remove_image(&image).await.unwrap();
    let pinned = format!("{}/pulled@{digest}", registry.plain());
    let by_digest = pull(ask(&pinned, Vec::new())).await.unwrap();
    assert_eq!((by_digest.id, by_digest.digest), (first.id, first.digest));
    client.remove_image(&pinned).await.unwrap();
}

#[tokio::test]
async fn a_registry_that_wants_a_login_gets_the_one_that_is_for_it() {
    let (engine, registry, client) = (engine().await, registry().await, client().await);
    registry.push(&engine, BUSYBOX, "locked/app").await;
    let image = format!("{}/locked/app:1", registry.locked());
    let (user, password) = LOGIN;

    let without = fails(&image, Vec::new()).await;
    assert_eq!(without.reason, Reason::Unauthorized, "{without:?}");
    assert!(without.message.contains("imagePullSecrets"), "{without:?}");
    let wrong = fails(&image, logins(&image, &[(registry.locked(), user, "wrong-word")])).await;
    assert_eq!(wrong.reason, Reason::Unauthorized, "{wrong:?}");
    assert!(wrong.message.contains("refuses the login"), "{wrong:?}");
    assert!(!wrong.message.contains("wrong-word") && !wrong.message.contains(user), "{wrong:?}");
    let other = logins(&image, &[("198.18.0.1:1", user, password)]);
    assert_eq!(other, [], "a login for another port is not shown");

    let nearer = format!("{}/locked", registry.locked());
    let both =
        logins(&image, &[(&nearer, "nobody", "wrong-word"), (registry.locked(), user, password)]);
    assert_eq!(both.len(), 2);
    let pulled = pull(ask(&image, both)).await.unwrap();
    assert!(pulled.digest.is_some(), "the second login was tried: {pulled:?}");
    client.remove_image(&image).await.unwrap();
}

#[tokio::test]
async fn what_a_registry_does_not_have_is_not_found() {
    let (engine, registry) = (engine().await, registry().await);
    registry.push(&engine, BUSYBOX, "known").await;

    for image in ["known:2", "unknown:1"] {
        let fault = fails(&format!("{}/{image}", registry.plain()), Vec::new()).await;
        assert_eq!(fault.reason, Reason::ImageNotFound, "{fault:?}");
        assert!(fault.message.contains(image), "{fault:?}");
    }
}

#[tokio::test]
async fn an_image_without_the_platform_is_a_mismatch() {
    let (engine, registry, client) = (engine().await, registry().await, client().await);
    registry.push(&engine, BUSYBOX, "platform").await;
    let image = format!("{}/platform:1", registry.plain());

    let asked = Ask { platform: Some("linux/s390x".to_owned()), ..ask(&image, Vec::new()) };
    let fault = pull(asked).await.unwrap_err();

    assert_eq!(fault.reason, Reason::PlatformMismatch, "{fault:?}");
    client.remove_image(&image).await.unwrap();
}

#[tokio::test]
async fn what_registries_answer_becomes_a_reason() {
    let gateway = engine().await.gateway();
    for (status, body, reason, wait) in [
        (
            "404 Not Found",
            r#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}"#,
            Reason::ImageNotFound,
            0,
        ),
        (
            "404 Not Found",
            r#"{"errors":[{"code":"NOT_FOUND","message":"artifact team/app:1 not found"}]}"#,
            Reason::ImageNotFound,
            0,
        ),
        (
            "401 Unauthorized",
            r#"{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}"#,
            Reason::Unauthorized,
            0,
        ),
        (
            "403 Forbidden",
            r#"{"errors":[{"code":"DENIED","message":"requested access to the resource is denied"}]}"#,
            Reason::Unauthorized,
            0,
        ),
        (
            "429 Too Many Requests",
            r#"{"errors":[{"code":"TOOMANYREQUESTS","message":"slow down"}]}"#,
            Reason::ImagePullBackOff,
            60,
        ),
        ("503 Service Unavailable", "<html>", Reason::RegistryUnreachable, 0),
        ("500 Internal Server Error", "", Reason::RegistryUnreachable, 0),
    ] {
        let answer = (status.to_owned(), body.to_owned());
        let scripted = Scripted::start(gateway, move |_| {
            Reply::Whole(answer.0.clone(), "application/json", answer.1.clone().into_bytes())
        })
        .await;
        let fault = fails(&format!("{}/team/app:1", scripted.place()), Vec::new()).await;
        assert_eq!(
            (fault.reason, fault.least_wait.as_secs()),
            (reason, wait),
            "{status} {fault:?}"
        );
        assert!(fault.message.contains(&scripted.place()), "{fault:?}");
    }
}

#[tokio::test]
async fn a_registry_that_is_not_there_is_unreachable() {
    let nowhere = SocketAddr::from((engine().await.gateway(), 9));

    let fault = fails(&format!("{nowhere}/app:1"), Vec::new()).await;

    assert_eq!(fault.reason, Reason::RegistryUnreachable, "{fault:?}");
}

/// Not so long that a test waits, not so short that a busy machine seems to hang.
const IMPATIENT: Patience =
    Patience { coming: Duration::from_secs(3), unpacking: Duration::from_mins(1) };

fn impatient() -> Pulls {
    Pulls::new(IMPATIENT, 10, Duration::from_millis(10))
}

#[tokio::test]
async fn a_registry_that_says_nothing_is_given_up() {
    let scripted = Scripted::start(engine().await.gateway(), |_| Reply::Hang).await;
    let image = format!("{}/app:1", scripted.place());

    let fault =
        ended(impatient().join(&client().await, ask(&image, Vec::new()))).await.unwrap_err();

    assert_eq!(fault.reason, Reason::RegistryUnreachable, "{fault:?}");
    assert!(fault.message.contains("nothing came from registry"), "{fault:?}");
}

#[tokio::test]
async fn a_layer_that_stops_coming_is_given_up_after_its_progress_was_told() {
    let scripted = Scripted::stalling(engine().await.gateway()).await;
    let image = format!("{}/app:1", scripted.place());
    let mut waiting = impatient().join(&client().await, ask(&image, Vec::new()));

    let mut layers = 0;
    while let Some(progress) = waiting.progress() {
        layers = layers.max(progress.layers);
        waiting.changed().await;
    }

    let fault = ended(waiting).await.unwrap_err();
    assert_eq!(layers, 1, "{fault:?}");
    assert_eq!(fault.reason, Reason::RegistryUnreachable, "{fault:?}");
}

#[tokio::test]
async fn a_pull_may_take_as_long_as_it_makes_progress() {
    let fake = FakeEngine::start();
    let gate = Gate::default();
    fake.registry("app:1", Pull::of(FakeImage::new("app:1", json!({}))).held(&gate));
    fake.fault(FakeFault::on("GET", "/info", What::Hang));
    let soon = Deadlines::all(Duration::from_millis(300));
    let client = Engine::connect_within(&fake.socket(), soon).await.unwrap();
    let mut waiting = impatient().join(&client, ask("app:1", Vec::new()));
    while waiting.progress().is_some_and(|progress| progress.layers == 0) {
        waiting.changed().await;
    }

    // As long as any other call may take, and once more.
    for _ in 0..2 {
        client.info().await.unwrap_err();
    }

    gate.open();
    ended(waiting).await.unwrap();
}

#[tokio::test]
async fn those_who_want_the_same_share_one_pull_and_it_ends_with_the_last() {
    let (gateway, client) = (engine().await.gateway(), client().await);
    let scripted = Scripted::start(gateway, |_| Reply::Hang).await;
    let image = format!("{}/app:1", scripted.place());
    let pulls = Pulls::default();

    let one = pulls.join(&client, ask(&image, Vec::new()));
    let other = pulls.join(&client, ask(&image, Vec::new()));
    assert_eq!(pulls.going(), 1);
    let with_login = logins(&image, &[(&scripted.place(), "a", "b")]);
    let third = pulls.join(&client, ask(&image, with_login));
    assert_eq!(pulls.going(), 2, "another login may be shown something else");
    drop(third);
    assert_eq!(pulls.going(), 1);

    let open = scripted.open();
    eventually("the engine to ask", async || (open.load(Ordering::SeqCst) > 0).then_some(())).await;
    drop(one);
    assert_eq!(pulls.going(), 1);
    assert_eq!(other.progress().unwrap().layers, 0);
    drop(other);
    assert_eq!(pulls.going(), 0, "its connection to the engine is closed with it");
}

#[tokio::test]
async fn all_who_wait_get_the_result_and_a_failure_is_not_kept() {
    let (engine, registry, client) = (engine().await, registry().await, client().await);
    let image = format!("{}/late:1", registry.plain());
    let pulls = Pulls::default();

    let (one, other) = (
        pulls.join(&client, ask(&image, Vec::new())),
        pulls.join(&client, ask(&image, Vec::new())),
    );
    let (one, other) = (ended(one).await, ended(other).await);
    assert_eq!(one, other);
    assert_eq!(one.unwrap_err().reason, Reason::ImageNotFound);
    registry.push(&engine, BUSYBOX, "late").await;
    ended(pulls.join(&client, ask(&image, Vec::new()))).await.unwrap();
    client.remove_image(&image).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_costs_only_what_this_agent_pulled_and_no_one_uses() {
    let (engine, registry, client) = (engine().await, registry().await, client().await);
    let scope = engine.scope("collect");
    let mut pulled = Pulled::default();
    let mut names = Vec::new();
    for (age, name) in ["used", "referred", "young", "old", "foreign"].into_iter().enumerate() {
        // A container keeps an image by its id too: each needs its own.
        let built = scope.name(name);
        commit(&client, &engine, &scope, &built).await;
        registry.push(&engine, &format!("kibotos.test/{built}:1"), &built).await;
        client.remove_image(&format!("kibotos.test/{built}:1")).await.unwrap();
        let image = format!("{}/{built}:1", registry.plain());
        let got = pull(ask(&image, Vec::new())).await.unwrap();
        if name != "foreign" {
            pulled.record(&image, &got.id, 10 - i64::try_from(age).unwrap());
        }
        names.push(image);
    }
    let body = CreateBody {
        image: names[0].clone(),
        cmd: Some(vec!["true".to_owned()]),
        labels: serde_json::from_value(scope.labels()).unwrap(),
        ..CreateBody::default()
    };
    let user = scope.name("user");
    client.create(&Create { name: &user, platform: None, body: &body }).await.unwrap();
    let referred: ImageReference = names[1].parse().unwrap();
    let threshold = Threshold { high: 80, low: 70 };

    let nothing = collect(&client, &mut pulled, threshold, async || 79, Vec::new).await.unwrap();
    assert_eq!(nothing, []);
    let mut readings = [85, 71, 70].into_iter();
    let two = collect(
        &client,
        &mut pulled,
        threshold,
        async || readings.next().unwrap(),
        || vec![referred.clone()],
    )
    .await
    .unwrap();
    let two: Vec<_> = two.into_iter().map(|image| image.reference).collect();
    assert_eq!(two, [&*names[3], &names[2]], "the longest unused first, until it is enough");
    let none = collect(&client, &mut pulled, threshold, async || 99, || vec![referred.clone()]);
    assert_eq!(none.await.unwrap(), [], "the rest is used, referred to or not ours");

    for (name, stays) in names.iter().zip([true, true, false, false, true]) {
        assert_eq!(client.image(name).await.unwrap().is_some(), stays, "{name}");
    }
    client.remove(&user, kibotos::engine::Remove::default()).await.unwrap();
    for name in &names {
        client.remove_image(name).await.unwrap();
    }
}

/// Makes an image that no other test has.
async fn commit(
    client: &Engine,
    engine: &crate::fixture::Engine,
    scope: &crate::fixture::Scope,
    name: &str,
) {
    let body = CreateBody {
        image: BUSYBOX.to_owned(),
        cmd: Some(vec!["true".to_owned()]),
        env: vec![format!("NAME={name}")],
        labels: serde_json::from_value(scope.labels()).unwrap(),
        ..CreateBody::default()
    };
    let container = scope.name("build");
    let id = client.create(&Create { name: &container, platform: None, body: &body }).await;
    let id = id.unwrap().id;
    let path = format!("/commit?container={id}&repo=kibotos.test/{name}&tag=1");
    engine.call("POST", &path, Some(&json!({}))).await;
    client.remove(&id, kibotos::engine::Remove::default()).await.unwrap();
}
