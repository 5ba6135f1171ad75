//! What the API says, also where it says it badly.

use std::sync::atomic::AtomicUsize;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::*;

fn run(number: usize) -> Value {
    let name = format!("web-{number}");
    json!({
        "apiVersion": "kibotos.dev/v1alpha1", "kind": "WorkspaceRun",
        "metadata": { "name": name, "namespace": "ns", "uid": name, "resourceVersion": "1" },
        "spec": {
            "workspace": { "namespace": "default", "name": "web", "uid": "w" },
            "sequence": number, "generation": 1, "desired": "Running",
            "container": { "image": "app:1" }, "specHash": "1:00",
        },
    })
}

fn status(code: u16) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": "no", "reason": "Expired", "code": code,
    })
}

/// An API whose every list has one more run than the last, and whose watches end so, one after the
/// other; the last goes on and says nothing.
fn api(ends: &'static [fn() -> Response]) -> Client {
    let (lists, watches) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let answer = move |request: Request| {
        let (lists, watches) = (lists.clone(), watches.clone());
        async move {
            let is_watch = request.uri().query().unwrap_or_default().contains("watch=true");
            if !request.uri().path().ends_with("/workspaceruns") {
                return std::future::pending().await;
            }
            if is_watch {
                return match ends.get(watches.fetch_add(1, Ordering::Relaxed)) {
                    Some(end) => end(),
                    None => std::future::pending().await,
                };
            }
            let count = lists.fetch_add(1, Ordering::Relaxed) + 1;
            let items: Vec<_> = (1..=count).map(run).collect();
            axum::body::Bytes::from(
                json!({
                    "apiVersion": "kibotos.dev/v1alpha1", "kind": "WorkspaceRunList",
                    "metadata": { "resourceVersion": "1" }, "items": items,
                })
                .to_string(),
            )
            .into_response()
        }
    };
    Client::new(Router::new().fallback(answer).into_service::<kube::client::Body>(), "ns")
}

fn told(code: u16, body: &Value) -> Response {
    let body = Body::from(format!("{body}\n"));
    let code = http::StatusCode::from_u16(code).unwrap();
    (code, body).into_response()
}

async fn until(desk: &Desk, what: impl Fn(&Desk) -> bool) {
    let waited = tokio::time::timeout(Duration::from_mins(1), async {
        while !what(desk) {
            desk.changed.notified().await;
        }
    });
    assert!(waited.await.is_ok(), "{desk:?}");
}

#[tokio::test]
async fn whatever_a_watch_ends_with_all_is_listed_again() {
    let ends: &[fn() -> Response] = &[
        || told(200, &json!({ "type": "ERROR", "object": status(410) })),
        || told(500, &status(500)),
        || told(200, &json!("nonsense")),
        || told(200, &json!({ "type": "ERROR", "object": status(410) })),
    ];
    let mut watches = JoinSet::new();
    let desk = Desk::watch(&api(ends), "a", "ns", &mut watches);
    // After a 410, as API servers tell it, only a list helps.
    until(&desk, |desk| desk.runs.all().len() >= 3).await;
    assert!(desk.runs.is_listed() && !desk.runs.is_refused());
    assert!(!desk.hosts.is_listed() && !desk.is_listed(), "one kind says nothing about another");
}

#[tokio::test]
async fn who_is_refused_is_told_from_who_is_not_answered() {
    let ends: &[fn() -> Response] =
        &[|| told(401, &status(401)), || told(503, &status(503)), || told(410, &status(410))];
    let mut watches = JoinSet::new();
    let desk = Desk::watch(&api(ends), "a", "ns", &mut watches);
    until(&desk, Desk::is_refused).await;
    assert_eq!(desk.runs.all().len(), 1, "what was said before holds");
    until(&desk, |desk| !desk.is_refused()).await;
}
