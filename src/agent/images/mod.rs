//! Images: who may pull what, one pull at a time for each, what went wrong, and what is removed
//! when the disk fills.

pub mod auth;
pub mod backoff;
pub mod collect;
pub mod fault;
pub mod progress;
pub mod pull;
