//! That `docs/agent.md` tells of all metrics and reasons there are, and of no others.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use kibotos::{
    agent::metrics::{Metrics, OutcomeLabel, StepLabel, StepLabels},
    api::Reason,
};
use prometheus_client::encoding::text::encode;
use regex::Regex;

const DOCUMENT: &str = include_str!("../docs/agent.md");

/// The rows of the table whose first column has this heading.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let start = DOCUMENT.find(&format!("| {heading} |")).expect("the table is there");
    let table = DOCUMENT[start..].lines().take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().replace('`', "")).collect()
    };
    table.skip(2).map(cells).collect()
}

/// Name as it is sampled, type, labels, meaning: of all that is registered.
fn registered() -> BTreeSet<Vec<String>> {
    let metrics = Metrics::default();
    // A family tells its labels once there is one of it.
    let (step, outcome) = ("Start", "succeeded");
    metrics.steps.get_or_create(&StepLabels { step, outcome }).inc();
    metrics.step_seconds.get_or_create(&StepLabel { step }).observe(1.0);
    metrics.status_writes.get_or_create(&OutcomeLabel { outcome }).inc();
    let mut text = String::new();
    encode(&mut text, &metrics.registry()).unwrap();

    let help = Regex::new(r"(?m)^# HELP (\w+) (.+?)\.?$").unwrap();
    let meanings: BTreeMap<_, _> =
        help.captures_iter(&text).map(|c| (c[1].to_owned(), c[2].to_owned())).collect();
    let kinds = Regex::new(r"(?m)^# TYPE (\w+) (\w+)$").unwrap();
    let label = Regex::new(r#"(\w+)=""#).unwrap();
    let of = |name: &str, kind: &str| {
        let suffix = if kind == "counter" { "_total" } else { "" };
        let sample = if kind == "histogram" { "_count" } else { suffix };
        let sample = Regex::new(&format!(r"(?m)^{name}{sample}(\{{.*\}})? ")).unwrap();
        let found = sample.captures(&text).unwrap_or_else(|| panic!("no sample of {name}: {text}"));
        let labels = found.get(1).map_or("", |labels| labels.as_str());
        let labels: Vec<_> = label.captures_iter(labels).map(|c| c[1].to_owned()).collect();
        let labels = if labels.is_empty() { "–".to_owned() } else { labels.join(", ") };
        vec![format!("{name}{suffix}"), kind.to_owned(), labels, meanings[name].clone()]
    };
    kinds.captures_iter(&text).map(|c| of(&c[1], &c[2])).collect()
}

#[test]
fn every_metric_stands_in_the_document_as_it_is_served() {
    let told: BTreeSet<_> = rows("metric").into_iter().collect();
    assert_eq!(told, registered());
}

/// Every reason that the agent's code names.
fn named(directory: &Path, reason: &Regex, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if is_test {
            continue;
        }
        if path.is_dir() {
            named(&path, reason, found);
        } else {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            found.extend(reason.captures_iter(code).map(|c| c[1].to_owned()));
        }
    }
}

#[test]
fn every_reason_that_the_agent_gives_stands_in_the_document() {
    let mut given = BTreeSet::new();
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/agent");
    named(&agent, &Regex::new(r"Reason::([A-Z]\w+)").unwrap(), &mut given);
    let known: BTreeSet<_> = Reason::ALL.iter().map(|reason| reason.as_str().to_owned()).collect();
    assert!(given.is_subset(&known), "{given:?}");
    let told: BTreeSet<_> = rows("reason").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(told, given);
}
