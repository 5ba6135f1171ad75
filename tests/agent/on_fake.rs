//! An agent on an engine that goes wrong on purpose.

use serde_json::json;

use crate::{
    fake::{FakeEngine, Image, Options, Process},
    fixture::{Agent, cluster, engine},
};

/// The image of runs.
const IMAGE: &str = "kibotos.test/busybox:1";

/// A host whose agent runs, with an engine that has the image of runs.
pub async fn on_fake(hint: &str, options: Options) -> (Agent, FakeEngine) {
    let fake = FakeEngine::with(options);
    fake.add_image(Image::new(IMAGE, json!({ "Cmd": ["sh"] })));
    fake.processes(IMAGE, Process::obedient(0));
    let mut agent = Agent::joined(&cluster().await, &engine().await, &fake.socket(), hint).await;
    agent.start();
    (agent, fake)
}
