//! What Workspaces refer to, given beside them.

use serde_json::json;

use super::{Files, WEB, refused, rendered};

#[test]
fn secrets_and_config_maps_can_be_given_as_lines_or_as_manifests() {
    let files = Files::new("given");
    let secret = files.put("db", "# login\nuser=u\npassword=a=b\n\n");
    let map = files.put(
        "app.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {conf: x, level: debug}\n",
    );
    let arguments =
        ["-f", "-", "--secret", &format!("db={secret}"), "--config-map", &format!("app={map}")];
    let [one] = rendered(&arguments, WEB).try_into().unwrap();
    assert_eq!(
        one["body"]["Env"],
        json!(["CONTAINER_NAME=default_web", "APP_conf=x", "APP_level=debug", "PASSWORD=a=b"])
    );
}

#[test]
fn a_key_that_a_given_secret_lacks_is_an_error_and_shows_no_value() {
    let files = Files::new("lacks");
    let secret = files.put("db", "user=s3cret\n");
    let told = refused(&["-f", "-", "--secret", &format!("db={secret}")], WEB);
    assert_eq!(
        told[0],
        "-:11: document 1, Workspace web: spec.container.env[0].valueFrom.secretKeyRef: \
         Secret db has no key password"
    );
    assert!(!told.concat().contains("s3cret"), "{told:?}");
}

#[test]
fn a_line_of_a_secrets_file_that_is_none_is_named_by_number_and_not_shown() {
    let files = Files::new("line");
    let secret = files.put("db", "user=u\ns3cret without a key\n");
    let told = refused(&["-f", "-", "--secret", &format!("db={secret}")], WEB).concat();
    assert!(told.contains("line 2 is not KEY=VALUE"), "{told}");
    assert!(!told.contains("s3cret"), "{told}");
}

#[test]
fn a_secret_that_cannot_be_read_shows_no_value() {
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: 12345}\n";
    let told = refused(&["-f", "-"], &format!("{WEB}---\n{secret}")).concat();
    assert!(told.contains("Secret db") && !told.contains("12345"), "{told}");
    let files = Files::new("colon");
    let lines = files.put("db", "password=error: x\n");
    let [one] = rendered(&["-f", "-", "--secret", &format!("db={lines}")], WEB).try_into().unwrap();
    assert!(one["body"]["Env"].as_array().unwrap().contains(&json!("PASSWORD=error: x")));
}

#[test]
fn a_template_can_be_given_beside_or_in_a_file_of_its_own() {
    let files = Files::new("template");
    let revision = "
apiVersion: kibotos.dev/v1alpha1
kind: TemplateRevision
metadata: {name: base-v1}
spec:
  templateName: base
  revision: v1
  container: {image: 'base:1', args: [a], tty: true}
";
    let workspace = |revision: &str| {
        format!(
            "
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {{name: web}}
spec:
  template: {{name: base{revision}}}
  container: {{args: [b]}}
"
        )
    };
    let file = files.put("base.yaml", revision);
    let flags = ["-f", "-", "--template-revision", &file];
    let [one] = rendered(&flags, &workspace(", revision: v1")).try_into().unwrap();
    assert_eq!(
        (&one["body"]["Image"], &one["body"]["Cmd"], &one["body"]["Tty"]),
        (&json!("base:1"), &json!(["b"]), &json!(true))
    );
    let template = "
apiVersion: kibotos.dev/v1alpha1
kind: Template
metadata: {name: base}
spec: {defaultRevision: v1}
";
    let together = [revision, template, &workspace("")].join("---");
    assert_eq!(rendered(&["-f", "-"], &together)[0]["body"]["Image"], "base:1");
    let told = refused(&["-f", "-"], &workspace(", revision: v2"));
    assert_eq!(
        told[0],
        "-:6: document 1, Workspace web: spec.template: TemplateRevision base-v2 is not known here: \
         give it with --template-revision"
    );
}

#[test]
fn what_is_given_is_found_by_its_namespace_and_name() {
    let workspace = |namespace: &str| {
        format!(
            "---\napiVersion: kibotos.dev/v1alpha1\nkind: Workspace\n\
             metadata: {{name: web{namespace}}}\nspec:\n  container:\n    image: app\n    env:\n    \
             - {{name: A, valueFrom: {{secretKeyRef: {{name: db, key: a}}}}}}\n"
        )
    };
    let secret = |namespace: &str, value: &str| {
        format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: db{namespace}}}\n\
             stringData: {{a: {value}}}\n"
        )
    };
    let input = [
        workspace(", namespace: one"),
        workspace(", namespace: two"),
        workspace(", namespace: three"),
        workspace(""),
        secret(", namespace: one", "in-one"),
        secret(", namespace: two", "in-two"),
        secret("", "in-team"),
    ]
    .concat();
    let value = |arguments: &[&str]| -> Vec<String> {
        let all = rendered(arguments, &input);
        all.iter().map(|one| one["body"]["Env"][1].as_str().unwrap().to_owned()).collect()
    };
    let from = ["-f", "-", "--namespace", "team"];
    assert_eq!(value(&from), ["A=in-one", "A=in-two", "A=<secret db/a>", "A=in-team"]);
    let files = Files::new("namespaces");
    let lines = format!("db={}", files.put("lines", "a=given\n"));
    let flags = [&from[..], &["--secret", &lines]].concat();
    assert_eq!(value(&flags), ["A=in-one", "A=in-two", "A=<secret db/a>", "A=given"]);
    let manifest = format!("db={}", files.put("two.yaml", &secret(", namespace: two", "given")));
    let flags = [&from[..], &["--secret", &manifest]].concat();
    assert_eq!(value(&flags), ["A=in-one", "A=given", "A=<secret db/a>", "A=in-team"]);
}

#[test]
fn a_file_that_is_of_another_object_is_an_error() {
    let files = Files::new("other");
    let secret = files.put(
        "s.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: other\nstringData: {password: hush}\n",
    );
    for (flag, told_of) in [
        ("--secret", "s.yaml:4: document 1, Secret other: metadata.name: is not db"),
        ("--config-map", "s.yaml:2: document 1, Secret other: kind: is no ConfigMap of v1"),
    ] {
        let told = refused(&["-f", "-", flag, &format!("db={secret}")], WEB).join("\n");
        assert!(told.contains(told_of) && !told.contains("hush"), "{told}");
    }
}

#[test]
fn lines_that_kubernetes_would_not_take_as_data_are_errors_that_show_none_of_it() {
    let files = Files::new("lines");
    let lines = files.put("db", "\u{feff}password=hush\nexport b=hush\nc d=hush\npassword=hush\n");
    let told = refused(&["-f", "-", "--secret", &format!("db={lines}")], WEB).join("\n");
    for line in
        ["line 2 begins with export", "line 3 is not KEY=VALUE", "has the key of line 1 again"]
    {
        assert!(told.contains(line), "{told}");
    }
    assert!(!told.contains("hush"), "{told}");
    let right = files.put("right", "\u{feff}password=hush\n");
    assert_eq!(rendered(&["-f", "-", "--secret", &format!("db={right}")], WEB).len(), 1);
}

#[test]
fn a_secrets_manifest_is_judged_and_shows_no_value() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringdata: {a: hush}\n\
                  data: {password: 'hush!', 'a/b': aHVzaA==}\n";
    let told = refused(&["-f", "-"], &format!("{WEB}---\n{secret}")).join("\n");
    assert!(told.contains("document 2, Secret db: stringdata: unknown field"), "{told}");
    let secret = secret.replace("stringdata", "stringData");
    let told = refused(&["-f", "-"], &format!("{WEB}---\n{secret}")).join("\n");
    assert!(
        told.contains("data[password]: must be base64: write plain text in stringData"),
        "{told}"
    );
    assert!(told.contains("data[a/b]: \"a/b\" contains '/'"), "{told}");
    assert!(!told.contains("hush") && !told.contains("aHVz"), "{told}");
}

#[test]
fn a_wrong_revision_is_told_once_and_not_by_those_that_name_it() {
    let told = refused(
        &["-f", "-"],
        "
apiVersion: kibotos.dev/v1alpha1
kind: TemplateRevision
metadata: {name: base-v1}
spec: {templateName: base, revision: v1, container: {image: a, bogus: 1}}
---
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {name: web}
spec: {template: {name: base, revision: v1}}
",
    );
    assert_eq!(
        told[0],
        "-:5: document 1, TemplateRevision base-v1: spec.container.bogus: unknown field"
    );
    assert_eq!(told.len(), 2, "{told:?}");
}
