//! `kibotos host`: what an admin does about hosts.

mod join;

use std::error::Error;

use clap::{Args, Subcommand};

/// What `kibotos host` takes.
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make what a host needs in the cluster, and print the credential for its agent.
    Join(join::Options),
}

/// Runs one of them.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    match &options.command {
        Command::Join(options) => join::run(options),
    }
}
