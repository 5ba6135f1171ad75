//! Containers of ours that no run is there for: what an earlier Host left, or a run that was deleted
//! by hand. They are stopped and kept; removed only at an admin's word.

use tracing::info;

use super::context::Standing;
use crate::api::names::{annotation, label};
use crate::docker::{ContainerStatus, ListItem, RestartPolicy, Update};
use crate::engine::{Engine, EngineError, Remove};

/// Stops one, or removes it where that was ordered. One operation after another, each of which may
/// be the last: the next resync goes on from what is seen then.
pub async fn see_to(
    engine: &Engine,
    item: &ListItem,
    standing: &Standing,
) -> Result<(), EngineError> {
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
