//! The life of one Workspace, in stages, with each kind of change that an agent makes.

use k8s_openapi::api::core::v1::Secret;
use kibotos::{api::VolumeTask, controller::workspace::hash::sha256};
use kube::{Api, api::PostParams};
use serde_json::{Value, json};

use super::host::{Row, StoryHost};

const OLD: &str = "answer = 41";
const NEW: &str = "answer = 42";

/// Tells the story, and gives what was seen at the end of each stage, and how many changes on the
/// engine it took. With `wanted`, each stage is to end as the same stage did there; one stage after
/// that of the cut, the story goes on with its end.
pub async fn tell(
    host: &mut StoryHost,
    row: &Row,
    wanted: Option<&Vec<Value>>,
) -> (Vec<Value>, u64) {
    host.begin(row);
    let name = row.name();
    let mut told = Told { host, row, wanted, seen: Vec::new() };
    let newest = told.live(&name).await;
    let whole = newest == 3;
    told.host.agent.change(&format!("{name}-{newest}"), json!({ "desired": "Removed" })).await;
    told.wanted = wanted.filter(|_| whole);
    told.stage("removed", |_, seen| run(seen, newest)["phase"] == "Removed").await;
    discard(told.host, &name, newest).await;
    told.stage("discarded", |_, seen| {
        seen["tasks"] == json!(["Succeeded"]) && seen["volumes"] == json!([])
    })
    .await;
    let seen = told.seen;
    tasks(host).delete(&name, &kube::api::DeleteParams::default()).await.unwrap();
    let end = seen.last().unwrap();
    assert_eq!((&end["containers"], &end["directories"]), (&json!([]), &json!({})), "{row:?}");
    (seen, host.end(row))
}

/// The story so far.
struct Told<'a> {
    host: &'a mut StoryHost,
    row: &'a Row,
    wanted: Option<&'a Vec<Value>>,
    seen: Vec<Value>,
}

impl Told<'_> {
    /// All but the end; gives the sequence of the newest run.
    async fn live(&mut self, name: &str) -> u32 {
        secret(self.host, name, OLD).await;
        secret(self.host, name, NEW).await;
        let first = format!("{name}-1");
        self.create(name, 1, spec(name, OLD)).await;
        self.stage("running", |_, seen| runs(seen, 1, 1)).await;

        self.host.agent.change(&first, limits()).await;
        let limited = |_: &StoryHost, seen: &Value| {
            runs(seen, 1, 2) && seen["containers"][0]["host"]["Memory"] == 64 << 20
        };
        if self.stage("limited", limited).await {
            return 1;
        }
        self.host.agent.change(&first, json!({ "configFile": config(name, NEW) })).await;
        let configured = |host: &StoryHost, seen: &Value| {
            let written = seen["directories"].as_object().unwrap().values().any(|file| file == NEW);
            runs(seen, 1, 3) && written && host.signals("HUP") > 0
        };
        if self.stage("configured", configured).await {
            return 1;
        }
        self.host.agent.change(&first, json!({ "desired": "Stopped" })).await;
        if self.stage("stopped", |_, seen| is(seen, 1, 4, "Exited")).await {
            return 1;
        }
        let again = again(self.host, name).await;
        self.create(name, 2, again).await;
        if self.stage("running again", |_, seen| runs(seen, 2, 1)).await {
            return 2;
        }
        let mut other = spec(name, NEW);
        other["container"]["env"] = json!([{ "name": "OTHER", "value": "1" }]);
        self.create(name, 3, other).await;
        self.stage("made anew", |_, seen| {
            let env = &seen["containers"][0]["config"]["Env"];
            runs(seen, 3, 1) && env.to_string().contains("OTHER=1") && is(seen, 2, 1, "Exited")
        })
        .await;
        3
    }

    async fn create(&self, name: &str, sequence: i64, spec: Value) {
        self.host.agent.create(&self.host.agent.run(name, sequence, spec)).await;
    }

    /// Waits for the end of a stage, and says whether the cut came before it.
    async fn stage(&mut self, name: &str, right: impl Fn(&StoryHost, &Value) -> bool) -> bool {
        let was_cut = self.host.was_cut();
        let wanted = self.wanted.map(|wanted| &wanted[self.seen.len()]);
        let seen = self.host.reach(self.row, name, wanted, right).await;
        self.seen.push(seen);
        was_cut
    }
}

fn run(seen: &Value, sequence: u32) -> &Value {
    &seen["runs"][format!("NAME-{sequence}")]
}

/// The run is in a phase, and its status is of this generation of it.
fn is(seen: &Value, sequence: u32, generation: u32, phase: &str) -> bool {
    let run = run(seen, sequence);
    run["phase"] == phase
        && run["conditions"]["Ready"][0] == "True"
        && run["generation"] == json!([generation, generation])
}

/// The run is as it was declared, its container runs and is well.
fn runs(seen: &Value, sequence: u32, generation: u32) -> bool {
    is(seen, sequence, generation, "Running")
        && run(seen, sequence)["guest"] == "Responding"
        && seen["containers"][0]["status"] == "running"
}

fn spec(name: &str, config_file: &str) -> Value {
    json!({
        "container": {
            "networks": [{ "name": "first" }, { "name": "second" }],
            "healthcheck": { "test": ["CMD", "true"] },
        },
        "restartPolicy": { "name": "always" },
        "mounts": [{ "volume": volume(name), "driver": "local", "path": "/data" }],
        "configFile": config(name, config_file),
    })
}

fn limits() -> Value {
    json!({ "resources": { "limits": { "memory": "64Mi" } } })
}

fn volume(name: &str) -> Value {
    json!({ "name": name, "uid": format!("{name}-0000-4000-8000-000000000000") })
}

fn config(name: &str, content: &str) -> Value {
    json!({
        "secretName": secret_name(name, content), "key": "app.conf", "path": "/etc/app.conf",
        "sha256": sha256(content.as_bytes()), "reloadSignal": "SIGHUP",
    })
}

fn secret_name(name: &str, content: &str) -> String {
    format!("{name}-{}", &sha256(content.as_bytes())[..8])
}

async fn secret(host: &StoryHost, name: &str, content: &str) {
    let secrets: Api<Secret> =
        Api::namespaced(host.agent.runs().into_client(), &host.agent.joined.namespace);
    let secret = json!({
        "metadata": { "name": secret_name(name, content) }, "stringData": { "app.conf": content },
    });
    let secret = serde_json::from_value(secret).unwrap();
    secrets.create(&PostParams::default(), &secret).await.unwrap();
}

fn tasks(host: &StoryHost) -> Api<VolumeTask> {
    Api::namespaced(host.agent.runs().into_client(), &host.agent.joined.namespace)
}

/// The next run with the stopped container of the one before.
async fn again(host: &StoryHost, name: &str) -> Value {
    let before = host.agent.status(&format!("{name}-1")).await;
    let mut next = spec(name, NEW);
    next["previous"] = json!({
        "containerId": before.container_id, "startedAt": before.container_started_at,
    });
    next["resources"] = limits()["resources"].clone();
    next
}

/// The runs' objects go, and then the volume's data.
async fn discard(host: &StoryHost, name: &str, newest: u32) {
    for sequence in 1..=newest {
        host.agent.delete(&format!("{name}-{sequence}")).await;
    }
    let task = json!({
        "metadata": { "name": name },
        "spec": { "volume": volume(name), "driver": "local", "action": "Remove" },
    });
    let task = serde_json::from_value::<VolumeTask>(complete(task)).unwrap();
    tasks(host).create(&PostParams::default(), &task).await.unwrap();
}

fn complete(mut object: Value) -> Value {
    object["apiVersion"] = "kibotos.dev/v1alpha1".into();
    object["kind"] = "VolumeTask".into();
    object
}
