//! An engine on a Unix socket inside the test process: it answers as real ones do, runs nothing,
//! and goes wrong on purpose. `fake_fidelity.rs` holds it against a real engine.
//!
//! It depends on nothing of the product, which must not define what it is tested against.

#![allow(dead_code, reason = "the agent's tests use what the tests of the fake itself do not")]

mod answer;
mod call;
mod container;
mod create;
mod events;
mod faults;
mod images;
mod info;
mod inspect;
mod lifecycle;
mod networks;
mod normalise;
mod process;
mod pulls;
mod restart;
mod route;
mod server;
mod state;
mod update;
mod validate;
mod verbs;
mod volumes;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tempfile::TempDir;

pub use call::Call;
pub use container::{Container, Status};
pub use faults::{Cut, Fault, What};
pub use images::Image;
pub use process::Process;
pub use pulls::{Gate, Pull};
pub use restart::End;
pub use state::Options;

use answer::{Answer, Body};
use server::{Serving, Shared};
use state::State;

/// An engine with a socket of its own, both gone with this value.
///
/// It takes its turns on the runtime of the test that made it, and must be made there.
pub struct FakeEngine {
    shared: Arc<Shared>,
    serving: Mutex<Option<Serving>>,
    directory: TempDir,
}

impl FakeEngine {
    /// One like Docker 20.10, API 1.41.
    pub fn start() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let directory = tempfile::Builder::new().prefix("kibotos-fake-").tempdir().unwrap();
        let shared = Shared::new(State::new(options));
        let serving = Serving::start(&shared, &directory.path().join("docker.sock"));
        Self { shared, serving: Mutex::new(Some(serving)), directory }
    }

    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("docker.sock")
    }

    /// The engine ends: connections and streams break, and the socket answers no more.
    pub async fn stop(&self, end: End) {
        let serving = self.serving.lock().unwrap().take();
        if let Some(serving) = serving {
            serving.stop(end == End::Kill).await;
            self.shared.with(|state| state.engine_ends(end));
        }
    }

    /// A stopped engine starts: with a new socket file, without the events of before, and its
    /// containers are restored as their policies say.
    pub fn start_again(&self) {
        let mut serving = self.serving.lock().unwrap();
        if serving.is_none() {
            self.shared.with(State::engine_starts);
            *serving = Some(Serving::start(&self.shared, &self.socket()));
        }
    }

    pub async fn restart(&self, end: End) {
        self.stop(end).await;
        self.start_again();
    }

    /// All calls so far, in order, but for those that were refused.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// How many calls there were with this method and a path that matches as a whole.
    pub fn count(&self, method: &str, path: &str) -> usize {
        let path = regex::Regex::new(&format!("^{path}$")).unwrap();
        let calls = self.calls();
        calls.iter().filter(|call| call.method == method && path.is_match(&call.path)).count()
    }

    pub fn forget_calls(&self) {
        self.shared.calls.lock().unwrap().clear();
    }

    /// All containers, the oldest first.
    pub fn containers(&self) -> Vec<Container> {
        let mut all: Vec<_> =
            self.shared.with(|state| state.containers.values().cloned().collect());
        all.sort_by_key(|container| container.sequence);
        all
    }

    /// One of them, by name or id.
    pub fn container(&self, word: &str) -> Option<Container> {
        self.shared.with(|state| state.get(word).ok().cloned())
    }

    pub fn volumes(&self) -> Vec<String> {
        self.shared.with(|state| state.volumes.keys().cloned().collect())
    }

    pub fn images(&self) -> Vec<Image> {
        self.shared.with(|state| state.images.clone())
    }

    /// Host directories that an engine would have made for missing sources of binds.
    pub fn made_directories(&self) -> Vec<String> {
        self.shared.with(|state| state.made_directories.clone())
    }

    /// How many clients listen to events.
    pub fn listeners(&self) -> usize {
        self.shared.with(|state| state.events.listeners())
    }

    pub fn configure(&self, change: impl FnOnce(&mut Options)) {
        self.shared.with(|state| change(&mut state.options));
    }

    pub fn add_image(&self, image: Image) {
        self.shared.with(|state| state.store(image));
    }

    /// What comes of pulls of a reference from now on.
    pub fn registry(&self, reference: &str, pull: Pull) {
        let reference = images::familiar(reference);
        self.shared.with(|state| state.pulls.insert(reference, pull));
    }

    /// What the processes do of containers that are made of an image from now on.
    pub fn processes(&self, image: &str, process: Process) {
        self.shared.with(|state| state.processes.insert(image.to_owned(), process));
    }

    /// The process of a container ends by itself.
    pub fn exit(&self, word: &str, code: i64) {
        self.alive(word, |state, id| state.finish(id, code));
    }

    /// The kernel kills the process of a container for want of memory.
    pub fn oom(&self, word: &str) {
        self.alive(word, |state, id| {
            state.get_mut(id).ok().unwrap().oom_killed = true;
            let told = state.containers[id].clone();
            state.tell(&told, "oom", &[]);
            state.finish(id, 137);
        });
    }

    fn alive(&self, name: &str, work: impl FnOnce(&mut State, &str)) {
        self.shared.with(|state| {
            let id = state.resolve(name).ok().expect("there is such a container");
            assert!(state.containers[&id].is_alive(), "{name} does not run");
            work(state, &id);
        });
    }

    /// A probe of the container's health has come to this.
    pub fn health(&self, word: &str, health: &str) {
        let probed = self.shared.with(|state| state.probed(word, health));
        assert!(probed.is_ok(), "there is no container {word}");
    }

    /// A removal of the container failed half way.
    pub fn make_dead(&self, word: &str) {
        self.shared.with(|state| state.get_mut(word).ok().unwrap().status = Status::Dead);
    }

    /// Someone else's container, running; gives its id.
    pub fn foreign(&self, name: &str, labels: Value) -> String {
        self.shared.with(|state| {
            if state.image_named("foreign:1").is_err() {
                state.store(Image::new("foreign:1", json!({ "Cmd": ["sleep", "1000"] })));
            }
        });
        self.make(name, json!({ "Image": "foreign:1", "Labels": labels }))
    }

    /// Makes a container and starts it, without a call; gives its id.
    pub fn make(&self, name: &str, body: Value) -> String {
        let uri = format!("/containers/create?name={name}").parse().unwrap();
        let call = Call::parse("POST", &uri, body.to_string().as_bytes());
        self.shared.with(|state| {
            let id = match state.create(&call) {
                Ok(Answer { body: Body::Json(made), .. }) => {
                    made["Id"].as_str().unwrap().to_owned()
                }
                Ok(_) => unreachable!("a create answers in JSON"),
                Err(refused) => panic!("{name}: {}", said(&refused)),
            };
            if let Err(refused) = state.start(&id) {
                panic!("{name}: {}", said(&refused));
            }
            id
        })
    }

    pub fn fault(&self, fault: Fault) {
        self.shared.faults.lock().unwrap().add(fault);
    }

    /// Breaks every event stream.
    pub fn cut_events(&self) {
        self.shared.with(|state| state.events.cut());
    }

    /// Whoever listens hears all events once more, the newest first.
    pub fn repeat_events(&self) {
        self.shared.with(|state| state.events.repeat());
    }

    /// After that many changing calls, the last of which is answered, every connection is closed
    /// at once until [`FakeEngine::heal`]. The socket stays the same file.
    pub fn cut_after(&self, calls: u64) {
        self.cut_at(calls, Cut::After);
    }

    /// The same, but the answer of the last one is lost.
    pub fn cut_during(&self, call: u64) {
        self.cut_at(call, Cut::During);
    }

    /// The connection is cut at that one of the changing calls from now on.
    pub fn cut_at(&self, call: u64, how: Cut) {
        self.shared.faults.lock().unwrap().cut_at(call, how);
    }

    /// Whether the cut of [`FakeEngine::cut_after`] has come.
    pub fn is_cut(&self) -> bool {
        self.shared.faults.lock().unwrap().cut
    }

    /// Nothing goes wrong any more.
    pub fn heal(&self) {
        self.shared.faults.lock().unwrap().heal();
    }

    /// Its directory, which is gone with it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for FakeEngine {
    fn drop(&mut self) {
        if let Some(serving) = self.serving.get_mut().unwrap().take() {
            serving.cancel();
        }
    }
}

fn said(answer: &Answer) -> String {
    match &answer.body {
        Body::Json(body) => body["message"].as_str().unwrap_or_default().to_owned(),
        _ => answer.status.to_string(),
    }
}
