//! Looks at one Workspace on the host: the engine's word and the disk's, nothing remembered.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::container::{Create, own_directory};
use super::context::Context;
use super::directory::{self, DirectoryError, DirectoryState, Place};
use super::execute::BUILT_IN_NETWORKS;
use super::images::pull::is_for;
use super::intent::Assignment;
use super::lifecycle::{Ground, Hold, Image, Pull, Record, Seen, SeenContainer, Step, Wish};
use super::link::{self, Up};
use super::policy;
use super::sight::{self, Claim};
use super::status::Details;
use super::volumes;
use crate::api::grammar::ImageReference;
use crate::api::names;
use crate::api::workspace_run::DesiredState;
use crate::docker::{ImageInspect, Inspect};
use crate::engine::EngineError;

/// What a look is for.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// The host.
    pub context: &'a Context,
    /// The engine.
    pub up: &'a Up,
    /// Uids of the Host, now and before.
    pub hosts: &'a [String],
    /// What is assigned.
    pub assignment: &'a Arc<Assignment>,
    /// What is wished.
    pub wish: &'a Wish,
    /// What would be sent, or why nothing would.
    pub create: Result<&'a Create, &'a Hold>,
    /// What has become of the run.
    pub record: &'a Record,
    /// Whether the engine said that the name is taken.
    pub name_taken: bool,
}

/// What one burst of steps need not look at again: only its own steps change it meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The image, by reference.
    pub image: Option<(String, Image, Option<String>)>,
    /// The ground.
    pub ground: Option<Ground>,
    /// The digest of an image by its id. Never changes, so it is kept.
    pub digest: Option<(String, Option<String>)>,
}

impl Known {
    /// Forgets all that can change by itself.
    pub fn forget(&mut self) {
        (self.image, self.ground) = (None, None);
    }

    /// Forgets what a step may have changed, or, where it failed, what misled it.
    pub fn forget_by(&mut self, step: &Step) {
        match step {
            Step::Pull(_) => self.image = None,
            Step::Prepare | Step::WriteConfig { .. } | Step::Clear => self.ground = None,
            Step::Create | Step::Start { .. } => self.forget(),
            _ => {}
        }
    }
}

/// Why a look showed nothing.
#[derive(Debug)]
pub enum Blind {
    /// A call failed.
    Engine(EngineError),
    /// The engine is another instance than at the beginning, or the disk cannot be read.
    Other(String),
}

impl From<EngineError> for Blind {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl std::fmt::Display for Blind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl Look<'_> {
    /// One look.
    pub async fn look(&self, known: &mut Known) -> Result<(Seen, Details), Blind> {
        let found = self.container().await?;
        let mut container = found.as_ref().map(sight::container);
        if let (Some(container), Some(found)) = (&mut container, &found)
            && !container.is_alive()
        {
            container.stale_networks = self.stale_networks(found).await?;
        }
        let (image, image_id) = self.image(container.as_ref(), known).await?;
        let prefetch = self.prefetch().await?;
        let ground = self.ground(container.as_ref(), known).await?;
        let holder = match &container {
            None if self.name_taken => self.holder().await?,
            _ => None,
        };
        let details = match &found {
            Some(found) => sight::details(found, self.digest(found, known).await?),
            None => Details::default(),
        };
        let instance = link::instance(&self.context.socket).await.map_err(Blind::Other)?;
        if instance.0 != self.up.instance {
            // What was seen may be half of one instance and half of the next.
            return Err(Blind::Other("the engine started anew meanwhile".to_owned()));
        }
        let blocked = self.create.err().cloned();
        let began = self.up.began;
        Ok((Seen { container, holder, image, image_id, prefetch, ground, blocked, began }, details))
    }

    /// Ids that runs of this Workspace reported.
    fn ids(&self) -> Vec<String> {
        let run = &self.assignment.run;
        let reported = run.status.as_ref().and_then(|status| status.container_id.clone());
        let previous = run.spec.previous.as_ref().map(|previous| previous.container_id.clone());
        [self.record.container_id.clone(), reported, previous].into_iter().flatten().collect()
    }

    async fn container(&self) -> Result<Option<Inspect>, EngineError> {
        let (ids, workspace) = (self.ids(), &self.assignment.run.spec.workspace.uid);
        let claim = Claim { workspace, hosts: self.hosts, ids: &ids, name: &self.wish.name };
        let label = format!("{}={workspace}", names::label::WORKSPACE_UID);
        let listed = self.up.engine.list(&[label]).await?;
        match claim.choose(&listed) {
            // Gone meanwhile: as if it had not been listed.
            Some(item) => self.up.engine.inspect(&item.id).await,
            None => Ok(None),
        }
    }

    /// Networks of the container that were made again: it knows them by their ids of then.
    async fn stale_networks(&self, found: &Inspect) -> Result<BTreeSet<String>, EngineError> {
        let mut stale = BTreeSet::new();
        for (name, endpoint) in &found.network_settings.networks {
            // Podman gives the name in place of the id, which tells nothing.
            let untold = endpoint.network_id.is_empty() || endpoint.network_id == *name;
            if untold || BUILT_IN_NETWORKS.contains(&name.as_str()) {
                continue;
            }
            let now = self.up.engine.network(name).await?;
            if now.is_some_and(|now| now.id != endpoint.network_id) {
                stale.insert(name.clone());
            }
        }
        Ok(stale)
    }

    async fn holder(&self) -> Result<Option<String>, EngineError> {
        let found = self.up.engine.inspect(&self.wish.name).await?;
        // An engine finds by the beginning of an id too.
        let named = found.filter(|found| found.name() == self.wish.name);
        let (ids, workspace) = (self.ids(), &self.assignment.run.spec.workspace.uid);
        let claim = Claim { workspace, hosts: self.hosts, ids: &ids, name: &self.wish.name };
        Ok(named.filter(|found| !claim.is_ours(found)).map(|found| found.id))
    }

    async fn image(
        &self,
        container: Option<&SeenContainer>,
        known: &mut Known,
    ) -> Result<(Image, Option<String>), EngineError> {
        let needed = match container {
            _ if self.wish.desired != DesiredState::Running => false,
            None => true,
            Some(container) => {
                let counts = self.record.counts(self.wish, container);
                let unstarted = container.started_at.is_none() && !container.is_alive();
                unstarted
                    || container.spec_hash != self.wish.spec_hash
                    || (!counts && (self.wish.fresh_layer || self.wish.pull == Pull::Always))
            }
        };
        let Some(reference) = self.reference().filter(|_| needed) else {
            return Ok((Image::NotLooked, None));
        };
        if let Some((of, image, id)) = &known.image
            && *of == reference
        {
            return Ok((*image, id.clone()));
        }
        let platform = self.assignment.run.spec.container.platform.as_deref();
        let found = self.up.engine.image(&reference).await?;
        let found = found.filter(|image| fits(image, platform));
        let image = if found.is_some() { Image::Present } else { Image::Absent };
        let id = found.map(|image| image.id);
        known.image = Some((reference, image, id.clone()));
        Ok((image, id))
    }

    /// The run's image, as it is pulled and made from.
    pub fn reference(&self) -> Option<String> {
        self.assignment.run.spec.container.image.as_deref().map(canonical)
    }

    async fn prefetch(&self) -> Result<Option<Image>, EngineError> {
        let Some(prefetch) = &self.assignment.run.spec.prefetch else { return Ok(None) };
        let found = self.up.engine.image(&canonical(&prefetch.image)).await?;
        Ok(Some(if found.is_some() { Image::Present } else { Image::Absent }))
    }

    async fn ground(
        &self,
        container: Option<&SeenContainer>,
        known: &mut Known,
    ) -> Result<Ground, Blind> {
        if let Some(ground) = known.ground {
            return Ok(ground);
        }
        let alive = container.is_some_and(SeenContainer::is_alive);
        if self.wish.desired == DesiredState::Removed {
            // Whatever is left of it goes, also what was made but half.
            let root = self.context.root.as_str();
            let own = own_directory(&self.assignment.run.spec.workspace, root);
            let there = tokio::fs::symlink_metadata(own).await.is_ok();
            return Ok(if there { Ground::Missing } else { Ground::Bare });
        }
        let state = match self.directory().await? {
            Ok(state) => state,
            // What is wrong with it is told by the step that would make it.
            Err(_) => DirectoryState::Missing,
        };
        let ground = match state {
            DirectoryState::Missing => Ground::Bare,
            DirectoryState::ConfigMissing => Ground::Missing,
            DirectoryState::ConfigStale => Ground::ConfigStale,
            DirectoryState::Ready if alive => Ground::Ready,
            DirectoryState::Ready => self.volumes().await?,
        };
        known.ground = Some(ground);
        Ok(ground)
    }

    async fn directory(&self) -> Result<Result<DirectoryState, DirectoryError>, Blind> {
        let run = self.assignment.run.spec.clone();
        let root = self.context.root.as_str().to_owned();
        let sockets = self.context.sockets.clone();
        let policy = self.context.config.policy.clone();
        let config = run.config_file.as_ref().map(|config| config.sha256.clone());
        tokio::task::spawn_blocking(move || {
            let governing = policy.governing(&run.workspace.namespace);
            let context = policy::Context { run: &run, root: &root, sockets: &sockets };
            directory::look(&Place::of(&context, &governing)?, config.as_deref())
        })
        .await
        .map_err(|error| Blind::Other(error.to_string()))
    }

    /// Whether the volumes are there, and are those that are meant: one of their name that is not
    /// ours is for the step that would make them to refuse.
    async fn volumes(&self) -> Result<Ground, EngineError> {
        for mount in self.assignment.run.spec.mounts.iter().flatten() {
            let uid = &mount.volume.uid;
            let found = self.up.engine.volume(&names::engine_volume(uid)).await?;
            if !found.is_some_and(|found| volumes::is_of(&found, uid)) {
                return Ok(Ground::Missing);
            }
        }
        Ok(Ground::Ready)
    }

    async fn digest(
        &self,
        found: &Inspect,
        known: &mut Known,
    ) -> Result<Option<String>, EngineError> {
        if let Some((id, digest)) = &known.digest
            && *id == found.image
        {
            return Ok(digest.clone());
        }
        let Some(image) = self.up.engine.image(&found.image).await? else { return Ok(None) };
        let digest = sight::digest(&image.repo_digests, &found.config.image);
        known.digest = Some((found.image.clone(), digest.clone()));
        Ok(digest)
    }
}

/// As an engine is told: with a tag or a digest.
pub fn canonical(image: &str) -> String {
    image
        .parse::<ImageReference>()
        .map_or_else(|_| image.to_owned(), |reference| reference.canonical().into_owned())
}

/// Whether an image is for the platform that was asked for, if one was.
fn fits(image: &ImageInspect, platform: Option<&str>) -> bool {
    let asked = platform.filter(|platform| !platform.is_empty());
    asked.is_none_or(|platform| is_for(platform, image))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_a_pull_would_leave_as_it_is_is_not_pulled_for_its_platform() {
        let arm = |descriptor| ImageInspect {
            os: "linux".to_owned(),
            architecture: "arm64".to_owned(),
            variant: "v8".to_owned(),
            descriptor,
            ..ImageInspect::default()
        };
        for platform in ["", "linux", "linux/arm64", "linux/aarch64", "linux/arm64/v8"] {
            assert!(fits(&arm(None), Some(platform)), "{platform}");
        }
        assert!(fits(&arm(None), None));
        assert!(!fits(&arm(None), Some("linux/amd64")));
        assert!(fits(&arm(Some(serde_json::json!({}))), Some("linux/amd64")));
    }
}
