use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The transport protocol of a port, spelt as Kubernetes does: `TCP` (default), `UDP`, `SCTP`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Protocol {
    /// `TCP`, the default.
    #[default]
    Tcp,
    /// `UDP`.
    Udp,
    /// `SCTP`.
    Sctp,
}

impl Protocol {
    /// All protocols, in order.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Udp, Self::Sctp];

    /// Docker's spelling: `tcp`, `udp` or `sctp`.
    pub fn docker(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Sctp => "sctp",
        }
    }

    /// Kubernetes' spelling: `TCP`, `UDP` or `SCTP`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Sctp => "SCTP",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

// By hand: derived, a variant with a doc comment becomes a branch of `oneOf`, which a CRD refuses.
impl JsonSchema for Protocol {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Protocol".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Self::ALL.map(Self::as_str)})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_spelt_as_kubernetes_does() {
        for protocol in Protocol::ALL {
            let json = serde_json::to_value(protocol).unwrap();
            assert_eq!(json, protocol.to_string());
            assert_eq!(serde_json::from_value::<Protocol>(json).unwrap(), protocol);
            assert_eq!(protocol.docker(), protocol.as_str().to_lowercase());
        }
        assert!(serde_json::from_str::<Protocol>("\"tcp\"").is_err());
        assert_eq!(Protocol::default(), Protocol::Tcp);
    }
}
