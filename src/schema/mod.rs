//! Structural schemas, as CustomResourceDefinitions have them: what fits one and what does not.
//!
//! Knows no kind of ours and does no I/O.

mod path;
mod read;
mod validate;

pub use read::Schema;
pub use validate::validate;
