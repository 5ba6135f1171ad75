//! Clients of an API server in which no call waits for ever.

use std::time::Duration;

use http::header::{HeaderValue, USER_AGENT};
use kube::client::ClientBuilder;
use kube::{Client, Config};
use tower::timeout::TimeoutLayer;

use super::authorize::{Authorize, Present};
use super::credential::{Credential, certificates};
use super::error::{TrustError, causes};
use super::proxy::Proxies;

/// Until an answer begins.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Between two pieces of an answer. A watch ends, and so says something, within 295 s.
const QUIET_AT_MOST: Duration = Duration::from_mins(5);

/// How the API server of a credential is reached, without any token.
pub fn config(credential: &Credential, proxies: &Proxies) -> Result<Config, TrustError> {
    let unusable = |cause| TrustError::Unusable { server: credential.address(), cause };
    let mut config = Config::new(credential.server.clone());
    config.default_namespace = credential.namespace();
    config.tls_server_name.clone_from(&credential.tls_server_name);
    config.proxy_url = proxies.toward(&credential.server).map_err(unusable)?;
    if let Some(pem) = &credential.certificate_authority {
        config.root_cert = Some(certificates(pem).map_err(unusable)?);
    }
    Ok(config)
}

/// A client that sends the present token.
pub fn with_token(config: Config, present: &Present) -> Result<Client, TrustError> {
    let server = config.cluster_url.to_string();
    let builder = ClientBuilder::try_from(bounded(config)).map_err(unusable(&server))?;
    let builder = builder.with_layer(&Authorize(present.clone()));
    Ok(builder.with_layer(&TimeoutLayer::new(ANSWER_WITHIN)).build())
}

/// A client that sends what its configuration holds.
pub fn with_own(config: Config) -> Result<Client, TrustError> {
    let server = config.cluster_url.to_string();
    let builder = ClientBuilder::try_from(bounded(config)).map_err(unusable(&server))?;
    Ok(builder.with_layer(&TimeoutLayer::new(ANSWER_WITHIN)).build())
}

fn unusable(server: &str) -> impl Fn(kube::Error) -> TrustError {
    move |error| TrustError::Unusable { server: server.to_owned(), cause: causes(&error) }
}

fn bounded(mut config: Config) -> Config {
    // kube's retries hold a call for minutes; who calls knows better when to try again.
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_WITHIN);
    config.read_timeout = Some(QUIET_AT_MOST);
    config.reset_reader_on_write = true;
    let agent = HeaderValue::from_static(concat!("kibotos/", env!("CARGO_PKG_VERSION")));
    config.headers.push((USER_AGENT, agent));
    config
}
