//! Engines that are not there, hang, break off or talk nonsense.

use std::{path::Path, time::Duration};

use futures::StreamExt;
use kibotos::{
    docker::{ApiVersion, CreateBody, EndpointSettings},
    engine::{Create, Deadlines, Engine, EngineError},
};

use super::scripted::{Scripted, Then};
use crate::fixture::eventually;

const SOON: Duration = Duration::from_millis(200);

async fn connect(scripted: &Scripted) -> Engine {
    Engine::connect_within(&scripted.socket(), Deadlines::all(SOON)).await.unwrap()
}

fn json(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The head of a stream and its first messages, as chunks.
fn stream(messages: &[&str]) -> String {
    let chunks: Vec<_> =
        messages.iter().map(|message| format!("{:x}\r\n{message}\r\n", message.len())).collect();
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}", chunks.concat())
}

#[tokio::test]
async fn an_engine_that_is_not_there_was_asked_nothing() {
    let error = Engine::connect(Path::new("/nonexistent/docker.sock")).await.unwrap_err();

    assert!(matches!(error, EngineError::Unreachable { sent: false, .. }), "{error:?}");
    assert!(error.to_string().contains("/nonexistent/docker.sock"), "{error}");
    assert!(error.is_engine_away() && !error.is_outcome_unknown());
}

#[tokio::test]
async fn an_engine_that_has_gone_was_asked_nothing() {
    let scripted = Scripted::new("", Then::Close);
    let engine = connect(&scripted).await;
    let socket = scripted.socket();
    drop(scripted);

    for error in [
        engine.ping().await.unwrap_err(),
        engine.start("a").await.unwrap_err(),
        engine.events(None).await.err().unwrap(),
        engine.pull("a:1", None, None).boxed().next().await.unwrap().unwrap_err(),
    ] {
        assert!(matches!(error, EngineError::Unreachable { sent: false, .. }), "{error:?}");
        assert!(error.to_string().contains(socket.to_str().unwrap()), "{error}");
    }
}

#[tokio::test]
async fn a_hung_engine_ends_every_call_at_its_deadline_and_the_connection_with_it() {
    let scripted = Scripted::new("", Then::Hang);
    let engine = connect(&scripted).await;
    let body = CreateBody::default();

    let errors = [
        engine.ping().await.unwrap_err(),
        engine.list(&[]).await.unwrap_err(),
        engine.start("a").await.unwrap_err(),
        engine.stop("a", Some(Duration::ZERO)).await.unwrap_err(),
        engine.create(&Create { name: "a", platform: None, body: &body }).await.unwrap_err(),
        engine.remove_volume("a").await.unwrap_err(),
        engine.events(None).await.err().unwrap(),
    ];

    for error in &errors {
        assert!(matches!(error, EngineError::Deadline { after: SOON, .. }), "{error:?}");
        assert!(error.is_engine_away() && error.is_outcome_unknown());
    }
    eventually("all connections closed", async || {
        (scripted.closed() == 1 + errors.len()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_hung_engine_is_not_waited_for_when_connecting() {
    let scripted = Scripted::with_ping("", "", Then::Hang);

    let deadlines = Deadlines::all(SOON);
    let error = Engine::connect_within(&scripted.socket(), deadlines).await.unwrap_err();

    assert!(error.is_engine_away(), "{error:?}");
}

#[tokio::test]
async fn what_is_dropped_closes_its_connection() {
    let scripted = Scripted::new(&stream(&["{}\n"]), Then::Hang);
    let engine = Engine::connect_within(&scripted.socket(), Deadlines::all(Duration::from_mins(5)))
        .await
        .unwrap();
    let mut events = engine.events(None).await.unwrap();
    events.next().await.unwrap().unwrap();
    let mut pull = engine.pull("a:1", None, None).boxed();
    pull.next().await.unwrap().unwrap();
    let list = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.list(&[]).await })
    };
    eventually("the list asked for", async || (scripted.seen().len() == 4).then_some(())).await;

    drop(events);
    drop(pull);
    list.abort();

    eventually("all connections closed", async || (scripted.closed() == 4).then_some(())).await;
}

#[tokio::test]
async fn every_call_has_its_own_connection_and_the_version_in_front() {
    let scripted = Scripted::new(&json("200 OK", "[]"), Then::Hang);
    let engine = connect(&scripted).await;

    engine.list(&["a=b c".to_owned()]).await.unwrap();
    engine.start("x").await.unwrap();
    engine.connect_network("net", "x", &EndpointSettings::default()).await.unwrap();

    let seen = scripted.seen();
    let firsts: Vec<_> = seen.iter().map(|head| head.lines().next().unwrap()).collect();
    assert_eq!(
        firsts,
        [
            "GET /_ping HTTP/1.1",
            "GET /v1.41/containers/json?all=1&filters=%7B%22label%22%3A%5B%22a%3Db%20c%22%5D%7D \
             HTTP/1.1",
            "POST /v1.41/containers/x/start HTTP/1.1",
            "POST /v1.41/networks/net/connect HTTP/1.1",
        ]
    );
    assert!(seen.iter().all(|head| head.to_ascii_lowercase().contains("\r\nhost: docker\r\n")));
}

#[tokio::test]
async fn an_answer_that_breaks_off_leaves_the_outcome_unknown() {
    for answer in [
        "",
        "HTTP/1.1 20",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"Id\":",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"Id\"",
        "HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\n{\"mess",
    ] {
        let scripted = Scripted::new(answer, Then::Close);
        let engine = connect(&scripted).await;
        let body = CreateBody::default();
        let create = Create { name: "a", platform: None, body: &body };
        let error = engine.create(&create).await.unwrap_err();
        assert!(
            matches!(error, EngineError::Unreachable { sent: true, .. }),
            "{answer}: {error:?}"
        );
        assert!(error.is_outcome_unknown());
    }
    for answer in ["", "HTTP/1.1 20"] {
        let scripted = Scripted::new(answer, Then::Close);
        let error = connect(&scripted).await.start("a").await.unwrap_err();
        assert!(
            matches!(error, EngineError::Unreachable { sent: true, .. }),
            "{answer}: {error:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_is_nonsense_is_unreadable() {
    for body in ["", "nonsense", "[", "{\"Id\":1}", "{}", "[]", "\u{0}"] {
        let scripted = Scripted::new(&json("200 OK", body), Then::Close);
        let error = connect(&scripted).await.inspect("a").await.unwrap_err();
        assert!(matches!(error, EngineError::Unreadable { .. }), "{body}: {error:?}");
    }
    for body in ["{}", "[{}]", "[[]]", "nonsense"] {
        let scripted = Scripted::new(&json("200 OK", body), Then::Close);
        let error = connect(&scripted).await.list(&[]).await.unwrap_err();
        assert!(matches!(error, EngineError::Unreadable { .. }), "{body}: {error:?}");
    }
    let scripted = Scripted::new("SSH-2.0-OpenSSH_9.2\r\n", Then::Close);
    assert!(connect(&scripted).await.list(&[]).await.is_err());
}

#[tokio::test]
async fn an_error_without_a_readable_body_still_has_its_status() {
    for (body, says) in [
        ("{\"message\":\"no space\\n\"}", "no space"),
        ("plain words\n", "plain words"),
        ("{\"message\":1}", "{\"message\":1}"),
        ("", ""),
    ] {
        let scripted = Scripted::new(&json("507 Odd", body), Then::Close);
        let error = connect(&scripted).await.list(&[]).await.unwrap_err();
        let expected =
            EngineError::Refused { call: "list containers", status: 507, message: says.to_owned() };
        assert_eq!(error, expected);
    }
}

#[tokio::test]
async fn a_message_that_is_broken_is_an_error_and_the_next_one_is_read() {
    let messages = [
        "{\"Type\":\"container\",\"Action\":\"st",
        "art\",\"Actor\":{\"ID\":\"a\"}}\nnonsense\n",
        "\n{\"Type\":\"container\",\"Action\":\"exec_start: sh\"}\n{\"Type\":\"future\",\"Action\"",
        ":\"new\",\"Actor\":null}\n{\"Ty",
    ];
    let scripted = Scripted::new(&stream(&messages), Then::Close);
    let engine = connect(&scripted).await;

    let events: Vec<_> = engine.events(None).await.unwrap().collect().await;

    let [Ok(start), Err(EngineError::Unreadable { .. }), Ok(new), Err(end)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((start.verb(), &*start.actor.id), ("start", "a"));
    assert_eq!((&*new.type_, new.verb(), &*new.actor.id), ("future", "new", ""));
    assert!(matches!(end, EngineError::Unreachable { sent: true, .. }), "{end:?}");
}

#[tokio::test]
async fn an_engine_too_old_or_of_no_version_is_refused() {
    let ping = |version: &str| format!("HTTP/1.1 200 OK\r\n{version}Content-Length: 0\r\n\r\n");
    let old = Scripted::with_ping(&ping("Api-Version: 1.40\r\n"), "", Then::Close);
    let error = Engine::connect(&old.socket()).await.unwrap_err();
    assert_eq!(error, EngineError::TooOld { api: ApiVersion::v1(40) });
    assert!(error.to_string().contains("20.10"), "{error}");

    for version in ["", "Api-Version: latest\r\n"] {
        let odd = Scripted::with_ping(&ping(version), "", Then::Close);
        let error = Engine::connect(&odd.socket()).await.unwrap_err();
        assert!(matches!(error, EngineError::Unreadable { .. }), "{error:?}");
    }
    let new = Scripted::with_ping(&ping("Api-Version: 1.99\r\n"), "", Then::Close);
    assert_eq!(Engine::connect(&new.socket()).await.unwrap().api(), ApiVersion::NEWEST);
}
