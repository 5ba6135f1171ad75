//! What has no body worth reading: by bollard, over connections of ours.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bollard::errors::Error as BollardError;
use bollard::{API_DEFAULT_VERSION, BollardRequest, Docker};

use super::EngineError;
use super::wire::{Broken, Connection, Wire, because};

/// Does something by bollard within a deadline. The client is made for this one call, and its
/// connection ends with the call.
pub(super) async fn verb<T>(
    wire: &Wire,
    call: &'static str,
    within: Duration,
    act: impl AsyncFnOnce(Docker) -> Result<T, BollardError>,
) -> Result<T, EngineError> {
    let held = Arc::new(Mutex::new(None::<Connection>));
    let docker = client(wire.clone(), Arc::clone(&held), within)
        .map_err(|error| explain(call, within, error))?;
    let done = tokio::time::timeout(within, act(docker)).await;
    drop(held.lock().unwrap_or_else(PoisonError::into_inner).take());
    done.map_err(|_| EngineError::Deadline { call, after: within })?
        .map_err(|error| explain(call, within, error))
}

fn client(
    wire: Wire,
    held: Arc<Mutex<Option<Connection>>>,
    within: Duration,
) -> Result<Docker, BollardError> {
    let transport = move |request: BollardRequest| {
        let (wire, held) = (wire.clone(), Arc::clone(&held));
        async move {
            let (answer, connection) = wire
                .send(request)
                .await
                .map_err(|broken| BollardError::IOError { err: std::io::Error::other(broken) })?;
            *held.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
            Ok(answer)
        }
    };
    // Its own deadline is in seconds and only up to the head; ours comes first.
    let seconds = within.as_secs().saturating_add(1);
    Docker::connect_with_custom_transport(
        transport,
        Some("http://docker"),
        seconds,
        API_DEFAULT_VERSION,
    )
}

fn explain(call: &'static str, within: Duration, error: BollardError) -> EngineError {
    match error {
        BollardError::DockerResponseServerError { status_code, message } => {
            EngineError::Refused { call, status: status_code, message: message.trim().to_owned() }
        }
        BollardError::RequestTimeoutError => EngineError::Deadline { call, after: within },
        BollardError::IOError { err } => {
            let broken = err.get_ref().and_then(|inner| inner.downcast_ref::<Broken>());
            let sent = broken.is_none_or(|broken| broken.sent);
            EngineError::Unreachable { call, cause: err.to_string(), sent }
        }
        BollardError::HyperResponseError { err } => {
            EngineError::Unreachable { call, cause: because(&err), sent: true }
        }
        other => EngineError::Unreadable { call, cause: because(&other) },
    }
}
