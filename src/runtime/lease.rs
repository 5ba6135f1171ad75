//! Leases: a holder's sign of life.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, Patch, PatchParams};
use kube::{Api, Client};

/// Renews the Lease of that name, or makes it: one write, by server-side apply, which needs no read
/// and wins no race, for a Lease has one holder.
pub async fn renew(
    client: &Client,
    namespace: &str,
    name: &str,
    holder: &str,
    lasts: Duration,
    now: Timestamp,
) -> Result<(), kube::Error> {
    let lease = Lease {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: Some(LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: i32::try_from(lasts.as_secs()).ok(),
            renew_time: Some(MicroTime(now)),
            ..LeaseSpec::default()
        }),
    };
    let api: Api<Lease> = Api::namespaced(client.clone(), namespace);
    api.patch(name, &PatchParams::apply(holder).force(), &Patch::Apply(&lease)).await.map(drop)
}
