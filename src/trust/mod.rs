//! Trust between cluster and host: what a join makes, and the credential that an agent works with.
//!
//! | file | what is in it |
//! |---|---|
//! | `objects` | what a join makes for a host: accounts, roles, bindings. Pure |
//! | `join` | makes it, by server-side apply |
//! | `credential` | the file that the host is given: a refresh token, and where to use it |
//! | `token` | the token an agent works with, and when to renew it. Pure |
//! | `renewal` | renews it, and keeps it on disk |
//! | `authorize`, `client` | clients that send the present token, and whose calls have deadlines |
//! | `kubeconfig`, `proxy` | read as kubectl reads them |
//!
//! An agent has its client from [`connect`], which needs no answer of the API: a host that starts
//! while the API is away works on. [`Access::ready`] waits for the first word.

mod authorize;
mod client;
mod clock;
mod credential;
mod error;
mod join;
mod kubeconfig;
mod objects;
mod private_file;
mod proxy;
mod renewal;
mod secret;
mod token;

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::Client;
use sha2::{Digest, Sha256};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

pub use authorize::NoToken;
pub use credential::{Credential, CredentialError, server};
pub use error::TrustError;
pub use join::{FIELD_MANAGER, JoinError, Made, Refresh, credential, join};
pub use kubeconfig::{Error as KubeconfigError, Target};
pub use objects::{AGENT, CREDENTIALS_NAMESPACE, Object, of_host, refresh_account};
pub use renewal::State;
pub use secret::Secret;

use authorize::Present;
use proxy::Proxies;
use renewal::Renewer;

use crate::api::grammar::HostName;
use crate::api::names::host_namespace;

/// The present token, below an agent's root.
const TOKEN_FILE: &str = "api-token.json";

/// What an agent has of the API.
pub struct Access {
    /// Always sends the present token; every answer begins within 30 s or is an error.
    pub client: Client,
    /// The Host.
    pub host: String,
    /// The namespace that holds all that the host may read and write.
    pub namespace: String,
    /// What keeps the token good; none with a kubeconfig. The token ends with it.
    pub renewal: Option<Renewal>,
}

/// Renews the token for as long as this value lives.
pub struct Renewal {
    server: String,
    present: Present,
    state: watch::Receiver<State>,
    _task: AbortOnDropHandle<()>,
}

/// Gives an agent its client, and keeps its token good, in `root`. Asks nothing of the API first.
///
/// Needs a Tokio runtime. `root` is a directory that is there.
pub fn connect(credential: &Credential, root: &Path) -> Result<Access, TrustError> {
    let config = client::config(credential, &Proxies::from_env())?;
    let present = Present::default();
    let client = client::with_token(config.clone(), &present)?;
    let refresh_token = Present::default();
    refresh_token.set(&credential.refresh_token);
    let (state, watched) = watch::channel(State::Starting);
    let host = credential.host.to_string();
    let renewer = Renewer {
        refresh: client::with_token(config, &refresh_token)?,
        host: host.clone(),
        namespace: credential.namespace(),
        server: credential.address(),
        present: present.clone(),
        file: token_file(root),
        issuer: issuer(credential),
        state,
    };
    let stored = renewer.take_up_stored();
    let task = AbortOnDropHandle::new(tokio::spawn(renewer.run(stored)));
    let server = credential.address();
    let renewal = Renewal { server, present, state: watched, _task: task };
    Ok(Access { client, host, namespace: credential.namespace(), renewal: Some(renewal) })
}

/// Gives an agent a client that a kubeconfig describes, in place of a credential.
pub fn connect_with_kubeconfig(
    file: &Path,
    context: Option<&str>,
    host: &HostName,
) -> Result<Access, Box<dyn std::error::Error>> {
    let target = Target::read(Some(file), context)?;
    let host = host.to_string();
    let namespace = host_namespace(&host);
    Ok(Access { client: client::with_own(target.config)?, host, namespace, renewal: None })
}

/// A client for an admin, with deadlines.
pub fn admin_client(target: &Target) -> Result<Client, TrustError> {
    client::with_own(target.config.clone())
}

impl Access {
    /// Waits until there is a token, kept or new, or until it is known why not.
    pub async fn ready(&self, within: Duration) -> Result<(), TrustError> {
        match &self.renewal {
            Some(renewal) => renewal.ready(within).await,
            None => Ok(()),
        }
    }
}

impl Renewal {
    /// How it stands, now and with each change.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    async fn ready(&self, within: Duration) -> Result<(), TrustError> {
        if self.present.is_set() {
            return Ok(());
        }
        let mut state = self.state.clone();
        let first = timeout(within, state.wait_for(|state| *state != State::Starting)).await;
        match first {
            Ok(Ok(state)) => match &*state {
                State::Failing(error) => Err(error.clone()),
                _ => Ok(()),
            },
            _ => Err(TrustError::Away {
                server: self.server.clone(),
                cause: format!("no token within {within:?}"),
            }),
        }
    }
}

/// Where an agent with this root keeps its token.
pub fn token_file(root: &Path) -> PathBuf {
    root.join(TOKEN_FILE)
}

/// Tells tokens apart by what they were minted with, so that none is sent to another server.
fn issuer(credential: &Credential) -> String {
    let (server, namespace) = (credential.address(), credential.namespace());
    let parts = [&server, &namespace, credential.refresh_token.reveal()].join("\n");
    STANDARD.encode(Sha256::digest(parts))
}
