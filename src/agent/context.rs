//! What all parts of the agent share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::config::AgentConfig;
use super::images::pull::Pulls;
use super::link::Link;
use super::memoir::Memoir;
use super::metrics::Metrics;
use super::policy::HostPath;
use super::registration::Orders;
use super::root::Root;

/// The host as its agent knows it.
pub struct Context {
    /// Name of the Host.
    pub host: String,
    /// The namespace that is the host's own.
    pub namespace: String,
    /// The agent's directory.
    pub root: Root,
    /// What the admin of the host says.
    pub config: AgentConfig,
    /// The engine's socket.
    pub socket: PathBuf,
    /// The same as the host policy compares it.
    pub sockets: Vec<HostPath>,
    /// Whether the engine is there.
    pub link: watch::Receiver<Link>,
    /// Who the host is, and what an admin says of it.
    pub standing: watch::Receiver<Standing>,
    /// Brings images.
    pub pulls: Pulls,
    /// What outlives the process.
    pub memoir: Memoir,
    /// What is counted.
    pub metrics: Metrics,
    /// When the agent started: the zero of the monotonic clock.
    pub started: Instant,
}

/// Who the host is at present.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// What an admin says of it.
    pub orders: Orders,
    /// Uids of the Host: the present one, and those that this agent had before.
    pub uids: Vec<String>,
    /// Whether the Host is known to be gone, or the credential revoked: nothing new is started.
    pub outcast: bool,
    /// Whether leased runs may not run, for the Lease is stale.
    pub fenced: bool,
}

impl Context {
    /// The monotonic clock.
    pub fn tick(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Shared by all tasks.
pub type Shared = Arc<Context>;
