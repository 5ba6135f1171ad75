//! The engine client against a real engine: every call, and what each makes of "already so" and
//! "no such thing".

mod broken;
mod scripted;

use std::{collections::BTreeMap, time::Duration};

use futures::StreamExt;
use kibotos::{
    docker::{
        ContainerStatus, CreateBody, EndpointSettings, HealthStatus, RestartPolicy, Update,
        VolumeCreate,
    },
    engine::{Create, Engine, EngineError, Remove},
};
use serde_json::json;

use crate::fixture::{self, Scope, engine, eventually};

const BUSYBOX: &str = "kibotos.test/busybox:1";
const NONE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

async fn client(engine: &fixture::Engine) -> Engine {
    Engine::connect(engine.socket()).await.unwrap()
}

fn labels(scope: &Scope) -> BTreeMap<String, String> {
    serde_json::from_value(scope.labels()).unwrap()
}

/// The labels as a filter takes them.
fn filter(scope: &Scope) -> Vec<String> {
    labels(scope).into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}

fn body(scope: &Scope, command: &[&str]) -> CreateBody {
    CreateBody {
        image: BUSYBOX.to_owned(),
        cmd: Some(command.iter().map(ToString::to_string).collect()),
        labels: labels(scope),
        ..CreateBody::default()
    }
}

async fn create(client: &Engine, scope: &Scope, hint: &str, command: &[&str]) -> String {
    let (name, body) = (scope.name(hint), body(scope, command));
    let create = Create { name: &name, platform: None, body: &body };
    client.create(&create).await.unwrap().id
}

/// Ends only by SIGKILL: the first process of a container takes no signal it did not ask for.
const SLEEP: &[&str] = &["sleep", "1000"];

#[tokio::test]
async fn it_speaks_the_newest_version_that_both_know_and_reads_what_the_engine_is() {
    let engine = engine().await;
    let client = client(&engine).await;

    assert_eq!(client.api(), engine.api());
    client.ping().await.unwrap();
    let info = client.info().await.unwrap();
    let (_, said) = engine.request("GET", "/info", None).await;
    assert_eq!(json!(info.id), said["ID"]);
    assert_eq!(json!(info.cpus), said["NCPU"]);
    assert_eq!(json!(info.mem_total), said["MemTotal"]);
    assert_eq!(json!(info.server_version), said["ServerVersion"]);
    assert_eq!(json!(info.docker_root_dir), said["DockerRootDir"]);
    assert_eq!(info.os_type, "linux");
    assert!(info.plugins.volume.contains(&"local".to_owned()), "{info:?}");
    assert!(info.runtimes.contains_key(&info.default_runtime), "{info:?}");
}

#[tokio::test]
async fn a_container_goes_from_create_to_remove_and_every_verb_may_be_repeated() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-life"));
    let id = create(&client, &scope, "app", SLEEP).await;

    let made = client.inspect(&id).await.unwrap().unwrap();
    assert_eq!((made.id.as_str(), made.name()), (id.as_str(), &*scope.name("app")));
    assert_eq!(made.state.status, ContainerStatus::Created);
    assert_eq!((made.state.started(), made.state.finished()), (None, None));
    assert!(!made.config.has_health_check());

    client.start(&id).await.unwrap();
    client.start(&id).await.unwrap();
    let runs = client.inspect(&id).await.unwrap().unwrap();
    assert_eq!(runs.state.status, ContainerStatus::Running);
    assert!(runs.state.pid > 0 && runs.state.started().is_some(), "{:?}", runs.state);
    let (network, endpoint) = runs.network_settings.networks.first_key_value().unwrap();
    assert_eq!(network, "bridge");
    assert!(!endpoint.ip_address.is_empty() && endpoint.network_id.len() == 64, "{endpoint:?}");

    client.unpause(&id).await.unwrap();
    engine.call("POST", &format!("/containers/{id}/pause"), None).await;
    let paused = client.inspect(&id).await.unwrap().unwrap();
    assert_eq!(paused.state.status, ContainerStatus::Paused);
    client.unpause(&id).await.unwrap();
    client.unpause(&id).await.unwrap();

    client.rename(&id, &scope.name("other")).await.unwrap();
    client.rename(&id, &scope.name("other")).await.unwrap();
    let renamed = client.inspect(&scope.name("other")).await.unwrap().unwrap();
    assert_eq!((renamed.id, renamed.state.status), (id.clone(), ContainerStatus::Running));
    assert_eq!(client.inspect(&scope.name("app")).await.unwrap(), None);

    client.stop(&id, Some(Duration::ZERO)).await.unwrap();
    client.stop(&id, Some(Duration::ZERO)).await.unwrap();
    client.kill(&id, "KILL").await.unwrap();
    let ended = client.inspect(&id).await.unwrap().unwrap();
    assert_eq!((&ended.state.status, ended.state.exit_code), (&ContainerStatus::Exited, 137));
    assert!(ended.state.finished().is_some(), "{:?}", ended.state);

    let remove = Remove { volumes: true, force: false };
    client.remove(&id, remove).await.unwrap();
    client.remove(&id, remove).await.unwrap();
    assert_eq!(client.inspect(&id).await.unwrap(), None);
    client.stop(&id, None).await.unwrap();
    client.kill(&id, "KILL").await.unwrap();
    let lost = client.start(&id).await.unwrap_err();
    assert!(lost.is_not_found() && !lost.is_outcome_unknown(), "{lost}");
    assert!(lost.to_string().contains(&id), "the engine's words: {lost}");
}

#[tokio::test]
async fn a_stop_without_a_grace_has_the_containers_own() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-grace"));
    let (name, mut body) = (scope.name("app"), body(&scope, SLEEP));
    body.stop_timeout = Some(0);
    let create = Create { name: &name, platform: None, body: &body };
    let id = client.create(&create).await.unwrap().id;
    client.start(&id).await.unwrap();

    client.stop(&id, None).await.unwrap();

    let ended = client.inspect(&id).await.unwrap().unwrap();
    assert_eq!(ended.state.exit_code, 137);
}

#[tokio::test]
async fn a_list_has_what_bears_the_labels_and_an_inspect_only_what_is_meant() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-list"));
    let one = create(&client, &scope, "one", SLEEP).await;
    let two = create(&client, &scope, "two", SLEEP).await;
    client.start(&two).await.unwrap();

    let mut list = client.list(&filter(&scope)).await.unwrap();

    list.sort_by_key(|item| item.names.clone());
    assert_eq!(list.iter().map(|item| &item.id).collect::<Vec<_>>(), [&one, &two]);
    assert_eq!(list[0].name(), Some(&*scope.name("one")));
    assert_eq!(list[0].state, ContainerStatus::Created);
    assert_eq!(list[1].state, ContainerStatus::Running);
    assert_eq!((&*list[0].image, &list[0].labels), (BUSYBOX, &labels(&scope)));
    assert!(list[0].image_id.starts_with("sha256:") && list[0].created > 0, "{:?}", list[0]);
    let mut stricter = filter(&scope);
    stricter.push("kibotos.test/none".to_owned());
    assert_eq!(client.list(&stricter).await.unwrap(), []);
    assert_eq!(client.inspect(&one[..12]).await.unwrap(), None, "the beginning of an id");
    assert_eq!(client.inspect("").await.unwrap(), None);
    assert_eq!(client.inspect(NONE).await.unwrap(), None);
}

#[tokio::test]
async fn a_refusal_is_in_the_engines_words() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-refused"));
    let id = create(&client, &scope, "app", &["no-such-program"]).await;
    let name = scope.name("app");

    let mut twice = body(&scope, SLEEP);
    let taken = client.create(&Create { name: &name, platform: None, body: &twice }).await;
    let taken = taken.unwrap_err();
    assert!(taken.is_conflict() && taken.to_string().contains(&id), "{taken}");
    twice.image = "kibotos.test/none:1".to_owned();
    let name = scope.name("none");
    let missing = client.create(&Create { name: &name, platform: None, body: &twice }).await;
    let missing = missing.unwrap_err();
    assert!(missing.is_not_found() && missing.to_string().contains("none:1"), "{missing}");
    let failed = client.start(&id).await.unwrap_err();
    assert_eq!(failed.status(), Some(400), "{failed}");
    assert!(failed.to_string().contains("no-such-program"), "{failed}");
    let seen = client.inspect(&id).await.unwrap().unwrap();
    assert_eq!((&seen.state.status, seen.state.exit_code), (&ContainerStatus::Created, 127));
    assert!(seen.state.error.contains("no-such-program"), "{:?}", seen.state);
    let unheard = client.kill(&id, "HUP").await.unwrap_err();
    assert!(unheard.is_conflict(), "nothing got the signal: {unheard}");
    let runs = create(&client, &scope, "runs", SLEEP).await;
    client.start(&runs).await.unwrap();
    let in_use = client.remove(&runs, Remove::default()).await.unwrap_err();
    assert!(in_use.is_conflict(), "{in_use}");
    client.remove(&runs, Remove { force: true, volumes: true }).await.unwrap();
}

#[tokio::test]
async fn an_image_of_another_platform_is_not_found() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-platform"));
    let (name, body) = (scope.name("app"), body(&scope, SLEEP));

    let other = Create { name: &name, platform: Some("linux/s390x"), body: &body };

    let error = client.create(&other).await.unwrap_err();
    assert!(error.is_not_found() && error.to_string().contains("s390x"), "{error}");
}

#[tokio::test]
async fn limits_and_restart_policy_change_in_place() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-update"));
    let id = create(&client, &scope, "app", SLEEP).await;
    let policy = RestartPolicy { name: "on-failure".to_owned(), maximum_retry_count: Some(3) };
    let update = Update {
        memory: Some(64 << 20),
        memory_swap: Some(128 << 20),
        nano_cpus: Some(500_000_000),
        pids_limit: Some(99),
        restart_policy: Some(policy.clone()),
        ..Update::default()
    };

    client.update(&id, &update).await.unwrap();

    let limits = client.inspect(&id).await.unwrap().unwrap().host_config;
    assert_eq!((limits.memory, limits.nano_cpus), (64 << 20, 500_000_000));
    assert_eq!((limits.pids_limit, limits.restart_policy), (Some(99), policy));
    // Below what any engine takes.
    let worse = Update { memory: Some(1024), ..Update::default() };
    assert!(client.update(&id, &worse).await.unwrap_err().status().is_some());
    assert!(client.update(NONE, &update).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn networks_are_joined_and_left_by_name_or_id() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-network"));
    let id = create(&client, &scope, "app", SLEEP).await;
    client.start(&id).await.unwrap();
    let name = scope.network("net").await;

    let network = client.network(&name).await.unwrap().unwrap();
    assert_eq!((&network.name, &*network.driver), (&name, "bridge"));
    assert_eq!(client.network(&network.id).await.unwrap().unwrap(), network);
    assert_eq!(client.network(&network.id[..12]).await.unwrap(), None);
    assert_eq!(client.network("").await.unwrap(), None);
    let settings =
        EndpointSettings { aliases: Some(vec!["other".to_owned()]), ..EndpointSettings::default() };
    client.connect_network(&network.id, &id, &settings).await.unwrap();
    client.connect_network(&network.id, &id, &settings).await.unwrap();
    client.connect_network(&name, &id, &settings).await.unwrap();
    let seen = client.inspect(&id).await.unwrap().unwrap().network_settings.networks;
    assert_eq!(seen[&name].network_id, network.id);
    assert!(seen[&name].aliases.contains(&"other".to_owned()), "{seen:?}");
    client.disconnect_network(&network.id, &id).await.unwrap();
    client.disconnect_network(&network.id, &id).await.unwrap();
    let seen = client.inspect(&id).await.unwrap().unwrap().network_settings.networks;
    assert!(!seen.contains_key(&name), "{seen:?}");
    client.disconnect_network(&name, NONE).await.unwrap();
    let missing = client.connect_network(&scope.name("none"), &id, &settings).await.unwrap_err();
    assert!(missing.is_not_found(), "{missing}");
}

#[tokio::test]
async fn volumes_are_made_once_and_removed_once() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-volume"));
    let name = scope.name("data");
    let create =
        VolumeCreate { name: name.clone(), labels: labels(&scope), ..VolumeCreate::default() };

    let made = client.create_volume(&create).await.unwrap();
    let again = client.create_volume(&create).await.unwrap();

    assert_eq!(made, again);
    assert_eq!((&made.name, &*made.driver, &made.labels), (&name, "local", &labels(&scope)));
    assert_eq!(client.volume(&name).await.unwrap(), Some(made.clone()));
    assert_eq!(client.volumes(&filter(&scope)).await.unwrap(), [made]);
    let (user, mut body) = (scope.name("user"), body(&scope, SLEEP));
    body.host_config.binds = Some(vec![format!("{name}:/data")]);
    let user = Create { name: &user, platform: None, body: &body };
    let user = client.create(&user).await.unwrap().id;
    let seen = client.inspect(&user).await.unwrap().unwrap();
    assert_eq!((&seen.mounts[0].name, &*seen.mounts[0].destination), (&name, "/data"));
    assert!(client.remove_volume(&name).await.unwrap_err().is_conflict());
    client.remove(&user, Remove::default()).await.unwrap();
    client.remove_volume(&name).await.unwrap();
    client.remove_volume(&name).await.unwrap();
    assert_eq!(client.volume(&name).await.unwrap(), None);
    let unknown = VolumeCreate { name, driver: "no-such-driver".to_owned(), ..create };
    let error = client.create_volume(&unknown).await.unwrap_err();
    assert!(error.to_string().contains("no-such-driver"), "{error}");
}

#[tokio::test]
async fn images_are_found_by_reference_or_id_and_untagged() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-image"));
    let tag = format!("kibotos.test/{}:2", scope.name("image"));

    let image = client.image(BUSYBOX).await.unwrap().unwrap();
    assert_eq!(client.image(&image.id).await.unwrap().unwrap().id, image.id);
    assert_eq!(image.os, "linux");
    assert!(image.repo_tags.contains(&BUSYBOX.to_owned()), "{image:?}");
    assert_eq!(client.image(&tag).await.unwrap(), None);
    let (repository, _) = tag.rsplit_once(':').unwrap();
    engine.call("POST", &format!("/images/{BUSYBOX}/tag?repo={repository}&tag=2"), None).await;
    let listed = client.images().await.unwrap();
    assert!(listed.iter().any(|each| each.id == image.id && each.repo_tags.contains(&tag)));
    client.remove_image(&tag).await.unwrap();
    client.remove_image(&tag).await.unwrap();
    assert_eq!(client.image(&tag).await.unwrap(), None);
    assert!(client.image(BUSYBOX).await.unwrap().is_some());
}

#[tokio::test]
async fn events_tell_what_happens_after_they_were_asked_for_and_again_since_a_moment() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-events"));
    let mut events = client.events(None).await.unwrap();
    let id = create(&client, &scope, "app", &["true"]).await;
    client.start(&id).await.unwrap();

    let mut seen = Vec::new();
    while seen.last().is_none_or(|last| last != "die") {
        let event = tokio::time::timeout(Duration::from_mins(1), events.next()).await;
        let event = event.unwrap().unwrap().unwrap();
        if event.type_ == "container" && event.actor.id == id {
            let attributes = &event.actor.attributes;
            assert_eq!(attributes["name"], scope.name("app"));
            assert!(event.time.0 > 0, "{event:?}");
            seen.push(event.verb().to_owned());
            if seen.len() == 1 {
                let mut again = client.events(Some(event.time)).await.unwrap();
                let first = again.next().await.unwrap().unwrap();
                assert_eq!(first, event, "what happened at that moment is told again");
            }
        }
    }

    assert_eq!(seen, ["create", "start", "die"]);
}

#[tokio::test]
async fn health_is_told_and_the_probes_of_it_are_no_events() {
    let engine = engine().await;
    let (client, scope) = (client(&engine).await, engine.scope("client-health"));
    let mut events = client.events(None).await.unwrap();
    let (name, mut body) = (scope.name("app"), body(&scope, SLEEP));
    body.healthcheck.test = Some(vec!["CMD".to_owned(), "true".to_owned()]);
    body.healthcheck.interval = Some(50_000_000);
    let create = Create { name: &name, platform: None, body: &body };
    let id = client.create(&create).await.unwrap().id;
    client.start(&id).await.unwrap();

    let (mut healthy, mut actions) = (false, Vec::new());
    while !healthy {
        let event = tokio::time::timeout(Duration::from_mins(1), events.next()).await;
        let event = event.unwrap().unwrap().unwrap();
        if event.actor.id == id {
            healthy = event.action == "health_status: healthy";
            actions.push(event.verb().to_owned());
        }
    }
    assert_eq!(actions, ["create", "start", "health_status"]);
    let health = eventually("a health check that ended", async || {
        let seen = client.inspect(&id).await.unwrap().unwrap();
        assert!(seen.config.has_health_check());
        seen.state.health.filter(|health| health.status == HealthStatus::Healthy)
    })
    .await;
    assert_eq!(health.log.first().unwrap().exit_code, 0);
}

#[tokio::test]
async fn a_pull_that_fails_is_an_error_and_never_a_message() {
    let engine = engine().await;
    let client = client(&engine).await;

    // Port 9, discard: no one listens.
    let messages: Vec<_> = client.pull("127.0.0.1:9/none:1", None, None).collect().await;

    let Some(Err(error @ EngineError::Refused { .. })) = messages.last() else {
        panic!("{messages:?}")
    };
    assert!(error.to_string().contains("127.0.0.1:9"), "{error}");
    assert_eq!(messages.iter().filter(|message| message.is_err()).count(), 1);
}
