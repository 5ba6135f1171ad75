//! What every subcommand needs and that knows no kind of ours.

pub mod telemetry;
