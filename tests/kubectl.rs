//! What a user of the real `kubectl` sees.

use std::{
    collections::BTreeMap,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

mod run;

pub use run::Kubectl;
use run::{header, row};

const NGINX: &str = include_str!("../examples/nginx.yaml");
const MINIMAL: &str = include_str!("../examples/minimal.yaml");

#[tokio::test]
async fn explain_lists_the_fields_of_a_container() {
    let kubectl = Kubectl::in_a_namespace("explain").await;

    let explained = kubectl.run("explain workspace.spec.container --recursive");

    let fields: Vec<_> = explained
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once('\t'))
        .map(|(name, _)| name.trim_start())
        .collect();
    for field in ["image", "args", "ports", "hostPort", "healthcheck", "startPeriod", "capAdd"] {
        assert!(fields.contains(&field), "{field}: {explained}");
    }
}

#[tokio::test]
async fn explain_has_a_description_of_every_field() {
    let kubectl = Kubectl::in_a_namespace("explain").await;

    for level in ["spec", "spec.container", "spec.container.ports", "spec.placement", "status"] {
        let explained = kubectl.run(&format!("explain workspace.{level}"));
        assert!(!explained.contains("<no description>"), "{level}: {explained}");
    }

    // What it would say at all other levels, of all kinds.
    let api = kubectl.json("", "get --raw /openapi/v3/apis/kibotos.dev/v1alpha1");
    let (mut described, mut bare) = (0, Vec::new());
    for (kind, schema) in api["components"]["schemas"].as_object().unwrap() {
        if kind.starts_with("dev.kibotos.") {
            fields(kind, schema, &mut |path, field| match field["description"].as_str() {
                Some(text) if !text.is_empty() => described += 1,
                _ => bare.push(path.to_owned()),
            });
        }
    }
    assert_eq!(bare, Vec::<String>::new());
    assert!(described > 500, "only {described} fields were found");
}

#[tokio::test]
async fn explain_says_what_a_value_does_and_what_it_risks() {
    let kubectl = Kubectl::in_a_namespace("explain").await;

    assert_eq!(
        kubectl.run("explain workspace.spec.volume.mode"),
        "GROUP:      kibotos.dev\n\
         KIND:       Workspace\n\
         VERSION:    v1alpha1\n\n\
         FIELD: mode <string>\n\
         ENUM:\n    Create\n    Bind\n    None\n\n\
         DESCRIPTION:\n    \
         `Create` (default) makes a Volume for this Workspace, `Bind` uses one that\n    \
         exists, `None` goes without. Can be changed while stopped; in force at the\n    \
         next start.\n    \n\n"
    );
    let move_ = kubectl.run("explain workspace.spec.placement.onHostLoss");
    let words = move_.split_whitespace().collect::<Vec<_>>().join(" ");
    let overlap = "A host that only lost its network may then still run the old container for a \
                   while.";
    assert!(words.contains(overlap), "{move_}");
}

#[tokio::test]
async fn a_fresh_workspace_is_listed_with_empty_columns() {
    let kubectl = Kubectl::in_a_namespace("columns").await;
    kubectl.feed(NGINX, "apply -f -");

    let table = kubectl.run("get ws");

    assert_eq!(header(&table), NARROW);
    let [name, age] = row(&table)[..] else { panic!("{table}") };
    assert_eq!(name, "nginx");
    assert!(age.ends_with('s'), "{age}");
}

#[tokio::test]
async fn a_workspace_is_listed_with_what_its_status_says() {
    let kubectl = Kubectl::in_a_namespace("columns").await;
    kubectl.feed(NGINX, "apply -f -");
    patch_status(&kubectl, "nginx", &status());

    let narrow = kubectl.run("get ws");
    let wide = kubectl.run("get ws -o wide");

    assert_eq!(header(&narrow), NARROW);
    let values = ["nginx", "Available", "3", "edge-1", "docker.io/library/nginx:latest", "True"];
    assert_eq!(row(&narrow)[..6], values);
    assert_eq!(header(&wide), [&NARROW[..], &WIDE[..]].concat());
    assert_eq!(row(&wide)[..6], values);
    let values = [
        "AsDeclared",
        "Running",
        "Responding",
        "2",
        "web",
        "v3",
        "data",
        "my_nginx",
        "2099-01-31T18:00:00Z",
    ];
    assert_eq!(row(&wide)[7..], values);
}

#[tokio::test]
async fn kinds_have_short_names() {
    let kubectl = Kubectl::in_a_namespace("names").await;

    let table = kubectl.run("api-resources --api-group kibotos.dev --no-headers");

    let short_names: BTreeMap<_, _> = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .map(|words| (words[words.len() - 1], if words.len() == 5 { words[1] } else { "" }))
        .collect();
    let wanted = BTreeMap::from([
        ("Host", "khost"),
        ("StoragePool", "pool"),
        ("Template", "tpl"),
        ("TemplateRevision", "tplrev"),
        ("Volume", "vol"),
        ("VolumeTask", ""),
        ("Workspace", "ws"),
        ("WorkspaceRecord", ""),
        ("WorkspaceRun", "wsr"),
    ]);
    assert_eq!(short_names, wanted);
    for short in wanted.values().filter(|short| !short.is_empty()) {
        kubectl.run(&format!("get {short} --ignore-not-found"));
    }
}

#[tokio::test]
async fn all_kinds_are_listed_by_their_category() {
    let kubectl = Kubectl::in_a_namespace("category").await;
    let volume = json!({
        "apiVersion": "kibotos.dev/v1alpha1", "kind": "Volume",
        "metadata": { "name": "data" }, "spec": {},
    });
    kubectl.feed(NGINX, "apply -f -");
    kubectl.feed(&volume.to_string(), "apply -f -");

    let listed = kubectl.run("get kibotos -o name");

    let listed: Vec<_> = listed.lines().collect();
    assert!(listed.contains(&"workspace.kibotos.dev/nginx"), "{listed:?}");
    assert!(listed.contains(&"volume.kibotos.dev/data"), "{listed:?}");
    let kinds = kubectl.run("api-resources --categories kibotos -o name");
    assert_eq!(kinds.lines().count(), 9, "{kinds}");
}

#[tokio::test]
async fn workspaces_are_selected_by_phase_and_host() {
    let kubectl = Kubectl::in_a_namespace("select").await;
    for (name, phase, host) in
        [("one", "Available", "edge-1"), ("two", "Failed", "edge-1"), ("three", "Failed", "edge-2")]
    {
        kubectl.feed(&workspace(name, &json!({ "container": { "image": "app" } })), "apply -f -");
        patch_status(&kubectl, name, &json!({ "phase": phase, "hostName": host }));
    }

    let names = |selector: &str| {
        let listed = kubectl.run(&format!("get ws -o name --field-selector {selector}"));
        listed.replace("workspace.kibotos.dev/", "")
    };

    assert_eq!(names("status.phase=Available"), "one\n");
    assert_eq!(names("status.phase=Failed"), "three\ntwo\n");
    assert_eq!(names("status.phase=Failed,status.hostName=edge-1"), "two\n");
}

#[tokio::test]
async fn diff_shows_nothing_after_apply_and_then_what_was_changed_alone() {
    let kubectl = Kubectl::in_a_namespace("diff").await;
    // Defaults are filled in by the server, and are no difference.
    kubectl.feed(NGINX, "apply -f -");

    let same = kubectl.answer(NGINX, "diff -f -");
    assert_eq!((same.code, same.stdout.as_str()), (0, ""), "{}", same.stderr);

    let changed = kubectl.answer(&NGINX.replace("512Mi", "513Mi"), "diff -f -");
    assert_eq!(changed.code, 1, "{}", changed.stderr);
    let lines: Vec<_> = changed
        .stdout
        .lines()
        .filter(|line| line.starts_with(['-', '+']))
        .filter(|line| !line.starts_with("---") && !line.starts_with("+++"))
        .collect();
    // `metadata.generation` counts changes of the spec: a user sees it move, too.
    let generation = ["-  generation: 1", "+  generation: 2"];
    let memory = ["-      memory: 512Mi", "+      memory: 513Mi"];
    assert_eq!(lines, [generation, memory].concat());
}

#[tokio::test]
async fn a_workspace_that_is_applied_again_is_unchanged() {
    let kubectl = Kubectl::in_a_namespace("apply").await;

    assert_eq!(kubectl.feed(MINIMAL, "apply -f -"), "workspace.kibotos.dev/minimal created\n");
    assert_eq!(kubectl.feed(MINIMAL, "apply -f -"), "workspace.kibotos.dev/minimal unchanged\n");
}

#[tokio::test]
async fn a_field_that_leaves_the_manifest_leaves_the_workspace() {
    let kubectl = Kubectl::in_a_namespace("apply").await;
    let limit = "      memory: 512Mi\n";
    let (resources, bind) =
        (format!("  resources:\n    limits:\n{limit}"), "    binds:\n    - /host/data:/data\n");
    assert!(NGINX.contains(&resources) && NGINX.contains(bind), "the example has both");

    let generation = || kubectl.run("get ws nginx -o jsonpath={.metadata.generation}");

    assert_eq!(kubectl.feed(NGINX, "apply -f -"), "workspace.kibotos.dev/nginx created\n");
    // kubectl says "configured" for a list whose items have defaults, but nothing is.
    kubectl.feed(NGINX, "apply -f -");
    assert_eq!(generation(), "1");
    let less = NGINX.replace(&resources, "").replace(bind, "");
    assert_eq!(kubectl.feed(&less, "apply -f -"), "workspace.kibotos.dev/nginx configured\n");
    assert_eq!(generation(), "2");

    let spec = &kubectl.json("", "get ws nginx -o json")["spec"];
    assert_eq!(spec.get("resources"), None);
    assert_eq!(spec["container"].get("binds"), None);
    assert_eq!(spec["container"]["name"], "my_nginx");
}

#[tokio::test]
async fn the_definitions_can_be_applied_again_and_again_and_in_either_way() {
    let kubectl = Kubectl::in_a_namespace("crds").await;
    let definitions = definitions();
    let server_side = "apply --server-side -f -";
    let installed = || kubectl.json("", "get crd -o json")["items"].as_array().unwrap().clone();

    let applied = kubectl.feed(&definitions, server_side);
    assert_eq!(applied.lines().count(), 9, "{applied}");
    let before = installed();
    assert_eq!(kubectl.feed(&definitions, server_side), applied);
    assert_eq!(installed(), before, "resourceVersion and generation with all else");

    // Its annotation with the manifest must not grow too long.
    let applied = kubectl.run("apply -f crds/");
    assert_eq!(applied.lines().count(), 9, "{applied}");
    let generations = |crds: &[Value]| -> Vec<Value> {
        crds.iter().map(|crd| crd["metadata"]["generation"].clone()).collect()
    };
    assert_eq!(generations(&installed()), generations(&before));
}

#[tokio::test]
async fn a_workspace_can_be_deleted() {
    let kubectl = Kubectl::in_a_namespace("delete").await;
    kubectl.feed(NGINX, "apply -f -");

    let deleted = kubectl.feed(NGINX, "delete -f -");

    assert!(deleted.starts_with("workspace.kibotos.dev \"nginx\" deleted"), "{deleted}");
    assert_eq!(kubectl.run("get ws -o name"), "");
}

#[tokio::test]
async fn a_refusal_names_the_field_and_what_to_change() {
    let kubectl = Kubectl::in_a_namespace("refuse").await;
    let refusal = |spec: Value| kubectl.refusal(&workspace("w", &spec), "apply -f -");

    assert_eq!(
        refusal(json!({ "container": { "image": "nginx", "name": "t" } })),
        "The Workspace \"w\" is invalid: spec.container.name: Invalid value: \"t\": must have at \
         least 2 characters, only letters, digits, '_', '.' and '-', and start with a letter or \
         digit"
    );
    assert_eq!(
        refusal(json!({ "template": { "name": "base" }, "container": { "image": "nginx" } })),
        "The Workspace \"w\" is invalid: spec: Invalid value: set exactly one of template and \
         container.image"
    );
    assert_eq!(
        refusal(json!({ "container": {
            "image": "nginx", "binds": ["/srv/www:/www"], "tmpfs": { "/www": "" },
        } })),
        "The Workspace \"w\" is invalid: spec.container: Invalid value: two mounts have one path: \
         a path may be used once over binds, mounts and tmpfs"
    );
    assert_eq!(
        refusal(json!({ "container": { "image": "nginx", "autoRemove": true } })),
        "Error from server (BadRequest): error when creating \"STDIN\": Workspace in version \
         \"v1alpha1\" cannot be handled as a Workspace: strict decoding error: unknown field \
         \"spec.container.autoRemove\""
    );
}

const NARROW: [&str; 7] = ["NAME", "PHASE", "GENERATION", "HOST", "IMAGE", "READY", "AGE"];
const WIDE: [&str; 9] = [
    "REASON",
    "POWER",
    "GUEST",
    "RESTARTS",
    "TEMPLATE",
    "REVISION",
    "VOLUME",
    "CONTAINER",
    "EXPIRES",
];

/// Shows every field below a schema to `look`, with its path.
fn fields(path: &str, schema: &Value, look: &mut impl FnMut(&str, &Value)) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        look(&path, field);
        fields(&path, field, look);
        fields(&path, &field["items"], look);
    }
}

/// A status with something in every column.
fn status() -> Value {
    json!({
        "phase": "Available",
        "runGeneration": 3,
        "guest": "Responding",
        "hostName": "edge-1",
        "containerName": "my_nginx",
        "template": { "name": "web", "revision": "v3" },
        "image": { "name": "docker.io/library/nginx:latest" },
        "volume": { "name": "data", "uid": "3f2b8c1e" },
        "restarts": 2,
        "expiresAt": "2099-01-31T18:00:00Z",
        "conditions": [{
            "type": "Ready", "status": "True", "reason": "AsDeclared", "message": "",
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        }],
    })
}

fn patch_status(kubectl: &Kubectl, name: &str, status: &Value) {
    let patch = json!({ "status": status });
    kubectl.run(&format!("patch ws {name} --subresource=status --type=merge -p {patch}"));
}

fn workspace(name: &str, spec: &Value) -> String {
    let manifest = json!({
        "apiVersion": "kibotos.dev/v1alpha1", "kind": "Workspace",
        "metadata": { "name": name }, "spec": spec,
    });
    manifest.to_string()
}

/// What `kibotos crds` prints.
fn definitions() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kibotos"))
        .arg("crds")
        .stderr(Stdio::inherit())
        .output()
        .expect("kibotos can be started");
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stdout).expect("kibotos speaks UTF-8")
}
