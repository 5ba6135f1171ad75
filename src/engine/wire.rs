//! One request on one connection.
//!
//! An engine that shuts down closes its listener first, and goes on to serve the connections it
//! has while it kills the containers. So an answer on a connection that was opened for it proves
//! that the engine was not shutting down; one on a connection out of a pool proves nothing.

use std::path::Path;
use std::sync::Arc;

use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::HOST;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio_util::task::AbortOnDropHandle;

use crate::docker::ApiVersion;

/// Where requests go, and in which version.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    socket: Arc<Path>,
    /// None: the engine's newest.
    api: Option<ApiVersion>,
}

/// The connection of one request. It is closed with this value, whatever the engine still does.
pub(super) type Connection = AbortOnDropHandle<()>;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[error("{cause}")]
pub(super) struct Broken {
    pub cause: String,
    /// Whether the engine may have got the request.
    pub sent: bool,
}

impl Wire {
    pub fn new(socket: &Path) -> Self {
        Self { socket: socket.into(), api: None }
    }

    pub fn speaking(self, api: ApiVersion) -> Self {
        Self { api: Some(api), ..self }
    }

    /// Sends a request whose URI is a path without a version, and gives the head of the answer.
    pub async fn send<B>(
        &self,
        mut request: Request<B>,
    ) -> Result<(Response<Incoming>, Connection), Broken>
    where
        B: Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
    {
        let before = |cause: String| Broken { cause, sent: false };
        *request.uri_mut() = self.target(request.uri()).map_err(before)?;
        request.headers_mut().insert(HOST, http::HeaderValue::from_static("docker"));
        let stream = UnixStream::connect(&*self.socket)
            .await
            .map_err(|error| before(format!("{}: {error}", self.socket.display())))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| before(because(&error)))?;
        let connection = AbortOnDropHandle::new(tokio::spawn(async move {
            // What goes wrong reaches whoever waits for the answer.
            let _ = connection.await;
        }));
        let answer = sender
            .send_request(request)
            .await
            .map_err(|error| Broken { cause: because(&error), sent: !error.is_canceled() })?;
        Ok((answer, connection))
    }

    /// Puts the version in front of the path.
    fn target(&self, asked: &Uri) -> Result<Uri, String> {
        let path = asked.path_and_query().map_or("/", |path| path.as_str());
        match self.api {
            Some(api) => format!("/v{api}{path}").parse(),
            None => path.parse(),
        }
        .map_err(|error| format!("{path:?} is no path: {error}"))
    }
}

/// An error with all that caused it.
pub(super) fn because(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}
