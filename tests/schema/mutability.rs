//! What can be changed once it is there. Every field of every spec is changed, removed and added by
//! an update: what [`IMMUTABLE`] lists is refused, all else is accepted.

mod values;

use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::full::{Variant, never, read_by_our_type, variants};
use super::judge::{Answer, Judge};
use super::kind::Kind;
use super::manifest::{get, set};
use super::walk;
use crate::fixture::cluster;
use values::{DEMANDED, INSTEAD, OTHER, WITH};

/// How many fields are tried at once.
const AT_ONCE: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    Change,
    Remove,
    Add,
}

use Update::*;

/// What cannot be updated, with all below it: where, how, and what the refusal says. The refusal
/// names the field, or is at `spec` where all of the spec is immutable.
struct Immutable {
    kind: Kind,
    at: &'static str,
    updates: &'static [Update],
    field: &'static str,
    says: &'static str,
}

const ANY: &[Update] = &[Change, Remove, Add];

const fn immutable(kind: Kind, at: &'static str, says: &'static str) -> Immutable {
    Immutable { kind, at, updates: ANY, field: at, says }
}

/// As DESIGN has it, sections 3.2 and 3.4; of a `WorkspaceRun` all but `desired`, `stop`,
/// `deletion`, `resources`, `restartPolicy`, `leased`, `configFile` and `prefetch`.
const IMMUTABLE: &[Immutable] = &[
    immutable(Kind::Workspace, "spec.template", "template is immutable"),
    // The choice between a template and an image; another image is a change like any other.
    Immutable {
        updates: &[Remove, Add],
        field: "spec.template",
        ..immutable(Kind::Workspace, "spec.container.image", "template is immutable")
    },
    immutable(Kind::Workspace, "spec.volume.size", "size is immutable while mode is Create"),
    immutable(
        Kind::Workspace,
        "spec.volume.storagePool",
        "storagePool is immutable while mode is Create",
    ),
    immutable(Kind::Volume, "spec.storagePool", "storagePool is immutable"),
    immutable(Kind::Volume, "spec.hostName", "hostName is immutable"),
    Immutable {
        updates: &[Remove, Add],
        ..immutable(Kind::Volume, "spec.size", "size can be neither added nor removed")
    },
    immutable(Kind::TemplateRevision, "spec", "a TemplateRevision is immutable"),
    immutable(Kind::VolumeTask, "spec", "a VolumeTask is immutable"),
    immutable(Kind::WorkspaceRecord, "spec", "a WorkspaceRecord is immutable"),
    immutable(Kind::WorkspaceRun, "spec.workspace", "workspace is immutable"),
    immutable(Kind::WorkspaceRun, "spec.sequence", "sequence is immutable"),
    immutable(Kind::WorkspaceRun, "spec.generation", "generation is immutable"),
    immutable(Kind::WorkspaceRun, "spec.container", "container is immutable"),
    immutable(Kind::WorkspaceRun, "spec.mounts", "mounts is immutable"),
    immutable(Kind::WorkspaceRun, "spec.writableLayer", "writableLayer is immutable"),
    immutable(Kind::WorkspaceRun, "spec.secretName", "secretName is immutable"),
    immutable(Kind::WorkspaceRun, "spec.previous", "previous is immutable"),
    immutable(Kind::WorkspaceRun, "spec.specHash", "specHash is immutable"),
];

/// The variant to begin with, where it is not the first that sets the field: a whole that holds
/// what is immutable or demanded in the first.
const BEGIN: &[(&str, char)] =
    &[("spec.container", 'c'), ("spec.volume", 'b'), ("spec.container.mounts[].source", 'b')];

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// One field of one kind, and the full manifest that it is tried on.
struct Field {
    kind: Kind,
    at: String,
    schema: Value,
    required: bool,
    variant: &'static Variant,
}

/// Every property below `spec`; of a list those of the first item.
fn fields() -> Vec<Field> {
    let property = |at: &str| at.starts_with("spec.") && !at.ends_with("[]") && !at.ends_with("{}");
    let nodes = walk::nodes().into_iter().filter(|n| property(&n.at) && !never(n.kind, &n.at));
    let field = |walk::Node { kind, at, schema, required }: walk::Node| {
        let required = required || DEMANDED.contains(&(kind, at.as_str()));
        let begin = BEGIN.iter().find(|(path, _)| *path == at).map(|(_, letter)| *letter);
        let begins =
            |v: &&Variant| begin.is_none_or(|l| v.letter == l) && get(&v.manifest, &at).is_some();
        let variant = variants(kind).iter().find(begins);
        let variant = variant.unwrap_or_else(|| panic!("{kind:?} {at} is in no full manifest"));
        Field { kind, at, schema, required, variant }
    };
    nodes.map(field).collect()
}

impl Field {
    /// An object's manifest with another value of the field; none where there is one value only.
    fn changed(&self, manifest: &Value) -> Option<Value> {
        let mut changed = manifest.clone();
        let mut put = |at: &str, value| set(self.kind, &mut changed, at, value);
        if let Some((_, other, with)) = OTHER.iter().find(|(path, _, _)| *path == self.at) {
            put(&self.at, parsed(other));
            with.iter().for_each(|(at, value)| put(at, parsed(value)));
            return Some(changed);
        }
        let now = get(&self.variant.manifest, &self.at).unwrap();
        let choice = self.schema["enum"].as_array();
        if choice.is_some_and(|values| values.len() == 1) {
            return None;
        }
        let mut elsewhere = variants(self.kind).iter().filter_map(|v| get(&v.manifest, &self.at));
        let other = elsewhere.find(|value| *value != now).cloned();
        let other = other.or_else(|| choice?.iter().find(|value| *value != now).cloned());
        let other = other.or_else(|| now.as_bool().map(|flag| json!(!flag)));
        put(
            &self.at,
            other.unwrap_or_else(|| panic!("no other value of {:?} {}", self.kind, self.at)),
        );
        Some(changed)
    }

    /// A manifest without the field.
    fn removed(&self, manifest: &Value) -> Value {
        let mut removed = manifest.clone();
        set(self.kind, &mut removed, &self.at, Value::Null);
        let instead = INSTEAD.iter().find(|(path, _, _)| *path == self.at);
        if let Some((_, at, value)) = instead.filter(|_| self.kind != Kind::WorkspaceRecord) {
            set(self.kind, &mut removed, at, parsed(value));
        }
        removed
    }

    /// What refuses the update, if anything should.
    fn immutable(&self, update: Update) -> Option<&'static Immutable> {
        let below = |long: &str, short: &str| {
            long.strip_prefix(short)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        IMMUTABLE.iter().filter(|i| i.kind == self.kind && i.updates.contains(&update)).find(|i| {
            let goes_with_it = update != Change && below(i.at, &self.at);
            below(&self.at, i.at) || (goes_with_it && get(&self.variant.manifest, i.at).is_some())
        })
    }

    /// What is wrong with the answer to an update; nothing if it is as the list says.
    fn fault(&self, update: Update, answer: &Answer) -> Option<String> {
        let label = format!("{:?} {} {} {update:?}", self.kind, self.variant.letter, self.at);
        match (self.immutable(update), answer) {
            (None, Answer::Accepted(object)) => {
                let unreadable = read_by_our_type(self.kind, object.clone()).err();
                unreadable.map(|error| format!("{label}: accepted, and unreadable: {error}"))
            }
            (None, Answer::Refused(code, message, _)) => Some(format!("{label}: {code} {message}")),
            (Some(_), Answer::Accepted(_)) => Some(format!("{label}: accepted")),
            (Some(wanted), Answer::Refused(_, _, causes)) => {
                let named = |(field, message): &(String, String)| {
                    field == wanted.field && message.contains(wanted.says)
                };
                (!causes.iter().any(named)).then(|| format!("{label}: {causes:?}"))
            }
        }
    }

    /// The full manifest, less what has nothing to do with the field.
    fn begin(&self, tag: &str) -> Value {
        let mut manifest = self.variant.named(tag);
        let least = self.kind.least(tag);
        let mut steps = self.at.split(['.', '[']).skip(1);
        let (first, second) = (steps.next().unwrap(), steps.next());
        let with = WITH.iter().find(|(path, _)| *path == self.at).map(|(_, with)| *with);
        let spec = manifest["spec"].as_object_mut().unwrap();
        spec.retain(|name, _| {
            let demanded = name == "template" || least["spec"].get(name).is_some();
            demanded || name == first || with.is_some_and(|with| name == with)
        });
        if let Some(Value::Object(container)) = spec.get_mut("container") {
            let whole = first == "container" && second.is_none();
            container.retain(|name, _| {
                whole || name == "image" || first == "container" && second == Some(name)
            });
        }
        manifest
    }

    /// Whether leaving the field out comes to the same.
    fn at_its_default(&self) -> bool {
        get(&self.variant.manifest, &self.at) == self.schema.get("default")
    }

    /// Tries all updates on objects of names unique to `tag`; the faults found.
    async fn faults(&self, judge: &Judge, tag: &str) -> Vec<String> {
        let url = |object: &Value| {
            let name = object["metadata"]["name"].as_str().unwrap();
            format!("{}/{name}?dryRun=All", judge.collection(self.kind))
        };
        let there = judge.create(self.kind, &self.begin(tag)).await;
        let mut faults = Vec::new();
        if let Some(changed) = self.changed(&there) {
            faults.push(self.fault(Change, &judge.write("PUT", &url(&there), &changed).await));
        }
        if !self.required && !self.at_its_default() {
            let removed = self.removed(&there);
            faults.push(self.fault(Remove, &judge.write("PUT", &url(&there), &removed).await));
            let whole = self.begin(&format!("{tag}-less"));
            let mut object = judge.create(self.kind, &self.removed(&whole)).await;
            object["spec"] = whole["spec"].clone();
            faults.push(self.fault(Add, &judge.write("PUT", &url(&object), &object).await));
        }
        faults.into_iter().flatten().collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_immutable_can_be_neither_changed_nor_removed_nor_added_and_all_else_can() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("mutability").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let fields = fields();
    let tries = fields.iter().enumerate().map(|(number, field)| {
        let judge = &judge;
        async move { field.faults(judge, &format!("f{number}")).await }
    });
    let faults: Vec<_> = stream::iter(tries).buffer_unordered(AT_ONCE).collect().await;
    let faults = faults.concat();
    assert!(faults.is_empty(), "{} of {} fields: {faults:#?}", faults.len(), fields.len());
}

#[tokio::test]
async fn an_immutable_field_cannot_be_walked_round_by_removing_it_first() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("walk-round").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let fields = fields();
    let optional = fields.iter().filter(|f| !f.required && !f.at_its_default());
    let listed = optional.filter(|f| {
        // Of an immutable spec what stands at its top.
        let top = |i: &Immutable| i.at == f.at || i.at == "spec" && f.at.split('.').count() == 2;
        f.immutable(Remove).is_some_and(top) && f.immutable(Change).is_some()
    });
    for (number, field) in listed.enumerate() {
        let there = judge.create(field.kind, &field.begin(&format!("round{number}"))).await;
        let name = there["metadata"]["name"].as_str().unwrap();
        let url = format!("{}/{name}", judge.collection(field.kind));
        let removed = judge.write("PUT", &url, &field.removed(&there)).await;
        assert_eq!(field.fault(Remove, &removed), None);
        // The resourceVersion still being right shows that nothing was written.
        let Some(changed) = field.changed(&there) else { continue };
        let changed = judge.write("PUT", &url, &changed).await;
        assert_eq!(field.fault(Change, &changed), None);
    }
}

#[tokio::test]
async fn a_workspace_that_makes_its_volume_anew_may_choose_size_and_pool_anew() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("anew").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let mut object = Kind::Workspace.least("anew");
    object["spec"]["volume"] = json!({ "mode": "Create", "size": "1Gi", "storagePool": "fast" });
    object = judge.create(Kind::Workspace, &object).await;
    let url = format!("{}/anew", judge.collection(Kind::Workspace));
    for volume in [
        json!({ "mode": "None" }),
        json!({ "mode": "Create", "size": "2Gi", "storagePool": "slow" }),
        json!({ "mode": "Bind", "name": "other" }),
        json!({ "mode": "Create" }),
    ] {
        object["spec"]["volume"] = volume;
        object = match judge.write("PUT", &url, &object).await {
            Answer::Accepted(object) => object,
            Answer::Refused(code, message, _) => panic!("{code} {message}"),
        };
    }
}

#[tokio::test]
async fn a_volume_grows_and_never_shrinks() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("growth").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let mut object = Kind::Volume.least("growth");
    object["spec"]["size"] = json!("10Gi");
    object = judge.create(Kind::Volume, &object).await;
    let url = format!("{}/growth", judge.collection(Kind::Volume));
    for (size, grows) in [
        (json!("10737418239"), false),
        (json!(10_737_418_239_i64), false),
        (json!("9.99Gi"), false),
        (json!("10240Mi"), true),
        (json!(10_737_418_240_i64), true),
        (json!("10.5Gi"), true),
        (json!("10Gi"), false),
        (json!("1Ti"), true),
    ] {
        let mut next = object.clone();
        next["spec"]["size"] = size.clone();
        match judge.write("PUT", &url, &next).await {
            Answer::Accepted(answer) => {
                assert!(grows, "{size} is accepted");
                object = answer;
            }
            Answer::Refused(_, _, causes) => {
                assert!(!grows, "{size}: {causes:?}");
                let wanted = |(field, message): &(String, String)| {
                    field == "spec.size" && message.contains("size can only grow")
                };
                assert!(causes.iter().any(wanted), "{causes:?}");
            }
        }
    }
}

/// Makes the field at `at` null.
fn nullify(kind: Kind, manifest: &mut Value, at: &str) {
    fn swap(value: &mut Value) {
        match value {
            Value::String(text) if text == MARK => *value = Value::Null,
            Value::Array(items) => items.iter_mut().for_each(swap),
            Value::Object(map) => map.values_mut().for_each(swap),
            _ => (),
        }
    }
    const MARK: &str = "\u{0}";
    set(kind, manifest, at, json!(MARK));
    swap(manifest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_null_is_as_if_the_field_were_not_there() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("null").await;
    let judge = &Judge::new(cluster.admin(), namespace.name());
    let heard = async |kind: Kind, manifest: Value| {
        let url = format!("{}?dryRun=All", judge.collection(kind));
        match judge.write("POST", &url, &manifest).await {
            Answer::Accepted(object) => Ok(object["spec"].clone()),
            Answer::Refused(code, _, mut causes) => {
                causes.sort();
                causes.dedup();
                Err((code, causes))
            }
        }
    };
    let fields = fields();
    let pairs = fields.iter().map(|field| async move {
        let mut absent = field.begin("null");
        let mut null = absent.clone();
        nullify(field.kind, &mut null, &field.at);
        set(field.kind, &mut absent, &field.at, Value::Null);
        let (null, absent) = (heard(field.kind, null).await, heard(field.kind, absent).await);
        (null != absent).then(|| format!("{:?} {}: {null:?}, {absent:?}", field.kind, field.at))
    });
    let faults: Vec<_> = stream::iter(pairs).buffer_unordered(AT_ONCE).collect().await;
    let faults: Vec<_> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
