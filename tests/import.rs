//! `kibotos import`: what people run in Docker becomes Workspaces, and these mean the same again.

mod bad;
pub mod cases;
mod compose;
mod corpus;
mod create;
mod device;
mod environment;
mod inspect;
mod modelled;
mod random;
pub mod same;
mod server;
mod services;
mod words;

use std::collections::BTreeMap;

use kibotos::agent::container::{Create, Intent, create_body};
use kibotos::api::Workspace;
use kibotos::api::field_error::FieldError;
use kibotos::api::grammar::{ImageReference, Signal};
use kibotos::api::reference::WorkspaceRef;
use kibotos::controller::workspace::resolve::{Input, Sources, resolve};
use kibotos::docker::ApiVersion;
use kibotos::import::{Imported, Kind, Request, import};
use serde_json::{Value, json};

/// A source that needs no files beside it.
pub fn request(kind: Kind, text: &str) -> Request<'_> {
    Request {
        kind,
        text,
        name: None,
        namespace: None,
        image_config: None,
        env_file: None,
        directory: "/srv/stack",
        read: &|path| Err(format!("{path} does not exist")),
    }
}

/// The import of a create body, of a name.
pub fn of_body(body: &Value) -> Imported {
    let text = body.to_string();
    import(&Request { name: Some("app"), ..request(Kind::Create, &text) }).unwrap()
}

/// What the host's engine is sent for a Workspace.
pub fn rendered(workspace: &Workspace, engine: ApiVersion) -> Result<Create, Vec<FieldError>> {
    let reference = WorkspaceRef {
        namespace: "default".to_owned(),
        name: workspace.metadata.name.clone().unwrap(),
        uid: "3f2b8c1e".to_owned(),
    };
    let resolved = resolve(&Input {
        workspace: &reference,
        spec: &workspace.spec,
        template: None,
        volume: None,
        sources: &Sources::default(),
        secret_name: "run",
        sequence: 1,
        generation: 1,
    })
    .unwrap();
    let intent = Intent {
        run: &resolved.run,
        secret: &BTreeMap::new(),
        host_uid: "host",
        root: "/var/lib/kibotos",
        engine,
    };
    create_body(&intent)
}

/// A body as a Workspace's user sees it: without what we add, and without the flag that the agent
/// stands in for. Networks that are joined later belong to it.
pub fn seen(create: &Create) -> Value {
    let mut body = serde_json::to_value(&create.body).unwrap();
    for (name, endpoint) in &create.connect {
        body["NetworkingConfig"]["EndpointsConfig"][name] = json!(endpoint);
    }
    body["Labels"].as_object_mut().unwrap().retain(|key, _| !key.starts_with("kibotos.dev/"));
    body["Env"].as_array_mut().unwrap().remove(0);
    body
}

/// The canonical form of a body, with what more an engine takes for the same: no tag is `:latest`,
/// `RTMIN+3` is `SIGRTMIN+3`, a size with a unit is so many bytes.
pub fn meaning(body: &Value) -> Value {
    let mut body = same::normalise(body);
    if let Some(Ok(image)) = body["Image"].as_str().map(str::parse::<ImageReference>) {
        body["Image"] = image.canonical().into();
    }
    if let Some(Ok(signal)) =
        body.get("StopSignal").and_then(Value::as_str).map(str::parse::<Signal>)
    {
        body["StopSignal"] = signal.canonical().into();
    }
    if let Some(size) = body.pointer_mut("/HostConfig/StorageOpt/size")
        && let Some(gigabytes) = size.as_str().and_then(|text| text.strip_suffix('G'))
    {
        *size = (gigabytes.parse::<i64>().unwrap() << 30).to_string().into();
    }
    body
}

/// What differs between a body and what becomes of it, by meaning.
pub fn lost(body: &Value, imported: &Imported, engine: ApiVersion) -> Vec<String> {
    let mut body = body.clone();
    if let Some(host) = body.get_mut("HostConfig").and_then(Value::as_object_mut) {
        host.remove("AutoRemove");
    }
    let [workspace] = imported.workspaces.as_slice() else {
        panic!("{:?}", imported.errors);
    };
    match rendered(workspace, engine) {
        Ok(create) => same::differences(&meaning(&body), &meaning(&seen(&create))),
        Err(faults) => {
            faults.iter().map(|fault| format!("refused for the engine: {fault}")).collect()
        }
    }
}

/// Warnings as a user reads them.
pub fn warned(imported: &Imported) -> Vec<String> {
    imported.warnings.iter().map(ToString::to_string).collect()
}
