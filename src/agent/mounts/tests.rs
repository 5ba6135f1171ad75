//! Where links lead, on a real disk, as root.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;
use crate::agent::config::AgentConfig;
use crate::agent::container::{Intent, create_body};
use crate::agent::policy::HostPolicy;
use crate::api::WorkspaceRunSpec;
use crate::docker::ApiVersion;

struct Host {
    temp: tempfile::TempDir,
    policy: HostPolicy,
    sockets: Vec<HostPath>,
}

impl Host {
    fn new(more: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap();
        for name in ["root", "srv", "apps", "secret"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        let shown = path.display();
        let text = format!(
            "policy: {{default: {{bindPrefixes: [{shown}/srv], directoryPrefixes: [{shown}/apps]{more}}}}}"
        );
        let sockets = vec![path.join("engine.sock").to_str().unwrap().parse().unwrap()];
        Self { temp, policy: AgentConfig::parse(&text).unwrap().policy, sockets }
    }

    fn at(&self, path: &str) -> String {
        self.path(path).to_str().unwrap().to_owned()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(path)
    }

    fn resolve(&self, container: Value, config: bool) -> Result<Create, Vec<Fault>> {
        let mut spec = json!({
            "workspace": { "namespace": "default", "name": "web", "uid": "0123456789abcdef" },
            "sequence": 1, "generation": 1, "desired": "Running", "specHash": "1:00",
            "container": { "image": "app:1" },
            "mounts": [{ "volume": { "name": "v", "uid": "u1" }, "driver": "local", "path": "/data" }],
        });
        let members = container.as_object().unwrap().clone();
        spec["container"].as_object_mut().unwrap().extend(members);
        if config {
            spec["configFile"] = json!({
                "secretName": "s", "key": "k", "sha256": "0".repeat(64), "path": "/etc/app.conf",
            });
        }
        let run: WorkspaceRunSpec = serde_json::from_value(spec).unwrap();
        let (root, secret) = (self.at("root"), BTreeMap::new());
        let engine = ApiVersion::NEWEST;
        let intent = Intent { run: &run, secret: &secret, host_uid: "h", root: &root, engine };
        let context = Context { run: &run, root: &root, sockets: &self.sockets };
        resolve(create_body(&intent).unwrap(), &context, &self.policy.governing("default"))
    }

    fn bind(&self, source: &str) -> Result<Vec<String>, Vec<(Reason, String)>> {
        let bind = format!("{}:/mnt:ro", self.at(source));
        let found = self.resolve(json!({ "binds": [bind] }), false).map_err(told)?;
        Ok(found.body.host_config.binds.unwrap())
    }

    fn mount(
        &self,
        source: &str,
        create: bool,
    ) -> Result<docker_mount::Seen, Vec<(Reason, String)>> {
        let mount = json!({
            "type": "bind", "source": self.at(source), "target": "/mnt",
            "bindOptions": { "createMountpoint": create },
        });
        let found = self.resolve(json!({ "mounts": [mount] }), false).map_err(told)?;
        let mount = found.body.host_config.mounts.unwrap().pop().unwrap();
        Ok((mount.source.unwrap(), mount.bind_options.unwrap().create_mountpoint))
    }
}

mod docker_mount {
    /// Source, and whether the engine is asked to make it.
    pub type Seen = (String, Option<bool>);
}

fn told(faults: Vec<Fault>) -> Vec<(Reason, String)> {
    faults.into_iter().map(|fault| (fault.reason, fault.error.to_string())).collect()
}

#[track_caller]
fn one<T: std::fmt::Debug>(result: Result<T, Vec<(Reason, String)>>, reason: Reason, words: &str) {
    let faults = result.unwrap_err();
    assert!(
        faults.len() == 1 && faults[0].0 == reason && faults[0].1.contains(words),
        "{faults:?}"
    );
}

#[test]
fn the_source_that_is_sent_is_where_the_written_one_leads() {
    let host = Host::new("");
    fs::create_dir(host.path("srv/real")).unwrap();
    symlink("real", host.path("srv/link")).unwrap();
    assert_eq!(host.bind("srv/link").unwrap(), [format!("{}:/mnt:ro", host.at("srv/real"))]);
    assert_eq!(host.mount("srv/link", false).unwrap().0, host.at("srv/real"));
}

#[test]
fn a_link_out_of_the_allowed_directory_is_refused_for_where_it_leads() {
    let host = Host::new("");
    symlink(host.path("secret"), host.path("srv/out")).unwrap();
    symlink("/", host.path("srv/all")).unwrap();
    let leads = format!("{} leads there", host.at("srv/out"));
    one(host.bind("srv/out"), Reason::ForbiddenByHostPolicy, &leads);
    one(
        host.mount("srv/out", false),
        Reason::ForbiddenByHostPolicy,
        "spec.container.mounts[0].source",
    );
    // Whether something is there is not told.
    one(host.bind("srv/out/none"), Reason::ForbiddenByHostPolicy, "spec.container.binds[0]");
    one(host.mount("srv/all/root/x", true), Reason::ForbiddenByHostPolicy, "mounts[0]");
    one(host.mount("srv/out/new", true), Reason::ForbiddenByHostPolicy, "mounts[0]");
    assert!(!host.path("secret/new").exists());
}

#[test]
fn an_admin_may_name_a_directory_by_a_link() {
    let host = Host::new("");
    fs::remove_dir(host.path("srv")).unwrap();
    symlink("secret", host.path("srv")).unwrap();
    fs::create_dir(host.path("secret/a")).unwrap();
    assert_eq!(host.bind("srv/a").unwrap(), [format!("{}:/mnt:ro", host.at("secret/a"))]);
}

#[test]
fn a_missing_source_is_said_and_made_by_no_engine() {
    let host = Host::new("");
    symlink("nowhere", host.path("srv/dangling")).unwrap();
    for source in ["srv/none", "srv/none/deeper", "srv/dangling"] {
        one(host.bind(source), Reason::BindSourceMissing, "spec.container.binds[0]: ");
        one(host.mount(source, false), Reason::BindSourceMissing, "createMountpoint");
    }
    fs::write(host.path("srv/file"), "").unwrap();
    one(host.bind("srv/file/x"), Reason::BindSourceMissing, "not a directory");
    assert!(!host.path("srv/none").exists());
}

#[test]
fn a_mount_point_that_is_asked_for_is_made_here() {
    let host = Host::new("");
    fs::create_dir(host.path("srv/real")).unwrap();
    symlink("real", host.path("srv/link")).unwrap();
    let seen = host.mount("srv/link/a/b", true).unwrap();
    assert_eq!(seen, (host.at("srv/real/a/b"), None));
    let made = fs::metadata(host.path("srv/real/a/b")).unwrap();
    assert_eq!((made.mode() & 0o777, made.uid()), (0o755, 0));
    assert_eq!(host.mount("srv/link/a/b", true).unwrap(), seen);
}

#[test]
fn the_agents_own_directory_is_bound_by_nobody() {
    let host = Host::new(", namedVolumes: []");
    symlink(host.path("root"), host.path("srv/root")).unwrap();
    let faults = host.bind("srv/root").unwrap_err();
    assert!(faults.iter().any(|(_, told)| told.contains("holds Secrets of others")), "{faults:?}");
}

#[test]
fn an_engines_socket_is_one_under_every_name() {
    let host = Host::new("");
    let _listener = UnixListener::bind(host.path("engine.sock")).unwrap();
    symlink(host.path("engine.sock"), host.path("srv/link.sock")).unwrap();
    fs::hard_link(host.path("engine.sock"), host.path("srv/second.sock")).unwrap();
    let _other = UnixListener::bind(host.path("srv/other.sock")).unwrap();
    one(host.bind("srv/link.sock"), Reason::ForbiddenByHostPolicy, "default.dockerSocket");
    one(host.bind("srv/second.sock"), Reason::ForbiddenByHostPolicy, "default.dockerSocket");
    host.bind("srv/other.sock").unwrap();
}

#[test]
fn the_config_files_own_bind_leads_where_the_directory_does() {
    let host = Host::new("");
    let own = host.path("root/default_web_01234567");
    let faults = told(host.resolve(json!({}), true).unwrap_err());
    assert_eq!(faults[0].0, Reason::BindSourceMissing);
    fs::create_dir(&own).unwrap();
    fs::write(own.join("service.conf"), "").unwrap();
    let create = host.resolve(json!({}), true).unwrap();
    let bind = format!("{}/service.conf:/etc/app.conf", own.display());
    assert_eq!(create.body.host_config.binds.unwrap(), [bind]);

    fs::create_dir_all(host.path("apps/real/web")).unwrap();
    symlink("real", host.path("apps/link")).unwrap();
    fs::write(host.path("apps/real/web/service.conf"), "").unwrap();
    let directory = json!({ "directory": host.at("apps/link/web") });
    let create = host.resolve(directory.clone(), true).unwrap();
    let bind = format!("{}:/etc/app.conf", host.at("apps/real/web/service.conf"));
    assert_eq!(create.body.host_config.binds.unwrap(), [bind]);
    // A container put a link in the file's place.
    fs::remove_file(host.path("apps/real/web/service.conf")).unwrap();
    symlink("/etc/shadow", host.path("apps/real/web/service.conf")).unwrap();
    let faults = told(host.resolve(directory, true).unwrap_err());
    assert_eq!(faults[0].0, Reason::BindSourceMissing);
}

#[test]
fn a_device_is_sent_by_where_its_link_leads_and_allowed_by_either_name() {
    let device = |path: &str| json!({ "devices": [{ "pathOnHost": path, "pathInContainer": "/dev/x", "cgroupPermissions": "r" }] });
    let sent = |create: Create| create.body.host_config.devices.unwrap().pop().unwrap();
    // Every Linux has this link: /dev/stdin would lead through /proc.
    let core = Path::new("/dev/kibotos-test-link");
    let _ = fs::remove_file(core);
    symlink("null", core).unwrap();
    let by_link = Host::new(", devices: [/dev/kibotos-test-*]")
        .resolve(device("/dev/kibotos-test-link"), false);
    let by_target =
        Host::new(", devices: [/dev/null]").resolve(device("/dev/kibotos-test-link"), false);
    let by_none =
        Host::new(", devices: [/dev/zero]").resolve(device("/dev/kibotos-test-link"), false);
    fs::remove_file(core).unwrap();
    assert_eq!(sent(by_link.unwrap()).path_on_host, "/dev/null");
    assert_eq!(sent(by_target.unwrap()).path_on_host, "/dev/null");
    one(by_none.map_err(told), Reason::ForbiddenByHostPolicy, "devices[0].pathOnHost");
    // A link where others may put one says nothing of the host.
    let host = Host::new("");
    symlink("/dev/null", host.path("srv/null")).unwrap();
    let host = Host {
        policy: AgentConfig::parse(&format!(
            "policy: {{default: {{devices: [{}]}}}}",
            host.at("srv/null")
        ))
        .unwrap()
        .policy,
        ..host
    };
    one(
        host.resolve(device(&host.at("srv/null")), false).map_err(told),
        Reason::ForbiddenByHostPolicy,
        "/dev/null",
    );
}

#[test]
fn a_device_that_is_not_there_is_said() {
    let host = Host::new(", devices: [/dev/ttyUSB*, /etc/hostname]");
    let device =
        |path: &str| json!({ "devices": [{ "pathOnHost": path, "pathInContainer": "/dev/x" }] });
    let told_of = |path: &str| host.resolve(device(path), false).map_err(told);
    one(told_of("/dev/ttyUSB99"), Reason::DeviceMissing, "spec.container.devices[0].pathOnHost");
    one(told_of("/etc/hostname"), Reason::DeviceMissing, "is no device");
}

#[test]
fn a_path_that_no_bind_can_name_is_sent_to_the_long_form() {
    let host = Host::new("");
    fs::create_dir(host.path("srv/a:b")).unwrap();
    symlink("a:b", host.path("srv/link")).unwrap();
    one(host.bind("srv/link"), Reason::InvalidSpec, "write it under mounts with type bind");
    assert_eq!(host.mount("srv/link", false).unwrap().0, host.at("srv/a:b"));
}

/// Mounts as an engine's inspect tells them.
fn made(mounts: &[(&str, &str, &str)]) -> Vec<MountPoint> {
    let mounts = mounts.iter().map(|(type_, source, destination)| MountPoint {
        type_: (*type_).to_owned(),
        source: (*source).to_owned(),
        destination: (*destination).to_owned(),
        ..MountPoint::default()
    });
    mounts.collect()
}

#[test]
fn a_container_starts_with_sources_that_lead_to_themselves_and_are_judged_now() {
    let host = Host::new("");
    let judged = || {
        let mount = json!({ "type": "bind", "source": host.at("srv"), "target": "/long" });
        let mut judged = host.resolve(json!({ "mounts": [mount] }), false).unwrap();
        let binds = ["/a:/x", "/b/c:/y:ro", "data:/z"].map(ToOwned::to_owned);
        judged.body.host_config.binds = Some(binds.into());
        judged
    };
    let srv = host.at("srv");
    let volume = "/var/lib/docker/volumes/v/_data";
    let of = |mounts: &[(&str, &str, &str)], leads: &str| {
        let made = made(mounts);
        astray(&made, &judged(), |path| path != leads).map(ToOwned::to_owned)
    };
    let all = [("bind", "/a", "/x"), ("bind", "/b/c/", "/y"), ("bind", srv.as_str(), "/long")];
    assert_eq!(of(&all, ""), None);
    assert_eq!(of(&[("volume", volume, "/data"), ("tmpfs", "", "/t")], ""), None);
    assert_eq!(of(&all, "/a").as_deref(), Some("/a"));
    assert_eq!(of(&[("bind", "/b", "/y")], "").as_deref(), Some("/b"));
    assert_eq!(
        of(&[("bind", "/usr/bin/env", "/run/podman-init")], "").as_deref(),
        Some("/usr/bin/env")
    );
}

#[test]
fn a_source_that_became_a_link_since_the_container_was_made_keeps_it_from_starting() {
    let host = Host::new("");
    fs::create_dir_all(host.path("srv/app/data")).unwrap();
    fs::create_dir_all(host.path("srv/app/other")).unwrap();
    let bind = format!("{}:/mnt:ro", host.at("srv/app/data"));
    let resolve = || host.resolve(json!({ "binds": [bind] }), false).unwrap();
    let source = host.at("srv/app/data");
    let made = made(&[("bind", &source, "/mnt")]);
    assert_eq!(led_astray(&made, &resolve()), None);
    fs::remove_dir(host.path("srv/app/data")).unwrap();
    symlink(host.path("srv/app/other"), host.path("srv/app/data")).unwrap();
    let message = led_astray(&made, &resolve()).unwrap();
    for words in [source.as_str(), "leads elsewhere", "change the spec"] {
        assert!(message.contains(words), "{words} in {message}");
    }
}
