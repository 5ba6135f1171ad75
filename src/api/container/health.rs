//! Docker's health check.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::grammar::Duration;

/// How Docker asks whether the container is well. What is unset is the image's own, field by field.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct Healthcheck {
    /// `[CMD, PROGRAM, ARG…]`, `[CMD-SHELL, LINE]`, or `[NONE]` to switch off the image's own.
    #[schemars(length(max = 128))]
    #[x_kube(validation = Rule::new(
        "self.size() == 0 || (self[0] == 'NONE' && self.size() == 1) || (self[0] == 'CMD' && self.size() > 1) \
         || (self[0] == 'CMD-SHELL' && self.size() == 2)")
        .message("must be [NONE], [CMD, PROGRAM, ARG…] or [CMD-SHELL, LINE]"))]
    pub test: Option<Vec<String>>,
    /// Time from one check to the next, e.g. `30s`; at least `1ms`, or `0s` for the engine's default.
    #[schemars(with = "Option<Duration>")]
    #[x_kube(validation = Rule::new(INTERVAL).message(INTERVAL_MESSAGE))]
    pub interval: Option<String>,
    /// Time after which a check counts as failed; at least `1ms`, or `0s` for the engine's default.
    #[schemars(with = "Option<Duration>")]
    #[x_kube(validation = Rule::new(INTERVAL).message(INTERVAL_MESSAGE))]
    pub timeout: Option<String>,
    /// Time from the start in which failures do not count; at least `1ms`, or `0s`.
    #[schemars(with = "Option<Duration>")]
    #[x_kube(validation = Rule::new(INTERVAL).message(INTERVAL_MESSAGE))]
    pub start_period: Option<String>,
    /// Time between checks in the start period; needs Docker 25 (API 1.44). At least `1ms`, or
    /// `0s`.
    #[schemars(with = "Option<Duration>")]
    #[x_kube(validation = Rule::new(INTERVAL).message(INTERVAL_MESSAGE))]
    pub start_interval: Option<String>,
    /// How many failures in a row make the container unhealthy; 0 is the engine's default.
    #[schemars(range(min = 0))]
    pub retries: Option<i32>,
}

const INTERVAL: &str = "!self.matches('^(0|([0-9]+([.][0-9]*)?(ns|us|µs|μs|ms|s|m|h))+)$') || duration(self) == duration('0s') \
                        || duration(self) >= duration('1ms')";
const INTERVAL_MESSAGE: &str = "must be 0s or at least 1ms";
