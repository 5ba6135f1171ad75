//! Host policy: what a Workspace may have of this host. Default closed, judged on the final create
//! body, whatever path it came by, and never by changing it.
//!
//! ```text
//!  agent.yaml ──▶ HostPolicy ──governing(namespace)──▶ Governing ─┐
//!  run ──create_body──▶ Create ───────────────────────────────────┴─▶ check ──▶ [FieldError]
//! ```
//!
//! What is not in this table reaches nothing of the host and is always allowed (image, command,
//! environment, labels, health check, limits of memory, CPU, processes and block devices on the
//! container itself, names and DNS, `init`, restart policy, tmpfs, image mounts). A member that is
//! added to the create body does not compile until [`check`] says what becomes of it.
//!
//! | in the create body | allowed by | always allowed | never allowed |
//! |---|---|---|---|
//! | `Privileged` | `privileged` | | |
//! | `NetworkMode`, networks joined at creation or after | `networks`; `host`: `hostNamespaces: [network]`; `container:…`: `joinContainers` | unset, `default`, `bridge`, `none` | |
//! | `EndpointSettings.DriverOpts` | the network listed under `networks`; the option with kernel parameters: `sysctls` | the interface's name | |
//! | `PidMode`, `IpcMode` | `host`: `hostNamespaces`; `container:…`: `joinContainers` | unset; IPC `private`, `shareable`, `none` | other modes |
//! | `UTSMode`, `UsernsMode`, `CgroupnsMode` | `host`: `hostNamespaces` | unset; cgroup `private` | other modes |
//! | `Binds`, bind mounts | `bindPrefixes`, after cleaning; writable, created, relabelled (`z`, `Z`) or with writable submounts: not under a `readOnly` prefix; propagation `shared`, `rshared`: under a `shared` one | the config file's bind; propagation `private`, `slave` | `..`, relative paths, `/proc/PID/…` |
//! | a bind of an engine's socket | `dockerSocket`; of a directory that holds one: `bindPrefixes` too | | |
//! | volumes by name | `namedVolumes` | anonymous volumes; the Workspace's own Volume, exactly as the run mounts it (its driver: below) | names that begin `kibotos-` |
//! | a volume's driver and its options, also of the Workspace's own (`mounts[].driver`, not in the body) | `volumeDriverOptions` | `local` without options | labels under `kibotos.dev/` |
//! | other mounts | | `tmpfs`, `image` | other types (`npipe`, `cluster`) |
//! | `container.directory` (not in the body) | `directoryPrefixes`; holding an engine's socket: `dockerSocket` too | unset | `/`, `..`, relative paths |
//! | `Devices` | `devices` by path, with no more permissions | | permissions other than of `rwm` |
//! | `DeviceCgroupRules` | `devices` by a rule that says as much or more | | what is no rule |
//! | `DeviceRequests` | `deviceRequests`: the driver; without one, each capability asked for | | neither driver nor capability |
//! | `CapAdd` | `capabilities`; `ALL` only by `ALL` | Docker's 14 default ones | |
//! | `CapDrop`, `ReadonlyRootfs`, `User`, `GroupAdd` | | always | |
//! | `OomScoreAdj` below 0, `OomKillDisable` | `capabilities: [SYS_RESOURCE]`, which a process needs for it | `OomScoreAdj` above 0 | |
//! | ulimits `nice`, `rtprio` | `capabilities: [SYS_NICE]`, as above | 0; other ulimits | |
//! | `Sysctls` | `sysctls` | | keys with `/` or `..` |
//! | `SecurityOpt` | `securityOpts`, in the engine's one spelling | `no-new-privileges`, `apparmor=docker-default`, `writable-cgroups=false` | |
//! | `Runtime` | `runtimes`, `runc` too, which may be less than the engine's default | unset | `default` |
//! | `Annotations` | `runtimes` with `annotations` | | |
//! | `LogConfig` | `logDrivers` | `json-file`, `local`, `none`, unset with options of how much is kept | other options without a driver |
//! | `PortBindings` | `hostPorts`; without a fixed port: `dynamic` | not published | addresses and ports that cannot be read |
//! | `PublishAllPorts` | `hostPorts: [dynamic]`, of every protocol and address | | |
//! | `CgroupParent` | `cgroupParents`, after cleaning | unset | `..` |
//! | `StorageOpt` | | `size` | other options |
//!
//! Allowances only ever allow: with more of them nothing more is refused. What is allowed can be a
//! way to more (`privileged`, `dockerSocket`, the local volume driver with every option, a device
//! with a disk on it): the policy keeps the words apart, not what root makes of them.
//!
//! A container's own part of the body is known by being exactly what the run makes it: the bind of
//! its config file, and the mounts of `run.mounts`, each once.

mod allowances;
mod check;
mod device;
mod driver;
mod entry;
mod mounts;
mod networks;
mod path;
mod pattern;
mod port;
mod refusal;
mod right;
mod rights;
#[cfg(test)]
mod tests;

pub use allowances::{Allowances, Governing, HostNamespace, HostPolicy};
pub use check::{Context, check, check_directory};
pub(super) use entry::or_empty;
pub use path::{BindPrefix, BindUse, HostPath, covers};
