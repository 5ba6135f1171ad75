//! The agent: drives one host's engine to the runs that the controller declared for it.

pub mod config;
pub mod container;
pub mod policy;
