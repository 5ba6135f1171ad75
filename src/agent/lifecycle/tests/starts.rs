//! Section 4: from nothing to a container that runs, and pull before stop.

use super::world::{LATELY, World, check};
use crate::agent::lifecycle::{Ground, Hold, Image, Pull, Pulled, Restart, Step};
use crate::api::Reason;
use crate::docker::ContainerStatus;
use std::time::Duration;

fn old_spec() -> World {
    World::running().with(|c| c.spec_hash = "1:old".into())
}

#[test]
fn from_nothing_each_thing_is_done_where_it_is_needed() {
    check(vec![
        ("no image", World::empty().seeing(|s| s.image = Image::Absent), "Pull Own"),
        (
            "IfNotPresent with the image there makes no registry call",
            World::empty().seeing(|s| s.ground = Ground::Bare),
            "Prepare",
        ),
        (
            "something a start needs is missing",
            World::empty().seeing(|s| s.ground = Ground::Missing),
            "Prepare",
        ),
        (
            "the config file is stale",
            World::empty().seeing(|s| s.ground = Ground::ConfigStale),
            "WriteConfig",
        ),
        ("all is there", World::empty(), "Create"),
        ("made", World::created(), "Start"),
        (
            "made, and not yet in a network",
            World::created().wishing(|w| w.networks = vec!["mynet".into()]),
            "Connect",
        ),
        (
            "made with always, by a run before whose stop took it off",
            World::created().restart(Restart::Always).with(|c| c.policy.name = "no".into()),
            "Update policy always",
        ),
        (
            "the directory went after it was made: the engine would make one as root",
            World::created().seeing(|s| s.ground = Ground::Missing),
            "Prepare",
        ),
    ]);
}

#[test]
fn what_cannot_be_is_waited_for_with_its_reason() {
    check(vec![
        (
            "Never, and no image",
            World::empty().wishing(|w| w.pull = Pull::Never).seeing(|s| s.image = Image::Absent),
            "Wait ImageNeverPulled 10s",
        ),
        (
            "Never, and the image is there",
            World::empty().wishing(|w| w.pull = Pull::Never),
            "Create",
        ),
        (
            "blocked",
            World::empty().seeing(|s| s.blocked = Some(Hold::new(Reason::SecretNotFound, "x"))),
            "Wait SecretNotFound 600s",
        ),
        (
            "a stopped one is blocked too",
            World::created()
                .seeing(|s| s.blocked = Some(Hold::new(Reason::ForbiddenByHostPolicy, "x"))),
            "Wait ForbiddenByHostPolicy 600s",
        ),
        (
            "a foreign container has the name",
            World::empty().seeing(|s| s.holder = Some("f00".into())),
            "Wait NameConflict 10s",
        ),
    ]);
}

#[test]
fn always_asks_the_registry_before_every_new_container_and_once() {
    let always = |world: World| world.wishing(|w| w.pull = Pull::Always);
    let pulled = |world: World| always(world).knowing(|m| m.pulled = true);
    let moved = |world: World| world.seeing(|s| s.image_id = Some("sha256:2".into()));
    check(vec![
        ("present", always(World::empty()), "Pull Own"),
        ("pulled", pulled(World::empty()), "Create"),
        (
            "pulled, and removed by hand since",
            pulled(World::empty()).seeing(|s| s.image = Image::Absent),
            "Pull Own",
        ),
        ("a container of the run before", always(World::following()), "Pull Own"),
        ("of the same image", pulled(World::following()), "Start"),
        ("of another image", moved(pulled(World::following())), "Recreate Image"),
        (
            "a restart within the run makes no new container",
            moved(always(World::interrupted(0))),
            "Start",
        ),
    ]);
}

#[test]
fn the_image_for_the_next_run_is_no_pull_for_this_one() {
    let mut world = World::running().wishing(|w| w.pull = Pull::Always);
    world.memory.did(&Step::Pull(Pulled::Prefetch), "boot-2");
    check(vec![("removed by hand then", world.seeing(|s| s.container = None), "Pull Own")]);
}

#[test]
fn what_runs_goes_on_until_all_else_is_there() {
    check(vec![
        ("pull before stop", old_spec().seeing(|s| s.image = Image::Absent), "Pull Own"),
        (
            "blocked: it runs on",
            old_spec().seeing(|s| s.blocked = Some(Hold::new(Reason::SecretNotFound, "x"))),
            "Wait SecretNotFound 600s",
        ),
        (
            "the policy goes before the stop",
            old_spec().restart(Restart::Always),
            "Update policy no",
        ),
        ("then it is stopped", old_spec(), "Stop"),
        (
            "then removed for the new one",
            old_spec().with(|c| c.state = ContainerStatus::Exited),
            "Recreate Spec",
        ),
        (
            "a removal under way is waited for",
            old_spec().with(|c| c.state = ContainerStatus::Removing),
            "Wait InProgress 1s",
        ),
        (
            "the image of the next run is pulled while this one runs",
            World::running().seeing(|s| s.prefetch = Some(Image::Absent)),
            "Pull Prefetch",
        ),
        (
            "and once it is there nothing is done",
            World::running().seeing(|s| s.prefetch = Some(Image::Present)),
            "Idle",
        ),
        (
            "a config file is written while it runs",
            World::running()
                .wishing(|w| w.config = true)
                .seeing(|s| s.ground = Ground::ConfigStale),
            "WriteConfig",
        ),
    ]);
}

fn fail(world: &mut World) -> Duration {
    world.look();
    let step = world.next();
    assert!(step.is_effect(), "{step:?}");
    world.memory.failed(&step, Hold::new(Reason::PortConflict, "taken"), Duration::ZERO, world.now);
    let Step::Wait { until: Some(until), hold } = world.next() else { return Duration::ZERO };
    assert_eq!(hold.reason, Reason::PortConflict);
    until.saturating_sub(world.now)
}

#[test]
fn a_first_start_that_fails_is_retried_by_the_agent_and_the_third_makes_the_container_anew() {
    let mut world = World::created();
    for seconds in [1, 2] {
        assert_eq!(fail(&mut world), Duration::from_secs(seconds));
        world.now += Duration::from_secs(seconds);
    }
    fail(&mut world);
    let step = world.next();
    assert_eq!(super::world::told(&step, world.now), "Recreate Broken");

    // The new one does not start either: the pauses go on growing.
    world.memory.did(&step, "boot-2");
    world.seen.container = None;
    world.look();
    world.memory.did(&Step::Create, "boot-2");
    world.seen.container = World::created().with(|c| c.id = "c2".into()).seen.container;
    world.look();
    assert_eq!(super::world::told(&world.next(), world.now), "Wait PortConflict 4s");
    world.now += Duration::from_secs(4);
    assert_eq!(fail(&mut world), Duration::from_secs(8));
}

#[test]
fn a_container_that_ran_is_never_made_anew_for_a_start_that_fails() {
    let mut world = World::following();
    for _ in 0..12 {
        let wait = fail(&mut world);
        assert!(wait > Duration::ZERO && wait <= Duration::from_mins(5));
        world.now += wait;
    }
    assert_eq!(fail(&mut world), Duration::from_mins(5));
}

#[test]
fn a_crash_is_followed_by_a_start_after_a_second_doubling_to_five_minutes_and_again_by_one_after_ten_well_minutes()
 {
    let mut world = World::empty();
    let at = |n: u32| format!("2026-01-01T12:30:{n:02}Z");
    let mut run = |n: u32, for_: Duration| {
        world.seen.container = Some(super::world::container());
        world.seen.container.as_mut().unwrap().started_at = Some(at(n));
        world.look();
        world.now += for_;
        world.look();
        let ended = World::exited(1).with(|c| c.started_at = Some(at(n)));
        world.seen.container = ended.seen.container;
        world.look();
        let Step::Wait { until: Some(until), .. } = world.next() else { panic!() };
        let wait = until.saturating_sub(world.now);
        world.now = until;
        assert_eq!(super::world::told(&world.next(), world.now), "Start");
        wait.as_secs()
    };
    let short = Duration::from_secs(30);
    let waits: Vec<_> = (0..11).map(|n| run(n, short)).collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    assert_eq!(run(20, Duration::from_secs(599)), 300);
    assert_eq!(run(21, Duration::from_mins(10)), 1);
    assert_eq!(run(22, short), 2);
}

#[test]
fn what_was_done_and_is_not_seen_is_not_done_again_at_once() {
    for world in
        [World::empty(), World::created(), World::empty().seeing(|s| s.image = Image::Absent)]
    {
        let mut world = world;
        for seconds in [1, 2, 4] {
            let step = world.next();
            assert!(step.is_effect(), "{step:?}");
            world.memory.did(&step, "boot-2");
            world.look();
            assert_eq!(
                super::world::told(&world.next(), world.now),
                format!("Wait InProgress {seconds}s")
            );
            world.now += Duration::from_secs(seconds);
        }
    }
}

#[test]
fn a_start_that_was_told_is_seen_by_its_new_time() {
    let mut world = World::following();
    let step = world.next();
    world.memory.did(&step, "boot-2");
    check(vec![(
        "started",
        world.with(|c| {
            c.state = ContainerStatus::Running;
            c.started_at = Some(LATELY.into());
        }),
        "Idle",
    )]);
}
