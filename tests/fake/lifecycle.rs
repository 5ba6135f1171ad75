//! From created to gone: what starts, ends and removes a container.

use std::time::Duration;

use super::{
    answer::{Answer, refusal},
    container::{Container, Status},
    state::{Due, State, now},
};

/// The first pause before a policy's restart; each one more doubles it.
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MOST_BACKOFF: Duration = Duration::from_mins(1);
/// A run of this length is the first of a row again.
const LONG_RUN_SECONDS: i64 = 10;

impl State {
    /// Starts a container that is not running, as asked for by someone.
    pub fn start(&mut self, id: &str) -> Result<(), Answer> {
        let container = self.get_mut(id)?;
        container.restart_count = 0;
        container.in_a_row = 0;
        container.manually_stopped = false;
        container.policy_off = false;
        self.launch(id)
    }

    /// Brings the process up. A failure stays in the state.
    pub fn launch(&mut self, id: &str) -> Result<(), Answer> {
        if let Err((code, refusal)) = self.prepare(id) {
            let message = match &refusal.body {
                super::answer::Body::Json(body) => body["message"].as_str().map(str::to_owned),
                _ => None,
            };
            let container = self.get_mut(id)?;
            container.error = message.unwrap_or_default();
            match code {
                Some(code) => container.exit_code = code,
                None if container.exit_code == 0 => container.exit_code = 128,
                None => {}
            }
            container.status =
                if container.started.is_some() { Status::Exited } else { Status::Created };
            container.run += 1;
            return Err(refusal);
        }
        let pid = self.next();
        let resets_oom = self.since(44);
        let container = self.get_mut(id)?;
        container.status = Status::Running;
        container.pid = 1000 + pid;
        container.exit_code = 0;
        container.error.clear();
        container.started = Some(now());
        container.run += 1;
        container.oom_killed &= !resets_oom;
        let test = container.config["Healthcheck"]["Test"].as_array();
        let probed = test.is_some_and(|test| !test.is_empty() && test[0] != "NONE");
        container.health = probed.then(|| "starting".to_owned());
        let ends_with = container.process.ends_with;
        let told = container.clone();
        self.tell(&told, "start", &[]);
        if let Some(code) = ends_with {
            self.finish(id, code);
        }
        Ok(())
    }

    /// All that comes before the process: networks, ports, devices, mounts. A failure may have an
    /// exit code of its own.
    fn prepare(&mut self, id: &str) -> Result<(), (Option<i64>, Answer)> {
        let container = self.get(id).map_err(|refusal| (None, refusal))?.clone();
        self.attach(&container).map_err(|refusal| (None, refusal))?;
        let ready = self.publish(&container).map_err(|refusal| (None, refusal)).and_then(|ports| {
            process_can_begin(&container)?;
            Ok(ports)
        });
        match ready {
            Ok(ports) => {
                self.get_mut(id).map_err(|refusal| (None, refusal))?.ports = ports;
                self.mounted(&container);
                Ok(())
            }
            Err(failure) => {
                self.detach(id);
                Err(failure)
            }
        }
    }

    fn mounted(&mut self, container: &Container) {
        for mount in &container.mounts {
            match mount.kind {
                "bind" if !std::path::Path::new(&mount.source).exists() => {
                    self.made_directories.push(mount.source.clone());
                }
                "volume" => {
                    let writable = mount.writable.to_string();
                    let more = [
                        ("container", container.id.as_str()),
                        ("destination", mount.destination.as_str()),
                        ("driver", "local"),
                        ("propagation", ""),
                        ("read/write", writable.as_str()),
                    ];
                    self.tell_of("volume", "mount", &mount.source, &more);
                }
                _ => {}
            }
        }
    }

    /// The process has ended by itself or by a signal; its policy may start it again.
    pub fn finish(&mut self, id: &str, code: i64) {
        self.end(id, code);
        let Ok(container) = self.get_mut(id) else {
            return;
        };
        if !container.policy_off && container.wants_restart() {
            let ran = now().as_second()
                - container.started.map_or(0, k8s_openapi::jiff::Timestamp::as_second);
            container.in_a_row = if ran >= LONG_RUN_SECONDS { 0 } else { container.in_a_row };
            let after = FIRST_BACKOFF * 2_u32.saturating_pow(container.in_a_row.min(16));
            container.in_a_row += 1;
            container.restart_count += 1;
            container.status = Status::Restarting;
            let due = Due { after: after.min(MOST_BACKOFF), id: id.to_owned(), run: container.run };
            self.due.push(due);
        } else if container.host["AutoRemove"] == true {
            self.erase(id, true);
        }
    }

    /// The end itself, whatever comes after.
    pub fn end(&mut self, id: &str, code: i64) {
        let Ok(container) = self.get_mut(id) else {
            return;
        };
        container.status = Status::Exited;
        container.exit_code = code;
        container.finished = Some(now());
        container.run += 1;
        container.ports.clear();
        if let Some(health) = &mut container.health {
            "unhealthy".clone_into(health);
        }
        let told = container.clone();
        self.tell(&told, "die", &[("exitCode", &code.to_string())]);
        self.detach(id);
        for mount in told.mounts.iter().filter(|mount| mount.kind == "volume") {
            let more = [("container", told.id.as_str()), ("driver", "local")];
            self.tell_of("volume", "unmount", &mount.source, &more);
        }
    }

    /// The pause before a policy's restart is over.
    pub fn restart_is_due(&mut self, due: &Due) {
        let waits = |c: &&mut Container| c.run == due.run && c.status == Status::Restarting;
        if self.get_mut(&due.id).ok().as_mut().is_some_and(|container| waits(container)) {
            // Why it could not start stands in its state.
            let _ = self.launch(&due.id);
        }
    }

    /// Sends a signal, as a wish of someone that may be for its end.
    pub fn deliver(&mut self, id: &str, signal: i32) {
        let Ok(container) = self.get_mut(id) else {
            return;
        };
        let own = container.config["StopSignal"].as_str().is_some_and(|text| !text.is_empty());
        // Without a stop signal of its own, any signal counts as a wish for the end.
        let is_stop = !own || signal == 9 || container.stop_signal() == signal;
        container.manually_stopped = true;
        container.policy_off |= is_stop;
        if container.status == Status::Restarting {
            if container.policy_off {
                container.status = Status::Exited;
                container.run += 1;
            }
            return;
        }
        let unpaused = container.status != Status::Paused || is_stop;
        if unpaused {
            container.status = Status::Running;
        }
        let code = container.process.after(signal, container.has_init());
        let told = container.clone();
        self.tell(&told, "kill", &[("signal", &signal.to_string())]);
        if let Some(code) = code.filter(|_| unpaused) {
            self.finish(id, code);
        }
    }

    /// Takes a container out of the engine.
    pub fn erase(&mut self, id: &str, volumes: bool) {
        let Some(container) = self.containers.remove(id) else {
            return;
        };
        self.names.remove(&container.name);
        self.changes.send_modify(|changes| *changes += 1);
        self.tell(&container, "destroy", &[]);
        let gone = container.mounts.iter().filter(|mount| mount.anonymous && volumes);
        for mount in gone {
            let used = self
                .containers
                .values()
                .any(|c| c.mounts.iter().any(|m| m.kind == "volume" && m.source == mount.source));
            if !used && self.volumes.remove(&mount.source).is_some() {
                self.tell_of("volume", "destroy", &mount.source, &[("driver", "local")]);
            }
        }
    }
}

fn process_can_begin(container: &Container) -> Result<(), (Option<i64>, Answer)> {
    for device in container.host["Devices"].as_array().into_iter().flatten() {
        let path = device["PathOnHost"].as_str().unwrap_or_default();
        if !std::path::Path::new(path).exists() {
            let message = format!(
                "error gathering device information while adding custom device {path:?}: \
                 no such file or directory"
            );
            return Err((None, refusal(500, message)));
        }
    }
    let user = container.config["User"].as_str().unwrap_or_default();
    let name = user.split(':').next().unwrap_or_default();
    let known = name.is_empty() || ["root", "app"].contains(&name);
    if !known && name.parse::<u32>().is_err() {
        let message = format!("unable to find user {name}: no matching entries in passwd file");
        return Err((None, refusal(500, message)));
    }
    match &container.process.fails {
        Some((code, message)) => Err((Some(*code), refusal(400, message))),
        None if container.config["Image"] == "" => {
            Err((Some(127), refusal(400, "exec: \"\": executable file not found in $PATH")))
        }
        None => Ok(()),
    }
}
