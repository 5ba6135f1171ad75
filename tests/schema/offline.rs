//! What the API server refuses, `kibotos render` refuses, and it renders what the server accepts:
//! every pair of a Workspace through the program as a user runs it, every pair of a TemplateRevision
//! through the parts of it, since the program ends at the first revision that is wrong.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use kibotos::agent::container::{Intent, create_body};
use kibotos::api::field_error::FieldError;
use kibotos::api::reference::WorkspaceRef;
use kibotos::api::{TemplateRevision, WorkspaceSpec};
use kibotos::controller::workspace::check;
use kibotos::controller::workspace::resolve::{Input, Sources, resolve};
use kibotos::docker::ApiVersion;
use kibotos::schema::{self, Schema};
use serde_json::{Value, json};

use super::kind::Kind;
use super::manifest::set;
use super::pair::{Case, Pair};
use super::{pairs, walk};

/// What only a server can refuse, by the rule's message: it knows what was there before.
const NEEDS_THE_PAST: [&str; 4] = [
    "template is immutable, and so is the choice between template and container.image: make a new Workspace",
    "size is immutable while mode is Create: grow the Volume itself",
    "storagePool is immutable while mode is Create",
    "a TemplateRevision is immutable: publish another revision",
];

/// What the API server accepts and no engine can be sent: the place of the pair, its rule, the reason.
const NO_CONTAINER: [(&str, &str, &str); 1] = [(
    "spec.resources.limits.cpu",
    "must be less than 2^63-1, about 8Ei",
    "NanoCpus counts billionths of a core in 64 bits",
)];

/// The pairs of a kind that are about what a user writes.
fn written(kind: Kind) -> Vec<Pair> {
    let of = |pair: &Pair| pair.kinds.contains(&kind) && !pair.at.starts_with("status");
    pairs::all().into_iter().filter(of).collect()
}

fn needs_the_past(pair: &Pair) -> bool {
    NEEDS_THE_PAST.contains(&pair.message.as_str())
}

fn no_container(pair: &Pair) -> bool {
    NO_CONTAINER.iter().any(|(at, rule, _)| *at == pair.at && *rule == pair.message)
}

fn manifest(kind: Kind, case: &Case) -> Value {
    let mut manifest = kind.least("t");
    for (at, value) in case.before.iter().flatten().chain(&case.set) {
        set(kind, &mut manifest, at, value.clone());
    }
    manifest
}

fn render(documents: &[Value]) -> Output {
    let mut text = String::new();
    for document in documents {
        write!(text, "---\n{}\n", kibotos::yaml::to_string(document).unwrap()).unwrap();
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_kibotos"))
        .args(["render", "-f", "-"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    output
}

/// In a namespace of its own: two of one name are an error of theirs.
fn apart(mut workspace: Value, number: usize) -> Value {
    workspace["metadata"]["namespace"] = json!(format!("n{number}"));
    workspace
}

/// The errors of each document, by its number.
fn errors(output: &Output) -> BTreeMap<usize, Vec<String>> {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in stderr.lines().filter(|line| !line.starts_with("warning")) {
        let Some((_, rest)) = line.split_once(" document ") else { continue };
        let (number, rest) = rest.split_once(", ").unwrap();
        let (_, error) = rest.split_once(": ").unwrap();
        found.entry(number.parse().unwrap()).or_default().push(error.to_owned());
    }
    found
}

/// Whether an error stands at the field that the server names, or at a part of it: `a[0].b` and
/// `a[k]` for `a`.
fn fits(error: &str, pair: &Pair) -> bool {
    let steps = |path: &str| path.replace('[', ".").replace(']', "");
    let (error, field) = (steps(error), steps(&pair.field));
    // The server gives the root no name.
    pair.field == "<nil>"
        || error.strip_prefix(&field).is_some_and(|rest| rest.starts_with([':', '.']))
}

/// What a Workspace's template is made from, where it names one.
fn template(workspace: &Value) -> Vec<Value> {
    let Some(name) = workspace["spec"]["template"]["name"].as_str() else { return Vec::new() };
    let revision = workspace["spec"]["template"]["revision"].as_str().unwrap_or("v1");
    let mut template = Kind::Template.least(name);
    template["spec"]["defaultRevision"] = json!(revision);
    let mut published = Kind::TemplateRevision.least(name);
    published["metadata"]["name"] = json!(format!("{name}-{revision}"));
    published["spec"]["revision"] = json!(revision);
    published["spec"]["resources"] = json!({ "limits": { "memory": "6Mi" } });
    vec![template, published]
}

#[test]
fn what_the_server_refuses_of_a_workspace_is_refused_offline_at_the_same_field() {
    let pairs = written(Kind::Workspace);
    let base = template(&json!({ "spec": { "template": { "name": "base" } } }));
    let mut documents = base.clone();
    let mut of = Vec::new();
    for pair in pairs.iter().filter(|pair| !needs_the_past(pair)) {
        for case in &pair.refused {
            documents.push(apart(manifest(Kind::Workspace, case), of.len()));
            of.push((pair, case));
        }
    }
    let output = render(&documents);
    assert_eq!(output.stdout, b"", "nothing is rendered");
    let told = errors(&output);
    let mut faults = String::new();
    for (i, (pair, case)) in of.iter().enumerate() {
        let errors = told.get(&(i + 1 + base.len())).map(Vec::as_slice).unwrap_or_default();
        if !errors.iter().any(|error| fits(error, pair)) {
            let set = &case.set;
            writeln!(faults, "{} ({}): {set:?}: {errors:?}", pair.field, pair.message).unwrap();
        }
    }
    assert!(of.len() > 700, "{} refused manifests", of.len());
    assert_eq!(faults, "");
}

#[test]
fn what_the_server_accepts_of_a_workspace_is_rendered_offline() {
    let pairs = written(Kind::Workspace);
    let mut faults = String::new();
    let mut documents = Vec::new();
    let mut of = BTreeMap::new();
    for pair in &pairs {
        for case in pair.accepted.iter().filter(|_| !no_container(pair)) {
            let manifest = apart(manifest(Kind::Workspace, case), of.len());
            documents.extend(template(&manifest));
            documents.push(manifest);
            of.insert(documents.len(), (pair, case));
        }
    }
    let output = render(&documents);
    for (number, errors) in errors(&output) {
        let (pair, case) = of[&number];
        writeln!(faults, "{} {:?}: {:?}: {errors:?}", pair.at, pair.bound, case.set).unwrap();
    }
    assert_eq!(faults, "");
    let rendered = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    assert_eq!(rendered.map(Result::unwrap).count(), of.len());
}

/// All that is wrong with a revision, and with the container of a Workspace that adds nothing to it.
fn wrong_with_revision(schema: &Value, manifest: &Value) -> Vec<FieldError> {
    let structural =
        schema::validate(&Schema::read(&schema["properties"]["spec"]), &manifest["spec"], "spec");
    if !structural.is_empty() {
        return structural;
    }
    let revision: TemplateRevision = serde_json::from_value(manifest.clone()).unwrap();
    let name = revision.metadata.name.as_deref().unwrap();
    let wrong = check::revision(name, &revision.spec);
    let workspace = WorkspaceRef {
        namespace: "default".to_owned(),
        name: "web".to_owned(),
        uid: "0123456789abcdef".to_owned(),
    };
    let resolved = resolve(&Input {
        workspace: &workspace,
        spec: &WorkspaceSpec::default(),
        template: Some(&revision.spec),
        volume: None,
        sources: &Sources::default(),
        secret_name: "run",
        sequence: 1,
        generation: 1,
    });
    // A Secret that is not there is no fault of the revision.
    let Ok(resolved) = resolved else { return wrong };
    let made = create_body(&Intent {
        run: &resolved.run,
        secret: &BTreeMap::new(),
        host_uid: "h-1",
        root: "/var/lib/kibotos",
        engine: ApiVersion::NEWEST,
    });
    check::together(wrong, made).err().unwrap_or_default()
}

#[test]
fn what_the_server_refuses_of_a_revision_is_refused_offline_and_nothing_else() {
    let crd = walk::definitions()
        .into_iter()
        .find(|crd| crd["spec"]["names"]["kind"] == "TemplateRevision")
        .unwrap();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let mut faults = String::new();
    for pair in written(Kind::TemplateRevision) {
        for case in pair.refused.iter().filter(|_| !needs_the_past(&pair)) {
            let errors = wrong_with_revision(schema, &manifest(Kind::TemplateRevision, case));
            if !errors.iter().any(|error| fits(&error.to_string(), &pair)) {
                writeln!(faults, "{} {}: {:?}: {errors:?}", pair.field, pair.message, case.set)
                    .unwrap();
            }
        }
        for case in pair.accepted.iter().filter(|_| !no_container(&pair)) {
            let errors = wrong_with_revision(schema, &manifest(Kind::TemplateRevision, case));
            if !errors.is_empty() {
                writeln!(faults, "{} {:?}: {:?}: {errors:?}", pair.at, pair.bound, case.set)
                    .unwrap();
            }
        }
    }
    assert_eq!(faults, "");
}
