//! Kubeconfig files, found and read as kubectl does.

use std::env;
use std::path::{Path, PathBuf};

use http::Uri;
use kube::Config;
use kube::config::{AuthInfo, Cluster, ExecAuthCluster, Kubeconfig, KubeconfigError};

use super::credential::certificates;
use super::proxy::{self, Proxies};

/// How a context of a kubeconfig reaches its API server.
pub struct Target {
    /// For a client.
    pub config: Config,
    /// The authorities that the context trusts, as PEM.
    pub certificate_authority: Option<String>,
}

/// Why a kubeconfig cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    message: String,
}

impl Target {
    /// Reads `file`, or else what `KUBECONFIG` lists, or else `~/.kube/config`; takes `context`, or
    /// else the current one.
    pub fn read(file: Option<&Path>, context: Option<&str>) -> Result<Self, Error> {
        let files = match file {
            Some(file) => vec![file.to_owned()],
            None => found(),
        };
        let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        let names = names.join(", ");
        if files.is_empty() {
            let message = "there is no kubeconfig: name one with --kubeconfig or KUBECONFIG";
            return Err(Error { message: message.to_owned() });
        }
        let all = files
            .iter()
            .try_fold(Kubeconfig::default(), |all, file| all.merge(Kubeconfig::read_from(file)?));
        let target = all
            .map_err(|e: KubeconfigError| e.to_string())
            .and_then(|all| Self::of_context(&all, context));
        target.map_err(|why| Error { message: format!("the kubeconfig {names}: {why}") })
    }

    fn of_context(all: &Kubeconfig, context: Option<&str>) -> Result<Self, String> {
        let name = context
            .or(all.current_context.as_deref())
            .filter(|name| !name.is_empty())
            .ok_or("no context is current: name one with --context")?;
        let context = all.contexts.iter().find(|c| c.name == name);
        let context = context.and_then(|c| c.context.as_ref());
        let context = context.ok_or_else(|| format!("it has no context {name:?}"))?;
        let cluster = all.clusters.iter().find(|c| c.name == context.cluster);
        let cluster = cluster.and_then(|c| c.cluster.as_ref());
        let cluster = cluster.ok_or_else(|| {
            format!("it has no cluster {:?}, which context {name:?} names", context.cluster)
        })?;
        let user = all.auth_infos.iter().find(|u| Some(&u.name) == context.user.as_ref());
        let user = user.and_then(|u| u.auth_info.clone()).unwrap_or_default();
        let mut target = Self::of_cluster(cluster, user)?;
        if let Some(namespace) = &context.namespace {
            target.config.default_namespace.clone_from(namespace);
        }
        Ok(target)
    }

    // Not by kube's own loader, for the proxy that it finds in the environment: see `proxy`.
    fn of_cluster(cluster: &Cluster, mut user: AuthInfo) -> Result<Self, String> {
        let server = cluster.server.as_deref().ok_or("its cluster has no server")?;
        let server: Uri = server.parse().map_err(|e| format!("server {server:?}: {e}"))?;
        // The one way in which kube gives what it reads of certificates.
        let facts = ExecAuthCluster::try_from(cluster).map_err(|e| e.to_string())?;
        let pem = facts.certificate_authority_data.clone();
        let pem = pem.map(String::from_utf8).transpose();
        let pem = pem.map_err(|_| "its certificate authority is no PEM")?;
        if let Some(exec) = user.exec.as_mut().filter(|exec| exec.provide_cluster_info) {
            exec.cluster = Some(facts);
        }
        let mut config = Config::new(server.clone());
        config.proxy_url = match cluster.proxy_url.as_deref().filter(|url| !url.is_empty()) {
            Some(url) => Some(proxy::parse(url).map_err(|why| format!("proxy-url {why}"))?),
            None => Proxies::from_env().toward(&server)?,
        };
        if let Some(pem) = &pem {
            let certificates = certificates(pem);
            config.root_cert =
                Some(certificates.map_err(|why| format!("its certificate authority {why}"))?);
        }
        config.accept_invalid_certs = cluster.insecure_skip_tls_verify.unwrap_or(false);
        config.tls_server_name.clone_from(&cluster.tls_server_name);
        config.auth_info = user;
        Ok(Self { config, certificate_authority: pem })
    }
}

/// Those that are there of `KUBECONFIG`, or of the one place where it is not set.
fn found() -> Vec<PathBuf> {
    let listed: Vec<_> = env::var_os("KUBECONFIG")
        .map(|list| env::split_paths(&list).filter(|p| !p.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    let all = match (listed.is_empty(), env::home_dir()) {
        (true, Some(home)) => vec![home.join(".kube/config")],
        _ => listed,
    };
    all.into_iter().filter(|path| path.exists()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "
current-context: b
contexts:
- {name: a, context: {cluster: a, user: u}}
- {name: b, context: {cluster: b, user: u, namespace: n}}
- {name: c, context: {cluster: gone, user: u}}
clusters:
- {name: a, cluster: {server: 'https://a:6443', tls-server-name: kubernetes}}
- {name: b, cluster: {server: 'https://b:6443', proxy-url: 'http://proxy:3128'}}
users:
- {name: u, user: {token: t}}
";

    fn target(context: Option<&str>) -> Result<Target, String> {
        Target::of_context(&Kubeconfig::from_yaml(TWO).unwrap(), context)
    }

    #[test]
    fn the_current_context_unless_another_is_named() {
        let current = target(None).unwrap();
        assert_eq!(current.config.cluster_url, "https://b:6443");
        assert_eq!(current.config.default_namespace, "n");
        assert_eq!(current.config.proxy_url.unwrap(), "http://proxy:3128");
        let named = target(Some("a")).unwrap();
        assert_eq!(named.config.cluster_url, "https://a:6443");
        assert_eq!(named.config.tls_server_name.unwrap(), "kubernetes");
        assert!(named.config.auth_info.token.is_some());
    }

    #[test]
    fn what_is_missing_is_named() {
        for (context, message) in [("z", "no context \"z\""), ("c", "no cluster \"gone\"")] {
            let error = target(Some(context)).err().unwrap();
            assert!(error.contains(message), "{error}");
        }
    }
}
