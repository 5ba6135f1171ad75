//! What a row of a table is made of: a wish, a look, and what is known.

use std::time::Duration;

use crate::agent::lifecycle::{
    Case, Ground, Image, Memory, Pull, Record, Restart, Seen, SeenContainer, Start, Step, Wish,
    next,
};
use crate::api::workspace_run::{DesiredState, PreviousContainer};
use crate::docker::{ContainerStatus, RestartPolicy, Update};

/// The instance of the engine in all rows; it began at noon.
pub const NOW: &str = "boot-2";
pub const BEGAN: &str = "2026-01-01T12:00:00Z";
/// A start under the present instance, one under an earlier one, and one of the run before.
pub const LATELY: &str = "2026-01-01T12:30:00.123456789Z";
pub const EARLIER: &str = "2026-01-01T11:30:00.123456789Z";
pub const BEFORE: &str = "2026-01-01T12:10:00.123456789Z";
pub const HASH: &str = "1:aa";

pub fn policy(name: &str) -> RestartPolicy {
    RestartPolicy { name: name.to_owned(), maximum_retry_count: None }
}

pub fn wish() -> Wish {
    Wish {
        desired: DesiredState::Running,
        name: "web".to_owned(),
        spec_hash: HASH.to_owned(),
        restart: Restart::Kept,
        policy: policy("no"),
        previous: None,
        fresh_layer: false,
        force: false,
        limits: Update::default(),
        networks: Vec::new(),
        pull: Pull::IfNotPresent,
        config: false,
        fenced: false,
    }
}

/// A container that is as wished and runs.
pub fn container() -> SeenContainer {
    SeenContainer {
        id: "c1".to_owned(),
        name: "web".to_owned(),
        spec_hash: HASH.to_owned(),
        image_id: "sha256:1".to_owned(),
        state: ContainerStatus::Running,
        started_at: Some(LATELY.to_owned()),
        finished_at: None,
        exit_code: 0,
        oom_killed: false,
        error: String::new(),
        restart_count: 0,
        policy: policy("no"),
        limits: Update::default(),
        networks: std::collections::BTreeSet::default(),
        stale_networks: std::collections::BTreeSet::default(),
    }
}

/// One row's input.
#[derive(Clone, Debug)]
pub struct World {
    pub wish: Wish,
    pub seen: Seen,
    pub record: Record,
    pub memory: Memory,
    pub now: Duration,
}

impl World {
    pub fn empty() -> Self {
        Self {
            wish: wish(),
            seen: Seen {
                container: None,
                holder: None,
                image: Image::Present,
                image_id: Some("sha256:1".to_owned()),
                prefetch: None,
                ground: Ground::Ready,
                blocked: None,
                began: BEGAN.parse().unwrap(),
            },
            record: Record::default(),
            memory: Memory::default(),
            now: Duration::from_secs(1000),
        }
    }

    /// Its container runs, as wished.
    pub fn running() -> Self {
        let mut world = Self::empty();
        world.seen.container = Some(container());
        world.look();
        world
    }

    /// It ran under the present instance and was seen to, then ended.
    pub fn exited(code: i64) -> Self {
        Self::running().with(|c| {
            c.state = ContainerStatus::Exited;
            c.exit_code = code;
            c.finished_at = Some("2026-01-01T12:31:00Z".to_owned());
        })
    }

    /// It was seen to run under an instance that is no more, and is exited.
    pub fn interrupted(code: i64) -> Self {
        let mut world = Self::exited(code).with(|c| c.started_at = Some(EARLIER.to_owned()));
        world.record.start = Some(start(EARLIER, Some("boot-1")));
        world.memory = Memory::default();
        world
    }

    /// It was made and never started.
    pub fn created() -> Self {
        let mut world = Self::empty();
        world.seen.container = Some(SeenContainer {
            state: ContainerStatus::Created,
            started_at: None,
            ..container()
        });
        world
    }

    /// The container of the run before is there, stopped.
    pub fn following() -> Self {
        let mut world = Self::exited(143).with(|c| c.started_at = Some(BEFORE.to_owned()));
        (world.record, world.memory) = (Record::default(), Memory::default());
        world.wish.previous = Some(PreviousContainer {
            container_id: "c1".to_owned(),
            started_at: Some(BEFORE.to_owned()),
        });
        world
    }

    /// The same with another container.
    pub fn with(mut self, change: impl FnOnce(&mut SeenContainer)) -> Self {
        change(self.seen.container.as_mut().unwrap());
        self
    }

    pub fn wishing(mut self, change: impl FnOnce(&mut Wish)) -> Self {
        change(&mut self.wish);
        self
    }

    pub fn seeing(mut self, change: impl FnOnce(&mut Seen)) -> Self {
        change(&mut self.seen);
        self
    }

    pub fn knowing(mut self, change: impl FnOnce(&mut Memory)) -> Self {
        change(&mut self.memory);
        self
    }

    /// Declared so, and the container has the engine's policy that goes with it.
    pub fn restart(mut self, restart: Restart) -> Self {
        let of = match restart {
            Restart::Kept | Restart::No => policy("no"),
            Restart::Always => policy("always"),
            Restart::OnFailure(most) => RestartPolicy {
                name: "on-failure".to_owned(),
                maximum_retry_count: Some(most).filter(|most| *most > 0),
            },
        };
        self.wish.restart = restart;
        self.wish.policy = of.clone();
        if let Some(container) = &mut self.seen.container {
            container.policy = of;
        }
        self
    }

    pub fn desired(self, desired: DesiredState) -> Self {
        self.wishing(|wish| wish.desired = desired)
    }

    pub fn look(&mut self) {
        let Self { wish, seen, record, memory, now } = self;
        record.saw(wish, seen, memory, NOW, *now);
    }

    pub fn next(&self) -> Step {
        let Self { wish, seen, record, memory, now } = self;
        next(&Case { wish, seen, record, memory, instance: NOW, now: *now })
    }

    /// Looks, and tells the next step in a few words.
    pub fn told(mut self) -> String {
        self.look();
        told(&self.next(), self.now)
    }
}

pub fn start(at: &str, under: Option<&str>) -> Start {
    Start { at: at.to_owned(), under: under.map(str::to_owned), engine_restarts: 0, halted: false }
}

/// A step in a few words.
pub fn told(step: &Step, now: Duration) -> String {
    match step {
        Step::Pull(pulled) => format!("Pull {pulled:?}"),
        Step::Update { change, .. } => match &change.restart_policy {
            Some(policy) => format!("Update policy {}", policy.name),
            None => "Update limits".to_owned(),
        },
        Step::Recreate { why, .. } => format!("Recreate {why:?}"),
        Step::Settle(ended) => match ended.exit_code {
            Some(code) => format!("Settle {:?} {code}", ended.how),
            None => format!("Settle {:?}", ended.how),
        },
        Step::Wait { until, hold } => {
            let seconds = until.map(|until| until.saturating_sub(now).as_secs());
            format!("Wait {} {}s", hold.reason.as_str(), seconds.unwrap_or_default())
        }
        step => step.name().to_owned(),
    }
}

/// A table: what is shown, the input, the step.
#[track_caller]
pub fn check(rows: Vec<(&str, World, &str)>) {
    let wrong: Vec<_> = rows
        .into_iter()
        .filter_map(|(what, world, step)| {
            let told = world.told();
            (told != step).then(|| format!("{what}: {told}, not {step}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
