//! A Workspace's directory, on a real disk, as root.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Command;

use serde_json::json;

use super::*;
use crate::agent::config::AgentConfig;
use crate::agent::durable::crash;
use crate::agent::policy::HostPolicy;
use crate::api::WorkspaceRunSpec;

const OLD: &[u8] = b"a = 1\nb = 2\nand a line that makes it longer than the new one\n";
const NEW: &[u8] = b"a = 2\nand some more text here\n";

struct Host {
    temp: tempfile::TempDir,
    policy: HostPolicy,
}

impl Host {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap();
        fs::create_dir(path.join("root")).unwrap();
        fs::create_dir(path.join("apps")).unwrap();
        let text = format!("policy: {{default: {{directoryPrefixes: [{}/apps]}}}}", path.display());
        Self { temp, policy: AgentConfig::parse(&text).unwrap().policy }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(path)
    }

    fn root(&self) -> String {
        self.at("root").to_str().unwrap().to_owned()
    }

    fn own(&self) -> PathBuf {
        self.at("root/default_web_01234567")
    }

    fn place(&self, directory: Option<&str>) -> Result<Place, DirectoryError> {
        let directory = directory.map(|path| self.at(path));
        let run: WorkspaceRunSpec = serde_json::from_value(json!({
            "workspace": { "namespace": "default", "name": "web", "uid": "0123456789abcdef" },
            "sequence": 1, "generation": 1, "desired": "Running", "specHash": "1:00",
            "container": { "image": "app:1", "directory": directory },
        }))
        .unwrap();
        let root = self.root();
        let context = Context { run: &run, root: &root, sockets: &[] };
        Place::of(&context, &self.policy.governing("default"))
    }

    fn remove(&self) -> Result<(), DirectoryError> {
        let uid = "0123456789abcdef".to_owned();
        let workspace = WorkspaceRef { namespace: "default".into(), name: "web".into(), uid };
        remove(&self.root(), &workspace)
    }
}

fn state(place: &Place, content: &[u8]) -> DirectoryState {
    look(place, Some(&hash(content))).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn a_directory_in_the_root_is_private_and_its_config_file_readable_in_the_container() {
    let host = Host::new();
    let place = host.place(None).unwrap();
    assert_eq!(place.directory(), host.own());
    assert_eq!(state(&place, OLD), DirectoryState::Missing);
    prepare(&place, None).unwrap();
    assert_eq!(look(&place, None).unwrap(), DirectoryState::Ready);
    assert_eq!(state(&place, OLD), DirectoryState::ConfigMissing);
    prepare(&place, Some(OLD)).unwrap();
    assert_eq!(state(&place, OLD), DirectoryState::Ready);
    assert_eq!(state(&place, NEW), DirectoryState::ConfigStale);
    assert_eq!(mode(&host.own()), 0o700);
    assert_eq!(mode(&host.own().join("service.conf")), 0o644);
    host.remove().unwrap();
    host.remove().unwrap();
    assert!(!host.own().exists());
}

#[test]
fn a_directory_that_the_user_names_is_remembered_in_the_root() {
    let host = Host::new();
    let place = host.place(Some("apps/team/web")).unwrap();
    prepare(&place, Some(OLD)).unwrap();
    let named = host.at("apps/team/web");
    assert_eq!(fs::read(named.join("service.conf")).unwrap(), OLD);
    assert_eq!(
        fs::read_to_string(host.own().join(".container_dir")).unwrap(),
        named.to_str().unwrap()
    );
    assert_eq!((mode(&named), mode(&host.at("apps/team"))), (0o700, 0o755));
    host.remove().unwrap();
    assert!(!named.exists() && host.at("apps/team").exists());
}

#[test]
fn of_a_directory_that_the_user_names_only_what_we_made_is_removed() {
    let host = Host::new();
    fs::create_dir(host.at("apps/theirs")).unwrap();
    prepare(&host.place(Some("apps/theirs")).unwrap(), Some(OLD)).unwrap();
    prepare(&host.place(Some("apps/ours")).unwrap(), Some(OLD)).unwrap();
    prepare(&host.place(Some("apps/filled")).unwrap(), Some(OLD)).unwrap();
    fs::write(host.at("apps/filled/data"), "").unwrap();
    host.remove().unwrap();
    assert!(host.at("apps/theirs").exists() && !host.at("apps/theirs/service.conf").exists());
    assert!(!host.at("apps/ours").exists());
    assert!(host.at("apps/filled/data").exists() && !host.at("apps/filled/service.conf").exists());
}

#[test]
fn a_file_that_a_container_has_mounted_stays_the_same_file() {
    let host = Host::new();
    let place = host.place(None).unwrap();
    prepare(&place, Some(OLD)).unwrap();
    let inode = || fs::metadata(host.own().join("service.conf")).unwrap().ino();
    let before = inode();
    for content in [NEW, OLD, b"", NEW] {
        write_config(&place, content).unwrap();
        assert_eq!(state(&place, content), DirectoryState::Ready);
        assert_eq!(inode(), before);
    }
    // What the container wrote into it, or took from it.
    fs::write(host.own().join("service.conf"), "a = 3").unwrap();
    assert_eq!(state(&place, NEW), DirectoryState::ConfigStale);
    write_config(&place, NEW).unwrap();
    assert_eq!((state(&place, NEW), inode()), (DirectoryState::Ready, before));
}

#[test]
fn a_megabyte_is_taken_and_more_is_refused() {
    let host = Host::new();
    let place = host.place(None).unwrap();
    let most = vec![b'x'; CONFIG_MAX];
    prepare(&place, Some(&most)).unwrap();
    assert_eq!(state(&place, &most), DirectoryState::Ready);
    let error = write_config(&place, &vec![b'x'; CONFIG_MAX + 1]).unwrap_err().to_string();
    assert!(error.contains("at most 1048576"), "{error}");
    assert_eq!(state(&place, &most), DirectoryState::Ready);
}

#[test]
fn a_directory_that_an_engine_made_in_the_files_place_is_replaced_while_it_is_empty() {
    let host = Host::new();
    let place = host.place(None).unwrap();
    let file = host.own().join("service.conf");
    fs::create_dir_all(&file).unwrap();
    assert_eq!(state(&place, OLD), DirectoryState::ConfigMissing);
    prepare(&place, Some(OLD)).unwrap();
    assert_eq!(state(&place, OLD), DirectoryState::Ready);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    fs::write(file.join("data"), "").unwrap();
    let error = prepare(&place, Some(OLD)).unwrap_err();
    assert!(matches!(error, DirectoryError::Occupied(_)), "{error}");
    assert!(file.join("data").exists());
}

#[test]
fn a_container_that_replaces_the_file_makes_us_write_nowhere_else() {
    let host = Host::new();
    let outside = host.at("outside");
    fs::write(&outside, "kept").unwrap();
    let place = host.place(Some("apps/web")).unwrap();
    prepare(&place, Some(OLD)).unwrap();
    let file = host.at("apps/web/service.conf");
    let stage = host.at("apps/web/.service.conf.stage");
    let replace: [fn(&Path, &Path); 3] = [
        |outside, file| symlink(outside, file).unwrap(),
        |outside, file| fs::hard_link(outside, file).unwrap(),
        |_, file| assert!(Command::new("mkfifo").arg(file).status().unwrap().success()),
    ];
    for replace in replace {
        fs::remove_file(&file).unwrap();
        replace(&outside, &file);
        assert_eq!(state(&place, NEW), DirectoryState::ConfigMissing);
        replace(&outside, &stage);
        write_config(&place, NEW).unwrap();
        assert_eq!(state(&place, NEW), DirectoryState::Ready);
        assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
    }
    // The directory itself.
    fs::remove_dir_all(host.at("apps/web")).unwrap();
    fs::create_dir(host.at("elsewhere")).unwrap();
    fs::write(host.at("elsewhere/service.conf"), "kept").unwrap();
    symlink(host.at("elsewhere"), host.at("apps/web")).unwrap();
    assert!(write_config(&place, NEW).is_err());
    assert!(prepare(&place, Some(NEW)).is_err());
    assert!(matches!(host.place(Some("apps/web")), Err(DirectoryError::Refused(_))));
    host.remove().unwrap();
    assert_eq!(fs::read_to_string(host.at("elsewhere/service.conf")).unwrap(), "kept");
}

#[test]
fn where_the_directory_leads_is_what_the_policy_judges() {
    let host = Host::new();
    symlink(host.at("root"), host.at("apps/root")).unwrap();
    symlink("/etc", host.at("apps/etc")).unwrap();
    fs::create_dir(host.at("apps/real")).unwrap();
    symlink("real", host.at("apps/link")).unwrap();
    for bad in ["apps/root/x", "apps/etc/x", "elsewhere"] {
        let error = host.place(Some(bad)).unwrap_err();
        assert!(matches!(error, DirectoryError::Refused(_)), "{bad}: {error}");
        assert!(error.to_string().contains("spec.container.directory: not allowed"), "{error}");
    }
    let place = host.place(Some("apps/link/web")).unwrap();
    assert_eq!(place.directory(), host.at("apps/real/web"));
    prepare(&place, Some(OLD)).unwrap();
    assert_eq!(state(&place, OLD), DirectoryState::Ready);
}

#[test]
fn names_from_the_api_lead_nowhere_out_of_the_root() {
    let host = Host::new();
    let bad = WorkspaceRef { namespace: "../../x".into(), name: "a".into(), uid: "u".into() };
    assert!(matches!(remove(&host.root(), &bad), Err(DirectoryError::Refused(_))));
}

#[test]
fn what_is_mounted_in_the_directory_is_not_emptied() {
    let host = Host::new();
    let place = host.place(None).unwrap();
    prepare(&place, Some(OLD)).unwrap();
    fs::create_dir(host.own().join("mnt")).unwrap();
    fs::write(host.at("apps/data"), "").unwrap();
    let run = |args: &[&Path]| Command::new(args[0]).args(&args[1..]).status().unwrap().success();
    let mount = host.own().join("mnt");
    assert!(run(&[Path::new("mount"), Path::new("--bind"), &host.at("apps"), &mount]));
    let error = host.remove();
    assert!(run(&[Path::new("umount"), &mount]));
    assert!(matches!(error, Err(DirectoryError::Mounted(_))));
    assert!(host.at("apps/data").exists());
    host.remove().unwrap();
}

#[test]
fn a_crash_at_any_point_of_the_making_is_made_good_by_doing_it_again() {
    for directory in [None, Some("apps/team/web")] {
        let points = crash::at_every_point(|steps| {
            let host = Host::new();
            let place = host.place(directory).unwrap();
            let done = crash::after(steps, || prepare(&place, Some(OLD)));
            // The file is never there with another content.
            let seen = state(&place, OLD);
            assert_ne!(seen, DirectoryState::ConfigStale, "after {steps}");
            assert!(!done || seen == DirectoryState::Ready, "after {steps}");
            prepare(&place, Some(OLD)).unwrap();
            assert_eq!(state(&place, OLD), DirectoryState::Ready);
            host.remove().unwrap();
            assert!(!host.own().exists() && !host.at("apps/team/web").exists(), "after {steps}");
            done
        });
        assert!(points > 5, "{points}");
    }
}

#[test]
fn a_crash_at_any_point_of_an_update_is_seen_and_made_good() {
    for (from, to) in [(OLD, NEW), (NEW, OLD), (OLD, b"".as_slice())] {
        crash::at_every_point(|steps| {
            let host = Host::new();
            let place = host.place(None).unwrap();
            prepare(&place, Some(from)).unwrap();
            let inode = || fs::metadata(host.own().join("service.conf")).unwrap().ino();
            let before = inode();
            let done = crash::after(steps, || write_config(&place, to));
            let content = fs::read(host.own().join("service.conf")).unwrap();
            let seen = state(&place, to);
            assert!(seen != DirectoryState::Ready || content == to, "after {steps}");
            assert_eq!(done, seen == DirectoryState::Ready, "after {steps}");
            write_config(&place, to).unwrap();
            assert_eq!((state(&place, to), inode()), (DirectoryState::Ready, before));
            assert!(!host.own().join(".service.conf.stage").exists());
            done
        });
    }
}

#[test]
fn an_update_counts_as_not_written_until_the_container_was_told_of_it() {
    let host = Host::new();
    let place = host.place(None).unwrap();
    prepare(&place, Some(OLD)).unwrap();
    change_config(&place, NEW).unwrap();
    assert_eq!(fs::read(host.own().join("service.conf")).unwrap(), NEW);
    assert_eq!(state(&place, NEW), DirectoryState::ConfigStale);
    change_config(&place, NEW).unwrap();
    settle_config(&place).unwrap();
    assert_eq!(state(&place, NEW), DirectoryState::Ready);
    settle_config(&place).unwrap();
}

#[test]
fn a_crash_at_any_point_of_the_removal_is_made_good_by_doing_it_again() {
    crash::at_every_point(|steps| {
        let host = Host::new();
        prepare(&host.place(Some("apps/web")).unwrap(), Some(OLD)).unwrap();
        let done = crash::after(steps, || host.remove());
        host.remove().unwrap();
        assert!(!host.own().exists() && !host.at("apps/web").exists(), "after {steps}");
        done
    });
}
