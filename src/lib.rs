//! Kibotos gives plain Docker hosts a Kubernetes API.
//!
//! A user applies a [`Workspace`](api::Workspace), a controller places it, and an agent on each
//! host drives the Docker containers there to the declared state and reports what really is.
//!
//! | module | what is in it |
//! |---|---|
//! | [`api`] | the kinds: types, grammars, definitions; no I/O |
//! | [`cli`] | the subcommands, one file each |
//! | [`runtime`] | what every subcommand needs and knows no kind of ours: telemetry |
//!
//! Imports run one way, `api ← cli ← main`; `ARCHITECTURE.md` has the map of what is to come.

#![cfg_attr(test, allow(clippy::needless_pass_by_value, reason = "values in tests are literal"))]

pub mod agent;
pub mod api;
pub mod cli;
pub mod controller;
pub mod docker;
pub mod runtime;
pub mod schema;
