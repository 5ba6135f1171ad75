use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// What a scripted registry answers to a request.
pub enum Reply {
    /// Status, content type and body.
    Whole(String, &'static str, Vec<u8>),
    /// So many bytes are promised, one comes, and then nothing for ever.
    Stall(usize),
    /// Nothing, for ever.
    Hang,
}

/// A registry whose answers, but for "it is a registry", are written down.
pub struct Scripted {
    address: SocketAddr,
    open: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl Scripted {
    /// Answers each path as told.
    pub async fn start(
        host: IpAddr,
        reply: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((host, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (open, reply) = (Arc::<AtomicUsize>::default(), Arc::new(reply));
        let mut serving = JoinSet::new();
        let counted = Arc::clone(&open);
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (reply, open) = (Arc::clone(&reply), Arc::clone(&counted));
                connections.spawn(async move { serve(stream, &*reply, &open).await });
            }
        });
        Self { address, open, _serving: serving }
    }

    /// Has an image whose one layer begins to come and then does not go on.
    pub async fn stalling(host: IpAddr) -> Self {
        let layer = "sha256:".to_owned() + &"0123456789abcdef".repeat(4);
        let config = json!({
            "architecture": "amd64", "os": "linux", "config": {},
            "rootfs": { "type": "layers", "diff_ids": [layer] },
        })
        .to_string();
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {
                "mediaType": "application/vnd.docker.container.image.v1+json",
                "size": config.len(), "digest": digest(&config),
            },
            "layers": [{
                "mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip",
                "size": 10_000_000, "digest": layer,
            }],
        })
        .to_string();
        Self::start(host, move |path| match path.rsplit('/').next() {
            _ if path.contains("/manifests/") => whole(MANIFEST, &manifest),
            Some(blob) if blob == digest(&config) => whole("application/octet-stream", &config),
            _ => Reply::Stall(10_000_000),
        })
        .await
    }

    /// `address:port`.
    pub fn place(&self) -> String {
        self.address.to_string()
    }

    /// How many requests are not at their end.
    pub fn open(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.open)
    }
}

const MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";

fn whole(kind: &'static str, body: &str) -> Reply {
    Reply::Whole("200 OK".to_owned(), kind, body.as_bytes().to_vec())
}

fn digest(text: &str) -> String {
    let hex: String = Sha256::digest(text)
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect();
    format!("sha256:{hex}")
}

async fn serve(mut stream: TcpStream, reply: &(impl Fn(&str) -> Reply + Sync), open: &AtomicUsize) {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut bytes = [0; 4096];
        match stream.read(&mut bytes).await {
            Ok(count @ 1..) => head.extend_from_slice(&bytes[..count]),
            _ => return,
        }
        // An engine tries TLS first, and waits long for an answer to that.
        if head[0] == 0x16 {
            return;
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let (method, rest) = head.split_once(' ').unwrap_or_default();
    let path = rest.split(' ').next().unwrap_or_default();
    let reply = match path {
        "/v2/" => Reply::Whole("200 OK".to_owned(), "application/json", b"{}".to_vec()),
        _ => reply(path),
    };
    let (status, kind, length, body, hangs) = match reply {
        Reply::Whole(status, kind, body) => (status, kind, body.len(), body, false),
        Reply::Stall(length) => {
            ("200 OK".to_owned(), "application/octet-stream", length, vec![0x1f], true)
        }
        Reply::Hang => {
            open.fetch_add(1, Ordering::SeqCst);
            let _ = stream.read_to_end(&mut Vec::new()).await;
            open.fetch_sub(1, Ordering::SeqCst);
            return;
        }
    };
    let mut answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Docker-Distribution-Api-Version: registry/2.0\r\nConnection: close\r\n\r\n"
    )
    .into_bytes();
    if method != "HEAD" {
        answer.extend_from_slice(&body);
    }
    let _ = stream.write_all(&answer).await;
    if hangs && method != "HEAD" {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
}
