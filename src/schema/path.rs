//! The way to a value, written out only for who has to tell of it.

use std::fmt;

#[derive(Clone, Copy, Debug)]
pub enum Path<'a> {
    Top(&'a str),
    /// A field that the schema names.
    Field(&'a Self, &'a str),
    /// An entry of a map.
    Entry(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top(path) => f.write_str(path),
            Self::Field(Self::Top(""), name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Entry(parent, key) => write!(f, "{parent}[{key}]"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
