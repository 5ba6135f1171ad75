//! Pairs of `container` but for its mounts and networks.

use serde_json::json;

use super::grammar::{bytes, duration, image, key_ref, object_name, size};
use crate::schema::kind::{CONTAINER, Kind};
use crate::schema::pair::{Bound, Pair, entries, fields, rule, text};

const KINDS: &[Kind] = CONTAINER;
/// The kinds in whose `container` these may stand at all.
const DECLARED: &[Kind] = &[Kind::Workspace, Kind::TemplateRevision];

pub fn pairs() -> Vec<Pair> {
    let mut pairs =
        [name(), environment(), health(), restart_policy(), security(), modes(), cpu_and_memory()]
            .concat();
    pairs.extend(image(KINDS, "spec.container.image"));
    pairs.push(Pair::choice(
        KINDS,
        "spec.container.imagePullPolicy",
        &["Always", "IfNotPresent", "Never"],
    ));
    pairs
}

fn at(field: &str) -> String {
    format!("spec.container.{field}")
}

fn name() -> Vec<Pair> {
    vec![
        Pair::length(KINDS, &at("name"), 255, text),
        Pair::on(
            KINDS,
            &at("name"),
            rule("must have at least 2 characters, only letters, digits, '_', '.' and '-', and start with a letter or digit"),
        )
        .refuse_all(["", "t", "-app", "_app", "my app", "app/1", "äpp"])
        .accept_all(["my_nginx", "a1", "A.b-c_d", "0."]),
        Pair::length(KINDS, &at("workingDir"), 4096, crate::schema::pair::path),
        Pair::on(
            KINDS,
            &at("workingDir"),
            rule("must be an absolute path such as /app, or empty for the image's own directory"),
        )
        .refuse_all(["app", "./app", "~"])
        .accept_all(["", "/", "/app/", "/a//b/../c"]),
        Pair::on(KINDS, &at("labels"), rule("a label key may be neither empty nor begin with kibotos.dev/"))
            .refuse(json!({ "kibotos.dev/workspace-uid": "u" }))
            .refuse(json!({ "kibotos.dev/x": "" }))
            .refuse(json!({ "": "x" }))
            .accept(json!({ "example.com/a": "b", "kibotos.dev": "c" })),
        Pair::on(KINDS, &at("labels"), Bound::MaxProperties(1024))
            .refuse(entries(1025, |i| format!("l{i}"), ""))
            .accept(entries(1024, |i| format!("l{i}"), "")),
    ]
}

fn environment() -> Vec<Pair> {
    let from =
        |source| fields([("spec.container.env", json!([{ "name": "A", "valueFrom": source }]))]);
    let env = |value| ("spec.container.env", value);
    let key = json!({ "name": "a", "key": "b" });
    let reserved = "CONTAINER_NAME is reserved, it always holds the container's name: leave it out";
    let mut pairs = vec![
        Pair::items(KINDS, &at("env"), 1024, |i| json!({ "name": format!("A{i}"), "value": "b" })),
        Pair::length(KINDS, &at("env[].name"), 256, text),
        Pair::on(
            KINDS,
            &at("env[].name"),
            rule("must be a name without '=' and control characters"),
        )
        .refuse_all(["", "A=B", "A\nB", "A\u{0}"])
        .accept_all(["A", "my.var-1", "Ä b"]),
        Pair::on(KINDS, &at("env[]"), rule("set value or valueFrom, not both"))
            .field("spec.container.env[0].valueFrom")
            .refuse(json!({ "name": "A", "value": "", "valueFrom": { "secretKeyRef": key } }))
            .accept(json!({ "name": "A", "valueFrom": { "secretKeyRef": key } }))
            .accept(json!({ "name": "A" })),
        Pair::on(
            KINDS,
            &at("env[].valueFrom"),
            rule("set exactly one of secretKeyRef and configMapKeyRef"),
        )
        .refuse_fields(from(json!({})))
        .refuse_fields(from(json!({ "secretKeyRef": key, "configMapKeyRef": key })))
        .accept_fields(from(json!({ "secretKeyRef": key })))
        .accept_fields(from(json!({ "configMapKeyRef": key }))),
        Pair::on(KINDS, "spec.container", rule(reserved))
            .field("spec.container.env")
            .refuse_fields(fields([env(json!([{ "name": "CONTAINER_NAME", "value": "x" }]))]))
            .refuse_fields(fields([
                ("spec.container.name", json!("app")),
                env(json!([{ "name": "CONTAINER_NAME", "value": "x" }])),
            ]))
            .refuse_fields(fields([env(json!([{ "name": "CONTAINER_NAME" }]))]))
            .accept_fields(fields([
                ("spec.container.name", json!("app")),
                env(json!([{ "name": "CONTAINER_NAME", "value": "app" }])),
            ]))
            .accept_fields(fields([env(json!([{ "name": "CONTAINER_NAMES", "value": "x" }]))])),
    ];
    for source in ["secretKeyRef", "configMapKeyRef"] {
        pairs.extend(key_ref(KINDS, &at(&format!("env[].valueFrom.{source}"))));
    }
    pairs.extend(env_from());
    pairs
}

/// `envFrom`, which the schema of a run has and its rules refuse: what a run accepts here is none.
fn env_from() -> Vec<Pair> {
    let list = at("envFrom");
    let named = json!({ "name": "a" });
    let mut pairs = vec![
        Pair::items(KINDS, &list, 64, |i| json!({ "secretRef": { "name": format!("s{i}") } })),
        Pair::on(
            KINDS,
            &format!("{list}[]"),
            rule("set exactly one of secretRef and configMapRef"),
        )
        .refuse(json!({ "prefix": "P_" }))
        .refuse(json!({ "secretRef": named, "configMapRef": named }))
        .accept(json!({ "secretRef": named }))
        .accept(json!({ "prefix": "P_", "configMapRef": named })),
    ];
    for source in ["secretRef", "configMapRef"] {
        pairs.extend(object_name(KINDS, &format!("{list}[].{source}.name")));
    }
    pairs.into_iter().flat_map(|pair| declared_or_nothing(pair, &list)).collect()
}

/// Splits a pair about a field that a run must not have: there only leaving it out is accepted.
fn declared_or_nothing(pair: Pair, field: &str) -> [Pair; 2] {
    let mut in_run = pair.clone();
    in_run.kinds = vec![Kind::WorkspaceRun];
    in_run.accepted.clear();
    let in_run = in_run.accept_fields(vec![(field.to_owned(), json!(null))]);
    [Pair { kinds: DECLARED.to_vec(), ..pair }, in_run]
}

fn health() -> Vec<Pair> {
    let test = at("healthcheck.test");
    let mut pairs = vec![
        Pair::items(KINDS, &test, 128, |i| json!(if i == 0 { "CMD" } else { "x" })),
        Pair::on(KINDS, &test, rule("must be [NONE], [CMD, PROGRAM, ARG…] or [CMD-SHELL, LINE]"))
            .refuse(json!(["curl -f http://localhost"]))
            .refuse(json!(["CMD"]))
            .refuse(json!(["NONE", "x"]))
            .refuse(json!(["CMD-SHELL"]))
            .refuse(json!(["CMD-SHELL", "a", "b"]))
            .refuse(json!(["cmd", "x"]))
            .accept(json!([]))
            .accept(json!(["NONE"]))
            .accept(json!(["CMD", "curl", "-f"]))
            .accept(json!(["CMD-SHELL", "curl -f http://localhost || exit 1"])),
    ];
    pairs.extend(Pair::range(KINDS, &at("healthcheck.retries"), 0, None));
    for field in ["interval", "timeout", "startPeriod", "startInterval"] {
        let at = at(&format!("healthcheck.{field}"));
        pairs.extend(duration(KINDS, &at));
        pairs.push(
            Pair::on(KINDS, &at, rule("must be 0s or at least 1ms"))
                .refuse_all(["1ns", "999us", "999µs"])
                .accept_all(["0s", "0", "1ms", "1000us"]),
        );
    }
    pairs
}

fn restart_policy() -> Vec<Pair> {
    let at = at("restartPolicy");
    let mut pairs = vec![
        Pair::choice(
            KINDS,
            &format!("{at}.name"),
            &["no", "always", "unless-stopped", "on-failure"],
        ),
        Pair::on(KINDS, &at, rule("maximumRetryCount goes with name on-failure only"))
            .field("spec.container.restartPolicy.maximumRetryCount")
            .refuse(json!({ "name": "always", "maximumRetryCount": 3 }))
            .refuse(json!({ "name": "no", "maximumRetryCount": 1 }))
            .accept(json!({ "name": "on-failure", "maximumRetryCount": 3 }))
            .accept(json!({ "name": "always", "maximumRetryCount": 0 })),
    ];
    pairs.extend(Pair::range(KINDS, &format!("{at}.maximumRetryCount"), 0, None));
    pairs.into_iter().flat_map(|pair| declared_or_nothing(pair, &at)).collect()
}

fn security() -> Vec<Pair> {
    let pattern = r"^(no-new-privileges([=:](true|false))?|(seccomp|apparmor|label)[=:][\s\S]+)$";
    let ulimits = [
        "core",
        "cpu",
        "data",
        "fsize",
        "locks",
        "memlock",
        "msgqueue",
        "nice",
        "nofile",
        "nproc",
        "rss",
        "rtprio",
        "rttime",
        "sigpending",
        "stack",
    ];
    let namespaced = "only parameters of a container's own namespaces can be set: net.*, fs.mqueue.*, kernel.msg*, kernel.sem, kernel.shm*";
    let mut pairs = vec![
        Pair::on(KINDS, &at("securityOpt[]"), Bound::Pattern(pattern.to_owned()))
            .refuse_all(["bogus=1", "seccomp", "seccomp=", "no-new-privileges=yes"])
            .accept_all(["no-new-privileges", "no-new-privileges:true", "seccomp=unconfined", "label=disable"])
            .accept(json!("seccomp={\n  \"defaultAction\": \"SCMP_ACT_ERRNO\"\n}")),
        Pair::on(KINDS, &at("sysctls"), Bound::MaxProperties(256))
            .refuse(entries(257, |i| format!("net.a{i}"), "1"))
            .accept(entries(256, |i| format!("net.a{i}"), "1")),
        Pair::on(KINDS, &at("sysctls"), rule(namespaced))
            .refuse(json!({ "vm.swappiness": "1" }))
            .refuse(json!({ "kernel.hostname": "x" }))
            .refuse(json!({ "net.": "1" }))
            .accept(json!({ "net.ipv4.ip_forward": "1", "kernel.shmmax": "1", "fs.mqueue.msg_max": "1" })),
        Pair::items(KINDS, &at("ulimits"), 15, |i| json!({ "name": ulimits[i % 15], "soft": 1, "hard": 1 })),
        Pair::choice(KINDS, &at("ulimits[].name"), &ulimits),
        Pair::on(KINDS, &at("ulimits[]"), rule("soft is above hard"))
            .field("spec.container.ulimits[0].soft")
            .refuse(json!({ "name": "nofile", "soft": 3, "hard": 2 }))
            .refuse(json!({ "name": "nofile", "soft": -1, "hard": 2 }))
            .accept(json!({ "name": "nofile", "soft": 2, "hard": 2 }))
            .accept(json!({ "name": "nofile", "soft": -1, "hard": -1 }))
            .accept(json!({ "name": "nofile", "soft": 5, "hard": -1 })),
    ];
    for mut pair in Pair::range(KINDS, &at("ulimits[].soft"), -1, None) {
        pair.accepted[0].set.push((at("ulimits[].hard"), json!(-1)));
        pairs.push(pair);
    }
    pairs.extend(Pair::range(KINDS, &at("ulimits[].hard"), -1, None));
    for list in ["capAdd", "capDrop"] {
        let item = at(&format!("{list}[]"));
        pairs.extend([
            Pair::items(KINDS, &at(list), 64, |_| json!("NET_ADMIN")),
            Pair::on(KINDS, &item, Bound::MaxLength(32))
                .refuse(text(33))
                .accept(json!("CAP_CHECKPOINT_RESTORE")),
            Pair::on(
                KINDS,
                &item,
                rule("must be ALL or a Linux capability such as NET_ADMIN, see capabilities(7)"),
            )
            .refuse_all(["", "CAP_ALL", "NET_ADMINS", "CAP NET_ADMIN", "SYS"])
            .accept_all(["ALL", "all", "NET_ADMIN", "CAP_NET_ADMIN", "cap_sys_ptrace"]),
        ]);
    }
    pairs
}

fn modes() -> Vec<Pair> {
    let long = |n: usize| json!(format!("container:{}", "a".repeat(n - 10)));
    vec![
        Pair::length(KINDS, &at("ipcMode"), 255, long),
        Pair::on(
            KINDS,
            &at("ipcMode"),
            rule("must be private, shareable, host, none or container:NAME"),
        )
        .refuse_all(["", "shared", "container:", "container:/x"])
        .accept_all(["none", "private", "shareable", "host", "container:db"]),
        Pair::length(KINDS, &at("pidMode"), 255, long),
        Pair::on(KINDS, &at("pidMode"), rule("must be host or container:NAME"))
            .refuse_all(["", "private", "container:", "container:a b/../"])
            .accept_all(["host", "container:db"]),
        Pair::choice(KINDS, &at("utsMode"), &["host"]),
        Pair::choice(KINDS, &at("usernsMode"), &["host"]),
        Pair::choice(KINDS, &at("cgroupnsMode"), &["private", "host"]),
        Pair::on(KINDS, &at("platform"), Bound::MaxLength(64))
            .refuse(json!(format!("linux/{}", "a".repeat(59))))
            .accept(json!(format!("linux/{}", "a".repeat(58)))),
        Pair::on(
            KINDS,
            &at("platform"),
            rule("must be OS/ARCHITECTURE[/VARIANT], e.g. linux/arm64/v8"),
        )
        .refuse_all(["", "arm64", "linux/", "Linux/amd64", "linux/arm/v7/x"])
        .accept_all(["linux/amd64", "linux/arm64/v8"]),
    ]
}

fn cpu_and_memory() -> Vec<Pair> {
    let mut pairs = size(KINDS, &at("shmSize"));
    let swap = at("memorySwap");
    let mut of_swap = bytes(KINDS, &swap);
    of_swap.push(
        Pair::on(KINDS, &swap, rule("must be above 0, or -1 for swap without limit"))
            .refuse_all(["0", "-2", "-1Gi"])
            .refuse(json!(-2))
            .accept_all(["1Gi", "-1"])
            .accept(json!(-1)),
    );
    for mut pair in of_swap {
        for case in &mut pair.accepted {
            case.set.push(("spec.resources.limits.memory".to_owned(), json!("6Mi")));
        }
        pairs.push(pair);
    }
    pairs.extend(Pair::range(KINDS, &at("memorySwappiness"), 0, Some(100)));
    pairs.extend(Pair::range(KINDS, &at("oomScoreAdj"), -1000, Some(1000)));
    pairs.extend(Pair::range(KINDS, &at("cpuPeriod"), 1000, Some(1_000_000)));
    pairs.extend(Pair::range(KINDS, &at("cpuQuota"), 1000, None));
    for field in ["cpusetCpus", "cpusetMems"] {
        pairs.extend([
            Pair::length(KINDS, &at(field), 1024, |n| json!("1".repeat(n))),
            Pair::on(KINDS, &at(field), rule("must be numbers and ranges such as 0-2,4"))
                .refuse_all(["", "a", "0-", "0,,1", "0-1-2", "0, 1"])
                .accept_all(["0", "0-2,4", "0,1"]),
        ]);
    }
    pairs
}
