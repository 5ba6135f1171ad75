//! The token that an agent works with, and when to have the next. Pure.
//!
//! No date is compared with the host's clock, which may be wrong by years: the lifetime is what the
//! server says, counted from the receipt by [`Moment`].

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::clock::Moment;
use super::secret::Secret;

/// What is asked for, and the most that host namespaces allow.
pub const ASKED: Duration = Duration::from_hours(24);
/// The version of the stored form.
const VERSION: u64 = 1;

/// A token as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What is sent.
    pub text: Secret,
    /// When the answer came.
    pub received: Moment,
    /// How long it is good from then on, by the server's word.
    pub lifetime: Duration,
}

/// The body of a TokenRequest.
pub fn request() -> Value {
    json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": { "expirationSeconds": ASKED.as_secs() },
    })
}

/// When a token is to be renewed, on the clock on which it was received: half way, so that the API
/// may be away for as long again before the agent stands without one.
pub fn renew_at(received: Duration, lifetime: Duration) -> Duration {
    received.saturating_add(lifetime / 2)
}

impl Token {
    /// Reads an answered TokenRequest.
    ///
    /// A server may grant less than was asked. It says so in `spec.expirationSeconds`, and in the
    /// token; the lesser counts.
    pub fn of_answer(answer: &Value, received: Moment) -> Result<Self, String> {
        let text = answer["status"]["token"].as_str().unwrap_or_default();
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err("status.token is missing".to_owned());
        }
        let granted = answer["spec"]["expirationSeconds"].as_u64().map(Duration::from_secs);
        let lifetime = granted.into_iter().chain(claimed(text)).min();
        match lifetime.filter(|lifetime| !lifetime.is_zero()) {
            Some(lifetime) => Ok(Self { text: Secret::new(text), received, lifetime }),
            None => Err("it does not say how long its token is good".to_owned()),
        }
    }

    /// How long there is until it is to be renewed. Received under another boot, it is due now.
    pub fn renew_in(&self, now: &Moment) -> Duration {
        if now.after(&self.received).is_none() {
            return Duration::ZERO;
        }
        renew_at(self.received.since_boot, self.lifetime).saturating_sub(now.since_boot)
    }

    /// Whether it is known to be good no longer.
    pub fn is_over(&self, now: &Moment) -> bool {
        now.after(&self.received).is_some_and(|age| age >= self.lifetime)
    }

    /// The stored form; `issuer` is what it was minted with.
    pub fn stored(&self, issuer: &str) -> String {
        json!({
            "version": VERSION,
            "issuer": issuer,
            "token": self.text.reveal(),
            "boot": self.received.boot,
            "receivedMillis": u64::try_from(self.received.since_boot.as_millis()).unwrap_or(u64::MAX),
            "lifetimeSeconds": self.lifetime.as_secs(),
        })
        .to_string()
    }

    /// Reads the stored form. Nothing, where it is not ours or was minted with something else.
    pub fn of_stored(text: &str, issuer: &str) -> Option<Self> {
        let stored: Value = serde_json::from_str(text).ok()?;
        if stored["version"].as_u64()? != VERSION || stored["issuer"].as_str()? != issuer {
            return None;
        }
        Some(Self {
            text: Secret::new(stored["token"].as_str()?),
            received: Moment {
                boot: stored["boot"].as_str()?.to_owned(),
                since_boot: Duration::from_millis(stored["receivedMillis"].as_u64()?),
            },
            lifetime: Duration::from_secs(stored["lifetimeSeconds"].as_u64()?),
        })
    }
}

/// The lifetime that a token states itself: `exp - iat`, both by the server's clock.
fn claimed(token: &str) -> Option<Duration> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    let lifetime = claims["exp"].as_u64()?.checked_sub(claims["iat"].as_u64()?)?;
    Some(Duration::from_secs(lifetime))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn at(boot: &str, since_boot: Duration) -> Moment {
        Moment { boot: boot.to_owned(), since_boot }
    }

    fn jwt(claims: Value) -> String {
        format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
    }

    fn answer(token: &str, seconds: Option<u64>) -> Value {
        json!({ "spec": { "expirationSeconds": seconds }, "status": { "token": token } })
    }

    fn lifetime(token: &str, seconds: Option<u64>) -> Result<Duration, String> {
        Token::of_answer(&answer(token, seconds), at("b", HOUR)).map(|token| token.lifetime)
    }

    #[test]
    fn the_lifetime_is_what_the_server_grants_whatever_was_asked_and_whatever_the_date() {
        // Both in the far future and in the past of any clock.
        for iat in [1_000, 9_999_999_999_u64] {
            let token = jwt(json!({ "iat": iat, "exp": iat + 3600 }));
            assert_eq!(lifetime(&token, Some(86_400)).unwrap(), HOUR);
            assert_eq!(lifetime(&token, Some(600)).unwrap(), Duration::from_mins(10));
            assert_eq!(lifetime(&token, None).unwrap(), HOUR);
        }
        assert_eq!(lifetime("opaque", Some(3600)).unwrap(), HOUR);
    }

    #[test]
    fn an_answer_without_token_or_lifetime_is_an_error_that_does_not_show_it() {
        assert!(lifetime("", Some(3600)).is_err());
        let backwards = jwt(json!({ "iat": 2, "exp": 1 }));
        let error = lifetime(&backwards, None).unwrap_err();
        assert!(!error.contains(&backwards), "{error}");
    }

    #[test]
    fn a_token_is_renewed_half_way() {
        assert_eq!(renew_at(HOUR, 24 * HOUR), 13 * HOUR);
        assert_eq!(renew_at(Duration::ZERO, Duration::from_mins(10)), Duration::from_mins(5));
        assert_eq!(renew_at(Duration::MAX, HOUR), Duration::MAX);
    }

    #[test]
    fn how_long_until_then_is_counted_within_one_boot() {
        let token = Token { text: Secret::new("t"), received: at("b", HOUR), lifetime: 24 * HOUR };
        assert_eq!(token.renew_in(&at("b", HOUR)), 12 * HOUR);
        assert_eq!(token.renew_in(&at("b", 11 * HOUR)), 2 * HOUR);
        assert_eq!(token.renew_in(&at("b", 99 * HOUR)), Duration::ZERO);
        assert_eq!(token.renew_in(&at("b", Duration::ZERO)), Duration::ZERO, "time ran backwards");
        assert_eq!(token.renew_in(&at("c", 2 * HOUR)), Duration::ZERO, "another boot");

        assert!(!token.is_over(&at("b", 24 * HOUR)));
        assert!(token.is_over(&at("b", 25 * HOUR)));
        assert!(!token.is_over(&at("c", 99 * HOUR)), "unknown is not over");
    }

    #[test]
    fn a_stored_token_is_read_again_by_who_minted_it() {
        let token = Token { text: Secret::new("t"), received: at("b", HOUR), lifetime: 24 * HOUR };
        let stored = token.stored("issuer");
        assert_eq!(Token::of_stored(&stored, "issuer"), Some(token));
        assert_eq!(Token::of_stored(&stored, "another"), None);
        assert_eq!(Token::of_stored(&stored[..20], "issuer"), None);
        assert_eq!(Token::of_stored("", "issuer"), None);
    }
}
