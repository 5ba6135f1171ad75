//! Which images are removed when the disk fills: only those that this agent pulled, that no one
//! uses, the longest unused first.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::api::grammar::ImageReference;
use crate::docker::{ImageItem, ListItem};
use crate::engine::{Engine, EngineError};

/// What this agent pulled. The caller keeps it on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pulled {
    images: Vec<PulledImage>,
}

/// One image that this agent pulled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PulledImage {
    /// As it was pulled, with tag or digest.
    pub reference: String,
    /// The engine's id of it. A tag may have moved on since, and is then another's.
    pub id: String,
    /// When it was pulled or last used, in seconds since 1970. Only ever compared.
    pub used: i64,
}

impl Pulled {
    /// Notes an image that a pull of this agent brought. One that was there before is not this
    /// agent's to remove.
    pub fn record(&mut self, reference: &str, id: &str, now: i64) {
        match self.images.iter_mut().find(|image| image.reference == reference && image.id == id) {
            Some(image) => image.used = now,
            None => self.images.push(PulledImage {
                reference: reference.to_owned(),
                id: id.to_owned(),
                used: now,
            }),
        }
    }

    /// Notes that an image is in use now. Gives whether that changed anything.
    pub fn used(&mut self, id: &str, now: i64) -> bool {
        let mut changed = false;
        for image in self.images.iter_mut().filter(|image| image.id == id && image.used != now) {
            (image.used, changed) = (now, true);
        }
        changed
    }

    /// Forgets what is no longer on the host. Gives whether there was any.
    pub fn forget_gone(&mut self, on_host: &[ImageItem]) -> bool {
        let before = self.images.len();
        self.images.retain(|image| on_host.iter().any(|each| each.id == image.id));
        self.images.len() != before
    }

    /// What is noted.
    pub fn images(&self) -> &[PulledImage] {
        &self.images
    }

    /// Forgets one.
    pub fn forget(&mut self, gone: &PulledImage) {
        self.images.retain(|image| image.reference != gone.reference || image.id != gone.id);
    }
}

/// When images are removed, in percent of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// From here on.
    pub high: u8,
    /// Until this.
    pub low: u8,
}

impl Threshold {
    /// Whether more is to be removed, given whether something was already.
    pub fn wants(self, full: u8, removing: bool) -> bool {
        full >= if removing { self.low.saturating_add(1).min(self.high) } else { self.high }
    }
}

/// What must stay.
#[derive(Clone, Debug, Default)]
pub struct InUse {
    words: BTreeSet<String>,
    references: BTreeSet<String>,
}

impl InUse {
    /// What containers are made of, all of them and not only ours, and what runs and prefetches
    /// of this host name.
    pub fn new<'a>(
        containers: &[ListItem],
        referred: impl IntoIterator<Item = &'a ImageReference>,
    ) -> Self {
        let mut words = BTreeSet::new();
        let mut references: BTreeSet<_> = referred.into_iter().map(full_name).collect();
        for container in containers {
            words.insert(container.image_id.clone());
            words.insert(container.image.clone());
            references.extend(container.image.parse().ok().as_ref().map(full_name));
        }
        Self { words, references }
    }

    fn has(&self, image: &ImageItem) -> bool {
        let hex = image.id.strip_prefix("sha256:").unwrap_or(&image.id);
        // A container whose image has lost its name shows the beginning of the id.
        let by_id = self.words.iter().any(|word| {
            let word = word.strip_prefix("sha256:").unwrap_or(word);
            word.len() >= 12 && hex.starts_with(word)
        });
        by_id || names(image).any(|name| self.references.contains(&full_name(&name)))
    }
}

/// One image to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    image: PulledImage,
    /// The reference, or the id of an image that has no name any more.
    target: String,
}

/// What may be removed, in the order to remove it.
pub fn removable(pulled: &Pulled, on_host: &[ImageItem], in_use: &InUse) -> Vec<Removal> {
    let mut removals: Vec<_> = pulled
        .images
        .iter()
        .filter_map(|image| {
            let found = on_host.iter().find(|each| each.id == image.id)?;
            if in_use.has(found) {
                return None;
            }
            let target = target(image, found)?;
            Some(Removal { image: image.clone(), target })
        })
        .collect();
    removals.sort_by(|a, b| (a.image.used, &a.target).cmp(&(b.image.used, &b.target)));
    removals
}

/// By the name that this agent gave it, so that a name that someone else gave it keeps it; by its
/// id only where no name is left.
fn target(image: &PulledImage, found: &ImageItem) -> Option<String> {
    let ours = full_name(&image.reference.parse().ok()?);
    if names(found).any(|name| full_name(&name) == ours) {
        return Some(image.reference.clone());
    }
    let nameless = found.repo_tags.iter().all(|tag| tag == "<none>:<none>");
    nameless.then(|| found.id.clone())
}

/// The names of an image that can be read, tags and digests.
fn names(image: &ImageItem) -> impl Iterator<Item = ImageReference> {
    image.repo_tags.iter().chain(&image.repo_digests).filter_map(|name| name.parse().ok())
}

/// One spelling: `nginx` and `docker.io/library/nginx:latest` are the same. With a digest the tag
/// counts for nothing.
fn full_name(image: &ImageReference) -> String {
    let (registry, repository) = (image.registry(), image.repository());
    match image.digest() {
        Some(digest) => format!("{registry}/{repository}@{digest}"),
        None => format!("{registry}/{repository}:{}", image.tag().unwrap_or("latest")),
    }
}

/// Removes images one by one until the disk is empty enough or nothing may be removed, and gives
/// what went. How full the disk is and what is in use is asked anew before each. An image that
/// turns out to be used or gone is passed over; only an engine that is away is an error.
pub async fn collect(
    engine: &Engine,
    pulled: &mut Pulled,
    threshold: Threshold,
    mut full: impl AsyncFnMut() -> u8,
    referred: impl Fn() -> Vec<ImageReference>,
) -> Result<Vec<PulledImage>, EngineError> {
    let mut removed = Vec::new();
    let mut passed_over = BTreeSet::new();
    while threshold.wants(full().await, !removed.is_empty()) {
        let on_host = engine.images().await?;
        let in_use = InUse::new(&engine.list(&[]).await?, &referred());
        let next = removable(pulled, &on_host, &in_use)
            .into_iter()
            .find(|removal| !passed_over.contains(&removal.target));
        let Some(next) = next else { break };
        match engine.remove_image(&next.target).await {
            Ok(()) => {
                pulled.forget(&next.image);
                removed.push(next.image);
            }
            Err(error) if error.is_engine_away() => return Err(error),
            Err(_) => {
                passed_over.insert(next.target);
            }
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: u8) -> String {
        format!("sha256:{}", digit.to_string().repeat(64))
    }

    fn on_host(digit: u8, tags: &[&str], digests: &[&str]) -> ImageItem {
        ImageItem {
            id: id(digit),
            repo_tags: tags.iter().map(ToString::to_string).collect(),
            repo_digests: digests.iter().map(ToString::to_string).collect(),
            ..ImageItem::default()
        }
    }

    fn container(image: &str, image_id: &str) -> ListItem {
        ListItem { image: image.to_owned(), image_id: image_id.to_owned(), ..ListItem::default() }
    }

    fn targets(pulled: &Pulled, on_host: &[ImageItem], in_use: &InUse) -> Vec<String> {
        removable(pulled, on_host, in_use).into_iter().map(|removal| removal.target).collect()
    }

    #[test]
    fn only_what_this_agent_pulled_goes_the_longest_unused_first() {
        let mut pulled = Pulled::default();
        pulled.record("b:1", &id(2), 20);
        pulled.record("a:1", &id(1), 10);
        pulled.record("c:1", &id(3), 5);
        let here = [
            on_host(1, &["a:1"], &[]),
            on_host(2, &["b:1"], &[]),
            on_host(3, &["c:1"], &[]),
            on_host(4, &["foreign:1"], &[]),
        ];
        assert_eq!(targets(&pulled, &here, &InUse::default()), ["c:1", "a:1", "b:1"]);
        assert!(pulled.used(&id(3), 30) && !pulled.used(&id(3), 30) && !pulled.used(&id(4), 30));
        assert_eq!(targets(&pulled, &here, &InUse::default()), ["a:1", "b:1", "c:1"]);
        assert!(pulled.forget_gone(&here[1..]) && !pulled.forget_gone(&here[1..]));
        assert_eq!(targets(&pulled, &here, &InUse::default()), ["b:1", "c:1"]);
    }

    #[test]
    fn what_any_container_or_run_names_stays() {
        let mut pulled = Pulled::default();
        pulled.record("docker.io/library/a:latest", &id(1), 0);
        let here = [on_host(1, &["a:latest"], &[&format!("a@{}", id(9))])];
        let hex = "1".repeat(64);
        for container in [
            container("a:latest", &id(1)),
            container("other:1", &id(1)),
            container(&id(1), ""),
            container(&hex[..12], ""),
            container("a", ""),
            container("docker.io/library/a", ""),
        ] {
            let in_use = InUse::new(std::slice::from_ref(&container), []);
            assert!(targets(&pulled, &here, &in_use).is_empty(), "{container:?}");
        }
        for (reference, stays) in [
            ("a".to_owned(), true),
            ("docker.io/library/a:latest".to_owned(), true),
            (format!("a@{}", id(9)), true),
            (format!("a:5@{}", id(9)), true),
            ("a:2".to_owned(), false),
            ("ghcr.io/library/a:latest".to_owned(), false),
        ] {
            let in_use = InUse::new(&[container("b:1", &id(2))], [&reference.parse().unwrap()]);
            assert_eq!(targets(&pulled, &here, &in_use).is_empty(), stays, "{reference}");
        }
    }

    #[test]
    fn a_name_that_someone_else_gave_is_not_removed() {
        let mut pulled = Pulled::default();
        pulled.record("a:1", &id(1), 0);
        let all = |here: ImageItem| targets(&pulled, &[here], &InUse::default());
        assert_eq!(all(on_host(1, &["mine:1", "a:1"], &[])), ["a:1"], "only ours");
        assert!(all(on_host(1, &["mine:1"], &[])).is_empty(), "ours is gone already");
        assert!(all(on_host(2, &["a:1"], &[])).is_empty(), "pulled by hand since");
        assert_eq!(all(on_host(1, &[], &[])), [id(1)], "its tag has moved on");
        assert_eq!(all(on_host(1, &["<none>:<none>"], &["<none>@<none>"])), [id(1)]);
        let digest = format!("a@{}", id(9));
        pulled.record(&digest, &id(3), 0);
        assert_eq!(targets(&pulled, &[on_host(3, &[], &[&digest])], &InUse::default()), [&*digest]);
    }

    #[test]
    fn it_begins_at_the_one_threshold_and_ends_at_the_other() {
        let threshold = Threshold { high: 85, low: 75 };
        for (full, removing, wants) in [
            (84, false, false),
            (85, false, true),
            (84, true, true),
            (76, true, true),
            (75, true, false),
        ] {
            assert_eq!(threshold.wants(full, removing), wants, "{full} {removing}");
        }
        let odd = Threshold { high: 80, low: 90 };
        assert!(!odd.wants(79, true) && odd.wants(80, true));
    }

    #[test]
    fn the_record_survives_being_written_down() {
        let mut pulled = Pulled::default();
        pulled.record("a:1", &id(1), 7);
        pulled.record("a:1", &id(1), 8);
        let text = serde_json::to_string(&pulled).unwrap();
        assert_eq!(serde_json::from_str::<Pulled>(&text).unwrap(), pulled);
        assert_eq!(serde_json::from_str::<Pulled>("{}").unwrap(), Pulled::default());
        assert_eq!(pulled.images().len(), 1);
        assert_eq!(pulled.images()[0].used, 8);
    }
}
