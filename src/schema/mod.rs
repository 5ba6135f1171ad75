//! Structural schemas, as CustomResourceDefinitions have them: what fits one and what does not.
//!
//! Knows no kind of ours and does no I/O.

mod validate;

pub use validate::validate;
