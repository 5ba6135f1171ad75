//! Pairs of the grammars that several fields share.

use serde_json::json;

use crate::schema::kind::Kind;
use crate::schema::pair::{Bound, Pair, entries, path, rule, text};

/// An absolute path of a container or a host.
pub fn absolute_path(kinds: &[Kind], at: &str) -> Vec<Pair> {
    vec![
        Pair::length(kinds, at, 1024, path),
        Pair::on(kinds, at, rule("must be an absolute path below '/', such as /data"))
            .refuse_all(["data", "", "/", "./data", "~/data", "C:\\data"])
            .accept_all(["/d", "/data/a b/ü"]),
        Pair::on(
            kinds,
            at,
            rule("must have no '//', no '.' or '..' segment, no trailing '/', no ':' and no control character"),
        )
        .refuse_all(["/a//b", "/a/./b", "/a/../b", "/..", "/a/.", "/a/", "/a:b", "/a\nb", "//a"])
        .accept_all(["/.a/..b/...", "/a.b/c..d"]),
    ]
}

/// The path of a device: as any, but with `:`.
pub fn device_path(kinds: &[Kind], at: &str) -> Vec<Pair> {
    vec![
        Pair::length(kinds, at, 1024, path),
        Pair::on(kinds, at, rule("must be an absolute path below '/', such as /dev/ttyUSB0"))
            .refuse_all(["ttyUSB0", "", "/", "./dev"])
            .accept_all(["/dev/ttyUSB0"]),
        Pair::on(
            kinds,
            at,
            rule("must have no '//', no '.' or '..' segment, no trailing '/' and no control character"),
        )
        .refuse_all(["/a//b", "/a/./b", "/a/../b", "/..", "/a/", "/a\nb"])
        .accept_all(["/dev/serial/by-path/pci-0000:00:14.0-usb-0:1:1.0-port0", "/.a/..b"]),
    ]
}

/// A name of one DNS label.
pub fn dns_label(kinds: &[Kind], at: &str) -> Vec<Pair> {
    label(kinds, at, 63)
}

/// The name of a Host.
pub fn host_name(kinds: &[Kind], at: &str) -> Vec<Pair> {
    label(kinds, at, 50)
}

fn label(kinds: &[Kind], at: &str, most: usize) -> Vec<Pair> {
    let message = "must have only lower-case letters, digits and '-', and start and end with a letter or digit";
    vec![
        Pair::length(kinds, at, most, text),
        Pair::on(kinds, at, rule(message))
            .refuse_all(["", "Web", "a.b", "a_b", "-a", "a-", "ä"])
            .accept_all(["a", "0", "a--b", "1-a"]),
    ]
}

/// The name of a Secret, a ConfigMap or another object: a DNS subdomain.
pub fn object_name(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let message = "must have only lower-case letters, digits, '-' and '.', and start and end with a letter or digit";
    vec![
        Pair::length(kinds, at, 253, text),
        Pair::on(kinds, at, rule(message))
            .refuse_all(["", "Login", "a_b", "-a", "a.", "a..b", "a.-b"])
            .accept_all(["a", "a.b-c.0"]),
    ]
}

/// A key of a Secret or ConfigMap.
pub fn data_key(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let message = "must have only letters, digits, '-', '_' and '.', at least one of them, and not be '.' nor begin '..'";
    vec![
        Pair::length(kinds, at, 253, text),
        Pair::on(kinds, at, rule(message))
            .refuse_all(["", "a/b", "a b", ".", "..", "..a"])
            .accept_all([".dockerconfigjson", "a.b_C-0"]),
    ]
}

/// A reference to one key of a Secret or ConfigMap.
pub fn key_ref(kinds: &[Kind], at: &str) -> Vec<Pair> {
    [object_name(kinds, &format!("{at}.name")), data_key(kinds, &format!("{at}.key"))].concat()
}

/// A quantity: what holds of all of them.
pub fn quantity(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let long = |count: usize| json!(format!("{}12Mi", "0".repeat(count - 4)));
    vec![
        Pair::length(kinds, at, 64, long),
        Pair::on(kinds, at, rule("must be a quantity such as 512Mi, 1.5 or 500m"))
            .refuse_all([
                "",
                "much",
                "512 Mi",
                "512mi",
                "1K",
                "1,5",
                "0x10",
                "1e",
                "1e10000000",
                "1e-10000000",
                "1E+999999999",
            ])
            .accept_all(["12Mi", "12e6", "12.0M"])
            .accept(json!(12_582_912)),
    ]
}

/// The greatest quantity, for a field that takes one that great.
pub fn greatest(kinds: &[Kind], at: &str) -> Pair {
    Pair::on(kinds, at, rule("must be less than 2^63-1, about 8Ei"))
        .refuse_all(["8Ei", "1e30", "9223372036854775807"])
        .accept_all(["7Ei", "9223372036854775806"])
}

/// A number of bytes.
pub fn bytes(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let mut pairs = quantity(kinds, at);
    pairs.push(greatest(kinds, at));
    let message = "must be whole bytes: Docker's 512m is 512Mi here, where m is a thousandth";
    pairs.push(
        Pair::on(kinds, at, rule(message))
            .refuse_all(["512m", "512000000000m", "0.5", "7340032.5", "1u", "1n"])
            .accept_all(["7340032", "7340032.0", "7.5Mi", "7.5e6"]),
    );
    pairs
}

/// A number of bytes above 0, however many.
pub fn size(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let mut pairs = bytes(kinds, at);
    pairs.push(
        Pair::on(kinds, at, rule("must be above 0"))
            .refuse_all(["0", "-1", "0Gi", "-5Gi"])
            .refuse(json!(0))
            .accept_all(["1", "1Gi"])
            .accept(json!(1)),
    );
    pairs
}

/// A duration: what holds of all of them.
pub fn duration(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let long = |count: usize| json!(format!("{}1s", "0".repeat(count - 2)));
    vec![
        Pair::length(kinds, at, 64, long),
        Pair::on(kinds, at, rule("must be a duration such as 30s, 1.5s or 1h30m"))
            .refuse_all([
                "",
                "30",
                "1d",
                "1 h",
                "-1s",
                "abc",
                "s",
                "1.2.3s",
                "2562048h",
                "9999999999h",
            ])
            .accept_all(["30s", "1h30m", "2562046h"]),
    ]
}

/// A signal.
pub fn signal(kinds: &[Kind], at: &str) -> Vec<Pair> {
    vec![
        Pair::on(kinds, at, Bound::MaxLength(16)).refuse(text(17)).accept(json!("SIGRTMIN+15")),
        Pair::on(kinds, at, rule("must be a Linux signal such as SIGTERM, HUP, SIGRTMIN+3 or 15"))
            .refuse_all(["", "SIGFOO", "0", "65", "-9", "RTMIN+16", "RTMAX-15", "SIG"])
            .accept_all(["SIGTERM", "HUP", "term", "1", "64", "RTMAX-14"]),
    ]
}

/// An image.
pub fn image(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let digest = format!("sha512:{}", "0".repeat(128));
    let tag = "t".repeat(128);
    let longest = format!("localhost:5000/{}:{tag}@{digest}", "a".repeat(240));
    assert_eq!(longest.len(), 520);
    let id = "0123456789abcdef".repeat(4);
    vec![
        Pair::on(kinds, at, Bound::MaxLength(520)).refuse(text(521)).accept(json!(longest)),
        Pair::on(
            kinds,
            at,
            rule("must be an image such as nginx:1.29 or registry.example.com:5000/team/app@sha256:…, its repository in lower case"),
        )
        .refuse_all(["", "Nginx", "registry.example.com/Team/app", "app:", "app@sha256:0", "a//b", "app:v 1", "-app"])
        .refuse(json!(format!("app:{tag}t")))
        .accept_all(["nginx", "localhost:5000/app", "REGISTRY.example.com:5000/team/app_x/y--z:V1.0_b-2"]),
        Pair::on(kinds, at, rule("must have at most 255 characters before tag and digest, 247 if there is no '/'"))
            .refuse(json!(format!("localhost:5000/{}:1", "a".repeat(241))))
            .refuse(json!(format!("{}:1", "a".repeat(248))))
            .accept(json!(format!("localhost:5000/{}:1", "a".repeat(240))))
            .accept(json!(format!("{}:1", "a".repeat(247)))),
        Pair::on(kinds, at, rule("must name an image, not be the bare id of one"))
            .refuse(json!(id))
            .accept(json!(format!("app@sha256:{id}")))
            .accept(json!(format!("{id}0"))),
    ]
}

/// A moment.
pub fn moment(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";
    vec![
        Pair::on(kinds, at, Bound::Pattern(pattern.to_owned()))
            .refuse_all([
                "2027-01-31T18:00:00.0123456789Z",
                "2027-01-31T18:00:00x5Z",
                "2027-01-31T18:00:00+23:60",
                "2027-01-31T18:00:00-24:60",
                "2027-01-31T18:00:00+24:00",
            ])
            .accept_all(["2027-01-31T18:00:00Z", "2027-01-31T18:00:00.123456789+02:00"]),
        Pair::on(kinds, at, rule("must be before 9999-12-30"))
            .refuse_all(["9999-12-30T00:00:00Z", "9999-12-31T23:59:59Z"])
            .accept_all(["9999-12-29T23:59:59Z"]),
    ]
}

/// A label selector.
pub fn selector(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let labels = format!("{at}.matchLabels");
    let list = format!("{at}.matchExpressions");
    let item = format!("{list}[]");
    let values = "must be label values: at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
    let key = "must be a label key such as zone or example.com/zone";
    let expression = |operator: &str, values: Option<&[&str]>| {
        let mut expression = json!({ "key": "zone", "operator": operator });
        if let Some(values) = values {
            expression["values"] = json!(values);
        }
        expression
    };
    let a = |count: usize| "a".repeat(count);
    vec![
        Pair::on(kinds, &labels, Bound::MaxProperties(64))
            .refuse(entries(65, |i| format!("l{i}"), ""))
            .accept(entries(64, |i| format!("l{i}"), "")),
        Pair::on(kinds, &labels, rule(&format!("keys {key}")))
            .refuse(json!({ "a b": "x" }))
            .refuse(json!({ "": "x" }))
            .refuse(json!({ "/a": "x" }))
            .refuse(json!({ "Example.com/a": "x" }))
            .refuse(json!({ (a(64).as_str()): "x" }))
            .accept(json!({ "example.com/A_b.c": "x", (a(63).as_str()): "" })),
        Pair::on(kinds, &labels, rule(values))
            .refuse(json!({ "a": "!!" }))
            .refuse(json!({ "a": "-" }))
            .accept(json!({ "a": "A_b.c-d", "b": "" })),
        Pair::on(kinds, &format!("{labels}{{}}"), Bound::MaxLength(63))
            .field(&format!("{labels}.a"))
            .refuse_fields(vec![(labels.clone(), json!({ "a": a(64) }))])
            .accept_fields(vec![(labels.clone(), json!({ "a": a(63) }))]),
        Pair::items(kinds, &list, 64, |i| json!({ "key": format!("l{i}"), "operator": "Exists" })),
        Pair::on(kinds, &item, rule("In and NotIn need values, Exists and DoesNotExist take none"))
            .field(&format!("{list}[0].values"))
            .refuse(expression("In", None))
            .refuse(expression("NotIn", Some(&[])))
            .refuse(expression("Exists", Some(&["a"])))
            .refuse(expression("DoesNotExist", Some(&["a"])))
            .accept(expression("In", Some(&["a"])))
            .accept(expression("Exists", None))
            .accept(expression("DoesNotExist", Some(&[]))),
        Pair::on(
            kinds,
            &format!("{item}.operator"),
            Bound::Enum(["In", "NotIn", "Exists", "DoesNotExist"].map(str::to_owned).to_vec()),
        )
        .refuse_fields(vec![(list.clone(), json!([expression("Bogus", None)]))])
        .accept_fields(vec![(list.clone(), json!([expression("NotIn", Some(&["a"]))]))]),
        Pair::on(kinds, &format!("{item}.key"), Bound::MaxLength(317))
            .refuse_fields(vec![(list.clone(), json!([{ "key": a(318), "operator": "Exists" }]))])
            .accept_fields(vec![(
                list.clone(),
                json!([{ "key": format!("{}/{}", a(253), a(63)), "operator": "Exists" }]),
            )]),
        Pair::on(kinds, &format!("{item}.key"), rule(key))
            .refuse_fields(vec![(list.clone(), json!([{ "key": "a b", "operator": "Exists" }]))])
            .accept_fields(vec![(list.clone(), json!([{ "key": "x.y/a", "operator": "Exists" }]))]),
        Pair::on(kinds, &format!("{item}.values"), Bound::MaxItems(64))
            .refuse_fields(vec![(list.clone(), json!([expression("In", Some(&["a"; 65]))]))])
            .accept_fields(vec![(list.clone(), json!([expression("In", Some(&["a"; 64]))]))]),
        Pair::on(kinds, &format!("{item}.values"), rule(values))
            .refuse_fields(vec![(list.clone(), json!([expression("In", Some(&["!!"]))]))])
            .accept_fields(vec![(list.clone(), json!([expression("In", Some(&["", "a.b"]))]))]),
        Pair::on(kinds, &format!("{item}.values[]"), Bound::MaxLength(63))
            .refuse_fields(vec![(list.clone(), json!([expression("In", Some(&[&a(64)]))]))])
            .accept_fields(vec![(list, json!([expression("In", Some(&[&a(63)]))]))]),
    ]
}
