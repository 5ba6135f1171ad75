//! What runs: image, command, environment, labels, health check, stop.

use std::collections::{BTreeMap, BTreeSet};

use super::Intent;
use super::faults::{Faults, entries, filled, text};
use crate::api::Container;
use crate::api::WorkspaceRunSpec;
use crate::api::container::{Healthcheck, form};
use crate::api::grammar::{Duration, ImageReference, Signal, WorkingDir};
use crate::api::names::{CONTAINER_NAME_ENV, PREFIX, label};
use crate::docker::{ApiVersion, CreateBody, Health, HostConfig, LogConfig, RestartPolicy};

/// The body but for its ports, volumes, networks and host part.
pub fn body(intent: &Intent<'_>, name: &str, faults: &mut Faults) -> CreateBody {
    let run = intent.run;
    let container = &run.container;
    command(container, faults);
    if let Some(dir) = &container.working_dir {
        faults.parse::<WorkingDir>("spec.container.workingDir", dir);
    }
    faults.fits("spec.container.hostname", container.hostname.as_ref(), &form::HOSTNAME);
    faults.fits("spec.container.domainname", container.domainname.as_ref(), &form::DOMAINNAME);
    let (stop_signal, stop_timeout) = stop(run, faults);
    CreateBody {
        image: image(container, faults),
        cmd: container.args.clone(),
        entrypoint: container.command.clone(),
        env: environment(intent, name, faults),
        labels: labels(intent, faults),
        user: container.user.clone().unwrap_or_default(),
        working_dir: container.working_dir.clone().unwrap_or_default(),
        hostname: container.hostname.clone().unwrap_or_default(),
        domainname: text(container.domainname.as_ref()),
        tty: container.tty.unwrap_or_default(),
        open_stdin: container.stdin.unwrap_or_default(),
        stdin_once: container.stdin_once.unwrap_or_default(),
        stop_signal,
        stop_timeout,
        healthcheck: health(container.healthcheck.as_ref(), faults),
        ..CreateBody::default()
    }
}

/// How the engine runs it: restart policy, init, runtime, output.
pub fn govern(run: &WorkspaceRunSpec, host: &mut HostConfig, faults: &mut Faults) {
    let container = &run.container;
    host.restart_policy = restart_policy(run, faults);
    host.init = container.init;
    host.runtime = text(container.runtime.as_ref());
    host.log_config = container.logging.as_ref().map(|logging| LogConfig {
        type_: text(logging.type_.as_ref()),
        config: entries(logging.config.as_ref()),
    });
    host.annotations = entries(container.annotations.as_ref());
    faults.needs(
        "spec.container.annotations",
        host.annotations.is_some(),
        ApiVersion::v1(43),
        "24",
    );
}

fn image(container: &Container, faults: &mut Faults) -> String {
    let path = "spec.container.image";
    let Some(image) = container.image.as_deref().filter(|image| !image.is_empty()) else {
        faults.add(path, "is missing: name an image, e.g. nginx:1.29");
        return String::new();
    };
    match faults.parse::<ImageReference>(path, image) {
        Some(reference) => reference.canonical().into_owned(),
        None => image.to_owned(),
    }
}

fn command(container: &Container, faults: &mut Faults) {
    for (field, list) in [("command", &container.command), ("args", &container.args)] {
        for (i, word) in list.iter().flatten().enumerate() {
            faults.no_nul(format!("spec.container.{field}[{i}]"), word);
        }
    }
    let emptied = container.command.as_ref().is_some_and(Vec::is_empty);
    if emptied && container.args.as_ref().is_none_or(Vec::is_empty) {
        faults.add(
            "spec.container.command",
            "is empty, which clears the image's entrypoint and arguments: set args, or leave command out",
        );
    }
}

/// `CONTAINER_NAME` first, then what the spec sets, in its order.
fn environment(intent: &Intent<'_>, name: &str, faults: &mut Faults) -> Vec<String> {
    let container = &intent.run.container;
    let mut list = vec![format!("{CONTAINER_NAME_ENV}={name}")];
    let mut names = BTreeSet::new();
    for (i, variable) in container.env.iter().flatten().enumerate() {
        let at = |field: &str| format!("spec.container.env[{i}].{field}");
        let key = &variable.name;
        faults.check(at("name"), form::ENV_NAME.check(key));
        if !names.insert(key) {
            faults.add(at("name"), format!("{key} is set twice: set it once"));
        }
        let value = match &variable.value_from {
            None => variable.value.clone().unwrap_or_default(),
            Some(_) if variable.value.is_some() => {
                faults.add(at("valueFrom"), "set value or valueFrom, not both");
                continue;
            }
            // Resolved by the controller: the run's Secret has it under the variable's name, and
            // lacks it only where the reference is optional.
            Some(_) => match intent.secret.get(key) {
                Some(value) => value.clone(),
                None => continue,
            },
        };
        faults.no_nul(at("value"), &value);
        if key == CONTAINER_NAME_ENV {
            if value != name {
                faults.add(
                    at("name"),
                    format!(
                        "{key} is reserved, it always holds the container's name: leave it out"
                    ),
                );
            }
            continue;
        }
        list.push(format!("{key}={value}"));
    }
    list
}

fn labels(intent: &Intent<'_>, faults: &mut Faults) -> BTreeMap<String, String> {
    let run = intent.run;
    let mut labels = run.container.labels.clone().unwrap_or_default();
    for key in labels.keys() {
        if key.is_empty() || key.starts_with(PREFIX) {
            let path = format!("spec.container.labels[{key}]");
            faults.add(path, "a label key may be neither empty nor begin with kibotos.dev/");
        }
    }
    for (key, value) in [
        (label::WORKSPACE_UID, run.workspace.uid.as_str()),
        (label::WORKSPACE_NAMESPACE, &run.workspace.namespace),
        (label::WORKSPACE_NAME, &run.workspace.name),
        (label::HOST_UID, intent.host_uid),
        (label::SPEC_HASH, &run.spec_hash),
    ] {
        labels.insert(key.to_owned(), value.to_owned());
    }
    labels
}

fn health(check: Option<&Healthcheck>, faults: &mut Faults) -> Health {
    const MILLISECOND: i64 = 1_000_000;
    let Some(check) = check else { return Health::default() };
    let path = |field: &str| format!("spec.container.healthcheck.{field}");
    let mut time = |field: &str, value: &Option<String>| {
        let nanos = faults.parse::<Duration>(&path(field), value.as_deref()?)?.nanos();
        if nanos != 0 && nanos < MILLISECOND {
            faults.add(path(field), "must be 0s or at least 1ms");
        }
        Some(nanos)
    };
    let health = Health {
        interval: time("interval", &check.interval),
        timeout: time("timeout", &check.timeout),
        start_period: time("startPeriod", &check.start_period),
        start_interval: time("startInterval", &check.start_interval),
        retries: check.retries.map(i64::from),
        test: filled(check.test.as_ref()),
    };
    let right = match health.test.as_deref().unwrap_or_default() {
        [] => true,
        [first] => first == "NONE",
        [first, _] => first == "CMD" || first == "CMD-SHELL",
        [first, ..] => first == "CMD",
    };
    if !right {
        faults.add(path("test"), "must be [NONE], [CMD, PROGRAM, ARG…] or [CMD-SHELL, LINE]");
    }
    let used = health.start_interval.is_some_and(|nanos| nanos != 0);
    faults.needs(path("startInterval"), used, ApiVersion::v1(44), "25");
    health
}

fn restart_policy(run: &WorkspaceRunSpec, faults: &mut Faults) -> Option<RestartPolicy> {
    let declared = run.restart_policy.as_ref()?;
    let count = declared.maximum_retry_count.filter(|count| *count != 0);
    if count.is_some() && declared.name.as_str() != "on-failure" {
        faults.add(
            "spec.container.restartPolicy.maximumRetryCount",
            "maximumRetryCount goes with name on-failure only",
        );
    }
    engine_policy(run)
}

/// The policy as declared; where another host may take over, none, for an engine that comes back
/// must start nothing by itself.
pub(in crate::agent) fn engine_policy(run: &WorkspaceRunSpec) -> Option<RestartPolicy> {
    let declared = run.restart_policy.as_ref()?;
    let count = declared.maximum_retry_count.filter(|count| *count != 0).map(i64::from);
    if run.leased == Some(true) {
        return Some(RestartPolicy { name: "no".to_owned(), maximum_retry_count: None });
    }
    Some(RestartPolicy { name: declared.name.as_str().to_owned(), maximum_retry_count: count })
}

fn stop(run: &WorkspaceRunSpec, faults: &mut Faults) -> (Option<String>, Option<i64>) {
    let Some(stop) = &run.stop else { return (None, None) };
    let signal = stop.signal.as_deref().and_then(|s| faults.parse::<Signal>("spec.stop.signal", s));
    let path = "spec.stop.gracePeriod";
    let grace = stop.grace_period.as_deref().and_then(|s| faults.parse::<Duration>(path, s));
    let seconds = grace.and_then(|grace| {
        let seconds = grace.whole_seconds();
        if seconds.is_none() {
            faults.add(path, "must be whole seconds, e.g. 30s or 1m30s");
        }
        seconds
    });
    (signal.map(|signal| signal.canonical().into_owned()), seconds)
}
