//! Networks, ports and names.

use kibotos::docker::ApiVersion;
use serde_json::{Value, json};

use super::Outcome::{Needs, NotStarted};
use super::{Row, config, entry, host, row};
use crate::engine_create::Bench;

pub fn network(bench: &Bench) -> Vec<Row> {
    let [front, back] = &bench.networks;
    let mac = "02:42:ac:11:00:02";
    let endpoint = |more: Value| {
        let mut attachment = json!({ "name": front });
        attachment.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "networks": [attachment] })
    };
    let joined =
        |says: Value| json!({ "NetworkSettings": { "Networks": { (front.as_str()): says } } });
    let first = if bench.engine.api() < ApiVersion::v1(44) {
        json!({ "Config": { "MacAddress": mac } })
    } else {
        json!({ "NetworkSettings": { "Networks": { "bridge": { "MacAddress": mac } } } })
    };
    vec![
        config(
            entry(json!({ "ports": [
                { "containerPort": 80 }, { "containerPort": 53, "protocol": "UDP" },
                { "containerPort": 9, "protocol": "SCTP" },
            ] })),
            json!({ "ExposedPorts": { "80/tcp": {}, "53/udp": {}, "9/sctp": {}, "8080/tcp": {} } }),
        ),
        row(
            json!({ "ports": [
                { "containerPort": 80, "hostPort": 8080, "hostIP": "127.0.0.1" },
                { "containerPort": 80, "hostPort": 8081, "hostIP": "::1" },
                { "containerPort": 81, "publish": true },
            ] }),
            json!({
                "Config": { "ExposedPorts": { "80/tcp": {}, "81/tcp": {} } },
                "HostConfig": { "PortBindings": {
                    "80/tcp": [
                        { "HostIp": "127.0.0.1", "HostPort": "8080" },
                        { "HostIp": "::1", "HostPort": "8081" },
                    ],
                    "81/tcp": [{ "HostIp": "", "HostPort": "" }],
                } },
            }),
        ),
        host(json!({ "publishAllPorts": true }), json!({ "PublishAllPorts": true })),
        row(
            json!({ "networks": [{ "name": back }, { "name": front, "aliases": ["web"] }] }),
            json!({ "NetworkSettings": { "Networks": {
                (front.as_str()): { "IPAMConfig": null }, (back.as_str()): { "IPAMConfig": null },
            } } }),
        ),
        row(
            json!({ "networks": [{ "name": back }, { "name": front }], "networkMode": front }),
            json!({
                "HostConfig": { "NetworkMode": front },
                "NetworkSettings": { "Networks": { (front.as_str()): {}, (back.as_str()): {} } },
            }),
        ),
        row(
            endpoint(json!({ "ipamConfig": {
                "ipv4Address": "10.9.8.7", "ipv6Address": "fd00::7", "linkLocalIPs": ["169.254.9.9"],
            } })),
            joined(json!({ "IPAMConfig": {
                "IPv4Address": "10.9.8.7", "IPv6Address": "fd00::7", "LinkLocalIPs": ["169.254.9.9"],
            } })),
        ),
        row(
            endpoint(json!({ "driverOpts": { "a": "b" }, "links": ["db:store"] })),
            joined(json!({ "DriverOpts": { "a": "b" }, "Links": ["db:store"] })),
        ),
        row(endpoint(json!({ "macAddress": mac })), joined(json!({ "MacAddress": mac })))
            .but(Needs(ApiVersion::v1(44))),
        row(endpoint(json!({ "gwPriority": 5 })), joined(json!({ "GwPriority": 5 })))
            .but(Needs(ApiVersion::v1(48))),
        row(json!({ "macAddress": mac }), first),
        host(json!({ "networkMode": "none" }), json!({ "NetworkMode": "none" })),
        host(json!({ "networkMode": "host" }), json!({ "NetworkMode": "host" })),
        row(
            json!({ "networks": [{ "name": "bridge" }] }),
            json!({ "NetworkSettings": { "Networks": { "bridge": {} } } }),
        ),
        row(json!({ "networkMode": "container:nowhere" }), json!({}))
            .but(NotStarted(&["No such container: nowhere"])),
        row(json!({ "networks": [{ "name": "nowhere" }] }), json!({}))
            .but(NotStarted(&["network nowhere not found"])),
        host(
            json!({
                "dns": ["10.1.1.1"], "dnsSearch": ["example.com"], "dnsOptions": ["ndots:2"],
                "extraHosts": ["db:10.0.0.5", "six:fd00::5", "host.docker.internal:host-gateway"],
            }),
            json!({
                "Dns": ["10.1.1.1"], "DnsSearch": ["example.com"], "DnsOptions": ["ndots:2"],
                "ExtraHosts": ["db:10.0.0.5", "six:fd00::5", "host.docker.internal:host-gateway"],
            }),
        ),
    ]
}
