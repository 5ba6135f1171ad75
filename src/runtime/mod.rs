//! What every subcommand needs and that knows no kind of ours.

pub mod admin;
pub mod lease;
pub mod shutdown;
pub mod telemetry;
