//! Why there is no working token, told apart by who has to act.

use std::error::Error;

/// Why an agent cannot work with the API. The first two may pass by themselves.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// No answer, or one that says to come again.
    #[error("the API server {server} is out of reach: {cause}")]
    Away {
        /// Its address.
        server: String,
        /// Why.
        cause: String,
    },
    /// The answer is no token.
    #[error("the API server {server} answers a request for a token with something else: {cause}")]
    Unreadable {
        /// Its address.
        server: String,
        /// Why.
        cause: String,
    },
    /// The credential opens nothing any more.
    #[error(
        "the API server refuses the credential of the host {host} ({status} {message}): it was \
         revoked, or the host is unknown there; let an admin run: kibotos host join {host} --out \
         FILE, bring FILE to this host in place of the old credential, and start the agent again"
    )]
    Refused {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
        /// What the API server said.
        message: String,
    },
    /// The credential, or what the environment says of the way to the server, cannot be used.
    #[error("no client for the API server {server}: {cause}")]
    Unusable {
        /// Its address.
        server: String,
        /// Why.
        cause: String,
    },
}

impl TrustError {
    /// What a failed request for a token means.
    pub fn of_request(host: &str, server: &str, error: &kube::Error) -> Self {
        let cause = causes(error);
        match error {
            kube::Error::Api(status) if status.code == 429 || status.code >= 500 => {
                Self::Away { server: server.to_owned(), cause }
            }
            kube::Error::Api(status) => {
                Self::Refused { host: host.to_owned(), status: status.code, message: cause }
            }
            _ => Self::Away { server: server.to_owned(), cause },
        }
    }

    /// Whether somebody has to do something.
    pub fn is_refused(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

/// What went wrong with a call, in one line and each cause once.
pub fn causes(error: &kube::Error) -> String {
    let mut next: &dyn Error = match error {
        // Its own text is the status twice, once as Rust writes it.
        kube::Error::Api(status) if status.message.is_empty() => return status.reason.clone(),
        kube::Error::Api(status) => return status.message.clone(),
        kube::Error::Service(inner) => inner.as_ref(),
        other => other,
    };
    let mut line = next.to_string();
    while let Some(cause) = next.source() {
        let text = cause.to_string();
        if !line.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        next = cause;
    }
    line
}
