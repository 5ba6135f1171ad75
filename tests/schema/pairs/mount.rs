//! Pairs of what a container mounts, and of its devices.

use serde_json::{Value, json};

use super::grammar::{absolute_path, device_path};
use crate::schema::kind::{CONTAINER, Kind};
use crate::schema::pair::{Bound, Pair, entries, fields, many, path, rule, text};

const KINDS: &[Kind] = CONTAINER;

pub fn pairs() -> Vec<Pair> {
    [paths(), binds(), mounts(), mount_options(), devices(), blkio()].concat()
}

fn paths() -> Vec<Pair> {
    let container = |field: &str| format!("spec.container.{field}");
    let twice =
        |a: (&str, Value), b: (&str, Value)| vec![(container(a.0), a.1), (container(b.0), b.1)];
    let bind = || ("binds", json!(["/srv/a:/mnt:ro"]));
    let mount = || ("mounts", json!([{ "type": "volume", "target": "/mnt" }]));
    let tmpfs = || ("tmpfs", json!({ "/mnt": "" }));
    let mut pairs = vec![
        Pair::on(
            KINDS,
            "spec.container",
            rule("two mounts have one path: a path may be used once over binds, mounts and tmpfs"),
        )
        .refuse_fields(twice(bind(), mount()))
        .refuse_fields(twice(bind(), tmpfs()))
        .refuse_fields(twice(mount(), tmpfs()))
        .refuse_fields(fields([("spec.container.binds", json!(["/srv/a:/mnt", "vol:/mnt"]))]))
        .accept_fields(twice(bind(), ("anonymousVolumes", json!(["/mnt"]))))
        .accept_fields(twice(bind(), ("tmpfs", json!({ "/mnt/a": "" })))),
        Pair::items(KINDS, &container("anonymousVolumes"), 64, |i| json!(format!("/v{i}"))),
        Pair::on(KINDS, &container("tmpfs"), Bound::MaxProperties(64))
            .refuse(entries(65, |i| format!("/t{i}"), ""))
            .accept(entries(64, |i| format!("/t{i}"), "rw,size=64m")),
        Pair::on(
            KINDS,
            &container("tmpfs"),
            rule("a path must be absolute, without '//', '.', '..', ':' or a '/' at its end, and not '/' itself"),
        )
        .refuse(json!({ "run": "" }))
        .refuse(json!({ "/": "" }))
        .refuse(json!({ "/run/": "" }))
        .refuse(json!({ "/a//b": "" }))
        .refuse(json!({ "/a/../b": "" }))
        .refuse(json!({ "/a:b": "" }))
        .refuse(json!({ (path(1025).as_str().unwrap()): "" }))
        .accept(json!({ "/run": "rw,size=64m", "/tmp": "" }))
        .accept(json!({ (path(1024).as_str().unwrap()): "" })),
    ];
    pairs.extend(absolute_path(KINDS, &container("anonymousVolumes[]")));
    pairs.extend(absolute_path(KINDS, &container("directory")));
    pairs
}

fn binds() -> Vec<Pair> {
    let list = "spec.container.binds";
    let at = "spec.container.binds[]";
    let on = |message| Pair::on(KINDS, at, rule(message));
    vec![
        Pair::items(KINDS, list, 64, |i| json!(format!("/srv/{i}:/m{i}:ro"))),
        Pair::length(KINDS, at, 1024, |n| json!(format!("/{}:/mnt", "a".repeat(n - 6)))),
        on("must be SOURCE:DESTINATION or SOURCE:DESTINATION:OPTIONS, such as /srv/data:/data:ro")
            .refuse_all(["/data", "", "/a:/b:ro:z", ":/b", "/a:"])
            .accept_all(["/a:/b", "/a:/b:ro,z"]),
        on("must have as source an absolute path on the host such as /srv/data, or the name of a volume")
            .refuse_all(["./a:/b", "~/a:/b", "a/b:/c", "v:/b"])
            .accept_all(["/a/:/b", "/:/host", "vol_1.x:/b"]),
        on("must have no '..' segment in its source")
            .refuse_all(["/a/../b:/c", "/..:/c"])
            .accept(json!("/a/..b:/c")),
        on("must not be a volume whose name begins 'kibotos-': those hold the data of other Workspaces")
            .refuse(json!("kibotos-1:/c"))
            .accept_all(["kibotos:/c", "/kibotos-1:/c"]),
        on("must have as destination an absolute path below '/' without '//', '.' or '..' segment, trailing '/' or control character, such as /data")
            .refuse_all(["/a:b", "/a:/", "/a:/b/", "/a:/b//c", "/a:/b/../c", "/a:ro"])
            .accept(json!("/a:/b.c/..d")),
        on("must have as options only ro, rw, z, Z, [r]private, [r]shared, [r]slave, nocopy, consistent, cached and delegated, separated by ','")
            .refuse_all(["/a:/b:bogus", "/a:/b:ro,", "/a:/b:RO"])
            .accept_all(["/a:/b:rw,Z,rslave,cached", "vol:/b:nocopy"]),
        on("must have no option twice, and none that contradicts another")
            .refuse_all(["/a:/b:ro,rw", "/a:/b:z,Z", "/a:/b:ro,ro", "/a:/b:shared,rslave"])
            .accept(json!("/a:/b:ro,z,rprivate")),
        on("must have the option nocopy only for a volume, not for a path of the host")
            .refuse(json!("/a:/b:nocopy"))
            .accept(json!("vol:/b:nocopy")),
        on("must have an option of propagation only for a path of the host, not for a volume")
            .refuse(json!("vol:/b:rslave"))
            .accept(json!("/a:/b:rslave")),
    ]
}

fn mounts() -> Vec<Pair> {
    let list = "spec.container.mounts";
    let at = "spec.container.mounts[]";
    let item = |field: &str| format!("{at}.{field}");
    let with = |type_: &str, field: &str, value: Value| {
        fields([(list, json!([{ "type": type_, "target": "/mnt", (field): value }]))])
    };
    let source = "type bind needs an absolute path of the host without '..', type image an image, type volume a volume's name or nothing, type tmpfs nothing";
    let mut types = Pair::choice(KINDS, &item("type"), &["bind", "volume", "tmpfs", "image"]);
    types.accepted[0].set = with("bind", "source", json!("/srv"));
    types.accepted[3].set = with("image", "source", json!("app:1"));
    let mut pairs = vec![
        types,
        Pair::items(KINDS, list, 64, |i| json!({ "type": "volume", "target": format!("/m{i}") })),
        Pair::length(KINDS, &item("source"), 1024, text),
        Pair::on(KINDS, at, rule(source))
            .field("spec.container.mounts[0].source")
            .refuse_fields(with("bind", "readOnly", json!(true)))
            .refuse_fields(with("bind", "source", json!("srv")))
            .refuse_fields(with("bind", "source", json!("/srv/../etc")))
            .refuse_fields(with("tmpfs", "source", json!("x")))
            .refuse_fields(with("image", "source", json!("")))
            .refuse_fields(with("volume", "source", json!("/srv")))
            .accept_fields(with("bind", "source", json!("/srv/..a/")))
            .accept_fields(with("tmpfs", "readOnly", json!(true)))
            .accept_fields(with("image", "source", json!("app:1")))
            .accept_fields(with("volume", "source", json!("data"))),
        Pair::on(
            KINDS,
            at,
            rule("volumes whose name begins with kibotos- hold the data of other Workspaces"),
        )
        .field("spec.container.mounts[0].source")
        .refuse_fields(with("volume", "source", json!("kibotos-1")))
        .accept_fields(with("volume", "source", json!("kibotos1"))),
        Pair::choice(
            KINDS,
            &item("consistency"),
            &["default", "consistent", "cached", "delegated"],
        ),
    ];
    for (options, type_, other) in [
        ("bindOptions", "bind", "volume"),
        ("volumeOptions", "volume", "tmpfs"),
        ("imageOptions", "image", "volume"),
        ("tmpfsOptions", "tmpfs", "volume"),
    ] {
        let message = format!("{options} goes with type {type_} only");
        let mut right = json!({ "type": type_, "target": "/mnt", (options): {} });
        match type_ {
            "bind" => right["source"] = json!("/srv"),
            "image" => right["source"] = json!("app:1"),
            _ => {}
        }
        pairs.push(
            Pair::on(KINDS, at, rule(&message))
                .field(&format!("spec.container.mounts[0].{options}"))
                .refuse_fields(with(other, options, json!({})))
                .accept_fields(fields([(list, json!([right]))])),
        );
    }
    pairs.extend(absolute_path(KINDS, &item("target")));
    pairs
}

fn mount_options() -> Vec<Pair> {
    let list = "spec.container.mounts";
    let item = |field: &str| format!("{list}[].{field}");
    let of = |type_: &'static str, mut pairs: Vec<Pair>| {
        for pair in &mut pairs {
            for case in pair.refused.iter_mut().chain(&mut pair.accepted) {
                case.set.push((item("type"), json!(type_)));
                if type_ == "bind" {
                    case.set.push((item("source"), json!("/srv")));
                }
            }
        }
        pairs
    };
    let mut tmpfs = Pair::range(KINDS, &item("tmpfsOptions.mode"), 0, Some(4095));
    tmpfs.extend(Pair::range(KINDS, &item("tmpfsOptions.sizeBytes"), 0, None));
    tmpfs.extend([
        Pair::items(KINDS, &item("tmpfsOptions.options"), 64, |i| json!([format!("o{i}")])),
        Pair::items(KINDS, &item("tmpfsOptions.options[]"), 2, |i| json!(format!("o{i}"))),
        Pair::on(KINDS, &item("tmpfsOptions.options[]"), Bound::MinItems(1))
            .refuse(json!([]))
            .accept(json!(["noexec"])),
    ]);
    let propagation = &["private", "rprivate", "shared", "rshared", "slave", "rslave"];
    let labels = item("volumeOptions.labels");
    [
        of("tmpfs", tmpfs),
        of("bind", vec![Pair::choice(KINDS, &item("bindOptions.propagation"), propagation)]),
        vec![
            Pair::on(
                KINDS,
                &labels,
                rule("a label key may be neither empty nor begin with kibotos.dev/"),
            )
            .refuse(json!({ "kibotos.dev/volume-uid": "u" }))
            .refuse(json!({ "": "u" }))
            .accept(json!({ "example.com/kibotos.dev/x": "u" })),
            Pair::on(KINDS, &labels, Bound::MaxProperties(64))
                .refuse(entries(65, |i| format!("l{i}"), ""))
                .accept(entries(64, |i| format!("l{i}"), "")),
        ],
    ]
    .concat()
}

fn devices() -> Vec<Pair> {
    let at = |field: &str| format!("spec.container.{field}");
    let device = |i| json!({ "pathOnHost": "/dev/fuse", "pathInContainer": format!("/dev/d{i}") });
    let message = "must be TYPE MAJOR:MINOR ACCESS, e.g. c 188:* rwm";
    let mut pairs = vec![
        Pair::items(KINDS, &at("devices"), 256, device),
        Pair::on(KINDS, &at("devices[].cgroupPermissions"), Bound::MaxLength(3))
            .refuse(json!("rwmr"))
            .accept(json!("rwm")),
        Pair::on(KINDS, &at("devices[].cgroupPermissions"), rule("must be letters of rwm"))
            .refuse_all(["", "x", "rx"])
            .accept_all(["r", "mr"]),
        Pair::items(KINDS, &at("deviceCgroupRules"), 256, |i| json!(format!("c 1:{i} r"))),
        Pair::on(KINDS, &at("deviceCgroupRules"), rule(message))
            .refuse(json!(["188:* rwm"]))
            .refuse(json!(["c 188 rwm"]))
            .refuse(json!(["c 188:* x"]))
            .refuse(json!(["x 188:* r"]))
            .accept(json!(["c 188:* rmw", "a *:* rwm", "b 8:0 r"])),
        Pair::length(KINDS, &at("deviceCgroupRules[]"), 64, |n| {
            json!(format!("c 1:{} r", "1".repeat(n - 6)))
        }),
        Pair::items(KINDS, &at("deviceRequests"), 64, |i| json!({ "driver": format!("d{i}") })),
        Pair::on(KINDS, &at("deviceRequests[]"), rule("set count or deviceIDs, not both"))
            .field("spec.container.deviceRequests[0].deviceIDs")
            .refuse(json!({ "count": -1, "deviceIDs": ["0"] }))
            .accept(json!({ "count": -1, "deviceIDs": [] }))
            .accept(json!({ "deviceIDs": ["0"] })),
    ];
    pairs.extend(Pair::range(KINDS, &at("deviceRequests[].count"), -1, None));
    pairs.extend(device_path(KINDS, &at("devices[].pathOnHost")));
    pairs.extend(device_path(KINDS, &at("devices[].pathInContainer")));
    pairs
}

fn blkio() -> Vec<Pair> {
    let at = |field: &str| format!("spec.container.blkio.{field}");
    let mut pairs = Pair::range(KINDS, &at("weight"), 0, Some(1000));
    pairs.push(
        Pair::on(KINDS, &at("weight"), rule("must be 0 or from 10 to 1000"))
            .refuse(json!(1))
            .refuse(json!(9))
            .accept(json!(0))
            .accept(json!(10)),
    );
    pairs.push(
        Pair::on(KINDS, &at("weightDevice"), Bound::MaxItems(64))
            .refuse(many(65, |_| json!({ "path": "/dev/sda", "weight": 10 })))
            .accept(many(64, |_| json!({ "path": "/dev/sda", "weight": 10 }))),
    );
    pairs.extend(Pair::range(KINDS, &at("weightDevice[].weight"), 10, Some(1000)));
    pairs.extend(device_path(KINDS, &at("weightDevice[].path")));
    for list in ["deviceReadBps", "deviceWriteBps", "deviceReadIOps", "deviceWriteIOps"] {
        pairs.push(Pair::items(KINDS, &at(list), 64, |_| json!({ "path": "/dev/sda", "rate": 1 })));
        pairs.extend(Pair::range(KINDS, &at(&format!("{list}[].rate")), 1, None));
        pairs.extend(device_path(KINDS, &at(&format!("{list}[].path"))));
    }
    pairs
}
