use super::*;

fn refused(text: &str) -> String {
    AgentConfig::parse(text).unwrap_err().to_string()
}

#[test]
fn a_document_without_content_is_the_closed_default() {
    let closed = AgentConfig::default();
    for text in [
        "",
        "# nothing\n",
        "---\n",
        "{}",
        "policy:\n",
        "policy:\n  default:\n  namespaces:\nimages:\n",
        "policy:\n  default:\n    devices:\n    # - /dev/fuse\n    hostPorts: []\n    privileged: false\n",
        "images: {collectAtDiskPercent: 85}\nresync: 1m\n",
    ] {
        assert_eq!(AgentConfig::parse(text).unwrap(), closed, "{text:?}");
    }
    assert_eq!(closed.images.collect_at_disk_percent.get(), 85);
    assert_eq!(closed.resync.get().as_secs(), 60);
}

#[test]
fn a_namespace_that_is_left_empty_is_closed_whatever_the_default() {
    let config =
        AgentConfig::parse("policy:\n  default: {privileged: true}\n  namespaces:\n    dev:\n")
            .unwrap();
    assert!(!config.policy.governing("dev").allowances.privileged);
    assert!(config.policy.governing("prod").allowances.privileged);
}

#[test]
fn entries_can_be_shared_between_namespaces() {
    let text = "policy:\n  default: &base\n    networks: [front]\n  namespaces:\n    dev:\n      <<: *base\n      privileged: true\n";
    let config = AgentConfig::parse(text).unwrap();
    let dev = config.policy.governing("dev").allowances;
    assert_eq!(dev.networks, config.policy.default.networks);
    assert!(dev.privileged);
}

#[test]
fn an_error_says_line_column_and_key_and_what_to_write() {
    for (text, expected) in [
        (
            "polices: {}\n",
            "line 1, column 1: polices: unknown key polices: write one of policy, images, resync",
        ),
        (
            "policy:\n  default:\n    privilegd: true\n",
            "line 3, column 5: policy.default.privilegd: unknown key privilegd: write one of privileged, hostNamespaces,",
        ),
        (
            "policy:\n  namespaces:\n    dev:\n      privileged: yes\n",
            "line 4, column 7: policy.namespaces.dev.privileged: string \"yes\" does not fit: write true or false",
        ),
        (
            "policy: {default: {privileged: \"true\"}}\n",
            "line 1, column 20: policy.default.privileged: string \"true\" does not fit",
        ),
        (
            "policy: {default: {privileged: 1}}\n",
            "line 1, column 20: policy.default.privileged: integer `1` does not fit: write true or false",
        ),
        (
            "policy: {default: {privileged: }}\n",
            "policy.default.privileged: unit value does not fit",
        ),
        ("policy:\n  default:\n  - x\n", "line 3, column 5: policy.default: must be a map"),
        (
            "policy: {default: {devices: /dev/x}}\n",
            "line 1, column 29: policy.default.devices: must be a list: write it as [A, B]",
        ),
        (
            "policy:\n  default: {}\n  default: {}\n",
            "line 3, column 3: policy.default: default stands twice: leave one of the two out",
        ),
        (
            "policy: {namespaces: {Dev: {}}}\n",
            "line 1, column 23: policy.namespaces.Dev: \"Dev\" contains 'D'",
        ),
        (
            "policy:\n  default:\n    devices:\n    - /dev/a\n    - {path: /dev/x, permission: r}\n",
            "line 5, column 22: policy.default.devices[1].permission: unknown key permission: write one of path, permissions",
        ),
        ("policy: {default: {networks: [a, *]}}\n", "a text that begins with * takes quotes"),
        (
            "policy: {default: {networks: [~]}}\n",
            "line 1, column 31: policy.default.networks[0]: null is not allowed here",
        ),
        (
            "resync: 30\n",
            "line 1, column 9: resync: \"30\" has a number without a unit: write one such as 30s",
        ),
        ("resync: 10ms\n", "line 1, column 9: resync: 10ms must be at least 1s"),
        (
            "images: {collectAtDiskPercent: 0}\n",
            "line 1, column 32: images.collectAtDiskPercent: 0 must be from 1 to 100",
        ),
        (
            "images: {collectAtDiskPercent: -1}\n",
            "line 1, column 32: images.collectAtDiskPercent: -1 must be from 1 to 100",
        ),
        (
            "images: {collectAtDiskPercent: 300}\n",
            "line 1, column 32: images.collectAtDiskPercent: 300 must be from 1 to 100",
        ),
        (
            "images: {collectAtDiskPercent: \"85\"}\n",
            "does not fit: write a whole number from 1 to 100",
        ),
        ("policy: {}\n---\npolicy: {}\n", "line 3, column 1: only single YAML document expected"),
        ("- policy\n", "line 1, column 1: must be a map"),
        ("policy: {\n", "line 1, column 9: policy: unclosed bracket"),
    ] {
        let error = refused(text);
        assert!(error.contains(expected), "{text}\n  said {error}\n  not  {expected}");
        assert!(error.starts_with("line "), "{error}");
    }
}

#[test]
fn a_bad_entry_of_any_list_is_an_error_at_its_place() {
    for (key, entry, expected) in [
        (
            "hostNamespaces",
            "net",
            "net is not known: write one of network, pid, ipc, uts, user, cgroup",
        ),
        ("joinContainers", "a b", "is not a name"),
        ("bindPrefixes", "srv", "not an absolute path"),
        ("bindPrefixes", "/srv/../etc", "'..' segment"),
        ("bindPrefixes", "1", "a map {path, readOnly, shared}"),
        ("directoryPrefixes", "data", "not an absolute path"),
        ("devices", "ttyS0", "is not a path such as /dev/ttyUSB*"),
        ("devices", "c 188 rwm", "is not a path such as /dev/ttyUSB*"),
        ("deviceRequests", "\"\"", "is not a name"),
        ("capabilities", "NET_ADMINS", "is not a capability"),
        ("sysctls", "net.core.somaxconn=1", "without a value"),
        ("sysctls", "net/core/somaxconn", "with dots"),
        ("securityOpts", "seccomp", "is not a security option"),
        ("runtimes", "\"\"", "is not a name"),
        ("runtimes", "[]", "a map {name, annotations}"),
        ("volumeDriverOptions", "{driver: local, types: [ext4]}", "can show the host's own files"),
        ("volumeDriverOptions", "{driver: local}", "types"),
        ("namedVolumes", "kibotos-x", "never allowed"),
        ("networks", "host", "hostNamespaces: [network]"),
        ("networks", "container:x", "joinContainers"),
        ("logDrivers", "a b", "is not a name"),
        ("hostPorts", "0", "dynamic"),
        ("hostPorts", "80/icmp", "tcp, udp and sctp"),
        ("cgroupParents", "/a/../b", "'..' segment"),
    ] {
        let error = AgentConfig::parse(&format!("policy:\n  default:\n    {key}: [{entry}]\n"));
        let error = error.unwrap_err();
        assert_eq!(error.line, 3, "{key} {entry}: {error}");
        assert!(error.path.starts_with(&format!("policy.default.{key}[0]")), "{error}");
        assert!(error.message.contains(expected), "{error}\n  not {expected}");
    }
}
