//! Cuts a stream of bytes into the lines of it.

/// No message of an engine is longer; what is, is none.
const MAX_LINE: usize = 4 << 20;

/// Takes bytes as they come and gives whole lines.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Up to here there is no end of a line.
    searched: usize,
}

/// A line does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl Lines {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.bytes.extend_from_slice(bytes);
        let unended = self.bytes.len() - self.searched > MAX_LINE
            && !self.bytes[self.searched..].contains(&b'\n');
        if unended { Err(TooLong) } else { Ok(()) }
    }

    /// The next whole line that is not blank, without its end.
    pub fn next_line(&mut self) -> Option<Vec<u8>> {
        loop {
            let Some(found) = self.bytes[self.searched..].iter().position(|b| *b == b'\n') else {
                self.searched = self.bytes.len();
                return None;
            };
            let rest = self.bytes.split_off(self.searched + found + 1);
            let mut line = std::mem::replace(&mut self.bytes, rest);
            self.searched = 0;
            line.truncate(line.trim_ascii_end().len());
            if !line.is_empty() {
                return Some(line);
            }
        }
    }

    /// What is left when no more bytes come: a last line without its end.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        self.searched = 0;
        let rest = std::mem::take(&mut self.bytes);
        (!rest.trim_ascii().is_empty()).then_some(rest)
    }
}
