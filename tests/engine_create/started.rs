//! What only a started container shows.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{BUSYBOX, Bench};
use crate::fixture::eventually;

impl Bench {
    /// Makes and starts a container, and gives its name.
    async fn started(&self, hint: &str, container: Value, more: Value) -> String {
        let name = self.scope.name(hint);
        let create = self.translate(&Self::run(&name, &container, &more)).unwrap();
        let (status, answer) = self.create(&create).await;
        assert_eq!(status, 201, "{answer}");
        let (status, answer) = self.start(&name).await;
        assert_eq!(status, 204, "{answer}");
        name
    }

    /// Runs a shell line in a container, and gives the lines that it said by its end.
    async fn said(&self, hint: &str, line: &str, mut container: Value) -> Vec<String> {
        container["args"] = json!(["sh", "-c", format!("{line}\necho the end")]);
        // Of a terminal the engine keeps the bare text.
        container["tty"] = true.into();
        let name = self.started(hint, container, json!({})).await;
        let path = format!("/containers/{name}/logs?stdout=true");
        // The last of it may come after the process has ended.
        eventually("the container has said all", async || {
            let text = self.engine.call("GET", &path, None).await;
            let said = text.as_str()?.replace("\r\n", "\n");
            Some(said.strip_suffix("the end\n")?.lines().map(str::to_owned).collect())
        })
        .await
    }

    async fn stopped(&self, name: &str) -> Value {
        self.engine.call("POST", &format!("/containers/{name}/stop"), None).await;
        self.inspect(name).await["State"].clone()
    }
}

#[tokio::test]
async fn a_published_port_answers_from_the_host() {
    let bench = Bench::new("port").await;
    let name = bench
        .started(
            "web",
            json!({
                "args": ["httpd", "-f", "-p", "8080", "-h", "/etc"],
                "ports": [{ "containerPort": 8080, "publish": true }],
            }),
            json!({}),
        )
        .await;

    let seen = bench.inspect(&name).await;
    let port = &seen["NetworkSettings"]["Ports"]["8080/tcp"][0]["HostPort"];
    let port = port.as_str().unwrap().parse().unwrap();
    let page = eventually("the port answers", async || {
        fetch(SocketAddr::new(bench.engine.address(), port), "/passwd").await
    })
    .await;

    assert!(page.contains("app:x:1000:1000:app:/w:/bin/sh"), "{page}");
}

#[tokio::test]
async fn the_process_has_the_environment_user_directory_and_files_it_was_given() {
    let bench = Bench::new("process").await;
    let files = tempfile("files");
    std::fs::write(files.join("from-host"), "host\n").unwrap();
    let name = bench.scope.name("says");

    let said = bench
        .said(
            "says",
            "echo $CONTAINER_NAME $A-$TOKEN $B; id -u; id -G; pwd; hostname; cat /data/from-host; \
             cat /image-data/from-image; touch /root-file 2>/dev/null || echo read-only; \
             touch /run/x && stat -f -c %T /run; ulimit -Sn; ulimit -Hn; \
             cat /proc/sys/net/core/somaxconn; df -k /dev/shm | tail -1 | tr -s ' ' | cut -d' ' -f2; \
             grep -c db /etc/hosts",
            json!({
                "image": "kibotos.test/entry:1", "command": [],
                "env": [
                    { "name": "A", "value": "a  b=$(B)" },
                    { "name": "TOKEN", "valueFrom": { "secretKeyRef": { "name": "run", "key": "TOKEN" } } },
                ],
                "user": "1000:1000", "groupAdd": ["audio"], "workingDir": "/tmp", "hostname": "web-1",
                "anonymousVolumes": ["/data"],
                "binds": [format!("{}:/data:ro", files.display())],
                "readOnlyRootFilesystem": true, "tmpfs": { "/run": "rw,size=1m,mode=1777" },
                "ulimits": [{ "name": "nofile", "soft": 99, "hard": 199 }],
                "sysctls": { "net.core.somaxconn": "321" }, "shmSize": "2Mi",
                "extraHosts": ["db:10.0.0.5"], "healthcheck": { "test": ["NONE"] },
            }),
        )
        .await;

    let environment = format!("{name} a b=$(B)-s3cret image");
    let wanted = [
        environment.as_str(),
        "1000",
        "1000 29",
        "/tmp",
        "web-1",
        "host",
        "image",
        "read-only",
        "tmpfs",
        "99",
        "199",
        "321",
        "2048",
        "1",
    ];
    assert_eq!(said, wanted);
    std::fs::remove_dir_all(files).unwrap();
}

#[tokio::test]
async fn the_first_network_is_there_at_the_start_and_so_are_the_others() {
    let bench = Bench::networked("networks").await;
    let [front, back] = bench.networks.clone();
    let networks = json!([{ "name": front }, { "name": back, "aliases": ["web"] }]);
    let server = bench.started("web", json!({ "networks": networks }), json!({})).await;

    let seen = bench.inspect(&server).await;
    assert_eq!(seen["NetworkSettings"]["Networks"].as_object().unwrap().len(), 2, "{seen}");
    for network in [&front, &back] {
        let address = &seen["NetworkSettings"]["Networks"][network]["IPAddress"];
        assert_ne!(address.as_str().unwrap_or_default(), "", "{network}: {seen}");
    }
    let networks = json!([{ "name": back }]);
    let line = "ping -c 1 -W 5 web >/dev/null && echo met";
    assert_eq!(bench.said("pings", line, json!({ "networks": networks })).await, ["met"]);
    let networks = json!([{ "name": front }, { "name": back }]);
    let line = "ls /sys/class/net | grep -c eth";
    assert_eq!(bench.said("lists", line, json!({ "networks": networks })).await, ["2"]);
}

#[tokio::test]
async fn a_stop_sends_the_signal_and_waits_as_long_as_was_said() {
    let bench = Bench::new("stop").await;
    let line = |on_signal: &str| {
        let line = format!(
            "trap '{on_signal}' USR1; trap '' TERM; touch /ready; while :; do sleep 0.05; done"
        );
        json!({ "args": ["sh", "-c", line], "healthcheck": {
            "test": ["CMD", "test", "-e", "/ready"], "interval": "50ms",
        } })
    };
    let stop = |grace: &str| json!({ "stop": { "signal": "SIGUSR1", "gracePeriod": grace } });

    let polite = bench.started("polite", line("exit 7"), stop("50s")).await;
    let deaf = bench.started("deaf", line(""), stop("1s")).await;
    for name in [&polite, &deaf] {
        healthy(&bench, name).await;
    }

    assert_eq!(bench.stopped(&polite).await["ExitCode"], 7);
    assert_eq!(bench.stopped(&deaf).await["ExitCode"], 137);
}

#[tokio::test]
async fn a_health_check_that_fails_makes_the_container_unhealthy() {
    let bench = Bench::new("health").await;
    let check =
        |test: Value| json!({ "healthcheck": { "test": test, "interval": "50ms", "retries": 1 } });

    let well = bench.started("well", check(json!(["CMD-SHELL", "test 1 = 1"])), json!({})).await;
    let ill = bench.started("ill", check(json!(["CMD", "false"])), json!({})).await;

    healthy(&bench, &well).await;
    let is_ill = async || (health(&bench, &ill).await == "unhealthy").then_some(());
    eventually("the failing one is unhealthy", is_ill).await;
}

#[tokio::test]
async fn on_failure_is_tried_again_as_often_as_was_said() {
    let bench = Bench::new("restart").await;
    let name = bench
        .started(
            "fails",
            json!({ "args": ["false"] }),
            json!({ "restartPolicy": { "name": "on-failure", "maximumRetryCount": 2 } }),
        )
        .await;

    let tried = async || {
        let seen = bench.inspect(&name).await;
        (seen["State"]["Status"] == "exited" && seen["RestartCount"] == 2).then_some(())
    };
    eventually("it ends after two more tries", tried).await;
}

#[tokio::test]
async fn an_init_process_is_the_first_where_it_was_asked_for() {
    let bench = Bench::new("init").await;

    let with = bench.said("with", "echo $$", json!({ "init": true })).await;
    let without = bench.said("without", "echo $$", json!({ "init": false })).await;

    assert_ne!(with, ["1"]);
    assert_eq!(without, ["1"]);
}

/// Debian's runc 1.1.5 sets each capability that its kernel knows, and fails where the machine
/// lacks one (here CAP_SYS_RESOURCE).
#[tokio::test]
async fn a_privileged_container_starts_where_the_machine_has_all_capabilities() {
    let bench = Bench::new("privileged").await;
    let name = bench.scope.name("privileged");
    let run = Bench::run(&name, &json!({ "image": BUSYBOX, "privileged": true }), &json!({}));
    let create = bench.translate(&run).unwrap();
    assert_eq!(bench.create(&create).await.0, 201);

    let (status, answer) = bench.start(&name).await;

    let message = answer["message"].as_str().unwrap_or_default();
    let lacking = status == 500 && message.contains("unable to apply caps");
    assert!(status == 204 || lacking, "{status} {answer}");
}

async fn health(bench: &Bench, name: &str) -> Value {
    bench.inspect(name).await["State"]["Health"]["Status"].clone()
}

async fn healthy(bench: &Bench, name: &str) {
    let is_well = async || (health(bench, name).await == "healthy").then_some(());
    eventually("the container is healthy", is_well).await;
}

/// The answer of an HTTP server, if there is one.
async fn fetch(address: SocketAddr, path: &str) -> Option<String> {
    let fetch = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await.ok()?;
        let mut page = String::new();
        stream.read_to_string(&mut page).await.ok()?;
        (!page.is_empty()).then_some(page)
    };
    // A connection to a free port of this machine's own may meet itself, and then waits for ever.
    tokio::time::timeout(Duration::from_secs(2), fetch).await.ok()?
}

/// A fresh directory that the engine sees too.
fn tempfile(hint: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{hint}-{}", process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}
