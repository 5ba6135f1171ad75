//! What a pull's error means, and what a user can do about it. Pure.
//!
//! An engine's status tells little: the same answer of a registry is 500 from one version and 404
//! from another, and what fails after the first byte has none at all. So the words decide, which
//! are those of the engine, of containerd and of the registry in a row.

use std::time::Duration;

use crate::api::Reason;
use crate::api::grammar::ImageReference;
use crate::engine::EngineError;

/// How long a registry is left alone that asked for it.
const RATE_LIMITED: Duration = Duration::from_mins(1);

/// The most of an engine's words that is passed on, in characters.
const MAX_WORDS: usize = 400;

/// Why a pull failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reason, for the condition.
    pub reason: Reason,
    /// What is wrong and what to do about it. Never has a secret.
    pub message: String,
    /// How long to wait at least before it is tried again.
    pub least_wait: Duration,
}

impl Fault {
    /// Whether another login may be shown something else.
    pub fn another_login_may_help(&self) -> bool {
        matches!(self.reason, Reason::Unauthorized | Reason::ImageNotFound)
    }

    fn new(reason: Reason, message: String) -> Self {
        Self { reason, message, least_wait: Duration::ZERO }
    }
}

/// What the error of a pull means. `with_login`: a login was shown.
pub fn explain(image: &ImageReference, error: &EngineError, with_login: bool) -> Fault {
    match error {
        EngineError::Refused { status, message, .. } => {
            refused(image, *status, message, with_login)
        }
        // Of an answer that breaks off nothing is known but that.
        EngineError::Unreachable { .. } | EngineError::Deadline { .. } => {
            Fault::new(Reason::EngineUnreachable, error.to_string())
        }
        EngineError::Unreadable { .. } | EngineError::TooOld { .. } => {
            Fault::new(Reason::ImagePullBackOff, format!("{}: {error}", image.canonical()))
        }
    }
}

/// Nothing was heard for too long.
pub fn stalled(image: &ImageReference, silent: Duration, unpacking: bool) -> Fault {
    let (name, seconds) = (image.canonical(), silent.as_secs());
    if unpacking {
        let message = format!(
            "{name}: the engine has not unpacked it within {seconds} s: see its log and the disk \
             it writes to"
        );
        return Fault::new(Reason::ImagePullBackOff, message);
    }
    let registry = image.registry();
    let message = format!(
        "{name}: nothing came from registry {registry} for {seconds} s: see whether the host \
         reaches it"
    );
    Fault::new(Reason::RegistryUnreachable, message)
}

/// The image came, for another platform than the one asked for.
pub fn other_platform(image: &ImageReference, asked: &str, is: &str) -> Fault {
    let message = format!(
        "{} is for {is}, not for {asked}: choose an image that has that platform, or change \
         spec.platform",
        image.canonical()
    );
    Fault::new(Reason::PlatformMismatch, message)
}

/// The pull succeeded and the image is not there.
pub fn vanished(image: &ImageReference) -> Fault {
    let message = format!("{} was pulled and removed again at once", image.canonical());
    Fault::new(Reason::ImagePullBackOff, message)
}

/// The pull's task ended without a word.
pub fn cut_off(image: &ImageReference) -> Fault {
    Fault::new(Reason::ImagePullBackOff, format!("{}: the pull was cut off", image.canonical()))
}

fn refused(image: &ImageReference, status: u16, words: &str, with_login: bool) -> Fault {
    let reason = reason(status, words);
    let (name, registry) = (image.canonical(), image.registry());
    let said = shown(words);
    let message = match reason {
        Reason::NoSpace => {
            format!("{name}: the disk of the host's engine is full: free some space ({said})")
        }
        Reason::PlatformMismatch => format!(
            "{name} has no variant for the host's platform: choose an image that has it, or set \
             spec.platform ({said})"
        ),
        Reason::Unauthorized if with_login => format!(
            "{name}: registry {registry} refuses the login of imagePullSecrets, or has no such \
             repository: see that both are right ({said})"
        ),
        Reason::Unauthorized => format!(
            "{name}: registry {registry} wants a login, or has no such repository: see that the \
             name is right, and name a Secret for {registry} in imagePullSecrets ({said})"
        ),
        Reason::ImageNotFound => format!(
            "{name}: registry {registry} has no such image or tag: see that the name is right, \
             and that it was pushed ({said})"
        ),
        Reason::RegistryUnreachable => {
            format!("{name}: registry {registry} cannot be used: {} ({said})", hint(words))
        }
        Reason::InvalidSpec => format!("{name} is no image that the engine takes ({said})"),
        _ if is_rate_limit(status, &words.to_lowercase()) => {
            let message = format!(
                "{name}: registry {registry} limits how often this host may pull: it is tried \
                 again later; a login in imagePullSecrets may have a higher limit ({said})"
            );
            return Fault { reason, message, least_wait: RATE_LIMITED };
        }
        _ => format!("{name} cannot be pulled: {said}"),
    };
    Fault::new(reason, message)
}

/// In this order: the words of one often contain those of a later one.
fn reason(status: u16, words: &str) -> Reason {
    let words = words.to_lowercase();
    let has = |any: &[&str]| any.iter().any(|each| words.contains(each));
    if is_rate_limit(status, &words) {
        Reason::ImagePullBackOff
    } else if has(&["no space left on device", "disk quota exceeded"]) {
        Reason::NoSpace
    } else if has(PLATFORM) {
        Reason::PlatformMismatch
    } else if has(NETWORK) {
        Reason::RegistryUnreachable
    } else if has(DENIED) || words.trim() == "denied" || matches!(status, 401 | 403) {
        Reason::Unauthorized
    } else if has(ABSENT) {
        Reason::ImageNotFound
    } else if has(FAILING) {
        Reason::RegistryUnreachable
    } else if has(&["invalid reference format"]) {
        Reason::InvalidSpec
    } else if status == 404 {
        Reason::ImageNotFound
    } else {
        Reason::ImagePullBackOff
    }
}

fn is_rate_limit(status: u16, words: &str) -> bool {
    let words = ["toomanyrequests", "too many requests", "rate limit"].map(|w| words.contains(w));
    status == 429 || words.contains(&true)
}

const PLATFORM: &[&str] = &[
    "no matching manifest for",
    "no match for platform in manifest",
    "does not match the specified platform",
    "does not provide the specified platform",
    "cannot be used on this platform",
    "image operating system",
];

const NETWORK: &[&str] = &[
    "no such host",
    "server misbehaving",
    "name resolution",
    "connection refused",
    "connection reset",
    "connection timed out",
    "network is unreachable",
    "no route to host",
    "i/o timeout",
    "tls handshake timeout",
    "context deadline exceeded",
    "client.timeout exceeded",
    "request canceled while waiting for connection",
    "server gave http response to https client",
    "x509:",
    "tls: ",
    "proxyconnect",
];

const DENIED: &[&str] = &[
    "unauthorized",
    "authentication required",
    "no basic auth credentials",
    "incorrect username or password",
    "access denied",
    "access forbidden",
    "access to the resource is denied",
    "insufficient_scope",
    "authorization failed",
    "denied:",
    ": denied",
    "403 forbidden",
];

const ABSENT: &[&str] = &[
    "manifest unknown",
    "manifest_unknown",
    "name unknown",
    "name_unknown",
    "repository name not known to registry",
    "not found",
    "no such image",
    "does not exist",
];

/// The registry answers, and is not well.
const FAILING: &[&str] = &[
    "service unavailable",
    "bad gateway",
    "gateway timeout",
    "gateway time-out",
    "internal server error",
    "received unexpected http status: 5",
    "unexpected eof",
    ": eof",
    "dial tcp",
];

fn hint(words: &str) -> &'static str {
    let words = words.to_lowercase();
    if words.contains("x509:") || words.contains("tls: ") {
        "the host's engine does not trust its certificate: put the CA into \
         /etc/docker/certs.d/REGISTRY/ca.crt on the host"
    } else if words.contains("http response to https client") {
        "it speaks HTTP without TLS: give it TLS, or allow it in insecure-registries of the \
         host's daemon.json"
    } else if words.contains("no such host") || words.contains("name resolution") {
        "the host does not find its address: see that the name is right, and the host's DNS"
    } else if FAILING[..6].iter().any(|each| words.contains(each)) {
        "it answers with an error of its own"
    } else {
        "see whether the host reaches it"
    }
}

/// An engine's words without a login that a URL may have, and not without end.
fn shown(words: &str) -> String {
    let words: Vec<_> = words.split_whitespace().map(without_login).collect();
    let words = words.join(" ");
    match words.char_indices().nth(MAX_WORDS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

fn without_login(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '"']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (path, query) = path.split_once('?').map_or((path, false), |(path, _)| (path, true));
    // A signed URL is as good as a login.
    format!("{scheme}://{host}{path}{}", if query { "?…" } else { "" })
}

#[cfg(test)]
mod tests;
