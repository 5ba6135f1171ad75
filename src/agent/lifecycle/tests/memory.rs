//! What the agent remembers of failures.

use super::world::World;
use crate::agent::lifecycle::{Hold, Image, Step, backoff};
use crate::api::Reason;
use std::time::Duration;

#[test]
fn the_pause_doubles_from_a_second_to_five_minutes() {
    let seconds: Vec<_> = (0..11).map(|n| backoff(n).as_secs()).collect();
    assert_eq!(seconds, [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300]);
    assert_eq!(backoff(u32::MAX), Duration::from_mins(5));
}

#[test]
fn a_step_that_succeeds_in_between_makes_no_other_be_tried_sooner() {
    let mut world = World::empty();
    let hold = || Hold::new(Reason::StartFailed, "x");
    for _ in 0..3 {
        world.memory.failed(&Step::Create, hold(), Duration::ZERO, world.now);
        world.memory.did(&Step::Prepare, "boot-2");
    }
    assert_eq!(world.memory.failure_of("Create").unwrap().count, 3);
    assert_eq!(super::world::told(&world.next(), world.now), "Wait StartFailed 4s");
}

#[test]
fn a_failure_with_a_least_time_waits_for_it() {
    let mut world = World::empty();
    let hold = Hold::new(Reason::InvalidSpec, "x");
    world.memory.failed(&Step::Create, hold, Duration::from_mins(1), world.now);
    assert_eq!(super::world::told(&world.next(), world.now), "Wait InvalidSpec 60s");
}

#[test]
fn a_change_of_what_is_wished_is_tried_at_once() {
    let mut world = World::exited(1);
    world.look();
    assert_eq!(world.next().name(), "Wait");
    world.memory.wish_changed();
    assert_eq!(world.next().name(), "Start");

    let mut world = World::empty().seeing(|s| s.image = Image::Absent);
    let step = world.next();
    world.memory.failed(&step, Hold::new(Reason::ImageNotFound, "x"), Duration::ZERO, world.now);
    world.memory.wish_changed();
    assert_eq!(world.next(), step);
}

#[test]
fn a_failure_whose_effect_is_seen_after_all_is_forgotten() {
    let mut world = World::running();
    for step in ["Create", "Start", "Rename", "Update", "Prepare"] {
        let failure = crate::agent::lifecycle::Failure {
            step,
            hold: Hold::new(Reason::StartFailed, "x"),
            count: 1,
            retry_at: world.now + Duration::from_secs(9),
        };
        world.memory.failures.insert(step, failure);
    }
    world.look();
    assert!(world.memory.failures.is_empty(), "{:?}", world.memory.failures);
}
