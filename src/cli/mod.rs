//! The command line: one file a subcommand, one environment variable a flag.

mod agent;
mod crds;
mod host;
mod import;
mod manifest;
mod render;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::runtime::telemetry;

/// A Kubernetes API for plain Docker hosts.
#[derive(Debug, Parser)]
#[command(name = "kibotos", version, propagate_version = true)]
pub struct Cli {
    /// Logging.
    #[command(flatten)]
    pub telemetry: telemetry::Options,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Drive this host's engine to the runs that are declared for it.
    Agent(agent::Options),
    /// Print the CustomResourceDefinitions, for `kubectl apply --server-side -f -`.
    Crds(crds::Options),
    /// Join hosts to the cluster.
    Host(host::Options),
    /// Print Workspace manifests for containers that run in Docker already.
    Import(import::Options),
    /// Print what a host's engine would be sent for the Workspaces of a file.
    Render(render::Options),
}

/// Runs one subcommand; a failure is told with all its causes and makes the exit code 1.
pub fn run(command: Command) -> ExitCode {
    let outcome = match command {
        Command::Agent(options) => agent::run(&options),
        Command::Crds(options) => crds::run(&options),
        Command::Host(options) => host::run(&options),
        Command::Import(options) => import::run(&options),
        Command::Render(options) => render::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads no further wants no more: `kibotos crds | head`.
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            // Not a log line: it is the answer, whatever the log level. If even that cannot be
            // written, the exit code says it.
            let _ = writeln!(io::stderr(), "error: {}", chain(error.as_ref()));
            agent::exit_code(error.as_ref())
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
}

/// An error and what caused it, in one line.
fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        line.push_str(": ");
        line.push_str(&inner.to_string());
        cause = inner.source();
    }
    line
}
