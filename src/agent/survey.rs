//! One look at the whole engine: all containers in one list, and what the engine is.
//!
//! Made beside the main loop: an engine that hangs in one call must hold nothing else up.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::disk::DiskUse;
use super::link::Up;
use super::registration::{self, EngineFacts};
use crate::docker::ListItem;

/// An engine that takes longer hangs.
const WITHIN: Duration = Duration::from_secs(10);

/// What was seen.
#[derive(Debug)]
pub struct Survey {
    /// All containers.
    pub listed: Vec<ListItem>,
    /// What the engine is.
    pub engine: EngineFacts,
    /// How full its disk is, in percent.
    pub full: Option<u8>,
}

/// Looks once. `known` is what the same engine said of itself before: that does not change.
pub async fn survey(up: &Arc<Up>, known: Option<EngineFacts>) -> Result<Survey, String> {
    let listed = within(up.engine.list(&[])).await?;
    let engine = match known {
        Some(engine) => engine,
        None => within(registration::ask(&up.engine)).await?,
    };
    let directory = PathBuf::from(&engine.info.docker_root_dir);
    let full = tokio::task::spawn_blocking(move || DiskUse::of(&directory).ok());
    let full = full.await.ok().flatten().map(DiskUse::fullest);
    Ok(Survey { listed, engine, full })
}

async fn within<T>(
    call: impl Future<Output = Result<T, crate::engine::EngineError>>,
) -> Result<T, String> {
    match tokio::time::timeout(WITHIN, call).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("it did not answer within {WITHIN:?}")),
    }
}
