//! The policy against create bodies.

mod hostile;
mod property;
mod table;

use serde_json::{Value, json};

use super::{Allowances, Context, Governing, HostPath, HostPolicy, check};
use crate::agent::container::Create;
use crate::api::WorkspaceRunSpec;
use crate::api::field_error::FieldError;

/// A run with a config file, a Volume, and this container.
fn run(container: &Value) -> WorkspaceRunSpec {
    serde_json::from_value(json!({
        "workspace": {"namespace": "dev", "name": "web", "uid": "3f2b8c1e-9a77"},
        "sequence": 1,
        "generation": 1,
        "desired": "Running",
        "container": container,
        "mounts": [{"volume": {"name": "v", "uid": "0d1e"}, "driver": "local", "path": "/data"}],
        "configFile": {
            "secretName": "s", "key": "k", "sha256": "0".repeat(64), "path": "/etc/service.conf",
        },
        "specHash": "v1-0",
    }))
    .unwrap()
}

/// A create body with this host part, beside what is the run's own.
fn create(host: &Value) -> Create {
    let own_bind = json!("/var/lib/kibotos/dev_web_3f2b8c1e/service.conf:/etc/service.conf");
    let own_mount = json!({"Type": "volume", "Source": "kibotos-0d1e", "Target": "/data"});
    let mut host = host.clone();
    for (list, own) in [("Binds", own_bind), ("Mounts", own_mount)] {
        let mut whole = vec![own];
        whole.extend(host[list].as_array().into_iter().flatten().cloned());
        host[list] = Value::Array(whole);
    }
    let networking = host.as_object_mut().unwrap().remove("NetworkingConfig").unwrap_or(json!({}));
    let body = json!({
        "Image": "nginx:latest", "Env": [], "Labels": {}, "Volumes": {"/cache": {}}, "User": "",
        "WorkingDir": "", "Hostname": "", "ExposedPorts": {}, "Healthcheck": {},
        "NetworkingConfig": networking, "HostConfig": host,
    });
    Create {
        name: "dev_web".to_owned(),
        platform: None,
        body: with_defaults(body),
        connect: Vec::new(),
    }
}

/// A body from JSON in which flags that are false are left out, as they are when it is sent.
fn with_defaults(mut body: Value) -> crate::docker::CreateBody {
    for flag in ["Tty", "OpenStdin", "StdinOnce"] {
        body[flag] = json!(false);
    }
    for flag in ["PublishAllPorts", "Privileged", "ReadonlyRootfs"] {
        let host = &mut body["HostConfig"];
        host[flag] = json!(host[flag] == json!(true));
    }
    serde_json::from_value(body).unwrap()
}

fn allowances(yaml: &str) -> Allowances {
    serde_saphyr::from_str(yaml).unwrap()
}

fn judge(host: &Value, allowed: &Allowances) -> Vec<FieldError> {
    let policy = HostPolicy { default: allowed.clone(), ..HostPolicy::default() };
    judge_by(&create(host), &run(&json!({})), &policy.governing("dev"))
}

fn judge_by(create: &Create, run: &WorkspaceRunSpec, governing: &Governing<'_>) -> Vec<FieldError> {
    let sockets: [HostPath; 1] = ["/srv/engine/docker.sock".parse().unwrap()];
    let context = Context { run, root: "/var/lib/kibotos/", sockets: &sockets };
    check(create, &context, governing)
}

fn paths(errors: &[FieldError]) -> Vec<&str> {
    errors.iter().map(|error| error.path.as_str()).collect()
}
