//! `healthcheck` and the stop grace period: times.

use serde_json::{Map, Value};

use super::service::Draft;
use super::value::{Node, scalar};
use crate::api::grammar::Duration;
use crate::import::notes::Notes;

const TIMES: [(&str, &str); 4] = [
    ("interval", "Interval"),
    ("timeout", "Timeout"),
    ("start_period", "StartPeriod"),
    ("start_interval", "StartInterval"),
];

/// The health check, and how long a stop may take.
pub fn read(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    let at = node.at("stop_grace_period");
    if let Some(text) = node.text("stop_grace_period", notes)
        && let Some(nanos) = nanos(&at, &text, notes)
    {
        if nanos % 1_000_000_000 != 0 {
            let message =
                "an engine counts whole seconds: what is below is cut off, as compose does";
            notes.warn_at(at.clone(), message);
        }
        draft.config("StopTimeout", &at, nanos / 1_000_000_000);
    }
    let at = node.at("healthcheck");
    let Some(value) = node.take("healthcheck") else { return };
    let mut check = Node::new(at.clone(), &value);
    let mut health = Map::new();
    if check.flag("disable", notes) == Some(true) {
        health.insert("Test".to_owned(), vec!["NONE"].into());
    } else if let Some(test) = check.take("test") {
        health.insert("Test".to_owned(), words(&check.at("test"), &test, notes).into());
    }
    for (key, docker) in TIMES {
        if let Some(text) = check.text(key, notes)
            && let Some(nanos) = nanos(&check.at(key), &text, notes)
        {
            draft.origin(&format!("Healthcheck.{docker}"), &check.at(key));
            health.insert(docker.to_owned(), nanos.into());
        }
    }
    if let Some(retries) = check.int("retries", notes) {
        health.insert("Retries".to_owned(), retries.into());
    }
    check.finish(notes);
    draft.config("Healthcheck", &at, health);
    draft.members("Healthcheck", &at, &[("Test", "test"), ("Retries", "retries")]);
}

/// A list as it is; a text is a line for the shell.
fn words(at: &str, test: &Value, notes: &mut Notes) -> Vec<String> {
    match test {
        Value::Array(items) => items.iter().filter_map(|item| scalar(at, item, notes)).collect(),
        line => {
            let line = scalar(at, line, notes);
            line.into_iter().flat_map(|line| ["CMD-SHELL".to_owned(), line]).collect()
        }
    }
}

fn nanos(at: &str, text: &str, notes: &mut Notes) -> Option<i64> {
    // Compose knows days and weeks too, which Go and we do not.
    text.parse::<Duration>()
        .map(|duration| duration.nanos())
        .map_err(|error| notes.error_at(at, error.to_string()))
        .ok()
}
