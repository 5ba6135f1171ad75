use std::borrow::Cow;
use std::str::FromStr;

use super::invalid::{Invalid, check_length, quoted};
use super::schema::Rule;
use super::text::text_type;

/// The signals that Docker knows by name on Linux, without `SIG` and but for the real-time ones.
const NAMES: [&str; 34] = [
    "ABRT", "ALRM", "BUS", "CHLD", "CLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "IOT", "KILL",
    "PIPE", "POLL", "PROF", "PWR", "QUIT", "SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP",
    "TTIN", "TTOU", "URG", "USR1", "USR2", "VTALRM", "WINCH", "XCPU", "XFSZ",
];

/// A Linux signal as Docker takes it: a name with or without `SIG`, in either case (`SIGTERM`,
/// `term`), a real-time one (`SIGRTMIN`, `RTMIN+1` to `RTMIN+15`, `RTMAX-14` to `RTMAX-1`,
/// `RTMAX`), or a number from 1 to 64 without sign or leading zero.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal {
    text: String,
}

text_type!(Signal);

impl Signal {
    /// The longest text, in characters.
    pub const MAX_CHARS: usize = 16;

    /// The signal in upper case with `SIG` before it; a number stays a number.
    ///
    /// Two of them can differ and be one signal: `9` and `SIGKILL`, `SIGIOT` and `SIGABRT`.
    pub fn canonical(&self) -> Cow<'_, str> {
        if self.text.starts_with(|c: char| c.is_ascii_digit()) {
            return Cow::Borrowed(&self.text);
        }
        let upper = self.text.to_ascii_uppercase();
        Cow::Owned(if upper.starts_with("SIG") { upper } else { format!("SIG{upper}") })
    }

    fn rules() -> Vec<Rule> {
        // `upperAscii` and not `(?i)`, for which 'ſ' is an 's'.
        let regex = format!(
            "^(?:[1-9]|[1-5][0-9]|6[0-4]|(?:SIG)?(?:{}|RTMIN(?:[+](?:[1-9]|1[0-5]))?\
             |RTMAX(?:-(?:[1-9]|1[0-4]))?))$",
            NAMES.join("|"),
        );
        vec![(
            format!("self.upperAscii().matches(r'{regex}')"),
            "must be a Linux signal such as SIGTERM, HUP, SIGRTMIN+3 or 15",
        )]
    }
}

impl FromStr for Signal {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_length("a signal", text, Self::MAX_CHARS)?;
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            if number(text).is_none_or(|n| n > 64) {
                return Err(Invalid::new(format!(
                    "{} is not a signal number: write one from 1 to 64, such as 15",
                    quoted(text),
                )));
            }
        } else if !is_name(&text.to_ascii_uppercase()) {
            return Err(Invalid::new(format!(
                "{} is not a Linux signal: write one such as SIGTERM, HUP, SIGRTMIN+3 or 15",
                quoted(text),
            )));
        }
        Ok(Self { text: text.to_owned() })
    }
}

fn is_name(upper: &str) -> bool {
    let name = upper.strip_prefix("SIG").unwrap_or(upper);
    let offset = |text: &str, max| number(text).is_some_and(|n| n <= max);
    match (name.strip_prefix("RTMIN"), name.strip_prefix("RTMAX")) {
        (Some(""), _) | (_, Some("")) => true,
        (Some(rest), _) => rest.strip_prefix('+').is_some_and(|n| offset(n, 15)),
        (_, Some(rest)) => rest.strip_prefix('-').is_some_and(|n| offset(n, 14)),
        (None, None) => NAMES.contains(&name),
    }
}

/// A number above 0 of one or two digits, without sign or leading zero.
fn number(text: &str) -> Option<u8> {
    let plain = text.starts_with(|c: char| matches!(c, '1'..='9')) && text.len() <= 2;
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<Signal>(&[
            "SIGTERM",
            "TERM",
            "term",
            "sigHup",
            "1",
            "9",
            "64",
            "SIGRTMIN",
            "RTMIN+15",
            "SIGRTMIN+3",
            "RTMAX-1",
            "sigrtmax-14",
            "RTMAX",
            "IOT",
        ]);
    }

    #[test]
    fn refused() {
        refuses::<Signal>(&[
            ("", "is not a Linux signal"),
            ("0", "from 1 to 64"),
            ("65", "from 1 to 64"),
            ("09", "from 1 to 64"),
            ("1x", "from 1 to 64"),
            ("-1", "is not a Linux signal"),
            ("+9", "is not a Linux signal"),
            ("SIG", "is not a Linux signal"),
            ("SIGSIGTERM", "is not a Linux signal"),
            ("SIG9", "is not a Linux signal"),
            ("SIGFOO", "is not a Linux signal"),
            ("ſigterm", "is not a Linux signal"),
            ("RTMIN+16", "is not a Linux signal"),
            ("RTMIN+0", "is not a Linux signal"),
            ("RTMIN-1", "is not a Linux signal"),
            ("RTMAX-15", "is not a Linux signal"),
            ("RTMAX+1", "is not a Linux signal"),
            ("RTMIN+03", "is not a Linux signal"),
            ("SIGTERM ", "is not a Linux signal"),
            ("SIGTERMSIGTERMSIG", "at most 16"),
        ]);
    }

    #[test]
    fn canonical_form() {
        let canonical = |text: &str| text.parse::<Signal>().unwrap().canonical().into_owned();
        assert_eq!(canonical("term"), "SIGTERM");
        assert_eq!(canonical("sigRtMin+3"), "SIGRTMIN+3");
        assert_eq!(canonical("RTMAX-1"), "SIGRTMAX-1");
        assert_eq!(canonical("15"), "15");
    }
}
