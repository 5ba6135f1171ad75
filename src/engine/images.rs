use bollard::query_parameters::RemoveImageOptionsBuilder;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use http::HeaderValue;

use super::call::{Call, found};
use super::verbs::verb;
use super::{Engine, EngineError, Messages};
use crate::docker::{ImageInspect, ImageItem, PullProgress};

impl Engine {
    /// The image of a reference or id; none if it is not on the host.
    pub async fn image(&self, reference: &str) -> Result<Option<ImageInspect>, EngineError> {
        let call = Call::get("inspect image", format!("/images/{reference}/json"));
        found(self.answer(call).await)?.map(|answer| answer.thing()).transpose()
    }

    /// All images that are not only parts of others.
    pub async fn images(&self) -> Result<Vec<ImageItem>, EngineError> {
        self.answer(Call::get("list images", "/images/json")).await?.things()
    }

    /// Pulls an image, and gives what the engine says meanwhile. The reference must have a tag or
    /// a digest: without, the engine pulls every tag. `auth` is the value of `X-Registry-Auth`.
    ///
    /// There is no deadline: the first message comes only once the registry has answered, and the
    /// caller judges by the messages. A pull that fails after that says so in a message, which
    /// becomes an error here; the stream ends with it. Dropping the stream ends the pull.
    pub fn pull(
        &self,
        reference: &str,
        platform: Option<&str>,
        auth: Option<HeaderValue>,
    ) -> impl Stream<Item = Result<PullProgress, EngineError>> + Send + use<> {
        const CALL: &str = "pull image";
        let mut call = Call::post(CALL, "/images/create").query("fromImage", reference);
        if let Some(platform) = platform {
            call = call.query("platform", platform);
        }
        if let Some(mut auth) = auth {
            auth.set_sensitive(true);
            call = call.header("x-registry-auth", auth);
        }
        let wire = self.wire.clone();
        let opened = async move {
            let (answer, connection) = call.open(&wire).await?;
            Ok(Messages::<PullProgress>::new(CALL, answer, connection).map(told))
        };
        stream::once(opened).try_flatten()
    }

    /// Removes an image by id or reference, untagging it; success also if it is gone. 409: a
    /// container uses it.
    pub async fn remove_image(&self, image: &str) -> Result<(), EngineError> {
        let options = RemoveImageOptionsBuilder::new().build();
        let removed = verb(&self.wire, "remove image", self.deadlines.remove, async |docker| {
            docker.remove_image(image, Some(options), None).await
        });
        match removed.await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }
}

/// Makes an error of a message that says one. The status is the one that the answer would have had.
fn told(message: Result<PullProgress, EngineError>) -> Result<PullProgress, EngineError> {
    let message = message?;
    match message.fault() {
        None => Ok(message),
        Some(fault) => {
            let status = fault.code.and_then(|code| u16::try_from(code).ok()).unwrap_or(500);
            Err(EngineError::Refused { call: "pull image", status, message: fault.message })
        }
    }
}
