//! Which call does what.

use std::sync::Arc;

use super::{
    answer::{Answer, Body, Reply, empty, refusal},
    call::Call,
    pulls,
    server::Shared,
    state::{State, version},
    verbs::Stopping,
};

/// The oldest version that any of the engines speaks.
const OLDEST: (u16, u16) = (1, 12);

pub async fn dispatch(shared: &Arc<Shared>, call: Call) -> Reply {
    shared.with(|state| versioned(state, &call))?;
    let path = call.path.clone();
    let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
    match (call.method.as_str(), &parts[..]) {
        ("POST", ["containers", word, "stop"]) => stop(shared, word, &call).await,
        ("POST", ["containers", word, "wait"]) => wait(shared, word).await,
        ("DELETE", ["containers", word]) => remove(shared, word, &call).await,
        ("POST", ["images", "create"]) => pull(shared, &call).await,
        ("POST", ["containers", word, "restart"]) => {
            stop(shared, word, &call).await?;
            shared.with(|state| state.start_call(word)).map(|_| empty(204))
        }
        (method, parts) => shared.with(|state| at_once(state, method, parts, &call)),
    }
}

fn versioned(state: &State, call: &Call) -> Result<(), Answer> {
    let Some(text) = &call.version else {
        return Ok(());
    };
    let Some(wanted) = version(text) else {
        return Err(refusal(404, "page not found"));
    };
    let (major, minor) = state.options.api;
    if wanted > (major, minor) {
        let message = format!(
            "client version {text} is too new. Maximum supported API version is {major}.{minor}"
        );
        return Err(refusal(400, message));
    }
    let oldest = super::info::oldest(state.options.api);
    if wanted < oldest {
        let message = format!(
            "client version {text} is too old. Minimum supported API version is {}.{}, please \
             upgrade your client to a newer version",
            oldest.0, oldest.1
        );
        // Below this, engines do not even answer in JSON.
        let old = wanted < OLDEST;
        return Err(if old {
            Answer { status: 400, body: Body::Text(message) }
        } else {
            refusal(400, message)
        });
    }
    Ok(())
}

fn at_once(state: &mut State, method: &str, parts: &[&str], call: &Call) -> Reply {
    match (method, parts) {
        ("GET" | "HEAD", ["_ping"]) => {
            let body = if method == "GET" { Body::Text("OK".into()) } else { Body::Empty };
            Ok(Answer { status: 200, body })
        }
        ("GET", ["version"]) => Ok(state.version()),
        ("GET", ["info"]) => Ok(state.info()),
        ("GET", ["system", "df"]) => Ok(state.disk_usage()),
        ("GET", ["events"]) => state.subscribe(call),
        (_, ["containers", rest @ ..]) => containers(state, method, rest, call),
        (_, ["images", rest @ ..]) => images(state, method, rest, call),
        ("GET", ["volumes"]) => state.list_volumes(call),
        ("POST", ["volumes", "create"]) => state.create_volume(call),
        ("GET", ["volumes", name]) => state.volume(name),
        ("DELETE", ["volumes", name]) => state.remove_volume(name, call),
        ("GET", ["networks"]) => state.list_networks(call),
        ("POST", ["networks", "create"]) => state.create_network(call),
        ("GET", ["networks", name]) => state.network(name),
        ("DELETE", ["networks", name]) => state.remove_network(name),
        ("POST", ["networks", name, "connect"]) => state.connect(name, call),
        ("POST", ["networks", name, "disconnect"]) => state.disconnect(name, call),
        _ => Err(refusal(404, "page not found")),
    }
}

fn containers(state: &mut State, method: &str, parts: &[&str], call: &Call) -> Reply {
    match (method, parts) {
        ("GET", ["json"]) => state.list(call),
        ("POST", ["create"]) => state.create(call),
        ("GET", [word, "json"]) => state.inspect(word, call),
        ("POST", [word, "start"]) => state.start_call(word),
        ("POST", [word, "kill"]) => state.kill_call(word, call),
        ("POST", [word, "pause"]) => state.pause_call(word),
        ("POST", [word, "unpause"]) => state.unpause_call(word),
        ("POST", [word, "rename"]) => state.rename_call(word, call),
        ("POST", [word, "update"]) => state.update_call(word, call),
        ("GET", [word, "logs"]) => {
            if !call.flag("stdout") && !call.flag("stderr") {
                return Err(refusal(400, "Bad parameters: you must choose at least one stream"));
            }
            state.get(word).map(|_| Answer { status: 200, body: Body::Empty })
        }
        _ => Err(refusal(404, "page not found")),
    }
}

/// The names of images have slashes.
fn images(state: &mut State, method: &str, parts: &[&str], call: &Call) -> Reply {
    match (method, parts) {
        ("GET", ["json"]) => state.list_images(call),
        ("GET", [name @ .., "json"]) => state.image(&name.join("/")),
        ("POST", [name @ .., "tag"]) => state.tag(&name.join("/"), call),
        ("DELETE", name) => state.remove_image(&name.join("/"), call),
        _ => Err(refusal(404, "page not found")),
    }
}

async fn stop(shared: &Arc<Shared>, word: &str, call: &Call) -> Reply {
    let stopping = shared.with(|state| state.stop_call(word, call))?;
    let (id, run, grace) = match stopping {
        Stopping::Answered(answer) => return Ok(answer),
        Stopping::Waits { id, run, grace } => (id, run, grace),
    };
    let over =
        |state: &mut State| state.containers.get(&id).is_none_or(|c| c.run != run).then_some(());
    shared.eventually(grace, over).await;
    Ok(shared.with(|state| state.stop_over(&id, run)))
}

async fn wait(shared: &Arc<Shared>, word: &str) -> Reply {
    let (id, run) = shared.with(|state| state.get(word).map(|c| (c.id.clone(), c.run)))?;
    let answer = shared.eventually(None, |state| state.wait_over(&id, run)).await;
    answer.ok_or_else(|| refusal(500, "the engine ended"))
}

async fn remove(shared: &Arc<Shared>, word: &str, call: &Call) -> Reply {
    let (id, takes) = shared
        .with(|state| state.remove_call(word, call).map(|id| (id, state.options.removal_takes)))?;
    if !takes.is_zero() {
        tokio::time::sleep(takes).await;
    }
    shared.with(|state| state.erase(&id, call.flag("v")));
    Ok(empty(204))
}

async fn pull(shared: &Arc<Shared>, call: &Call) -> Reply {
    let reference = pulls::wanted(call)?;
    let (programmed, newer) =
        shared.with(|state| (state.pulls.get(&reference).cloned(), state.since(51)));
    let stored = shared.clone();
    pulls::pull(programmed, call, newer, move |image| {
        stored.with(|state| state.store(image.clone()));
    })
    .await
}
