//! Containers of ours that no run is there for: what an earlier Host left, or a run that was deleted
//! by hand. They are stopped and kept; removed only at an admin's word.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tracing::{info, warn};

use super::context::Standing;
use super::link::Up;
use crate::api::names::{annotation, label};
use crate::docker::{ContainerStatus, ListItem, RestartPolicy, Update};
use crate::engine::{Engine, EngineError, Remove};

/// Sees to each container in a task of its own, for a stop takes as long as its grace period.
#[derive(Debug, Default)]
pub struct Orphans(HashMap<String, Arc<Mutex<()>>>);

impl Orphans {
    /// Begins with one container, unless one of its Workspace is being seen to.
    pub fn see_to(&mut self, up: &Arc<Up>, uid: &str, item: &ListItem, standing: &Standing) {
        self.0.retain(|_, busy| Arc::strong_count(busy) > 1);
        let busy = self.0.entry(uid.to_owned()).or_default().clone();
        let Ok(busy) = busy.try_lock_owned() else { return };
        let (up, item, standing) = (up.clone(), item.clone(), standing.clone());
        tokio::spawn(async move {
            let _busy: OwnedMutexGuard<()> = busy;
            if let Err(error) = see_to(&up.engine, &item, &standing).await {
                let (container, name) = (&item.id, item.name());
                warn!(%error, container, name, "a container of an earlier run could not be seen to");
            }
        });
    }

    /// What a new task of a Workspace waits for: that nothing is done to its container any more.
    pub fn busy_with(&self, uid: &str) -> Option<Arc<Mutex<()>>> {
        self.0.get(uid).cloned()
    }
}

/// Stops one, or removes it where that was ordered. One operation after another, each of which may
/// be the last: the next resync goes on from what is seen then.
async fn see_to(engine: &Engine, item: &ListItem, standing: &Standing) -> Result<(), EngineError> {
    let id = &item.id;
    let idle = matches!(
        item.state,
        ContainerStatus::Created | ContainerStatus::Exited | ContainerStatus::Dead
    );
    if !idle {
        let off = RestartPolicy { name: "no".to_owned(), maximum_retry_count: None };
        engine.update(id, &Update { restart_policy: Some(off), ..Update::default() }).await?;
        if item.state == ContainerStatus::Paused {
            engine.unpause(id).await?;
        }
        info!(container = id, name = item.name(), "stopping a container that no run is there for");
        engine.stop(id, None).await?;
    }
    let released = item.labels.get(label::HOST_UID) != Some(&standing.orders.uid);
    if released && standing.orders.remove_released {
        let order = annotation::REMOVE_RELEASED;
        info!(container = id, name = item.name(), order, "removing a container that was released");
        engine.remove(id, Remove { volumes: true, force: false }).await?;
    }
    Ok(())
}
