//! Names that more than one part must agree on: labels, annotations, finalizers, field managers,
//! and the names derived from a user's.

/// The prefix of every label, annotation and finalizer that is ours; refused to users in labels.
pub const PREFIX: &str = "kibotos.dev/";

/// Labels on API objects, containers and volumes.
pub mod label {
    /// The uid of the Workspace a run, container or volume belongs to.
    pub const WORKSPACE_UID: &str = "kibotos.dev/workspace-uid";
    /// The name of that Workspace.
    pub const WORKSPACE_NAME: &str = "kibotos.dev/workspace";
    /// The namespace of that Workspace.
    pub const WORKSPACE_NAMESPACE: &str = "kibotos.dev/workspace-namespace";
    /// The uid of the Host whose agent made a container or volume.
    pub const HOST_UID: &str = "kibotos.dev/host-uid";
    /// The name of the Host a host namespace belongs to.
    pub const HOST_NAME: &str = "kibotos.dev/host";
    /// The uid of the Volume a VolumeTask or an engine's volume belongs to.
    pub const VOLUME_UID: &str = "kibotos.dev/volume-uid";
    /// The versioned hash of the resolved run a container was made from.
    pub const SPEC_HASH: &str = "kibotos.dev/spec-hash";
}

/// Annotations a user or an admin may set.
pub mod annotation {
    /// `"true"` on a Workspace: release it from a host that is gone for good.
    pub const ABANDON: &str = "kibotos.dev/abandon";
    /// On a Host: the boot id at which an admin vouches that nothing runs there any more.
    pub const FENCED: &str = "kibotos.dev/fenced";
    /// `"true"` on a Host: remove the containers that an earlier Host of that name left.
    pub const REMOVE_RELEASED: &str = "kibotos.dev/remove-released";
}

/// Holds an object until the controller has cleaned up what belongs to it.
pub const FINALIZER: &str = "kibotos.dev/cleanup";

/// Field managers of server-side apply, one per writer.
pub mod manager {
    /// The controller's.
    pub const CONTROLLER: &str = "kibotos-controller";
    /// The agent's.
    pub const AGENT: &str = "kibotos-agent";
}

/// Begins the name of every host namespace.
pub const HOST_NAMESPACE_PREFIX: &str = "kibotos-host-";
/// Begins the name of every volume on an engine that is ours.
pub const ENGINE_VOLUME_PREFIX: &str = "kibotos-";
/// The longest Host name: its namespace is a DNS label of at most 63 characters.
pub const HOST_NAME_MAX: usize = 63 - HOST_NAMESPACE_PREFIX.len();
/// The implicit storage pool: the engine's own local driver.
pub const LOCAL_POOL: &str = "local";
/// The directory `mountPath` names when a Workspace says nothing about its Volume.
pub const DEFAULT_MOUNT_PATH: &str = "/data";
/// Where the config file is mounted when a Workspace names no path.
pub const DEFAULT_CONFIG_PATH: &str = "/usr/local/etc/service.conf";
/// Time between signal and SIGKILL where a Workspace names none, as Docker's own.
pub const DEFAULT_STOP_GRACE: std::time::Duration = std::time::Duration::from_secs(10);
/// The environment variable that always holds the container's name.
pub const CONTAINER_NAME_ENV: &str = "CONTAINER_NAME";

/// How much of a Workspace's name goes into the names of its runs.
const RUN_NAME_CUT: usize = 40;
/// How much of a uid is enough to tell two objects of one name apart in a derived name.
const UID_CUT: usize = 8;

/// The namespace that holds all that one host may read and write.
pub fn host_namespace(host: &str) -> String {
    format!("{HOST_NAMESPACE_PREFIX}{host}")
}

/// The name of a Workspace's run: its name cut at 40, eight characters of its uid, the sequence.
///
/// A DNS label of at most 60 characters for every sequence below 10^10.
pub fn run_name(workspace: &str, uid: &str, sequence: i64) -> String {
    let (name, uid) = (cut(workspace, RUN_NAME_CUT), short_uid(uid));
    format!("{name}-{uid}-{sequence}")
}

/// As much of a uid as derived names bear: eight characters.
pub fn short_uid(uid: &str) -> &str {
    cut(uid, UID_CUT)
}

/// The container's name where the user gives none.
pub fn default_container_name(namespace: &str, workspace: &str) -> String {
    // `_` cannot be part of either, so no two Workspaces share a default name.
    format!("{namespace}_{workspace}")
}

/// The name of a Volume's volume on an engine.
pub fn engine_volume(uid: &str) -> String {
    format!("{ENGINE_VOLUME_PREFIX}{uid}")
}

/// The name a TemplateRevision must bear.
pub fn template_revision(template: &str, revision: &str) -> String {
    format!("{template}-{revision}")
}

fn cut(text: &str, at: usize) -> &str {
    text.char_indices().nth(at).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_name_is_a_dns_label_however_long_the_workspace_name() {
        let uid = "3f2b8c1e-9a77-4a55-8d0c-111122223333";
        assert_eq!(run_name("web", uid, 1), "web-3f2b8c1e-1");
        let long = run_name(&"a".repeat(63), uid, 9_999_999_999);
        assert_eq!(long, format!("{}-3f2b8c1e-9999999999", "a".repeat(40)));
        assert!(long.len() <= 63);
    }

    #[test]
    fn the_longest_host_name_fits_its_namespace() {
        assert_eq!(HOST_NAME_MAX, 50);
        assert_eq!(host_namespace(&"h".repeat(HOST_NAME_MAX)).len(), 63);
    }

    #[test]
    fn default_container_names_of_different_workspaces_differ() {
        assert_ne!(default_container_name("a-b", "c"), default_container_name("a", "b-c"));
        assert_eq!(default_container_name("default", "nginx"), "default_nginx");
    }
}
