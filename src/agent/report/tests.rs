//! That the newest word is always told in the end.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::Notify;

use super::*;

/// An API that answers each write when it is let, and keeps what was written.
#[derive(Clone, Default)]
struct Slow {
    written: Arc<Mutex<Vec<String>>>,
    came: Arc<Notify>,
    answer: Arc<Notify>,
    refusing: Arc<AtomicBool>,
    metrics: Metrics,
}

impl Slow {
    fn reporter(&self) -> Reporter {
        let slow = self.clone();
        let answer = move |request: Request| {
            let slow = slow.clone();
            async move { slow.take(request).await }
        };
        let service = Router::new().fallback(answer).into_service::<kube::client::Body>();
        let renewed = tokio::sync::watch::channel(None).1;
        Reporter::new(Client::new(service, "ns"), "ns", "a", renewed, self.metrics.clone())
    }

    async fn take(&self, request: Request) -> Response {
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let said = body["status"]["containerId"].as_str().unwrap_or_default().to_owned();
        self.written.lock().unwrap().push(said);
        self.came.notify_one();
        self.answer.notified().await;
        if self.refusing.load(Ordering::Relaxed) {
            return http::StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        serde_json::to_string(&*run()).unwrap().into_response()
    }

    fn counted(&self, outcome: &'static str) -> u64 {
        self.metrics.status_writes.get_or_create(&OutcomeLabel { outcome }).get()
    }

    fn written(&self) -> Vec<String> {
        self.written.lock().unwrap().clone()
    }
}

fn run() -> Arc<WorkspaceRun> {
    let run = json!({
        "apiVersion": "kibotos.dev/v1alpha1", "kind": "WorkspaceRun",
        "metadata": { "name": "web-1", "namespace": "ns", "uid": "u" },
        "spec": {
            "workspace": { "namespace": "default", "name": "web", "uid": "w" },
            "sequence": 1, "generation": 1, "desired": "Running",
            "container": { "image": "app:1" }, "specHash": "1:00",
        },
    });
    Arc::new(serde_json::from_value(run).unwrap())
}

fn word(said: &str, lasts: bool) -> Word {
    let status =
        WorkspaceRunStatus { container_id: Some(said.to_owned()), ..WorkspaceRunStatus::default() };
    Word { run: run(), status, lasts }
}

#[tokio::test]
async fn what_changes_while_a_write_is_under_way_is_written_after_it() {
    let slow = Slow::default();
    let (words, told) = watch::channel(Some(word("one", true)));
    let reporter = slow.reporter();
    let telling = tokio::spawn(async move { reporter.keep_told(told).await });
    slow.came.notified().await;
    words.send_replace(Some(word("two", true)));
    words.send_replace(Some(word("three", true)));
    slow.answer.notify_one();
    slow.came.notified().await;
    slow.answer.notify_one();
    assert_eq!(slow.written(), ["one", "three"], "what was overtaken is not written");
    drop(words);
    telling.await.unwrap();
}

#[tokio::test]
async fn a_word_that_could_not_be_written_is_tried_again_until_a_newer_one_is() {
    let slow = Slow::default();
    slow.refusing.store(true, Ordering::Relaxed);
    let (words, told) = watch::channel(Some(word("one", true)));
    let reporter = slow.reporter();
    let _telling = tokio::spawn(async move { reporter.keep_told(told).await });
    for _ in 0..2 {
        slow.came.notified().await;
        slow.answer.notify_one();
    }
    words.send_replace(Some(word("two", true)));
    slow.came.notified().await;
    slow.refusing.store(false, Ordering::Relaxed);
    slow.answer.notify_one();
    words.send_replace(Some(word("three", true)));
    slow.came.notified().await;
    assert_eq!(slow.written(), ["one", "one", "two", "three"]);
    assert_eq!((slow.counted("failed"), slow.counted("succeeded")), (2, 1));
}

#[tokio::test]
async fn the_last_word_of_all_is_tried_again_with_pauses() {
    let slow = Slow::default();
    slow.refusing.store(true, Ordering::Relaxed);
    let (words, told) = watch::channel(Some(word("last", true)));
    let reporter = slow.reporter();
    drop(words);
    let telling = tokio::spawn(async move { reporter.keep_told(told).await });
    slow.came.notified().await;
    slow.answer.notify_one();
    let again = tokio::time::timeout(Duration::from_millis(500), slow.came.notified());
    assert!(again.await.is_err(), "the first pause is a second");
    slow.came.notified().await;
    slow.refusing.store(false, Ordering::Relaxed);
    slow.answer.notify_one();
    telling.await.unwrap();
    assert_eq!(slow.written(), ["last", "last"]);
}

#[tokio::test]
async fn what_passes_soon_is_written_only_if_it_stays() {
    let slow = Slow::default();
    let (words, told) = watch::channel(Some(word("passing", false)));
    let reporter = slow.reporter();
    let _telling = tokio::spawn(async move { reporter.keep_told(told).await });
    tokio::task::yield_now().await;
    words.send_replace(Some(word("lasting", true)));
    slow.came.notified().await;
    assert_eq!(slow.written(), ["lasting"]);
    slow.answer.notify_one();
    words.send_replace(Some(word("passing", false)));
    slow.came.notified().await;
    assert_eq!(slow.written(), ["lasting", "passing"]);
}
