//! Section 4: towards a container that does not run, and towards none.

use super::world::{World, check};
use crate::agent::lifecycle::{End, Ended, Ground, Hold, Restart, Step};
use crate::api::Reason;
use crate::api::workspace_run::DesiredState::{Removed, Stopped};
use crate::docker::ContainerStatus;
use std::time::Duration;

fn settled(mut world: World, how: End) -> World {
    world.record.ended = Some(Ended { how, exit_code: Some(7), finished_at: None });
    world
}

#[test]
fn stopping_takes_the_policy_off_first_then_asks_then_kills() {
    let stop = || World::running().desired(Stopped);
    check(vec![
        (
            "the engine's policy is switched off",
            stop().restart(Restart::Always),
            "Update policy no",
        ),
        (
            "in the engine's own pause between two tries too",
            stop().restart(Restart::Always).with(|c| c.state = ContainerStatus::Restarting),
            "Update policy no",
        ),
        ("then it is asked", stop(), "Stop"),
        ("asked in vain it is killed", stop().knowing(|m| m.stops = 1), "Kill"),
        (
            "a frozen process hears no signal",
            stop().with(|c| c.state = ContainerStatus::Paused),
            "Unpause",
        ),
        ("exited", World::exited(143).desired(Stopped), "Settle Stopped 143"),
        (
            "exited, and an engine that starts again would start it too",
            World::exited(143).restart(Restart::Always).desired(Stopped),
            "Update policy no",
        ),
        (
            "exited by itself just before: it does not run, as is wished",
            World::exited(3).desired(Stopped),
            "Settle Stopped 3",
        ),
        (
            "an earlier instance cut it short: as well",
            World::interrupted(0).desired(Stopped),
            "Settle Stopped 0",
        ),
        ("never started", World::created().desired(Stopped), "Settle Stopped"),
        (
            "the run before's, not started for this one",
            World::following().desired(Stopped),
            "Settle Stopped",
        ),
        ("never made", World::empty().desired(Stopped), "Settle Stopped"),
        (
            "dead",
            World::exited(1).with(|c| c.state = ContainerStatus::Dead).desired(Stopped),
            "Settle Stopped 1",
        ),
        (
            "being removed is not stopped",
            stop().with(|c| c.state = ContainerStatus::Removing),
            "Wait InProgress 1s",
        ),
        ("settled", settled(World::exited(7).desired(Stopped), End::Stopped), "Idle"),
        ("settled, and started by hand", settled(stop(), End::Stopped), "Stop"),
        (
            "one that ended by itself before keeps its end",
            settled(World::exited(7).desired(Stopped), End::ExitedWithError),
            "Idle",
        ),
    ]);
}

#[test]
fn removal_never_needs_more_than_the_engine() {
    let remove = |world: World| world.desired(Removed);
    check(vec![
        ("what runs is stopped first", remove(World::running()), "Stop"),
        ("with force it is killed", remove(World::running()).wishing(|w| w.force = true), "Kill"),
        (
            "with force a frozen one too",
            remove(World::running())
                .wishing(|w| w.force = true)
                .with(|c| c.state = ContainerStatus::Paused),
            "Kill",
        ),
        ("stopped", remove(World::exited(0)), "Remove"),
        (
            "stopped with a policy: it goes with the container",
            remove(World::exited(0)).restart(Restart::Always),
            "Remove",
        ),
        (
            "made from another spec",
            remove(World::exited(0)).with(|c| c.spec_hash = "1:old".into()),
            "Remove",
        ),
        ("under another name", remove(World::exited(0)).with(|c| c.name = "mine".into()), "Remove"),
        ("dead", remove(World::exited(0)).with(|c| c.state = ContainerStatus::Dead), "Remove"),
        (
            "being removed",
            remove(World::exited(0)).with(|c| c.state = ContainerStatus::Removing),
            "Wait InProgress 1s",
        ),
        ("gone, and the directory is there", remove(World::empty()), "Clear"),
        ("all gone", remove(World::empty()).seeing(|s| s.ground = Ground::Bare), "Settle Removed"),
        (
            "how it ended stays told",
            settled(
                remove(World::empty()).seeing(|s| s.ground = Ground::Bare),
                End::ExitedWithError,
            ),
            "Settle Removed 7",
        ),
        (
            "settled",
            settled(remove(World::empty()).seeing(|s| s.ground = Ground::Bare), End::Removed),
            "Idle",
        ),
        (
            "blocked, fenced, without an image: it goes all the same",
            remove(World::exited(0))
                .wishing(|w| w.fenced = true)
                .seeing(|s| s.blocked = Some(Hold::new(Reason::SecretNotFound, "x"))),
            "Remove",
        ),
    ]);
}

#[test]
fn a_lost_answer_takes_no_grace_period_from_a_container() {
    let mut world = World::running().desired(Stopped);
    for _ in 0..3 {
        let step = world.next();
        assert_eq!(step.name(), "Stop");
        let hold = Hold::new(Reason::EngineUnreachable, "no answer");
        world.memory.failed(&step, hold, Duration::ZERO, world.now);
        world.look();
        world.now += Duration::from_secs(4);
    }
    assert_eq!(world.next().name(), "Kill");
}

#[test]
fn a_container_that_not_even_sigkill_ends_is_told_and_not_killed_without_a_pause() {
    let mut world = World::running().desired(Stopped);
    let step = world.next();
    world.memory.did(&step, "boot-2");
    world.look();
    for seconds in [1, 2, 4] {
        let step = world.next();
        assert_eq!(step.name(), "Kill");
        world.memory.did(&step, "boot-2");
        world.look();
        let told = super::world::told(&world.next(), world.now);
        assert_eq!(told, format!("Wait StuckStopping {seconds}s"));
        world.now += Duration::from_secs(seconds);
    }
}

#[test]
fn an_engine_that_does_not_take_the_policy_keeps_no_container_up_for_ever() {
    let always = || World::running().restart(Restart::Always).desired(Stopped);
    let mut silent = always();
    let step = silent.next();
    silent.memory.did(&step, "boot-2");
    let mut refusing = always();
    for _ in 0..3 {
        refusing.now += Duration::from_mins(1);
        let step = refusing.next();
        let hold = Hold::new(Reason::StartFailed, "no");
        refusing.memory.failed(&step, hold, Duration::ZERO, refusing.now);
    }
    check(vec![("it says yes and does nothing", silent, "Stop"), ("it says no", refusing, "Stop")]);
}

#[test]
fn a_policy_that_comes_back_by_hand_is_taken_off_again() {
    let mut world = World::running().restart(Restart::Always).desired(Stopped);
    let step = world.next();
    assert!(matches!(step, Step::Update { .. }));
    world.memory.did(&step, "boot-2");
    world = world.with(|c| c.policy.name = "no".into());
    world.look();
    world = settled(world, End::Stopped);
    world.now += Duration::from_mins(1);
    let started = world.with(|c| c.policy.name = "always".into());
    check(vec![("docker update --restart always; docker start", started, "Update policy no")]);
}
