//! What the fake engine has over a real one: faults, pulls as programmed, and ends of its own.

use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Empty};
use hyper::{Request, body::Bytes, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use crate::{
    fake::{Container, End, FakeEngine, Fault, Gate, Image, Process, Pull, Status, What},
    fixture::{eventually, send},
};

/// An engine with one image whose processes run until SIGTERM.
fn engine() -> FakeEngine {
    let engine = FakeEngine::start();
    engine.add_image(Image::new("app:1", json!({ "Cmd": ["app"] })));
    engine.processes("app:1", Process::obedient(0));
    engine
}

async fn ask(engine: &FakeEngine, method: &str, path: &str) -> Result<(u16, Value), String> {
    send(&engine.socket(), method, path, None).await
}

fn run(engine: &FakeEngine, name: &str, policy: &str) -> Container {
    let host = json!({ "RestartPolicy": { "Name": policy } });
    engine.make(name, json!({ "Image": "app:1", "HostConfig": host }));
    engine.container(name).unwrap()
}

#[tokio::test]
async fn a_call_that_is_dropped_before_had_no_effect_and_one_dropped_after_had_it() {
    let engine = engine();
    run(&engine, "one", "no");
    engine.fault(Fault::on("POST", "/containers/one/pause", What::DropBefore).nth(1));
    engine.fault(Fault::on("POST", "/containers/one/pause", What::DropAfter).nth(2));

    ask(&engine, "POST", "/containers/one/pause").await.unwrap_err();
    assert_eq!(engine.container("one").unwrap().status, Status::Running);
    ask(&engine, "POST", "/containers/one/pause").await.unwrap_err();
    assert_eq!(engine.container("one").unwrap().status, Status::Paused);
    assert_eq!(ask(&engine, "POST", "/containers/one/unpause").await.unwrap().0, 204);
    assert_eq!(engine.count("POST", "/containers/one/(un)?pause"), 3);
}

#[tokio::test]
async fn a_call_can_be_answered_with_an_error_delayed_or_left_hanging() {
    let engine = engine();
    engine.fault(Fault::on("GET", "/info", What::Answer(500, "broken".into())));
    engine.fault(Fault::on("GET", "/version", What::Hang));
    engine.fault(Fault::on("GET", "/_ping", What::Delay(Duration::from_millis(50))));

    let answer = ask(&engine, "GET", "/v1.41/info").await.unwrap();
    assert_eq!(answer, (500, json!({ "message": "broken" })));
    let hung = tokio::time::timeout(Duration::from_millis(50), ask(&engine, "GET", "/version"));
    hung.await.unwrap_err();
    let start = Instant::now();
    assert_eq!(ask(&engine, "GET", "/_ping").await.unwrap().0, 200);
    assert!(start.elapsed() >= Duration::from_millis(50));
    engine.heal();
    assert_eq!(ask(&engine, "GET", "/version").await.unwrap().0, 200);
}

#[tokio::test]
async fn after_the_nth_change_nothing_is_answered_until_it_is_healed() {
    let engine = engine();
    run(&engine, "one", "no");
    let cut = async |during: bool| {
        let pause = ask(&engine, "POST", "/containers/one/pause").await;
        let unpause = ask(&engine, "POST", "/containers/one/unpause").await;
        assert_eq!(pause.unwrap().0, 204);
        assert_eq!(unpause.is_err(), during, "its effect is there either way");
        assert!(engine.is_cut());
        assert_eq!(engine.container("one").unwrap().status, Status::Running);
        ask(&engine, "GET", "/_ping").await.unwrap_err();
        ask(&engine, "POST", "/containers/one/pause").await.unwrap_err();
        assert_eq!(engine.container("one").unwrap().status, Status::Running);
        engine.heal();
    };
    engine.cut_after(2);
    cut(false).await;
    engine.cut_during(2);
    cut(true).await;
    assert_eq!(ask(&engine, "GET", "/_ping").await.unwrap().0, 200);
}

#[tokio::test]
async fn an_engine_that_starts_again_restores_what_the_policies_say() {
    let engine = engine();
    for (name, policy) in [
        ("always", "always"),
        ("unless", "unless-stopped"),
        ("none", "no"),
        ("failure", "on-failure"),
        ("by-hand", "always"),
        ("let-be", "unless-stopped"),
    ] {
        run(&engine, name, policy);
    }
    for name in ["by-hand", "let-be"] {
        ask(&engine, "POST", &format!("/containers/{name}/stop")).await.unwrap();
    }
    let state = |name: &str| {
        let container = engine.container(name).unwrap();
        (container.status, container.exit_code)
    };
    let running = (Status::Running, 0);

    engine.stop(End::Terminate).await;
    ask(&engine, "GET", "/_ping").await.unwrap_err();
    assert!(!engine.socket().exists());
    assert_eq!(state("always"), (Status::Exited, 0));
    engine.start_again();
    assert_eq!(ask(&engine, "GET", "/_ping").await.unwrap().0, 200);
    // The processes obeyed SIGTERM with 0, which is no failure; and always is always.
    let restored = ["always", "unless", "by-hand"];
    for name in ["always", "unless", "none", "failure", "by-hand", "let-be"] {
        let wanted = if restored.contains(&name) { running } else { (Status::Exited, 0) };
        assert_eq!(state(name), wanted, "{name}");
    }

    for name in ["none", "failure"] {
        ask(&engine, "POST", &format!("/containers/{name}/start")).await.unwrap();
    }
    engine.restart(End::Kill).await;
    assert_eq!(state("none"), (Status::Exited, 137));
    assert_eq!(state("failure"), running);
    assert_eq!(state("always"), running);
    assert_eq!(engine.container("failure").unwrap().restart_count, 1);
}

#[tokio::test]
async fn what_ends_by_itself_is_restarted_by_its_policy_after_a_pause() {
    let engine = engine();
    run(&engine, "one", "on-failure");
    engine.exit("one", 3);
    let one = engine.container("one").unwrap();
    assert_eq!((one.status, one.restart_count), (Status::Restarting, 1));
    eventually("it runs again", async || {
        (engine.container("one")?.status == Status::Running).then_some(())
    })
    .await;
    engine.oom("one");
    let one = engine.container("one").unwrap();
    assert!(one.oom_killed);
    assert_eq!((one.exit_code, one.restart_count), (137, 2));
}

/// Opens an event stream, and reads it on as events come.
async fn events(engine: &FakeEngine) -> hyper::body::Incoming {
    let stream = UnixStream::connect(engine.socket()).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get("/events").header("Host", "docker").body(Empty::<Bytes>::new());
    sender.send_request(request.unwrap()).await.unwrap().into_body()
}

#[tokio::test]
async fn events_come_as_they_happen_and_break_off_when_they_are_cut() {
    let engine = engine();
    let mut stream = events(&engine).await;
    assert_eq!(engine.listeners(), 1);
    engine.make("one", json!({ "Image": "app:1", "Healthcheck": { "Test": ["CMD", "x"] } }));
    engine.health("one", "healthy");

    let mut heard = String::new();
    while !heard.contains("health_status: healthy") {
        let frame = stream.frame().await.unwrap().unwrap();
        heard.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    engine.cut_events();
    assert!(stream.frame().await.unwrap().is_err());
    assert_eq!(engine.listeners(), 0);

    for end in [End::Terminate, End::Kill] {
        let mut stream = events(&engine).await;
        engine.restart(end).await;
        let cut = async { while let Some(Ok(_)) = stream.frame().await {} };
        cut.await;
    }
    let (_, past) = ask(&engine, "GET", "/events?since=1&until=9999").await.unwrap();
    assert_eq!(past, Value::Null, "the events of before are forgotten");
}

#[tokio::test]
async fn pulls_go_as_they_are_programmed() {
    let engine = FakeEngine::start();
    let pull = async |name: &str| {
        let path = format!("/images/create?fromImage={name}&tag=1");
        let (status, said) = ask(&engine, "POST", &path).await.unwrap();
        (status, said.to_string())
    };
    let image = |name: &str| Image::new(name, json!({}));
    engine.registry("good:1", Pull::of(image("good:1")));
    engine.registry("broken:1", Pull::broken("no space left on device"));
    engine.registry("refused:1", Pull::refused(500, "toomanyrequests: slow down"));
    engine.registry("private:1", Pull::of(image("private:1")).for_account("me", "secret"));
    let gate = Gate::default();
    engine.registry("held:1", Pull::of(image("held:1")).held(&gate));

    let (status, said) = pull("good").await;
    assert!(status == 200 && said.contains("Downloaded newer image"), "{said}");
    assert_eq!(ask(&engine, "GET", "/images/good:1/json").await.unwrap().0, 200);
    let (status, said) = pull("broken").await;
    assert!(status == 200 && said.contains("errorDetail"), "{said}");
    assert_eq!(pull("refused").await.0, 500);
    assert_eq!(pull("missing").await.0, 404);
    assert_eq!(pull("private").await.0, 500);
    let held = pull("held");
    tokio::pin!(held);
    assert!(futures::poll!(held.as_mut()).is_pending());
    gate.open();
    assert_eq!(held.await.0, 200);
    assert_eq!(engine.images().len(), 2);
}

#[tokio::test]
async fn a_thousand_containers_are_listed_in_little_time() {
    let engine = engine();
    for number in 0..1000 {
        let labels = json!({ "number": number.to_string(), "ours": "yes" });
        engine.make(&format!("app-{number}"), json!({ "Image": "app:1", "Labels": labels }));
    }
    let foreign = engine.foreign("foreign", json!({}));
    let path = "/containers/json?all=1&filters=%7B%22label%22%3A%5B%22ours%22%5D%7D";
    let (_, list) = ask(&engine, "GET", path).await.unwrap();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 1000);
    assert!(list.iter().all(|item| item["Id"] != foreign.as_str()));
}

#[tokio::test]
async fn a_removal_that_takes_its_time_is_in_progress_meanwhile() {
    let engine = engine();
    run(&engine, "one", "no");
    engine.configure(|options| options.removal_takes = Duration::from_millis(100));
    let path = "/containers/one?force=1";
    let (one, two) = tokio::join!(ask(&engine, "DELETE", path), ask(&engine, "DELETE", path));
    let mut statuses = [one.unwrap().0, two.unwrap().0];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 409]);
    assert!(engine.containers().is_empty());
}
