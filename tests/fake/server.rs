//! HTTP on the Unix socket: connections, faults, and the log of calls.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use http_body_util::BodyExt;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    answer::{Answer, HttpBody, json_of, refusal},
    call::Call,
    faults::{Faults, What},
    route::dispatch,
    state::{Due, State},
};

/// The connection ends without an answer.
#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection is cut")
    }
}

impl std::error::Error for Broken {}

pub struct Shared {
    state: Mutex<State>,
    pub faults: Mutex<Faults>,
    pub calls: Mutex<Vec<Call>>,
}

/// The engine while it serves; ends with this value.
pub struct Serving {
    end: CancellationToken,
    task: JoinHandle<()>,
    socket: PathBuf,
}

impl Shared {
    pub fn new(state: State) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(state),
            faults: Mutex::default(),
            calls: Mutex::default(),
        })
    }

    /// Reads or changes the state, and sets off what it is to do by itself later.
    pub fn with<T>(self: &Arc<Self>, work: impl FnOnce(&mut State) -> T) -> T {
        let (result, due) = {
            // What panicked in one test call is not to hide behind poison in all others.
            let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let result = work(&mut state);
            (result, std::mem::take(&mut state.due))
        };
        for due in due {
            self.later(due);
        }
        result
    }

    fn later(self: &Arc<Self>, due: Due) {
        let shared = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(due.after).await;
            shared.with(|state| state.restart_is_due(&due));
        });
    }

    /// Waits until `judge` has an answer, for so long.
    pub async fn eventually<T>(
        self: &Arc<Self>,
        within: Option<Duration>,
        mut judge: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let mut changes = self.with(|state| state.changes.subscribe());
        let wait = async {
            loop {
                changes.borrow_and_update();
                if let Some(answer) = self.with(&mut judge) {
                    return Some(answer);
                }
                changes.changed().await.ok()?;
            }
        };
        match within {
            Some(within) => tokio::time::timeout(within, wait).await.ok().flatten(),
            None => wait.await,
        }
    }
}

impl Serving {
    /// Binds the socket, which becomes a new file.
    pub fn start(shared: &Arc<Shared>, socket: &Path) -> Self {
        let _ = std::fs::remove_file(socket);
        let listener = UnixListener::bind(socket).unwrap();
        let end = CancellationToken::new();
        let task = tokio::spawn(accept(shared.clone(), listener, end.clone()));
        Self { end, task, socket: socket.to_owned() }
    }

    /// Cuts every connection and serves no more. Whether the file stays says how it ended.
    pub async fn stop(self, keep_file: bool) {
        self.end.cancel();
        let _ = self.task.await;
        if !keep_file {
            let _ = std::fs::remove_file(&self.socket);
        }
    }

    pub fn cancel(&self) {
        self.end.cancel();
    }
}

async fn accept(shared: Arc<Shared>, listener: UnixListener, end: CancellationToken) {
    loop {
        let stream = tokio::select! {
            () = end.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => continue,
            },
        };
        if !shared.faults.lock().unwrap().cut {
            tokio::spawn(converse(shared.clone(), stream, end.clone()));
        }
    }
}

async fn converse(shared: Arc<Shared>, stream: UnixStream, end: CancellationToken) {
    let service = service_fn(|request| answer(shared.clone(), request));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        () = end.cancelled() => {}
        _ = connection => {}
    }
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<HttpBody>, Broken> {
    let (head, body) = request.into_parts();
    let bytes = body.collect().await.map_err(|_| Broken)?.to_bytes();
    let mut call = Call::parse(head.method.as_str(), &head.uri, &bytes);
    let auth = head.headers.get("X-Registry-Auth").and_then(|value| value.to_str().ok());
    call.registry_auth = auth.map(str::to_owned);
    let fate = shared.faults.lock().unwrap().meet(&call);
    if fate.refused {
        // Where this is the call at which all is cut, streams end too.
        shared.with(|state| state.events.cut());
        return Err(Broken);
    }
    shared.calls.lock().unwrap().push(call.clone());
    let mut lost = fate.unanswered;
    let mut instead = None;
    for what in fate.what {
        match what {
            What::Delay(delay) => tokio::time::sleep(delay).await,
            What::Hang => std::future::pending().await,
            What::DropBefore => return Err(Broken),
            What::DropAfter => lost = true,
            What::Answer(status, message) => instead = Some(refusal(status, message)),
            What::Json(value) => instead = Some(json_of(200, value)),
        }
    }
    let answer = match instead {
        Some(answer) => answer,
        // In a task of its own: the engine finishes what a client that went away began.
        None => tokio::spawn(finished(shared.clone(), call)).await.map_err(|_| Broken)?,
    };
    if fate.last {
        shared.faults.lock().unwrap().cut = true;
        shared.with(|state| state.events.cut());
    }
    if lost {
        return Err(Broken);
    }
    let (major, minor) = shared.with(|state| state.options.api);
    Ok(answer.into_response(&format!("{major}.{minor}")))
}

async fn finished(shared: Arc<Shared>, call: Call) -> Answer {
    dispatch(&shared, call).await.unwrap_or_else(|refused| refused)
}
