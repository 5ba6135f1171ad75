//! The link to the engine: whether it is there, which instance it is, and what it says meanwhile.
//!
//! Events are hints: they wake the Workspace they speak of. Who was not woken is looked at when a
//! link is made anew, for then everyone is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::instance::Instance;
use crate::api::names::label;
use crate::docker::{ApiVersion, Event};
use crate::engine::{Engine, EngineError};

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Whether the engine is there.
#[derive(Clone, Debug)]
pub enum Link {
    /// It has not been looked for since the agent started.
    Unseen,
    /// It is not.
    Down(String),
    /// It is.
    Up(Arc<Up>),
}

/// An engine that is there.
#[derive(Debug)]
pub struct Up {
    /// Its client.
    pub engine: Engine,
    /// Which start of it this is, as a text to compare.
    pub instance: String,
    /// When that start was, or later.
    pub began: Timestamp,
}

impl Link {
    /// The engine where it is there, else why it is not.
    pub fn up(&self) -> Result<Arc<Up>, String> {
        match self {
            Self::Up(up) => Ok(up.clone()),
            Self::Down(why) => Err(why.clone()),
            Self::Unseen => Err("the engine was not looked for yet".to_owned()),
        }
    }
}

/// Keeps the link.
#[derive(Debug)]
pub struct Linker {
    socket: PathBuf,
    state: watch::Sender<Link>,
    doubted: mpsc::UnboundedReceiver<(Arc<Up>, String)>,
}

/// Where it is told that a link, though it holds, is no use.
#[derive(Clone, Debug)]
pub struct Doubts(mpsc::UnboundedSender<(Arc<Up>, String)>);

impl Doubts {
    /// Tells that an engine does not answer, and why that is thought.
    pub fn tell(&self, up: &Arc<Up>, why: String) {
        drop(self.0.send((up.clone(), why)));
    }
}

/// Looks at which instance of the engine serves the socket now.
pub async fn instance(socket: &Path) -> Result<(String, Timestamp), String> {
    let socket = socket.to_owned();
    let looked = tokio::task::spawn_blocking(move || {
        let instance = Instance::look(&socket).map_err(|e| format!("{}: {e}", socket.display()))?;
        let text = serde_json::to_string(&instance).map_err(|e| e.to_string())?;
        Ok((text, instance.began()))
    });
    looked.await.map_err(|e| e.to_string())?
}

impl Linker {
    /// A link to be made to the engine behind a socket.
    pub fn new(socket: &Path) -> (Self, watch::Receiver<Link>, Doubts) {
        let (state, link) = watch::channel(Link::Unseen);
        let (doubts, doubted) = mpsc::unbounded_channel();
        (Self { socket: socket.to_owned(), state, doubted }, link, Doubts(doubts))
    }

    /// Makes the link, and makes it anew whenever it breaks, until `stop`. `hear` gets each event
    /// that speaks of a container of a Workspace, by the Workspace's uid.
    pub async fn run(mut self, hear: impl Fn(&str, &Event), stop: CancellationToken) {
        let mut pause = FIRST_PAUSE;
        loop {
            let ended = tokio::select! {
                () = stop.cancelled() => return,
                ended = self.hold(&hear, &mut pause) => ended,
            };
            let was_up = matches!(&*self.state.borrow(), Link::Up(_));
            if was_up {
                warn!(error = %ended, "lost the engine");
            }
            self.state.send_replace(Link::Down(ended));
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Holds the link until it breaks, and says why it did.
    async fn hold(&mut self, hear: &impl Fn(&str, &Event), pause: &mut Duration) -> String {
        let made = async {
            let (text, began) = instance(&self.socket).await?;
            let engine = Engine::connect(&self.socket).await.map_err(|e| e.to_string())?;
            // Listened to before anything is read, so that nothing falls in between.
            let events = engine.events(None).await.map_err(|e| e.to_string())?;
            Ok::<_, String>((Up { engine, instance: text, began }, events))
        };
        let (up, mut events) = match made.await {
            Ok(made) => made,
            Err(why) => return why,
        };
        *pause = FIRST_PAUSE;
        let api: ApiVersion = up.engine.api();
        info!(api = %api, "the engine is there");
        let up = Arc::new(up);
        self.state.send_replace(Link::Up(up.clone()));
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                Some((of, why)) = self.doubted.recv() => {
                    if Arc::ptr_eq(&of, &up) { return why }
                    continue;
                }
            };
            match event {
                Some(Ok(event)) => {
                    if let Some(uid) = speaks_of(&event) {
                        hear(uid, &event);
                    }
                }
                Some(Err(error @ EngineError::Unreadable { .. })) => {
                    warn!(%error, "an event of the engine cannot be read");
                }
                Some(Err(error)) => return error.to_string(),
                None => return "the engine closed its stream of events".to_owned(),
            }
        }
    }
}

fn speaks_of(event: &Event) -> Option<&str> {
    let attributes = &event.actor.attributes;
    (event.type_ == "container").then(|| attributes.get(label::WORKSPACE_UID))?.map(String::as_str)
}
