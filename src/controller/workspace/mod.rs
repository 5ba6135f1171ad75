//! Workspace: from what a user declares to the run that a host gets.

mod canonical;
pub mod check;
pub mod hash;
pub mod merge;
pub mod resolve;
