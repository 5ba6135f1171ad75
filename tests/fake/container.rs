//! One container as the engine keeps it.

use std::collections::BTreeMap;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::process::Process;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Created,
    Running,
    Paused,
    Restarting,
    Exited,
    Removing,
    Dead,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Restarting => "restarting",
            Self::Exited => "exited",
            Self::Removing => "removing",
            Self::Dead => "dead",
        }
    }
}

/// A network that a container is in.
#[derive(Clone, Debug, Default)]
pub struct Endpoint {
    /// The name by which it was asked for.
    pub network: String,
    /// Empty before the first start, and then never another.
    pub network_id: String,
    pub id: String,
    pub address: String,
    pub gateway: String,
    pub mac: String,
    pub aliases: Vec<String>,
    /// IPAMConfig, Links, DriverOpts, as given.
    pub settings: Value,
}

/// Something mounted, by its destination.
#[derive(Clone, Debug)]
pub struct Mounted {
    pub kind: &'static str,
    /// The volume's name, or the host's path.
    pub source: String,
    pub destination: String,
    pub mode: String,
    pub writable: bool,
    /// Removed with the container where that is asked for.
    pub anonymous: bool,
}

#[derive(Clone, Debug)]
pub struct Container {
    pub id: String,
    pub name: String,
    /// Orders by creation.
    pub sequence: u64,
    pub created: Timestamp,
    pub image_id: String,
    pub config: Value,
    pub host: Value,
    pub endpoints: Vec<Endpoint>,
    pub mounts: Vec<Mounted>,
    pub ports: BTreeMap<String, Vec<(String, u16)>>,
    pub process: Process,
    pub status: Status,
    pub exit_code: i64,
    pub error: String,
    pub oom_killed: bool,
    pub started: Option<Timestamp>,
    pub finished: Option<Timestamp>,
    pub health: Option<String>,
    pub pid: u64,
    pub restart_count: u64,
    /// Restarts in a row, for the backoff.
    pub in_a_row: u32,
    /// Someone asked for its end, since its last start.
    pub manually_stopped: bool,
    /// The restart policy holds no more, until the next start.
    pub policy_off: bool,
    /// Counts its starts and ends, so that timers of an earlier run do nothing.
    pub run: u64,
    /// Its item in lists, as text, until something changes.
    pub listed: Option<String>,
}

impl Container {
    /// As Docker's own checks see it: between two runs too.
    pub fn is_running(&self) -> bool {
        matches!(self.status, Status::Running | Status::Paused | Status::Restarting)
    }

    /// Whether there is a process.
    pub fn is_alive(&self) -> bool {
        matches!(self.status, Status::Running | Status::Paused)
    }

    pub fn policy(&self) -> (&str, u64) {
        let policy = &self.host["RestartPolicy"];
        let name = policy["Name"].as_str().unwrap_or_default();
        (name, policy["MaximumRetryCount"].as_u64().unwrap_or(0))
    }

    /// Whether its policy starts it again after such an end.
    pub fn wants_restart(&self) -> bool {
        match self.policy() {
            ("always", _) => true,
            ("unless-stopped", _) => !self.manually_stopped,
            ("on-failure", most) => self.exit_code != 0 && (most == 0 || self.restart_count < most),
            _ => false,
        }
    }

    pub fn command(&self) -> Vec<String> {
        let words = |key: &str| self.config[key].as_array().cloned().unwrap_or_default();
        let all = words("Entrypoint").into_iter().chain(words("Cmd"));
        all.filter_map(|word| word.as_str().map(str::to_owned)).collect()
    }

    pub fn has_init(&self) -> bool {
        self.host["Init"] == true
    }

    pub fn stop_signal(&self) -> i32 {
        self.config["StopSignal"].as_str().and_then(super::process::signal).unwrap_or(15)
    }

    /// Seconds until SIGKILL, where a stop does not say.
    pub fn stop_timeout(&self) -> i64 {
        self.config["StopTimeout"].as_i64().unwrap_or(10)
    }

    pub fn network_mode(&self) -> &str {
        self.host["NetworkMode"].as_str().unwrap_or_default()
    }

    /// `State` of inspect.
    pub fn state(&self) -> Value {
        let mut state = json!({
            "Status": self.status.word(),
            "Running": self.is_running(),
            "Paused": self.status == Status::Paused,
            "Restarting": self.status == Status::Restarting,
            "OOMKilled": self.oom_killed,
            "Dead": self.status == Status::Dead,
            "Pid": if self.is_alive() { self.pid } else { 0 },
            "ExitCode": self.exit_code,
            "Error": self.error,
            "StartedAt": super::state::written(self.started),
            "FinishedAt": super::state::written(self.finished),
        });
        if let Some(health) = &self.health {
            state["Health"] = json!({ "Status": health, "FailingStreak": 0, "Log": [] });
        }
        state
    }
}
