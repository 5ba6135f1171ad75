//! Conditions: which there are, in which order they stand, and how one is set.
//!
//! A kind's conditions are all always present, `Ready` first. A transition time moves only when the
//! state does.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;

use super::Reason;

/// The types of condition, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionType {
    /// The declared state is reached, also when that is Stopped. The summary of all others.
    Ready,
    /// A host was found.
    Scheduled,
    /// The image is on the host.
    ImagePulled,
    /// The Volume is bound.
    VolumeBound,
    /// The container runs.
    ContainerRunning,
    /// What runs is what the spec says.
    SpecApplied,
    /// The agent renews its Lease.
    AgentReady,
    /// The engine answers its agent.
    EngineReachable,
    /// The disk is nearly full.
    DiskPressure,
    /// Work is under way towards the declared state.
    Reconciling,
    /// Nothing more happens until the user changes something.
    Stalled,
}

/// A condition's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It cannot be seen.
    Unknown,
}

/// What is now known of one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The condition.
    pub kind: ConditionType,
    /// Whether it holds.
    pub state: State,
    /// Why.
    pub reason: Reason,
    /// Why, for a person: what is waited for or what to change.
    pub message: String,
}

/// The conditions of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions(Vec<Condition>);

impl ConditionType {
    /// All conditions of a Workspace.
    pub const WORKSPACE: &[Self] = &[
        Self::Ready,
        Self::Scheduled,
        Self::ImagePulled,
        Self::VolumeBound,
        Self::ContainerRunning,
        Self::SpecApplied,
        Self::Reconciling,
        Self::Stalled,
    ];

    /// The condition's type as it stands in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Scheduled => "Scheduled",
            Self::ImagePulled => "ImagePulled",
            Self::VolumeBound => "VolumeBound",
            Self::ContainerRunning => "ContainerRunning",
            Self::SpecApplied => "SpecApplied",
            Self::AgentReady => "AgentReady",
            Self::EngineReachable => "EngineReachable",
            Self::DiskPressure => "DiskPressure",
            Self::Reconciling => "Reconciling",
            Self::Stalled => "Stalled",
        }
    }
}

impl State {
    /// The status as it stands in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl Conditions {
    /// Takes over the conditions that an object has, e.g. from its status.
    pub fn from_status(present: &[Condition]) -> Self {
        Self(present.to_vec())
    }

    /// Sets one condition as of `now`, judged at the object's `generation`.
    ///
    /// The transition time of a condition whose state stays is kept, so that a write that changes
    /// nothing is no write. Times are whole seconds, as Kubernetes keeps them.
    pub fn set(&mut self, seen: Observation, generation: Option<i64>, now: Timestamp) {
        let (name, status) = (seen.kind.as_str(), seen.state.as_str());
        let since = self
            .get(seen.kind)
            .filter(|before| before.status == status)
            .map_or_else(|| Time(whole_second(now)), |before| before.last_transition_time.clone());
        let condition = Condition {
            type_: name.to_owned(),
            status: status.to_owned(),
            reason: seen.reason.as_str().to_owned(),
            message: seen.message,
            observed_generation: generation,
            last_transition_time: since,
        };
        match self.0.iter_mut().find(|c| c.type_ == name) {
            Some(before) => *before = condition,
            None => self.0.push(condition),
        }
    }

    /// One condition, if it was ever set.
    pub fn get(&self, kind: ConditionType) -> Option<&Condition> {
        self.0.iter().find(|c| c.type_ == kind.as_str())
    }

    /// The conditions in their order, `Ready` first; types unknown here keep their place behind.
    pub fn into_status(mut self) -> Vec<Condition> {
        self.0.sort_by_key(|c| order(&c.type_));
        self.0
    }
}

fn order(name: &str) -> usize {
    let known = [
        ConditionType::Ready,
        ConditionType::Scheduled,
        ConditionType::ImagePulled,
        ConditionType::VolumeBound,
        ConditionType::ContainerRunning,
        ConditionType::SpecApplied,
        ConditionType::AgentReady,
        ConditionType::EngineReachable,
        ConditionType::DiskPressure,
        ConditionType::Reconciling,
        ConditionType::Stalled,
    ];
    known.iter().position(|k| k.as_str() == name).unwrap_or(known.len())
}

fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

impl fmt::Display for ConditionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millisecond(second * 1000 + 250).unwrap()
    }

    fn seen(kind: ConditionType, state: State, message: &str) -> Observation {
        let (reason, message) = (Reason::InProgress, message.to_owned());
        Observation { kind, state, reason, message }
    }

    #[test]
    fn the_transition_time_moves_only_when_the_state_does() {
        let mut conditions = Conditions::default();
        conditions.set(seen(ConditionType::Ready, State::False, "a"), Some(1), at(10));
        conditions.set(seen(ConditionType::Ready, State::False, "b"), Some(2), at(20));
        let ready = conditions.get(ConditionType::Ready).unwrap();
        assert_eq!(ready.last_transition_time.0, Timestamp::from_second(10).unwrap());
        assert_eq!((ready.message.as_str(), ready.observed_generation), ("b", Some(2)));

        conditions.set(seen(ConditionType::Ready, State::True, ""), Some(2), at(30));
        let ready = conditions.get(ConditionType::Ready).unwrap();
        assert_eq!(ready.last_transition_time.0, Timestamp::from_second(30).unwrap());
    }

    #[test]
    fn conditions_stand_in_one_order_whatever_order_they_were_set_in() {
        let mut conditions = Conditions::default();
        for kind in ConditionType::WORKSPACE.iter().rev() {
            conditions.set(seen(*kind, State::Unknown, ""), None, at(1));
        }
        let names: Vec<_> = conditions.into_status().into_iter().map(|c| c.type_).collect();
        let wanted: Vec<_> = ConditionType::WORKSPACE.iter().map(|k| k.as_str()).collect();
        assert_eq!(names, wanted);
    }

    #[test]
    fn setting_what_is_already_so_changes_nothing() {
        let mut conditions = Conditions::default();
        conditions.set(seen(ConditionType::Stalled, State::False, "m"), Some(3), at(1));
        let before = conditions.clone();
        conditions.set(seen(ConditionType::Stalled, State::False, "m"), Some(3), at(99));
        assert_eq!(conditions, before);
    }
}
