//! What a hostile user would try.

use serde_json::json;

use super::*;
use crate::docker::EndpointSettings;

#[track_caller]
fn refused(host: &Value, allowed: &str) {
    let allowed = allowances(allowed);
    assert!(!judge(host, &allowed).is_empty(), "{host} with {allowed:?}");
}

#[test]
fn no_spelling_of_the_socket_gets_through_a_wide_prefix() {
    for source in [
        "/var/run/docker.sock",
        "/run/docker.sock",
        "//var//run/./docker.sock/",
        "/var/run/",
        "/run/.",
        "/",
        "//",
        "/run/containerd/containerd.sock",
        "/run/containerd",
        "/srv/engine/docker.sock",
        "/srv/engine",
        "/srv",
        "/proc/1/root/run/docker.sock",
        "/proc/self/root",
        "/proc/thread-self/cwd",
        "/proc/./1/root",
    ] {
        for host in [
            json!({"Binds": [format!("{source}:/x:ro")]}),
            json!({"Mounts": [{"Type": "bind", "Source": source, "Target": "/x", "ReadOnly": true}]}),
        ] {
            refused(
                &host,
                "{bindPrefixes: [/, {path: /, shared: true}], volumeDriverOptions: [local], namedVolumes: [\"*\"]}",
            );
        }
    }
}

#[test]
fn a_path_that_is_not_plain_is_refused_whatever_is_allowed() {
    for source in ["/srv/a/../../etc", "/srv/a/..", "srv/a", "", "./srv/a", "../etc", "~"] {
        let mount = json!({"Mounts": [{"Type": "bind", "Source": source, "Target": "/x"}]});
        refused(&mount, "{bindPrefixes: [/, /srv/a], dockerSocket: true}");
        let device = json!({"Devices": [{"PathOnHost": source, "PathInContainer": "/x", "CgroupPermissions": "r"}]});
        refused(&device, "devices: [\"/*\", \"/*/*\", \"/*/*/*\"]");
    }
    refused(&json!({"Mounts": [{"Type": "bind", "Target": "/x"}]}), "bindPrefixes: [/]");
    refused(&json!({"Binds": ["/srv/a:/x:ro:rw"]}), "bindPrefixes: [/srv/a]");
    refused(&json!({"Binds": ["/srv/a"]}), "bindPrefixes: [/srv/a]");
}

#[test]
fn clean_spellings_of_what_is_allowed_are_allowed() {
    for source in ["/srv//a/", "/srv/./a/b", "//srv/a"] {
        assert_eq!(
            judge(
                &json!({"Binds": [format!("{source}:/x")]}),
                &allowances("bindPrefixes: [/srv/a]")
            ),
            []
        );
    }
    assert_eq!(
        judge(&json!({"Binds": ["/var/run/x:/x"]}), &allowances("bindPrefixes: [/run/x]")),
        []
    );
    assert_eq!(
        judge(&json!({"CapAdd": ["cap_net_ADMIN"]}), &allowances("capabilities: [Net_Admin]")),
        []
    );
    assert_eq!(
        judge(
            &json!({"SecurityOpt": ["seccomp:unconfined"]}),
            &allowances("securityOpts: [seccomp=unconfined]")
        ),
        []
    );
}

#[test]
fn the_data_of_other_workspaces_is_refused_whatever_is_allowed() {
    let open = "{namedVolumes: [\"*\"], volumeDriverOptions: [local], bindPrefixes: [/]}";
    refused(&json!({"Binds": ["kibotos-1f:/x"]}), open);
    for mount in [
        json!({"Type": "volume", "Source": "kibotos-1f", "Target": "/x"}),
        // The Workspace's own, but not as the run mounts it.
        json!({"Type": "volume", "Source": "kibotos-0d1e", "Target": "/x"}),
        json!({"Type": "volume", "Source": "kibotos-0d1e", "Target": "/data", "ReadOnly": true}),
        // A second time.
        json!({"Type": "volume", "Source": "kibotos-0d1e", "Target": "/data"}),
        json!({"Type": "volume", "Target": "/x", "VolumeOptions": {"Labels": {"kibotos.dev/volume-uid": "1f"}}}),
    ] {
        refused(&json!({"Mounts": [mount]}), open);
    }
    refused(
        &json!({"Binds": ["/var/lib/kibotos/dev_web_3f2b8c1e/service.conf:/etc/service.conf"]}),
        "{}",
    );
    refused(
        &json!({"Binds": ["/var/lib/kibotos/dev_api_00000000/service.conf:/etc/service.conf"]}),
        "{}",
    );
}

#[test]
fn a_volume_of_the_workspaces_own_is_made_only_as_the_host_allows() {
    let root = json!({"type": "none", "o": "bind", "device": "/"});
    let nfs = json!({"type": "nfs", "o": "addr=10.0.0.1", "device": ":/x"});
    let (of_driver, of_options) = ("spec.mounts[1].driver", "spec.mounts[1].driverOptions");
    for (driver, options, allowed, refused) in [
        ("local", None, "{}", None),
        ("", Some(json!({})), "{}", None),
        ("local", Some(root.clone()), "{}", Some(of_options)),
        ("", Some(root.clone()), "{}", Some(of_options)),
        ("local", Some(root.clone()), "bindPrefixes: [/]", Some(of_options)),
        ("local", Some(root.clone()), "volumeDriverOptions: [sshfs]", Some(of_options)),
        ("local", Some(root.clone()), "volumeDriverOptions: [local]", None),
        (
            "local",
            Some(root),
            "volumeDriverOptions: [{driver: local, types: [nfs]}]",
            Some(of_options),
        ),
        ("local", Some(nfs), "volumeDriverOptions: [{driver: local, types: [nfs]}]", None),
        ("sshfs", None, "{}", Some(of_driver)),
        ("sshfs", None, "volumeDriverOptions: [local]", Some(of_driver)),
        ("sshfs", None, "volumeDriverOptions: [sshfs]", None),
    ] {
        let mut run = run(&json!({}));
        let mounts = run.mounts.as_mut().unwrap();
        let mut mount = mounts[0].clone();
        mount.path = "/more".to_owned();
        mount.driver = driver.to_owned();
        mount.driver_options = options.clone().map(|o| serde_json::from_value(o).unwrap());
        mounts.push(mount);
        let policy = HostPolicy { default: allowances(allowed), ..HostPolicy::default() };
        let errors = judge_by(&create(&json!({})), &run, &policy.governing("dev"));
        let expected: Vec<_> = refused.into_iter().collect();
        assert_eq!(paths(&errors), expected, "{driver} {options:?} with {allowed}: {errors:?}");
    }
}

#[test]
fn no_spelling_of_a_right_gets_past_a_lesser_one() {
    for (host, allowed) in [
        (json!({"CapAdd": ["all"]}), "capabilities: [NET_ADMIN]"),
        (json!({"CapAdd": ["CAP_ALL"]}), "capabilities: [NET_ADMIN]"),
        (json!({"CapAdd": [" NET_ADMIN"]}), "capabilities: [NET_ADMIN]"),
        (json!({"CapAdd": ["SYS_ADMıN"]}), "capabilities: [NET_ADMIN]"),
        (json!({"CapAdd": ["CAP_CAP_CHOWN"]}), "{}"),
        (json!({"SecurityOpt": ["seccomp:unconfined"]}), "securityOpts: [\"label=*\"]"),
        (json!({"SecurityOpt": ["Seccomp=unconfined"]}), "{}"),
        (json!({"SecurityOpt": ["no-new-privileges:F"]}), "{}"),
        (
            json!({"SecurityOpt": ["no-new-privileges=maybe"]}),
            "securityOpts: [no-new-privileges=false]",
        ),
        (json!({"SecurityOpt": ["disable"]}), "{}"),
        (json!({"SecurityOpt": ["writable-cgroups"]}), "{}"),
        (json!({"SecurityOpt": [""]}), "securityOpts: [\"seccomp=*\"]"),
        (json!({"SecurityOpt": ["seccomp=builtin"]}), "securityOpts: [seccomp=unconfined]"),
        (json!({"Sysctls": {"net.ipv4./../kernel.core_pattern": "x"}}), "sysctls: [net.ipv4.*]"),
        (json!({"Sysctls": {"net/ipv4/ip_forward": "x"}}), "sysctls: [\"*\"]"),
        (json!({"Sysctls": {"net.ipv4....kernel.x": "x"}}), "sysctls: [\"*\"]"),
        (json!({"PidMode": "Host"}), "hostNamespaces: [ipc]"),
        (json!({"PidMode": "private"}), "{}"),
        (json!({"UsernsMode": "container:x"}), "joinContainers: [x]"),
        (json!({"UTSMode": "container:x"}), "joinContainers: [x]"),
        (json!({"NetworkMode": "HOST"}), "hostNamespaces: [network]"),
        (json!({"NetworkMode": "host"}), "networks: [\"*\"]"),
        (json!({"NetworkMode": "container:a1"}), "joinContainers: [\"a*\"]"),
        (json!({"NetworkMode": "container:x"}), "networks: [\"*\"]"),
        (json!({"NetworkMode": "a1b2c3"}), "networks: [\"a*\"]"),
        (json!({"DeviceCgroupRules": ["a 1:3 r"]}), "devices: [\"c 1:3 r\", \"b *:* rwm\"]"),
        (json!({"DeviceCgroupRules": ["c 1:3 rwm "]}), "devices: [\"c *:* rwm\"]"),
        (
            json!({"Devices": [{"PathOnHost": "/dev", "PathInContainer": "/dev", "CgroupPermissions": "r"}]}),
            "devices: [\"/dev/*\"]",
        ),
        (
            json!({"Devices": [{"PathOnHost": "/dev/a", "PathInContainer": "/a", "CgroupPermissions": ""}]}),
            "devices: [/dev/a]",
        ),
        (
            json!({"Devices": [{"PathOnHost": "/dev/a", "PathInContainer": "/a", "CgroupPermissions": "xyz"}]}),
            "devices: [/dev/a]",
        ),
        (json!({"DeviceRequests": [{}]}), "deviceRequests: [\"*\"]"),
        (
            json!({"DeviceRequests": [{"Capabilities": [["gpu"], ["other"]]}]}),
            "deviceRequests: [gpu]",
        ),
        (json!({"DeviceRequests": [{"Capabilities": [["gpu"], []]}]}), "deviceRequests: [gpu]"),
        (
            json!({"Mounts": [{"Type": "npipe", "Source": "x", "Target": "/x"}]}),
            "bindPrefixes: [/]",
        ),
        (
            json!({"Mounts": [{"Type": "Bind", "Source": "/etc", "Target": "/x"}]}),
            "bindPrefixes: [/etc]",
        ),
        (
            json!({"Mounts": [{"Type": "volume", "Source": "/etc", "Target": "/x"}]}),
            "namedVolumes: [\"*\"]",
        ),
        (
            json!({"Mounts": [{"Type": "tmpfs", "Target": "/x", "VolumeOptions": {"DriverConfig": {"Options": {"device": "/"}}}}]}),
            "{}",
        ),
        (
            json!({"LogConfig": {"Config": {"syslog-address": "unix:///run/x"}}}),
            "logDrivers: [syslog]",
        ),
        (json!({"LogConfig": {"Type": "JSON-file"}}), "{}"),
        (
            json!({"PortBindings": {"80/tcp": [{"HostIp": "127.0.0.01", "HostPort": "80"}]}}),
            "hostPorts: [\"80\"]",
        ),
        (
            json!({"PortBindings": {"80/tcp": [{"HostIp": "::ffff:127.0.0.1", "HostPort": "80"}]}}),
            "hostPorts: [\"80\"]",
        ),
        (
            json!({"PortBindings": {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "80"}]}}),
            "hostPorts: [\"127.0.0.1:80\"]",
        ),
        (
            json!({"PortBindings": {"80/x": [{"HostIp": "", "HostPort": "80"}]}}),
            "hostPorts: [\"80\"]",
        ),
        (
            json!({"PortBindings": {"80/tcp": [{"HostIp": "", "HostPort": "0080-90"}]}}),
            "hostPorts: [\"80\"]",
        ),
        (
            json!({"PortBindings": {"80/tcp": [{"HostIp": "", "HostPort": "00"}]}}),
            "hostPorts: [1-65535]",
        ),
        (json!({"PortBindings": {"80/tcp": []}}), "hostPorts: [1-65535]"),
        (json!({"CgroupParent": "/w/../x"}), "cgroupParents: [/w, /]"),
        (json!({"CgroupParent": "w"}), "cgroupParents: [/w, /]"),
        (json!({"StorageOpt": {"dm.thinpooldev": "/dev/sda"}}), "{}"),
        (json!({"Ulimits": [{"Name": "RTPRIO", "Soft": 0, "Hard": 9}]}), "{}"),
        (
            json!({"NetworkingConfig": {"EndpointsConfig": {"bridge": {"DriverOpts": {"com.docker.network.endpoint.sysctls": "net.ipv4.a=1,net.core.b=2"}}}}}),
            "sysctls: [net.ipv4.*]",
        ),
    ] {
        refused(&host, allowed);
    }
}

#[test]
fn a_network_that_is_connected_after_creation_is_judged_too() {
    let mut asked = create(&json!({}));
    asked.connect.push(("host".to_owned(), EndpointSettings::default()));
    asked.connect.push(("back".to_owned(), EndpointSettings::default()));
    let run = run(&json!({"networks": [{"name": "bridge"}, {"name": "back"}]}));
    let policy = HostPolicy::default();
    let errors = judge_by(&asked, &run, &policy.governing("dev"));
    assert_eq!(
        paths(&errors),
        ["spec.container.networks[host].name", "spec.container.networks[1].name"]
    );
}

#[test]
fn a_directory_of_ones_own_must_be_under_an_allowed_one() {
    for (directory, allowed, fine) in [
        ("/data/apps/x", "directoryPrefixes: [/data/apps]", true),
        ("/data/apps//x/", "directoryPrefixes: [/data/apps]", true),
        ("/data/apps2", "directoryPrefixes: [/data/apps]", false),
        ("/data/apps/../x", "directoryPrefixes: [/data/apps]", false),
        ("/data/apps/x", "bindPrefixes: [/data/apps]", false),
        ("/", "directoryPrefixes: [/]", false),
        ("/run", "directoryPrefixes: [/]", false),
        ("/run", "{directoryPrefixes: [/], dockerSocket: true}", true),
    ] {
        let run = run(&json!({"directory": directory}));
        let policy = HostPolicy { default: allowances(allowed), ..HostPolicy::default() };
        let mut asked = create(&json!({}));
        let own = format!("{directory}/service.conf:/etc/service.conf");
        asked.body.host_config.binds = Some(vec![own]);
        let errors = judge_by(&asked, &run, &policy.governing("dev"));
        assert_eq!(errors.is_empty(), fine, "{directory} with {allowed}: {errors:?}");
        assert!(
            paths(&errors).iter().all(|path| *path == "spec.container.directory"),
            "{errors:?}"
        );
    }
}

#[test]
fn a_link_is_judged_by_where_it_leads_once_the_body_says_so() {
    let allowed = allowances("bindPrefixes: [/srv/a, /run]");
    let judged = |source: &str| judge(&json!({"Binds": [format!("{source}:/x")]}), &allowed);
    assert_eq!(judged("/srv/a/link"), []);
    assert_eq!(paths(&judged("/etc")), ["spec.container.binds[0]"]);
    assert_eq!(paths(&judged("/run/docker.sock")), ["spec.container.binds[0]"]);
}

#[test]
fn a_prefix_that_is_a_symbolic_link_covers_what_it_leads_to() {
    let allowed = allowances("bindPrefixes: [{path: /data, readOnly: true}, /srv]");
    let resolved = allowed.resolved(|path| (path == "/data").then(|| "/mnt/disk".to_owned()));
    let covered = |path: &str, writes| {
        let used = crate::agent::policy::BindUse { writes, shared: false };
        crate::agent::policy::covers(&resolved.bind_prefixes, &path.parse().unwrap(), used)
    };
    assert!(covered("/mnt/disk/x", false) && covered("/data/x", false) && covered("/srv", true));
    assert!(!covered("/mnt/disk/x", true) && !covered("/mnt", false));
}
