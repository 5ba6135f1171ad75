//! A small engine in memory: from whatever is seen, under whatever fails, the steps lead to what is
//! wished, and do no harm on the way.

use std::time::Duration;

use proptest::prelude::*;

use super::world::{BEFORE, EARLIER, LATELY, NOW, World, container, policy, start};
use crate::agent::lifecycle::{
    End, Ended, Ground, Hold, Image, Memory, Pull, Pulled, Record, Restart, SeenContainer, Step,
};
use crate::api::Reason;
use crate::api::workspace_run::{DesiredState, PreviousContainer};
use crate::docker::ContainerStatus;

/// What happens on the host or in the API between two steps.
#[derive(Clone, Debug)]
enum Event {
    /// The process ends by itself.
    Exits(i64),
    /// By hand.
    Stopped,
    Paused,
    Removed,
    Renamed,
    Governed,
    /// The wish goes forward.
    Desired(DesiredState),
    /// The next run, of the same spec or another.
    NextRun(bool),
    /// The agent dies and comes back with what is written down.
    AgentRestarts,
}

/// How a step goes.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Done,
    Fails,
    /// Its effect happens, and the answer is lost.
    Lost,
}

#[derive(Debug)]
struct Model {
    world: World,
    containers: u32,
    starts: u32,
}

impl Model {
    fn container(&mut self) -> &mut SeenContainer {
        self.world.seen.container.as_mut().expect("a step on a container that is not there")
    }

    fn is_alive(&self) -> bool {
        self.world.seen.container.as_ref().is_some_and(SeenContainer::is_alive)
    }

    /// What the engine, or the disk, does.
    fn effect(&mut self, step: &Step) {
        match step {
            Step::Pull(Pulled::Own) => self.world.seen.image = Image::Present,
            Step::Pull(Pulled::Prefetch) => self.world.seen.prefetch = Some(Image::Present),
            Step::Prepare | Step::WriteConfig { .. } => self.world.seen.ground = Ground::Ready,
            Step::Clear => self.world.seen.ground = Ground::Bare,
            Step::Create => self.create(),
            Step::Connect { network, .. } => {
                self.container().networks.insert(network.clone());
            }
            Step::Start { .. } => self.start(),
            Step::Unpause { .. } => self.container().state = ContainerStatus::Running,
            Step::Rename { .. } => self.container().name = self.world.wish.name.clone(),
            Step::Update { change, .. } => {
                let container = self.container();
                if let Some(policy) = &change.restart_policy {
                    container.policy = policy.clone();
                }
                container.limits.memory = change.memory.or(container.limits.memory);
            }
            Step::Stop { .. } | Step::Kill { .. } => self.exit(143),
            Step::Remove { .. } | Step::Recreate { .. } => {
                assert!(!self.is_alive(), "what lives is not removed");
                self.world.seen.container = None;
            }
            Step::Settle(ended) => self.settle(ended),
            Step::Wait { .. } | Step::Idle => {}
        }
    }

    fn create(&mut self) {
        assert!(self.world.seen.container.is_none(), "a second container");
        assert!(self.world.seen.holder.is_none(), "a foreign container has the name");
        self.containers += 1;
        let wish = &self.world.wish;
        self.world.seen.container = Some(SeenContainer {
            id: format!("made-{}", self.containers),
            name: wish.name.clone(),
            spec_hash: wish.spec_hash.clone(),
            state: ContainerStatus::Created,
            started_at: None,
            policy: wish.policy.clone(),
            limits: wish.limits.clone(),
            ..container()
        });
    }

    fn start(&mut self) {
        assert!(!self.is_alive(), "what runs is not started");
        self.starts += 1;
        let at = format!("2026-01-01T13:{:02}:{:02}.5Z", self.starts / 60 % 60, self.starts % 60);
        let container = self.container();
        container.state = ContainerStatus::Running;
        container.restart_count = 0;
        container.started_at = Some(at);
    }

    fn exit(&mut self, code: i64) {
        let container = self.container();
        container.state = ContainerStatus::Exited;
        container.exit_code = code;
    }

    fn settle(&mut self, ended: &Ended) {
        let record = &mut self.world.record;
        assert!(record.ended.is_none() || ended.how == End::Removed, "an end is written once");
        record.ended = Some(ended.clone());
    }

    fn happen(&mut self, event: &Event) {
        // After each step there is a look: a policy that is changed by hand in between could not be
        // told from one that the engine did not take.
        self.world.look();
        if let (true, Some(container)) = (self.is_alive(), self.world.seen.container.as_mut()) {
            match event {
                Event::Paused => container.state = ContainerStatus::Paused,
                Event::Exits(code) => {
                    container.state = ContainerStatus::Exited;
                    container.exit_code = *code;
                }
                Event::Stopped => container.state = ContainerStatus::Exited,
                _ => {}
            }
        }
        match (event, self.world.seen.container.as_mut()) {
            (Event::Removed, _) => self.world.seen.container = None,
            (Event::Renamed, Some(container)) => container.name = "mine".to_owned(),
            (Event::Governed, Some(container)) => container.policy = policy("always"),
            (Event::Desired(desired), _) if *desired > self.world.wish.desired => {
                self.world.wish.desired = *desired;
                self.world.memory.wish_changed();
            }
            (Event::NextRun(same), _) => self.next_run(*same),
            (Event::AgentRestarts, _) => self.world.memory = Memory::default(),
            _ => {}
        }
    }

    /// The controller makes the next run when the last is seen ended.
    fn next_run(&mut self, same: bool) {
        let World { wish, seen, record, memory, .. } = &mut self.world;
        if wish.desired != DesiredState::Stopped || record.ended.is_none() {
            return;
        }
        let alive = seen.container.as_ref().is_some_and(SeenContainer::is_alive);
        wish.previous = seen.container.as_ref().filter(|_| !alive).map(|c| PreviousContainer {
            container_id: c.id.clone(),
            started_at: c.started_at.clone(),
        });
        wish.desired = DesiredState::Running;
        if !same {
            wish.spec_hash.push('+');
            seen.image = Image::Absent;
        }
        *record = Record::default();
        memory.wish_changed();
    }

    /// Whether its container is all that is wished, and runs for this run.
    fn is_right(&self) -> bool {
        let World { wish, seen, record, .. } = &self.world;
        let Some(container) = &seen.container else { return false };
        let ours = container.started_at.is_none() || record.counts(wish, container);
        wish.desired == DesiredState::Running
            && !wish.fenced
            && record.ended.is_none()
            && container.is_alive()
            && container.spec_hash == wish.spec_hash
            && ours
    }

    fn check_step(&self, step: &Step) {
        let kills = matches!(
            step,
            Step::Stop { .. } | Step::Kill { .. } | Step::Remove { .. } | Step::Recreate { .. }
        );
        assert!(!(kills && self.is_right()), "{step:?} on a container that is right");
        let over = self.world.record.ended.is_some();
        let begins = matches!(step, Step::Start { .. } | Step::Create);
        assert!(!(over && begins), "{step:?} for a run that is over");
        assert!(
            !(begins && self.world.wish.desired != DesiredState::Running),
            "{step:?} where nothing is to run"
        );
        assert!(!(begins && self.world.wish.fenced), "{step:?} under a stale Lease");
    }

    /// One turn of the loop; whether nothing more comes.
    fn turn(&mut self, outcome: Outcome) -> bool {
        let (started, restarts) = (self.world.record.started, self.world.record.restarts());
        self.world.look();
        let record = &self.world.record;
        assert!(started.is_none() || record.started == started, "a start is never taken back");
        assert!(record.restarts() >= restarts, "restarts never fall");
        let step = self.world.next();
        self.check_step(&step);
        match &step {
            Step::Idle => return true,
            Step::Wait { until, hold } => return self.wait(*until, hold),
            Step::Settle(_) => self.effect(&step),
            _ => self.carry_out(&step, outcome),
        }
        false
    }

    fn carry_out(&mut self, step: &Step, outcome: Outcome) {
        if matches!(outcome, Outcome::Done | Outcome::Lost) {
            self.effect(step);
        }
        let now = self.world.now;
        match outcome {
            Outcome::Done => self.world.memory.did(step, NOW),
            Outcome::Fails | Outcome::Lost => {
                let hold = Hold::new(Reason::StartFailed, "fault");
                self.world.memory.failed(step, hold, Duration::ZERO, now);
            }
        }
    }

    fn wait(&mut self, until: Option<Duration>, hold: &Hold) -> bool {
        let only_the_user = [
            Reason::ImageNeverPulled,
            Reason::NameConflict,
            Reason::SecretNotFound,
            Reason::HostUnreachable,
        ];
        if only_the_user.contains(&hold.reason) {
            return true;
        }
        let until = until.expect("a wait has a time");
        assert!(until > self.world.now, "a wait is for later");
        self.world.now = until;
        let container = self.world.seen.container.as_mut();
        match container.map(|container| &container.state) {
            Some(ContainerStatus::Removing) => self.world.seen.container = None,
            Some(ContainerStatus::Other(_)) => self.exit(0),
            _ => {}
        }
        false
    }

    /// What holds when nothing more comes.
    fn check_rest(&mut self) {
        self.world.look();
        let step = self.world.next();
        let World { wish, seen, record, .. } = &self.world;
        let alive = self.is_alive();
        if let Step::Wait { hold, .. } = &step {
            let said = match hold.reason {
                Reason::ImageNeverPulled => wish.pull == Pull::Never,
                Reason::NameConflict => seen.holder.is_some(),
                Reason::SecretNotFound => seen.blocked.is_some(),
                _ => wish.fenced,
            };
            assert!(said && wish.desired == DesiredState::Running, "{hold:?}");
            return;
        }
        match wish.desired {
            DesiredState::Running if record.ended.is_some() => assert!(!alive),
            DesiredState::Running => {
                let container = seen.container.as_ref().expect("a container");
                assert!(alive && container.spec_hash == wish.spec_hash, "{container:?}");
                assert_eq!(container.name, wish.name);
                let of = |name: &str| name.replace("no", "");
                assert_eq!(of(&container.policy.name), of(&wish.policy.name));
                let memory = wish.limits.memory;
                assert!(memory.is_none() || memory == container.limits.memory);
                assert!(container.started_at.is_none() || record.started.is_some());
            }
            DesiredState::Stopped => {
                assert!(!alive && record.ended.is_some());
                let governed = seen
                    .container
                    .as_ref()
                    .is_some_and(|c| c.is_governed() && c.state != ContainerStatus::Dead);
                assert!(!governed, "an engine that starts again would start it");
            }
            DesiredState::Removed => {
                assert!(seen.container.is_none() && seen.ground == Ground::Bare);
                assert_eq!(record.ended.as_ref().map(|e| e.how), Some(End::Removed));
            }
        }
    }
}

fn states() -> impl Strategy<Value = ContainerStatus> {
    use ContainerStatus::*;
    prop::sample::select(vec![
        Created,
        Running,
        Paused,
        Restarting,
        Removing,
        Exited,
        Dead,
        Other("frozen".to_owned()),
    ])
}

prop_compose! {
    fn containers()(
        state in states(),
        hash in prop::sample::select(vec!["1:aa", "1:aa", "1:old"]),
        name in prop::sample::select(vec!["web", "web", "mine"]),
        of in prop::sample::select(vec!["no", "", "always", "on-failure"]),
        at in prop::sample::select(vec![None, Some(EARLIER), Some(BEFORE), Some(LATELY), Some("nonsense")]),
        exit_code in prop::sample::select(vec![0, 1, 127, 137, 143]),
        oom_killed in any::<bool>(),
        restart_count in 0_i64..4,
        memory in prop::option::of(Just(32_i64)),
        image in prop::sample::select(vec!["sha256:1", "sha256:2"]),
    ) -> SeenContainer {
        // What never started is created, and what runs has started.
        let unstarted = state == ContainerStatus::Created;
        let at = if unstarted { None } else { at.or(Some(LATELY)) };
        let mut container = SeenContainer {
            state,
            spec_hash: hash.to_owned(),
            name: name.to_owned(),
            policy: policy(of),
            started_at: at.map(str::to_owned),
            exit_code,
            oom_killed,
            restart_count,
            image_id: image.to_owned(),
            ..container()
        };
        container.limits.memory = memory;
        container
    }
}

fn restarts() -> impl Strategy<Value = Restart> {
    prop::sample::select(vec![
        Restart::Kept,
        Restart::Always,
        Restart::OnFailure(0),
        Restart::OnFailure(2),
        Restart::No,
    ])
}

fn desires() -> impl Strategy<Value = DesiredState> {
    use DesiredState::*;
    prop::sample::select(vec![Running, Running, Running, Stopped, Removed])
}

prop_compose! {
    fn wishes()(
        desired in desires(),
        restart in restarts(),
        pull in prop::sample::select(vec![Pull::Always, Pull::IfNotPresent, Pull::Never]),
        fresh_layer in any::<bool>(),
        force in any::<bool>(),
        config in any::<bool>(),
        fenced in prop::bool::weighted(0.1),
        network in any::<bool>(),
        memory in prop::option::of(Just(64_i64)),
        previous in prop::option::of(prop::option::of(Just(BEFORE))),
    ) -> World {
        let mut world = World::empty().restart(restart).desired(desired);
        let wish = &mut world.wish;
        (wish.pull, wish.fresh_layer, wish.force) = (pull, fresh_layer, force);
        (wish.config, wish.fenced) = (config, fenced);
        wish.networks = network.then(|| "mynet".to_owned()).into_iter().collect();
        wish.limits.memory = memory;
        wish.previous = previous.map(|at| PreviousContainer {
            container_id: "c1".to_owned(),
            started_at: at.map(str::to_owned),
        });
        world
    }
}

prop_compose! {
    fn worlds()(
        world in wishes(),
        container in prop::option::weighted(0.8, containers()),
        image in prop::sample::select(vec![Image::Absent, Image::Present]),
        image_id in prop::option::of(Just("sha256:2".to_owned())),
        prefetch in prop::option::of(prop::sample::select(vec![Image::Absent, Image::Present])),
        ground in prop::sample::select(vec![Ground::Bare, Ground::Missing, Ground::ConfigStale, Ground::Ready]),
        holder in prop::bool::weighted(0.1),
        blocked in prop::bool::weighted(0.1),
        under in prop::option::of(prop::sample::select(vec![NOW, "boot-1"])),
        known in any::<bool>(),
    ) -> World {
        let mut world = world;
        let seen = &mut world.seen;
        (seen.image, seen.prefetch, seen.ground) = (image, prefetch, ground);
        seen.image_id = image_id;
        seen.holder = holder.then(|| "f00".to_owned());
        seen.blocked = blocked.then(|| Hold::new(Reason::SecretNotFound, "x"));
        let at = container.as_ref().and_then(|c| c.started_at.clone());
        seen.container = container;
        if let (true, Some(at)) = (known, at) {
            let before = world.wish.previous.as_ref().and_then(|p| p.started_at.as_ref());
            if before != Some(&at) {
                world.record.start = Some(start(&at, under));
                world.record.started = at.parse().ok();
            }
        }
        world
    }
}

fn events() -> impl Strategy<Value = Vec<Option<Event>>> {
    let event = prop_oneof![
        prop::sample::select(vec![0, 1, 137]).prop_map(Event::Exits),
        Just(Event::Stopped),
        Just(Event::Paused),
        Just(Event::Removed),
        Just(Event::Renamed),
        Just(Event::Governed),
        Just(Event::AgentRestarts),
        prop::sample::select(vec![DesiredState::Stopped, DesiredState::Removed])
            .prop_map(Event::Desired),
        any::<bool>().prop_map(Event::NextRun),
        any::<bool>().prop_map(Event::NextRun),
    ];
    prop::collection::vec(prop::option::weighted(0.2, event), 0..60)
}

fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
    let outcome =
        prop::sample::select(vec![Outcome::Done, Outcome::Done, Outcome::Fails, Outcome::Lost]);
    prop::collection::vec(outcome, 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_seen_and_whatever_fails_the_wished_state_is_reached_and_kept(
        world in worlds(), events in events(), outcomes in outcomes(),
    ) {
        let mut model = Model { world, containers: 0, starts: 0 };
        for (n, event) in events.iter().enumerate() {
            if let Some(event) = event {
                model.happen(event);
            }
            model.turn(outcomes.get(n).copied().unwrap_or(Outcome::Done));
        }
        // Then the world is left alone, and no step fails any more.
        let mut turns = 0;
        while !model.turn(Outcome::Done) {
            turns += 1;
            prop_assert!(turns < 60, "never at rest: {model:?}");
        }
        model.check_rest();
        // At rest it stays: a restart of the agent too makes no step.
        model.world.memory = Memory::default();
        let at_rest = model.world.clone();
        while !model.turn(Outcome::Done) {
            turns += 1;
            prop_assert!(turns < 120, "never at rest again: {model:?}");
        }
        let (a, b) = (at_rest.seen.container, model.world.seen.container);
        prop_assert_eq!(a.map(|c| (c.id, c.started_at)), b.map(|c| (c.id, c.started_at)));
    }

    #[test]
    fn a_step_is_told_for_every_case(world in worlds(), ended in any::<bool>(), stops in 0_u32..3) {
        let mut world = world;
        world.memory.stops = stops;
        world.record.ended = ended.then(|| Ended::bare(End::Stopped));
        let before_the_look = world.next();
        world.look();
        prop_assert_eq!(world.next(), world.next());
        let _ = before_the_look;
    }
}
