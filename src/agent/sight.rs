//! What an engine's answers say of a Workspace's container. Pure.

use std::collections::BTreeSet;

use super::lifecycle::SeenContainer;
use super::status::Details;
use crate::api::grammar::Protocol;
use crate::api::names::label;
use crate::api::workspace::{Guest, NetworkAddress, PublishedPort};
use crate::docker::{HealthStatus, Inspect, ListItem, Update};

/// Who a container must belong to in order to be ours.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The Workspace's uid.
    pub workspace: &'a str,
    /// The Host's uid and those of Hosts that this agent served before.
    pub hosts: &'a [String],
    /// Full ids that runs of the Workspace reported.
    pub ids: &'a [String],
    /// The name that its container has.
    pub name: &'a str,
}

impl Claim<'_> {
    /// Whether the labels are those of this Workspace on this host. An image can carry labels too,
    /// so they alone make nothing ours.
    fn labels_fit(&self, labels: &std::collections::BTreeMap<String, String>) -> bool {
        let has = |key: &str| labels.get(key).map(String::as_str);
        has(label::WORKSPACE_UID) == Some(self.workspace)
            && has(label::HOST_UID).is_some_and(|uid| self.hosts.iter().any(|host| host == uid))
    }

    /// The Workspace's container among those with its label: by an id that a run reported, else by
    /// the exact name.
    pub fn choose<'b>(&self, listed: &'b [ListItem]) -> Option<&'b ListItem> {
        let ours: Vec<_> = listed.iter().filter(|item| self.labels_fit(&item.labels)).collect();
        let by_id = ours.iter().find(|item| self.ids.contains(&item.id));
        let by_name = || ours.iter().find(|item| item.name() == Some(self.name));
        by_id.or_else(by_name).copied()
    }

    /// Whether a container that was found by name is ours.
    pub fn is_ours(&self, found: &Inspect) -> bool {
        self.labels_fit(&found.config.labels)
            && (self.ids.contains(&found.id) || found.name() == self.name)
    }
}

/// The container as the next step is judged by.
pub fn container(found: &Inspect) -> SeenContainer {
    let limits = &found.host_config;
    let some = |number: i64| Some(number).filter(|number| *number != 0);
    SeenContainer {
        id: found.id.clone(),
        name: found.name().to_owned(),
        spec_hash: found.config.labels.get(label::SPEC_HASH).cloned().unwrap_or_default(),
        image_id: found.image.clone(),
        state: found.state.status.clone(),
        started_at: found.state.started().map(str::to_owned),
        finished_at: found.state.finished().map(str::to_owned),
        exit_code: found.state.exit_code,
        oom_killed: found.state.oom_killed,
        error: found.state.error.clone(),
        restart_count: found.restart_count,
        policy: limits.restart_policy.clone(),
        limits: Update {
            memory: some(limits.memory),
            memory_reservation: some(limits.memory_reservation),
            memory_swap: some(limits.memory_swap),
            nano_cpus: some(limits.nano_cpus),
            cpu_shares: some(limits.cpu_shares),
            cpu_period: some(limits.cpu_period),
            cpu_quota: some(limits.cpu_quota),
            cpuset_cpus: Some(limits.cpuset_cpus.clone()),
            cpuset_mems: Some(limits.cpuset_mems.clone()),
            blkio_weight: some(limits.blkio_weight),
            pids_limit: limits.pids_limit.filter(|limit| *limit > 0),
            restart_policy: None,
        },
        networks: found.network_settings.networks.keys().cloned().collect(),
        stale_networks: BTreeSet::new(),
    }
}

/// What is told of a container.
pub fn details(found: &Inspect, image_digest: Option<String>) -> Details {
    let settings = &found.network_settings;
    let addresses = settings.networks.iter().flat_map(|(network, endpoint)| {
        let ips = [&endpoint.ip_address, &endpoint.global_ipv6_address];
        ips.into_iter()
            .filter(|ip| !ip.is_empty())
            .map(|ip| NetworkAddress { network: network.clone(), ip: ip.clone() })
    });
    let ports = settings.ports.iter().flat_map(|(key, bindings)| {
        bindings.iter().filter_map(|binding| published(key, &binding.host_ip, &binding.host_port))
    });
    // Podman writes an empty one where there is no check.
    let health = found.state.health.as_ref().map(|health| &health.status);
    let health = health.filter(|health| !health.as_str().is_empty());
    Details {
        image_id: Some(found.image.clone()).filter(|id| !id.is_empty()),
        image_digest,
        guest: match health {
            Some(HealthStatus::Healthy) => Guest::Responding,
            Some(HealthStatus::Unhealthy) => Guest::Unresponsive,
            _ => Guest::Unknown,
        },
        has_check: health.is_some_and(|health| *health != HealthStatus::None),
        addresses: addresses.collect(),
        ports: ports.collect(),
    }
}

fn published(key: &str, ip: &str, port: &str) -> Option<PublishedPort> {
    let (number, protocol) = key.split_once('/')?;
    Some(PublishedPort {
        container_port: number.parse().ok()?,
        protocol: match protocol {
            "tcp" => Protocol::Tcp,
            "udp" => Protocol::Udp,
            "sctp" => Protocol::Sctp,
            _ => return None,
        },
        host_ip: ip.to_owned(),
        host_port: port.parse().ok()?,
    })
}

/// The digest under which an image is known in the registry of a reference, or in any.
pub fn digest(repo_digests: &[String], reference: &str) -> Option<String> {
    let repository = reference.split('@').next().unwrap_or(reference);
    let end = repository.rfind('/').map_or(0, |slash| slash + 1);
    let tagless = match repository[end..].find(':') {
        Some(colon) => &repository[..end + colon],
        None => repository,
    };
    let familiar = tagless.trim_start_matches("docker.io/").trim_start_matches("library/");
    let split: Vec<_> = repo_digests.iter().filter_map(|known| known.split_once('@')).collect();
    let of_it = split.iter().find(|(name, _)| *name == tagless || *name == familiar);
    of_it.or(split.first()).map(|(_, digest)| (*digest).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, name: &str, workspace: &str, host: &str) -> ListItem {
        ListItem {
            id: id.to_owned(),
            names: vec![format!("/{name}")],
            labels: [
                (label::WORKSPACE_UID.to_owned(), workspace.to_owned()),
                (label::HOST_UID.to_owned(), host.to_owned()),
            ]
            .into(),
            ..ListItem::default()
        }
    }

    fn chosen(items: &[ListItem], ids: &[&str]) -> Option<String> {
        let hosts = ["h".to_owned(), "h-before".to_owned()];
        let ids: Vec<_> = ids.iter().map(|id| (*id).to_owned()).collect();
        let claim = Claim { workspace: "w", hosts: &hosts, ids: &ids, name: "ns_web" };
        claim.choose(items).map(|item| item.id.clone())
    }

    #[test]
    fn labels_alone_make_no_container_ours_for_images_carry_them() {
        assert_eq!(chosen(&[item("1", "by-hand", "w", "h")], &[]), None);
        assert_eq!(chosen(&[item("1", "ns_web", "w", "h")], &[]).as_deref(), Some("1"));
        assert_eq!(chosen(&[item("1", "renamed", "w", "h")], &["1"]).as_deref(), Some("1"));
    }

    #[test]
    fn neither_name_nor_id_makes_a_container_ours_without_the_labels() {
        assert_eq!(chosen(&[item("1", "ns_web", "other", "h")], &["1"]), None);
        assert_eq!(chosen(&[item("1", "ns_web", "w", "another-agent")], &["1"]), None);
        assert_eq!(chosen(&[item("1", "ns_web", "w", "h-before")], &[]).as_deref(), Some("1"));
    }

    #[test]
    fn what_a_run_reported_goes_before_the_name() {
        let items = [item("1", "ns_web", "w", "h"), item("2", "renamed", "w", "h")];
        assert_eq!(chosen(&items, &["2"]).as_deref(), Some("2"));
    }

    #[test]
    fn the_digest_is_that_of_the_registry_the_image_is_named_by() {
        let known = ["localhost:5000/app@sha256:aa".to_owned(), "nginx@sha256:bb".to_owned()];
        for (reference, wanted) in [
            ("docker.io/library/nginx:1.29", "sha256:bb"),
            ("nginx", "sha256:bb"),
            ("localhost:5000/app:v1", "sha256:aa"),
            ("elsewhere/app:v1", "sha256:aa"),
        ] {
            assert_eq!(digest(&known, reference).as_deref(), Some(wanted), "{reference}");
        }
        assert_eq!(digest(&[], "nginx"), None);
    }

    /// An engine's answer, with what is put over it.
    fn inspected(more: serde_json::Value) -> Inspect {
        let mut body = serde_json::json!({
            "Id": "c1", "Name": "/ns_web", "Image": "sha256:1",
            "State": { "Status": "running", "StartedAt": "2026-01-01T12:00:00Z" },
            "Config": { "Image": "app:1", "Labels": { "kibotos.dev/spec-hash": "1:aa" } },
            "HostConfig": { "RestartPolicy": { "Name": "no" } },
        });
        for (section, members) in more.as_object().unwrap() {
            let under = body[section].as_object_mut().unwrap();
            under.extend(members.as_object().unwrap().clone());
        }
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn without_a_check_nothing_waits_for_its_success_however_an_engine_writes_it() {
        for (health, checked) in [
            (serde_json::json!({}), false),
            (serde_json::json!({ "Health": { "Status": "none" } }), false),
            (serde_json::json!({ "Health": { "Status": "", "FailingStreak": 0 } }), false),
            (serde_json::json!({ "Health": { "Status": "starting" } }), true),
        ] {
            let found = inspected(serde_json::json!({ "State": health }));
            assert_eq!(details(&found, None).has_check, checked, "{health}");
        }
    }

    #[test]
    fn what_image_and_engine_add_to_a_container_makes_it_no_other() {
        let plain = container(&inspected(serde_json::json!({})));
        let of_image = serde_json::json!({ "Config": {
            "User": "1000", "WorkingDir": "/w", "Env": ["PATH=/bin", "A=image"],
            "Entrypoint": ["/app"], "Cmd": ["serve"], "StopSignal": "SIGINT",
            "ExposedPorts": { "8080/tcp": {} }, "Volumes": { "/image-data": {} },
        } });
        assert_eq!(container(&inspected(of_image)), plain);
        // Docker reported `default` up to 27 and reports `bridge` since; Podman has more of its own.
        for mode in ["default", "bridge"] {
            let of_engine = serde_json::json!({
                "HostConfig": { "NetworkMode": mode, "ShmSize": 65_536_000, "IpcMode": "shareable" },
            });
            assert_eq!(container(&inspected(of_engine)), plain, "{mode}");
        }
    }
}
