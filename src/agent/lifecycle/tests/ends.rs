//! Section 4: an end is judged by inspect, and only under the instance that saw the run.

use super::world::{LATELY, World, check, start};
use crate::agent::lifecycle::{Memory, Record, Restart};

const ALL: [Restart; 4] = [Restart::Kept, Restart::Always, Restart::OnFailure(0), Restart::No];

#[test]
fn a_genuine_end_is_followed_by_what_the_policy_declares() {
    check(vec![
        (
            "unset restarts after any exit, as Kubernetes' Always",
            World::exited(0),
            "Wait CrashLoopBackOff 1s",
        ),
        ("unset restarts after failures", World::exited(1), "Wait CrashLoopBackOff 1s"),
        (
            "no with exit 0 is Completed",
            World::exited(0).restart(Restart::No),
            "Settle Completed 0",
        ),
        (
            "no with exit 1 is over",
            World::exited(1).restart(Restart::No),
            "Settle ExitedWithError 1",
        ),
        (
            "no, killed for want of memory",
            World::exited(137).restart(Restart::No).with(|c| c.oom_killed = true),
            "Settle OutOfMemory 137",
        ),
        (
            "a child's death for want of memory is not the container's",
            World::exited(0).restart(Restart::No).with(|c| c.oom_killed = true),
            "Settle Completed 0",
        ),
        (
            "killed, and not for want of memory",
            World::exited(137).restart(Restart::No),
            "Settle ExitedWithError 137",
        ),
        (
            "on-failure with exit 0 is the end",
            World::exited(0).restart(Restart::OnFailure(3)),
            "Settle Completed 0",
        ),
        (
            "on-failure that used up the engine's retries is over",
            World::exited(1).restart(Restart::OnFailure(3)).with(|c| c.restart_count = 3),
            "Settle ExitedWithError 1",
        ),
        (
            "on-failure with retries left was stopped by hand, for its engine would have restarted it",
            World::exited(143).restart(Restart::OnFailure(3)).with(|c| c.restart_count = 1),
            "Wait StoppedByHand 1s",
        ),
        (
            "on-failure without a limit never gives up",
            World::exited(1).restart(Restart::OnFailure(0)).with(|c| c.restart_count = 500),
            "Wait StoppedByHand 1s",
        ),
    ]);
}

#[test]
fn where_the_agent_restarts_for_the_engine_it_counts_the_retries_itself() {
    // A leased run: on-failure is declared, and the engine gets `no`.
    let leased = |restarts| {
        let mut world = World::exited(1);
        world.wish.restart = Restart::OnFailure(2);
        world.record.restarts_before = restarts;
        world
    };
    check(vec![
        ("the first failure is retried", leased(0), "Wait CrashLoopBackOff 1s"),
        ("the second is too", leased(1), "Wait CrashLoopBackOff 1s"),
        ("after two retries it is over", leased(2), "Settle ExitedWithError 1"),
    ]);
}

#[test]
fn what_an_earlier_instance_cut_short_was_interrupted_whatever_its_exit_code() {
    for code in [0, 1, 137, 143, 255] {
        for restart in ALL {
            let step = match restart {
                Restart::No => format!("Settle Interrupted {code}"),
                _ => "Start".to_owned(),
            };
            check(vec![("interrupted", World::interrupted(code).restart(restart), &step)]);
        }
    }
}

#[test]
fn who_saw_it_run_decides_and_where_nobody_did_the_time() {
    let of = |under| {
        let mut world = World::interrupted(0).restart(Restart::No);
        world.record.start = Some(start("2026-01-01T11:30:00.123456789Z", under));
        world
    };
    let unseen = |at: &str| {
        let mut world =
            World::exited(0).restart(Restart::No).with(|c| c.started_at = Some(at.into()));
        (world.record, world.memory) = (Record::default(), Memory::default());
        world
    };
    check(vec![
        (
            "seen running under the present instance, though the clock says earlier",
            of(Some("boot-2")),
            "Settle Completed 0",
        ),
        ("seen under an earlier one", of(Some("boot-1")), "Settle Interrupted 0"),
        (
            "started before the present instance and seen by nobody",
            of(None),
            "Settle Interrupted 0",
        ),
        (
            "started and ended while the agent was away, under the present instance",
            unseen(LATELY),
            "Settle Completed 0",
        ),
        (
            "restarted by the engine as it came up, then ended",
            unseen("2026-01-01T12:00:01Z"),
            "Settle Completed 0",
        ),
    ]);
}

#[test]
fn what_the_agent_told_to_start_and_never_saw_running_ended_under_the_instance_it_was_told_under() {
    let mut world = World::created().restart(Restart::No);
    let start = world.next();
    world.memory.did(&start, "boot-2");
    // A clock that stepped back makes the start look older than the instance.
    let ended = World::exited(0).with(|c| c.started_at = Some("2026-01-01T11:59:00Z".into()));
    world.seen.container = ended.seen.container;
    check(vec![("a short run under a clock that stepped", world, "Settle Completed 0")]);
}

#[test]
fn an_end_is_written_once_and_is_for_good() {
    let over = |code| {
        let mut world = World::exited(code).restart(Restart::No);
        world.look();
        let crate::agent::lifecycle::Step::Settle(ended) = world.next() else { panic!() };
        world.record.ended = Some(ended);
        world
    };
    check(vec![
        ("completed", over(0), "Idle"),
        ("failed", over(3), "Idle"),
        ("its container is removed by hand", over(0).seeing(|s| s.container = None), "Idle"),
        (
            "its container is started by hand",
            over(0).with(|c| c.state = crate::docker::ContainerStatus::Running),
            "Stop",
        ),
    ]);
}

#[test]
fn an_agent_that_knows_nothing_acts_on_an_end_as_one_that_saw_it() {
    let unknown = |restart| {
        let mut world = World::exited(255).restart(restart);
        (world.record, world.memory) = (Record::default(), Memory::default());
        world
    };
    check(vec![
        ("unset", unknown(Restart::Kept), "Wait CrashLoopBackOff 1s"),
        (
            "always: its engine would have restarted it",
            unknown(Restart::Always),
            "Wait StoppedByHand 1s",
        ),
        ("no", unknown(Restart::No), "Settle ExitedWithError 255"),
    ]);
}

#[test]
fn a_finish_in_the_future_makes_nothing_wait_longer() {
    let of = |finished: &str| {
        let mut world = World::exited(1).with(|c| c.finished_at = Some(finished.to_owned()));
        world.look();
        world.now += std::time::Duration::from_secs(1);
        world
    };
    check(vec![
        ("the clock was right", of("2026-01-01T12:31:00Z"), "Start"),
        ("the clock was a day ahead", of("2026-01-02T12:31:00Z"), "Start"),
        ("the clock was years behind", of("1970-01-01T00:00:01Z"), "Start"),
    ]);
}
