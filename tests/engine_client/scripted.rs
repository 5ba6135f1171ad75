use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    task::JoinSet,
};

/// What follows a scripted answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The connection is closed.
    Close,
    /// Nothing, for ever.
    Hang,
}

/// A socket whose answers are written down: `/_ping` as an engine of API 1.41 has it, all else
/// with the same bytes.
pub struct Scripted {
    directory: TempDir,
    seen: Arc<Mutex<Vec<String>>>,
    closed: Arc<Mutex<usize>>,
    _serving: JoinSet<()>,
}

impl Scripted {
    pub fn new(answer: &str, then: Then) -> Self {
        Self::with_ping(
            "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK",
            answer,
            then,
        )
    }

    pub fn with_ping(ping: &str, answer: &str, then: Then) -> Self {
        let directory = TempDir::new().unwrap();
        let listener = UnixListener::bind(directory.path().join("engine.sock")).unwrap();
        let (seen, closed) = (Arc::default(), Arc::<Mutex<usize>>::default());
        let mut serving = JoinSet::new();
        let (heads, ends) = (Arc::clone(&seen), Arc::clone(&closed));
        let (ping, answer) = (ping.to_owned(), answer.to_owned());
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (ping, answer) = (ping.clone(), answer.clone());
                let (heads, ends) = (Arc::clone(&heads), Arc::clone(&ends));
                connections.spawn(async move {
                    serve(stream, &ping, &answer, then, &heads).await;
                    *ends.lock().unwrap() += 1;
                });
            }
        });
        Self { directory, seen, closed, _serving: serving }
    }

    pub fn socket(&self) -> PathBuf {
        Path::join(self.directory.path(), "engine.sock")
    }

    /// The heads of the requests that came.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// How many connections have ended.
    pub fn closed(&self) -> usize {
        *self.closed.lock().unwrap()
    }
}

async fn serve(
    mut stream: UnixStream,
    ping: &str,
    answer: &str,
    then: Then,
    heads: &Mutex<Vec<String>>,
) {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes).await {
            Ok(count @ 1..) => head.extend_from_slice(&bytes[..count]),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let pings = head.starts_with("GET /_ping ");
    heads.lock().unwrap().push(head);
    let _ = stream.write_all(if pings { ping } else { answer }.as_bytes()).await;
    if then == Then::Hang && !pings {
        // Until the caller closes.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
}
