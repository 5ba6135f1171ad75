//! Makes room on a full disk: removes images that the agent itself pulled and nothing uses.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Handle;
use tracing::{info, warn};

use super::context::Shared;
use super::disk::DiskUse;
use super::images::collect::{Threshold, collect};
use super::link::Up;
use crate::api::host::HostMode;

/// Room is made until the disk is less full than the threshold by this many percent.
const MARGIN: u8 = 5;

/// Makes room, one sweep at a time.
#[derive(Clone, Debug, Default)]
pub struct Housekeeper(Arc<AtomicBool>);

impl Housekeeper {
    /// Begins a sweep where the disk below `directory` is too full and none is under way.
    pub fn sweep(&self, context: &Shared, up: &Arc<Up>, directory: PathBuf) {
        let high = context.config.images.collect_at_disk_percent.get();
        let threshold = Threshold { high, low: high.saturating_sub(MARGIN) };
        let restricted = context.standing.borrow().orders.mode == HostMode::Restricted;
        let full = fullness(&directory);
        if restricted
            || !threshold.wants(full, false)
            || context.memoir.images().images().is_empty()
        {
            return;
        }
        if self.0.swap(true, Ordering::AcqRel) {
            return;
        }
        let (busy, context, up) = (self.0.clone(), context.clone(), up.clone());
        let runtime = Handle::current();
        // What it asks is the disk's, which may block.
        tokio::task::spawn_blocking(move || {
            runtime.block_on(make_room(&context, &up, &directory, threshold));
            busy.store(false, Ordering::Release);
        });
    }
}

async fn make_room(context: &Shared, up: &Up, directory: &Path, threshold: Threshold) {
    let mut pulled = context.memoir.images();
    let full = async || fullness(directory);
    let referred = || context.memoir.referred();
    match collect(&up.engine, &mut pulled, threshold, full, referred).await {
        Ok(removed) if !removed.is_empty() => {
            let images: Vec<_> = removed.iter().map(|image| &image.reference).collect();
            info!(?images, "the disk was nearly full: removed images that nothing uses");
            context.memoir.removed(&removed);
        }
        Ok(_) => warn!("the disk is nearly full, and no image can be removed"),
        Err(error) => warn!(%error, "no room could be made on the disk"),
    }
}

/// In percent; a disk that cannot be looked at is not full.
fn fullness(directory: &Path) -> u8 {
    DiskUse::of(directory).map_or(0, DiskUse::fullest)
}
