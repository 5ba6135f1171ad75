//! The engine itself ends and starts again.

use super::{
    container::{Container, Status},
    state::State,
};

/// How an engine ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// SIGKILL: what runs, runs on until the engine starts again.
    Kill,
    /// SIGTERM: what runs is stopped first.
    Terminate,
}

impl State {
    /// What becomes of the containers when the engine ends.
    pub fn engine_ends(&mut self, end: End) {
        let live_restore = self.options.live_restore;
        for id in self.ids(Container::is_running) {
            let Ok(container) = self.get_mut(&id) else { continue };
            // Timers of before mean nothing to a new engine.
            container.run += 1;
            if end == End::Kill || live_restore {
                continue;
            }
            if container.is_alive() {
                let signal = container.stop_signal();
                let code = container.process.after(signal, container.has_init()).unwrap_or(137);
                self.end(&id, code);
            } else {
                container.status = Status::Exited;
            }
        }
    }

    /// What a starting engine makes of the containers that it finds.
    pub fn engine_starts(&mut self) {
        self.events.forget();
        for id in self.ids(|_| true) {
            let live_restore = self.options.live_restore;
            let Ok(container) = self.get_mut(&id) else { continue };
            if container.is_alive() && live_restore {
                continue;
            }
            let mut found_alive = false;
            if container.is_alive() {
                found_alive = true;
                self.end(&id, 137);
            }
            let Ok(container) = self.get_mut(&id) else { continue };
            if container.status == Status::Restarting {
                container.status = Status::Exited;
            }
            container.policy_off = false;
            // Never started is never restored; what ended by itself before is as its policy says.
            let ended = container.status == Status::Exited;
            if ended && container.wants_restart() {
                container.restart_count = if found_alive { container.restart_count + 1 } else { 0 };
                container.in_a_row = 0;
                container.manually_stopped = false;
                // Why it could not start stands in its state.
                let _ = self.launch(&id);
            }
        }
    }

    fn ids(&self, judge: impl Fn(&Container) -> bool) -> Vec<String> {
        self.containers.values().filter(|c| judge(c)).map(|c| c.id.clone()).collect()
    }
}
