//! One task for each Workspace on the host: look, decide, do one step, look again.
//!
//! Nothing that happens to one Workspace holds another up: a pull that takes an hour and an engine
//! that hangs in one call are that one's alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use kube::ResourceExt;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, info, info_span, warn};

use super::container::Create;
use super::context::{Shared, Standing};
use super::execute::Deed;
use super::fault::Fault;
use super::images::backoff::Backoff;
use super::intent::{Assignment, Premises};
use super::lifecycle::{self, Case, Hold, Memory, Record, Seen, Step, Wish};
use super::link::{Link, Up};
use super::memoir::Note;
use super::metrics::{StepLabel, StepLabels};
use super::observe::{Known, Look};
use super::recall;
use super::report::{Reporter, Word};
use super::status::{self, Details, STEPS, View};
use crate::api::Reason;
use crate::api::host::HostMode;
use crate::api::workspace_run::{RunStep, StepOutcome, WorkspaceRunStatus};

/// Between looks while the engine gives no answer to this one.
const BLIND: Duration = Duration::from_secs(2);

/// What a task works with.
pub struct Task {
    /// The host.
    pub context: Shared,
    /// The Workspace's uid.
    pub uid: String,
    /// What is assigned; none: nothing any more.
    pub assigned: watch::Receiver<Option<Arc<Assignment>>>,
    /// Rung when something happened to the container.
    pub wake: Arc<Notify>,
    /// Where the status goes.
    pub words: watch::Sender<Option<Word>>,
    /// Who tells Events.
    pub reporter: Reporter,
    /// The end of the process.
    pub stop: CancellationToken,
}

/// One run while it acts.
struct Run {
    assignment: Arc<Assignment>,
    record: Record,
    memory: Memory,
    known: Known,
    steps: Vec<RunStep>,
    status: WorkspaceRunStatus,
    /// Whether the engine said that the container's name is taken.
    name_taken: bool,
    /// When a pull that failed is tried again.
    pulls: Backoff,
    /// Why the container is started again, where it is.
    again: Option<String>,
    /// The fault that was last told in an Event.
    told: Option<Fault>,
}

impl Task {
    /// Runs until nothing is assigned any more and nothing is left to do, or until the end.
    pub async fn run(mut self) {
        let name = self.assigned.borrow().as_ref().map(|assignment| {
            let place = &assignment.run.spec.workspace;
            format!("{}/{}", place.namespace, place.name)
        });
        let span = info_span!("workspace", uid = self.uid, name);
        async {
            let mut run: Option<Run> = None;
            loop {
                let assigned = self.assigned.borrow_and_update().clone();
                let Some(assignment) = assigned else { break };
                let mut acting = match run.take() {
                    Some(run) if same_run(&run.assignment, &assignment) => run.go_on(assignment),
                    _ => self.begin(assignment),
                };
                let changed = self.act(&mut acting).await;
                run = Some(acting);
                if !changed {
                    return;
                }
            }
            debug!("nothing is assigned any more");
        }
        .instrument(span)
        .await;
    }

    /// Takes up a run: what is known of it is in the checkpoint, else in its own status.
    fn begin(&self, assignment: Arc<Assignment>) -> Run {
        let object = &assignment.run;
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        let kept = self.context.memoir.recall(uid);
        let status = kept.as_ref().map(|note| note.status.clone());
        let status = status.or_else(|| object.status.clone()).unwrap_or_default();
        let record = kept.map_or_else(|| recall::record(&status), |note| note.record);
        info!(run = object.name_any(), sequence = object.spec.sequence, "taking up a run");
        Run {
            record,
            memory: Memory::default(),
            known: Known::default(),
            steps: status.steps.clone(),
            status,
            name_taken: false,
            pulls: Backoff::default(),
            again: None,
            told: None,
            assignment,
        }
    }

    /// Works until the assignment changes (true) or the process ends (false).
    async fn act(&mut self, run: &mut Run) -> bool {
        let mut standing = self.context.standing.clone();
        let mut link = self.context.link.clone();
        loop {
            if self.stop.is_cancelled() {
                return false;
            }
            if self.assigned.has_changed().unwrap_or(false) {
                return true;
            }
            let now_standing = standing.borrow_and_update().clone();
            let now_link = link.borrow_and_update().clone();
            let pause = match now_link {
                Link::Up(up) => self.pass(run, &up, &now_standing).await,
                Link::Down(why) => Some(self.blind(run, &now_standing, &why)),
                // Every start of an agent begins so: no word for anyone.
                Link::Unseen => Some(Pause::Until(None)),
            };
            let Some(pause) = pause else { continue };
            run.known.forget();
            tokio::select! {
                () = self.stop.cancelled() => return false,
                changed = self.assigned.changed() => return changed.is_ok(),
                () = self.wake.notified() => {}
                _ = link.changed() => {}
                _ = standing.changed() => {}
                () = asleep(pause) => {}
            }
        }
    }

    /// One look and one step. None: look again at once; else how long nothing is to be done.
    async fn pass(&mut self, run: &mut Run, up: &Arc<Up>, standing: &Standing) -> Option<Pause> {
        let create = self.create(run, up, standing);
        let fenced = standing.fenced && run.assignment.run.spec.leased == Some(true);
        let wish = run.assignment.wish(create.as_ref().ok(), fenced);
        let look = Look {
            context: &self.context,
            up,
            hosts: &standing.uids,
            assignment: &run.assignment,
            wish: &wish,
            create: create.as_ref(),
            record: &run.record,
            name_taken: run.name_taken,
        };
        let (seen, details) = match look.look(&mut run.known).await {
            Ok(sight) => sight,
            Err(why) => {
                let hold = Hold::new(Reason::EngineUnreachable, why.to_string());
                self.tell(run, &wish, Err(&hold), &waiting(&hold));
                return Some(Pause::For(BLIND));
            }
        };
        let tick = self.context.tick();
        let before = run.record.clone();
        run.record.saw(&wish, &seen, &mut run.memory, &up.instance, tick);
        let own = seen.container.as_ref().is_some_and(|c| run.record.counts(&wish, c));
        run.record.well |= own && details.guest == crate::api::workspace::Guest::Responding;
        run.name_taken &= seen.container.is_none();
        let case = Case {
            wish: &wish,
            seen: &seen,
            record: &run.record,
            memory: &run.memory,
            instance: &up.instance,
            now: tick,
        };
        run.again = lifecycle::why_again(&case);
        let step = restrain(lifecycle::next(&case), standing, run);
        if let Step::Settle(ended) = &step {
            info!(how = ?ended.how, exit_code = ended.exit_code, "the run is over");
            run.record.ended = Some(ended.clone());
            return None;
        }
        self.tell(run, &wish, Ok((&seen, &details)), &step);
        if run.record != before {
            self.keep(run);
        }
        match step {
            Step::Idle => Some(Pause::Until(None)),
            Step::Wait { until, .. } => Some(Pause::Until(until.map(|at| at.saturating_sub(tick)))),
            step => {
                if let Some(container) = &seen.container {
                    self.context.memoir.used(&container.image_id);
                }
                let sight = (&seen, &details);
                self.take(run, up, standing, &wish, create.as_ref(), sight, &step).await;
                None
            }
        }
    }

    fn create(&self, run: &Run, up: &Up, standing: &Standing) -> Result<Create, Hold> {
        let namespace = &run.assignment.run.spec.workspace.namespace;
        let premises = Premises {
            host_uid: &standing.orders.uid,
            root: self.context.root.as_str(),
            engine: up.engine.api(),
            governing: &self.context.config.policy.governing(namespace),
            sockets: &self.context.sockets,
        };
        run.assignment.create(&premises)
    }

    /// Does a step, and takes in how it went.
    #[allow(clippy::too_many_arguments, reason = "each is a part of the one look")]
    async fn take(
        &mut self,
        run: &mut Run,
        up: &Arc<Up>,
        standing: &Standing,
        wish: &Wish,
        create: Result<&Create, &Hold>,
        sight: (&Seen, &Details),
        step: &Step,
    ) {
        let began = Instant::now();
        debug!(step = step.name(), "step");
        let assignment = run.assignment.clone();
        let context = self.context.clone();
        let deed = Deed {
            context: &context,
            up,
            host_uid: &standing.orders.uid,
            assignment: &assignment,
            wish,
            create,
        };
        let (said, mut heard) = watch::channel(None);
        let mut overtaken = false;
        let outcome = {
            let work = deed.execute(step, |word| drop(said.send_replace(Some(word))));
            tokio::pin!(work);
            loop {
                tokio::select! {
                    outcome = &mut work => break Some(outcome),
                    // Something newer is wished, or the process ends: the engine goes on or not,
                    // and either is seen at the next look.
                    Ok(()) = self.assigned.changed(), if step.may_be_cut() => {
                        // Seen to after this step at the latest.
                        overtaken = true;
                        let wished = self.assigned.borrow_and_update().clone();
                        if wished.is_none_or(|wished| outdates(&assignment, &wished)) {
                            break None;
                        }
                    }
                    () = self.stop.cancelled(), if step.may_be_cut() => break None,
                    _ = heard.changed() => {
                        let news = heard.borrow_and_update().clone();
                        run.note(step, StepOutcome::Started, news);
                        self.tell(run, wish, Ok(sight), step);
                    }
                }
            }
        };
        if overtaken {
            self.assigned.mark_changed();
        }
        let went = match &outcome {
            Some(Ok(_)) => "succeeded",
            Some(Err(_)) => "failed",
            None => "cut",
        };
        let metrics = &self.context.metrics;
        metrics.steps.get_or_create(&StepLabels { step: step.name(), outcome: went }).inc();
        let seconds = began.elapsed().as_secs_f64();
        metrics.step_seconds.get_or_create(&StepLabel { step: step.name() }).observe(seconds);
        run.known.forget_by(step);
        match outcome {
            Some(Ok(note)) => self.succeeded(run, up, step, note),
            Some(Err(fault)) => self.failed(run, step, fault),
            None => {}
        }
    }

    fn succeeded(&self, run: &mut Run, up: &Up, step: &Step, note: Option<String>) {
        run.memory.did(step, &up.instance);
        if matches!(step, Step::Pull(_)) {
            run.pulls.succeeded();
        }
        run.told = None;
        let again = run.again.take().filter(|_| matches!(step, Step::Start { .. }));
        let note = note.or(again);
        run.note(step, StepOutcome::Succeeded, note.clone());
        if let Some((reason, what)) = event_of(step) {
            let note = note.map_or_else(|| what.to_owned(), |note| format!("{what}: {note}"));
            self.reporter.event(&run.assignment.run, false, reason, step.name(), &note);
        }
    }

    fn failed(&self, run: &mut Run, step: &Step, fault: Fault) {
        let message = fault.hold.message.clone();
        warn!(step = step.name(), reason = %fault.hold.reason, message, "a step failed");
        let looked = run.name_taken;
        run.name_taken |= fault.name_taken;
        run.note(step, StepOutcome::Failed, Some(message.clone()));
        if run.told.as_ref() != Some(&fault) {
            let object = &run.assignment.run;
            self.reporter.event(object, true, fault.hold.reason, step.name(), &message);
            run.told = Some(fault.clone());
        }
        if fault.name_taken && !looked {
            // Whose it is decides; that is seen at the next look.
            return;
        }
        let tick = self.context.tick();
        let least = match step {
            Step::Pull(_) => run.pull_again(fault.least, tick),
            _ => fault.least,
        };
        run.memory.failed(step, fault.hold, least, tick);
    }

    /// The engine is not there: what it did last is all that is known.
    fn blind(&self, run: &mut Run, standing: &Standing, why: &str) -> Pause {
        let fenced = standing.fenced && run.assignment.run.spec.leased == Some(true);
        let wish = run.assignment.wish(None, fenced);
        let hold = Hold::new(Reason::EngineUnreachable, why);
        self.tell(run, &wish, Err(&hold), &waiting(&hold));
        Pause::Until(None)
    }

    /// Makes the status anew, and has it written where it is another than it was.
    fn tell(
        &self,
        run: &mut Run,
        wish: &Wish,
        sight: Result<(&Seen, &Details), &Hold>,
        step: &Step,
    ) {
        let view = View {
            generation: run.assignment.run.metadata.generation,
            wish,
            sight,
            record: &run.record,
            memory: &run.memory,
            step,
            steps: &run.steps,
            before: &run.status,
            tick: self.context.tick(),
            now: Timestamp::now(),
        };
        let status = status::status(&view);
        let object = run.assignment.run.clone();
        let written = object.status.as_ref() == Some(&status);
        let told = self.words.borrow().as_ref().is_some_and(|word| {
            word.status == status && word.run.metadata.uid == object.metadata.uid
        });
        if status == run.status && (told || written) {
            return;
        }
        run.status = status.clone();
        let lasts = matches!(step, Step::Idle | Step::Wait { .. });
        self.words.send_replace(Some(Word { run: object, status, lasts }));
        // What passes is not worth the disk's while.
        if lasts {
            self.keep(run);
        }
    }

    fn keep(&self, run: &Run) {
        let uid = run.assignment.run.metadata.uid.clone().unwrap_or_default();
        self.context
            .memoir
            .keep(&uid, Note { record: run.record.clone(), status: run.status.clone() });
    }
}

/// How long nothing is to be done.
enum Pause {
    /// So long, or until something happens.
    For(Duration),
    /// Until something happens, or so long.
    Until(Option<Duration>),
}

async fn asleep(pause: Pause) {
    match pause {
        Pause::For(time) | Pause::Until(Some(time)) => tokio::time::sleep(time).await,
        Pause::Until(None) => std::future::pending().await,
    }
}

fn waiting(hold: &Hold) -> Step {
    Step::Wait { until: None, hold: hold.clone() }
}

/// Whether a step under way for the one is of no use for the other, or stands in its way.
fn outdates(before: &Assignment, now: &Assignment) -> bool {
    let (a, b) = (&before.run.spec, &now.run.spec);
    !same_run(before, now)
        || before.desired() != now.desired()
        || a.container.image != b.container.image
        || a.prefetch != b.prefetch
        || a.deletion != b.deletion
        || a.stop != b.stop
        || before.secret != now.secret
        || before.prefetch != now.prefetch
}

fn same_run(a: &Assignment, b: &Assignment) -> bool {
    a.run.metadata.uid == b.run.metadata.uid
}

/// What an admin's word or the Host's absence keeps from being done.
fn restrain(step: Step, standing: &Standing, run: &Run) -> Step {
    if standing.orders.mode == HostMode::Restricted && step.is_effect() {
        let message = "the Host's mode is Restricted: nothing on its engine is changed";
        return waiting(&Hold::new(Reason::HostCordoned, message));
    }
    let new = run.record.started.is_none()
        && run.assignment.desired() == crate::api::workspace_run::DesiredState::Running;
    if standing.outcast && new && step.is_effect() {
        let message = "the Host is gone or its credential revoked: nothing new is started here";
        return waiting(&Hold::new(Reason::HostRemoved, message));
    }
    step
}

/// What is worth an Event.
fn event_of(step: &Step) -> Option<(Reason, &'static str)> {
    Some(match step {
        Step::Pull(_) => (Reason::ImagePresent, "the image is on the host"),
        Step::Start { .. } => (Reason::Running, "started the container"),
        Step::Stop { .. } => (Reason::Stopped, "stopped the container"),
        Step::Kill { .. } => (Reason::Stopped, "killed the container"),
        Step::Recreate { .. } => {
            (Reason::WritableLayerReplaced, "removed the container for a new one")
        }
        _ => return None,
    })
}

impl Run {
    /// The same run with another wish: what made it wait may be right now.
    fn go_on(mut self, assignment: Arc<Assignment>) -> Self {
        self.memory.wish_changed();
        self.known.forget();
        self.name_taken = false;
        self.told = None;
        self.assignment = assignment;
        self
    }

    /// How long until a pull that failed is tried again.
    fn pull_again(&mut self, least: Duration, tick: Duration) -> Duration {
        let image = self.assignment.run.spec.container.image.clone().unwrap_or_default();
        // Any number that differs from run to run spreads the tries.
        let jitter = f64::from(Timestamp::now().subsec_nanosecond().unsigned_abs()) / 1e9;
        self.pulls.failed(&image, tick, least, jitter).saturating_sub(tick)
    }

    /// Writes down a step; one that goes on or fails again the same way stands there once.
    fn note(&mut self, step: &Step, outcome: StepOutcome, message: Option<String>) {
        let told = RunStep {
            name: step.name().to_owned(),
            outcome,
            at: Time(whole_seconds(Timestamp::now())),
            message,
        };
        match self.steps.last_mut() {
            Some(last) if last.name == told.name && last.outcome != StepOutcome::Succeeded => {
                let at =
                    if last.outcome == told.outcome { last.at.clone() } else { told.at.clone() };
                *last = RunStep { at, ..told };
            }
            _ => self.steps.push(told),
        }
        let surplus = self.steps.len().saturating_sub(STEPS);
        self.steps.drain(..surplus);
    }
}

fn whole_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}
