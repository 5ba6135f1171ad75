//! The same request to the real engine and to the fake, and what is different about the answers.

use std::sync::LazyLock;

use k8s_openapi::jiff::Timestamp;
use regex::Regex;
use serde_json::{Value, json};

use super::{BUSYBOX, ENTRY, Engine, eventually, filtered};
use crate::{
    fake::{FakeEngine, Image, Options},
    fixture::{Scope, engine},
};

pub struct Both {
    real: Engine,
    scope: Scope,
    fake: FakeEngine,
    /// Requests whose answers differ.
    different: Vec<String>,
    steps: usize,
    since: String,
}

impl Both {
    pub async fn new(hint: &str) -> Self {
        let real = engine().await;
        let api = real.api().to_string();
        let api = api.split_once('.').unwrap();
        let info = real.call("GET", "/info", None).await;
        let fake = FakeEngine::with(Options {
            api: (api.0.parse().unwrap(), api.1.parse().unwrap()),
            cpus: u32::try_from(info["NCPU"].as_u64().unwrap()).unwrap(),
            ..Options::default()
        });
        for name in [BUSYBOX, ENTRY] {
            let seen = real.call("GET", &format!("/images/{name}/json"), None).await;
            let mut image = Image::new(name, seen["Config"].clone());
            seen["Id"].as_str().unwrap().clone_into(&mut image.id);
            image.digests.clear();
            fake.add_image(image);
        }
        let scope = real.scope(hint);
        Self { real, scope, fake, different: Vec::new(), steps: 0, since: String::new() }
    }

    pub fn name(&self, hint: &str) -> String {
        self.scope.name(hint)
    }

    pub fn labels(&self) -> Value {
        self.scope.labels()
    }

    /// Says every difference, if there is one.
    pub fn done(self) {
        assert!(self.steps > 0);
        assert!(self.different.is_empty(), "\n{}", self.different.join("\n\n"));
    }

    pub async fn get(&mut self, path: &str) {
        self.say("GET", path, None).await;
    }

    pub async fn post(&mut self, path: &str, body: Option<Value>) {
        self.say("POST", path, body).await;
    }

    pub async fn delete(&mut self, path: &str) {
        self.say("DELETE", path, None).await;
    }

    /// Creates a container of this test; `name` may go on with more of the query.
    pub async fn create(&mut self, name: &str, mut body: Value) {
        for (key, value) in self.labels().as_object().unwrap() {
            body["Labels"][key] = value.clone();
        }
        self.post(&format!("/containers/create?name={name}"), Some(body)).await;
    }

    /// The list of the containers of this test.
    pub async fn list(&mut self) {
        let label = super::both_label(&self.labels());
        self.get(&filtered("/containers/json?all=1", &json!({ "label": [label] }))).await;
    }

    pub async fn say(&mut self, method: &str, path: &str, body: Option<Value>) {
        let versioned = format!("/v{}{path}", self.real.api());
        let [real, fake] = self.ask(method, &versioned, body.as_ref()).await;
        self.compare(&format!("{method} {path} {}", body.unwrap_or_default()), real, fake);
    }

    pub async fn unversioned(&mut self, method: &str, path: &str) {
        let [real, fake] = self.ask(method, path, None).await;
        self.compare(&format!("{method} {path}"), real, fake);
    }

    /// Without a comparison.
    pub async fn quietly(&mut self, method: &str, path: &str, body: Option<Value>) {
        let versioned = format!("/v{}{path}", self.real.api());
        self.ask(method, &versioned, body.as_ref()).await;
    }

    async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> [(u16, Value); 2] {
        let real = self.real.request(method, path, body).await;
        let fake = crate::fixture::send(&self.fake.socket(), method, path, body).await.unwrap();
        [real, fake]
    }

    fn compare(&mut self, request: &str, real: (u16, Value), fake: (u16, Value)) {
        self.steps += 1;
        let (real, fake) = ((real.0, plain(real.1)), (fake.0, plain(fake.1)));
        let mut found = Vec::new();
        if real.0 == fake.0 {
            difference("", &real.1, &fake.1, &mut found);
        } else {
            found.push(format!("  status: real {} {}, fake {} {}", real.0, real.1, fake.0, fake.1));
        }
        if !found.is_empty() {
            self.different.push(format!("{request}\n{}", found.join("\n")));
        }
    }

    /// The state of a container on the real engine, or nothing.
    pub async fn state_of(&self, name: &str) -> String {
        let (_, seen) = self.real.request("GET", &format!("/containers/{name}/json"), None).await;
        seen["State"]["Status"].as_str().unwrap_or_default().to_owned()
    }

    /// Waits until both engines show something of a container.
    pub async fn until(&self, name: &str, judge: impl Fn(&Value) -> bool) {
        let path = format!("/containers/{name}/json");
        eventually("both engines are as far", async || {
            let both = self.ask("GET", &path, None).await;
            both.iter().all(|(_, seen)| judge(seen)).then_some(())
        })
        .await;
    }

    /// Waits until the process of a container has set up its handlers: it is then asleep, or its
    /// child is.
    pub async fn settle(&self, name: &str) {
        let path = format!("/containers/{name}/top?ps_args=-eo%20pid,args");
        eventually("the process has begun", async || {
            let (_, top) = self.real.request("GET", &path, None).await;
            top.to_string().contains("sleep").then_some(())
        })
        .await;
    }

    /// Events are those from here on.
    pub fn mark(&mut self) {
        let now = Timestamp::now();
        self.since = format!("{}.{:09}", now.as_second(), now.subsec_nanosecond());
    }

    pub async fn events(&mut self, filters: &Value) {
        let now = Timestamp::now();
        let until = format!("{}.{:09}", now.as_second(), now.subsec_nanosecond());
        let path = format!("/events?since={}&until={until}", self.since);
        let path = filtered(&path, filters);
        let [real, fake] = self.ask("GET", &path, None).await;
        let request = format!("GET /events {filters}");
        self.compare(&request, (real.0, lines(&real.1)), (fake.0, lines(&fake.1)));
    }

    /// The events about one container.
    pub async fn story(&mut self, container: &str) {
        self.events(&json!({ "type": ["container"], "container": [container] })).await;
    }
}

/// A body of several lines of JSON, as a list.
fn lines(body: &Value) -> Value {
    match body {
        Value::String(text) => {
            text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()).collect()
        }
        Value::Null => json!([]),
        one => json!([one]),
    }
}

/// What no two engines have in common is written the same.
static VARIES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let all = [
        ("[0-9a-f]{64}", "ID"),
        (r"\b[0-9a-f]{12}\b", "SHORT"),
        (r"[12]\d{3}-\d\d-\d\dT[0-9:.]+Z", "TIME"),
        ("02:42(:[0-9a-f]{2}){4}", "MAC"),
        (r"(172|192\.168)(\.\d+){2,3}(/\d+)?", "IP"),
        (r#""IPPrefixLen":[1-9]\d*"#, r#""IPPrefixLen":1"#),
        (r#""Pid":[1-9]\d*"#, r#""Pid":1"#),
        (r#""(Created|time|timeNano|Size|VirtualSize|SharedSize)":-?\d+"#, r#""$1":0"#),
        (r#""/[^" ]*/volumes/"#, r#""/volumes/"#),
        (r" (Less than a second|About a minute|\d+ (second|minute)s?)( ago)?", ""),
    ];
    all.map(|(pattern, by)| (Regex::new(pattern).unwrap(), by)).to_vec()
});

/// Members that are not looked at: of the host, or of a storage that the fake has not.
const IGNORED: [&str; 20] = [
    "GraphDriver",
    "ResolvConfPath",
    "HostnamePath",
    "HostsPath",
    "LogPath",
    "SandboxKey",
    "SandboxID",
    "AppArmorProfile",
    "Runtime",
    "Propagation",
    "Log",
    "FailingStreak",
    "ParentId",
    "VirtualSize",
    "SharedSize",
    "OnBuild",
    "RepoDigests",
    "Options",
    "EndpointID",
    "execID",
];

fn plain(body: Value) -> Value {
    let mut text = body.to_string();
    for (pattern, by) in VARIES.iter() {
        text = pattern.replace_all(&text, *by).into_owned();
    }
    let mut body = serde_json::from_str(&text).unwrap();
    tidy(&mut body);
    body
}

fn tidy(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !IGNORED.contains(&key.as_str()));
            // Engines list what is mounted in no order.
            if let Some(Value::Array(mounts)) = map.get_mut("Mounts") {
                mounts.sort_by_key(|m| format!("{}{}", m["Destination"], m["Target"]));
            }
            // Nor ports.
            if let Some(Value::Array(ports)) = map.get_mut("Ports") {
                ports.sort_by_key(ToString::to_string);
            }
            map.values_mut().for_each(tidy);
        }
        Value::Array(list) => {
            // Nor networks.
            if list.iter().all(|item| item.get("IPAM").is_some()) {
                list.sort_by_key(|network| network["Name"].to_string());
            }
            list.iter_mut().for_each(tidy);
        }
        Value::String(text) if text.ends_with('\n') => *text = text.trim_end().to_owned(),
        _ => {}
    }
}

fn difference(at: &str, real: &Value, fake: &Value, found: &mut Vec<String>) {
    match (real, fake) {
        (Value::Object(one), Value::Object(two)) => {
            for key in one.keys().chain(two.keys().filter(|key| !one.contains_key(*key))) {
                match (one.get(key), two.get(key)) {
                    (Some(one), Some(two)) => difference(&format!("{at}.{key}"), one, two, found),
                    (Some(one), None) => found.push(format!("  {at}.{key}: only real: {one}")),
                    (_, two) => found.push(format!("  {at}.{key}: only fake: {two:?}")),
                }
            }
        }
        (Value::Array(one), Value::Array(two)) if one.len() == two.len() => {
            for (index, (one, two)) in one.iter().zip(two).enumerate() {
                difference(&format!("{at}[{index}]"), one, two, found);
            }
        }
        _ if real == fake => {}
        _ => found.push(format!("  {at}: real {real}, fake {fake}")),
    }
}
