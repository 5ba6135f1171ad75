//! The tests that need more than one part of the program: one binary, one module a concern.
//!
//! All run in parallel against one real API server, each in a namespace of its own.

#![allow(missing_docs, reason = "a test's name is its documentation")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]
#![allow(
    clippy::needless_pass_by_value,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "values in tests are small and literal"
)]

mod agent;
mod agent_docs;
mod cluster_fixture;
mod engine_client;
mod engine_corpus;
mod engine_create;
mod engine_fixture;
mod errors_given;
mod examples;
mod fake;
mod fake_engine;
mod fake_fidelity;
mod fixture;
mod house;
mod images;
mod import;
mod kubectl;
mod ownership;
mod policy;
mod random;
mod render;
mod schema;
mod trials;
mod trust;
