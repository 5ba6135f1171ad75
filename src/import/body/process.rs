//! What runs: image, command, environment, labels, health check, stop, restart.

use super::{Body, discard, valid};
use crate::api::Container;
use crate::api::container::{EnvVar, Healthcheck, Logging, RestartPolicy, RestartPolicyName};
use crate::api::grammar::{Duration, ImageReference, Signal, WorkingDir};
use crate::api::names::{CONTAINER_NAME_ENV, PREFIX};
use crate::api::workspace::{StopPolicy, WorkspaceSpec, WritableLayer};
use crate::import::notes::Notes;
use crate::import::object::{Object, text};
use serde_json::Value;

/// The process itself.
pub fn read(
    body: &mut Body<'_>,
    container: &mut Container,
    spec: &mut WorkspaceSpec,
    notes: &mut Notes,
) {
    let config = &mut body.config;
    container.image = image(config, notes);
    command(config, container, notes);
    container.env = env(config, container.name.as_deref(), notes);
    container.labels = labels("Labels", config, notes);
    container.user = config.text("User", notes);
    container.working_dir = config
        .text("WorkingDir", notes)
        .and_then(|dir| valid::kept::<WorkingDir>("WorkingDir", dir, notes));
    for (key, field) in
        [("Hostname", &mut container.hostname), ("Domainname", &mut container.domainname)]
    {
        let message = "is no host name of at most 64 letters, digits, '-', '_' and '.'";
        *field = config
            .text(key, notes)
            .and_then(|name| valid::if_so(key, &name, valid::is_host_name, message, notes));
    }
    let on = |flag: Option<bool>| flag.filter(|on| *on);
    container.tty = on(config.flag("Tty", notes));
    container.stdin = on(config.flag("OpenStdin", notes));
    container.stdin_once = on(config.flag("StdinOnce", notes));
    let shell = config.texts("Shell", notes).into_iter().map(|(_, word)| word).collect::<Vec<_>>();
    container.healthcheck = health(&mut config.object("Healthcheck", notes), &shell, notes);
    spec.stop = stop(config, notes);
    if config.flag("NetworkDisabled", notes) == Some(true) {
        notes.warn(
            "NetworkDisabled",
            "is not supported: set networkMode none for a container without network",
        );
    }
}

/// How the engine runs it.
pub fn govern(
    body: &mut Body<'_>,
    container: &mut Container,
    layer: &mut WritableLayer,
    notes: &mut Notes,
) {
    let host = &mut body.host;
    let gone_after = host.flag("AutoRemove", notes) == Some(true);
    let policy = restart(&mut host.object("RestartPolicy", notes), notes);
    if gone_after {
        discard(layer);
        if policy.name != RestartPolicyName::No {
            let message =
                "goes with restart policy no only, as Docker says: that is what is written";
            notes.warn("HostConfig.AutoRemove", message);
        }
    }
    let no = RestartPolicy { name: RestartPolicyName::No, maximum_retry_count: None };
    container.restart_policy = Some(if gone_after { no } else { policy });
    container.init = host.flag("Init", notes);
    container.runtime = host.text("Runtime", notes);
    container.annotations = Some(host.map("Annotations", notes)).filter(|map| !map.is_empty());
    let mut log = host.object("LogConfig", notes);
    let type_ = log.text("Type", notes);
    let config = Some(log.map("Config", notes)).filter(|map| !map.is_empty());
    log.finish(notes);
    container.logging = (type_.is_some() || config.is_some()).then_some(Logging { type_, config });
}

fn image(config: &mut Object<'_>, notes: &mut Notes) -> Option<String> {
    let wrong = notes.errors();
    let Some(image) = config.text("Image", notes) else {
        if notes.errors() == wrong {
            notes.error("Image", "is missing: a Workspace runs an image");
        }
        return None;
    };
    if let Err(error) = image.parse::<ImageReference>() {
        notes.error("Image", error.to_string());
        return None;
    }
    Some(image)
}

/// `Entrypoint` and `Cmd`, each unset, empty or set. A text is a list of itself, as older engines
/// read it.
fn command(config: &mut Object<'_>, container: &mut Container, notes: &mut Notes) {
    let mut words = |key: &str| match config.take(key)? {
        Value::String(word) => Some(vec![word.clone()]),
        Value::Array(items) => {
            let word = |(i, item)| text(&format!("{key}[{i}]"), item, notes);
            Some(items.iter().enumerate().filter_map(word).collect::<Vec<_>>())
        }
        other => text(key, other, notes).map(|word| vec![word]),
    };
    // An engine takes both `[]` and `[""]` for "without".
    let command = words("Entrypoint").map(|list| if list == [""] { Vec::new() } else { list });
    container.args = words("Cmd").filter(|list| !list.is_empty());
    container.command = command;
    if container.command.as_ref().is_some_and(Vec::is_empty) && container.args.is_none() {
        container.command = None;
        let args = notes.name("Cmd");
        let message = format!(
            "is empty and {args} too, and a Workspace has no image's entrypoint cleared without \
             args: the image's own is kept"
        );
        notes.warn("Entrypoint", message);
    }
}

/// Of one name the last counts, as the process sees it.
fn env(config: &mut Object<'_>, name: Option<&str>, notes: &mut Notes) -> Option<Vec<EnvVar>> {
    let mut list: Vec<EnvVar> = Vec::new();
    for (at, entry) in config.texts("Env", notes) {
        let Some((key, value)) = entry.split_once('=') else {
            let message = format!(
                "{entry} has no value: left out (an engine takes a variable of the image away for it)"
            );
            notes.warn(&at, message);
            continue;
        };
        let fits = !key.is_empty() && key.chars().count() <= 256 && !key.contains(char::is_control);
        if !fits {
            let message = "has no name of 1 to 256 characters without control characters: left out";
            notes.warn(&at, message);
            continue;
        }
        if value.contains('\0') {
            notes.warn(&at, "holds a NUL character, which no program can be given: left out");
            continue;
        }
        if key == CONTAINER_NAME_ENV {
            if Some(value) != name {
                let message =
                    "CONTAINER_NAME always holds the container's name in a Workspace: left out";
                notes.warn(&at, message);
            }
            continue;
        }
        if let Some(before) = list.iter().position(|variable| variable.name == key) {
            notes.warn(&at, format!("{key} is set twice: this value counts"));
            list.remove(before);
        }
        list.push(EnvVar { name: key.to_owned(), value: Some(value.to_owned()), value_from: None });
    }
    valid::bounded("Env", list, 1024, notes)
}

/// Labels but for ours.
pub fn labels(
    key: &str,
    object: &mut Object<'_>,
    notes: &mut Notes,
) -> Option<std::collections::BTreeMap<String, String>> {
    let at = object.at(key);
    let mut labels = object.map(key, notes);
    labels.retain(|name, _| {
        let theirs = !name.is_empty() && !name.starts_with(PREFIX);
        if !theirs {
            let message = "a label key may be neither empty nor begin with kibotos.dev/: left out";
            notes.warn(&format!("{at}[{name}]"), message);
        }
        theirs
    });
    Some(labels).filter(|labels| !labels.is_empty())
}

fn health(object: &mut Object<'_>, shell: &[String], notes: &mut Notes) -> Option<Healthcheck> {
    let test = object.texts("Test", notes).into_iter().map(|(_, word)| word).collect();
    let test = in_shell(test, shell, notes);
    let right = match test.as_slice() {
        [] => true,
        [first] => first == "NONE",
        [first, _] => first == "CMD" || first == "CMD-SHELL",
        [first, ..] => first == "CMD" && test.len() <= 128,
    };
    if !right {
        notes.warn(
            &object.at("Test"),
            "must be [NONE], [CMD, PROGRAM, ARG…] or [CMD-SHELL, LINE]: left out",
        );
    }
    let mut time = |key: &str| {
        let nanos = object.int(key, notes)?;
        valid::duration(&object.at(key), nanos, notes)
    };
    let check = Healthcheck {
        interval: time("Interval"),
        timeout: time("Timeout"),
        start_period: time("StartPeriod"),
        start_interval: time("StartInterval"),
        retries: object
            .int("Retries", notes)
            .and_then(|n| valid::small(&object.at("Retries"), n, 0, i32::MAX, notes))
            .filter(|n| *n != 0),
        test: Some(test).filter(|test| right && !test.is_empty()),
    };
    std::mem::take(object).finish(notes);
    Some(check).filter(|check| *check != Healthcheck::default())
}

/// A shell of the container's own has a say in a health check alone: it runs the line. A Workspace
/// has none, so the check names it as its program.
fn in_shell(test: Vec<String>, shell: &[String], notes: &mut Notes) -> Vec<String> {
    match test.as_slice() {
        [first, line] if first == "CMD-SHELL" && !shell.is_empty() => {
            let words = shell.iter().chain([line]).cloned();
            std::iter::once("CMD".to_owned()).chain(words).collect()
        }
        [] if !shell.is_empty() => {
            let message = "has no counterpart in a Workspace: left out; if the image has a health \
                           check of its own, the image's shell runs it";
            notes.warn("Shell", message);
            test
        }
        _ => test,
    }
}

fn stop(config: &mut Object<'_>, notes: &mut Notes) -> Option<StopPolicy> {
    let signal = config
        .text("StopSignal", notes)
        .and_then(|signal| valid::kept::<Signal>("StopSignal", signal, notes));
    let grace_period = config.int("StopTimeout", notes).and_then(|seconds| {
        let seconds = valid::ranged("StopTimeout", seconds, 0, 9_000_000_000, notes)?;
        let grace = Duration::from_nanos(seconds.checked_mul(1_000_000_000)?).ok()?;
        Some(grace.as_str().to_owned())
    });
    (signal.is_some() || grace_period.is_some()).then_some(StopPolicy { grace_period, signal })
}

/// The policy; where there is none it is `no`, for unset would restart for ever.
fn restart(object: &mut Object<'_>, notes: &mut Notes) -> RestartPolicy {
    let text = object.text("Name", notes).unwrap_or_default();
    let name = match text.as_str() {
        "" | "no" => RestartPolicyName::No,
        "always" => RestartPolicyName::Always,
        "unless-stopped" => RestartPolicyName::UnlessStopped,
        "on-failure" => RestartPolicyName::OnFailure,
        other => {
            let message = format!(
                "{other:?} is no restart policy, so it is no: write always, unless-stopped or on-failure"
            );
            notes.warn(&object.at("Name"), message);
            RestartPolicyName::No
        }
    };
    let count = object.int("MaximumRetryCount", notes).filter(|count| *count != 0);
    let at = object.at("MaximumRetryCount");
    let count = count.and_then(|count| valid::small(&at, count, 1, i32::MAX, notes));
    if count.is_some() && name != RestartPolicyName::OnFailure {
        notes.warn(&at, "goes with on-failure only: left out");
    }
    std::mem::take(object).finish(notes);
    let maximum_retry_count = count.filter(|_| name == RestartPolicyName::OnFailure);
    RestartPolicy { name, maximum_retry_count }
}
