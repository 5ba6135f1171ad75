//! Volumes of the local driver.

use serde_json::{Value, json};

use super::{
    answer::{Reply, empty, json_of, refusal},
    call::Call,
    state::{State, fresh_id, now},
};

const FILTERS: [&str; 4] = ["dangling", "driver", "label", "name"];

#[derive(Clone, Debug)]
pub struct Volume {
    pub name: String,
    pub created: String,
    pub labels: Value,
    pub options: Value,
    pub sequence: u64,
}

/// Where its data would be.
pub fn mountpoint(name: &str) -> String {
    format!("/var/lib/docker/volumes/{name}/_data")
}

impl Volume {
    fn json(&self) -> Value {
        json!({
            "CreatedAt": self.created, "Driver": "local", "Labels": self.labels,
            "Mountpoint": mountpoint(&self.name), "Name": self.name, "Options": self.options,
            "Scope": "local",
        })
    }
}

impl State {
    /// A volume as a container needs it: made where there is none. The event comes either way.
    pub fn volume_for(&mut self, name: &str) {
        self.make_volume(name, Value::Null, Value::Null);
    }

    fn make_volume(&mut self, name: &str, labels: Value, options: Value) {
        if !self.volumes.contains_key(name) {
            let created = now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            let sequence = self.next();
            let name = name.to_owned();
            let volume = Volume { name: name.clone(), created, labels, options, sequence };
            self.volumes.insert(name, volume);
        }
        self.tell_of("volume", "create", name, &[("driver", "local")]);
    }

    pub fn create_volume(&mut self, call: &Call) -> Reply {
        let body = call.json()?;
        let given = body["Name"].as_str().unwrap_or_default();
        let name = if given.is_empty() { fresh_id() } else { given.to_owned() };
        let driver = body["Driver"].as_str().filter(|d| !d.is_empty()).unwrap_or("local");
        if driver != "local" {
            let message = format!(
                "create {name}: error looking up volume plugin {driver}: plugin \"{driver}\" not found"
            );
            return Err(refusal(404, message));
        }
        if name.len() < 2 {
            let message = format!(
                "create {name}: volume name is too short, names should be at least two \
                 alphanumeric characters"
            );
            return Err(refusal(400, message));
        }
        let first = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !first || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)) {
            let message = format!(
                "create {name}: \"{name}\" includes invalid characters for a local volume name, \
                 only \"[a-zA-Z0-9][a-zA-Z0-9_.-]\" are allowed. If you intended to pass a host \
                 directory, use absolute path"
            );
            return Err(refusal(400, message));
        }
        let options = body["DriverOpts"].as_object().cloned().unwrap_or_default();
        if let Some(wrong) =
            options.keys().find(|k| !["type", "o", "device", "size"].contains(&k.as_str()))
        {
            return Err(refusal(400, format!("create {name}: invalid option: {wrong:?}")));
        }
        let options = if options.is_empty() { Value::Null } else { options.into() };
        self.make_volume(&name, body["Labels"].clone(), options);
        Ok(json_of(201, self.volumes[&name].json()))
    }

    pub fn volume(&self, name: &str) -> Reply {
        match self.volumes.get(name) {
            Some(volume) => Ok(json_of(200, volume.json())),
            None => Err(refusal(404, format!("get {name}: no such volume"))),
        }
    }

    /// Full ids of the containers that have it mounted, in whatever state.
    fn users_of_volume(&self, name: &str) -> Vec<&str> {
        let uses = |c: &&super::container::Container| {
            c.mounts.iter().any(|mount| mount.kind == "volume" && mount.source == name)
        };
        self.containers.values().filter(uses).map(|c| c.id.as_str()).collect()
    }

    pub fn list_volumes(&self, call: &Call) -> Reply {
        let filters = call.filters(&FILTERS)?;
        let dangling = |volume: &Volume| self.users_of_volume(&volume.name).is_empty();
        let mut chosen: Vec<_> = self
            .volumes
            .values()
            .filter(|v| filters.labels(&v.labels))
            .filter(|v| filters.any("name", |name| v.name.contains(name)))
            .filter(|_| filters.any("driver", |driver| driver == "local"))
            .filter(|v| {
                filters.any("dangling", |wanted| dangling(v) == ["true", "1"].contains(&wanted))
            })
            .collect();
        chosen.sort_by_key(|volume| volume.sequence);
        let volumes: Vec<_> = chosen.into_iter().map(Volume::json).collect();
        Ok(json_of(200, json!({ "Volumes": volumes, "Warnings": null })))
    }

    pub fn remove_volume(&mut self, name: &str, call: &Call) -> Reply {
        let force = call.flag("force");
        if !self.volumes.contains_key(name) {
            return if force { Ok(empty(204)) } else { self.volume(name) };
        }
        let users = self.users_of_volume(name);
        if !users.is_empty() {
            let users = users.join(", ");
            return Err(refusal(409, format!("remove {name}: volume is in use - [{users}]")));
        }
        self.volumes.remove(name);
        self.tell_of("volume", "destroy", name, &[("driver", "local")]);
        Ok(empty(204))
    }
}
