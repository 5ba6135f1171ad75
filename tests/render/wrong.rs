//! What is wrong with manifests and flags, and how it is told.

use serde_json::json;

use super::{Files, WEB, refused, render_with_input, rendered};

#[test]
fn all_errors_are_told_with_file_line_document_and_field() {
    let told = refused(
        &["-f", "-"],
        "
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {name: fine}
spec: {container: {image: app}}
---
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {name: web}
spec:
  container:
    image: app
    AutoRemove: true
    ports:
    - containerPort: 80
      protocol: tcp
  powerstate: Stopped
",
    );
    // What is right is not printed either: a pipe gets all or an exit code.
    assert_eq!(
        told[..3],
        [
            "-:13: document 2, Workspace web: spec.container.AutoRemove: unknown field",
            r#"-:16: document 2, Workspace web: spec.container.ports[0].protocol: Unsupported value: "tcp": supported values: "TCP", "UDP", "SCTP""#,
            "-:17: document 2, Workspace web: spec.powerstate: unknown field",
        ]
    );
}

#[test]
fn what_the_engine_is_too_old_for_is_an_error() {
    let manifest = "
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {name: web}
spec:
  container:
    image: app
    annotations: {a: b}
    networks: [{name: a}, {name: b}]
";
    let told = refused(&["-f", "-", "--engine-api", "1.41"], manifest);
    assert_eq!(
        told[0],
        "-:8: document 1, Workspace web: spec.container.annotations: needs engine API 1.43 \
         (Docker 24), and the host's engine has 1.41"
    );
    let [one] = rendered(&["-f", "-", "--engine-api", "1.43"], manifest).try_into().unwrap();
    assert_eq!(one["body"]["NetworkingConfig"], json!({ "EndpointsConfig": { "a": {} } }));
    assert_eq!(one["connect"], json!([{ "network": "b", "endpoint": {} }]));
}

#[test]
fn a_file_without_a_workspace_is_an_error() {
    let told = refused(&["-f", "-"], "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    assert!(told[0].contains("there is no Workspace in -"), "{told:?}");
    let told = refused(&["-f", "/nonexistent.yaml"], "");
    assert!(told[0].contains("/nonexistent.yaml"), "{told:?}");
    let told = refused(&["-f", "-"], "a: [1,\n");
    assert!(told[0].contains("line"), "{told:?}");
}

#[test]
fn an_error_is_told_whatever_the_log_level_and_without_colours_in_a_pipe() {
    for level in ["off", "error", "debug"] {
        let told = refused(&["--log-level", level, "-f", "/nonexistent.yaml"], "");
        assert_eq!(
            told,
            ["error: read /nonexistent.yaml: No such file or directory (os error 2)"],
            "{level}"
        );
    }
}

#[test]
fn no_document_is_skipped_in_silence() {
    for (document, told_of) in [
        ("just text\n", "is no manifest"),
        ("kind: Workspace\nmetadata: {name: a}\n", "apiVersion: Required value"),
        ("apiVersion: kibotos.dev/v1\nkind: Workspace\n", "write kibotos.dev/v1alpha1"),
        ("apiVersion: v1\nkind: List\nitems: x\n", "items: must be a list of manifests"),
    ] {
        let told = refused(&["-f", "-"], &format!("{WEB}---\n{document}")).concat();
        assert!(told.contains(told_of), "{told}");
    }
}

#[test]
fn metadata_is_judged_as_kubernetes_does() {
    let told = refused(
        &["-f", "-"],
        "
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata:
  name: Web.1
  namespace: a/b
  labels:
    app.kubernetes.io/name: a b
  annotation: {}
spec: {container: {image: app}}
",
    );
    let at: Vec<_> =
        told.iter().map(|line| line.split(": ").take(3).collect::<Vec<_>>().join(": ")).collect();
    assert_eq!(
        at[..4],
        [
            "-:5: document 1, Workspace Web.1: metadata.name",
            "-:6: document 1, Workspace Web.1: metadata.namespace",
            "-:8: document 1, Workspace Web.1: metadata.labels[app.kubernetes.io/name]",
            "-:9: document 1, Workspace Web.1: metadata.annotation",
        ],
        "{told:#?}"
    );
    let told = refused(
        &["-f", "-"],
        "apiVersion: kibotos.dev/v1alpha1\nkind: Workspace\nspec: {container: {image: a}}\n",
    );
    assert_eq!(told[0], "-:1: document 1, Workspace: metadata.name: Required value");
}

#[test]
fn a_flag_that_kubernetes_or_an_agent_would_refuse_is_refused() {
    for (flag, value) in [
        ("--namespace", "Bad/NS"),
        ("--root", "var/lib"),
        ("--root", "/var/../lib"),
        ("--secret", "Bad_Name=file"),
    ] {
        let output = render_with_input(&["-f", "-", flag, value], WEB);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(&format!("'{value}' for '{flag}")), "{told}");
    }
}

#[test]
fn one_run_tells_all_that_can_be_known() {
    let files = Files::new("stages");
    let closed = files.put("closed.yaml", "");
    let told = refused(
        &["-f", "-", "--engine-api", "1.41", "--host-policy", &closed],
        "
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {name: Web}
spec:
  container:
    image: app
    autoRemove: true
    annotations: {a: b}
    privileged: true
    env:
    - {name: A, valueFrom: {secretKeyRef: {name: db, key: gone}}}
  template: {name: nowhere, revision: v1}
---
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {name: web}
spec: {container: {image: app}}
spec: {}
---
a: [1,
---
apiVersion: v1
kind: Secret
metadata: {name: db}
",
    );
    let begins = [
        "-:4: document 1, Workspace Web: metadata.name: ",
        "-:5: document 1, Workspace Web: spec: set exactly one of template and container.image",
        "-:8: document 1, Workspace Web: spec.container.autoRemove: unknown field",
        "-:9: document 1, Workspace Web: spec.container.annotations: needs engine API 1.43",
        "-:10: document 1, Workspace Web: spec.container.privileged: ",
        "-:12: document 1, Workspace Web: spec.container.env[0].valueFrom.secretKeyRef: Secret db has no key gone",
        "-:19: document 2, Workspace web: line 19, column 1: spec: stands twice: leave one of the two out",
        "-:21: document 3: line 21, column 4: the [ is never closed",
        "error: 3 of the manifests cannot be rendered",
    ];
    assert_eq!(told.len(), begins.len(), "{told:#?}");
    for (line, begin) in told.iter().zip(begins) {
        assert!(line.starts_with(begin), "{begin} {told:#?}");
    }
}

#[test]
fn a_list_is_as_good_as_its_items() {
    let item = |name: &str, more: &str| {
        format!(
            "- apiVersion: kibotos.dev/v1alpha1\n  kind: Workspace\n  metadata: {{name: {name}, uid: x, \
             managedFields: [{{manager: kubectl}}]}}\n  spec:\n    container: {{image: app{more}}}\n"
        )
    };
    let list = |items: &[String]| format!("apiVersion: v1\nkind: List\nitems:\n{}", items.concat());
    let names: Vec<_> = rendered(&["-f", "-"], &list(&[item("a", ""), item("b", "")]))
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    assert_eq!(names, ["default_a", "default_b"]);
    let told = refused(&["-f", "-"], &list(&[item("a", ""), item("b", ", bogus: 1")]));
    assert_eq!(
        told[0],
        "-:13: document 1, Workspace b: items[1].spec.container.bogus: unknown field"
    );
}

#[test]
fn two_workspaces_with_one_container_name_are_told_of() {
    let workspace = |name: &str, host: &str| {
        format!(
            "---\napiVersion: kibotos.dev/v1alpha1\nkind: Workspace\nmetadata: {{name: {name}}}\nspec:\n  \
             container:\n    image: app\n    name: shared\n  placement: {{{host}}}\n"
        )
    };
    let two = |a: &str, b: &str| [workspace("a", a), workspace("b", b)].concat();
    let told = refused(&["-f", "-"], &two("hostName: h1", "hostName: h1"));
    assert_eq!(
        told[0],
        "-:17: document 2, Workspace b: spec.container.name: container name shared is that of \
         Workspace default/a too (-:8), and both are placed on host h1: change one, or leave both out"
    );
    let fine = render_with_input(&["-f", "-"], &two("hostName: h1", "hostName: h2"));
    assert_eq!((fine.status.code(), fine.stderr.as_slice()), (Some(0), b"".as_slice()));
    let warned = render_with_input(&["-f", "-"], &two("hostName: h1", ""));
    let told = String::from_utf8(warned.stderr).unwrap();
    assert_eq!(warned.status.code(), Some(0), "{told}");
    assert!(
        told.starts_with("warning: -:17: document 2, Workspace b: spec.container.name: "),
        "{told}"
    );
    let told = refused(&["-f", "-"], &[workspace("a", ""), workspace("a", "")].concat());
    assert!(
        told[0].contains(
            "document 2, Workspace a: metadata.name: is the name of a Workspace before it"
        ),
        "{told:?}"
    );
}

#[test]
fn no_error_speaks_of_how_yaml_is_read() {
    for text in [
        "a: 1\na: 2\n",
        "a: *b\n",
        "a: !!int x\n",
        "? [a]\n: b\n",
        "a: {b\n",
        "\t- a\n",
        "a: .nan\n",
    ] {
        let told = refused(&["-f", "-"], &format!("{WEB}---\n{text}"));
        assert!(told[0].starts_with("-:") && told[0].contains("document 2"), "{told:?}");
        for word in ["Policy", "budget", "scan", "token", "event", "serde", "char "] {
            assert!(!told.concat().contains(word), "{word}: {told:?}");
        }
    }
}
