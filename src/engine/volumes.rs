use bollard::query_parameters::RemoveVolumeOptionsBuilder;

use super::call::{Call, found};
use super::verbs::verb;
use super::{Engine, EngineError};
use crate::docker::{Volume, VolumeCreate, VolumeList};

impl Engine {
    /// The volume of a name; none if there is none.
    pub async fn volume(&self, name: &str) -> Result<Option<Volume>, EngineError> {
        if name.is_empty() {
            return Ok(None);
        }
        let call = Call::get("inspect volume", format!("/volumes/{name}"));
        found(self.answer(call).await)?.map(|answer| answer.thing()).transpose()
    }

    /// All volumes that bear all the labels, each `key` or `key=value`.
    pub async fn volumes(&self, labels: &[String]) -> Result<Vec<Volume>, EngineError> {
        let call = Call::get("list volumes", "/volumes").labelled(labels);
        let list: VolumeList = self.answer(call).await?.read()?;
        Ok(list.volumes)
    }

    /// Makes a volume; one of the name and driver that exists is given as it is.
    pub async fn create_volume(&self, create: &VolumeCreate) -> Result<Volume, EngineError> {
        let call = Call::post("create volume", "/volumes/create").body(create)?;
        call.answer(&self.wire, self.deadlines.create).await?.thing()
    }

    /// Removes a volume with its data; success also if it is gone. 409: a container uses it.
    pub async fn remove_volume(&self, name: &str) -> Result<(), EngineError> {
        let options = RemoveVolumeOptionsBuilder::new().build();
        let removed = verb(&self.wire, "remove volume", self.deadlines.remove, async |docker| {
            docker.remove_volume(name, Some(options)).await
        });
        match removed.await {
            Err(error) if error.is_not_found() => Ok(()),
            done => done,
        }
    }
}
