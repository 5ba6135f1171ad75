//! Logs: to standard error, as text for people or JSON for machines.

use std::io::{IsTerminal, stderr};

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// How to log.
#[derive(Debug, Args)]
pub struct Options {
    /// The form of log lines.
    #[arg(long, global = true, value_enum, default_value_t, env = "KIBOTOS_LOG_FORMAT")]
    pub log_format: Format,
    /// What to log: a level, or directives such as `info,kibotos=debug`.
    #[arg(long, global = true, default_value = "info", env = "KIBOTOS_LOG_LEVEL", value_parser = filter)]
    pub log_level: EnvFilter,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For machines: one JSON object a line.
    Json,
}

/// Sends the logs of this process to standard error. A second call changes nothing.
pub fn init(options: &Options) {
    let Options { log_format, log_level } = options;
    let builder = tracing_subscriber::fmt()
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        .with_env_filter(log_level.clone());
    // Refused only where a subscriber is in place, as in tests that share a process.
    let _ = match log_format {
        Format::Text => builder.with_target(false).try_init(),
        Format::Json => builder.json().try_init(),
    };
}

fn filter(text: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder()
        .parse(text)
        .map_err(|e| format!("{e}; give a level (error, warn, info, debug, trace) or directives"))
}
