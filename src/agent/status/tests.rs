//! What is told of a run, and that it is told once.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::{Details, View, status};
use crate::agent::lifecycle::{
    Case, Crash, End, Ended, Failure, Ground, Hold, Image, Memory, Pull, Pulled, Record, Restart,
    Seen, SeenContainer, Step, Wish, next,
};
use crate::api::Reason;
use crate::api::workspace::Guest;
use crate::api::workspace_run::{DesiredState, RunPhase, WorkspaceRunStatus};
use crate::docker::{ContainerStatus, RestartPolicy, Update};

const STARTED: &str = "2026-01-01T12:30:00.123456789Z";

struct Told {
    wish: Wish,
    seen: Result<Seen, Hold>,
    details: Details,
    record: Record,
    memory: Memory,
    step: Option<Step>,
    before: WorkspaceRunStatus,
    tick: Duration,
    now: Timestamp,
}

fn container(state: ContainerStatus) -> SeenContainer {
    SeenContainer {
        id: "c1".into(),
        name: "web".into(),
        spec_hash: "1:aa".into(),
        image_id: "sha256:1".into(),
        state,
        started_at: Some(STARTED.into()),
        finished_at: None,
        exit_code: 0,
        oom_killed: false,
        error: String::new(),
        restart_count: 0,
        policy: RestartPolicy::default(),
        limits: Update::default(),
        networks: std::collections::BTreeSet::default(),
        stale_networks: std::collections::BTreeSet::default(),
    }
}

impl Told {
    fn of(container: Option<SeenContainer>) -> Self {
        let wish = Wish {
            desired: DesiredState::Running,
            name: "web".into(),
            spec_hash: "1:aa".into(),
            restart: Restart::Kept,
            policy: RestartPolicy::default(),
            previous: None,
            fresh_layer: false,
            force: false,
            limits: Update::default(),
            networks: Vec::new(),
            pull: Pull::IfNotPresent,
            config: false,
            fenced: false,
        };
        let seen = Seen {
            container,
            holder: None,
            image: Image::Present,
            image_id: None,
            prefetch: None,
            ground: Ground::Ready,
            blocked: None,
            began: "2026-01-01T12:00:00Z".parse().unwrap(),
        };
        let mut told = Self {
            wish,
            seen: Ok(seen),
            details: Details::default(),
            record: Record::default(),
            memory: Memory::default(),
            step: None,
            before: WorkspaceRunStatus::default(),
            tick: Duration::from_secs(1000),
            now: "2026-01-01T13:00:00.5Z".parse().unwrap(),
        };
        told.look();
        told
    }

    fn running() -> Self {
        Self::of(Some(container(ContainerStatus::Running)))
    }

    /// It ran, and then its container is so.
    fn then(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn container(&mut self) -> &mut SeenContainer {
        self.seen.as_mut().unwrap().container.as_mut().unwrap()
    }

    fn ended(how: End, code: Option<i64>) -> Self {
        Self::running().then(|told| {
            told.container().state = ContainerStatus::Exited;
            told.record.ended = Some(Ended { how, exit_code: code, finished_at: None });
        })
    }

    fn failed(mut self, step: &'static str, reason: Reason) -> Self {
        let hold = Hold::new(reason, "why");
        let retry_at = self.tick + Duration::from_secs(30);
        self.memory.failures.insert(step, Failure { step, hold, count: 1, retry_at });
        self
    }

    fn away(mut self) -> Self {
        self.seen = Err(Hold::new(Reason::EngineUnreachable, "no answer"));
        self
    }

    fn look(&mut self) {
        if let Ok(seen) = &self.seen {
            self.record.saw(&self.wish, seen, &mut self.memory, "boot", self.tick);
        }
    }

    fn next(&self) -> Step {
        let Self { wish, seen, record, memory, tick, .. } = self;
        match seen {
            Ok(seen) => next(&Case { wish, seen, record, memory, instance: "boot", now: *tick }),
            Err(hold) => Step::Wait { until: None, hold: hold.clone() },
        }
    }

    fn status(&self) -> WorkspaceRunStatus {
        let step = self.step.clone().unwrap_or_else(|| self.next());
        status(&View {
            generation: Some(3),
            wish: &self.wish,
            sight: self.seen.as_ref().map(|seen| (seen, &self.details)),
            record: &self.record,
            memory: &self.memory,
            step: &step,
            steps: &[],
            before: &self.before,
            tick: self.tick,
            now: self.now,
        })
    }

    /// Phase, then each condition: T, F or U and its reason.
    fn told(&self) -> String {
        let status = self.status();
        let names: Vec<_> = status.conditions.iter().map(|c| c.type_.as_str()).collect();
        let all =
            ["Ready", "ImagePulled", "ContainerRunning", "SpecApplied", "Reconciling", "Stalled"];
        assert_eq!(names, all);
        let one = |c: &k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition| {
            format!(" {}:{}", &c.status[..1], c.reason)
        };
        let conditions: String = status.conditions.iter().map(one).collect();
        format!("{:?}{conditions}", status.phase.unwrap())
    }
}

fn stopped(told: &mut Told) {
    told.wish.desired = DesiredState::Stopped;
}

fn removed(told: &mut Told) {
    told.wish.desired = DesiredState::Removed;
}

/// What is shown, what it is made from, and the phase with the conditions in their order.
#[expect(clippy::too_many_lines, reason = "one table")]
fn rows() -> Vec<(&'static str, Told, &'static str)> {
    let none = || Told::of(None);
    let exited = |code| {
        Told::running().then(|t| {
            t.container().state = ContainerStatus::Exited;
            t.container().exit_code = code;
            t.look();
        })
    };
    let absent = || none().then(|t| t.seen.as_mut().unwrap().image = Image::Absent);
    vec![
        (
            "it runs",
            Told::running(),
            "Running T:AsDeclared T:ImagePresent T:Running T:UpToDate F:AsDeclared F:AsDeclared",
        ),
        (
            "paused by hand",
            Told::running().then(|t| t.container().state = ContainerStatus::Paused),
            "Running T:AsDeclared T:ImagePresent T:Running T:UpToDate F:AsDeclared F:AsDeclared",
        ),
        (
            "its health check has not succeeded yet",
            Told::running().then(|t| t.details.has_check = true),
            "Running F:InProgress T:ImagePresent T:Running T:UpToDate T:InProgress F:AsDeclared",
        ),
        (
            "it has, once",
            Told::running().then(|t| {
                t.details.has_check = true;
                t.record.well = true;
                t.details.guest = Guest::Unresponsive;
            }),
            "Running T:AsDeclared T:ImagePresent T:Running T:UpToDate F:AsDeclared F:AsDeclared",
        ),
        (
            "a change of limits fails: it runs, and not as declared",
            Told::running().failed("Update", Reason::StartFailed),
            "Running F:StartFailed T:ImagePresent T:Running F:StartFailed T:StartFailed F:AsDeclared",
        ),
        (
            "and its user must change something",
            Told::running().failed("Update", Reason::InvalidSpec),
            "Running F:InvalidSpec T:ImagePresent T:Running F:InvalidSpec F:AsDeclared T:InvalidSpec",
        ),
        (
            "the image of the next run cannot be pulled: this one is well",
            Told::running()
                .failed("Pull", Reason::ImageNotFound)
                .then(|t| t.seen.as_mut().unwrap().prefetch = Some(Image::Absent)),
            "Running T:AsDeclared F:ImageNotFound T:Running T:UpToDate F:AsDeclared F:AsDeclared",
        ),
        (
            "the image of the next run is pulled",
            Told::running().then(|t| t.seen.as_mut().unwrap().prefetch = Some(Image::Absent)),
            "Running T:AsDeclared F:Pulling T:Running T:UpToDate F:AsDeclared F:AsDeclared",
        ),
        (
            "the image is pulled",
            absent(),
            "Pulling F:InProgress F:Pulling F:InProgress U:Pending T:InProgress F:AsDeclared",
        ),
        (
            "and cannot be",
            absent().failed("Pull", Reason::ImageNotFound),
            "Failed F:ImageNotFound F:ImageNotFound F:ImageNotFound U:Pending T:ImageNotFound F:AsDeclared",
        ),
        (
            "and must not be",
            absent().then(|t| t.wish.pull = Pull::Never),
            "Failed F:ImageNeverPulled F:ImageNeverPulled F:ImageNeverPulled U:Pending F:AsDeclared T:ImageNeverPulled",
        ),
        (
            "it is made",
            none(),
            "Creating F:InProgress T:ImagePresent F:InProgress U:Pending T:InProgress F:AsDeclared",
        ),
        (
            "its Secret is waited for",
            none().then(|t| {
                t.seen.as_mut().unwrap().blocked = Some(Hold::new(Reason::SecretNotFound, "s"));
            }),
            "Pending F:SecretNotFound T:ImagePresent F:SecretNotFound U:Pending T:SecretNotFound F:AsDeclared",
        ),
        (
            "the host forbids it",
            none().then(|t| {
                t.seen.as_mut().unwrap().blocked =
                    Some(Hold::new(Reason::ForbiddenByHostPolicy, "s"));
            }),
            "Failed F:ForbiddenByHostPolicy T:ImagePresent F:ForbiddenByHostPolicy U:Pending F:AsDeclared T:ForbiddenByHostPolicy",
        ),
        (
            "its start fails",
            Told::of(Some(SeenContainer {
                started_at: None,
                exit_code: 128,
                ..container(ContainerStatus::Created)
            }))
            .failed("Start", Reason::PortConflict),
            "Failed F:PortConflict T:ImagePresent F:PortConflict T:UpToDate T:PortConflict F:AsDeclared",
        ),
        (
            "it crashed and a start is waited for",
            exited(1),
            "Failed F:CrashLoopBackOff T:ImagePresent F:CrashLoopBackOff T:UpToDate T:CrashLoopBackOff F:AsDeclared",
        ),
        (
            "the engine waits before it starts it again",
            Told::running().then(|t| t.container().state = ContainerStatus::Restarting),
            "Failed F:CrashLoopBackOff T:ImagePresent F:CrashLoopBackOff T:UpToDate T:CrashLoopBackOff F:AsDeclared",
        ),
        (
            "made from another spec",
            Told::of(Some(SeenContainer {
                spec_hash: "1:old".into(),
                ..container(ContainerStatus::Exited)
            })),
            "Creating F:InProgress T:ImagePresent F:InProgress F:Updating T:InProgress F:AsDeclared",
        ),
        (
            "completed",
            Told::ended(End::Completed, Some(0)),
            "Exited T:Completed T:ImagePresent F:Completed T:UpToDate F:AsDeclared F:AsDeclared",
        ),
        (
            "ended in failure",
            Told::ended(End::ExitedWithError, Some(3)),
            "Failed F:ExitedWithError T:ImagePresent F:ExitedWithError T:UpToDate F:AsDeclared T:ExitedWithError",
        ),
        (
            "ran out of memory",
            Told::ended(End::OutOfMemory, Some(137)),
            "Failed F:OutOfMemory T:ImagePresent F:OutOfMemory T:UpToDate F:AsDeclared T:OutOfMemory",
        ),
        (
            "interrupted under no",
            Told::ended(End::Interrupted, Some(0)),
            "Failed F:Interrupted T:ImagePresent F:Interrupted T:UpToDate F:AsDeclared T:Interrupted",
        ),
        (
            "over, and started by hand",
            Told::ended(End::Completed, Some(0))
                .then(|t| t.container().state = ContainerStatus::Running),
            "Stopping F:Completed T:ImagePresent F:Completed T:UpToDate T:Completed F:AsDeclared",
        ),
        (
            "to be stopped",
            Told::running().then(stopped),
            "Stopping F:InProgress T:ImagePresent F:InProgress T:UpToDate T:InProgress F:AsDeclared",
        ),
        (
            "stopped",
            Told::ended(End::Stopped, Some(143)).then(stopped),
            "Exited T:AsDeclared T:ImagePresent F:Stopped T:UpToDate F:AsDeclared F:AsDeclared",
        ),
        (
            "failed, then stopped as declared",
            Told::ended(End::ExitedWithError, Some(3)).then(stopped),
            "Failed T:AsDeclared T:ImagePresent F:ExitedWithError T:UpToDate F:AsDeclared F:AsDeclared",
        ),
        (
            "to be removed",
            Told::ended(End::Stopped, Some(143)).then(removed),
            "Stopping F:Stopped T:ImagePresent F:Stopped T:UpToDate T:Stopped F:AsDeclared",
        ),
        (
            "removed",
            Told::of(None).then(|t| {
                removed(t);
                t.record.ended = Some(Ended::bare(End::Removed));
            }),
            "Removed T:AsDeclared T:ImagePresent F:Stopped U:Pending F:AsDeclared F:AsDeclared",
        ),
        (
            "the engine is away",
            Told::running().away(),
            "Unknown U:EngineUnreachable U:EngineUnreachable U:EngineUnreachable U:Pending T:EngineUnreachable F:AsDeclared",
        ),
        (
            "away while it is to be stopped: never guessed into Exited",
            Told::running().then(stopped).away(),
            "Unknown U:EngineUnreachable U:EngineUnreachable U:EngineUnreachable U:Pending T:EngineUnreachable F:AsDeclared",
        ),
        (
            "away after it was seen stopped: that it ended stays",
            Told::ended(End::Stopped, Some(0)).then(stopped).away(),
            "Exited T:AsDeclared U:EngineUnreachable U:EngineUnreachable U:Pending F:AsDeclared F:AsDeclared",
        ),
        (
            "away while it is to be removed",
            Told::ended(End::Stopped, Some(0)).then(removed).away(),
            "Unknown U:EngineUnreachable U:EngineUnreachable U:EngineUnreachable U:Pending T:EngineUnreachable F:AsDeclared",
        ),
    ]
}

#[test]
fn each_case_has_its_phase_and_all_conditions_in_their_order() {
    let wrong: Vec<_> = rows()
        .into_iter()
        .filter_map(|(what, told, wanted)| {
            let is = told.told();
            (is != wanted).then(|| format!("{what}:\n  {is}\n  {wanted}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_status_that_came_back_from_the_api_is_told_again_as_it_is_later_too() {
    for (what, mut told, _) in rows() {
        let first = told.status();
        assert_eq!(first, told.status(), "{what}: the same twice");
        let json = serde_json::to_value(&first).unwrap();
        told.before = serde_json::from_value(json).unwrap();
        assert_eq!(told.status(), told.before, "{what}: no write in steady state");
        told.step = Some(told.next());
        told.tick += Duration::from_millis(900);
        told.now += Duration::from_millis(1100);
        assert_eq!(told.status(), told.before, "{what}: nor a little later");
    }
}

#[test]
fn kstatus_reads_it_in_one_way_only() {
    for (what, told, _) in rows() {
        let status = told.status();
        let of =
            |name: &str| status.conditions.iter().find(|c| c.type_ == name).unwrap().status.clone();
        let is = (of("Ready"), of("Reconciling"), of("Stalled"));
        let is = (is.0.as_str(), is.1.as_str(), is.2.as_str());
        let lawful = [
            ("True", "False", "False"),
            ("False", "True", "False"),
            ("False", "False", "True"),
            ("Unknown", "True", "False"),
        ];
        assert!(lawful.contains(&is), "{what}: {is:?}");
        assert!(status.conditions.iter().all(|c| c.observed_generation == Some(3)), "{what}");
    }
}

#[test]
fn when_it_started_is_told_for_ever() {
    let started = Told::running().status().started_at;
    assert_eq!(started.as_ref().unwrap().0, "2026-01-01T12:30:00Z".parse().unwrap());
    let gone = Told::running().then(|t| t.seen.as_mut().unwrap().container = None);
    for told in [gone, Told::running().away(), Told::ended(End::Removed, None).then(removed)] {
        assert_eq!(told.status().started_at, started);
    }
}

#[test]
fn the_time_of_the_next_try_stays_and_looking_again_is_no_try() {
    let told = Told::of(None).failed("Create", Reason::NameConflict);
    let at = told.status().next_retry_at.unwrap().0;
    assert_eq!(at, "2026-01-01T13:00:30Z".parse().unwrap());

    let crash =
        Crash { of: STARTED.into(), count: 1, retry_at: told.tick + Duration::from_secs(8) };
    let mut crashed = Told::running().then(|t| t.memory.crash = Some(crash));
    crashed.container().state = ContainerStatus::Exited;
    let at = crashed.status().next_retry_at.unwrap().0;
    assert_eq!(at, "2026-01-01T13:00:08Z".parse().unwrap());

    let blocked = Told::of(None).then(|t| {
        t.seen.as_mut().unwrap().blocked = Some(Hold::new(Reason::SecretNotFound, "s"));
    });
    assert_eq!(blocked.status().next_retry_at, None);
    assert_eq!(Told::running().status().next_retry_at, None);
}

#[test]
fn the_exit_of_another_run_is_not_told_as_this_ones() {
    let mut told = Told::of(Some(SeenContainer {
        spec_hash: "1:old".into(),
        exit_code: 9,
        ..container(ContainerStatus::Exited)
    }));
    assert_eq!(told.status().exit_code, None);
    told.container().spec_hash = "1:aa".into();
    assert_eq!(told.status().exit_code, Some(9));
}

#[test]
fn pulling_is_told_with_the_progress_that_its_step_tells() {
    let told = Told::running().then(|t| t.step = Some(Step::Pull(Pulled::Own)));
    assert!(told.told().contains("F:Pulling"));
    assert_eq!(told.status().phase, Some(RunPhase::Running));
}
