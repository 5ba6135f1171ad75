//! The shared Docker Engine is a real one, and never outlives its tests.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
};

use serde_json::{Value, json};

use crate::fixture::{Engine, EngineServer, Scope, engine, engine_script, eventually};

const BUSYBOX: &str = "kibotos.test/busybox:1";

#[tokio::test]
async fn the_engine_answers_with_its_version() {
    let engine = engine().await;

    let (status, version) = engine.request("GET", "/version", None).await;

    assert_eq!(status, 200);
    assert_eq!(version["Os"], "linux");
    assert!(engine.api() >= kibotos::docker::ApiVersion::OLDEST, "{version}");
    let (status, refusal) = engine.request("GET", "/v9.99/info", None).await;
    assert_eq!(status, 400, "{refusal}");
}

#[tokio::test]
async fn two_scopes_do_not_see_each_other() {
    let engine = engine().await;
    let (one, other) = (engine.scope("twin"), engine.scope("twin"));

    for scope in [&one, &other] {
        create(scope, "app").await;
        scope.network("net").await;
        scope.volume("vol").await;
    }

    let all = |scope: &Scope| ["app", "net", "vol"].map(|hint| scope.name(hint)).to_vec();
    assert_eq!(one.all().await, all(&one));
    tokio::task::spawn_blocking(move || drop(one)).await.unwrap();
    assert_eq!(other.all().await, all(&other), "the end of the one is not the other's");
}

#[tokio::test]
async fn the_end_of_a_scope_takes_what_is_its_own_and_no_more() {
    let engine = engine().await;
    let scope = engine.scope("own");
    let (name, foreign) = (scope.name("own"), scope.name("foreign"));
    let body = json!({
        "Image": BUSYBOX, "Cmd": ["sleep", "1000"], "Volumes": { "/data": {} },
        "HostConfig": { "NetworkMode": scope.network("net").await },
    });
    let (status, made) = scope.create(&format!("name={name}"), body.clone()).await;
    assert_eq!(status, 201, "{made}");
    engine.call("POST", &format!("/containers/{name}/start"), None).await;
    let seen = engine.call("GET", &format!("/containers/{name}/json"), None).await;
    let nameless = seen["Mounts"][0]["Name"].as_str().unwrap();
    let body = json!({ "Image": BUSYBOX, "Cmd": ["true"], "Labels": { "kibotos.test/other": scope.run() } });
    engine.call("POST", &format!("/containers/create?name={foreign}"), Some(&body)).await;

    let run = scope.run().to_owned();
    tokio::task::spawn_blocking(move || drop(scope)).await.unwrap();

    let survived = engine.request("DELETE", &format!("/containers/{foreign}"), None).await;
    assert_eq!(survived, (204, Value::Null), "a container without the label is not the scope's");
    for path in [
        format!("/containers/{name}/json"),
        format!("/networks/net-{run}"),
        format!("/volumes/{nameless}"),
    ] {
        assert_eq!(engine.request("GET", &path, None).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn on_an_engine_of_the_machine_nothing_is_left_when_the_owner_has_ended() {
    let engine = engine().await;
    let scope = engine.scope("reaped");
    create(&scope, "app").await;
    scope.network("net").await;
    scope.volume("vol").await;
    let mut owner = Command::new("bash")
        .args(["-c", r#"exec 7> >(exec setsid bash "$0" "$1"); cat >&7"#])
        .arg(engine_script("reap.sh"))
        .arg(engine.socket())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = owner.stdin.take().unwrap();
    writeln!(told, "{}", scope.run()).unwrap();

    // A killed owner's pipe ends the same way, with what was said before.
    drop(told);

    owner.wait().unwrap();
    eventually("all is removed", async || scope.all().await.is_empty().then_some(())).await;
}

#[tokio::test]
async fn nothing_is_left_when_the_owner_of_an_engine_is_killed() {
    let dir = directory("killed-owner");
    // It holds the engine's only lifeline, until the end of its own standard input, so that
    // nothing is left of a failed test either.
    let mut owner = Command::new("bash")
        .args(["-c", r#"exec 7> >(exec setsid bash "$0" "$1"); read -r"#])
        .arg(engine_script("serve.sh"))
        .arg(&dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let socket = dir.join("docker.sock");
    let engine = eventually("the engine is ready", async || {
        let socket = socket.clone();
        let connect = move || socket.exists().then(|| Engine::connect(&socket).ok()).flatten();
        tokio::task::spawn_blocking(connect).await.unwrap()
    })
    .await;
    busy(&engine).await;
    assert_eq!(processes(&dir, "containerd-shim").len(), 1);
    assert_eq!(traces(&dir).len(), 1 + cgroups(&dir).len());
    assert!(!cgroups(&dir).is_empty());

    owner.kill().unwrap();
    owner.wait().unwrap();

    nothing_runs_in(&dir).await;
    eventually("its directory is removed", async || (!dir.exists()).then_some(())).await;
    assert_eq!(traces(&dir), [""; 0]);
}

#[tokio::test]
async fn an_engine_dies_with_its_killed_script_and_the_next_one_removes_what_is_left() {
    let dir = directory("killed-script");
    let mut server = start(&dir).await;
    busy(&connect(&server).await).await;

    server.script().kill().unwrap();
    drop(server);

    nothing_runs_in(&dir).await;
    assert!(dir.exists(), "nobody was there to remove it");
    let next = directory("next-script");
    let mut script = Command::new("setsid")
        .arg("bash")
        .args([&engine_script("serve.sh"), &next])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the next one removes it", async || (!dir.exists()).then_some(())).await;
    assert_eq!(traces(&dir), [""; 0]);

    // While it is still starting, too, it ends with its caller.
    drop(script.stdin.take());
    let status = eventually("the script ends", async || script.try_wait().unwrap()).await;
    assert_eq!(status.code(), Some(0));
    nothing_runs_in(&next).await;
    assert!(!next.exists());
    assert_eq!(traces(&next), [""; 0]);
}

#[tokio::test]
async fn a_dead_engine_takes_its_script_with_it() {
    let dir = directory("dead-engine");
    let mut server = start(&dir).await;
    busy(&connect(&server).await).await;

    let [dockerd] = processes(&dir, "--data-root")[..] else { panic!("one dockerd") };
    let killed = Command::new("kill").args(["-KILL", &dockerd.to_string()]).status().unwrap();
    assert!(killed.success());

    let status = eventually("the script ends", async || server.script().try_wait().unwrap()).await;
    assert_eq!(status.code(), Some(1));
    nothing_runs_in(&dir).await;
    assert!(!dir.exists());
    assert_eq!(traces(&dir), [""; 0]);
}

async fn create(scope: &Scope, hint: &str) {
    let name = scope.name(hint);
    let (status, answer) =
        scope.create(&format!("name={name}"), json!({ "Image": BUSYBOX, "Cmd": ["true"] })).await;
    assert_eq!(status, 201, "{answer}");
}

/// Gives an engine of the test's own one of everything: a container that runs and publishes a
/// port, a network, a volume.
async fn busy(engine: &Engine) {
    engine.call("POST", "/networks/create", Some(&json!({ "Name": "net" }))).await;
    let body = json!({
        "Image": BUSYBOX, "Cmd": ["sleep", "1000"], "ExposedPorts": { "80/tcp": {} },
        "HostConfig": {
            "NetworkMode": "net", "Binds": ["volume:/data"],
            "PortBindings": { "80/tcp": [{ "HostPort": "80" }] },
        },
    });
    engine.call("POST", "/containers/create?name=app", Some(&body)).await;
    engine.call("POST", "/containers/app/start", None).await;
}

/// A directory in which no test but the one of this name starts an engine.
fn directory(name: &str) -> PathBuf {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(parent).unwrap();
    parent.join(format!("kibotos-engine-{}-{name}", process::id()))
}

async fn start(dir: &Path) -> EngineServer {
    let dir = dir.to_owned();
    tokio::task::spawn_blocking(move || EngineServer::start(&dir)).await.unwrap().unwrap()
}

async fn connect(server: &EngineServer) -> Engine {
    let socket = server.socket().to_owned();
    tokio::task::spawn_blocking(move || Engine::connect(&socket)).await.unwrap().unwrap()
}

async fn nothing_runs_in(dir: &Path) {
    // A process loses its arguments a little before it lets go of its files.
    let abandoned = || File::open(dir).is_ok_and(|dir| dir.try_lock().is_ok()) || !dir.exists();
    let gone = async || (processes(dir, "").is_empty() && abandoned()).then_some(());
    eventually("its processes are gone", gone).await;
}

/// What an engine has outside of its directory and its processes: mounts, its link to the
/// machine's network, cgroups.
fn traces(dir: &Path) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let text = dir.to_str().unwrap();
    let mounted = mounts.lines().filter(|line| line.contains(text)).map(str::to_owned);
    let link = Path::new("/sys/class/net").join(format!("kbt{}", short(dir)));
    let link = link.exists().then(|| link.display().to_string());
    mounted.chain(link).chain(cgroups(dir)).collect()
}

fn cgroups(dir: &Path) -> Vec<String> {
    let name = format!("kibotos-engine-{}", short(dir));
    let root = PathBuf::from("/sys/fs/cgroup");
    let controllers = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    std::iter::once(root)
        .chain(controllers)
        .map(|parent| parent.join(&name))
        .filter(|cgroup| cgroup.exists())
        .map(|cgroup| cgroup.display().to_string())
        .collect()
}

/// As `serve.sh` names what belongs to a directory.
fn short(dir: &Path) -> String {
    use sha2::{Digest, Sha256};
    let hash = Sha256::digest(format!("{}\n", dir.display()));
    hash.iter().take(6).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
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
