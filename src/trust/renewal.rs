//! Keeps the present token good: mints with the refresh token, long before the end, again and again.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::time::Duration;

use http::Request;
use kube::Client;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::authorize::Present;
use super::client::ANSWER_WITHIN;
use super::clock::Moment;
use super::error::TrustError;
use super::objects::AGENT;
use super::private_file;
use super::token::{self, Token};

/// Sleeping does not count suspended time, so the clock is looked at this often.
const LOOK_EVERY: Duration = Duration::from_mins(1);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// While the API is away, so that its return is noticed soon.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// After a refusal, which only a person ends.
const REFUSED_PAUSE: Duration = Duration::from_mins(5);
/// Between the mint of a token and that of its successor, however often it is refused.
const APART: Duration = Duration::from_secs(30);

/// How it stands with the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// None was asked for yet.
    Starting,
    /// The last one that was asked for came.
    Renewed,
    /// The last try failed; a token that was there before may still be good.
    Failing(TrustError),
}

/// What keeps a token good.
pub(super) struct Renewer {
    /// Sends the refresh token.
    pub refresh: Client,
    pub host: String,
    pub namespace: String,
    pub server: String,
    /// What its clients send.
    pub present: Present,
    /// The token on disk, and what it has to have been minted with.
    pub file: PathBuf,
    pub issuer: String,
    pub state: watch::Sender<State>,
}

impl Renewer {
    /// Takes up the token that an earlier process stored, so that a start without API has one.
    pub fn take_up_stored(&self) -> Option<Token> {
        let stored = private_file::read(&self.file).ok()?;
        let token = Token::of_stored(&stored, &self.issuer)?;
        if token.is_over(&Moment::now()) {
            return None;
        }
        self.present.set(&token.text);
        Some(token)
    }

    /// Renews for as long as it is polled.
    pub async fn run(self, mut token: Option<Token>) {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(token) = &token {
                self.until_due(token).await;
            }
            match self.mint().await {
                Ok(minted) => {
                    self.store(&minted);
                    self.present.set(&minted.text);
                    tracing::debug!(lifetime = ?minted.lifetime, "token for the API renewed");
                    token = Some(minted);
                    self.state.send_replace(State::Renewed);
                    pause = FIRST_PAUSE;
                }
                Err(error) => {
                    tracing::warn!("{error}");
                    let longest = if error.is_refused() { REFUSED_PAUSE } else { LONGEST_PAUSE };
                    self.state.send_replace(State::Failing(error));
                    sleep(spread(pause.min(longest))).await;
                    pause = (pause * 2).min(longest);
                    // Due it was, and is.
                    token = None;
                }
            }
        }
    }

    /// Until a token is to be renewed, or was refused.
    async fn until_due(&self, token: &Token) {
        loop {
            let now = Moment::now();
            let left = token.renew_in(&now);
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = sleep(left.min(LOOK_EVERY)) => {}
                () = self.present.refused() => {
                    // Never in a tight loop, should the server refuse what it just made.
                    let age = Moment::now().after(&token.received).unwrap_or(APART);
                    sleep(APART.saturating_sub(age)).await;
                    return;
                }
            }
        }
    }

    async fn mint(&self) -> Result<Token, TrustError> {
        let asked = timeout(ANSWER_WITHIN, self.ask()).await;
        let answer = asked.unwrap_or_else(|_| {
            let cause = format!("no answer within {ANSWER_WITHIN:?}");
            Err(TrustError::Away { server: self.server.clone(), cause })
        })?;
        // Counted from here the token is good for a little less than the server thinks, by the time
        // that its answer took; half of its lifetime leaves room for that.
        let received = Moment::now();
        let unreadable =
            |cause: String| TrustError::Unreadable { server: self.server.clone(), cause };
        // Neither the answer nor an error of the parser is told: the token is in it.
        let answer: Value =
            serde_json::from_str(&answer).map_err(|_| unreadable("it is no JSON".to_owned()))?;
        Token::of_answer(&answer, received).map_err(unreadable)
    }

    // Not by kube's typed call, which logs an answer that it cannot read.
    async fn ask(&self) -> Result<String, TrustError> {
        let (namespace, host, server) = (&self.namespace, &self.host, &self.server);
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{AGENT}/token");
        let request = Request::post(path)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json")
            .body(token::request().to_string().into_bytes())
            .map_err(|e| TrustError::Unusable { server: server.clone(), cause: e.to_string() })?;
        let answer = self.refresh.request_text(request).await;
        answer.map_err(|error| TrustError::of_request(host, server, &error))
    }

    fn store(&self, token: &Token) {
        if let Err(error) = private_file::write(&self.file, &token.stored(&self.issuer)) {
            // A full disk takes the next start without API its token, and no more.
            tracing::warn!("the token for the API is not kept in {}: {error}", self.file.display());
        }
    }
}

/// Three quarters to all of a pause, so that a fleet does not come back in one moment.
fn spread(pause: Duration) -> Duration {
    let share = u32::try_from(RandomState::new().hash_one(0) % 256).unwrap_or_default();
    pause / 4 * 3 + pause / 4 * share / 256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_pause_is_between_three_quarters_and_all_of_it() {
        for _ in 0..100 {
            let pause = spread(Duration::from_secs(4));
            assert!((Duration::from_secs(3)..=Duration::from_secs(4)).contains(&pause));
        }
    }
}
