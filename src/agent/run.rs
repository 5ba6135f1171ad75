//! The agent's main loop: what the API and the engine say goes to the Workspaces' tasks.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::Client;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::config::AgentConfig;
use super::context::{Context, Shared, Standing};
use super::desk::{Desk, HEAD_START};
use super::execute::LAST_CALL;
use super::housekeeping::Housekeeper;
use super::images::pull::Pulls;
use super::instance::since_boot;
use super::intent::assign;
use super::link::{Doubts, Link, Linker, Up};
use super::memoir::Memoir;
use super::metrics::Metrics;
use super::policy::HostPath;
use super::register::Registrar;
use super::registration::{EngineFacts, FENCED_AFTER, Facts, Orders};
use super::report::Reporter;
use super::root::Root;
use super::supervisor::{Bells, Supervisor};
use super::survey::{Survey, survey};
use super::tasks;
use crate::runtime::admin::{self, Admin, Pulse};

/// What an agent is started with.
#[derive(Debug)]
pub struct Options {
    /// Name of the Host.
    pub host: String,
    /// The namespace that is its own.
    pub namespace: String,
    /// The engine's socket.
    pub socket: PathBuf,
    /// What the admin of the host says.
    pub config: AgentConfig,
    /// Where to serve liveness, readiness and metrics.
    pub admin_listen: SocketAddr,
}

/// Why an agent ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its root is another Host's, or cannot be read: starting it again does not help.
    #[error("{0}")]
    Unfit(String),
    /// Something failed that another start may mend.
    #[error("{0}")]
    Failed(String),
}

/// Runs the agent until `stop`.
pub async fn run(
    options: Options,
    root: Root,
    client: Client,
    stop: CancellationToken,
) -> Result<(), RunError> {
    let listener = admin::bind(options.admin_listen).await.map_err(RunError::Failed)?;
    let memoir = Memoir::open(&root, &options.host).map_err(RunError::Unfit)?;
    let metrics = Metrics::default();
    let bells = Bells::default();
    let (linker, link, doubts) = Linker::new(&options.socket);
    let (standing, standing_seen) = watch::channel(Standing {
        orders: memoir.orders(),
        uids: memoir.uids(),
        ..Standing::default()
    });
    let context: Shared = Arc::new(Context {
        sockets: sockets(&options.socket),
        config: options.config,
        host: options.host,
        namespace: options.namespace,
        pulls: Pulls::default(),
        memoir: memoir.clone(),
        socket: options.socket,
        metrics: metrics.clone(),
        started: Instant::now(),
        link,
        standing: standing_seen,
        root,
    });
    let mut parts = JoinSet::new();
    let desk = Desk::watch(&client, &context.host, &context.namespace, &mut parts);
    let ring = bells.clone();
    parts.spawn(linker.run(move |uid, _| ring.ring(uid), stop.clone()));
    let pulse = Pulse::default();
    let readiness = readiness(&context);
    let admin = Admin { pulse: pulse.clone(), readiness, metrics: Arc::new(metrics.registry()) };
    parts.spawn(admin::serve(admin, listener, stop.clone()));
    let (facts, facts_seen) = watch::channel(Facts::default());
    let (renewed, renewed_seen) = watch::channel(None);
    let registrar = Registrar {
        client: client.clone(),
        namespace: context.namespace.clone(),
        desk: desk.clone(),
        facts: facts_seen,
        renewed,
        metrics,
    };
    parts.spawn(registrar.run(stop.clone()));
    parts.spawn(tasks::work(context.clone(), client.clone(), desk.clone(), stop.clone()));
    parts.spawn(memoir.clone().write(stop.clone()));
    let reporter = Reporter::new(
        client,
        &context.namespace,
        &context.host,
        renewed_seen.clone(),
        context.metrics.clone(),
    );
    let supervisor = Supervisor::new(context.clone(), reporter, bells, stop.clone());
    let agent = Agent {
        context,
        memoir: memoir.clone(),
        desk,
        standing,
        facts,
        renewed: renewed_seen,
        pulse,
        supervisor,
        housekeeper: Housekeeper::default(),
        doubts,
        looking: None,
        surveyed: None,
    };
    let turning = agent.turn(&stop);
    tokio::pin!(turning);
    let ended = loop {
        tokio::select! {
            ended = &mut turning => break ended,
            // What is left of an agent without one of its parts must not look like one.
            Some(part) = parts.join_next() => if !stop.is_cancelled() {
                break Err(format!("a part of the agent ended by itself: {part:?}"));
            }
        }
    };
    memoir.save().await;
    parts.abort_all();
    if ended.is_ok() {
        info!("ended; containers keep running");
    }
    ended.map_err(RunError::Failed)
}

/// The engine's sockets as the policy compares them: as named, and as they resolve.
fn sockets(socket: &std::path::Path) -> Vec<HostPath> {
    let canonical = std::fs::canonicalize(socket).ok();
    let all = [Some(socket.to_owned()), canonical];
    all.into_iter().flatten().filter_map(|path| path.to_str()?.parse().ok()).collect()
}

fn readiness(context: &Shared) -> Arc<admin::Readiness> {
    let context = context.clone();
    Arc::new(move || {
        let why = context.link.borrow().up().err()?;
        Some(format!("the engine does not answer: {why}"))
    })
}

/// What the main loop works with.
struct Agent {
    context: Shared,
    memoir: Memoir,
    desk: Desk,
    standing: watch::Sender<Standing>,
    facts: watch::Sender<Facts>,
    renewed: watch::Receiver<Option<Duration>>,
    pulse: Pulse,
    supervisor: Supervisor,
    housekeeper: Housekeeper,
    doubts: Doubts,
    /// A look at the whole engine that is under way.
    looking: Option<Looking>,
    /// What the engine of an instance said of itself.
    surveyed: Option<(String, EngineFacts)>,
}

type Looking = JoinHandle<(Arc<Up>, Result<Survey, String>)>;

impl Agent {
    async fn turn(mut self, stop: &CancellationToken) -> Result<(), String> {
        let mut resync = tokio::time::interval(self.context.config.resync.get());
        resync.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut second = tokio::time::interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut link = self.context.link.clone();
        let changed = self.desk.changed.clone();
        let mut was_refused = false;
        loop {
            self.pulse.beat();
            tokio::select! {
                () = stop.cancelled() => break,
                () = changed.notified() => self.hand_out(),
                _ = second.tick() => {
                    self.supervisor.check()?;
                    self.tell_refusal(&mut was_refused);
                    self.hand_out_in_want_of_the_api();
                    self.stand();
                }
                _ = resync.tick() => self.resync(),
                (up, seen) = looked(&mut self.looking) => self.take_in(&up, seen),
                Ok(()) = link.changed() => {
                    let up = matches!(&*link.borrow_and_update(), Link::Up(_));
                    self.context.metrics.engine_up.set(i64::from(up));
                    self.resync();
                }
            }
        }
        self.supervisor.join(LAST_CALL).await;
        Ok(())
    }

    /// What the API says goes to the tasks and into the checkpoint.
    fn hand_out(&mut self) {
        self.stand();
        if !self.desk.is_listed() || self.standing.borrow().orders.uid.is_empty() {
            return;
        }
        let secrets = self.desk.secrets.all();
        let by_name: HashMap<_, _> = secrets
            .iter()
            .filter_map(|secret| Some((secret.metadata.name.as_deref()?, secret)))
            .collect();
        let find = |name: &str| by_name.get(name).map(|secret| Arc::clone(secret));
        let assignments = assign(self.desk.runs.all(), find);
        self.memoir.assigned(&assignments, find);
        self.supervisor.hand_out(assignments);
    }

    /// Without the API, what it said last holds.
    fn hand_out_in_want_of_the_api(&mut self) {
        let unknown = self.standing.borrow().orders.uid.is_empty();
        if self.desk.is_listed() || unknown || self.context.tick() < HEAD_START {
            return;
        }
        if let Some(assignments) = self.memoir.take_assignments() {
            warn!(
                workspaces = assignments.len(),
                "the API does not answer: going on from the checkpoint"
            );
            self.supervisor.hand_out(assignments);
        }
    }

    fn tell_refusal(&mut self, was: &mut bool) {
        let refused = self.desk.is_refused();
        if refused && !*was {
            let host = &self.context.host;
            error!(
                "the API refuses this host's credential: what runs is kept, nothing new is started; an admin renews it with: kibotos host join {host} --out FILE"
            );
        }
        *was = refused;
    }

    /// Who the host is now.
    fn stand(&mut self) {
        let listed = self.desk.hosts.is_listed();
        let host = self.desk.host();
        let orders = host.as_deref().map(Orders::of);
        if let Some(orders) = &orders {
            self.memoir.ordered(orders);
        }
        let orders = orders.unwrap_or_else(|| self.standing.borrow().orders.clone());
        let renewed = *self.renewed.borrow();
        let fresh = renewed.is_some_and(|at| since_boot().saturating_sub(at) < FENCED_AFTER);
        let now = Standing {
            orders,
            uids: self.memoir.uids(),
            outcast: self.desk.is_refused() || (listed && host.is_none()),
            fenced: !fresh,
        };
        self.standing.send_if_modified(|standing| {
            let other = *standing != now;
            if other {
                *standing = now;
            }
            other
        });
    }

    /// Begins to look at the whole engine, unless that is under way.
    fn resync(&mut self) {
        let Ok(up) = self.context.link.borrow().up() else {
            self.tell_away();
            return;
        };
        if self.looking.is_some() {
            return;
        }
        let known = self.surveyed.as_ref().filter(|(of, _)| *of == up.instance);
        let known = known.map(|(_, engine)| engine.clone());
        self.looking = Some(tokio::spawn(async move {
            let seen = survey(&up, known).await;
            (up, seen)
        }));
    }

    /// Takes in what was seen of the whole engine.
    fn take_in(&mut self, up: &Arc<Up>, seen: Result<Survey, String>) {
        let Survey { listed, engine, full } = match seen {
            Ok(seen) => seen,
            Err(why) => {
                self.doubts.tell(up, why.clone());
                return self.tell(|facts| facts.away = Some(why));
            }
        };
        self.surveyed = Some((up.instance.clone(), engine.clone()));
        let standing = self.standing.borrow().clone();
        let certain = self.desk.is_listed() && !standing.outcast;
        let counts = self.supervisor.resync(up, &listed, &standing, certain);
        let directory = PathBuf::from(&engine.info.docker_root_dir);
        self.housekeeper.sweep(&self.context, up, directory);
        let most = self.context.config.images.collect_at_disk_percent.get();
        if let Some(full) = full {
            self.context.metrics.disk_percent.set(full.into());
        }
        self.tell(|facts| {
            facts.containers = Some(counts);
            (facts.engine, facts.away) = (Some(engine), None);
            // Of how full it is only whether it is too full is told: it is another number each time.
            facts.disk = full.map(|full| (if full >= most { most } else { 0 }, most));
        });
    }

    fn tell_away(&self) {
        // Before the first look there is nothing to tell.
        if let Link::Down(why) = &*self.context.link.borrow() {
            let why = why.clone();
            self.tell(|facts| facts.away = Some(why));
        }
    }

    fn tell(&self, change: impl FnOnce(&mut Facts)) {
        let mut facts = self.facts.borrow().clone();
        facts.boot_id = boot_id();
        change(&mut facts);
        self.facts.send_if_modified(|before| {
            let other = *before != facts;
            if other {
                *before = facts;
            }
            other
        });
    }
}

/// Waits for a look that is under way; for ever where none is.
async fn looked(looking: &mut Option<Looking>) -> (Arc<Up>, Result<Survey, String>) {
    loop {
        match looking {
            None => std::future::pending().await,
            Some(handle) => {
                let seen = handle.await;
                *looking = None;
                if let Ok(seen) = seen {
                    return seen;
                }
            }
        }
    }
}

fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}
