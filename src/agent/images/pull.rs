//! Pulls: one at a time for each image and login, shared by all who wait for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::auth::{Login, fingerprint};
use super::fault::{self, Fault};
use super::progress::{Layers, Progress};
use crate::api::grammar::ImageReference;
use crate::docker::{ImageInspect, PullProgress};
use crate::engine::{Engine, EngineError};

/// So many pulls at once: enough that a slow one holds no other up on a usual host.
const AT_ONCE: usize = 16;

/// What to pull.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The image.
    pub image: ImageReference,
    /// `os/architecture[/variant]`; none is the host's own.
    pub platform: Option<String>,
    /// The logins to try in this order; without any it is pulled without.
    pub logins: Vec<Login>,
}

/// An image that is on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The engine's id of it.
    pub id: String,
    /// `sha256:…`, as the registry has it; none where the engine does not tell.
    pub digest: Option<String>,
    /// Whether the reference stood for something else before the pull, or for nothing.
    pub is_new: bool,
}

/// How long an engine may be silent in a pull.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// While something is to come from the registry.
    pub coming: Duration,
    /// While it unpacks, of which it says nothing.
    pub unpacking: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { coming: Duration::from_mins(2), unpacking: Duration::from_mins(30) }
    }
}

/// All pulls of this agent.
#[derive(Clone)]
pub struct Pulls(Arc<Inner>);

struct Inner {
    flights: Mutex<HashMap<Key, Weak<Flight>>>,
    slots: Semaphore,
    patience: Patience,
    told_every: Duration,
}

type Key = (String, Option<String>, String);

#[derive(Clone, Debug)]
enum State {
    Going(Progress),
    Ended(Result<Image, Fault>),
}

/// A pull under way. It ends with the last who waits for it.
struct Flight {
    state: watch::Receiver<State>,
    _work: AbortOnDropHandle<()>,
}

/// One who waits for a pull. The pull goes on for as long as anyone does.
pub struct Waiting {
    image: ImageReference,
    state: watch::Receiver<State>,
    _flight: Arc<Flight>,
}

impl Default for Pulls {
    fn default() -> Self {
        Self::new(Patience::default(), AT_ONCE, Duration::from_secs(1))
    }
}

impl Pulls {
    /// At most so many images are pulled at once, and progress is told at most every so often.
    pub fn new(patience: Patience, at_once: usize, told_every: Duration) -> Self {
        let (flights, slots) = (Mutex::default(), Semaphore::new(at_once));
        Self(Arc::new(Inner { flights, slots, patience, told_every }))
    }

    /// Joins the pull of an image, or begins it. One that has ended is never joined.
    pub fn join(&self, engine: &Engine, ask: Ask) -> Waiting {
        let image = ask.image.clone();
        let key = (image.canonical().into_owned(), ask.platform.clone(), fingerprint(&ask.logins));
        let mut flights = self.flights();
        flights.retain(|_, flight| flight.strong_count() > 0);
        let going = flights.get(&key).and_then(Weak::upgrade).filter(|flight| flight.goes_on());
        let flight = going.unwrap_or_else(|| {
            let flight = Arc::new(self.begin(engine.clone(), ask));
            flights.insert(key, Arc::downgrade(&flight));
            flight
        });
        drop(flights);
        Waiting { image, state: flight.state.clone(), _flight: flight }
    }

    /// How many pulls someone waits for.
    pub fn going(&self) -> usize {
        let flights = self.flights();
        flights.values().filter_map(Weak::upgrade).filter(|flight| flight.goes_on()).count()
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<Key, Weak<Flight>>> {
        self.0.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, engine: Engine, ask: Ask) -> Flight {
        let (told, state) = watch::channel(State::Going(Progress::default()));
        let pulls = Arc::clone(&self.0);
        let work = tokio::spawn(async move {
            let ended = pulls.fly(&engine, &ask, &told).await;
            told.send_replace(State::Ended(ended));
        });
        Flight { state, _work: AbortOnDropHandle::new(work) }
    }
}

impl Flight {
    /// Neither ended, nor has its task died.
    fn goes_on(&self) -> bool {
        self.state.has_changed().is_ok() && matches!(*self.state.borrow(), State::Going(_))
    }
}

impl Waiting {
    /// How far it is.
    pub fn progress(&self) -> Option<Progress> {
        match &*self.state.borrow() {
            State::Going(progress) => Some(*progress),
            State::Ended(_) => None,
        }
    }

    /// Waits until it is further than last told, or has ended.
    pub async fn changed(&mut self) {
        // An error: it has ended.
        let _ = self.state.changed().await;
    }

    /// Waits for its end. May be dropped and asked for again.
    pub async fn ended(&mut self) -> Result<Image, Fault> {
        match self.state.wait_for(|state| matches!(state, State::Ended(_))).await.as_deref() {
            Ok(State::Ended(ended)) => ended.clone(),
            _ => Err(fault::cut_off(&self.image)),
        }
    }
}

impl Inner {
    async fn fly(
        &self,
        engine: &Engine,
        ask: &Ask,
        told: &watch::Sender<State>,
    ) -> Result<Image, Fault> {
        // Never closed.
        let _slot = self.slots.acquire().await;
        let mut logins = ask.logins.iter().map(Some).chain(ask.logins.is_empty().then_some(None));
        let mut last = Err(fault::cut_off(&ask.image));
        for login in logins.by_ref() {
            last = self.once(engine, ask, login, told).await;
            match &last {
                Err(fault) if fault.another_login_may_help() => {}
                _ => break,
            }
        }
        last
    }

    async fn once(
        &self,
        engine: &Engine,
        ask: &Ask,
        login: Option<&Login>,
        told: &watch::Sender<State>,
    ) -> Result<Image, Fault> {
        let image = &ask.image;
        let explain = |error: EngineError| fault::explain(image, &error, login.is_some());
        let auth = login.and_then(|login| login.header(image));
        let before = engine.image(&image.canonical()).await.map_err(explain)?;
        let messages = engine.pull(&image.canonical(), ask.platform.as_deref(), auth);
        let layers = self.watch(image, messages, told).await?.map_err(explain)?;
        let found = engine.image(&image.canonical()).await.map_err(explain)?;
        let found = found.ok_or_else(|| fault::vanished(image))?;
        check_platform(ask, &found)?;
        let digest = layers.digest().map(ToOwned::to_owned).or_else(|| digest_of(image, &found));
        let is_new = before.is_none_or(|before| before.id != found.id);
        Ok(Image { id: found.id, digest, is_new })
    }

    /// Follows a pull to its end. The outer error: it was silent for too long.
    async fn watch(
        &self,
        image: &ImageReference,
        messages: impl Stream<Item = Result<PullProgress, EngineError>>,
        told: &watch::Sender<State>,
    ) -> Result<Result<Layers, EngineError>, Fault> {
        let mut messages = Box::pin(messages);
        let mut layers = Layers::default();
        let mut heard = Instant::now();
        let mut tells = Instant::now();
        let mut news = false;
        loop {
            let unpacking = layers.unpacks();
            let patience = if unpacking { self.patience.unpacking } else { self.patience.coming };
            let until = if news { tells.min(heard + patience) } else { heard + patience };
            let now = Instant::now();
            match timeout(until.saturating_duration_since(now), messages.next()).await {
                Ok(Some(Ok(message))) => {
                    layers.take(&message);
                    heard = Instant::now();
                    news = true;
                }
                // Nothing but what the engine did not mean for us.
                Ok(Some(Err(EngineError::Unreadable { .. }))) => heard = Instant::now(),
                Ok(Some(Err(error))) => return Ok(Err(error)),
                Ok(None) => return Ok(Ok(layers)),
                Err(_) if heard.elapsed() >= patience => {
                    return Err(fault::stalled(image, heard.elapsed(), unpacking));
                }
                Err(_) => {}
            }
            if news && Instant::now() >= tells {
                told.send_if_modified(|state| {
                    let progress = layers.progress();
                    let further = !matches!(state, State::Going(before) if *before == progress);
                    *state = State::Going(progress);
                    further
                });
                (news, tells) = (false, Instant::now() + self.told_every);
            }
        }
    }
}

/// Engines before 24 take any platform that there is, and 28 merely warns.
fn check_platform(ask: &Ask, found: &ImageInspect) -> Result<(), Fault> {
    match &ask.platform {
        Some(asked) if !is_for(asked, found) => {
            let has = format!("{}/{}", found.os, found.architecture);
            Err(fault::other_platform(&ask.image, asked, &has))
        }
        _ => Ok(()),
    }
}

/// Whether an image is for the platform that was asked for, as far as both say. Who looks whether a
/// pull is needed and who judges what was pulled both ask here, or a pull would follow each pull.
///
/// Of variants the engine's choice counts: it takes a lesser one where there is no other.
pub fn is_for(platform: &str, image: &ImageInspect) -> bool {
    // The containerd store keeps several platforms under one name, and inspect shows another one.
    if image.descriptor.is_some() {
        return true;
    }
    let asked = platform.to_ascii_lowercase();
    let Some((os, rest)) = asked.split_once('/') else { return true };
    let architecture = rest.split('/').next().unwrap_or_default();
    let same = |asked: &str, has: &str| has.is_empty() || asked == has;
    same(os, &image.os)
        && same(canonical_architecture(architecture), canonical_architecture(&image.architecture))
}

/// As containerd takes the names that others have for them.
fn canonical_architecture(name: &str) -> &str {
    match name {
        "x86_64" | "x86-64" => "amd64",
        "aarch64" => "arm64",
        "armhf" | "armel" => "arm",
        "i386" => "386",
        other => other,
    }
}

/// The digest that an image has in the registry it was pulled from: other registries have their
/// own.
pub fn digest_of(image: &ImageReference, found: &ImageInspect) -> Option<String> {
    let mut digests = found.repo_digests.iter().filter_map(|text| {
        let reference: ImageReference = text.parse().ok()?;
        let same = reference.registry() == image.registry()
            && reference.repository() == image.repository();
        reference.digest().filter(|_| same).map(ToOwned::to_owned)
    });
    match image.digest() {
        Some(digest) => Some(digest.to_owned()),
        None => digests.next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_registry_the_image_is_from() {
        let digest = |digit: &str| format!("sha256:{}", digit.repeat(64));
        let found = ImageInspect {
            repo_digests: vec![
                format!("ghcr.io/a/b@{}", digest("1")),
                format!("nginx@{}", digest("2")),
                "<none>@<none>".to_owned(),
            ],
            ..ImageInspect::default()
        };
        for (image, expected) in [
            ("docker.io/library/nginx:1", Some(digest("2"))),
            ("ghcr.io/a/b", Some(digest("1"))),
            ("ghcr.io/a/c", None),
            (&format!("nginx@{}", digest("3")), Some(digest("3"))),
        ] {
            assert_eq!(digest_of(&image.parse().unwrap(), &found), expected, "{image}");
        }
    }

    #[test]
    fn an_image_of_another_platform_than_asked_for_is_a_mismatch() {
        let found = |descriptor| ImageInspect {
            os: "linux".to_owned(),
            architecture: "amd64".to_owned(),
            descriptor,
            ..ImageInspect::default()
        };
        let fits = |platform: Option<&str>, found: &ImageInspect| {
            let image = "nginx".parse().unwrap();
            let ask = Ask { image, platform: platform.map(Into::into), logins: Vec::new() };
            check_platform(&ask, found).is_ok()
        };
        for platform in
            [None, Some("linux/amd64"), Some("linux/x86_64"), Some("Linux/AMD64"), Some("linux")]
        {
            assert!(fits(platform, &found(None)), "{platform:?}");
        }
        assert!(!fits(Some("linux/arm64/v8"), &found(None)));
        assert!(!fits(Some("windows/amd64"), &found(None)));
        assert!(fits(Some("linux/arm64"), &found(Some(serde_json::json!({})))));
    }
}
