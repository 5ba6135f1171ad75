//! A call whose bodies are sent as they are and read tolerantly.

use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{HeaderMap, Method, Request, Response};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::EngineError;
use super::wire::{Broken, Connection, Wire, because};
use crate::docker;

/// More than an engine with ten thousand containers says at once.
const MAX_ANSWER: usize = 64 << 20;

/// What an image's name has besides letters and digits may stand in a path as it is.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'/').remove(b':').remove(b'@');

/// One call to come.
pub(super) struct Call {
    name: &'static str,
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    headers: HeaderMap,
    body: Bytes,
}

/// The whole answer to a call.
pub(super) struct Answer {
    name: &'static str,
    pub headers: HeaderMap,
    body: Bytes,
}

impl Call {
    pub fn new(name: &'static str, method: Method, path: impl Into<String>) -> Self {
        let (path, query) = (path.into(), Vec::new());
        Self { name, method, path, query, headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub fn get(name: &'static str, path: impl Into<String>) -> Self {
        Self::new(name, Method::GET, path)
    }

    pub fn post(name: &'static str, path: impl Into<String>) -> Self {
        Self::new(name, Method::POST, path)
    }

    pub fn query(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.query.push((key, value.into()));
        self
    }

    /// Only what bears all the labels, each `key` or `key=value`.
    pub fn labelled(self, labels: &[String]) -> Self {
        if labels.is_empty() {
            return self;
        }
        self.query("filters", serde_json::json!({ "label": labels }).to_string())
    }

    pub fn header(mut self, name: &'static str, value: http::HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    pub fn body(mut self, body: &impl Serialize) -> Result<Self, EngineError> {
        let json = serde_json::to_vec(body)
            .map_err(|error| self.unsent(&format!("the request cannot be written: {error}")))?;
        self.headers.insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        self.body = json.into();
        Ok(self)
    }

    /// Sends it and gives the answer, if that is success.
    pub async fn answer(self, wire: &Wire, within: Duration) -> Result<Answer, EngineError> {
        let name = self.name;
        let work = async {
            let (answer, _connection) = self.open(wire).await?;
            let (head, body) = answer.into_parts();
            let body = whole(name, body).await?;
            Ok(Answer { name, headers: head.headers, body })
        };
        tokio::time::timeout(within, work)
            .await
            .unwrap_or(Err(EngineError::Deadline { call: name, after: within }))
    }

    /// Sends it, and gives the answer once its head tells success; the body is still to come.
    pub async fn open(self, wire: &Wire) -> Result<(Response<Incoming>, Connection), EngineError> {
        let name = self.name;
        let request = self.request()?;
        let (answer, connection) = wire.send(request).await.map_err(|error| broken(name, error))?;
        let status = answer.status();
        if status.is_success() || status == http::StatusCode::NOT_MODIFIED {
            return Ok((answer, connection));
        }
        let body = whole(name, answer.into_body()).await?;
        Err(EngineError::Refused { call: name, status: status.as_u16(), message: said(&body) })
    }

    fn request(self) -> Result<Request<Full<Bytes>>, EngineError> {
        let mut target = utf8_percent_encode(&self.path, PATH).to_string();
        for (at, (key, value)) in self.query.iter().enumerate() {
            target.push(if at == 0 { '?' } else { '&' });
            target += key;
            target.push('=');
            target.extend(utf8_percent_encode(value, NON_ALPHANUMERIC));
        }
        let mut request = Request::builder()
            .method(&self.method)
            .uri(target)
            .body(Full::new(self.body.clone()))
            .map_err(|error| self.unsent(&error.to_string()))?;
        request.headers_mut().extend(self.headers);
        Ok(request)
    }

    fn unsent(&self, cause: &str) -> EngineError {
        EngineError::Unreachable { call: self.name, cause: cause.to_owned(), sent: false }
    }
}

impl Answer {
    /// Something that exists. As all members have defaults, any object could be read as one; but
    /// nonsense must not pass for a thing, nor for there being none.
    pub fn thing<T: Identified>(&self) -> Result<T, EngineError> {
        let thing: T = self.read()?;
        self.check(!thing.id().is_empty())?;
        Ok(thing)
    }

    /// The same for a list.
    pub fn things<T: Identified>(&self) -> Result<Vec<T>, EngineError> {
        let things: Vec<T> = self.read()?;
        self.check(things.iter().all(|thing| !thing.id().is_empty()))?;
        Ok(things)
    }

    fn check(&self, identified: bool) -> Result<(), EngineError> {
        if identified {
            return Ok(());
        }
        let cause = "something in it has no id".to_owned();
        Err(EngineError::Unreadable { call: self.name, cause })
    }

    pub fn read<T: DeserializeOwned>(&self) -> Result<T, EngineError> {
        docker::read(&self.body)
            .map_err(|error| EngineError::Unreadable { call: self.name, cause: error.to_string() })
    }
}

/// What has an id, or a name in its place.
pub(super) trait Identified: DeserializeOwned {
    fn id(&self) -> &str;
}

/// Turns "there is no such thing" into nothing.
pub(super) fn found(answer: Result<Answer, EngineError>) -> Result<Option<Answer>, EngineError> {
    match answer {
        Err(error) if error.is_not_found() => Ok(None),
        answer => answer.map(Some),
    }
}

macro_rules! identified {
    ($($type:ty: $id:ident,)+) => {
        $(impl Identified for $type {
            fn id(&self) -> &str {
                &self.$id
            }
        })+
    };
}

identified! {
    docker::Inspect: id,
    docker::ListItem: id,
    docker::ImageInspect: id,
    docker::ImageItem: id,
    docker::Network: id,
    docker::Volume: name,
    super::Created: id,
}

pub(super) fn broken(call: &'static str, Broken { cause, sent }: Broken) -> EngineError {
    EngineError::Unreachable { call, cause, sent }
}

async fn whole(call: &'static str, body: Incoming) -> Result<Bytes, EngineError> {
    let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            let cause = format!("it has more than {MAX_ANSWER} bytes");
            return EngineError::Unreadable { call, cause };
        }
        EngineError::Unreachable { call, cause: because(&*error), sent: true }
    })?;
    Ok(body.to_bytes())
}

/// The engine's words out of the body of an error.
pub(super) fn said(body: &[u8]) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Said {
        message: String,
    }
    let said: Said = docker::read(body).unwrap_or_default();
    if said.message.is_empty() {
        let text = String::from_utf8_lossy(body);
        return text.trim().chars().take(1000).collect();
    }
    said.message.trim().to_owned()
}
