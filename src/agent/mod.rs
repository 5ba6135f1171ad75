//! The agent: drives one host's engine to the runs that the controller declared for it.

pub mod checkpoint;
pub mod config;
pub mod container;
pub mod directory;
pub mod disk;
pub mod durable;
pub mod fault;
pub mod instance;
pub mod intent;
pub mod lifecycle;
pub mod mounts;
pub mod policy;
pub mod resolve;
pub mod root;
pub mod status;
