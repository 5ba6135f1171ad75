//! What a container gets of the host's disk, judged by where it leads, at mount time.
//!
//! The host's policy judges a body twice: as written, and as [`resolve()`] gives it, in which the
//! sources of binds and the paths of devices are free of symbolic links. That body is the one to
//! send. What is missing is said by its field, since an engine would make a directory of root's in
//! its place; `bindOptions.createMountpoint` makes it here (root's, 0755), once it is judged, and is
//! not sent.
//!
//! What remains: the engine opens the paths again after us. Who can write to a directory on the way
//! (a container that has it as a writable bind) can put a link there in between, or at any time
//! before the engine's own restarts of a container. An admin closes this by allowing no bind below
//! a directory that a container can write. A path that vanishes in between is made by the engine
//! for binds in the short form; mounts are then refused by it.

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::Mode;

use super::container::{CONFIG_FILE, Create, directory};
use super::durable::Directory;
use super::policy::{Context, Governing, HostPath, check};
use super::resolve::{self, Resolved};
use crate::api::Reason;
use crate::api::field_error::FieldError;
use crate::api::grammar::{Bind, BindSource};
use crate::docker::{HostConfig, MountPoint};

/// Why a body cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// For the run's condition.
    pub reason: Reason,
    /// The field and what is wrong.
    pub error: FieldError,
}

/// The body to send, or all that keeps it from being sent. Makes mount points that are asked for.
pub fn resolve(
    create: Create,
    context: &Context<'_>,
    governing: &Governing<'_>,
) -> Result<Create, Vec<Fault>> {
    let mut work = Work { context, sockets: resolved_sockets(context), ..Work::new(context) };
    let mut create = create;
    let host = &mut create.body.host_config;
    let mut run = context.run.clone();
    work.directory(&mut run.container.directory);
    work.binds(host, &Context { run: &run, ..*context });
    work.mounts(host);
    work.devices(host);
    let allowances = resolve::resolved(governing.allowances).with_device_links(&work.links);
    let mut governing = governing.clone();
    governing.allowances = &allowances;
    let seen = Context { run: &run, sockets: &work.sockets, ..*context };
    work.refuse(check(&create, &seen, &governing));
    work.make(&mut create.body.host_config);
    if work.faults.is_empty() { Ok(create) } else { Err(work.faults) }
}

/// Why a container that was made before may not start, if it may not: a source of its binds leads
/// elsewhere by now, or is none of those of the body that was judged now. For a container keeps the
/// sources that it was made with, and a start follows the links on their way once more.
pub fn led_astray(made: &[MountPoint], judged: &Create) -> Option<String> {
    let itself = |path: &str| {
        resolve::resolve(path).is_ok_and(|found| Path::new(&found.path) == Path::new(path))
    };
    let astray = astray(made, judged, itself)?;
    Some(format!(
        "not allowed by host policy: {astray} is what the container was made to bind, and a link on \
         the host leads elsewhere since then: put the link back, or change the spec, which makes a \
         new container"
    ))
}

/// The first bind source of a container that is not `itself`, or not one of the judged body.
fn astray<'a>(
    made: &'a [MountPoint],
    judged: &Create,
    itself: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let host = &judged.body.host_config;
    let short = host.binds.iter().flatten().filter_map(|text| text.split(':').next());
    let long = host.mounts.iter().flatten().filter(|mount| mount.type_ == "bind");
    let long = long.filter_map(|mount| mount.source.as_deref());
    let sources: Vec<_> = short.chain(long).map(Path::new).collect();
    let mut binds = made.iter().filter(|mount| mount.type_ == "bind");
    let bad = |mount: &&MountPoint| {
        let known = sources.contains(&Path::new(&mount.source)) || is_init(mount, judged);
        !known || !itself(&mount.source)
    };
    binds.find(bad).map(|mount| mount.source.as_str())
}

/// Podman's own bind for `init`, from where root alone can write.
fn is_init(mount: &MountPoint, judged: &Create) -> bool {
    judged.body.host_config.init == Some(true)
        && matches!(mount.destination.as_str(), "/run/podman-init" | "/dev/init")
        && of_the_host(&mount.source)
}

struct Work<'a> {
    context: &'a Context<'a>,
    sockets: Vec<HostPath>,
    faults: Vec<Fault>,
    /// What a field says, where that leads elsewhere.
    led: BTreeMap<String, String>,
    /// Devices that were asked for by a link that the host alone governs.
    links: Vec<(HostPath, HostPath)>,
    /// Mounts whose source is to be made: index and field.
    to_make: Vec<(usize, String)>,
}

impl<'a> Work<'a> {
    fn new(context: &'a Context<'a>) -> Self {
        Self {
            context,
            sockets: Vec::new(),
            faults: Vec::new(),
            led: BTreeMap::new(),
            links: Vec::new(),
            to_make: Vec::new(),
        }
    }

    fn fault(&mut self, reason: Reason, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault { reason, error: FieldError::new(path, message) });
    }

    fn directory(&mut self, said: &mut Option<String>) {
        let Some(written) = said.as_mut().filter(|said| !said.is_empty()) else { return };
        let at = "spec.container.directory";
        if let Some(resolved) = self.lead(written, at, Reason::BindSourceMissing) {
            *written = resolved.path;
        }
    }

    /// Where a path leads; an error where it leads nowhere.
    fn lead(&mut self, written: &str, at: &str, reason: Reason) -> Option<Resolved> {
        match resolve::resolve(written) {
            Ok(resolved) => {
                if resolved.path != written {
                    self.led.insert(at.to_owned(), written.to_owned());
                }
                Some(resolved)
            }
            Err(error) => {
                self.fault(reason, at, format!("{written} cannot be used on the host: {error}"));
                None
            }
        }
    }

    fn binds(&mut self, host: &mut HostConfig, resolved: &Context<'_>) {
        let mut own = self.context.own_bind();
        let mut index = 0;
        for text in host.binds.iter_mut().flatten() {
            if own.as_ref() == Some(text) {
                own = None;
                self.own_bind(text, resolved);
                continue;
            }
            let at = format!("spec.container.binds[{index}]");
            index += 1;
            let Ok(bind) = text.parse::<Bind>() else { continue };
            let BindSource::Path(source) = bind.source() else { continue };
            let Some(found) = self.source(source, &at) else { continue };
            if !found.exists {
                self.missing(source, &at);
            }
            if found.path.contains(':') {
                let message = format!(
                    "{source} leads to {}, whose ':' no bind can name: write it under \
                     mounts with type bind",
                    found.path
                );
                self.fault(Reason::InvalidSpec, &at, message);
            } else if let Some(rest) = text.strip_prefix(source.as_str()) {
                *text = format!("{}{rest}", found.path);
            }
        }
    }

    /// The config file's own bind; the file was made before.
    fn own_bind(&mut self, text: &mut String, resolved: &Context<'_>) {
        let file = format!("{}/{CONFIG_FILE}", directory(resolved.run, resolved.root));
        // Not what a link leads to: a container may have put one there.
        let there = std::fs::symlink_metadata(&file).is_ok_and(|seen| seen.is_file());
        if !there {
            let message = format!("{file} is not yet there on the host");
            self.fault(Reason::BindSourceMissing, "spec.configFile", message);
        }
        if let Some(bind) = resolved.own_bind() {
            *text = bind;
        }
    }

    fn mounts(&mut self, host: &mut HostConfig) {
        // The Volume's mounts stand before those of the spec.
        let of_run = self.context.run.mounts.as_ref().map_or(0, Vec::len);
        for (i, mount) in host.mounts.iter_mut().flatten().enumerate() {
            let Some(source) = mount.source.as_mut().filter(|_| mount.type_ == "bind") else {
                continue;
            };
            let at = format!("spec.container.mounts[{}].source", i.saturating_sub(of_run));
            let Some(found) = self.source(source, &at) else { continue };
            let options = mount.bind_options.as_ref();
            if !found.exists {
                if options.is_some_and(|options| options.create_mountpoint == Some(true)) {
                    self.to_make.push((i, at));
                } else {
                    self.missing(source, &at);
                }
            }
            *source = found.path;
        }
    }

    fn missing(&mut self, source: &str, at: &str) {
        let message = format!(
            "{source} does not exist on the host: make it there, or write it under mounts with \
             type bind and bindOptions.createMountpoint"
        );
        self.fault(Reason::BindSourceMissing, at, message);
    }

    fn source(&mut self, source: &str, at: &str) -> Option<Resolved> {
        let found = self.lead(source, at, Reason::BindSourceMissing)?;
        if Path::new(&found.path).starts_with(self.context.root) {
            let message = format!(
                "not allowed by host policy: {source} is in the agent's own directory, which holds \
                 Secrets of others"
            );
            self.fault(Reason::ForbiddenByHostPolicy, at, message);
        }
        self.socket(&found);
        Some(found)
    }

    /// An engine's socket is one also under another name.
    fn socket(&mut self, found: &Resolved) {
        let stat = |path: &str| std::fs::metadata(path).ok().filter(|m| m.file_type().is_socket());
        let Some(seen) = stat(&found.path) else { return };
        let same = self.sockets.iter().filter_map(|socket| stat(socket.as_str()));
        let same = same.into_iter().any(|s| (s.dev(), s.ino()) == (seen.dev(), seen.ino()));
        if let (true, Ok(path)) = (same, found.path.parse()) {
            self.sockets.push(path);
        }
    }

    fn devices(&mut self, host: &mut HostConfig) {
        for (i, device) in host.devices.iter_mut().flatten().enumerate() {
            let at = format!("spec.container.devices[{i}].pathOnHost");
            let path = &mut device.path_on_host;
            let Some(found) = self.lead(path, &at, Reason::DeviceMissing) else { continue };
            if found.exists {
                // An engine takes a directory for all devices in it.
                let fits = std::fs::metadata(&found.path).is_ok_and(|seen| {
                    let kind = seen.file_type();
                    kind.is_char_device() || kind.is_block_device() || kind.is_dir()
                });
                if !fits {
                    let message = format!("{path} is on the host, but is no device");
                    self.fault(Reason::DeviceMissing, &at, message);
                }
            } else {
                let message = format!("{path} does not exist on the host: is it plugged in?");
                self.fault(Reason::DeviceMissing, &at, message);
            }
            if let (true, Ok(link), Ok(to)) = (of_the_host(path), path.parse(), found.path.parse())
            {
                self.links.push((link, to));
            }
            *path = found.path;
        }
    }

    /// Takes the policy's answer. What is refused is not also said to be missing, which would tell
    /// what is on the host to who may not know it.
    fn refuse(&mut self, errors: Vec<FieldError>) {
        for mut error in errors {
            self.faults.retain(|fault| {
                fault.reason == Reason::ForbiddenByHostPolicy || fault.error.path != error.path
            });
            if let Some(written) = self.led.get(&error.path) {
                error.message = format!("{} ({written} leads there)", error.message);
            }
            self.faults.push(Fault { reason: Reason::ForbiddenByHostPolicy, error });
        }
    }

    /// Makes the mount points that are asked for, if nothing else is wrong, and takes the asking out
    /// of the body: the engine makes none.
    fn make(&mut self, host: &mut HostConfig) {
        let Some(mounts) = host.mounts.as_mut().filter(|_| self.faults.is_empty()) else { return };
        for (i, at) in std::mem::take(&mut self.to_make) {
            let Some(source) = mounts.get(i).and_then(|mount| mount.source.as_ref()) else {
                continue;
            };
            if let Err(error) = Directory::make(Path::new(source), Mode::from_raw_mode(0o755)) {
                let message = format!("{source} could not be made on the host: {error}");
                self.fault(Reason::BindSourceMissing, at, message);
            }
        }
        for options in mounts.iter_mut().filter_map(|mount| mount.bind_options.as_mut()) {
            options.create_mountpoint = None;
        }
    }
}

fn resolved_sockets(context: &Context<'_>) -> Vec<HostPath> {
    let led = context.sockets.iter().filter_map(|socket| resolve::resolve(socket.as_str()).ok());
    let led: Vec<HostPath> = led.filter_map(|resolved| resolved.path.parse().ok()).collect();
    context.sockets.iter().cloned().chain(led).collect()
}

/// Whether root alone can write to each directory on the way to `path`, so that a link there says
/// what the host means.
fn of_the_host(path: &str) -> bool {
    Path::new(path).ancestors().skip(1).all(|directory| {
        std::fs::metadata(directory).is_ok_and(|seen| seen.uid() == 0 && seen.mode() & 0o022 == 0)
    })
}

#[cfg(test)]
mod tests;
