//! Bodies at random survive the way there and back.

use kibotos::docker::ApiVersion;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{lost, of_body, warned};

/// A member that is there or not.
fn maybe(
    key: &'static str,
    value: impl Strategy<Value = Value> + 'static,
) -> BoxedStrategy<Option<(String, Value)>> {
    prop::option::of(value.prop_map(move |value| (key.to_owned(), value))).boxed()
}

fn text(regex: &'static str) -> impl Strategy<Value = Value> {
    regex.prop_map(Value::from)
}

fn number(range: std::ops::RangeInclusive<i64>) -> impl Strategy<Value = Value> {
    range.prop_map(Value::from)
}

fn texts(regex: &'static str) -> impl Strategy<Value = Value> {
    prop::collection::vec(regex, 0..4).prop_map(|list| json!(list))
}

fn map(key: &'static str, value: &'static str) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(key, value, 0..4).prop_map(|map| json!(map))
}

fn object(members: Vec<BoxedStrategy<Option<(String, Value)>>>) -> impl Strategy<Value = Value> {
    members.prop_map(|members| Value::Object(members.into_iter().flatten().collect::<Map<_, _>>()))
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop::sample::select(words).prop_map(Value::from)
}

fn config() -> impl Strategy<Value = Value> {
    let health = object(vec![
        maybe(
            "Test",
            prop::sample::select(vec![
                json!(["NONE"]),
                json!(["CMD", "a", "b"]),
                json!(["CMD-SHELL", "x || y"]),
            ]),
        ),
        maybe("Interval", number(1_000_000..=90_000_000_000_000)),
        maybe("Timeout", number(1_000_000..=90_000_000_000)),
        maybe("StartPeriod", number(1_000_000..=i64::from(i32::MAX))),
        maybe("StartInterval", number(1_000_000..=i64::from(i32::MAX))),
        maybe("Retries", number(0..=100)),
    ]);
    object(vec![
        maybe("Cmd", texts("[^\\x00]{0,8}")),
        maybe("Entrypoint", prop::collection::vec("[a-z]{1,5}", 1..3).prop_map(|list| json!(list))),
        maybe(
            "Env",
            prop::collection::btree_map("[A-Z_]{1,6}", "[^\\x00]{0,8}", 0..5).prop_map(|map| {
                json!(map.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>())
            }),
        ),
        maybe("Labels", map("[a-z.]{1,6}", ".{0,6}")),
        maybe("User", text("[0-9]{0,4}(:[0-9]{1,4})?")),
        maybe("WorkingDir", text("(/[a-z.]{1,4}){1,3}")),
        maybe("Hostname", text("[a-z]([a-z0-9-]{0,8}[a-z0-9])?")),
        maybe("MacAddress", one_of(&["02:42:ac:11:00:02"])),
        maybe("Domainname", text("[a-z]{1,8}[.]example")),
        maybe("Tty", any::<bool>().prop_map(Value::from)),
        maybe("OpenStdin", any::<bool>().prop_map(Value::from)),
        maybe("StdinOnce", any::<bool>().prop_map(Value::from)),
        maybe("StopSignal", one_of(&["SIGINT", "SIGRTMIN+3", "15"])),
        maybe("StopTimeout", number(0..=100_000)),
        maybe("Healthcheck", health),
        maybe(
            "Volumes",
            prop::collection::btree_set("/v[a-z]{1,5}", 0..3).prop_map(|set| {
                set.into_iter().map(|path| (path, json!({}))).collect::<Map<_, _>>().into()
            }),
        ),
    ])
}

fn limits() -> Vec<BoxedStrategy<Option<(String, Value)>>> {
    let rates = || {
        prop::collection::vec(("/dev/sd[a-z]", 1..=i64::MAX), 0..3).prop_map(|list| {
            list.into_iter().map(|(path, rate)| json!({ "Path": path, "Rate": rate })).collect()
        })
    };
    vec![
        maybe("CpuShares", number(2..=262_144)),
        maybe("PidsLimit", number(-1..=4_194_304)),
        maybe("MemorySwappiness", number(-1..=100)),
        maybe("OomScoreAdj", number(-1000..=1000)),
        maybe("ShmSize", number(0..=i64::MAX - 1)),
        maybe("CpusetCpus", text("[0-9](-[0-9])?(,[0-9]){0,2}")),
        maybe("CpusetMems", text("[0-9]")),
        maybe("BlkioWeight", number(10..=1000)),
        maybe("BlkioDeviceReadBps", rates()),
        maybe("BlkioDeviceWriteBps", rates()),
        maybe("BlkioDeviceReadIOps", rates()),
        maybe("BlkioWeightDevice", prop::collection::vec(("/dev/sd[a-z]", 10..=1000_i64), 0..3).prop_map(|list| {
            list.into_iter().map(|(path, weight)| json!({ "Path": path, "Weight": weight })).collect()
        })),
        maybe("BlkioDeviceWriteIOps", rates()),
        maybe("StorageOpt", (1..=1_000_000_000_000_i64).prop_map(|size| json!({ "size": size.to_string() }))),
        maybe("Ulimits", prop::sample::subsequence(vec!["core", "nofile", "rtprio", "memlock"], 0..4).prop_flat_map(|names| {
            let limits: Vec<_> = names.into_iter().map(|name| (Just(name), 0..1000_i64, 1000..2000_i64)).collect();
            limits.prop_map(|limits| {
                limits.iter().map(|(name, soft, hard)| json!({ "Name": name, "Soft": soft, "Hard": hard })).collect()
            })
        })),
    ]
}

fn mounts() -> Vec<BoxedStrategy<Option<(String, Value)>>> {
    let mount = |i: usize| {
        let options = |key: &'static str, members| maybe(key, object(members));
        let flag = |key: &'static str| maybe(key, any::<bool>().prop_map(Value::from));
        let bind = vec![
            maybe("Propagation", one_of(&["private", "rprivate", "shared", "rslave"])),
            flag("NonRecursive"),
            flag("CreateMountpoint"),
            flag("ReadOnlyNonRecursive"),
            flag("ReadOnlyForceRecursive"),
        ];
        let volume = vec![
            flag("NoCopy"),
            maybe("Labels", map("[a-z]{1,4}", "[a-z]{0,4}")),
            maybe("Subpath", text("[a-z]{1,4}")),
            maybe(
                "DriverConfig",
                object(vec![
                    maybe("Name", one_of(&["local", "nfs"])),
                    maybe("Options", map("[a-z]{1,4}", "[a-z]{0,4}")),
                ]),
            ),
        ];
        let tmpfs = vec![
            maybe("SizeBytes", number(0..=i64::MAX)),
            maybe("Mode", number(0..=0o7777)),
            maybe("Options", Just(json!([["noexec"], ["uid", "1"]]))),
        ];
        let of =
            move |type_: &'static str, source: BoxedStrategy<Option<(String, Value)>>, options| {
                let consistency = one_of(&["", "default", "cached"]);
                (source, options, any::<bool>(), consistency).prop_map(
                    move |(source, options, read_only, consistency)| {
                        let mut mount = json!({ "Type": type_, "Target": format!("/m{i}"),
                        "ReadOnly": read_only, "Consistency": consistency });
                        for (key, value) in [source, options].into_iter().flatten() {
                            mount[key] = value;
                        }
                        mount
                    },
                )
            };
        let always =
            |regex| text(regex).prop_map(|source| Some(("Source".to_owned(), source))).boxed();
        prop_oneof![
            of("bind", always("/[a-z]{1,5}"), options("BindOptions", bind)),
            of("volume", maybe("Source", text("[a-z]{2,5}")), options("VolumeOptions", volume)),
            of("tmpfs", Just(None).boxed(), options("TmpfsOptions", tmpfs)),
            of(
                "image",
                always("[a-z]{2,5}"),
                options("ImageOptions", vec![maybe("Subpath", text("[a-z]{1,4}"))])
            ),
        ]
    };
    let bind = |i: usize| {
        format!("(/[a-z]{{1,4}}|[a-z]{{2,4}}):/b{i}(:(ro|rw|z|ro,Z|rw,z))?").as_str().to_owned()
    };
    let binds = [bind(0), bind(1)].map(|regex| proptest::string::string_regex(&regex).unwrap());
    vec![
        maybe("Mounts", (mount(0), mount(1)).prop_map(|(a, b)| json!([a, b]))),
        maybe("Binds", binds.prop_map(|binds| json!(binds))),
        maybe("Tmpfs", map("/t[a-z]{1,3}", "(rw,size=[1-9]m|)")),
    ]
}

fn rights() -> Vec<BoxedStrategy<Option<(String, Value)>>> {
    let flag = |key: &'static str| maybe(key, any::<bool>().prop_map(Value::from));
    vec![
        flag("Privileged"), flag("ReadonlyRootfs"), flag("Init"), flag("PublishAllPorts"),
        maybe("CapAdd", prop::sample::subsequence(vec!["NET_ADMIN", "CAP_SYS_PTRACE", "kill"], 0..3).prop_map(|l| json!(l))),
        maybe("CapDrop", prop::sample::subsequence(vec!["ALL", "MKNOD"], 0..2).prop_map(|l| json!(l))),
        maybe("SecurityOpt", prop::sample::subsequence(
            vec!["no-new-privileges", "seccomp=unconfined", "apparmor:x", "label=disable"], 0..4).prop_map(|l| json!(l))),
        maybe("GroupAdd", texts("[a-z]{1,4}")),
        maybe("Sysctls", map("net[.][a-z]{1,4}", "[0-9]")),
        maybe("IpcMode", one_of(&["private", "host", "shareable", "container:x"])),
        maybe("PidMode", one_of(&["host", "container:x"])),
        maybe("UsernsMode", one_of(&["host", ""])),
        maybe("UTSMode", one_of(&["host", ""])),
        maybe("CgroupnsMode", one_of(&["host", "private"])),
        maybe("CgroupParent", text("/[a-z]{1,4}")),
        maybe("Runtime", one_of(&["runc", "runsc"])),
        maybe("Annotations", map("[a-z]{1,4}", ".{0,4}")),
        maybe("LogConfig", object(vec![maybe("Type", one_of(&["json-file", "local", "none"])), maybe("Config", map("[a-z]{1,4}", "[a-z0-9]{0,4}"))])),
        maybe("Devices", ("/dev/[a-z]{1,4}", "/dev/[a-z]{1,4}", "[rwm]").prop_map(|(a, b, p)| {
            json!([{ "PathOnHost": a, "PathInContainer": b, "CgroupPermissions": p }])
        })),
        maybe("DeviceCgroupRules", Just(json!(["c 188:* rwm"]))),
        maybe("DeviceRequests", object(vec![
            maybe("Driver", one_of(&["nvidia", "cdi"])),
            prop_oneof![maybe("Count", number(-1..=4)), maybe("DeviceIDs", texts("[0-9a-z]{1,3}"))].boxed(),
            maybe("Capabilities", Just(json!([["gpu", "compute"], ["x"]]))), maybe("Options", map("[a-z]{1,4}", "[a-z]{0,4}")),
        ]).prop_map(|request| json!([request]))),
        maybe("RestartPolicy", prop_oneof![
            one_of(&["", "no", "always", "unless-stopped"]).prop_map(|name| json!({ "Name": name, "MaximumRetryCount": 0 })),
            (0..10).prop_map(|n| json!({ "Name": "on-failure", "MaximumRetryCount": n })),
        ]),
        maybe("Dns", Just(json!(["1.1.1.1", "::1"]))),
        maybe("DnsSearch", texts("[a-z]{1,4}")),
        maybe("DnsOptions", texts("ndots:[0-9]")),
        maybe("ExtraHosts", texts("[a-z]{1,4}:(10[.]0[.]0[.][1-9]|host-gateway)")),
    ]
}

/// Ports and how they are published, each host port once.
fn ports() -> impl Strategy<Value = (Value, Value)> {
    let binding = prop::option::of((one_of(&["", "127.0.0.1"]), any::<bool>()));
    let port = (1..=65535_u16, prop::sample::select(vec!["tcp", "udp", "sctp"]), binding);
    prop::collection::vec(port, 0..5).prop_map(|ports| {
        let (mut exposed, mut bindings) = (Map::new(), Map::new());
        for (i, (port, protocol, binding)) in ports.into_iter().enumerate() {
            let key = format!("{port}/{protocol}");
            exposed.insert(key.clone(), json!({}));
            if let Some((ip, fixed)) = binding {
                let host = if fixed { (4000 + i).to_string() } else { String::new() };
                bindings.insert(key, json!([{ "HostIp": ip, "HostPort": host }]));
            }
        }
        (exposed.into(), bindings.into())
    })
}

/// A mode and the networks that go with it.
fn networks() -> impl Strategy<Value = (Value, Value)> {
    let endpoint = || {
        object(vec![
            maybe("Aliases", texts("[a-z]{1,4}")),
            maybe("Links", texts("[a-z]{1,4}:[a-z]{1,3}")),
            maybe("DriverOpts", map("[a-z]{1,4}", "[a-z]{0,4}")),
            maybe("GwPriority", number(-5..=5)),
            maybe("MacAddress", one_of(&["02:42:ac:11:00:02"])),
            maybe(
                "IPAMConfig",
                object(vec![
                    maybe("IPv4Address", one_of(&["10.0.0.7"])),
                    maybe("IPv6Address", one_of(&["2001:db8::7"])),
                    maybe("LinkLocalIPs", Just(json!(["169.254.1.1"]))),
                ]),
            ),
        ])
    };
    prop_oneof![
        one_of(&["default", "bridge", "", "none", "host", "front"])
            .prop_map(|mode| (mode, json!({}))),
        endpoint().prop_map(|a| (json!("front"), json!({ "front": a }))),
        (endpoint(), endpoint())
            .prop_map(|(a, b)| (json!("front"), json!({ "back": a, "front": b }))),
        endpoint().prop_map(|a| (json!("default"), json!({ "front": a, "bridge": {} }))),
    ]
}

/// A limit on the time of processors, in either of the two ways.
fn cpus() -> impl Strategy<Value = Value> {
    prop_oneof![
        object(vec![maybe("NanoCpus", number(10_000_000..=256_000_000_000))]),
        object(vec![
            maybe("CpuPeriod", number(1000..=1_000_000)),
            maybe("CpuQuota", number(1000..=i64::MAX)),
        ]),
    ]
}

/// Bodies of what a Workspace can say.
pub fn body() -> impl Strategy<Value = Value> {
    let host: Vec<_> = [limits(), mounts(), rights()].into_iter().flatten().collect();
    let memory = prop::option::of(((6 << 20)..=(1_i64 << 40), 0..3_i64));
    (config(), object(host), ports(), networks(), memory, cpus(), any::<bool>()).prop_map(
        |(mut body, mut host, (exposed, bindings), (mode, endpoints), memory, cpus, remove)| {
            let apart = mode == "host" || mode == "none";
            for (key, value) in cpus.as_object().unwrap() {
                host[key] = value.clone();
            }
            if host["UTSMode"] == "host" {
                body.as_object_mut().unwrap().remove("Hostname");
            }
            if apart || mode != "front" && endpoints != json!({}) {
                body.as_object_mut().unwrap().remove("MacAddress");
            }
            if !apart {
                host["PortBindings"] = bindings;
            }
            if let Some((bytes, swap)) = memory {
                host["Memory"] = bytes.into();
                host["OomKillDisable"] = (swap > 0).into();
                host["MemoryReservation"] = bytes.into();
                host["MemorySwap"] = [-1, bytes, 0][usize::try_from(swap).unwrap()].into();
            }
            if remove {
                host["AutoRemove"] = true.into();
                host["RestartPolicy"] = json!({ "Name": "no" });
            }
            host["NetworkMode"] = mode;
            body["Image"] = "registry.example.com:5000/team/app:1".into();
            body["ExposedPorts"] = exposed;
            body["HostConfig"] = host;
            body["NetworkingConfig"] = json!({ "EndpointsConfig": endpoints });
            body
        },
    )
}

/// A container's own MAC address where engines have it since API 1.44: in its first network.
fn with_address_in_its_network(mut body: Value) -> Value {
    if let Some(address) = body.as_object_mut().unwrap().remove("MacAddress") {
        let mode = body["HostConfig"]["NetworkMode"].as_str().unwrap_or_default();
        let network = if mode.is_empty() { "default" } else { mode }.to_owned();
        body["NetworkingConfig"]["EndpointsConfig"][network]["MacAddress"] = address;
    }
    body
}

proptest! {
    #[test]
    fn a_body_of_what_a_workspace_can_say_comes_out_with_the_same_meaning_and_without_a_warning(body in body()) {
        let imported = of_body(&body);
        prop_assert_eq!(warned(&imported), Vec::<String>::new());
        let body = with_address_in_its_network(body);
        prop_assert_eq!(lost(&body, &imported, ApiVersion::NEWEST), Vec::<String>::new(), "{:#}", body);
    }

    #[test]
    fn whatever_json_is_given_nothing_panics(text in "[\\[{\"a-zA-Z0-9:,\\]} ]{0,80}") {
        use kibotos::import::{Kind, Request, import};
        for kind in [Kind::Create, Kind::Inspect, Kind::Compose, Kind::Device] {
            let _ = import(&Request { name: Some("app"), ..super::request(kind, &text) });
        }
    }
}
