//! Ports of the host that may be published.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::entry::entry;
use crate::api::grammar::{HostIp, Invalid, Protocol};

/// Ports, perhaps of one protocol or on one address only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPorts {
    address: Option<IpAddr>,
    ports: Ports,
    protocol: Option<Protocol>,
}

/// Which ports of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// These.
    Range(RangeInclusive<u16>),
    /// One that the engine picks.
    Dynamic,
}

entry!(HostPorts);

impl HostPorts {
    /// Whether it allows to publish on `ports` of `address`, which is none for every address.
    pub fn covers(&self, ports: &Ports, protocol: Protocol, address: Option<IpAddr>) -> bool {
        let number = match (&self.ports, ports) {
            (Ports::Dynamic, Ports::Dynamic) => true,
            (Ports::Range(allowed), Ports::Range(asked)) => {
                allowed.contains(asked.start()) && allowed.contains(asked.end())
            }
            _ => false,
        };
        number
            && self.protocol.is_none_or(|allowed| allowed == protocol)
            && self.address.is_none_or(|allowed| Some(allowed) == address)
    }

    /// Whether it allows the engine to publish whatever an image exposes.
    pub fn covers_all_exposed(&self) -> bool {
        self.ports == Ports::Dynamic && self.protocol.is_none() && self.address.is_none()
    }
}

impl Ports {
    /// From a create body's `HostPort`: empty and 0 are a port that the engine picks.
    pub fn asked(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Dynamic);
        }
        let range = range(text)?;
        if *range.end() == 0 {
            return Some(Self::Dynamic);
        }
        (*range.start() > 0).then_some(Self::Range(range))
    }
}

/// `N` or `N-M`.
fn range(text: &str) -> Option<RangeInclusive<u16>> {
    let number = |text: &str| {
        text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u16>().ok()).flatten()
    };
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    let (start, end) = (number(start)?, number(end)?);
    (start <= end).then_some(start..=end)
}

/// A protocol in either case.
pub fn protocol(text: &str) -> Option<Protocol> {
    Protocol::ALL.into_iter().find(|known| known.docker().eq_ignore_ascii_case(text))
}

impl FromStr for HostPorts {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong = |problem: &str| Invalid::new(format!("{text:?} {problem}"));
        let (rest, protocol) = match text.split_once('/') {
            None => (text, None),
            Some((rest, name)) => {
                let known = protocol(name);
                let known =
                    known.ok_or_else(|| wrong("has after '/' none of tcp, udp and sctp"))?;
                (rest, Some(known))
            }
        };
        let (address, ports) = match rest.rsplit_once(':') {
            None => (None, rest),
            Some((address, ports)) => {
                let bare = address.strip_prefix('[').and_then(|a| a.strip_suffix(']'));
                let ip: HostIp = bare.unwrap_or(address).parse()?;
                if ip.addr().is_some_and(|ip| ip.is_ipv6()) != bare.is_some() {
                    return Err(wrong("must have an IPv6 address in brackets, e.g. [::1]:8080"));
                }
                let known = ip.addr().ok_or_else(|| wrong("has no address before ':'"))?;
                (Some(known), ports)
            }
        };
        let ports = match ports {
            "dynamic" => Ports::Dynamic,
            "0" => return Err(wrong("must be dynamic for a port that the engine picks")),
            _ => range(ports).filter(|range| *range.start() > 0).map(Ports::Range).ok_or_else(
                || {
                    wrong(
                        "must be [ADDRESS:]PORT, FROM-TO or dynamic, then perhaps /tcp, /udp or \
                          /sctp, e.g. 8000-8999, 53/udp, 127.0.0.1:5432/tcp",
                    )
                },
            )?,
        };
        Ok(Self { address, ports, protocol })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_entry_allows() {
        for (entry, asked, protocol, address, covered) in [
            ("8000-8999", "8000", Protocol::Tcp, "", true),
            ("8000-8999", "8999", Protocol::Udp, "127.0.0.1", true),
            ("8000-8999", "9000", Protocol::Tcp, "", false),
            ("8000-8999", "8990-9000", Protocol::Tcp, "", false),
            ("8000-8999", "", Protocol::Tcp, "", false),
            ("53/udp", "53", Protocol::Udp, "", true),
            ("53/UDP", "053", Protocol::Udp, "", true),
            ("53/udp", "53", Protocol::Tcp, "", false),
            ("127.0.0.1:80", "80", Protocol::Tcp, "127.0.0.1", true),
            ("127.0.0.1:80", "80", Protocol::Tcp, "", false),
            ("127.0.0.1:80", "80", Protocol::Tcp, "0.0.0.0", false),
            ("[::1]:80", "80", Protocol::Tcp, "0:0::1", true),
            ("dynamic", "", Protocol::Tcp, "", true),
            ("dynamic", "00", Protocol::Tcp, "", true),
            ("dynamic", "80", Protocol::Tcp, "", false),
            ("1-65535", "0", Protocol::Tcp, "", false),
            ("127.0.0.1:dynamic/tcp", "0", Protocol::Tcp, "127.0.0.1", true),
        ] {
            let address = address.parse::<HostIp>().unwrap().addr();
            let allowed: HostPorts = entry.parse().unwrap();
            let asked = Ports::asked(asked).unwrap();
            assert_eq!(allowed.covers(&asked, protocol, address), covered, "{entry} {asked:?}");
        }
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        for text in [
            "",
            "0",
            "0-5",
            "80-",
            "9-8",
            "65536",
            "+80",
            "80/icmp",
            "::1:80",
            "[1.2.3.4]:80",
            ":80",
            "x:80",
            "80/",
            "*",
            "127.0.0.1",
        ] {
            assert!(text.parse::<HostPorts>().is_err(), "{text:?}");
        }
        for text in ["0-80", "80-70", "x", "-", "80,81", " 80", "70000", "+80"] {
            assert_eq!(Ports::asked(text), None, "{text:?}");
        }
    }
}
