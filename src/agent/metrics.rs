//! What the agent counts. The labels have few values: never a name of a Workspace.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// By step and how it went.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct StepLabels {
    /// Name of the step.
    pub step: &'static str,
    /// `succeeded`, `failed` or `cut`.
    pub outcome: &'static str,
}

/// By step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct StepLabel {
    /// Name of the step.
    pub step: &'static str,
}

/// By outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OutcomeLabel {
    /// `succeeded` or `failed`.
    pub outcome: &'static str,
}

/// All that is counted.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Steps taken.
    pub steps: Family<StepLabels, Counter>,
    /// How long steps took.
    pub step_seconds: Family<StepLabel, Histogram, fn() -> Histogram>,
    /// Status writes.
    pub status_writes: Family<OutcomeLabel, Counter>,
    /// Whether the engine is there.
    pub engine_up: Gauge,
    /// Lists of all containers.
    pub resyncs: Counter,
    /// Workspaces with a run here.
    pub workspaces: Gauge,
    /// Seconds since the Lease was renewed.
    pub lease_age: Gauge<f64, AtomicU64>,
    /// How full the engine's disk is, in percent.
    pub disk_percent: Gauge,
}

fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 4.0, 10))
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            steps: Family::default(),
            step_seconds: Family::new_with_constructor(seconds),
            status_writes: Family::default(),
            engine_up: Gauge::default(),
            resyncs: Counter::default(),
            workspaces: Gauge::default(),
            lease_age: Gauge::default(),
            disk_percent: Gauge::default(),
        }
    }
}

impl Metrics {
    /// A registry with all of them, each with its name and what it says.
    pub fn registry(&self) -> Registry {
        let mut registry = Registry::with_prefix("kibotos_agent");
        let it = self.clone();
        registry.register("steps", "Steps taken on the engine, by step and outcome", it.steps);
        registry.register("step_seconds", "How long steps took", it.step_seconds);
        registry.register("status_writes", "Writes of statuses, by outcome", it.status_writes);
        registry.register("engine_up", "Whether the engine answers", it.engine_up);
        registry.register("resyncs", "Lists of all containers", it.resyncs);
        registry.register("workspaces", "Workspaces with a run on this host", it.workspaces);
        registry.register("lease_age_seconds", "Time since the Lease was renewed", it.lease_age);
        registry.register("disk_percent", "How full the engine's disk is", it.disk_percent);
        registry
    }
}
