//! The checkpoint on a real disk.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use k8s_openapi::ByteString;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::agent::durable::crash;

type All = Loaded<Value, Value, Value>;

struct Disk {
    temp: tempfile::TempDir,
    checkpoint: Checkpoint,
}

impl Disk {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let checkpoint = open(&temp);
        Self { temp, checkpoint }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.temp.path().join("checkpoint").join(name)
    }

    fn load(&self) -> All {
        self.checkpoint.load().unwrap()
    }

    fn bad(&self) -> Vec<String> {
        let names = self.checkpoint.above.names().unwrap().into_iter();
        names.filter_map(|n| n.into_string().ok()).filter(|n| n.starts_with(BAD)).collect()
    }
}

fn open(temp: &tempfile::TempDir) -> Checkpoint {
    let root = temp.path().canonicalize().unwrap();
    Checkpoint::at(&root, &root.join("checkpoint")).unwrap()
}

fn run(uid: &str, record: &str) -> RunCheckpoint<Value> {
    let run = json!({
        "apiVersion": "kibotos.dev/v1alpha1", "kind": "WorkspaceRun",
        "metadata": {
            "name": format!("web-{uid}"), "namespace": "kibotos-host-a", "uid": uid, "generation": 3,
            "deletionTimestamp": "2027-01-01T00:00:00Z",
        },
        "spec": {
            "workspace": { "namespace": "default", "name": "web", "uid": "w" },
            "sequence": 1, "generation": 1, "desired": "Running", "specHash": "1:00",
            "container": { "image": "app:1" },
        },
    });
    let sealed = |key: &str, value: &[u8]| {
        Sealed(BTreeMap::from([(key.to_owned(), ByteString(value.to_vec()))]))
    };
    RunCheckpoint {
        run: serde_json::from_value(run).unwrap(),
        secret: sealed("TOKEN", b"s3cret\x00\xff"),
        config: sealed("content", b"c0nfig"),
        has_secret: true,
        record: json!({ "step": record }),
    }
}

/// Runs, to compare.
fn saved(runs: &[RunCheckpoint<Value>]) -> Value {
    serde_json::to_value(runs).unwrap()
}

fn identity(uid: &str) -> HostIdentity {
    let json = json!({ "name": "a", "uid": uid });
    serde_json::from_value(json).unwrap()
}

#[test]
fn what_is_saved_is_loaded_by_the_next_process() {
    let disk = Disk::new();
    assert!(disk.load().is_fresh());
    disk.checkpoint.save_identity(&identity("h1").with_uid("h2")).unwrap();
    disk.checkpoint.save_run(&run("r1", "a")).unwrap();
    disk.checkpoint.save_run(&run("r2", "b")).unwrap();
    disk.checkpoint.save_task("t1", &json!({ "name": "t" })).unwrap();
    disk.checkpoint.save_images(&json!(["app:1"])).unwrap();
    let loaded: All = open(&disk.temp).load().unwrap();
    assert_eq!(saved(&loaded.runs), saved(&[run("r1", "a"), run("r2", "b")]));
    assert_eq!(loaded.identity.unwrap().earlier_uids, ["h1"]);
    assert_eq!(
        (loaded.tasks, loaded.images),
        (vec![json!({ "name": "t" })], Some(json!(["app:1"])))
    );
    assert!(loaded.set_aside.is_empty());
    disk.checkpoint.remove_run("r1").unwrap();
    disk.checkpoint.remove_run("r1").unwrap();
    disk.checkpoint.remove_task("t1").unwrap();
    let loaded = disk.load();
    assert_eq!((saved(&loaded.runs), loaded.tasks), (saved(&[run("r2", "b")]), vec![]));
}

#[test]
fn every_uid_that_a_host_had_is_kept_once() {
    let all = ["h2", "h2", "h3", "h1"].iter().fold(identity("h1"), |id, uid| id.with_uid(uid));
    assert_eq!(
        (all.uid.as_str(), all.earlier_uids),
        ("h1", vec!["h2".to_owned(), "h3".to_owned()])
    );
}

#[test]
fn its_owner_alone_reads_it_and_no_value_of_a_secret_is_shown() {
    let disk = Disk::new();
    disk.checkpoint.save_run(&run("r1", "a")).unwrap();
    assert_eq!(fs::metadata(disk.file("run-r1")).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(disk.file("")).unwrap().mode() & 0o777, 0o700);
    let shown = format!("{:?}", disk.load());
    assert!(shown.contains("TOKEN") && shown.contains("8 bytes"), "{shown}");
    assert!(
        !shown.contains("115, 51, 99") && !shown.contains("s3cret") && !shown.contains("c0nfig")
    );
    // Nor in what is said of a file of another shape.
    let body = br#"{"run": "s3cret"}"#;
    let bytes = [file::header(1, body).as_bytes(), body.as_slice()].concat();
    fs::write(disk.file("run-r1"), bytes).unwrap();
    let loaded = disk.load();
    assert!(matches!(loaded.set_aside[0].why, Bad::Shape { .. }));
    assert!(!loaded.set_aside[0].why.to_string().contains("s3cret"));
}

#[test]
fn what_cannot_be_believed_is_moved_aside_and_the_rest_go_on() {
    let disk = Disk::new();
    let body = b"{}";
    let newer = [file::header(2, body).as_bytes(), body.as_slice()].concat();
    for (content, why) in [
        (b"".to_vec(), Bad::Foreign),
        (b"{}\n".to_vec(), Bad::Foreign),
        (vec![0; 4096], Bad::Foreign),
        (newer, Bad::Newer(2)),
    ] {
        disk.checkpoint.save_run(&run("r1", "a")).unwrap();
        fs::write(disk.file("run-r2"), &content).unwrap();
        let loaded = disk.load();
        assert_eq!(saved(&loaded.runs), saved(&[run("r1", "a")]));
        let aside = &loaded.set_aside[0];
        assert_eq!((aside.name.as_str(), &aside.why), ("run-r2", &why));
        assert_eq!(fs::read(aside.moved_to.as_ref().unwrap()).unwrap(), content);
        assert!(disk.load().set_aside.is_empty());
    }
}

#[test]
fn only_the_newest_few_of_what_was_bad_are_kept() {
    let disk = Disk::new();
    for n in 0..20 {
        fs::write(disk.file("run-r"), format!("bad {n}")).unwrap();
        disk.load();
    }
    assert_eq!(disk.bad().len(), BAD_KEPT);
    assert_eq!(fs::read_to_string(disk.temp.path().join("checkpoint.bad-20")).unwrap(), "bad 19");
}

#[test]
fn an_identity_that_the_disk_spoiled_is_the_one_before() {
    let disk = Disk::new();
    disk.checkpoint.save_identity(&identity("h1")).unwrap();
    disk.checkpoint.save_identity(&identity("h1").with_uid("h2")).unwrap();
    fs::write(disk.file("identity"), "spoiled").unwrap();
    let loaded = disk.load();
    assert_eq!(loaded.identity.unwrap().uid, "h1");
    assert_eq!(loaded.set_aside.len(), 1);
}

#[test]
fn a_uid_that_is_a_path_names_no_file() {
    let disk = Disk::new();
    for uid in ["", "../x", "a/b", "a.b", &"a".repeat(129)] {
        assert!(disk.checkpoint.save_run(&run(uid, "a")).is_err(), "{uid:?}");
        assert!(disk.checkpoint.remove_task(uid).is_err(), "{uid:?}");
    }
}

#[test]
fn a_crash_at_any_point_of_a_save_leaves_the_old_or_the_new() {
    let (old, new) = (run("r1", "old"), run("r1", "new"));
    crash::at_every_point(|steps| {
        let disk = Disk::new();
        disk.checkpoint.save_run(&old).unwrap();
        disk.checkpoint.save_identity(&identity("h1")).unwrap();
        let second = identity("h1").with_uid("h2");
        let done = crash::after(steps, || {
            disk.checkpoint.save_run(&new)?;
            disk.checkpoint.save_identity(&second)
        });
        let loaded = disk.load();
        assert!(loaded.set_aside.is_empty(), "after {steps}");
        assert!(
            saved(&loaded.runs) == saved(std::slice::from_ref(&old))
                || saved(&loaded.runs) == saved(std::slice::from_ref(&new)),
            "after {steps}"
        );
        let identity = loaded.identity.unwrap();
        assert!(identity.uid == "h1" || identity == second);
        assert!(
            !done
                || (saved(&loaded.runs) == saved(std::slice::from_ref(&new)) && identity == second)
        );
        done
    });
}

#[test]
fn a_file_that_is_cut_at_any_byte_is_never_believed() {
    let bytes = file::encode(&run("r1", "a")).unwrap();
    for end in 0..bytes.len() {
        assert!(file::decode::<RunCheckpoint<Value>>(&bytes[..end]).is_err(), "{end}");
    }
    let longer = [bytes.as_slice(), b" "].concat();
    assert_eq!(file::decode::<Value>(&longer), Err(Bad::Length));
    assert!(file::decode::<RunCheckpoint<Value>>(&bytes).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_file_with_any_byte_changed_is_never_believed(at in any::<prop::sample::Index>(), by in 1..=255u8) {
        let mut bytes = file::encode(&run("r1", "a")).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= by;
        prop_assert!(file::decode::<RunCheckpoint<Value>>(&bytes).is_err());
    }

    #[test]
    fn a_file_that_mixes_two_is_never_believed(cut in any::<prop::sample::Index>()) {
        let (a, b) = (run("r1", "old"), run("r1", "anew"));
        let (a, b) = (file::encode(&a).unwrap(), file::encode(&b).unwrap());
        let cut = cut.index(a.len());
        let mixed = [&a[..cut], &b[cut..]].concat();
        let believed = file::decode::<RunCheckpoint<Value>>(&mixed).is_ok();
        prop_assert!(!believed || mixed == b);
    }
}

#[test]
fn a_full_disk_keeps_the_old_one_whole() {
    let disk = Disk::new();
    let path = disk.temp.path().join("full");
    fs::create_dir(&path).unwrap();
    let command = |args: &[&str]| {
        std::process::Command::new(args[0]).args(&args[1..]).status().unwrap().success()
    };
    let shown = path.to_str().unwrap();
    assert!(command(&["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", shown]));
    let checked = std::panic::catch_unwind(|| {
        let root = path.canonicalize().unwrap();
        let checkpoint = Checkpoint::at(&root, &root.join("checkpoint")).unwrap();
        checkpoint.save_run(&run("r1", "old")).unwrap();
        let error = checkpoint.save_run(&run("r1", &"x".repeat(100_000))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let loaded: All = checkpoint.load().unwrap();
        assert_eq!(saved(&loaded.runs), saved(&[run("r1", "old")]));
        assert!(loaded.set_aside.is_empty());
        checkpoint.save_run(&run("r1", "new")).unwrap();
    });
    assert!(command(&["umount", shown]));
    checked.unwrap();
}

#[test]
fn a_change_of_one_run_of_many_writes_that_one_alone() {
    let disk = Disk::new();
    for n in 0..100 {
        disk.checkpoint.save_run(&run(&format!("r{n}"), "a")).unwrap();
    }
    let inodes = || -> BTreeMap<String, u64> {
        let names = (0..100).map(|n| format!("run-r{n}"));
        names.map(|name| (name.clone(), fs::metadata(disk.file(&name)).unwrap().ino())).collect()
    };
    let before = inodes();
    disk.checkpoint.save_run(&run("r7", "b")).unwrap();
    let changed: Vec<_> = inodes()
        .into_iter()
        .filter(|(name, inode)| before[name] != *inode)
        .map(|(n, _)| n)
        .collect();
    assert_eq!(changed, ["run-r7"]);
    assert_eq!(disk.load().runs.len(), 100);
}
