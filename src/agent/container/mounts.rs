//! What a container mounts: the config file, the Volume, binds, mounts, tmpfs, anonymous volumes.

use std::collections::BTreeMap;

use super::faults::{Faults, entries};
use super::{Intent, directory};
use crate::api::WorkspaceRunSpec;
use crate::api::container::{BindOptions, Mount, MountType, TmpfsOptions, VolumeOptions, form};
use crate::api::grammar::{AbsolutePath, Bind, Signal};
use crate::api::names::{ENGINE_VOLUME_PREFIX, PREFIX, engine_volume};
use crate::docker::{self, ApiVersion, Empty, HostConfig};

/// The config file's name in the Workspace's directory.
pub const CONFIG_FILE: &str = "service.conf";

/// Sets binds, mounts and tmpfs.
pub fn mount(intent: &Intent<'_>, host: &mut HostConfig, faults: &mut Faults) {
    let run = intent.run;
    let mut taken = Taken::default();
    let mut binds = Vec::new();
    if let Some(config) = &run.config_file {
        binds.push(format!("{}/{CONFIG_FILE}:{}", directory(run, intent.root), config.path));
    }
    let mut mounts = Vec::new();
    for volume in run.mounts.iter().flatten() {
        mounts.push(docker::Mount {
            type_: "volume".to_owned(),
            source: Some(engine_volume(&volume.volume.uid)),
            target: volume.path.clone(),
            ..docker::Mount::default()
        });
    }
    for (i, bind) in run.container.binds.iter().flatten().enumerate() {
        let path = format!("spec.container.binds[{i}]");
        if let Some(parsed) = faults.parse::<Bind>(&path, bind) {
            taken.claim(parsed.destination().as_str(), &path, faults);
        }
        binds.push(bind.clone());
    }
    for (i, mount) in run.container.mounts.iter().flatten().enumerate() {
        let path = format!("spec.container.mounts[{i}]");
        taken.claim(&mount.target, &format!("{path}.target"), faults);
        mounts.push(long_form(mount, &path, faults));
    }
    for key in run.container.tmpfs.iter().flat_map(BTreeMap::keys) {
        let path = format!("spec.container.tmpfs[{key}]");
        faults.parse::<AbsolutePath>(&path, key);
        taken.claim(key, &path, faults);
    }
    own(run, &mut taken, faults);
    host.binds = Some(binds).filter(|list| !list.is_empty());
    host.mounts = Some(mounts).filter(|list| !list.is_empty());
    host.tmpfs = entries(run.container.tmpfs.as_ref());
}

/// The Workspace's own paths, which give way to the container's: theirs is the field to change.
fn own(run: &WorkspaceRunSpec, taken: &mut Taken, faults: &mut Faults) {
    for volume in run.mounts.iter().flatten() {
        faults.parse::<AbsolutePath>("spec.volume.mountPath", &volume.path);
        taken.claim(&volume.path, "spec.volume.mountPath", faults);
    }
    if let Some(config) = &run.config_file {
        faults.parse::<AbsolutePath>("spec.configFile.path", &config.path);
        taken.claim(&config.path, "spec.configFile.path", faults);
        if let Some(signal) = &config.reload_signal {
            faults.parse::<Signal>("spec.configFile.reloadSignal", signal);
        }
    }
}

/// The paths of volumes without a name, the config file's among them.
///
/// A bind on the same path wins, which the engine allows.
pub fn anonymous(run: &WorkspaceRunSpec, faults: &mut Faults) -> BTreeMap<String, Empty> {
    let mut volumes = BTreeMap::new();
    if let Some(config) = &run.config_file {
        volumes.insert(config.path.clone(), Empty {});
    }
    for (i, path) in run.container.anonymous_volumes.iter().flatten().enumerate() {
        faults.parse::<AbsolutePath>(&format!("spec.container.anonymousVolumes[{i}]"), path);
        volumes.insert(path.clone(), Empty {});
    }
    volumes
}

/// Which paths are mounted on, and by what.
#[derive(Default)]
struct Taken(BTreeMap<String, String>);

impl Taken {
    fn claim(&mut self, target: &str, field: &str, faults: &mut Faults) {
        match self.0.get(target) {
            Some(by) => faults.add(
                field,
                format!("{target} is already mounted by {by}: a path may be used once"),
            ),
            None => {
                self.0.insert(target.to_owned(), field.to_owned());
            }
        }
    }
}

fn long_form(mount: &Mount, path: &str, faults: &mut Faults) -> docker::Mount {
    let at = |field: &str| format!("{path}.{field}");
    faults.parse::<AbsolutePath>(&at("target"), &mount.target);
    source(mount, path, faults);
    faults.needs(at("type"), mount.type_ == MountType::Image, ApiVersion::v1(48), "28");
    docker::Mount {
        type_: mount.type_.as_str().to_owned(),
        source: mount.source.clone().filter(|source| !source.is_empty()),
        target: mount.target.clone(),
        read_only: mount.read_only.filter(|read_only| *read_only),
        consistency: mount.consistency.map(|c| c.as_str().to_owned()),
        bind_options: mount.bind_options.as_ref().map(|o| bind_options(o, path, faults)),
        volume_options: mount.volume_options.as_ref().map(|o| volume_options(o, path, faults)),
        image_options: mount
            .image_options
            .as_ref()
            .map(|o| docker::ImageOptions { subpath: o.subpath.clone() }),
        tmpfs_options: mount.tmpfs_options.as_ref().map(|o| tmpfs_options(o, path, faults)),
    }
}

/// The rules that the schema has too; here for what a template and a Workspace make together.
fn source(mount: &Mount, path: &str, faults: &mut Faults) {
    let source = mount.source.as_deref().unwrap_or_default();
    let right = match mount.type_ {
        MountType::Bind => {
            form::BIND_SOURCE.fits(source) && !source.split('/').any(|segment| segment == "..")
        }
        MountType::Tmpfs => mount.source.is_none(),
        MountType::Image => !source.is_empty(),
        MountType::Volume => form::VOLUME_SOURCE.fits(source),
    };
    if !right {
        faults.add(
            format!("{path}.source"),
            "type bind needs an absolute path of the host without '..', type image an image, \
             type volume a volume's name or nothing, type tmpfs nothing",
        );
    }
    if mount.type_ == MountType::Volume && source.starts_with(ENGINE_VOLUME_PREFIX) {
        faults.add(
            format!("{path}.source"),
            "volumes whose name begins with kibotos- hold the data of other Workspaces",
        );
    }
    for (options, given, type_) in [
        ("bindOptions", mount.bind_options.is_some(), MountType::Bind),
        ("volumeOptions", mount.volume_options.is_some(), MountType::Volume),
        ("imageOptions", mount.image_options.is_some(), MountType::Image),
        ("tmpfsOptions", mount.tmpfs_options.is_some(), MountType::Tmpfs),
    ] {
        if given && mount.type_ != type_ {
            let message = format!("{options} goes with type {} only", type_.as_str());
            faults.add(format!("{path}.{options}"), message);
        }
    }
}

fn bind_options(options: &BindOptions, path: &str, faults: &mut Faults) -> docker::BindOptions {
    let at = |field: &str| format!("{path}.bindOptions.{field}");
    let on = |flag: Option<bool>| flag.filter(|on| *on);
    let made = docker::BindOptions {
        propagation: options.propagation.map(|p| p.as_str().to_owned()),
        non_recursive: on(options.non_recursive),
        create_mountpoint: on(options.create_mountpoint),
        read_only_non_recursive: on(options.read_only_non_recursive),
        read_only_force_recursive: on(options.read_only_force_recursive),
    };
    let used = |flag: Option<bool>| flag.is_some();
    faults.needs(at("createMountpoint"), used(made.create_mountpoint), ApiVersion::v1(42), "23");
    let least = ApiVersion::v1(44);
    faults.needs(at("readOnlyNonRecursive"), used(made.read_only_non_recursive), least, "25");
    faults.needs(at("readOnlyForceRecursive"), used(made.read_only_force_recursive), least, "25");
    made
}

fn volume_options(
    options: &VolumeOptions,
    path: &str,
    faults: &mut Faults,
) -> docker::VolumeOptions {
    let subpath = options.subpath.clone().filter(|subpath| !subpath.is_empty());
    for key in options.labels.iter().flat_map(BTreeMap::keys) {
        if key.is_empty() || key.starts_with(PREFIX) {
            faults.add(
                format!("{path}.volumeOptions.labels[{key}]"),
                "a label key may be neither empty nor begin with kibotos.dev/",
            );
        }
    }
    let at = format!("{path}.volumeOptions.subpath");
    faults.needs(at, subpath.is_some(), ApiVersion::v1(45), "26");
    docker::VolumeOptions {
        no_copy: options.no_copy.filter(|no_copy| *no_copy),
        labels: entries(options.labels.as_ref()),
        driver_config: options.driver_config.as_ref().map(|driver| docker::DriverConfig {
            name: driver.name.clone().filter(|name| !name.is_empty()),
            options: entries(driver.options.as_ref()),
        }),
        subpath,
    }
}

fn tmpfs_options(options: &TmpfsOptions, path: &str, faults: &mut Faults) -> docker::TmpfsOptions {
    let further = options.options.clone().filter(|list| !list.is_empty());
    let at = format!("{path}.tmpfsOptions.options");
    faults.needs(at, further.is_some(), ApiVersion::v1(46), "27");
    docker::TmpfsOptions {
        size_bytes: options.size_bytes.filter(|size| *size != 0),
        mode: options.mode.map(i64::from).filter(|mode| *mode != 0),
        options: further,
    }
}
