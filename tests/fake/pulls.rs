//! `POST /images/create`: pulls, as a test has programmed them.

use base64::{Engine as _, engine::general_purpose};
use serde_json::{Value, json};
use tokio::sync::{mpsc::unbounded_channel, watch};

use super::{
    answer::{Answer, Body, Piece, refusal},
    call::Call,
    images::{Image, familiar, well_formed},
};

/// What comes of a pull of one reference.
#[derive(Clone, Debug)]
pub struct Pull {
    /// An answer before any progress: a status and its message.
    pub refused: Option<(u16, String)>,
    /// There is no answer at all until the gate opens.
    pub silent: Option<Gate>,
    /// Who may pull; otherwise it is anyone.
    pub account: Option<(String, String)>,
    /// Lines of the stream.
    pub progress: Vec<Value>,
    /// After its progress, the stream waits for the gate.
    pub held: Option<Gate>,
    /// The stream then ends with this error.
    pub error: Option<String>,
    /// What the engine has afterwards.
    pub image: Option<Image>,
}

/// Something that a test opens when it wants what waits to go on.
#[derive(Clone, Debug)]
pub struct Gate(watch::Sender<bool>);

impl Default for Gate {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Gate {
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub async fn opened(&self) {
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

impl Pull {
    /// Some progress, and then the image.
    pub fn of(image: Image) -> Self {
        let layer = |status: &str, current: u64| {
            json!({
                "status": status, "id": "0123456789ab",
                "progressDetail": { "current": current, "total": 100 },
            })
        };
        let progress = vec![
            json!({ "status": "Pulling fs layer", "progressDetail": {}, "id": "0123456789ab" }),
            layer("Downloading", 50),
            layer("Downloading", 100),
            layer("Extracting", 100),
            json!({ "status": "Pull complete", "progressDetail": {}, "id": "0123456789ab" }),
        ];
        Self { progress, image: Some(image), ..Self::nothing() }
    }

    /// A refusal before the stream.
    pub fn refused(status: u16, message: &str) -> Self {
        Self { refused: Some((status, message.to_owned())), ..Self::nothing() }
    }

    /// A stream of status 200 with an error in it.
    pub fn broken(error: &str) -> Self {
        let progress = vec![json!({ "status": "Pulling fs layer", "id": "0123456789ab" })];
        Self { error: Some(error.to_owned()), progress, ..Self::nothing() }
    }

    fn nothing() -> Self {
        Self {
            refused: None,
            silent: None,
            account: None,
            progress: Vec::new(),
            held: None,
            error: None,
            image: None,
        }
    }

    /// The same, but without an answer until the gate opens.
    pub fn silent(self, gate: &Gate) -> Self {
        Self { silent: Some(gate.clone()), ..self }
    }

    /// The same, but the stream stands still after its progress until the gate opens.
    pub fn held(self, gate: &Gate) -> Self {
        Self { held: Some(gate.clone()), ..self }
    }

    /// The same, but for this account only.
    pub fn for_account(self, user: &str, password: &str) -> Self {
        Self { account: Some((user.to_owned(), password.to_owned())), ..self }
    }

    fn admits(&self, call: &Call) -> bool {
        let Some((user, password)) = &self.account else {
            return true;
        };
        let header = call.registry_auth.as_deref().unwrap_or_default();
        let decoded = general_purpose::URL_SAFE
            .decode(header)
            .or_else(|_| general_purpose::URL_SAFE_NO_PAD.decode(header));
        let given: Value =
            decoded.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        given["username"] == user.as_str() && given["password"] == password.as_str()
    }
}

/// The reference that a call wants.
pub fn wanted(call: &Call) -> Result<String, Answer> {
    let (image, tag) = (call.parameter("fromImage"), call.parameter("tag"));
    let plain = image.split('@').next().unwrap_or_default();
    let reference = match tag {
        "" => image.to_owned(),
        digest if digest.starts_with("sha256:") => format!("{plain}@{digest}"),
        tag => {
            let last = plain.rfind('/').map_or(0, |at| at + 1);
            let name = plain[last..].find(':').map_or(plain, |at| &plain[..last + at]);
            format!("{name}:{tag}")
        }
    };
    well_formed(&reference)?;
    Ok(familiar(&reference))
}

/// The answer to a pull, and what to do with the image once its stream is over.
pub async fn pull(
    programmed: Option<Pull>,
    call: &Call,
    newer: bool,
    done: impl FnOnce(&Image) + Send + 'static,
) -> Result<Answer, Answer> {
    let reference = wanted(call)?;
    let pull = programmed.ok_or_else(|| {
        let name = reference.split(['@', ':']).next().unwrap_or_default();
        let message = format!(
            "pull access denied for {name}, repository does not exist or may require \
             'docker login': denied: requested access to the resource is denied"
        );
        refusal(404, message)
    })?;
    if let Some(gate) = &pull.silent {
        gate.opened().await;
    }
    if !pull.admits(call) {
        let message =
            format!("Head \"https://{reference}\": unauthorized: authentication required");
        return Err(refusal(if newer { 401 } else { 500 }, message));
    }
    if let Some((status, message)) = &pull.refused {
        return Err(refusal(*status, message));
    }
    let (sender, pieces) = unbounded_channel();
    tokio::spawn(async move {
        let say = |line: Value| {
            let _ = sender.send(Piece::Line(line.to_string()));
        };
        pull.progress.iter().cloned().for_each(say);
        if let Some(gate) = &pull.held {
            tokio::select! {
                () = gate.opened() => {}
                // A pull ends with its client.
                () = sender.closed() => return,
            }
        }
        if let Some(error) = &pull.error {
            say(json!({ "errorDetail": { "message": error }, "error": error }));
        } else if let Some(image) = &pull.image {
            done(image);
            let digest = image.digests.first().and_then(|d| d.split_once('@')).map_or("", |d| d.1);
            say(json!({ "status": format!("Digest: {digest}") }));
            say(json!({ "status": format!("Status: Downloaded newer image for {reference}") }));
        }
    });
    Ok(Answer { status: 200, body: Body::Stream(pieces) })
}
