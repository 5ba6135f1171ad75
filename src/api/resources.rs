//! `resources`: Kubernetes' form of the engine's limits and reservations.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::grammar::{Quantity, RawQuantity};
use super::quantity_rules;

/// What a Workspace may use at most, and what placement sets aside for it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(
    format!("!has(self.limits) || !has(self.limits.memory) || !has(self.requests) || !has(self.requests.memory) || {}",
        quantity_rules::no_less_than("self.limits.memory", "self.requests.memory")))
    .message("requests.memory is above limits.memory")
    .field_path(".requests.memory"))]
pub struct Resources {
    /// What the container may use at most. Unset is no limit.
    pub limits: Option<ResourceLimits>,
    /// What placement sets aside on a host, and what the engine favours the container with when
    /// the host is short. A request that is not given is the limit.
    pub requests: Option<ResourceRequests>,
}

/// Upper bounds that the engine enforces.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceLimits {
    /// CPU time in cores, e.g. `1500m` or `2`; at least `10m`, the least a kernel can enforce
    /// (NanoCpus). Changed without a new container.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::at_least("10m"))
        .message("must be at least 10m: a kernel enforces no smaller CPU limit"))]
    pub cpu: Option<RawQuantity>,
    /// Memory in bytes, e.g. `512Mi`; at least `6Mi`, as the engine demands (Memory). Changed
    /// without a new container, but for its removal.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_bytes()).message(quantity_rules::WHOLE_BYTES_MESSAGE), validation = Rule::new(quantity_rules::at_least("6Mi"))
        .message("must be at least 6Mi: the engine takes no smaller memory limit"))]
    pub memory: Option<RawQuantity>,
    /// How many processes and threads the container may have (PidsLimit). Changed without a new
    /// container.
    #[serde(rename = "kibotos.dev/pids")]
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_between("1", "4194304"))
        .message("must be a whole number from 1 to 4194304, the most a kernel can count"))]
    pub pids: Option<RawQuantity>,
}

/// Reservations: what placement adds up on each host.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRequests {
    /// CPU time in cores. Sent to the engine as CpuShares, 1024 a core rounded down: `500m` is
    /// 512. At least 2 shares (`1953125n`) and at most 262144 (`256`).
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::between("1953125n", "256"))
        .message("must be from 1953125n (2 CPU shares) to 256 (262144 CPU shares)"))]
    pub cpu: Option<RawQuantity>,
    /// Memory in bytes (MemoryReservation); at most the limit.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_bytes()).message(quantity_rules::WHOLE_BYTES_MESSAGE), validation = Rule::new(quantity_rules::at_least("6Mi"))
        .message("must be at least 6Mi: the engine takes no smaller reservation"))]
    pub memory: Option<RawQuantity>,
}

/// A host's resources: what it reports, or a cap an admin sets.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostResources {
    /// CPU time in cores.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::not_negative())
        .message("must not be negative"))]
    pub cpu: Option<RawQuantity>,
    /// Memory in bytes.
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::whole_bytes()).message(quantity_rules::WHOLE_BYTES_MESSAGE), validation = Rule::new(quantity_rules::not_negative())
        .message("must not be negative"))]
    pub memory: Option<RawQuantity>,
    /// Processes and threads.
    #[serde(rename = "kibotos.dev/pids")]
    #[schemars(with = "Option<Quantity>")]
    #[x_kube(validation = Rule::new(quantity_rules::not_negative())
        .message("must not be negative"))]
    pub pids: Option<RawQuantity>,
}
