//! The client of a Docker Engine. It knows no kind of ours.
//!
//! Every call has a connection of its own, and all but a pull a deadline. Dropping a call's future
//! closes its connection; what the engine makes of that depends on its version and the call, so
//! look before a call is repeated.

mod call;
mod containers;
mod deadlines;
mod error;
mod images;
mod stream;
mod url;
mod verbs;
mod volumes;
mod wire;

use std::path::Path;

use call::Call;
use futures::{Stream, StreamExt};
use wire::Wire;

use crate::docker::{ApiVersion, Event, EventTime, Info};

pub use containers::{Create, Created, Remove};
pub use deadlines::Deadlines;
pub use error::EngineError;
pub use stream::Messages;
pub use url::EngineUrl;

/// A Docker Engine behind a Unix socket.
#[derive(Clone, Debug)]
pub struct Engine {
    wire: Wire,
    api: ApiVersion,
    deadlines: Deadlines,
}

impl Engine {
    /// Asks the engine for its version, and speaks the newest that both know from now on. An
    /// engine that was away may be another one afterwards: connect again.
    pub async fn connect(socket: &Path) -> Result<Self, EngineError> {
        Self::connect_within(socket, Deadlines::default()).await
    }

    /// The same with deadlines of the caller's.
    pub async fn connect_within(socket: &Path, deadlines: Deadlines) -> Result<Self, EngineError> {
        let wire = Wire::new(socket);
        let answer = Call::get("ping", "/_ping").answer(&wire, deadlines.other).await?;
        let unreadable = |cause| EngineError::Unreadable { call: "ping", cause };
        let newest: ApiVersion = answer
            .headers
            .get("api-version")
            .and_then(|version| version.to_str().ok())
            .ok_or_else(|| unreadable("it has no header Api-Version".to_owned()))?
            .parse()
            .map_err(unreadable)?;
        if newest < ApiVersion::OLDEST {
            return Err(EngineError::TooOld { api: newest });
        }
        let api = newest.min(ApiVersion::NEWEST);
        Ok(Self { wire: wire.speaking(api), api, deadlines })
    }

    /// The version that is spoken.
    pub fn api(&self) -> ApiVersion {
        self.api
    }

    /// Whether the engine answers, and is not shutting down.
    pub async fn ping(&self) -> Result<(), EngineError> {
        self.answer(Call::get("ping", "/_ping")).await.map(drop)
    }

    /// What the engine says of itself and its host.
    pub async fn info(&self) -> Result<Info, EngineError> {
        self.answer(Call::get("info", "/info")).await?.read()
    }

    /// What happens from now on, or happened since a moment, that one included, as far as the
    /// engine remembers: 256 events, and none from before it started. Given once the engine has
    /// begun to listen, so what is read afterwards misses nothing. The stream ends with the engine.
    /// What containers are told to execute, as each health check does, is left out.
    pub async fn events(
        &self,
        since: Option<EventTime>,
    ) -> Result<impl Stream<Item = Result<Event, EngineError>> + Send + Unpin + use<>, EngineError>
    {
        let mut call = Call::get("events", "/events");
        if let Some(since) = since {
            call = call.query("since", since.to_string());
        }
        let within = self.deadlines.other;
        let (answer, connection) = tokio::time::timeout(within, call.open(&self.wire))
            .await
            .unwrap_or(Err(EngineError::Deadline { call: "events", after: within }))?;
        let messages = Messages::<Event>::new("events", answer, connection);
        let executes = |event: &Event| event.verb().starts_with("exec_");
        Ok(messages.filter(move |event| std::future::ready(!event.as_ref().is_ok_and(executes))))
    }

    async fn answer(&self, call: Call) -> Result<call::Answer, EngineError> {
        call.answer(&self.wire, self.deadlines.other).await
    }
}
