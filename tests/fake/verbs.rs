//! What a client can tell a container to do.

use std::time::Duration;

use super::{
    answer::{Answer, Reply, empty, json_of, refusal},
    call::Call,
    container::Status,
    process,
    state::State,
    validate,
};

/// How a stop goes on.
pub enum Stopping {
    Answered(Answer),
    /// The process has been told; it is killed when the time is over.
    Waits {
        id: String,
        run: u64,
        grace: Option<Duration>,
    },
}

impl State {
    pub fn start_call(&mut self, word: &str) -> Reply {
        let container = self.get(word)?;
        match container.status {
            Status::Paused => {
                Err(refusal(409, "cannot start a paused container, try unpause instead"))
            }
            Status::Running | Status::Restarting => Ok(empty(304)),
            Status::Dead | Status::Removing => {
                Err(refusal(409, "container is marked for removal and cannot be started"))
            }
            Status::Created | Status::Exited => {
                let id = container.id.clone();
                self.start(&id).map(|()| empty(204))
            }
        }
    }

    /// The first half of a stop.
    pub fn stop_call(&mut self, word: &str, call: &Call) -> Result<Stopping, Answer> {
        let seconds = call.seconds("t")?;
        let container = self.get(word)?;
        if !container.is_running() {
            return Ok(Stopping::Answered(empty(304)));
        }
        let id = container.id.clone();
        let seconds = seconds.unwrap_or_else(|| container.stop_timeout());
        let signal = container.stop_signal();
        self.deliver(&id, signal);
        let waits = self.containers.get(&id).filter(|container| container.is_alive());
        let Some(container) = waits else {
            return Ok(Stopping::Answered(self.stopped(&id)));
        };
        let grace = u64::try_from(seconds).ok().map(Duration::from_secs);
        Ok(Stopping::Waits { run: container.run, id, grace })
    }

    /// The second half: the process has ended, or its time is over.
    pub fn stop_over(&mut self, id: &str, run: u64) -> Answer {
        if self.containers.get(id).is_some_and(|c| c.run == run && c.is_alive()) {
            self.deliver(id, 9);
        }
        self.stopped(id)
    }

    fn stopped(&mut self, id: &str) -> Answer {
        if let Some(told) = self.containers.get(id).cloned() {
            self.tell(&told, "stop", &[]);
        }
        empty(204)
    }

    pub fn kill_call(&mut self, word: &str, call: &Call) -> Reply {
        let text = call.parameter("signal");
        let signal = if text.is_empty() { Some(9) } else { process::signal(text) };
        let signal = signal.ok_or_else(|| refusal(400, format!("Invalid signal: {text}")))?;
        let Ok(container) = self.get(word) else {
            let message = format!("Cannot kill container: {word}: No such container: {word}");
            return Err(refusal(404, message));
        };
        let id = container.id.clone();
        if !container.is_running() {
            let message =
                format!("Cannot kill container: {word}: {} {id} is not running", self.noun());
            return Err(refusal(409, message));
        }
        self.deliver(&id, signal);
        Ok(empty(204))
    }

    pub fn pause_call(&mut self, word: &str) -> Reply {
        let noun = self.noun();
        let container = self.get_mut(word)?;
        let id = &container.id;
        match container.status {
            Status::Running => container.status = Status::Paused,
            Status::Paused => {
                return Err(refusal(409, format!("{noun} {id} is already paused")));
            }
            Status::Restarting => {
                let message =
                    format!("{noun} {id} is restarting, wait until the container is running");
                return Err(refusal(409, message));
            }
            _ => return Err(refusal(409, format!("{noun} {id} is not running"))),
        }
        let told = container.clone();
        self.tell(&told, "pause", &[]);
        Ok(empty(204))
    }

    pub fn unpause_call(&mut self, word: &str) -> Reply {
        let noun = self.noun();
        let container = self.get_mut(word)?;
        if container.status != Status::Paused {
            return Err(refusal(500, format!("{noun} {} is not paused", container.id)));
        }
        container.status = Status::Running;
        let told = container.clone();
        self.tell(&told, "unpause", &[]);
        Ok(empty(204))
    }

    pub fn rename_call(&mut self, word: &str, call: &Call) -> Reply {
        let name = call.parameter("name");
        if name.is_empty() {
            return Err(refusal(400, "Neither old nor new names may be empty"));
        }
        let (id, old) = self.get(word).map(|c| (c.id.clone(), c.name.clone()))?;
        let plain = name.trim_start_matches('/').to_owned();
        if plain == old {
            let message = "Renaming a container with the same name as its current name";
            return Err(refusal(400, message));
        }
        let prefixed = |mut refused: Answer| {
            if let super::answer::Body::Json(body) = &mut refused.body {
                let why = body["message"].as_str().unwrap_or_default();
                body["message"] = format!("Error when allocating new name: {why}").into();
            }
            refused
        };
        validate::name(&format!("/{plain}")).map_err(prefixed)?;
        self.name_is_free(&plain).map_err(prefixed)?;
        self.names.remove(&old);
        self.names.insert(plain.clone(), id.clone());
        let container = self.get_mut(&id)?;
        container.name = plain;
        let told = container.clone();
        self.tell(&told, "rename", &[("oldName", &format!("/{old}"))]);
        Ok(empty(204))
    }

    /// The first half of a removal; gives the id.
    pub fn remove_call(&mut self, word: &str, call: &Call) -> Result<String, Answer> {
        let container = self.get(word)?;
        let id = container.id.clone();
        if container.status == Status::Removing {
            let message = format!("removal of container {word} is already in progress");
            return Err(refusal(409, message));
        }
        if container.is_running() && !call.flag("force") {
            return Err(refusal(409, self.running(&id)));
        }
        if container.is_running() {
            self.deliver(&id, 9);
        }
        if let Ok(container) = self.get_mut(&id) {
            container.status = Status::Removing;
        }
        Ok(id)
    }

    fn running(&self, id: &str) -> String {
        let state = self.containers[id].status.word();
        let how = if state == "paused" {
            "Unpause and then stop the container before attempting removal or force remove"
        } else {
            "Stop the container before attempting removal or force remove"
        };
        if self.since(44) {
            let how = how.to_lowercase();
            return format!("cannot remove container \"{id}\": container is {state}: {how}");
        }
        format!("You cannot remove a {state} container {id}. {how}")
    }

    /// Newer engines write it small.
    fn noun(&self) -> &'static str {
        if self.since(51) { "container" } else { "Container" }
    }

    pub fn wait_over(&self, id: &str, run: u64) -> Option<Answer> {
        let code = match self.containers.get(id) {
            Some(container) if container.run == run && container.is_running() => return None,
            Some(container) => container.exit_code,
            None => 0,
        };
        Some(json_of(200, serde_json::json!({ "Error": null, "StatusCode": code })))
    }
}
