//! What the engine answers, before it is HTTP.

use std::{convert::Infallible, fmt::Display};

use futures::stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    Response,
    body::{Bytes, Frame},
};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

/// The body of a response; an error in it breaks the connection.
pub type HttpBody = UnsyncBoxBody<Bytes, std::io::Error>;

/// A piece of a stream, or that it breaks off here.
pub enum Piece {
    Line(String),
    Break,
}

pub enum Body {
    Empty,
    Json(Value),
    /// JSON that is text already.
    Raw(String),
    Text(String),
    Stream(UnboundedReceiver<Piece>),
}

/// A status and a body.
pub struct Answer {
    pub status: u16,
    pub body: Body,
}

/// Refusals are answers too; as errors they can be passed on with `?`.
pub type Reply = Result<Answer, Answer>;

pub fn json_of(status: u16, body: Value) -> Answer {
    Answer { status, body: Body::Json(body) }
}

pub fn empty(status: u16) -> Answer {
    Answer { status, body: Body::Empty }
}

pub fn refusal(status: u16, message: impl Display) -> Answer {
    json_of(status, json!({ "message": message.to_string() }))
}

impl Answer {
    /// As hyper sends it, with the header that every answer of an engine has.
    pub fn into_response(self, api: &str) -> Response<HttpBody> {
        let whole = |text: String| {
            Full::new(Bytes::from(text)).map_err(|never: Infallible| match never {}).boxed_unsync()
        };
        let (kind, body) = match self.body {
            Body::Empty => (None, whole(String::new())),
            Body::Json(value) => (Some("application/json"), whole(format!("{value}\n"))),
            Body::Raw(text) => (Some("application/json"), whole(text)),
            Body::Text(text) => (Some("text/plain; charset=utf-8"), whole(text)),
            Body::Stream(pieces) => (Some("application/json"), streamed(pieces)),
        };
        let mut response = Response::builder()
            .status(self.status)
            .header("Api-Version", api)
            .header("Ostype", "linux")
            .header("Server", "Docker/fake (linux)");
        if let Some(kind) = kind {
            response = response.header("Content-Type", kind);
        }
        response.body(body).unwrap()
    }
}

fn streamed(pieces: UnboundedReceiver<Piece>) -> HttpBody {
    let frames = stream::unfold(pieces, async |mut pieces| {
        let frame = match pieces.recv().await? {
            Piece::Line(line) => Ok(Frame::data(Bytes::from(format!("{line}\n")))),
            Piece::Break => Err(std::io::Error::other("the stream is cut")),
        };
        Some((frame, pieces))
    });
    StreamBody::new(frames).boxed_unsync()
}
