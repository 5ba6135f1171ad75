//! `kibotos import`: Workspace manifests from what runs in Docker already.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use clap::{Args, ValueEnum};

use crate::api::grammar::{DnsLabel, Invalid};
use crate::import::{self, Kind, Request, manifest};

/// What `kibotos import` takes.
#[derive(Debug, Args)]
pub struct Options {
    /// What the source is.
    #[arg(long, value_enum, value_name = "KIND", env = "KIBOTOS_IMPORT_FROM")]
    from: Source,
    /// The file to read; `-` is standard input.
    #[arg(short, long, value_name = "FILE", default_value = "-", env = "KIBOTOS_IMPORT_FILE")]
    file: PathBuf,
    /// Name of the Workspace. Default: made from the container's own name; a create body has none.
    #[arg(long, value_name = "NAME", value_parser = label, env = "KIBOTOS_IMPORT_NAME")]
    name: Option<String>,
    /// Namespace to write into the manifests. Default: none, so that kubectl's own counts.
    #[arg(long, value_name = "NAMESPACE", value_parser = label, env = "KIBOTOS_IMPORT_NAMESPACE")]
    namespace: Option<String>,
    /// Output of `docker image inspect`: what the images set by themselves is left out of what
    /// `--from inspect` makes.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_IMPORT_IMAGE_CONFIG")]
    image_config: Option<PathBuf>,
    /// `NAME=value` lines for the variables of a compose file. Nothing is taken from the
    /// environment of this command, so that the same files always give the same manifests.
    #[arg(long, value_name = "FILE", env = "KIBOTOS_IMPORT_ENV_FILE")]
    env_file: Option<PathBuf>,
}

/// Where a container is described.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Source {
    /// The JSON body of Docker's create call; takes --name.
    Create,
    /// The JSON that `docker inspect CONTAINER…` prints.
    Inspect,
    /// A compose file: one Workspace a service.
    Compose,
    /// The original agent's deploy command, JSON.
    Device,
}

/// Prints the manifests; warnings and errors go to standard error.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let Options { from, file, name, namespace, image_config, env_file } = options;
    let from_file = file != Path::new("-");
    let text = if from_file { read(file)? } else { io::read_to_string(io::stdin().lock())? };
    let image_config = image_config.as_deref().map(read).transpose()?;
    let env_file = env_file.as_deref().map(read).transpose()?;
    let imported = import::import(&Request {
        kind: match from {
            Source::Create => Kind::Create,
            Source::Inspect => Kind::Inspect,
            Source::Compose => Kind::Compose,
            Source::Device => Kind::Device,
        },
        text: &text,
        name: name.as_deref(),
        namespace: namespace.as_deref(),
        image_config: image_config.as_deref(),
        env_file: env_file.as_deref(),
        directory: &directory(file, from_file)?,
        read: &|path| fs::read_to_string(path).map_err(|error| error.to_string()),
    })
    .map_err(|error| {
        if from_file { format!("{}: {error}", file.display()) } else { error.to_string() }
    })?;
    io::stdout().lock().write_all(manifest::yaml(&imported.workspaces)?.as_bytes())?;
    let mut stderr = io::stderr().lock();
    for warning in &imported.warnings {
        writeln!(stderr, "warning: {warning}")?;
    }
    for error in &imported.errors {
        writeln!(stderr, "error: {error}")?;
    }
    match imported.errors.len() {
        0 => Ok(()),
        1 => Err("1 error: what it is of was not imported".into()),
        count => Err(format!("{count} errors: what they are of was not imported").into()),
    }
}

/// What Kubernetes takes as the name of a namespace, and Kibotos as that of a Workspace.
fn label(text: &str) -> Result<String, Invalid> {
    text.parse::<DnsLabel>().map(|_| text.to_owned())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The absolute path of the directory that the source lies in.
fn directory(file: &Path, from_file: bool) -> io::Result<String> {
    let here = env::current_dir()?;
    let directory = match file.parent() {
        Some(parent) if from_file => here.join(parent),
        _ => here,
    };
    Ok(directory.to_string_lossy().into_owned())
}
