//! Networks that a container joins.

use std::collections::BTreeMap;

use kube::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::form;

/// One network of the host's engine, with every member of Docker's EndpointSettings that a client
/// may set.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(
    "!(self.name in ['bridge', 'default']) || !(has(self.ipamConfig) || has(self.aliases) || has(self.links))")
    .message("the engine's default network takes no fixed addresses, aliases or links: use a network of your own"))]
pub struct NetworkAttachment {
    /// Name of the network; it must exist on the host.
    #[schemars(length(max = 255))]
    #[x_kube(validation = Rule::new(format!("{} && !(self in ['host', 'none'])", form::NETWORK.rule()))
        .message(form::NETWORK.message()))]
    pub name: String,
    /// Further names of the container in this network.
    pub aliases: Option<Vec<String>>,
    /// Fixed addresses in this network.
    pub ipam_config: Option<IpamConfig>,
    /// Containers of this network to reach by another name, `NAME[:ALIAS]`.
    pub links: Option<Vec<String>>,
    /// MAC address in this network, e.g. `02:42:ac:11:00:02`. Needs Docker 25 (API 1.44).
    #[schemars(length(max = 17))]
    #[x_kube(validation = Rule::new(form::MAC_ADDRESS.rule()).message(form::MAC_ADDRESS.message()))]
    pub mac_address: Option<String>,
    /// Options of the network's driver.
    pub driver_opts: Option<BTreeMap<String, String>>,
    /// Which network is the default route: the highest. Needs Docker 28 (API 1.48).
    pub gw_priority: Option<i32>,
}

/// Fixed addresses in a network.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct IpamConfig {
    /// IPv4 address.
    #[schemars(length(max = 15))]
    #[x_kube(validation = Rule::new("isIP(self) && ip(self).family() == 4").message("must be an IPv4 address"))]
    pub ipv4_address: Option<String>,
    /// IPv6 address.
    #[schemars(length(max = 45))]
    #[x_kube(validation = Rule::new("isIP(self) && ip(self).family() == 6").message("must be an IPv6 address"))]
    pub ipv6_address: Option<String>,
    /// Link-local addresses.
    #[serde(rename = "linkLocalIPs")]
    #[schemars(length(max = 16), inner(length(max = 45)))]
    #[x_kube(validation = Rule::new("self.all(a, isIP(a))").message("must be IP addresses"))]
    pub link_local_ips: Option<Vec<String>>,
}
