//! Puts the present token into every request of a client.
//!
//! kube's own `token_file` reads again once a minute, by the host's clock: after a step back of that
//! clock not for as long as the step was. Here a new token is in the very next request, and a
//! refused one is told at once.

use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderValue};
use http::{Request, Response, StatusCode};
use kube::client::Body;
use tokio::sync::Notify;
use tower::{BoxError, Layer, Service};

use super::secret::Secret;

/// The token of all clients that share this.
#[derive(Clone, Default)]
pub struct Present(Arc<Inner>);

#[derive(Default)]
struct Inner {
    header: RwLock<Option<HeaderValue>>,
    refused: Notify,
}

/// A request without a token was not sent.
#[derive(Debug, thiserror::Error)]
#[error("there is no token for the API yet")]
pub struct NoToken;

impl Present {
    /// From now on this one is sent.
    pub fn set(&self, token: &Secret) {
        // What no header can hold was never a token: it is refused where it is read.
        let Ok(mut header) = HeaderValue::from_str(&format!("Bearer {}", token.reveal())) else {
            return;
        };
        header.set_sensitive(true);
        *self.0.header.write().unwrap_or_else(PoisonError::into_inner) = Some(header);
    }

    /// Whether there is one.
    pub fn is_set(&self) -> bool {
        self.header().is_some()
    }

    /// Waits until the API server refuses the present token.
    pub async fn refused(&self) {
        self.0.refused.notified().await;
    }

    fn header(&self) -> Option<HeaderValue> {
        self.0.header.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tell_refused(&self, sent: &HeaderValue) {
        // A late answer to an old token says nothing about the present one.
        if self.header().as_ref() == Some(sent) {
            self.0.refused.notify_one();
        }
    }
}

/// Adds it to a client's stack.
#[derive(Clone)]
pub struct Authorize(pub Present);

impl<S> Layer<S> for Authorize {
    type Service = Authorized<S>;

    fn layer(&self, inner: S) -> Authorized<S> {
        Authorized { inner, present: self.0.clone() }
    }
}

/// A service behind [`Authorize`].
pub struct Authorized<S> {
    inner: S,
    present: Present,
}

impl<S, B> Service<Request<Body>> for Authorized<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<B>, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let Some(header) = self.present.header() else {
            return Box::pin(async { Err(BoxError::from(NoToken)) });
        };
        request.headers_mut().insert(AUTHORIZATION, header.clone());
        let present = self.present.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            if answer.status() == StatusCode::UNAUTHORIZED {
                present.tell_refused(&header);
            }
            Ok(answer)
        })
    }
}
