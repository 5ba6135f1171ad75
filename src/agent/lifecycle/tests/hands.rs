//! Section 4: what is done by hand on the host is drift, and the declared state wins.

use super::world::{World, check, policy};
use crate::agent::lifecycle::{Hold, Image, Memory, Record, Restart};
use crate::api::Reason;
use crate::docker::{ContainerStatus, Update};

fn in_state(state: ContainerStatus) -> World {
    World::running().with(|c| c.state = state)
}

#[test]
fn a_container_that_is_as_declared_is_left_alone() {
    check(vec![
        (
            "adopted by an agent that knows nothing",
            World { record: Record::default(), memory: Memory::default(), ..World::running() },
            "Idle",
        ),
        ("always", World::running().restart(Restart::Always), "Idle"),
        (
            "empty and no are one policy",
            World::running().restart(Restart::No).with(|c| c.policy = policy("")),
            "Idle",
        ),
        (
            "its image was not looked for",
            World::running().seeing(|s| s.image = Image::NotLooked),
            "Idle",
        ),
        (
            "its image is gone from the host",
            World::running().seeing(|s| s.image = Image::Absent),
            "Idle",
        ),
        (
            "the tag has moved: a new image takes a new run",
            World::running()
                .wishing(|w| w.pull = crate::agent::lifecycle::Pull::Always)
                .seeing(|s| s.image_id = Some("sha256:2".into())),
            "Idle",
        ),
        (
            "its Secret is gone: what runs goes on",
            World::running().seeing(|s| s.blocked = Some(Hold::new(Reason::SecretNotFound, "x"))),
            "Idle",
        ),
    ]);
}

#[test]
fn what_was_done_by_hand_is_put_right() {
    check(vec![
        (
            "docker stop under always: the engine does not restart it",
            World::exited(143).restart(Restart::Always),
            "Wait StoppedByHand 1s",
        ),
        (
            "docker stop where the process exits 0",
            World::exited(0).restart(Restart::Always),
            "Wait StoppedByHand 1s",
        ),
        ("docker kill under unset", World::exited(137), "Wait CrashLoopBackOff 1s"),
        ("docker pause", in_state(ContainerStatus::Paused), "Unpause"),
        ("docker rename", World::running().with(|c| c.name = "mine".into()), "Rename"),
        (
            "docker rename of a stopped one",
            World::created().with(|c| c.name = "mine".into()),
            "Rename",
        ),
        (
            "docker update --restart no",
            World::running().restart(Restart::Always).with(|c| c.policy = policy("no")),
            "Update policy always",
        ),
        (
            "docker update --restart always where none is declared",
            World::running().with(|c| c.policy = policy("always")),
            "Update policy no",
        ),
        (
            "docker update --memory",
            World::running()
                .wishing(|w| w.limits.memory = Some(64 << 20))
                .with(|c| c.limits.memory = Some(32 << 20)),
            "Update limits",
        ),
        ("docker rm -f", World::running().seeing(|s| s.container = None), "Create"),
        (
            "docker rm -f of a one-shot: how it ended nobody knows",
            World::running().restart(Restart::No).seeing(|s| s.container = None),
            "Settle Interrupted",
        ),
        (
            "docker rm -f of on-failure",
            World::running().restart(Restart::OnFailure(1)).seeing(|s| s.container = None),
            "Create",
        ),
        (
            "docker start before the agent did it is a start",
            World::created().with(|c| {
                c.state = ContainerStatus::Running;
                c.started_at = Some(super::world::LATELY.into());
            }),
            "Idle",
        ),
        (
            "docker stop under `no` is the run's end, for nothing tells the two apart",
            World::exited(0).restart(Restart::No),
            "Settle Completed 0",
        ),
    ]);
}

#[test]
fn every_state_of_an_engine_has_its_step() {
    check(vec![
        (
            "restarting: the engine sees to it",
            in_state(ContainerStatus::Restarting).restart(Restart::Always),
            "Idle",
        ),
        ("removing: it is waited for", in_state(ContainerStatus::Removing), "Wait InProgress 1s"),
        (
            "dead: it is removed, and made anew from the image at hand",
            in_state(ContainerStatus::Dead),
            "Recreate Broken",
        ),
        (
            "unheard of: it is waited for",
            in_state(ContainerStatus::Other("frozen".into())),
            "Wait InProgress 10s",
        ),
        (
            "running, and the engine does not say since when",
            World::running().with(|c| c.started_at = None),
            "Idle",
        ),
    ]);
}

#[test]
fn what_the_engine_does_not_take_is_asked_for_once() {
    let asked = || {
        let mut world = World::running().wishing(|w| w.limits.pids_limit = Some(64));
        let step = world.next();
        world.memory.did(&step, "boot-2");
        world
    };
    check(vec![
        ("an engine whose kernel cannot do it", asked(), "Idle"),
        (
            "taken, and changed by hand later",
            {
                let mut world = asked().with(|c| c.limits.pids_limit = Some(64));
                world.look();
                world.now += std::time::Duration::from_mins(1);
                world.with(|c| c.limits.pids_limit = Some(7))
            },
            "Update limits",
        ),
    ]);
}

#[test]
fn what_waits_to_be_tried_again_holds_up_nothing_else() {
    let failing = || {
        let mut world = World::running()
            .wishing(|w| w.limits.memory = Some(1))
            .with(|c| c.limits = Update::default());
        let step = world.next();
        let hold = Hold::new(Reason::InvalidSpec, "refused");
        world.memory.failed(&step, hold, std::time::Duration::from_mins(1), world.now);
        world
    };
    check(vec![
        ("the update waits", failing(), "Wait InvalidSpec 60s"),
        (
            "the image of the next run, which may be the mending, is pulled",
            failing().seeing(|s| s.prefetch = Some(Image::Absent)),
            "Pull Prefetch",
        ),
    ]);
}
