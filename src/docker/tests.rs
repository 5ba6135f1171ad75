//! What engines of several versions say, read.

use serde_json::json;

use super::*;

fn reads<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
    read(value.to_string().as_bytes()).unwrap()
}

#[test]
fn every_member_has_a_default_and_null_is_absent() {
    assert_eq!(reads::<Inspect>(json!({})), Inspect::default());
    let nulls = json!({
        "Id": "a", "Name": "/n", "Mounts": null, "State": { "Health": null, "Error": null },
        "Config": { "Labels": null, "Env": null, "Healthcheck": null },
        "HostConfig": { "PidsLimit": null, "RestartPolicy": null, "PortBindings": { "80/tcp": null } },
        "NetworkSettings": { "Networks": { "n": { "Aliases": null, "IPAMConfig": null } }, "Ports": { "80/tcp": null } },
        "Unknown": { "of": ["later"] },
    });
    let inspect: Inspect = reads(nulls);
    assert_eq!((&*inspect.id, inspect.name()), ("a", "n"));
    assert_eq!(inspect.host_config.pids_limit, None);
    assert_eq!(inspect.network_settings.networks["n"], Endpoint::default());
    assert!(inspect.network_settings.ports.is_empty(), "exposed only");
    assert_eq!(reads::<ListItem>(json!({ "Names": null, "Labels": null })), ListItem::default());
    assert_eq!(reads::<Info>(json!({ "Warnings": null, "Plugins": null })), Info::default());
    assert_eq!(reads::<VolumeList>(json!({ "Volumes": null })).volumes, []);
    assert_eq!(reads::<ImageInspect>(json!({ "Config": null })), ImageInspect::default());
    assert_eq!(reads::<Network>(json!({ "Labels": null })), Network::default());
}

#[test]
fn an_unknown_value_of_an_enumeration_is_kept() {
    let state: State =
        reads(json!({ "Status": "hibernating", "Health": { "Status": "dizzy", "Log": null } }));
    assert_eq!(state.status, ContainerStatus::Other("hibernating".to_owned()));
    assert_eq!(state.health.unwrap().status, HealthStatus::Other("dizzy".to_owned()));
    let item: ListItem = reads(json!({ "State": "stopping" }));
    assert_eq!(serde_json::to_value(&item.state).unwrap(), json!("stopping"));
    assert_eq!(reads::<ListItem>(json!({ "State": "exited" })).state, ContainerStatus::Exited);
}

#[test]
fn year_one_is_never() {
    let state: State = reads(json!({
        "StartedAt": "2026-01-02T03:04:05.6Z", "FinishedAt": "0001-01-01T00:00:00Z"
    }));
    assert_eq!(state.started(), Some("2026-01-02T03:04:05.6Z"));
    assert_eq!(state.finished(), None);
}

#[test]
fn a_container_has_a_health_check_unless_it_is_switched_off() {
    let config = |health| reads::<Config>(json!({ "Healthcheck": health }));
    assert!(config(json!({ "Test": ["CMD", "true"] })).has_health_check());
    for none in [json!(null), json!({}), json!({ "Test": [] }), json!({ "Test": ["NONE"] })] {
        assert!(!config(none).has_health_check());
    }
}

#[test]
fn a_links_name_is_not_the_containers() {
    let item: ListItem = reads(json!({ "Names": ["/other/alias", "/own"] }));
    assert_eq!(item.name(), Some("own"));
}

#[test]
fn an_event_is_read_with_and_without_what_1_52_dropped() {
    let new = json!({
        "Type": "container", "Action": "health_status: healthy", "scope": "local",
        "Actor": { "ID": "abc", "Attributes": { "name": "n", "exitCode": "0" } },
        "time": 1_700_000_000, "timeNano": 1_700_000_000_000_000_007_i64,
    });
    let mut old = new.clone();
    for (key, value) in [("status", "health_status: healthy"), ("id", "abc"), ("from", "image")] {
        old[key] = json!(value);
    }
    let event: Event = reads(new);
    assert_eq!(event, reads(old));
    assert_eq!((event.verb(), &*event.actor.id), ("health_status", "abc"));
    assert_eq!(event.time.to_string(), "1700000000.000000007");
}

#[test]
fn a_pull_that_fails_says_so_in_either_way() {
    let both = json!({ "errorDetail": { "code": 404, "message": "m" }, "error": "short" });
    assert_eq!(
        reads::<PullProgress>(both).fault(),
        Some(PullFault { code: Some(404), message: "m".to_owned() })
    );
    let old = reads::<PullProgress>(json!({ "error": "short" }));
    assert_eq!(old.fault(), Some(PullFault { code: None, message: "short".to_owned() }));
    let going = json!({ "status": "Downloading", "id": "l", "progressDetail": { "current": 1, "total": 2 } });
    let going: PullProgress = reads(going);
    assert_eq!(going.fault(), None);
    assert_eq!(going.progress_detail, ProgressDetail { current: 1, total: 2 });
}

#[test]
fn an_update_says_only_what_changes() {
    assert!(Update::default().is_empty());
    let update = Update { memory: Some(1 << 30), ..Update::default() };
    assert_eq!(serde_json::to_value(&update).unwrap(), json!({ "Memory": 1 << 30 }));
}

#[test]
fn lines_are_whole_however_the_bytes_come() {
    let text = b"one\r\n\n  \ntwo\nthree";
    for size in 1..text.len() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for chunk in text.chunks(size) {
            lines.push(chunk).unwrap();
            while let Some(line) = lines.next_line() {
                seen.push(String::from_utf8(line).unwrap());
            }
        }
        assert_eq!(seen, ["one", "two"]);
        assert_eq!(lines.rest(), Some(b"three".to_vec()));
        assert_eq!(lines.rest(), None);
    }
    let mut endless = Lines::default();
    let most = (0..100).find(|_| endless.push("x".repeat(1 << 16).as_bytes()).is_err());
    assert!(most.is_some_and(|pushed| pushed >= 64), "at least 4 MiB are taken: {most:?}");
}
