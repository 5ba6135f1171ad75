//! Judges what a container mounts.

use std::collections::BTreeMap;

use super::Context;
use super::driver::{driver_name, is_plain};
use super::path::{BindUse, HostPath, covers};
use super::refusal::Refusals;
use crate::api::grammar::{Bind, BindOption, BindSource};
use crate::api::names::{ENGINE_VOLUME_PREFIX, PREFIX};
use crate::docker::{BindOptions, DriverConfig, Mount, VolumeOptions};

/// Judges binds in the short form; the agent's own, the config file's, comes first and once.
pub fn binds(list: &[String], context: &Context<'_>, refusals: &mut Refusals<'_>) {
    let mut own = context.own_bind();
    let mut index = 0;
    for text in list {
        if own.as_ref() == Some(text) {
            own = None;
            continue;
        }
        let path = format!("spec.container.binds[{index}]");
        index += 1;
        match text.parse::<Bind>() {
            Err(fault) => refusals.never(path, &fault.to_string()),
            Ok(bind) => match bind.source() {
                BindSource::Volume(name) => named_volume(name, path, refusals),
                BindSource::Path(source) => {
                    let has =
                        |wanted: &[BindOption]| wanted.iter().any(|o| bind.options().contains(o));
                    let used = BindUse {
                        // A new label is written to the source, whatever the container may do.
                        writes: !bind.is_read_only()
                            || has(&[BindOption::SharedLabel, BindOption::PrivateLabel]),
                        shared: has(&[BindOption::Shared, BindOption::RShared]),
                    };
                    host_path(source, used, &path, context.sockets, refusals);
                }
            },
        }
    }
}

/// Judges mounts in the long form; the Workspace's own Volume comes first and once.
pub fn mounts(list: &[Mount], context: &Context<'_>, refusals: &mut Refusals<'_>) {
    let mut own = context.own_mounts();
    let mut index = 0;
    for mount in list {
        if let Some(found) = own.iter().position(|own| own == mount) {
            own.remove(found);
            continue;
        }
        one_mount(mount, &format!("spec.container.mounts[{index}]"), context.sockets, refusals);
        index += 1;
    }
}

/// Judges what the Workspace's Volumes are made with. The body has their names alone: the agent
/// makes them before, with what the run says, and the local driver can show all of the host.
pub fn volumes(context: &Context<'_>, refusals: &mut Refusals<'_>) {
    for (i, mount) in context.run.mounts.iter().flatten().enumerate() {
        let fields = ["driver", "driverOptions"].map(|field| format!("spec.mounts[{i}].{field}"));
        driver(Some(&mount.driver), mount.driver_options.as_ref(), fields, refusals);
    }
}

fn one_mount(mount: &Mount, path: &str, sockets: &[HostPath], refusals: &mut Refusals<'_>) {
    let Mount {
        type_,
        source,
        target: _,
        read_only,
        consistency: _,
        bind_options: bind,
        volume_options: volume,
        // Both stay within the container, or show what any image shows.
        image_options: _,
        tmpfs_options: _,
    } = mount;
    let source = source.as_deref().unwrap_or_default();
    let at = format!("{path}.source");
    match type_.as_str() {
        "bind" => {
            let used = bind_use(*read_only, bind.as_ref(), path, refusals);
            host_path(source, used, &at, sockets, refusals);
        }
        "volume" if source.is_empty() => {}
        "volume" => named_volume(source, at, refusals),
        "tmpfs" | "image" => {}
        _ => refusals.never(format!("{path}.type"), "write bind, volume, tmpfs or image"),
    }
    // An engine refuses options of another type; one that would not is not relied upon.
    if type_ != "bind" && bind.is_some() {
        refusals.never(format!("{path}.bindOptions"), "bindOptions goes with type bind only");
    }
    if let Some(options) = volume {
        volume_options(options, path, refusals);
    }
}

fn bind_use(
    read_only: Option<bool>,
    options: Option<&BindOptions>,
    path: &str,
    refusals: &mut Refusals<'_>,
) -> BindUse {
    let mut used = BindUse { writes: read_only != Some(true), shared: false };
    let Some(options) = options else { return used };
    let BindOptions {
        propagation,
        non_recursive: _,
        create_mountpoint,
        read_only_non_recursive,
        read_only_force_recursive: _,
    } = options;
    used.writes |= *create_mountpoint == Some(true) || *read_only_non_recursive == Some(true);
    match propagation.as_deref().unwrap_or_default() {
        "" | "private" | "rprivate" | "slave" | "rslave" => {}
        "shared" | "rshared" => used.shared = true,
        _ => refusals.never(
            format!("{path}.bindOptions.propagation"),
            "write private, rprivate, slave, rslave, shared or rshared",
        ),
    }
    used
}

/// Judges a path of the host as the source of a bind.
fn host_path(
    source: &str,
    used: BindUse,
    at: &str,
    sockets: &[HostPath],
    refusals: &mut Refusals<'_>,
) {
    let path: HostPath = match source.parse() {
        Ok(path) => path,
        Err(fault) => return refusals.never(at, &fault.to_string()),
    };
    if path.is_through_a_process() {
        return refusals.never(at, "what is below /proc/PID leads anywhere: write the path itself");
    }
    let allowances = refusals.allowances();
    if path.reaches_engine(sockets) {
        let what = format!("{path}, which is or holds the socket of an engine,");
        refusals.need(allowances.docker_socket, at, &what, "dockerSocket");
        // The socket itself needs no prefix: it is an allowance of its own.
        if path.is_engine_socket(sockets) && !used.shared {
            return;
        }
    }
    let covered = covers(&allowances.bind_prefixes, &path, used);
    let how = match used {
        BindUse { shared: true, .. } => " with shared: true",
        BindUse { writes: true, .. } => "",
        BindUse { writes: false, .. } => " with readOnly: true",
    };
    refusals.need(covered, at, &format!("{path}{how}"), "bindPrefixes");
}

fn named_volume(name: &str, at: String, refusals: &mut Refusals<'_>) {
    if name.starts_with(ENGINE_VOLUME_PREFIX) {
        return refusals.never(
            at,
            "volumes whose name begins with kibotos- hold the data of other Workspaces",
        );
    }
    let allowed = refusals.allowances().named_volumes.iter().any(|entry| entry.matches(name));
    refusals.need(allowed, at, name, "namedVolumes");
}

fn volume_options(options: &VolumeOptions, path: &str, refusals: &mut Refusals<'_>) {
    let VolumeOptions { no_copy: _, labels, driver_config, subpath: _ } = options;
    let at = |field: &str| format!("{path}.volumeOptions.{field}");
    if labels.iter().flat_map(BTreeMap::keys).any(|key| key.starts_with(PREFIX)) {
        refusals
            .never(at("labels"), "labels under kibotos.dev/ say which volumes are a Workspace's");
    }
    let Some(DriverConfig { name, options }) = driver_config else { return };
    let fields = [at("driverConfig.name"), at("driverConfig.options")];
    driver(name.as_deref(), options.as_ref(), fields, refusals);
}

/// Judges a volume's driver and options; `fields` are where each is written.
fn driver(
    name: Option<&str>,
    options: Option<&BTreeMap<String, String>>,
    fields: [String; 2],
    refusals: &mut Refusals<'_>,
) {
    let driver = driver_name(name);
    let none = BTreeMap::new();
    let options = options.unwrap_or(&none);
    let listed = &refusals.allowances().volume_driver_options;
    let allowed = is_plain(driver, options) || listed.iter().any(|e| e.covers(driver, options));
    let [of_name, of_options] = fields;
    let (field, what) = if options.is_empty() {
        (of_name, driver.to_owned())
    } else {
        (of_options, format!("{driver} with these options"))
    };
    refusals.need(allowed, field, &what, "volumeDriverOptions");
}
