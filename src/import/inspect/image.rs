//! What an image sets by itself, taken off what its container shows.

use serde_json::{Map, Value};

use crate::import::{Unreadable, json};

type Members = Map<String, Value>;

/// The images that `docker image inspect` printed.
#[derive(Debug)]
pub struct Images(Vec<Value>);

impl Images {
    /// Reads what `docker image inspect` printed.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let images = match json::parse("--image-config", text)? {
            Value::Array(list) => list,
            one => vec![one],
        };
        match images.iter().position(|image| !image["Config"].is_object()) {
            None => Ok(Self(images)),
            Some(i) => Err(Unreadable(format!(
                "--image-config: [{i}] has no Config: give the output of docker image inspect"
            ))),
        }
    }

    /// The configuration of the image with this id, or else under this name.
    pub fn of(&self, id: &str, reference: &str) -> Option<&Members> {
        let tagged = |image: &Value| {
            let tags =
                image["RepoTags"].as_array().into_iter().chain(image["RepoDigests"].as_array());
            let latest = format!("{reference}:latest");
            tags.flatten().any(|tag| tag == reference || *tag == latest)
        };
        let by_id = self.0.iter().find(|image| !id.is_empty() && image["Id"] == id);
        by_id.or_else(|| self.0.iter().find(|image| tagged(image)))?["Config"].as_object()
    }
}

/// Takes the image's own values off a container's configuration.
pub fn subtract(image: &Members, config: &mut Members, host: &Members) {
    command(image, config);
    let own_shell = config.get("Shell") != image.get("Shell");
    for key in ["User", "WorkingDir", "StopSignal", "Shell"] {
        if config.get(key) == image.get(key) {
            config.remove(key);
        }
    }
    if let (Some(Value::Array(env)), Some(Value::Array(own))) =
        (config.get_mut("Env"), image.get("Env"))
    {
        env.retain(|entry| !own.contains(entry));
    }
    for key in ["Labels", "Volumes", "Healthcheck"] {
        if let (Some(Value::Object(map)), Some(Value::Object(own))) =
            (config.get_mut(key), image.get(key))
        {
            // Another shell makes another check of the image's own line.
            let kept = |name: &str| own_shell && key == "Healthcheck" && name == "Test";
            map.retain(|name, value| kept(name) || own.get(name) != Some(value));
        }
    }
    let bindings = host.get("PortBindings").and_then(Value::as_object);
    let bound = |port: &String| bindings.is_some_and(|bindings| bindings.contains_key(port));
    if let (Some(Value::Object(ports)), Some(Value::Object(own))) =
        (config.get_mut("ExposedPorts"), image.get("ExposedPorts"))
    {
        ports.retain(|port, _| bound(port) || !own.contains_key(port));
    }
}

/// A set entrypoint drops the image's command: so an entrypoint that is the image's own was set if
/// the command that goes with it is gone.
fn command(image: &Members, config: &mut Members) {
    let empty = |map: &Members, key: &str| {
        map.get(key).is_none_or(|value| value.is_null() || value == &Value::Array(Vec::new()))
    };
    let same = |config: &Members, key: &str| {
        config.get(key) == image.get(key) || (empty(config, key) && empty(image, key))
    };
    let was_set = same(config, "Entrypoint") && empty(config, "Cmd") && !empty(image, "Cmd");
    if !same(config, "Entrypoint") || was_set {
        return;
    }
    config.remove("Entrypoint");
    if same(config, "Cmd") {
        config.remove("Cmd");
    }
}
