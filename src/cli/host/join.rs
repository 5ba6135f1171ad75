//! `kibotos host join`: make a host's objects, and print the credential for its agent.

use std::error::Error;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use http::Uri;

use crate::api::grammar::HostName;
use crate::trust::{self, Credential, Target};

/// What `kibotos host join` takes.
#[derive(Debug, Args)]
pub struct Options {
    /// The host's name: a DNS label of at most 50 characters.
    #[arg(value_name = "NAME", value_parser = name)]
    name: HostName,
    /// Write the credential into this file, of mode 0600, instead of printing it.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_HOST_JOIN_OUT")]
    out: Option<PathBuf>,
    /// The kubeconfig of an admin. Default: what KUBECONFIG lists, or ~/.kube/config.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_KUBECONFIG")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig. Default: the current one.
    #[arg(long, value_name = "CONTEXT", env = "KIBOTOS_CONTEXT")]
    context: Option<String>,
    /// The API server's address as the host reaches it. Default: the kubeconfig's.
    #[arg(long, value_name = "URL", env = "KIBOTOS_SERVER", value_parser = server)]
    server: Option<Uri>,
}

/// Joins a host.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let credential = runtime.block_on(join(options))?;
    let mut stderr = io::stderr().lock();
    if is_loopback(&credential.server) {
        let server = credential.address();
        writeln!(
            stderr,
            "note: {server} leads back to the host itself, unless the API server runs there; else give --server URL"
        )?;
    }
    match &options.out {
        Some(file) => {
            let written = credential.write(file);
            written.map_err(|e| format!("write the credential to {}: {e}", file.display()))?;
            writeln!(stderr, "credential written to {}", file.display())?;
        }
        None => io::stdout().lock().write_all(credential.to_yaml()?.as_bytes())?,
    }
    Ok(())
}

async fn join(options: &Options) -> Result<Credential, Box<dyn Error>> {
    let Options { name, out: _, kubeconfig, context, server } = options;
    let target = Target::read(kubeconfig.as_deref(), context.as_deref())?;
    if server.is_none() {
        // Before anything is made: the file would be refused where it is read.
        let own = target.config.cluster_url.to_string();
        trust::server(&own).map_err(|why| format!("the kubeconfig's server {own} {why}"))?;
    }
    let client = trust::admin_client(&target)?;
    let report = |made: trust::Made| {
        // Should nobody listen, the join goes on.
        let _ = writeln!(io::stderr(), "{made}");
    };
    let refresh = trust::join(&client, name, report).await?;
    Ok(trust::credential(&target, server.clone(), name.clone(), refresh))
}

fn name(text: &str) -> Result<HostName, String> {
    text.parse().map_err(|why: crate::api::grammar::Invalid| why.to_string())
}

fn server(text: &str) -> Result<Uri, String> {
    trust::server(text).map_err(|why| format!("it {why}"))
}

fn is_loopback(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}
