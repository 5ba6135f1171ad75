use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use super::invalid::{Invalid, quoted};
use super::schema::Rule;
use super::text::text_type;

/// The host's address that a port is published on: an IPv4 or IPv6 address, or empty for every
/// address of the host.
///
/// No zone, no brackets, no leading zeros, no IPv4-mapped IPv6 address. Parsed here since some
/// engines take an address they cannot read for 0.0.0.0 and so publish to the world.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostIp {
    text: String,
    addr: Option<IpAddr>,
}

text_type!(HostIp);

impl HostIp {
    /// The longest address, in characters.
    pub const MAX_CHARS: usize = 45;

    /// The address; none when the text is empty, that is every address.
    pub fn addr(&self) -> Option<IpAddr> {
        self.addr
    }

    fn rules() -> Vec<Rule> {
        vec![(
            "self == '' || isIP(self)".to_owned(),
            "must be an IP address of the host such as 127.0.0.1 or ::1, \
             or empty for all its addresses",
        )]
    }
}

impl FromStr for HostIp {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let addr = text.parse::<IpAddr>().map_err(|_| explain(text))?;
        if let IpAddr::V6(v6) = addr
            && let Some(v4) = v6.to_ipv4_mapped()
        {
            return Err(Invalid::new(format!(
                "{} is an IPv4-mapped IPv6 address: write {v4}",
                quoted(text),
            )));
        }
        Ok(Self { text: text.to_owned(), addr: Some(addr) })
    }
}

/// What is wrong with a text that is no address.
fn explain(text: &str) -> Invalid {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let octets: Vec<&str> = text.split('.').collect();
    let numbers = || octets.iter().map(|octet| octet.parse::<u8>().ok());
    let problem = if bare != text && bare.parse::<IpAddr>().is_ok() {
        format!("has brackets: write {bare}")
    } else if text.contains('%') {
        "has a zone: write the address without '%' and what follows".to_owned()
    } else if let Some((addr, _)) = text.split_once('/')
        && addr.parse::<IpAddr>().is_ok()
    {
        format!("is a range: write one address, such as {addr}")
    } else if text.parse::<std::net::SocketAddr>().is_ok() {
        "has a port: write only the address, the port is hostPort".to_owned()
    } else if let [Some(a), Some(b), Some(c), Some(d)] = numbers().collect::<Vec<_>>()[..]
        && !text.contains('+')
    {
        // Some programs read 010 as 8, so it is nobody's address for sure.
        format!("has leading zeros: write {}", Ipv4Addr::new(a, b, c, d))
    } else if text == "localhost" {
        "is a name: write 127.0.0.1 or ::1".to_owned()
    } else {
        "is not an IP address: write one such as 127.0.0.1 or ::1, or nothing for all addresses"
            .to_owned()
    };
    Invalid::new(format!("{} {problem}", quoted(text)))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn accepted() {
        accepts::<HostIp>(&[
            "",
            "127.0.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "2001:DB8::1",
            "::1.2.3.4",
            "1:2:3:4:5:6:7::",
            "1:2:3:4:5:6:1.2.3.4",
        ]);
        assert_eq!("".parse::<HostIp>().unwrap().addr(), None);
    }

    #[test]
    fn refused() {
        refuses::<HostIp>(&[
            ("localhost", "write 127.0.0.1"),
            ("[::1]", "write ::1"),
            ("fe80::1%eth0", "has a zone"),
            ("::ffff:1.2.3.4", "write 1.2.3.4"),
            ("::ffff:102:304", "write 1.2.3.4"),
            ("127.0.0.01", "write 127.0.0.1"),
            ("010.0.0.1", "write 10.0.0.1"),
            ("10.0.0.0/8", "write one address, such as 10.0.0.0"),
            ("127.0.0.1:80", "has a port"),
            ("[::1]:80", "has a port"),
            ("256.0.0.1", "is not an IP address"),
            ("1.2.3", "is not an IP address"),
            ("+1.2.3.4", "is not an IP address"),
            (" 127.0.0.1", "is not an IP address"),
            ("*", "is not an IP address"),
            (&"1".repeat(500), "is not an IP address"),
        ]);
    }

    proptest! {
        #[test]
        fn every_address_round_trips(bits: u128) {
            let v4 = IpAddr::V4(Ipv4Addr::from_bits((bits >> 96) as u32));
            prop_assert_eq!(v4.to_string().parse::<HostIp>().unwrap().addr(), Some(v4));
            let v6 = Ipv6Addr::from_bits(bits);
            if v6.to_ipv4_mapped().is_none() {
                let parsed = v6.to_string().parse::<HostIp>().unwrap();
                prop_assert_eq!(parsed.addr(), Some(IpAddr::V6(v6)));
            }
        }
    }
}
