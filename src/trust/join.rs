//! Makes all that a host needs in the cluster, and brings back its refresh token.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use kube::api::{Patch, PatchParams};
use kube::core::DynamicObject;
use kube::{Api, Client, ResourceExt};
use tokio::time::{Instant, sleep};

use super::credential::Credential;
use super::error::causes;
use super::kubeconfig::Target;
use super::objects::{CREDENTIALS_NAMESPACE, Object, of_host, refresh_account};
use super::secret::Secret;
use crate::api::grammar::HostName;

/// The field manager of a join.
pub const FIELD_MANAGER: &str = "kibotos-join";
/// Until Kubernetes has put a token into a Secret.
const TOKEN_WITHIN: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(100);
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// What became of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The object, as kubectl names it.
    pub object: String,
    /// `created`, `configured` or `unchanged`.
    pub how: &'static str,
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.object, self.how)
    }
}

/// What Kubernetes put into a refresh Secret.
#[derive(Clone, Debug)]
pub struct Refresh {
    /// The refresh token.
    pub token: Secret,
    /// The cluster's own authority, as PEM.
    pub certificate_authority: Option<String>,
}

/// Why a host could not join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The cluster knows no Host.
    #[error(
        "the cluster has no Host kind: install the definitions first: kibotos crds | kubectl apply --server-side -f -"
    )]
    NoDefinitions,
    /// The kubeconfig's user is not known.
    #[error("the API server does not accept the kubeconfig's user: {0}")]
    Unknown(String),
    /// The kubeconfig's user may not.
    #[error("{object}: your user may not do this: {message}")]
    Forbidden {
        /// The object.
        object: String,
        /// The missing permission.
        message: String,
    },
    /// Somebody changed what a join makes.
    #[error("{object}: {message}; take that change back, or delete the object, and join again")]
    Conflict {
        /// The object.
        object: String,
        /// Who.
        message: String,
    },
    /// Anything else.
    #[error("{object}: {message}")]
    Failed {
        /// The object.
        object: String,
        /// What went wrong.
        message: String,
    },
    /// Nothing fills the Secret.
    #[error(
        "{object}: Kubernetes has put no token into it within {TOKEN_WITHIN:?}; does the cluster's \
         kube-controller-manager run its serviceaccount-token controller?"
    )]
    NoToken {
        /// The Secret.
        object: String,
    },
}

/// Makes the objects of a host, or sees that they are there, and tells `report` of each.
///
/// Repeatable: what is as it should be is not written, and what an admin declared of the Host stays.
pub async fn join(
    client: &Client,
    host: &HostName,
    mut report: impl FnMut(Made),
) -> Result<Refresh, JoinError> {
    let all = of_host(host);
    let (mut account, mut secret) = (None, None);
    for wanted in &all {
        let (made, object) = make(client, wanted).await?;
        report(made);
        if object.namespace().as_deref() == Some(CREDENTIALS_NAMESPACE) {
            match wanted.resource.kind.as_str() {
                "ServiceAccount" => account = object.uid(),
                "Secret" => secret = Some(wanted),
                _ => {}
            }
        }
    }
    match secret {
        Some(secret) => refresh(client, secret, account.as_deref()).await,
        None => Err(JoinError::NoToken { object: refresh_account(&host.to_string()) }),
    }
}

async fn make(client: &Client, wanted: &Object) -> Result<(Made, DynamicObject), JoinError> {
    let (api, name) = (api(client, wanted), wanted.object.name_any());
    let failed = |error: kube::Error| JoinError::of_call(wanted, &error);
    let before = match api.get_metadata(&name).await {
        Ok(before) => Some(before),
        Err(kube::Error::Api(status)) if status.code == 404 => None,
        // Who may write but not read can join as well; only the word for it is less exact.
        Err(kube::Error::Api(status)) if status.code == 403 => None,
        Err(error) => return Err(failed(error)),
    };
    if let Some(before) = before.as_ref().filter(|_| wanted.resource.kind == "Host") {
        // Its spec is the admin's from then on, and an apply of nothing would still be a write.
        let object = DynamicObject {
            types: None,
            metadata: before.metadata.clone(),
            data: serde_json::Value::Null,
        };
        return Ok((Made { object: wanted.title(), how: "unchanged" }, object));
    }
    let parameters = PatchParams::apply(FIELD_MANAGER);
    let made = api.patch(&name, &parameters, &Patch::Apply(&wanted.object)).await;
    let made = made.map_err(failed)?;
    let how = match before {
        None => "created",
        Some(before) if before.resource_version() == made.resource_version() => "unchanged",
        Some(_) => "configured",
    };
    Ok((Made { object: wanted.title(), how }, made))
}

/// The token that Kubernetes puts into the Secret, of this account and no earlier one of its name.
async fn refresh(
    client: &Client,
    wanted: &Object,
    account: Option<&str>,
) -> Result<Refresh, JoinError> {
    let (api, name) = (api(client, wanted), wanted.object.name_any());
    let deadline = Instant::now() + TOKEN_WITHIN;
    loop {
        let secret = api.get_opt(&name).await.map_err(|e| JoinError::of_call(wanted, &e))?;
        match &secret {
            // Kubernetes removes the one of an earlier account.
            None => {
                make(client, wanted).await?;
            }
            Some(secret) => {
                let of = secret.annotations().get(ACCOUNT_UID).map(String::as_str);
                if let Some(token) = data(secret, "token").filter(|_| of == account) {
                    let certificate_authority = data(secret, "ca.crt");
                    return Ok(Refresh { token: Secret::new(token), certificate_authority });
                }
            }
        }
        if Instant::now() >= deadline {
            return Err(JoinError::NoToken { object: wanted.title() });
        }
        sleep(LOOK_EVERY).await;
    }
}

/// What the host is given.
///
/// `server` is the address to use there, in place of the kubeconfig's own.
pub fn credential(
    target: &Target,
    server: Option<Uri>,
    host: HostName,
    refresh: Refresh,
) -> Credential {
    let config = &target.config;
    let certificate_authority = match &target.certificate_authority {
        Some(pem) => Some(pem.clone()),
        // Trusted without a look: the host should not have to.
        None if config.accept_invalid_certs => refresh.certificate_authority,
        None => None,
    };
    Credential {
        tls_server_name: config.tls_server_name.clone().filter(|_| server.is_none()),
        server: server.unwrap_or_else(|| config.cluster_url.clone()),
        certificate_authority: certificate_authority.map(|pem| pem.trim_end().to_owned()),
        host,
        refresh_token: refresh.token,
    }
}

fn api(client: &Client, of: &Object) -> Api<DynamicObject> {
    match &of.object.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &of.resource),
        None => Api::all_with(client.clone(), &of.resource),
    }
}

fn data(secret: &DynamicObject, key: &str) -> Option<String> {
    let encoded = secret.data["data"][key].as_str()?;
    let text = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    Some(text).filter(|text| !text.is_empty())
}

impl JoinError {
    fn of_call(wanted: &Object, error: &kube::Error) -> Self {
        let (object, message) = (wanted.title(), causes(error));
        let code = match error {
            kube::Error::Api(status) => status.code,
            _ => 0,
        };
        match code {
            401 => Self::Unknown(message),
            403 => Self::Forbidden { object, message },
            // An apply makes what is not there, so it is the kind that is not.
            404 if wanted.resource.kind == "Host" => Self::NoDefinitions,
            409 => Self::Conflict { object, message },
            _ => Self::Failed { object, message },
        }
    }
}
