//! Pairs of `resources`, of quantities and of what a Host has.

use serde_json::json;

use super::grammar::{bytes, greatest, quantity};
use crate::schema::kind::{CONTAINER, Kind};
use crate::schema::pair::{Pair, fields, rule};

pub fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for at in ["spec.resources.limits.memory", "spec.resources.requests.memory"] {
        pairs.extend(bytes(CONTAINER, at));
    }
    let least = |at, message| {
        Pair::on(CONTAINER, at, rule(message))
            .refuse_all(["0", "-6Mi", "6291455", "5Mi"])
            .refuse(json!(6_291_455))
            .accept_all(["6Mi", "6291456"])
            .accept(json!(6_291_456))
    };
    pairs.push(least(
        "spec.resources.limits.memory",
        "must be at least 6Mi: the engine takes no smaller memory limit",
    ));
    pairs.push(least(
        "spec.resources.requests.memory",
        "must be at least 6Mi: the engine takes no smaller reservation",
    ));
    pairs.push(
        Pair::on(CONTAINER, "spec.resources", rule("requests.memory is above limits.memory"))
            .field("spec.resources.requests.memory")
            .refuse(json!({ "limits": { "memory": "512Mi" }, "requests": { "memory": "512.1Mi" } }))
            .refuse(json!({ "limits": { "memory": 6_291_456 }, "requests": { "memory": "7Mi" } }))
            .accept(
                json!({ "limits": { "memory": "512Mi" }, "requests": { "memory": 536_870_912 } }),
            ),
    );
    pairs.extend(cpu());
    pairs.extend(pids());
    pairs.extend(host());
    pairs
}

fn cpu() -> Vec<Pair> {
    let (limit, request) = ("spec.resources.limits.cpu", "spec.resources.requests.cpu");
    let mut pairs = cores(CONTAINER, limit);
    pairs.extend(cores(CONTAINER, request));
    pairs.push(greatest(CONTAINER, limit));
    pairs.push(
        Pair::on(
            CONTAINER,
            limit,
            rule("must be at least 10m: a kernel enforces no smaller CPU limit"),
        )
        .refuse_all(["0", "9m", "9999999n", "-1"])
        .accept_all(["10m", "0.01", "1500m"])
        .accept(json!(1)),
    );
    // The greatest request is far below the greatest quantity, which its rule stands for.
    pairs.push(
        Pair::on(CONTAINER, request, rule("must be less than 2^63-1, about 8Ei"))
            .refuse_all(["8Ei", "1e30"])
            .accept_all(["256"]),
    );
    pairs.push(
        Pair::on(
            CONTAINER,
            request,
            rule("must be from 1953125n (2 CPU shares) to 256 (262144 CPU shares)"),
        )
        .refuse_all(["0", "1m", "1953124n", "256.001"])
        .refuse(json!(257))
        .accept_all(["1953125n", "2m", "256"])
        .accept(json!(256)),
    );
    pairs
}

/// A quantity of which few are needed: what [`quantity`] shows, with fewer of them.
fn cores(kinds: &[Kind], at: &str) -> Vec<Pair> {
    let long = |count: usize| json!(format!("{}1", "0".repeat(count - 1)));
    vec![
        Pair::length(kinds, at, 64, long),
        Pair::on(kinds, at, rule("must be a quantity such as 512Mi, 1.5 or 500m"))
            .refuse_all(["", "two", "1 ", "1,5", "1000mm"])
            .accept_all(["1.5", "500m", "2"])
            .accept(json!(2)),
    ]
}

fn pids() -> Vec<Pair> {
    let at = "spec.resources.limits.kibotos.dev/pids";
    let mut pairs = cores_but_whole(at);
    // As with CPU requests: the greatest number is far below the greatest quantity.
    pairs.push(
        Pair::on(CONTAINER, at, rule("must be less than 2^63-1, about 8Ei"))
            .refuse_all(["8Ei", "1e30"])
            .accept_all(["4194304"]),
    );
    pairs.push(
        Pair::on(
            CONTAINER,
            at,
            rule("must be a whole number from 1 to 4194304, the most a kernel can count"),
        )
        .refuse_all(["0", "-1", "1.5", "500m", "4194305"])
        .refuse(json!(0))
        .accept_all(["1", "1k", "4Mi"])
        .accept(json!(100)),
    );
    pairs
}

fn cores_but_whole(at: &str) -> Vec<Pair> {
    let long = |count: usize| json!(format!("{}1", "0".repeat(count - 1)));
    vec![
        Pair::length(CONTAINER, at, 64, long),
        Pair::on(CONTAINER, at, rule("must be a quantity such as 512Mi, 1.5 or 500m"))
            .refuse_all(["", "many", "1 k"])
            .accept_all(["4096", "4Ki"]),
    ]
}

fn host() -> Vec<Pair> {
    let kinds = &[Kind::Host];
    let mut pairs = Vec::new();
    for part in ["spec.capacity", "status.capacity", "status.allocatable"] {
        for resource in ["cpu", "memory", "kibotos.dev/pids"] {
            let at = &format!("{part}.{resource}");
            if resource == "memory" {
                pairs.extend(bytes(kinds, at));
            } else {
                pairs.extend(quantity(kinds, at));
                pairs.push(greatest(kinds, at));
            }
            pairs.push(
                Pair::on(kinds, at, rule("must not be negative"))
                    .refuse_all(["-1", "-1m"])
                    .refuse(json!(-1))
                    .accept_all(["0", "1"]),
            );
        }
    }
    pairs
}

/// What crosses `resources` and `container`.
pub fn crossings() -> Vec<Pair> {
    let message = "resources.limits.cpu goes with neither container.cpuQuota nor container.cpuPeriod: set one or the other";
    let with = |name: &str, cpu| {
        let value = (format!("spec.container.{name}"), json!(50_000));
        [vec![value], fields([("spec.resources.limits.cpu", cpu)])].concat()
    };
    vec![
        Pair::on(&[Kind::Workspace, Kind::TemplateRevision], "spec", rule(message))
            .field("spec.resources.limits.cpu")
            .refuse_fields(with("cpuQuota", json!("1")))
            .refuse_fields(with("cpuPeriod", json!("1")))
            .accept_fields(with("cpuQuota", json!(null)))
            .accept_fields(with("cpuPeriod", json!(null))),
    ]
}
