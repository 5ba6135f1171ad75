//! The admin port: whether the process lives, whether it is ready, and its metrics.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// A process whose main loop did not turn for so long hangs.
const STALE: Duration = Duration::from_mins(1);

/// The sign of life of a main loop.
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Mutex<Instant>>);

impl Default for Pulse {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }
}

impl Pulse {
    /// The loop turned.
    pub fn beat(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn age(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

/// Why a process is not ready, or None where it is.
pub type Readiness = dyn Fn() -> Option<String> + Send + Sync;

/// What the admin port tells of.
#[derive(Clone)]
pub struct Admin {
    /// The main loop's sign of life.
    pub pulse: Pulse,
    /// Whether the process does its work.
    pub readiness: Arc<Readiness>,
    /// What is counted.
    pub metrics: Arc<Registry>,
}

/// Serves `/livez`, `/readyz` and `/metrics` until `stop`. The listener is bound by the caller, so
/// that a port in use ends the program at its start.
pub async fn serve(admin: Admin, listener: TcpListener, stop: CancellationToken) {
    if let Ok(address) = listener.local_addr() {
        info!(%address, "admin port: /livez, /readyz, /metrics");
    }
    let app = Router::new()
        .route("/livez", get(live))
        .route("/healthz", get(live))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(admin);
    let served = axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned());
    if let Err(error) = served.await {
        warn!(%error, "the admin port is served no more");
    }
}

/// Binds the admin port.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, String> {
    TcpListener::bind(address).await.map_err(|error| {
        format!("the admin port {address} cannot be opened: {error}; set --admin-listen to another, or to 127.0.0.1:0")
    })
}

async fn live(State(admin): State<Admin>) -> Response {
    let age = admin.pulse.age();
    if age < STALE {
        "ok\n".into_response()
    } else {
        let message = format!("the main loop has not turned for {} s\n", age.as_secs());
        (StatusCode::SERVICE_UNAVAILABLE, message).into_response()
    }
}

async fn ready(State(admin): State<Admin>) -> Response {
    match (admin.readiness)() {
        None => "ok\n".into_response(),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}

async fn metrics(State(admin): State<Admin>) -> Response {
    let mut text = String::new();
    if encode(&mut text, &admin.metrics).is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
