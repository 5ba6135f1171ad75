//! Volumes on the engine: made before a container uses them, removed only by a task.

use kube::ResourceExt;

use super::fault::{Fault, of_container};
use crate::api::names::{LOCAL_POOL, engine_volume, label};
use crate::api::workspace_run::RunMount;
use crate::api::{Reason, VolumeTask};
use crate::docker::{ListItem, Volume, VolumeCreate};
use crate::engine::{Engine, EngineError};

/// Makes the volume of a mount if it is not there. One of that name that is not ours, or is
/// another Volume's, is never used.
pub async fn ensure(engine: &Engine, mount: &RunMount, host_uid: &str) -> Result<(), Fault> {
    let uid = &mount.volume.uid;
    let name = engine_volume(uid);
    let found = engine.volume(&name).await.map_err(|error| of_container(&error))?;
    if let Some(found) = found {
        return if is_of(&found, uid) {
            Ok(())
        } else {
            let message =
                format!("the volume {name} on the host is not the agent's: remove or rename it");
            Err(Fault::new(Reason::NameConflict, message))
        };
    }
    let wanted = VolumeCreate {
        name,
        driver: driver(&mount.driver).to_owned(),
        driver_opts: mount.driver_options.clone().unwrap_or_default(),
        labels: [
            (label::VOLUME_UID.to_owned(), uid.clone()),
            (label::HOST_UID.to_owned(), host_uid.to_owned()),
        ]
        .into(),
    };
    match engine.create_volume(&wanted).await {
        Ok(_) => Ok(()),
        Err(EngineError::Refused { message, .. }) => {
            let text = format!("the volume driver {} refuses: {message}", wanted.driver);
            Err(Fault::new(Reason::VolumeDriverFailed, text))
        }
        Err(error) => Err(of_container(&error)),
    }
}

/// Whether a volume on the engine holds the data of the Volume with this uid.
pub fn is_of(volume: &Volume, uid: &str) -> bool {
    volume.labels.get(label::VOLUME_UID).is_some_and(|of| of == uid)
}

fn driver(pool: &str) -> &str {
    if pool.is_empty() { LOCAL_POOL } else { pool }
}

/// What stands in the way of removing a volume's data: containers that mount it, running or not.
/// The engine's own 409 is not enough, for it forgets users over restarts.
pub fn users<'a>(name: &str, containers: &'a [ListItem]) -> Vec<&'a str> {
    let uses = |item: &&ListItem| item.mounts.iter().any(|m| m.type_ == "volume" && m.name == name);
    containers.iter().filter(uses).map(|item| item.name().unwrap_or(&item.id)).collect()
}

/// How a task went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// The data is gone.
    Gone,
    /// It is not yet, and why.
    NotYet(Reason, String),
}

/// Removes a Volume's data. `mounted_by` are the names of runs on this host that mount it.
pub async fn remove(
    engine: &Engine,
    task: &VolumeTask,
    mounted_by: &[String],
) -> Result<Done, EngineError> {
    let name = engine_volume(&task.spec.volume.uid);
    if !mounted_by.is_empty() {
        let message = format!("runs on this host still mount it: {}", mounted_by.join(", "));
        return Ok(Done::NotYet(Reason::VolumeInUse, message));
    }
    let Some(found) = engine.volume(&name).await? else { return Ok(Done::Gone) };
    if !is_of(&found, &task.spec.volume.uid) {
        let message = format!(
            "the volume {name} on the host is not the agent's: {} leaves it",
            task.name_any()
        );
        return Ok(Done::NotYet(Reason::NameConflict, message));
    }
    let containers = engine.list(&[]).await?;
    let users = users(&name, &containers);
    if !users.is_empty() {
        let message = format!("containers on this host use it: {}", users.join(", "));
        return Ok(Done::NotYet(Reason::VolumeInUse, message));
    }
    match engine.remove_volume(&name).await {
        Ok(()) => Ok(Done::Gone),
        Err(EngineError::Refused { message, status, .. }) => {
            let reason =
                if status == 409 { Reason::VolumeInUse } else { Reason::VolumeDriverFailed };
            Ok(Done::NotYet(reason, message))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whoever_mounts_a_volume_uses_it_whether_it_runs_or_not_and_whatever_the_engine_counts() {
        let listed: Vec<ListItem> = serde_json::from_value(json!([
            { "Id": "1", "Names": ["/runs"], "State": "running",
              "Mounts": [{ "Type": "volume", "Name": "kibotos-a", "Destination": "/data" }] },
            { "Id": "2", "Names": ["/exited"], "State": "exited",
              "Mounts": [{ "Type": "volume", "Name": "kibotos-a", "Destination": "/data" }] },
            { "Id": "3", "Names": ["/bind"], "State": "running",
              "Mounts": [{ "Type": "bind", "Source": "/kibotos-a", "Destination": "/data" }] },
            { "Id": "4", "Names": ["/other"], "State": "running",
              "Mounts": [{ "Type": "volume", "Name": "kibotos-ab", "Destination": "/data" }] },
        ]))
        .unwrap();
        assert_eq!(users("kibotos-a", &listed), ["runs", "exited"]);
    }
}
