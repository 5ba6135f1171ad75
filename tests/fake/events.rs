//! The event stream: a ring of the newest, and those who listen.

use std::collections::VecDeque;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{
    answer::{Answer, Body, Piece, Reply, refusal},
    call::{Call, Filters},
    container::Container,
    state::{State, now},
};

/// How many events an engine keeps.
const RING: usize = 256;
const FILTERS: [&str; 11] = [
    "config",
    "container",
    "daemon",
    "event",
    "image",
    "label",
    "network",
    "scope",
    "service",
    "type",
    "volume",
];

#[derive(Clone, Debug)]
pub struct Event {
    pub kind: &'static str,
    pub action: String,
    pub id: String,
    pub attributes: Map<String, Value>,
    pub time: Timestamp,
}

#[derive(Default)]
pub struct Events {
    ring: VecDeque<Event>,
    listeners: Vec<UnboundedSender<Heard>>,
}

#[derive(Clone)]
enum Heard {
    Event(Event),
    Cut,
}

impl Events {
    pub fn emit(&mut self, event: Event) {
        if self.ring.len() == RING {
            self.ring.pop_front();
        }
        self.listeners.retain(|listener| listener.send(Heard::Event(event.clone())).is_ok());
        self.ring.push_back(event);
    }

    /// Breaks every open stream; the ring stays.
    pub fn cut(&mut self) {
        for listener in self.listeners.drain(..) {
            let _ = listener.send(Heard::Cut);
        }
    }

    /// Says again all that is kept, the newest first.
    pub fn repeat(&mut self) {
        for event in self.ring.iter().rev() {
            for listener in &self.listeners {
                let _ = listener.send(Heard::Event(event.clone()));
            }
        }
    }

    /// As after a start of the engine.
    pub fn forget(&mut self) {
        self.cut();
        self.ring.clear();
    }

    pub fn listeners(&mut self) -> usize {
        self.listeners.retain(|listener| !listener.is_closed());
        self.listeners.len()
    }
}

impl Event {
    fn json(&self, api: (u16, u16)) -> Value {
        let nanos = i64::try_from(self.time.as_nanosecond()).unwrap();
        let mut json = json!({
            "Type": self.kind, "Action": self.action, "scope": "local",
            "Actor": { "ID": self.id, "Attributes": self.attributes },
            "time": nanos / 1_000_000_000, "timeNano": nanos,
        });
        if self.kind == "container" && api < (1, 52) {
            json["status"] = self.action.as_str().into();
            json["id"] = self.id.as_str().into();
            json["from"] = self.attributes.get("image").cloned().unwrap_or_default();
        }
        json
    }

    fn passes(&self, filters: &Filters) -> bool {
        let named = |kind: &str| {
            let name = self.attributes.get("name").and_then(Value::as_str).unwrap_or_default();
            filters.any(kind, |wanted| {
                self.kind == kind && (self.id.starts_with(wanted) || name.starts_with(wanted))
            })
        };
        // `exec_create: true` is an exec_create, and is found by its whole text too.
        let action = self.action.split(':').next().unwrap_or_default();
        filters.any("type", |wanted| wanted == self.kind)
            && filters.any("event", |wanted| wanted == self.action || wanted == action)
            && named("container")
            && named("volume")
            && named("network")
            && filters.labels(&Value::Object(self.attributes.clone()))
    }
}

impl State {
    /// Says that something happened to a container.
    pub fn tell(&mut self, container: &Container, action: &str, more: &[(&str, &str)]) {
        let labels = container.config["Labels"].as_object().cloned();
        let mut attributes = labels.unwrap_or_default();
        attributes.insert("image".into(), container.config["Image"].clone());
        attributes.insert("name".into(), container.name.as_str().into());
        self.emit("container", action, &container.id, attributes, more);
    }

    /// Says that something happened to anything else.
    pub fn tell_of(&mut self, kind: &'static str, action: &str, id: &str, more: &[(&str, &str)]) {
        self.emit(kind, action, id, Map::new(), more);
    }

    fn emit(
        &mut self,
        kind: &'static str,
        action: &str,
        id: &str,
        mut attributes: Map<String, Value>,
        more: &[(&str, &str)],
    ) {
        attributes.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())));
        let (action, id) = (action.to_owned(), id.to_owned());
        self.events.emit(Event { kind, action, id, attributes, time: now() });
    }

    /// `GET /events`.
    pub fn subscribe(&mut self, call: &Call) -> Reply {
        let (since, until) = (moment(call, "since")?, moment(call, "until")?);
        let known: Vec<_> = FILTERS.to_vec();
        // Other than lists, the stream knows no wrong filter.
        let filters = call.filters(&known).unwrap_or_default();
        let api = self.api_of(call);
        let (sender, pieces) = unbounded_channel();
        let in_time = move |event: &Event| {
            since.is_none_or(|since| event.time >= since)
                && until.is_none_or(|until| event.time <= until)
        };
        let line = move |event: &Event| Piece::Line(event.json(api).to_string());
        if since.is_some() || until.is_some() {
            for event in self.events.ring.iter().filter(|e| in_time(e) && e.passes(&filters)) {
                let _ = sender.send(line(event));
            }
        }
        let left = until.map(|until| until.duration_since(now()));
        if left.is_some_and(|left| !left.is_positive()) {
            return Ok(Answer { status: 200, body: Body::Stream(pieces) });
        }
        let (listener, mut heard) = unbounded_channel();
        self.events.listeners.push(listener);
        let end = async move {
            match left {
                Some(left) => tokio::time::sleep(left.unsigned_abs()).await,
                None => std::future::pending().await,
            }
        };
        tokio::spawn(async move {
            tokio::pin!(end);
            loop {
                let piece = tokio::select! {
                    () = &mut end => return,
                    () = sender.closed() => return,
                    heard = heard.recv() => match heard {
                        Some(Heard::Event(event)) if event.passes(&filters) => line(&event),
                        Some(Heard::Event(_)) => continue,
                        Some(Heard::Cut) | None => Piece::Break,
                    },
                };
                let last = matches!(piece, Piece::Break);
                if sender.send(piece).is_err() || last {
                    return;
                }
            }
        });
        Ok(Answer { status: 200, body: Body::Stream(pieces) })
    }
}

/// Seconds, with up to nine digits after the point.
fn moment(call: &Call, name: &str) -> Result<Option<Timestamp>, Answer> {
    let text = call.parameter(name);
    if text.is_empty() || text == "0" {
        return Ok(None);
    }
    let (seconds, nanos) = text.split_once('.').unwrap_or((text, "0"));
    let parsed = seconds.parse().ok().zip(format!("{nanos:0<9}").parse().ok());
    let moment = parsed.and_then(|(seconds, nanos)| Timestamp::new(seconds, nanos).ok());
    moment.map(Some).ok_or_else(|| {
        refusal(500, format!("strconv.ParseInt: parsing \"{text}\": invalid syntax"))
    })
}
