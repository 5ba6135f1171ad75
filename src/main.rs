//! The `kibotos` program: parse, telemetry, dispatch.

use std::process::ExitCode;

use clap::Parser;
use kibotos::cli::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    kibotos::runtime::telemetry::init(&cli.telemetry);
    kibotos::cli::run(cli.command)
}
