//! The controller: resolves what users declare into runs, and says in status what became of them.

pub mod workspace;
