use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::invalid::{Invalid, quoted};
use super::protocol::Protocol;
use super::schema::{Rule, matches};
use super::text::text_schema;

/// A container's port as Docker's key for it: `80/tcp`.
///
/// Parses `80` (TCP), `80/tcp` and `80/TCP`; the number is from 1 to 65535 without leading zeros.
/// It always shows as the canonical key with a lower-case protocol: `ExposedPorts` and
/// `PortBindings` must agree letter for letter, or an engine publishes nothing and says nothing.
/// Ordered by number, then protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    number: u16,
    protocol: Protocol,
}

impl Port {
    /// The longest text, in characters.
    pub const MAX_CHARS: usize = 10;

    /// The port `number` of `protocol`; 0 is refused.
    pub fn new(number: u16, protocol: Protocol) -> Result<Self, Invalid> {
        if number == 0 {
            return Err(Invalid::new("port 0 does not exist: write a number from 1 to 65535"));
        }
        Ok(Self { number, protocol })
    }

    /// The number, from 1 to 65535.
    pub fn number(self) -> u16 {
        self.number
    }

    /// The protocol.
    pub fn protocol(self) -> Protocol {
        self.protocol
    }

    fn rules() -> Vec<Rule> {
        vec![(
            matches(
                "^(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]\
                 |6553[0-5])(?:/(?:[tT][cC][pP]|[uU][dD][pP]|[sS][cC][tT][pP]))?$",
            ),
            "must be a port from 1 to 65535, alone or with a protocol: 80, 80/tcp, 53/udp",
        )]
    }
}

impl FromStr for Port {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (number, protocol) = match text.split_once('/') {
            None => (text, Protocol::default()),
            Some((number, protocol)) => (
                number,
                Protocol::ALL
                    .into_iter()
                    .find(|known| protocol.eq_ignore_ascii_case(known.docker()))
                    .ok_or_else(|| {
                        Invalid::new(format!(
                            "{} has an unknown protocol: write tcp, udp or sctp after the '/'",
                            quoted(text),
                        ))
                    })?,
            ),
        };
        // `u16::from_str` takes a sign and leading zeros, an engine's key has neither.
        let number = Some(number)
            .filter(|number| number.starts_with(|c: char| matches!(c, '1'..='9')))
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| {
                Invalid::new(format!(
                    "{} has no port from 1 to 65535: write 80, 80/tcp or 53/udp",
                    quoted(text),
                ))
            })?;
        Ok(Self { number, protocol })
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.protocol.docker())
    }
}

impl Serialize for Port {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

text_schema!(Port);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<Port>(&["80/tcp", "1/udp", "65535/sctp"]);
        for text in ["80", "80/TCP", "80/tCp"] {
            assert_eq!(text.parse::<Port>().unwrap().to_string(), "80/tcp");
        }
    }

    #[test]
    fn refused() {
        refuses::<Port>(&[
            ("", "no port from 1 to 65535"),
            ("0", "no port from 1 to 65535"),
            ("080", "no port from 1 to 65535"),
            ("+80", "no port from 1 to 65535"),
            ("65536/tcp", "no port from 1 to 65535"),
            ("80-82/tcp", "no port from 1 to 65535"),
            ("/tcp", "no port from 1 to 65535"),
            ("80/", "unknown protocol"),
            ("80/icmp", "unknown protocol"),
            ("80/tcp/udp", "unknown protocol"),
            ("80/ſctp", "unknown protocol"),
        ]);
        assert!(Port::new(0, Protocol::Tcp).is_err());
    }

    #[test]
    fn ordered_by_number_then_protocol() {
        let mut ports: Vec<Port> =
            ["443", "80/udp", "80/sctp", "80"].iter().map(|text| text.parse().unwrap()).collect();
        ports.sort();
        let shown: Vec<String> = ports.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["80/tcp", "80/udp", "80/sctp", "443/tcp"]);
    }

    proptest! {
        #[test]
        fn round_trip(number in 1u16.., protocol in prop::sample::select(&Protocol::ALL)) {
            let port = Port::new(number, protocol).unwrap();
            prop_assert_eq!(port.to_string().parse(), Ok(port));
        }
    }
}
