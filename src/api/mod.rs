//! The kinds of `kibotos.dev/v1alpha1`: types only, no I/O.
//!
//! ```text
//!  user ──▶ Workspace ─┬─ template ──▶ Template ──default──▶ TemplateRevision
//!                      ├─ volume ────▶ Volume ──pool──▶ StoragePool
//!                      └─ placement ─▶ Host
//!  controller ──▶ WorkspaceRun, VolumeTask   (namespace kibotos-host-<host>, resolved, bound to that Host)
//!             ──▶ WorkspaceRecord            (what is left of a deleted Workspace)
//! ```
//!
//! The controller and the agent meet here and nowhere else.
//!
//! Strings with a grammar are kept in the kinds as the user wrote them: a read never fails on
//! them, GitOps sees no difference, and all errors of a spec can be told at once. Their schema
//! comes from the newtype in [`grammar`] that parses them, so API server and parser agree.

pub mod condition;
pub mod container;
pub mod crds;
pub mod field_error;
pub mod grammar;
pub mod host;
pub mod names;
pub(crate) mod quantity_rules;
pub mod reason;
pub mod reference;
pub mod resources;
pub mod selector;
pub mod storage_pool;
pub mod template;
pub mod volume;
pub mod volume_task;
pub mod workspace;
pub mod workspace_record;
pub mod workspace_run;

pub use condition::{ConditionType, Conditions, State};
pub use container::Container;
pub use host::{Host, HostSpec, HostStatus};
pub use reason::Reason;
pub use resources::Resources;
pub use storage_pool::{StoragePool, StoragePoolSpec, StoragePoolStatus};
pub use template::{
    Template, TemplateRevision, TemplateRevisionSpec, TemplateRevisionStatus, TemplateSpec,
    TemplateStatus,
};
pub use volume::{Volume, VolumeSpec, VolumeStatus};
pub use volume_task::{VolumeTask, VolumeTaskSpec, VolumeTaskStatus};
pub use workspace::{Workspace, WorkspaceSpec, WorkspaceStatus};
pub use workspace_record::{WorkspaceRecord, WorkspaceRecordSpec};
pub use workspace_run::{WorkspaceRun, WorkspaceRunSpec, WorkspaceRunStatus};

/// Leaves the description of an enum to the fields that have it: what a type says of itself would
/// else stand in `kubectl explain` in place of what a field says.
fn field_describes(schema: &mut schemars::Schema) {
    schema.remove("description");
}

/// The API group of all kinds.
pub const GROUP: &str = "kibotos.dev";
/// The served and stored version of all kinds.
pub const VERSION: &str = "v1alpha1";
/// The category that `kubectl get kibotos` lists.
pub const CATEGORY: &str = "kibotos";
