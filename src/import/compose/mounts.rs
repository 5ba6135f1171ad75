//! `volumes`, `tmpfs` and `devices`.

use serde_json::{Map, Value, json};

use super::project::Project;
use super::service::Draft;
use super::value::{Node, scalar};
use crate::import::notes::Notes;
use crate::import::size;

/// Members of a mount in the long form.
const MEMBERS: [(&str, &str); 15] = [
    ("Type", "type"),
    ("Source", "source"),
    ("Target", "target"),
    ("ReadOnly", "read_only"),
    ("Consistency", "consistency"),
    ("BindOptions", "bind"),
    ("BindOptions.Propagation", "bind.propagation"),
    ("VolumeOptions", "volume"),
    ("VolumeOptions.Labels", "volume.labels"),
    ("VolumeOptions.Subpath", "volume.subpath"),
    ("TmpfsOptions", "tmpfs"),
    ("TmpfsOptions.SizeBytes", "tmpfs.size"),
    ("TmpfsOptions.Mode", "tmpfs.mode"),
    ("ImageOptions", "image"),
    ("ImageOptions.Subpath", "image.subpath"),
];

/// Members of a device in the long form.
const DEVICE: [(&str, &str); 3] =
    [("PathOnHost", "source"), ("PathInContainer", "target"), ("CgroupPermissions", "permissions")];

/// All that is mounted.
pub fn read(node: &mut Node<'_>, draft: &mut Draft, project: &Project<'_>, notes: &mut Notes) {
    for (at, item) in node.list("volumes") {
        match &item {
            Value::Object(_) => long(&at, &item, draft, project, notes),
            short => {
                if let Some(text) = scalar(&at, short, notes) {
                    bind(&at, &text, draft, project, notes);
                }
            }
        }
    }
    for (at, text) in node.texts("tmpfs", notes) {
        let (path, options) = text.split_once(':').unwrap_or((text.as_str(), ""));
        draft.entry("Tmpfs", path, &at, options);
    }
    for (at, item) in node.list("devices") {
        device(&at, &item, draft, notes);
    }
}

/// `[SOURCE:]TARGET[:OPTIONS]`.
fn bind(at: &str, text: &str, draft: &mut Draft, project: &Project<'_>, notes: &mut Notes) {
    let mut parts = text.splitn(3, ':');
    let (first, target, options) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let Some(target) = target else {
        draft.member("Volumes", first, at);
        return;
    };
    let source = source(at, first, project, notes);
    let options = options.unwrap_or("rw");
    draft.push("Binds", at, format!("{source}:{target}:{options}"));
}

/// A path of the host, made absolute, or the engine's name of a volume.
fn source(at: &str, text: &str, project: &Project<'_>, notes: &mut Notes) -> String {
    if text.starts_with('~') {
        notes.error_at(at, "begins with '~', which is somebody's home directory: write the path");
        return text.to_owned();
    }
    if text.starts_with(['/', '.']) {
        return project.absolute(text);
    }
    let name = project.volume(text);
    if name != text && !project.is_external_volume(text) {
        let message = format!("is the engine's volume {name}, as docker compose names it");
        notes.warn_at(at, message);
    }
    name
}

fn long(at: &str, item: &Value, draft: &mut Draft, project: &Project<'_>, notes: &mut Notes) {
    let mut node = Node::new(at.to_owned(), item);
    let type_ = node.text("type", notes).unwrap_or_default();
    let target = node.text("target", notes).unwrap_or_default();
    let read_only = node.flag("read_only", notes) == Some(true);
    let given = node.text("source", notes);
    let (bind, volume, tmpfs, image) =
        (node.take("bind"), node.take("volume"), node.take("tmpfs"), node.take("image"));
    let consistency = node.text("consistency", notes);
    node.finish(notes);
    let mut mount = Map::new();
    let source = match (type_.as_str(), given) {
        ("bind", Some(path)) => Some(if path.starts_with('~') {
            source(at, &path, project, notes)
        } else {
            project.absolute(&path)
        }),
        ("volume", Some(name)) => Some(source(at, &name, project, notes)),
        (_, given) => given,
    };
    let options = bind.as_ref().map(|value| bind_options(at, value, notes)).unwrap_or_default();
    if type_ == "bind" && options.creates && consistency.is_none() && options.plain {
        // As compose does: a bind that may create its source is one in the short form.
        let mut words = vec![if read_only { "ro" } else { "rw" }.to_owned()];
        words.extend(options.words);
        draft.push(
            "Binds",
            at,
            format!("{}:{target}:{}", source.unwrap_or_default(), words.join(",")),
        );
        return;
    }
    mount.insert("Type".to_owned(), type_.into());
    mount.insert("Source".to_owned(), source.into());
    mount.insert("Target".to_owned(), target.into());
    mount.insert("ReadOnly".to_owned(), read_only.into());
    mount.insert("Consistency".to_owned(), consistency.into());
    mount.insert("BindOptions".to_owned(), Value::Object(options.members));
    if let Some(volume) = volume {
        mount.insert("VolumeOptions".to_owned(), volume_options(at, &volume, notes));
    }
    if let Some(tmpfs) = tmpfs {
        mount.insert("TmpfsOptions".to_owned(), tmpfs_options(at, &tmpfs, notes));
    }
    if let Some(image) = image {
        let mut node = Node::new(format!("{at}.image"), &image);
        mount.insert("ImageOptions".to_owned(), json!({ "Subpath": node.text("subpath", notes) }));
        node.finish(notes);
    }
    let path = draft.push("Mounts", at, mount);
    draft.members(&path, at, &MEMBERS);
}

/// Options of a bind.
struct BindOptions {
    /// Whether a missing source may be created, which compose does unless it is told not to.
    creates: bool,
    /// Whether the short form can say all of it.
    plain: bool,
    words: Vec<String>,
    members: Map<String, Value>,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self { creates: true, plain: true, words: Vec::new(), members: Map::new() }
    }
}

fn bind_options(at: &str, value: &Value, notes: &mut Notes) -> BindOptions {
    let mut node = Node::new(format!("{at}.bind"), value);
    let creates = node.flag("create_host_path", notes) != Some(false);
    let mut options = BindOptions { creates, ..BindOptions::default() };
    if let Some(propagation) = node.text("propagation", notes).filter(|text| !text.is_empty()) {
        options.members.insert("Propagation".to_owned(), propagation.clone().into());
        options.words.push(propagation);
    }
    match node.text("recursive", notes).as_deref() {
        None | Some("" | "enabled") => {}
        Some("disabled") => {
            options.members.insert("NonRecursive".to_owned(), true.into());
            options.plain = false;
        }
        Some("writable") => {
            options.members.insert("ReadOnlyNonRecursive".to_owned(), true.into());
            options.plain = false;
        }
        Some("readonly") => {
            options.members.insert("ReadOnlyForceRecursive".to_owned(), true.into());
            options.plain = false;
        }
        Some(other) => {
            notes.warn_at(node.at("recursive"), format!("{other:?} is not known: left out"));
        }
    }
    if let Some(label) = node.text("selinux", notes).filter(|text| !text.is_empty()) {
        if !(options.creates && options.plain) {
            let message = "goes with neither create_host_path: false nor recursive: left out";
            notes.warn_at(node.at("selinux"), message);
        }
        options.words.push(label);
    }
    if options.creates && !options.plain {
        options.members.insert("CreateMountpoint".to_owned(), true.into());
    }
    node.finish(notes);
    options
}

fn volume_options(at: &str, value: &Value, notes: &mut Notes) -> Value {
    let mut node = Node::new(format!("{at}.volume"), value);
    let labels: Map<String, Value> = node
        .pairs("labels", notes)
        .into_iter()
        .map(|(_, name, value)| (name, value.unwrap_or_default().into()))
        .collect();
    let options = json!({
        "NoCopy": node.flag("nocopy", notes).unwrap_or_default(),
        "Subpath": node.text("subpath", notes),
        "Labels": labels,
    });
    node.finish(notes);
    options
}

fn tmpfs_options(at: &str, value: &Value, notes: &mut Notes) -> Value {
    let mut node = Node::new(format!("{at}.tmpfs"), value);
    let bytes = node.text("size", notes).and_then(|text| {
        let bytes = size::bytes(&text);
        if bytes.is_none() {
            notes.error_at(node.at("size"), format!("{text:?} is no size such as 64m"));
        }
        bytes
    });
    let mode = node.int("mode", notes);
    node.finish(notes);
    json!({ "SizeBytes": bytes, "Mode": mode })
}

/// `HOST[:CONTAINER[:PERMISSIONS]]`, or a device of the container device interface.
fn device(at: &str, item: &Value, draft: &mut Draft, notes: &mut Notes) {
    let (host, inside, permissions) = match item {
        Value::Object(_) => {
            let mut node = Node::new(at.to_owned(), item);
            let parts = ["source", "target", "permissions"].map(|key| node.text(key, notes));
            node.finish(notes);
            let [host, inside, permissions] = parts;
            (host.unwrap_or_default(), inside, permissions)
        }
        short => {
            let Some(text) = scalar(at, short, notes) else { return };
            let mut parts = text.splitn(3, ':').map(str::to_owned);
            (parts.next().unwrap_or_default(), parts.next(), parts.next())
        }
    };
    if !host.starts_with('/') && host.contains('=') {
        let request = json!({ "Driver": "cdi", "DeviceIDs": [host] });
        draft.push("DeviceRequests", at, request);
        return;
    }
    let inside = inside.filter(|path| !path.is_empty()).unwrap_or_else(|| host.clone());
    let device = json!({
        "PathOnHost": host,
        "PathInContainer": inside,
        "CgroupPermissions": permissions.filter(|p| !p.is_empty()).unwrap_or_else(|| "rwm".to_owned()),
    });
    let path = draft.push("Devices", at, device);
    if item.is_object() {
        draft.members(&path, at, &DEVICE);
    }
}
