//! Kibotos gives plain Docker hosts a Kubernetes API.
//!
//! A user applies a [`Workspace`](api::Workspace), a controller places it, and an agent on each
//! host drives the Docker containers there to the declared state and reports what really is.
//!
//! | module | what is in it |
//! |---|---|
//! | [`api`] | the kinds: types, grammars, definitions; no I/O |
//! | [`controller`] | from what a user declares to the runs that hosts get |
//! | [`agent`] | from a run to what a host's engine is sent |
//! | [`engine`] | the client of a Docker Engine; knows no kind of ours |
//! | [`trust`] | what a join makes, and the credential that an agent works with |
//! | [`docker`] | Docker's own words; knows no kind of ours |
//! | [`import`] | from what runs in Docker already to Workspaces |
//! | [`schema`] | structural schemas: what fits one and what does not |
//! | [`yaml`] | YAML that every reader takes for the same |
//! | [`cli`] | the subcommands, one file each |
//! | [`runtime`] | what every subcommand needs and knows no kind of ours: telemetry |
//!
//! Imports run one way, `api ← controller, agent ← cli ← main`; see `ARCHITECTURE.md`.

#![cfg_attr(test, allow(clippy::needless_pass_by_value, reason = "values in tests are literal"))]

pub mod agent;
pub mod api;
pub mod cli;
pub mod controller;
pub mod docker;
pub mod engine;
pub mod import;
pub mod runtime;
pub mod schema;
pub mod trust;
pub mod yaml;
