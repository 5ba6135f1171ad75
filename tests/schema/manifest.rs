//! Changing a manifest by path: `spec.container.devices[].pathOnHost`.

use serde_json::{Map, Value, json};

use super::kind::Kind;

/// Sets `path` in a manifest of `kind`; a null removes it. A parent that is missing is made, from
/// [`seed`] where it needs more than the field to be valid; `[]` is a list's first item.
pub fn set(kind: Kind, manifest: &mut Value, path: &str, value: Value) {
    let mut node = manifest;
    let mut walked = String::new();
    let steps = steps(path);
    for (i, step) in steps.iter().enumerate() {
        let last = i + 1 == steps.len();
        if step == "[]" {
            walked.push_str("[]");
            if !node.is_array() {
                *node = json!([]);
            }
            let items = node.as_array_mut().unwrap();
            if items.is_empty() {
                items.push(seed(kind, &walked));
            }
            node = &mut items[0];
        } else {
            if !walked.is_empty() {
                walked.push('.');
            }
            walked.push_str(step);
            if !node.is_object() {
                *node = json!({});
            }
            let object = node.as_object_mut().unwrap();
            if last && value.is_null() {
                object.remove(step.as_str());
                return;
            }
            let missing = !object.contains_key(step.as_str());
            let entry = object.entry(step.clone()).or_insert(Value::Null);
            if missing && steps.get(i + 1).is_some_and(|next| next != "[]") {
                *entry = seed(kind, &walked);
            }
            node = entry;
        }
    }
    *node = value;
}

/// The value at `path`, where it is set.
pub fn get<'a>(manifest: &'a Value, path: &str) -> Option<&'a Value> {
    steps(path).iter().try_fold(manifest, |node, step| match step.as_str() {
        "[]" => node.get(0),
        name => node.get(name),
    })
}

/// The steps of a path. The one name with a dot in it is `kibotos.dev/pids`.
fn steps(path: &str) -> Vec<String> {
    let mut steps = Vec::new();
    for part in path.replace("kibotos.dev/pids", "kibotos\0dev/pids").split('.') {
        let name = part.trim_end_matches("[]");
        steps.push(name.replace('\0', "."));
        steps.extend(std::iter::repeat_n("[]".to_owned(), (part.len() - name.len()) / 2));
    }
    steps
}

/// What an object at `path` needs to be valid besides the field that is being set.
pub fn seed(kind: Kind, path: &str) -> Value {
    let key = json!({ "name": "source", "key": "key" });
    let workspace = kind == Kind::Workspace;
    match path {
        "spec.configFile" if workspace => json!({ "content": "a = 1\n" }),
        "spec.configFile" => json!({
            "secretName": "config", "key": "content", "path": "/etc/app.conf", "sha256": "0".repeat(64),
        }),
        "spec.configFile.configMapKeyRef"
        | "spec.configFile.secretKeyRef"
        | "spec.container.env[].valueFrom.secretKeyRef"
        | "spec.container.env[].valueFrom.configMapKeyRef" => key,
        "spec.lifetime" => json!({ "ttl": "1h" }),
        "spec.template" => json!({ "name": "base" }),
        "spec.prefetch" => json!({ "image": "app:2" }),
        "spec.previous" => json!({ "containerId": "0123" }),
        "spec.mounts[]" => json!({
            "volume": { "name": "data", "uid": "u-1" }, "driver": "local", "path": "/data",
        }),
        "spec.imagePullSecrets[]" => json!({ "name": "login" }),
        "spec.template.name" => json!("base"),
        "spec.volume" if kind == Kind::WorkspaceRecord => {
            json!({ "name": "data", "uid": "u-1", "kept": true })
        }
        "spec.image" => json!({ "name": "app:1" }),
        "spec.restartPolicy" | "spec.container.restartPolicy" => json!({ "name": "on-failure" }),
        "spec.container.env[]" => json!({ "name": "A" }),
        "spec.container.env[].valueFrom" => json!({}),
        "spec.container.envFrom[].secretRef" | "spec.container.envFrom[].configMapRef" => {
            json!({ "name": "source" })
        }
        "spec.container.ports[]" => json!({ "containerPort": 80 }),
        "spec.container.networks[]" => json!({ "name": "front" }),
        "spec.container.mounts[]" => json!({ "type": "volume", "target": "/mnt" }),
        "spec.container.ulimits[]" => json!({ "name": "nofile", "soft": 1024, "hard": 2048 }),
        "spec.container.devices[]" => {
            json!({ "pathOnHost": "/dev/fuse", "pathInContainer": "/dev/fuse" })
        }
        "spec.container.blkio.weightDevice[]" => json!({ "path": "/dev/sda", "weight": 500 }),
        "spec.container.blkio.deviceReadBps[]"
        | "spec.container.blkio.deviceWriteBps[]"
        | "spec.container.blkio.deviceReadIOps[]"
        | "spec.container.blkio.deviceWriteIOps[]" => json!({ "path": "/dev/sda", "rate": 1000 }),
        "status.conditions[]" => json!({
            "type": "Ready", "status": "True", "reason": "AsDeclared", "message": "",
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        }),
        "status.ports[]" => json!({
            "containerPort": 80, "protocol": "TCP", "hostIP": "0.0.0.0", "hostPort": 8080,
        }),
        "status.steps[]" => {
            json!({ "name": "Pull", "outcome": "Started", "at": "2026-01-02T03:04:05Z" })
        }
        _ => Value::Object(Map::new()),
    }
}
