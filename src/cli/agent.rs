//! `kibotos agent`: drives this host's engine to the runs that are declared for it.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use tracing::warn;

use crate::agent::config::AgentConfig;
use crate::agent::root::{Root, RootError};
use crate::agent::run::{self, RunError};
use crate::api::grammar::HostName;
use crate::engine::EngineUrl;
use crate::runtime::shutdown;
use crate::trust::{self, Access, Credential};

/// How long a start waits for the first token before it goes on without.
const FIRST_TOKEN: Duration = Duration::from_secs(5);

/// Drive this host's engine to the runs that are declared for it.
///
/// Ends with 0 when asked to (SIGTERM); with 78 where its configuration or credential is wrong, and
/// with 75 where another agent has its root: starting it again helps neither.
#[derive(Debug, Args)]
pub struct Options {
    /// The credential that `kibotos host join` made for this host.
    #[arg(
        long,
        value_name = "FILE",
        env = "KIBOTOS_CREDENTIALS",
        required_unless_present = "kubeconfig"
    )]
    credentials: Option<PathBuf>,
    /// A kubeconfig in place of a credential; takes --host too.
    #[arg(
        long,
        value_name = "FILE",
        env = "KIBOTOS_KUBECONFIG",
        conflicts_with = "credentials",
        requires = "host"
    )]
    kubeconfig: Option<PathBuf>,
    /// Name of the Host, with --kubeconfig.
    #[arg(long, value_name = "NAME", env = "KIBOTOS_HOST", conflicts_with = "credentials")]
    host: Option<HostName>,
    /// The engine's socket.
    #[arg(
        long,
        value_name = "URL",
        env = "KIBOTOS_DOCKER",
        default_value = "unix:///var/run/docker.sock"
    )]
    docker: EngineUrl,
    /// The agent's own directory, which also holds the Workspaces' directories.
    #[arg(long, value_name = "DIR", env = "KIBOTOS_ROOT", default_value = "/var/lib/kibotos")]
    root: PathBuf,
    /// What Workspaces may have of this host (agent.yaml). Without: nothing beyond what every
    /// container has.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_CONFIG")]
    config: Option<PathBuf>,
    /// Where to serve /livez, /readyz and /metrics.
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "KIBOTOS_ADMIN_LISTEN",
        default_value = "127.0.0.1:9641"
    )]
    admin_listen: SocketAddr,
}

/// Why an agent did not start, as an exit code of `sysexits.h`.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// 78: its configuration or credential is wrong.
    #[error("{0}")]
    Config(String),
    /// 75: another process has what it needs.
    #[error("{0}")]
    Busy(String),
}

/// The exit code of an error: `sysexits.h` where that tells a supervisor more.
pub fn exit_code(error: &(dyn Error + 'static)) -> ExitCode {
    match error.downcast_ref::<Unfit>() {
        Some(Unfit::Config(_)) => ExitCode::from(78),
        Some(Unfit::Busy(_)) => ExitCode::from(75),
        None => ExitCode::FAILURE,
    }
}

/// Runs the agent until it is asked to end.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(start(options));
    // A call that hangs in the kernel must not hold the end up.
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended
}

async fn start(options: &Options) -> Result<(), Box<dyn Error>> {
    let stop = shutdown::on_signal()?;
    let config = match &options.config {
        Some(file) => config(file)?,
        None => AgentConfig::default(),
    };
    let root = Root::open(&options.root).map_err(|error| match error {
        RootError::Held { .. } => Unfit::Busy(error.to_string()),
        other => Unfit::Config(other.to_string()),
    })?;
    let access = access(options, &root)?;
    if let Err(error) = access.ready(FIRST_TOKEN).await {
        warn!(%error, "going on without the API until it answers");
    }
    let started = run::Options {
        host: access.host.clone(),
        namespace: access.namespace.clone(),
        socket: options.docker.socket().to_owned(),
        config,
        admin_listen: options.admin_listen,
    };
    match run::run(started, root, access.client.clone(), stop).await {
        Err(RunError::Unfit(why)) => Err(Unfit::Config(why).into()),
        Err(RunError::Failed(why)) => Err(why.into()),
        Ok(()) => Ok(()),
    }
}

fn config(file: &Path) -> Result<AgentConfig, Unfit> {
    let told = |error: &dyn std::fmt::Display| {
        Unfit::Config(format!("--config {}: {error}", file.display()))
    };
    let text = std::fs::read_to_string(file).map_err(|error| told(&error))?;
    AgentConfig::parse(&text).map_err(|error| told(&error))
}

fn access(options: &Options, root: &Root) -> Result<Access, Unfit> {
    let wrong = |error: &dyn std::fmt::Display| Unfit::Config(error.to_string());
    match (&options.credentials, &options.kubeconfig, &options.host) {
        (Some(file), _, _) => {
            let credential = Credential::read(file).map_err(|error| wrong(&error))?;
            trust::connect(&credential, root.path()).map_err(|error| wrong(&error))
        }
        (None, Some(file), Some(host)) => {
            trust::connect_with_kubeconfig(file, None, host).map_err(|error| wrong(&error))
        }
        _ => Err(Unfit::Config(
            "give --credentials FILE, or --kubeconfig FILE and --host NAME".into(),
        )),
    }
}
