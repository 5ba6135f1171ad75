//! Messages that come one by one: events, and what a pull says.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::Stream;
use hyper::Response;
use hyper::body::{Body, Incoming};
use serde::de::DeserializeOwned;

use super::EngineError;
use super::wire::{Connection, because};
use crate::docker::{self, Lines};

/// The messages of an answer, a line of JSON each. A line that cannot be read is an error and
/// the stream goes on; an answer that breaks is an error and its end. Its connection is closed
/// with it.
pub struct Messages<T> {
    call: &'static str,
    body: Incoming,
    lines: Lines,
    ready: VecDeque<Result<T, EngineError>>,
    ended: bool,
    _connection: Connection,
}

// Nothing of it is ever pinned.
impl<T> Unpin for Messages<T> {}

impl<T: DeserializeOwned> Messages<T> {
    pub(super) fn new(
        call: &'static str,
        answer: Response<Incoming>,
        connection: Connection,
    ) -> Self {
        Self {
            call,
            body: answer.into_body(),
            lines: Lines::default(),
            ready: VecDeque::new(),
            ended: false,
            _connection: connection,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.lines.push(bytes).is_err() {
            self.end_with("a message does not end".to_owned());
            return;
        }
        while let Some(line) = self.lines.next_line() {
            self.read(&line);
        }
    }

    fn read(&mut self, line: &[u8]) {
        let message = docker::read(line)
            .map_err(|error| EngineError::Unreadable { call: self.call, cause: error.to_string() });
        self.ready.push_back(message);
    }

    fn end_with(&mut self, cause: String) {
        self.ended = true;
        self.ready.push_back(Err(EngineError::Unreadable { call: self.call, cause }));
    }

    fn finish(&mut self, broken: Option<&hyper::Error>) {
        self.ended = true;
        if let Some(error) = broken {
            let (call, cause) = (self.call, because(error));
            self.ready.push_back(Err(EngineError::Unreachable { call, cause, sent: true }));
        } else if let Some(line) = self.lines.rest() {
            self.read(&line);
        }
    }
}

impl<T: DeserializeOwned> Stream for Messages<T> {
    type Item = Result<T, EngineError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Poll::Ready(Some(message));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.take(&bytes);
                    }
                }
                Some(Err(error)) => self.finish(Some(&error)),
                None => self.finish(None),
            }
        }
    }
}
