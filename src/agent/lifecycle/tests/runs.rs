//! Section 3.4 and 4: a run after another, and runs that another host may take over.

use super::world::{BEFORE, LATELY, World, check, container};
use crate::agent::lifecycle::{Record, Restart};
use crate::api::workspace_run::{DesiredState, PreviousContainer};
use crate::docker::ContainerStatus;

#[test]
fn a_stopped_container_of_the_run_before_has_not_been_started_for_this_one() {
    for restart in [Restart::Kept, Restart::Always, Restart::OnFailure(1), Restart::No] {
        check(vec![(
            "it is started with its layer, whatever its exit",
            World::following().restart(restart),
            "Start",
        )]);
    }
    let mut world = World::following();
    world.look();
    assert_eq!(world.record.started, None);
    check(vec![
        (
            "every run starts afresh",
            World::following().wishing(|w| w.fresh_layer = true),
            "Recreate FreshLayer",
        ),
        (
            "made and never started it is fresh",
            World::created().wishing(|w| w.fresh_layer = true),
            "Start",
        ),
        (
            "a restart within a run keeps the layer",
            World::interrupted(1).wishing(|w| w.fresh_layer = true),
            "Start",
        ),
        (
            "the policy that the stop took off is put back",
            World::following().restart(Restart::Always).with(|c| c.policy.name = "no".into()),
            "Update policy always",
        ),
        (
            "another spec takes another container",
            World::following().with(|c| c.spec_hash = "1:old".into()),
            "Recreate Spec",
        ),
        ("under its old name", World::following().with(|c| c.name = "old".into()), "Rename"),
        (
            "left running under the start of the run before, it is stopped first",
            World::following().with(|c| c.state = ContainerStatus::Running),
            "Stop",
        ),
        (
            "and started for this one it stays",
            World::following().with(|c| {
                c.state = ContainerStatus::Running;
                c.started_at = Some(LATELY.into());
            }),
            "Idle",
        ),
        (
            "the container of a run before that never started is just started",
            World::created().wishing(|w| {
                w.previous =
                    Some(PreviousContainer { container_id: "c1".into(), started_at: None });
            }),
            "Start",
        ),
    ]);
}

#[test]
fn a_time_that_came_through_the_api_is_compared_by_the_second() {
    let mut world = World::following();
    world.wish.previous.as_mut().unwrap().started_at = Some("2026-01-01T12:10:00Z".into());
    assert!(BEFORE.starts_with("2026-01-01T12:10:00."));
    check(vec![("whole seconds", world, "Start")]);
}

#[test]
fn a_crash_between_start_and_status_is_no_second_start() {
    let mut world = World::following().restart(Restart::No);
    world = world.with(|c| c.started_at = Some(LATELY.into()));
    world.look();
    assert!(world.record.started.is_some());
    check(vec![(
        "started, ended, and the agent died before it wrote that down",
        world,
        "Settle ExitedWithError 143",
    )]);
}

#[test]
fn a_start_is_seen_whatever_is_wished_by_then() {
    for desired in [DesiredState::Running, DesiredState::Stopped, DesiredState::Removed] {
        let mut world = World::running().desired(desired);
        world.record = Record::default();
        world.look();
        assert_eq!(world.record.started, Some(LATELY.parse().unwrap()), "{desired:?}");
    }
}

#[test]
fn a_leased_run_is_not_started_and_does_not_run_under_a_stale_lease() {
    let fenced = |world: World| world.wishing(|w| w.fenced = true);
    check(vec![
        ("nothing is there", fenced(World::empty()), "Wait HostUnreachable 10s"),
        ("made", fenced(World::created()), "Wait HostUnreachable 10s"),
        ("exited", fenced(World::exited(0)), "Wait HostUnreachable 10s"),
        (
            "an engine that comes back must start nothing by itself",
            fenced(World::exited(0).restart(Restart::Always)),
            "Update policy no",
        ),
        ("running", fenced(World::running()), "Stop"),
        (
            "of another spec, too",
            fenced(World::running().with(|c| c.spec_hash = "1:old".into())),
            "Stop",
        ),
    ]);
}

#[test]
fn what_the_agent_ends_for_a_stale_lease_is_no_end_of_the_run() {
    let halted = |code| {
        let mut world = World::running();
        world.wish.fenced = true;
        world.look();
        assert_eq!(world.next().name(), "Stop");
        world.wish.fenced = false;
        world.with(|c| {
            c.state = ContainerStatus::Exited;
            c.exit_code = code;
        })
    };
    check(vec![
        ("unset", halted(143), "Start"),
        ("on-failure with exit 0", halted(0).restart(Restart::OnFailure(0)), "Start"),
        ("no is never Completed by it", halted(0).restart(Restart::No), "Settle Interrupted 0"),
    ]);
}

/// What is counted at each of these looks, a start's second and the engine's count.
fn counted(looks: &[(&str, i64)]) -> Vec<i64> {
    let mut world = World::running();
    let mut seen = Vec::new();
    for (at, count) in looks {
        let started = Some(format!("2026-01-01T12:30:{at}Z"));
        world.seen.container = Some(crate::agent::lifecycle::SeenContainer {
            started_at: started,
            restart_count: *count,
            ..container()
        });
        world.record.start = world.record.start.take().filter(|s| s.at != LATELY);
        world.look();
        seen.push(world.record.restarts());
    }
    seen
}

#[test]
fn restarts_count_the_engines_and_the_agents_and_never_fall() {
    let looks = [("10", 0), ("11", 1), ("12", 2), ("12", 0), ("13", 0), ("14", 1)];
    // Two by the engine; a start by hand, which sets its count to 0, first fails; one more.
    assert_eq!(counted(&looks), [0, 1, 2, 2, 3, 4]);
}

#[test]
fn a_restart_that_the_engine_counts_before_it_starts_the_container_counts_once() {
    let looks = [("10", 0), ("10", 1), ("11", 1), ("11", 2), ("12", 2)];
    assert_eq!(counted(&looks), [0, 1, 1, 2, 2]);
}
