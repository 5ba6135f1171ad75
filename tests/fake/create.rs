//! `POST /containers/create`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    answer::{Answer, Reply, json_of, refusal},
    call::Call,
    container::{Container, Endpoint, Mounted, Status},
    normalise::{cleaned, is_blank, normalised},
    process::Process,
    state::{State, fresh_id, now},
    validate,
};

impl State {
    pub fn create(&mut self, call: &Call) -> Reply {
        let body = call.json()?;
        if body.as_object().is_some_and(serde_json::Map::is_empty) {
            return Err(refusal(400, "Config cannot be empty in order to create a container"));
        }
        validate::body(self, body)?;
        self.endpoint_count(body, self.api_of(call))?;
        let (image_id, image) = self.image_to_create(body, call.parameter("platform"))?;
        let id = fresh_id();
        let (config, host) = normalised(self, body, &image, &id);
        if !is_blank(&body["Image"]) && is_blank(&config["Cmd"]) && is_blank(&config["Entrypoint"])
        {
            return Err(refusal(400, "No command specified"));
        }
        let given = call.parameter("name");
        let name = if given.is_empty() { format!("fake_{}", &id[..8]) } else { given.to_owned() };
        validate::name(&name)?;
        let name = name.trim_start_matches('/').to_owned();
        self.name_is_free(&name)?;
        let mounts = mounts(&config, &host)?;
        let container = self.container(&id, name, image_id, config, host, mounts, body);
        self.names.insert(container.name.clone(), id.clone());
        for mount in container.mounts.iter().filter(|mount| mount.kind == "volume") {
            self.volume_for(&mount.source);
        }
        self.tell(&container, "create", &[]);
        self.containers.insert(id.clone(), container);
        let warnings = self.options.create_warnings.clone();
        Ok(json_of(201, json!({ "Id": id, "Warnings": warnings })))
    }

    pub fn name_is_free(&self, name: &str) -> Result<(), Answer> {
        let Some(holder) = self.names.get(name) else {
            return Ok(());
        };
        let message = format!(
            "Conflict. The container name \"/{name}\" is already in use by container \"{holder}\". \
             You have to remove (or rename) that container to be able to reuse that name."
        );
        Err(refusal(409, message))
    }

    fn endpoint_count(&self, body: &Value, api: (u16, u16)) -> Result<(), Answer> {
        let endpoints = body["NetworkingConfig"]["EndpointsConfig"].as_object();
        let Some(endpoints) = endpoints.filter(|map| map.len() > 1 && api < (1, 44)) else {
            return Ok(());
        };
        let names = endpoints.keys().cloned().collect::<Vec<_>>().join(", ");
        Err(refusal(
            400,
            if self.since(44) {
                format!("Container cannot be created with multiple network endpoints: {names}")
            } else {
                format!("Container cannot be connected to network endpoints: {names}")
            },
        ))
    }

    /// The id and the settings of the image; an empty name is none, and fails at start.
    fn image_to_create(&self, body: &Value, platform: &str) -> Result<(String, Value), Answer> {
        let reference = body["Image"].as_str().unwrap_or_default();
        if reference.is_empty() {
            return Ok((String::new(), Value::Null));
        }
        let image = self.image_named(reference)?;
        if !platform.is_empty() {
            let parts: Vec<_> = platform.split('/').collect();
            if parts.len() > 3 {
                let message =
                    format!("{platform:?}: cannot parse platform specifier: invalid argument");
                return Err(refusal(400, message));
            }
            let actual = format!("{}/{}", image.os, image.architecture);
            if parts[0] != image.os || parts.get(1).is_some_and(|a| *a != image.architecture) {
                let message = format!(
                    "image with reference {reference} was found but does not match the specified \
                     platform: wanted {platform}, actual: {actual}"
                );
                return Err(refusal(404, message));
            }
        }
        Ok((image.id.clone(), image.config.clone()))
    }

    #[allow(clippy::too_many_arguments, reason = "all that makes up a container")]
    fn container(
        &mut self,
        id: &str,
        name: String,
        image_id: String,
        config: Value,
        host: Value,
        mounts: Vec<Mounted>,
        body: &Value,
    ) -> Container {
        let reference = config["Image"].as_str().unwrap_or_default();
        let process = self.processes.get(reference).cloned();
        let mut container = Container {
            endpoints: endpoints(&host, &body["NetworkingConfig"]["EndpointsConfig"]),
            process: Process::default(),
            id: id.to_owned(),
            name,
            sequence: self.next(),
            created: now(),
            image_id,
            config,
            host,
            mounts,
            ports: std::collections::BTreeMap::new(),
            status: Status::Created,
            exit_code: 0,
            error: String::new(),
            oom_killed: false,
            started: None,
            finished: None,
            health: None,
            pid: 0,
            restart_count: 0,
            in_a_row: 0,
            manually_stopped: false,
            policy_off: false,
            run: 0,
            listed: None,
        };
        container.process = process.unwrap_or_else(|| Process::of(&container.command()));
        container
    }
}

/// The network of the mode, unless the endpoints name others.
fn endpoints(host: &Value, given: &Value) -> Vec<Endpoint> {
    let mode = host["NetworkMode"].as_str().unwrap_or_default();
    if mode.starts_with("container:") {
        return Vec::new();
    }
    let mode = if mode == "default" { "bridge" } else { mode };
    let given = given.as_object().cloned().unwrap_or_default();
    if given.is_empty() {
        return vec![Endpoint { network: mode.to_owned(), ..Endpoint::default() }];
    }
    given.iter().map(|(network, settings)| endpoint(network, settings)).collect()
}

pub fn endpoint(network: &str, settings: &Value) -> Endpoint {
    let aliases = settings["Aliases"].as_array().into_iter().flatten();
    Endpoint {
        network: network.to_owned(),
        aliases: aliases.filter_map(|alias| alias.as_str().map(str::to_owned)).collect(),
        settings: settings.clone(),
        ..Endpoint::default()
    }
}

/// What is mounted: `Binds`, `Mounts`, and `Volumes` where neither is.
fn mounts(config: &Value, host: &Value) -> Result<Vec<Mounted>, Answer> {
    let mut all = Vec::new();
    let mut taken = BTreeSet::new();
    for bind in host["Binds"].as_array().into_iter().flatten() {
        all.push(bind_mount(bind.as_str().unwrap_or_default())?);
    }
    for mount in host["Mounts"].as_array().into_iter().flatten() {
        validate::mount(mount)?;
        all.push(declared(mount));
    }
    for mount in &all {
        if !taken.insert(mount.destination.clone()) {
            let message = format!("Duplicate mount point: {}", mount.destination);
            return Err(refusal(400, message));
        }
    }
    let tmpfs = host["Tmpfs"].as_object();
    taken.extend(tmpfs.into_iter().flat_map(|map| map.keys().map(|path| cleaned(path))));
    for path in config["Volumes"].as_object().into_iter().flat_map(serde_json::Map::keys) {
        if taken.insert(cleaned(path)) {
            all.push(Mounted { destination: cleaned(path), ..anonymous() });
        }
    }
    Ok(all)
}

fn anonymous() -> Mounted {
    Mounted {
        kind: "volume",
        source: fresh_id(),
        destination: String::new(),
        mode: String::new(),
        writable: true,
        anonymous: true,
    }
}

fn declared(mount: &Value) -> Mounted {
    let text = |key: &str| mount[key].as_str().unwrap_or_default();
    let (kind, mode) = match text("Type") {
        "bind" => ("bind", ""),
        "tmpfs" => ("tmpfs", ""),
        _ => ("volume", "z"),
    };
    let nameless = kind == "volume" && text("Source").is_empty();
    let source = match kind {
        "bind" => cleaned(text("Source")),
        _ if nameless => fresh_id(),
        _ => text("Source").to_owned(),
    };
    Mounted {
        kind,
        source,
        destination: cleaned(text("Target")),
        mode: mode.to_owned(),
        writable: mount["ReadOnly"] != true,
        anonymous: nameless,
    }
}

/// `source:destination[:mode]`, or a destination alone.
fn bind_mount(text: &str) -> Result<Mounted, Answer> {
    let parts: Vec<_> = text.split(':').collect();
    let invalid = |why: &str| Err(refusal(500, why));
    let (source, destination, mode) = match parts[..] {
        [destination] => ("", destination, ""),
        [source, destination] => (source, destination, ""),
        [source, destination, mode] => (source, destination, mode),
        _ => return invalid(&format!("invalid volume specification: '{text}'")),
    };
    let known = [
        "ro",
        "rw",
        "z",
        "Z",
        "nocopy",
        "rprivate",
        "private",
        "rshared",
        "shared",
        "rslave",
        "slave",
        "cached",
        "delegated",
        "consistent",
    ];
    if mode.split(',').any(|word| !word.is_empty() && !known.contains(&word)) {
        return invalid(&format!("invalid mode: {mode}"));
    }
    let kind = if source.starts_with('/') { "bind" } else { "volume" };
    if cleaned(destination) == "/" {
        return invalid(&format!(
            "invalid volume specification: '{text}': invalid mount config for type \"{kind}\": \
             invalid specification: destination can't be '/'"
        ));
    }
    if !destination.starts_with('/') {
        return invalid(&format!(
            "invalid volume specification: '{text}': invalid mount config for type \"{kind}\": \
             invalid mount path: '{destination}' mount path must be absolute"
        ));
    }
    let nameless = source.is_empty();
    Ok(Mounted {
        kind,
        source: match kind {
            "bind" => cleaned(source),
            _ if nameless => fresh_id(),
            _ => source.to_owned(),
        },
        destination: cleaned(destination),
        mode: if kind == "volume" && mode.is_empty() && !nameless { "z" } else { mode }.to_owned(),
        writable: !mode.split(',').any(|word| word == "ro"),
        anonymous: nameless,
    })
}
