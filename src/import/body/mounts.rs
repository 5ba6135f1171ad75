//! What a container mounts: binds, mounts, tmpfs, anonymous volumes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Body, process, valid};
use crate::api::Container;
use crate::api::container::{
    BindOptions, Consistency, DriverConfig, ImageOptions, Mount, MountType, Propagation,
    TmpfsOptions, VolumeOptions,
};
use crate::api::grammar::{AbsolutePath, Bind, VolumeName};
use crate::import::notes::Notes;
use crate::import::object::{Object, is_zero};

/// All that is mounted.
pub fn read(body: &mut Body<'_>, container: &mut Container, notes: &mut Notes) {
    let mut taken = Taken::default();
    let mut anonymous = Vec::new();
    let mut binds = Vec::new();
    let mut mounts = Vec::new();
    let driver = body.host.text("VolumeDriver", notes).filter(|driver| driver != "local");
    for (at, text) in body.host.texts("Binds", notes) {
        if !text.contains(':') {
            anonymous.extend(valid::path::<AbsolutePath>(&at, &text, notes));
            continue;
        }
        let Some(bind) = bind(&at, &text, notes) else { continue };
        if !taken.claim(bind.destination().as_str(), &at, notes) {
            continue;
        }
        match driver.as_deref().and_then(|driver| of_driver(&bind, driver)) {
            Some(mount) => mounts.push(mount),
            None => binds.push(bind.as_str().to_owned()),
        }
    }
    for (at, value) in body.host.list("Mounts", notes) {
        let Some(mount) = mount(&mut Object::of(&at, value, notes), notes) else { continue };
        if taken.claim(&mount.target, &at, notes) {
            mounts.push(mount);
        }
    }
    let mut tmpfs = BTreeMap::new();
    for (path, options) in body.host.map("Tmpfs", notes) {
        let at = format!("HostConfig.Tmpfs[{path}]");
        let Some(path) = valid::path::<AbsolutePath>(&at, &path, notes) else { continue };
        if taken.claim(&path, &at, notes) {
            tmpfs.insert(path, options);
        }
    }
    for (path, at, value) in body.config.object("Volumes", notes).rest() {
        if !is_zero(value) {
            notes.warn(&at, "must be an empty object: what is in it is left out");
        }
        anonymous.extend(valid::path::<AbsolutePath>(&at, path, notes));
    }
    let mut seen = BTreeSet::new();
    anonymous.retain(|path| seen.insert(path.clone()));
    if driver.is_some() && !anonymous.is_empty() {
        let message =
            "does not count for volumes without a name: name them in mounts, with driverConfig";
        notes.warn("HostConfig.VolumeDriver", message);
    }
    container.binds = valid::bounded("HostConfig.Binds", binds, 64, notes);
    container.mounts = valid::bounded("HostConfig.Mounts", mounts, 64, notes);
    container.tmpfs = Some(tmpfs).filter(|map| !map.is_empty());
    container.anonymous_volumes = valid::bounded("Volumes", anonymous, 64, notes);
}

/// Which paths are mounted on.
#[derive(Default)]
struct Taken(BTreeSet<String>);

impl Taken {
    fn claim(&mut self, target: &str, at: &str, notes: &mut Notes) -> bool {
        let free = self.0.insert(target.to_owned());
        if !free {
            notes.warn(at, format!("{target} is already mounted: left out"));
        }
        free
    }
}

/// A bind with its paths cleaned, as an engine cleans them.
fn bind(at: &str, text: &str, notes: &mut Notes) -> Option<Bind> {
    let mut parts = text.splitn(3, ':');
    let (source, target) = (parts.next()?, parts.next()?);
    let mut cleaned = format!("{}:{}", valid::clean(source), valid::clean(target));
    if let Some(options) = parts.next().filter(|options| !options.is_empty()) {
        cleaned.push(':');
        cleaned.push_str(options);
    }
    valid::parsed(at, &cleaned, notes)
}

/// A bind of a named volume with the driver that is to make it; binds cannot say that.
fn of_driver(bind: &Bind, driver: &str) -> Option<Mount> {
    use crate::api::grammar::{BindOption, BindSource};
    let BindSource::Volume(name) = bind.source() else { return None };
    let no_copy = bind.options().contains(&BindOption::NoCopy).then_some(true);
    let config = DriverConfig { name: Some(driver.to_owned()), options: None };
    Some(Mount {
        source: Some(name.clone()),
        read_only: bind.is_read_only().then_some(true),
        volume_options: Some(VolumeOptions {
            no_copy,
            driver_config: Some(config),
            ..VolumeOptions::default()
        }),
        ..at_target(MountType::Volume, bind.destination().as_str().to_owned())
    })
}

fn at_target(type_: MountType, target: String) -> Mount {
    Mount {
        type_,
        target,
        source: None,
        read_only: None,
        consistency: None,
        bind_options: None,
        volume_options: None,
        image_options: None,
        tmpfs_options: None,
    }
}

fn mount(object: &mut Object<'_>, notes: &mut Notes) -> Option<Mount> {
    let text = object.text("Type", notes).unwrap_or_default();
    let type_ = match text.as_str() {
        "bind" => MountType::Bind,
        "volume" => MountType::Volume,
        "tmpfs" => MountType::Tmpfs,
        "image" => MountType::Image,
        other => {
            let message = format!(
                "{other:?} is none of bind, volume, tmpfs and image: the mount is left out"
            );
            notes.warn(&object.at("Type"), message);
            return None;
        }
    };
    let target = object.text("Target", notes).unwrap_or_default();
    let target = valid::path::<AbsolutePath>(&object.at("Target"), &target, notes)?;
    let mut mount = Mount { source: object.text("Source", notes), ..at_target(type_, target) };
    if !source(&mut mount, &object.at("Source"), notes) {
        return None;
    }
    mount.read_only = object.flag("ReadOnly", notes).filter(|on| *on);
    mount.consistency = object.text("Consistency", notes).and_then(|text| {
        let all = [
            Consistency::Default,
            Consistency::Consistent,
            Consistency::Cached,
            Consistency::Delegated,
        ];
        let at = object.at("Consistency");
        one_of(&at, &text, &all, Consistency::as_str, notes)
    });
    let mut options = |key: &str, of: MountType| {
        let found = object.object(key, notes);
        if of == type_ {
            return Some(found).filter(|found| !found.says_nothing());
        }
        if !found.says_nothing() {
            let message = format!("goes with type {} only: left out", of.as_str());
            notes.warn(&object.at(key), message);
        }
        None
    };
    let bind = options("BindOptions", MountType::Bind);
    let volume = options("VolumeOptions", MountType::Volume);
    let image = options("ImageOptions", MountType::Image);
    let tmpfs = options("TmpfsOptions", MountType::Tmpfs);
    mount.bind_options = bind.map(|o| bind_options(o, notes));
    mount.volume_options = volume.map(|o| volume_options(o, notes));
    mount.image_options = image.map(|o| image_options(o, notes));
    mount.tmpfs_options = tmpfs.map(|o| tmpfs_options(o, notes));
    std::mem::take(object).finish(notes);
    Some(mount)
}

/// Brings the source into the form that its type wants; whether there is a mount then.
fn source(mount: &mut Mount, at: &str, notes: &mut Notes) -> bool {
    match (mount.type_, mount.source.take()) {
        (MountType::Bind, source) => {
            let source = valid::clean(&source.unwrap_or_default());
            let right =
                |s: &str| s.starts_with('/') && s.len() <= 1024 && !s.contains(char::is_control);
            let message = "is no absolute path of the host, so the mount";
            mount.source = valid::if_so(at, &source, right, message, notes);
            mount.source.is_some()
        }
        (MountType::Volume, Some(name)) => {
            mount.source = valid::kept::<VolumeName>(at, name, notes);
            mount.source.is_some()
        }
        (MountType::Volume | MountType::Tmpfs, None) => true,
        (MountType::Tmpfs, Some(_)) => {
            notes.warn(at, "goes not with type tmpfs: left out");
            true
        }
        (MountType::Image, source) => {
            if source.is_none() {
                notes.warn(at, "is missing, so the mount is left out");
            }
            mount.source = source;
            mount.source.is_some()
        }
    }
}

fn bind_options(mut object: Object<'_>, notes: &mut Notes) -> BindOptions {
    let all = [
        Propagation::Private,
        Propagation::Rprivate,
        Propagation::Shared,
        Propagation::Rshared,
        Propagation::Slave,
        Propagation::Rslave,
    ];
    let propagation = object.text("Propagation", notes).and_then(|text| {
        one_of(&object.at("Propagation"), &text, &all, Propagation::as_str, notes)
    });
    let mut on = |key: &str| object.flag(key, notes).filter(|on| *on);
    let options = BindOptions {
        propagation,
        non_recursive: on("NonRecursive"),
        create_mountpoint: on("CreateMountpoint"),
        read_only_non_recursive: on("ReadOnlyNonRecursive"),
        read_only_force_recursive: on("ReadOnlyForceRecursive"),
    };
    object.finish(notes);
    options
}

fn volume_options(mut object: Object<'_>, notes: &mut Notes) -> VolumeOptions {
    let mut driver = object.object("DriverConfig", notes);
    let name = driver.text("Name", notes);
    let options = Some(driver.map("Options", notes)).filter(|map| !map.is_empty());
    driver.finish(notes);
    let options = VolumeOptions {
        no_copy: object.flag("NoCopy", notes).filter(|on| *on),
        labels: process::labels("Labels", &mut object, notes),
        driver_config: (name.is_some() || options.is_some())
            .then_some(DriverConfig { name, options }),
        subpath: object.text("Subpath", notes),
    };
    object.finish(notes);
    options
}

fn image_options(mut object: Object<'_>, notes: &mut Notes) -> ImageOptions {
    let options = ImageOptions { subpath: object.text("Subpath", notes) };
    object.finish(notes);
    options
}

fn tmpfs_options(mut object: Object<'_>, notes: &mut Notes) -> TmpfsOptions {
    let size = object.int("SizeBytes", notes).filter(|n| *n != 0);
    let size = size.and_then(|n| valid::ranged(&object.at("SizeBytes"), n, 0, i64::MAX, notes));
    let mode = object.int("Mode", notes).filter(|n| *n != 0);
    let mode = mode.and_then(|n| valid::small(&object.at("Mode"), n, 0, 4095, notes));
    let mut options: Vec<Vec<String>> = Vec::new();
    for (at, item) in object.list("Options", notes) {
        let words = item.as_array().map(Vec::as_slice).unwrap_or_default();
        let words: Option<Vec<String>> =
            words.iter().map(|w| w.as_str().map(str::to_owned)).collect();
        match words {
            Some(words) if (1..=2).contains(&words.len()) => options.push(words),
            _ => notes.warn(&at, "must be [NAME] or [NAME, VALUE]: left out"),
        }
    }
    let options = valid::bounded(&object.at("Options"), options, 64, notes);
    object.finish(notes);
    TmpfsOptions { size_bytes: size, mode, options }
}

/// The one of `all` that is written so.
pub fn one_of<T: Copy>(
    at: &str,
    text: &str,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
    notes: &mut Notes,
) -> Option<T> {
    let found = all.iter().copied().find(|known| as_str(*known) == text);
    if found.is_none() {
        let words: Vec<&str> = all.iter().map(|known| as_str(*known)).collect();
        notes.warn(at, format!("{text:?} is none of {}: left out", words.join(", ")));
    }
    found
}
