//! One file of the checkpoint: a line that says what follows, then JSON.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

const MAGIC: &str = "kibotos-checkpoint";
const VERSION: u32 = 1;
/// The longest file: a run with its Secret and config file has at most some 4 MiB.
pub const MOST: usize = 32 * 1024 * 1024;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    /// It is not of this form at all.
    #[error("it is no file of a checkpoint")]
    Foreign,
    /// A later version of this program wrote it.
    #[error("it is of version {0}, and this agent knows up to {VERSION}: was the agent set back?")]
    Newer(u32),
    /// It is shorter or longer than it says.
    #[error("it was cut off or added to")]
    Length,
    /// The content is not what was written.
    #[error("its content is not what was written: the disk may be failing")]
    Checksum,
    /// What was written is of another shape.
    #[error("it has another shape than this agent knows (line {line}, column {column})")]
    Shape {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// It is a link, a pipe, a directory, or too long.
    #[error("it is no plain file of a sensible length")]
    NotAFile,
    /// The disk does not give it.
    #[error("it cannot be read: {0}")]
    Unreadable(io::ErrorKind),
}

/// The bytes of a file.
pub fn encode<V: Serialize>(value: &V) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(value)?;
    let mut bytes = header(VERSION, &body).into_bytes();
    bytes.extend(body);
    Ok(bytes)
}

/// The value in a file.
pub fn decode<V: DeserializeOwned>(bytes: &[u8]) -> Result<V, Bad> {
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or(Bad::Foreign)?;
    let (line, body) = bytes.split_at(end + 1);
    let line = std::str::from_utf8(line).map_err(|_| Bad::Foreign)?;
    let mut words = line.trim_end_matches('\n').split(' ');
    let (Some(MAGIC), Some(Ok(version))) = (words.next(), words.next().map(str::parse)) else {
        return Err(Bad::Foreign);
    };
    if version > VERSION {
        return Err(Bad::Newer(version));
    }
    let length = words.next().and_then(|length| length.parse::<usize>().ok());
    let length = length.ok_or(Bad::Foreign)?;
    if body.len() != length {
        return Err(Bad::Length);
    }
    if header(version, body) != line {
        return Err(Bad::Checksum);
    }
    // Not the error's own text, which may tell a value.
    serde_json::from_slice(body)
        .map_err(|error| Bad::Shape { line: error.line(), column: error.column() })
}

pub(super) fn header(version: u32, body: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut line = format!("{MAGIC} {version} {} ", body.len());
    for byte in Sha256::digest(body) {
        let _ = write!(line, "{byte:02x}");
    }
    line.push('\n');
    line
}
