//! The shared API server is a real one, and never outlives its tests.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
};

use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Error, api::ListParams};

use crate::fixture::{Server, cluster, eventually, serve_sh};

#[tokio::test]
async fn the_shared_server_answers_as_kubernetes_1_36_3() {
    let cluster = cluster().await;

    let version = cluster.admin().apiserver_version().await.unwrap();
    assert_eq!(version.git_version, "v1.36.3");

    let output = cluster.kubectl().args(["get", "serviceaccount", "default"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn a_fresh_service_account_may_not_list_secrets() {
    let namespace = cluster().await.namespace("rbac").await;
    let nobody = namespace.service_account("nobody").await;

    let secrets = Api::<Secret>::namespaced(nobody, namespace.name());
    let refusal = secrets.list(&ListParams::default()).await.unwrap_err();

    assert!(matches!(&refusal, Error::Api(status) if status.code == 403), "{refusal}");
    let who = format!("system:serviceaccount:{}:nobody", namespace.name());
    assert!(refusal.to_string().contains(&who), "{refusal}");
}

#[tokio::test]
async fn two_namespaces_of_one_hint_differ() {
    let cluster = cluster().await;

    let (one, other) = (cluster.namespace("twin").await, cluster.namespace("twin").await);

    assert!(one.name().starts_with("twin-"), "{}", one.name());
    assert_ne!(one.name(), other.name());
}

#[tokio::test]
async fn the_administrators_credentials_are_for_their_owner_alone() {
    let cluster = cluster().await;
    let kubeconfig = cluster.kubeconfig();
    let dir = kubeconfig.parent().unwrap();

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(dir), 0o700);
    assert_eq!(mode(kubeconfig), 0o600);

    let token = fs::read_to_string(dir.join("token")).unwrap();
    let told = processes(Path::new(""), token.trim());
    assert!(told.is_empty(), "anyone can read the arguments of {told:?}");
}

#[tokio::test]
async fn nothing_is_left_when_the_owner_is_killed() {
    let dir = directory("killed-owner");
    // It holds the server's only lifeline, until the end of its own standard input, so that
    // nothing is left of a failed test either.
    let mut owner = Command::new("bash")
        .args(["-c", r#"exec 7> >(exec setsid bash "$0" "$1"); read -r"#])
        .arg(serve_sh())
        .arg(&dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the server is ready", async || dir.join("kubeconfig").exists().then_some(())).await;
    assert_eq!(processes(&dir, "kube-apiserver").len(), 1);

    owner.kill().unwrap();
    owner.wait().unwrap();

    nothing_runs_in(&dir).await;
    eventually("its directory is removed", async || (!dir.exists()).then_some(())).await;
}

#[tokio::test]
async fn the_servers_of_a_killed_script_die_and_the_next_one_removes_their_directory() {
    let dir = directory("killed-script");
    let mut server = start(&dir).await;
    assert_eq!(processes(&dir, "kube-apiserver").len(), 1);

    server.script().kill().unwrap();
    drop(server);

    nothing_runs_in(&dir).await;
    assert!(dir.exists(), "nobody was there to remove it");
    let next = directory("next-script");
    let mut script = Command::new("setsid")
        .arg("bash")
        .args([&serve_sh(), &next])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the next one removes it", async || (!dir.exists()).then_some(())).await;

    // While it is still starting, too, it ends with its caller.
    drop(script.stdin.take());
    let status = eventually("the script ends", async || script.try_wait().unwrap()).await;
    assert_eq!(status.code(), Some(0));
    nothing_runs_in(&next).await;
    assert!(!next.exists());
}

#[tokio::test]
async fn a_dead_server_takes_the_others_with_it() {
    let dir = directory("dead-server");
    let mut server = start(&dir).await;

    let [etcd] = processes(&dir, "--data-dir")[..] else { panic!("one etcd") };
    let killed = Command::new("kill").args(["-KILL", &etcd.to_string()]).status().unwrap();
    assert!(killed.success());

    let status = eventually("the script ends", async || server.script().try_wait().unwrap()).await;
    assert_eq!(status.code(), Some(1));
    nothing_runs_in(&dir).await;
    assert!(!dir.exists());
}

/// A directory in which no test but the one of this name starts a server.
fn directory(name: &str) -> PathBuf {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(parent).unwrap();
    parent.join(format!("kibotos-api-{}-{name}", process::id()))
}

async fn start(dir: &Path) -> Server {
    let dir = dir.to_owned();
    tokio::task::spawn_blocking(move || Server::start(&dir)).await.unwrap().unwrap()
}

async fn nothing_runs_in(dir: &Path) {
    // A process loses its arguments a little before it lets go of its files.
    let abandoned = || File::open(dir).is_ok_and(|dir| dir.try_lock().is_ok()) || !dir.exists();
    let gone = async || (processes(dir, "").is_empty() && abandoned()).then_some(());
    eventually("its processes are gone", gone).await;
}

/// The processes that name `dir` and `what` in their arguments.
fn processes(dir: &Path, what: &str) -> Vec<u32> {
    let dir = dir.to_str().unwrap();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|pid| {
            // One that has just ended has no arguments.
            let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let arguments = String::from_utf8_lossy(&arguments);
            arguments.contains(dir) && arguments.contains(what)
        })
        .collect()
}
