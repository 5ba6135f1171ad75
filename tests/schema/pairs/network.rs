//! Pairs of what a container has of networks: ports, networks, names.

use serde_json::{Value, json};

use crate::schema::kind::{CONTAINER, Kind};
use crate::schema::pair::{Bound, Pair, fields, rule, text};

const KINDS: &[Kind] = CONTAINER;

pub fn pairs() -> Vec<Pair> {
    [ports(), networks(), mode(), names()].concat()
}

fn ports() -> Vec<Pair> {
    let at = "spec.container.ports";
    let port = |value: Value| fields([(at, json!([value]))]);
    let item = |field: &str| format!("{at}[].{field}");
    let mut pairs = vec![
        Pair::items(KINDS, at, 512, |i| json!({ "containerPort": i + 1, "hostPort": i + 1, "name": format!("p{i}") })),
        Pair::choice(KINDS, &item("protocol"), &["TCP", "UDP", "SCTP"]),
        Pair::on(KINDS, at, rule("two ports have one name"))
            .refuse(json!([{ "containerPort": 1, "name": "a" }, { "containerPort": 2, "name": "a" }]))
            .accept(json!([{ "containerPort": 1, "name": "a" }, { "containerPort": 2, "name": "b" }, { "containerPort": 3 }, { "containerPort": 4 }])),
        Pair::on(KINDS, at, rule("two ports are published on one host port of one address"))
            .refuse(json!([{ "containerPort": 1, "hostPort": 80 }, { "containerPort": 2, "hostPort": 80 }]))
            .refuse(json!([{ "containerPort": 1, "hostPort": 80, "hostIP": "::1" }, { "containerPort": 2, "hostPort": 80, "hostIP": "::1" }]))
            .accept(json!([{ "containerPort": 1, "hostPort": 80 }, { "containerPort": 1, "hostPort": 81 }]))
            .accept(json!([{ "containerPort": 1, "hostPort": 80 }, { "containerPort": 2, "hostPort": 80, "protocol": "UDP" }]))
            .accept(json!([{ "containerPort": 1, "hostPort": 80, "hostIP": "127.0.0.1" }, { "containerPort": 2, "hostPort": 80, "hostIP": "127.0.0.2" }])),
        Pair::on(KINDS, &format!("{at}[]"), rule("publish: false contradicts hostPort: leave one of the two out"))
            .field("spec.container.ports[0].publish")
            .refuse_fields(port(json!({ "containerPort": 1, "hostPort": 1, "publish": false })))
            .accept_fields(port(json!({ "containerPort": 1, "hostPort": 1, "publish": true })))
            .accept_fields(port(json!({ "containerPort": 1, "publish": false }))),
        Pair::on(KINDS, &format!("{at}[]"), rule("hostIP means nothing without hostPort or publish: true"))
            .field("spec.container.ports[0].hostIP")
            .refuse_fields(port(json!({ "containerPort": 1, "hostIP": "127.0.0.1" })))
            .accept_fields(port(json!({ "containerPort": 1, "hostIP": "127.0.0.1", "publish": true })))
            .accept_fields(port(json!({ "containerPort": 1, "hostIP": "127.0.0.1", "hostPort": 1 }))),
        Pair::length(KINDS, &item("name"), 63, text),
        Pair::on(
            KINDS,
            &item("name"),
            rule("must be lower-case letters, digits and '-', with a letter or digit at both ends"),
        )
        .refuse_all(["", "HTTP", "-a", "a-", "a_b"])
        .accept_all(["http", "8080-tcp"]),
    ];
    pairs.extend(Pair::range(KINDS, &item("containerPort"), 1, Some(65535)));
    pairs.extend(Pair::range(KINDS, &item("hostPort"), 0, Some(65535)));
    for mut pair in host_ip(&item("hostIP")) {
        for case in pair.refused.iter_mut().chain(&mut pair.accepted) {
            case.set.push((item("hostPort"), json!(8080)));
        }
        pairs.push(pair);
    }
    pairs
}

fn host_ip(at: &str) -> Vec<Pair> {
    let longest = "2001:0db8:0000:0000:0000:0000:0000:0001";
    vec![
        Pair::on(KINDS, at, Bound::MaxLength(45)).refuse(text(46)).accept(json!(longest)),
        Pair::on(
            KINDS,
            at,
            rule("must be an IP address of the host such as 127.0.0.1 or ::1, or empty for all its addresses"),
        )
        .refuse_all(["localhost", "127.0.0.256", "127.1", "[::1]", "fe80::1%eth0", "::ffff:127.0.0.1", "010.0.0.1"])
        .accept_all(["", "127.0.0.1", "::1", "0.0.0.0", "::"]),
    ]
}

fn networks() -> Vec<Pair> {
    let at = "spec.container.networks";
    let item = |field: &str| format!("{at}[].{field}");
    let ip = |field: &str| item(&format!("ipamConfig.{field}"));
    let mut pairs = vec![
        Pair::items(KINDS, at, 64, |i| json!({ "name": format!("n{i}") })),
        Pair::length(KINDS, &item("name"), 255, text),
        Pair::on(
            KINDS,
            &item("name"),
            rule("must be a network's name; for host and none use networkMode"),
        )
        .refuse_all(["", "host", "none", "container:x", "a b", "-a"])
        .accept_all(["bridge", "front_end.1"]),
        Pair::on(KINDS, &ip("ipv4Address"), Bound::MaxLength(15))
            .refuse(json!("255.255.255.2555"))
            .accept(json!("255.255.255.255")),
        Pair::on(KINDS, &ip("ipv4Address"), rule("must be an IPv4 address"))
            .refuse_all(["", "::1", "10.0.0.0/8", "10.0.0"])
            .accept(json!("172.20.0.7")),
        Pair::on(KINDS, &ip("ipv6Address"), Bound::MaxLength(45))
            .refuse(text(46))
            .accept(json!("2001:0db8:0000:0000:0000:0000:0000:0001")),
        Pair::on(KINDS, &ip("ipv6Address"), rule("must be an IPv6 address"))
            .refuse_all(["", "10.0.0.1", "2001:db8::/32"])
            .accept(json!("2001:db8::7")),
        Pair::items(KINDS, &ip("linkLocalIPs"), 16, |i| json!(format!("169.254.0.{i}"))),
        Pair::on(KINDS, &ip("linkLocalIPs"), rule("must be IP addresses"))
            .refuse(json!(["169.254.0.1", "near"]))
            .accept(json!(["169.254.0.1", "fe80::1"])),
        Pair::on(KINDS, &ip("linkLocalIPs[]"), Bound::MaxLength(45))
            .refuse(text(46))
            .accept(json!("2001:0db8:0000:0000:0000:0000:0000:0001")),
    ];
    let fixed = "the engine's default network takes no fixed addresses, aliases or links: use a network of your own";
    pairs.push(
        Pair::on(KINDS, &format!("{at}[]"), rule(fixed))
            .refuse(json!({ "name": "bridge", "aliases": ["a"] }))
            .refuse(json!({ "name": "default", "ipamConfig": { "ipv4Address": "172.17.0.9" } }))
            .refuse(json!({ "name": "bridge", "links": ["db"] }))
            .accept(json!({ "name": "bridge" }))
            .accept(json!({ "name": "front", "aliases": ["a"] })),
    );
    pairs.extend(mac_address(&item("macAddress")));
    pairs
}

fn mac_address(at: &str) -> Vec<Pair> {
    vec![
        Pair::on(KINDS, at, Bound::MaxLength(17))
            .refuse(json!("02:42:ac:11:00:020"))
            .accept(json!("02:42:ac:11:00:02")),
        Pair::on(KINDS, at, rule("must be a MAC address such as 02:42:ac:11:00:02"))
            .refuse_all(["", "02:42:ac:11:00", "0242ac110002", "g2:42:ac:11:00:02"])
            .accept(json!("02:42:AC:11:00:02")),
    ]
}

/// `networkMode`, and what it leaves no room for.
fn mode() -> Vec<Pair> {
    let at = "spec.container.networkMode";
    let with = |mode: &str, field: &str, value: Value| {
        vec![(at.to_owned(), json!(mode)), (format!("spec.container.{field}"), value)]
    };
    let networks = || json!([{ "name": "front" }]);
    let port = || json!([{ "containerPort": 80, "hostPort": 80 }]);
    let exposed = || json!([{ "containerPort": 80 }]);
    vec![
        Pair::length(KINDS, at, 255, text),
        Pair::on(KINDS, at, rule("must be bridge, host, none, container:NAME or a network's name"))
            .refuse_all(["container:", "a b", "/x", "net:x"])
            .accept_all(["", "bridge", "host", "none", "container:db", "my_net"]),
        Pair::on(
            KINDS,
            "spec.container",
            rule("networks cannot be joined with networkMode host, none or container:…; leave one of the two out"),
        )
        .field("spec.container.networks")
        .refuse_fields(with("host", "networks", networks()))
        .refuse_fields(with("none", "networks", networks()))
        .refuse_fields(with("container:db", "networks", networks()))
        .accept_fields(with("front", "networks", networks()))
        .accept_fields(with("host", "networks", json!([]))),
        Pair::on(
            KINDS,
            "spec.container",
            rule("with networkMode host or none there is no address to set: leave macAddress out"),
        )
        .field("spec.container.macAddress")
        .refuse_fields(with("host", "macAddress", json!("02:42:ac:11:00:02")))
        .refuse_fields(with("none", "macAddress", json!("02:42:ac:11:00:02")))
        .accept_fields(with("bridge", "macAddress", json!("02:42:ac:11:00:02"))),
        Pair::on(
            KINDS,
            "spec.container",
            rule("networkMode is not among networks: name it there too, or leave it out"),
        )
        .field("spec.container.networkMode")
        .refuse_fields(with("bridge", "networks", networks()))
        .refuse_fields(with("back", "networks", networks()))
        .accept_fields(with("front", "networks", networks()))
        .accept_fields(with("default", "networks", networks()))
        .accept_fields(with("back", "networks", json!([]))),
        Pair::on(
            KINDS,
            "spec.container",
            rule("ports cannot be published with networkMode host, none or container:…; leave hostPort and publish out"),
        )
        .field("spec.container.ports")
        .refuse_fields(with("host", "ports", port()))
        .refuse_fields(with("none", "ports", port()))
        .refuse_fields(with("container:db", "ports", port()))
        .refuse_fields(with("host", "ports", json!([{ "containerPort": 80, "publish": true }])))
        .accept_fields(with("bridge", "ports", port()))
        .accept_fields(with("host", "ports", exposed())),
        Pair::on(
            KINDS,
            "spec.container",
            rule("with networkMode container:… the other container's network counts: leave out ports, hostname, dns, dnsSearch, dnsOptions, extraHosts and macAddress"),
        )
        .field("spec.container.networkMode")
        .refuse_fields(with("container:db", "hostname", json!("a")))
        .refuse_fields(with("container:db", "ports", exposed()))
        .refuse_fields(with("container:db", "dns", json!(["1.1.1.1"])))
        .refuse_fields(with("container:db", "dnsSearch", json!(["a"])))
        .refuse_fields(with("container:db", "dnsOptions", json!(["a"])))
        .refuse_fields(with("container:db", "extraHosts", json!(["a:1.1.1.1"])))
        .refuse_fields(with("container:db", "macAddress", json!("02:42:ac:11:00:02")))
        .accept_fields(with("container:db", "tty", json!(true)))
        .accept_fields(with("host", "hostname", json!("a"))),
    ]
}

fn names() -> Vec<Pair> {
    let at = |field: &str| format!("spec.container.{field}");
    let name = |field: &str, what: &str| {
        let message = format!(
            "must be a {what} name: letters, digits, '-', '_' and '.', with a letter or digit at both ends"
        );
        vec![
            Pair::length(KINDS, &at(field), 64, text),
            Pair::on(KINDS, &at(field), rule(&message))
                .refuse_all(["a b", "-a", "a.", "a!"])
                .accept_all(["", "a", "Web_1.example"]),
        ]
    };
    let mut pairs = vec![
        Pair::on(
            KINDS,
            "spec.container",
            rule("with utsMode host the host's name counts: leave hostname out"),
        )
        .field("spec.container.hostname")
        .refuse_fields(fields([
            ("spec.container.utsMode", json!("host")),
            ("spec.container.hostname", json!("a")),
        ]))
        .accept_fields(fields([
            ("spec.container.utsMode", json!("host")),
            ("spec.container.hostname", json!("")),
        ])),
        Pair::items(KINDS, &at("dns"), 16, |i| json!(format!("10.0.0.{i}"))),
        Pair::on(KINDS, &at("dns"), rule("must be IP addresses"))
            .refuse(json!(["1.1.1.1", "dns.example.com"]))
            .accept(json!(["1.1.1.1", "2606:4700::1111"])),
        Pair::on(KINDS, &at("dns[]"), Bound::MaxLength(45))
            .refuse(text(46))
            .accept(json!("2001:0db8:0000:0000:0000:0000:0000:0001")),
        Pair::items(KINDS, &at("extraHosts"), 256, |i| json!(format!("h{i}:10.0.0.1"))),
        Pair::on(
            KINDS,
            &at("extraHosts"),
            rule("must be NAME:IP or NAME:host-gateway, e.g. host.docker.internal:host-gateway"),
        )
        .refuse(json!(["a=1.2.3.4"]))
        .refuse(json!(["a"]))
        .refuse(json!(["a:b"]))
        .refuse(json!(["a:1.2.3"]))
        .refuse(json!([":1.2.3.4"]))
        .refuse(json!(["a:[::1]"]))
        .accept(json!(["host.docker.internal:host-gateway", "a:1.2.3.4", "b:::1"])),
        Pair::length(KINDS, &at("extraHosts[]"), 300, |n| {
            json!(format!("{}:10.0.0.1", "a".repeat(n - 9)))
        }),
    ];
    pairs.extend(name("hostname", "host"));
    pairs.extend(name("domainname", "domain"));
    pairs.extend(mac_address(&at("macAddress")));
    pairs
}
