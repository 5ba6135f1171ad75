//! The agent's main loop: what the API and the engine say goes to the Workspaces' tasks.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::Client;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::config::AgentConfig;
use super::context::{Context, Shared, Standing};
use super::desk::{Desk, HEAD_START};
use super::disk::DiskUse;
use super::execute::LAST_CALL;
use super::housekeeping::Housekeeper;
use super::images::pull::Pulls;
use super::instance::since_boot;
use super::intent::assign;
use super::link::{Doubts, Link, Linker};
use super::memoir::Memoir;
use super::metrics::Metrics;
use super::policy::HostPath;
use super::register::Registrar;
use super::registration::{self, EngineFacts, FENCED_AFTER, Facts, Orders};
use super::report::Reporter;
use super::root::Root;
use super::supervisor::{Bells, Supervisor};
use super::tasks;
use crate::runtime::admin::{self, Admin, Pulse};

/// An engine that does not answer the lightest of all calls for so long hangs.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

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

/// Runs the agent until `stop`.
pub async fn run(
    options: Options,
    root: Root,
    client: Client,
    stop: CancellationToken,
) -> Result<(), String> {
    let listener = admin::bind(options.admin_listen).await?;
    let memoir = Memoir::open(&root, &options.host)?;
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
    };
    agent.turn(&stop).await;
    memoir.save().await;
    parts.abort_all();
    info!("ended; containers keep running");
    Ok(())
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
}

impl Agent {
    async fn turn(mut self, stop: &CancellationToken) {
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
                    self.tell_refusal(&mut was_refused);
                    self.hand_out_in_want_of_the_api();
                    self.stand();
                }
                _ = resync.tick() => self.resync().await,
                Ok(()) = link.changed() => {
                    let up = matches!(&*link.borrow_and_update(), Link::Up(_));
                    self.context.metrics.engine_up.set(i64::from(up));
                    self.resync().await;
                }
            }
        }
        self.supervisor.join(LAST_CALL).await;
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
        if self.desk.is_listed() || self.context.tick() < HEAD_START {
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

    async fn resync(&mut self) {
        if matches!(&*self.context.link.borrow(), Link::Unseen) {
            // Nothing to tell yet; it begins with the link.
            return;
        }
        let standing = self.standing.borrow().clone();
        let certain = self.desk.is_listed() && !standing.outcast;
        let answers = self.doubt().await;
        let counts = match &answers {
            Ok(()) => self.supervisor.resync(&standing, certain).await,
            Err(_) => None,
        };
        let mut facts = self.facts.borrow().clone();
        facts.containers = counts.or(facts.containers);
        facts.boot_id = boot_id();
        let engine = match answers {
            Ok(()) => self.engine_facts().await,
            Err(why) => Err(why),
        };
        match (engine, &*self.context.link.borrow()) {
            (Ok(engine), _) => (facts.engine, facts.away) = (Some(engine), None),
            (Err(_), Link::Down(why)) => facts.away = Some(why.clone()),
            (Err(why), Link::Up(_) | Link::Unseen) => facts.away = Some(why),
        }
        facts.disk = self.disk(facts.engine.as_ref());
        if let (Link::Up(up), Some(engine)) = (&*self.context.link.borrow(), &facts.engine) {
            let directory = PathBuf::from(&engine.info.docker_root_dir);
            self.housekeeper.sweep(&self.context, up, directory);
        }
        self.facts.send_if_modified(|before| {
            let other = *before != facts;
            if other {
                *before = facts;
            }
            other
        });
    }

    /// Whether the engine answers at all. One that hangs keeps its connections, so the link alone
    /// does not tell.
    async fn doubt(&self) -> Result<(), String> {
        let up = self.context.link.borrow().up()?;
        let why = match tokio::time::timeout(ANSWERS_WITHIN, up.engine.ping()).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it did not answer within {ANSWERS_WITHIN:?}"),
        };
        self.doubts.tell(&up, why.clone());
        Err(why)
    }

    async fn engine_facts(&self) -> Result<EngineFacts, String> {
        let up = self.context.link.borrow().up()?;
        registration::ask(&up.engine).await.map_err(|error| error.to_string())
    }

    fn disk(&self, engine: Option<&EngineFacts>) -> Option<(u8, u8)> {
        let directory = engine.map(|engine| PathBuf::from(&engine.info.docker_root_dir))?;
        let full = DiskUse::of(&directory).ok()?.fullest();
        self.context.metrics.disk_percent.set(full.into());
        let most = self.context.config.images.collect_at_disk_percent.get();
        // Of how full it is only whether it is too full is told: it is another number each time.
        Some((if full >= most { most } else { 0 }, most))
    }
}

fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}
