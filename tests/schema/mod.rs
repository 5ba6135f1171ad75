//! The schemas of the kinds, judged by a real API server.
//!
//! `walk` finds every rule, enum, pattern and bound in `crds/`; `pairs` has for each a manifest that
//! is refused and one that is accepted at the bound; `judge` shows both to the API server. A
//! constraint without its pair, or a pair without its constraint, fails `every_constraint_has_a_pair`.

mod admission;
mod apply;
mod full;
mod generated;
pub mod judge;
pub mod kind;
mod largest;
mod manifest;
mod mutability;
mod offline;
mod pair;
mod pairs;
mod required;
mod walk;
