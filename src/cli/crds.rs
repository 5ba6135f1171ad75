//! `kibotos crds`: print the CustomResourceDefinitions, or write one file a kind.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::{fs, io};

use clap::Args;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::api::crds;
use crate::yaml;

/// What `kibotos crds` takes.
#[derive(Debug, Args)]
pub struct Options {
    /// Write one file a kind into this directory instead of printing them.
    #[arg(long, value_name = "DIR", env = "KIBOTOS_CRDS_OUT")]
    out: Option<PathBuf>,
}

/// Prints or writes the definitions.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let Options { out } = options;
    let all = crds::all()?;
    match out {
        Some(directory) => {
            fs::create_dir_all(directory)
                .map_err(|e| format!("make the directory {}: {e}", directory.display()))?;
            for crd in &all {
                let file = directory.join(format!("{}.yaml", crd.spec.names.plural));
                fs::write(&file, yaml(crd)?)
                    .map_err(|e| format!("write {}: {e}", file.display()))?;
            }
        }
        None => {
            let mut stdout = io::stdout().lock();
            for crd in &all {
                writeln!(stdout, "---\n{}", yaml(crd)?.trim_end())?;
            }
        }
    }
    Ok(())
}

/// One definition as YAML that a YAML 1.1 reader, as Kubernetes' is, takes for the same.
fn yaml(crd: &CustomResourceDefinition) -> Result<String, Box<dyn Error>> {
    Ok(yaml::to_string(&serde_json::to_value(crd)?)?)
}
