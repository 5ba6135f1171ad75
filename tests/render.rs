//! `kibotos render`, as a user runs it.

mod given;
mod wrong;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// A directory of this test's own, gone with it.
struct Files(PathBuf);

impl Files {
    fn new(test: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("kibotos-render-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn render_with_input(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kibotos"))
        .arg("render")
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end before it reads, on a wrong flag.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[track_caller]
fn rendered(arguments: &[&str], input: &str) -> Vec<Value> {
    let output = render_with_input(arguments, input);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stderr, "");
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    documents.map(Result::unwrap).collect()
}

/// The lines on standard error; nothing is on standard output, and the exit code is 1.
#[track_caller]
fn refused(arguments: &[&str], input: &str) -> Vec<String> {
    let output = render_with_input(arguments, input);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
    String::from_utf8(output.stderr).unwrap().lines().map(str::to_owned).collect()
}

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name).display().to_string()
}

#[test]
fn the_worked_example_comes_out_as_the_design_has_it() {
    let [one] = rendered(&["-f", &example("nginx.yaml")], "").try_into().unwrap();
    let mut body = one["body"].clone();
    let ours = body["Labels"].as_object_mut().unwrap();
    ours.retain(|key, _| !key.starts_with("kibotos.dev/"));
    assert_eq!(one["name"], "my_nginx");
    assert_eq!(
        body,
        json!({
            "Image": "docker.io/library/nginx:latest",
            "Cmd": ["nginx", "-g", "daemon off;"],
            "Entrypoint": [],
            "Env": ["CONTAINER_NAME=my_nginx", "ENV=prod"],
            "Labels": {},
            "Volumes": { "/usr/local/etc/service.conf": {}, "/data": {} },
            "User": "",
            "WorkingDir": "",
            "Hostname": "",
            "ExposedPorts": { "80/tcp": {} },
            "NetworkingConfig": { "EndpointsConfig": { "bridge": {} } },
            "Healthcheck": {},
            "HostConfig": {
                "Binds": [
                    "/data/apps/my_nginx/service.conf:/usr/local/etc/service.conf",
                    "/host/data:/data",
                ],
                "RestartPolicy": { "Name": "always" },
                "Memory": 536_870_912,
            },
        })
    );
}

#[test]
fn every_example_renders() {
    for entry in std::fs::read_dir(example("")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "yaml") {
            let rendered = rendered(&["-f", path.to_str().unwrap()], "");
            assert!(!rendered.is_empty(), "{}", path.display());
        }
    }
}

#[test]
fn the_same_manifest_always_makes_the_same_bytes() {
    let file = example("edge-device.yaml");
    let once = || render_with_input(&["-f", &file], "").stdout;
    assert_eq!(once(), once());
}

const WEB: &str = "
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata:
  name: web
spec:
  container:
    image: app
    env:
    - name: PASSWORD
      valueFrom: {secretKeyRef: {name: db, key: password}}
    envFrom:
    - configMapRef: {name: app}
      prefix: APP_
  configFile:
    configMapKeyRef: {name: app, key: conf}
";

#[test]
fn what_only_a_cluster_or_a_host_knows_is_named_in_its_place() {
    let [one] = rendered(&["-f", "-", "--namespace", "team"], WEB).try_into().unwrap();
    let body = &one["body"];
    assert_eq!(one["name"], "team_web");
    assert_eq!(
        body["Env"],
        json!([
            "CONTAINER_NAME=team_web",
            "APP_conf=<config-map app/conf>",
            "PASSWORD=<secret db/password>",
            "APP_<config-map app/*>"
        ])
    );
    assert_eq!(
        body["Labels"],
        json!({
            "kibotos.dev/host-uid": "<host-uid>",
            "kibotos.dev/spec-hash": "<spec-hash>",
            "kibotos.dev/workspace": "web",
            "kibotos.dev/workspace-namespace": "team",
            "kibotos.dev/workspace-uid": "<workspace-uid>",
        })
    );
    assert_eq!(
        body["HostConfig"],
        json!({
            "Binds": ["/var/lib/kibotos/team_web_<uid8>/service.conf:/usr/local/etc/service.conf"],
            "Mounts": [{ "Type": "volume", "Source": "kibotos-<volume-uid>", "Target": "/data" }],
        })
    );
}

#[test]
fn a_host_policy_is_applied_where_it_is_given_and_an_empty_one_is_closed() {
    let files = Files::new("policy");
    let manifest = "
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {name: web}
spec:
  container:
    image: app
    privileged: true
    binds: ['/srv/data:/mnt']
    ports: [{containerPort: 80, hostPort: 8080}]
  configFile: {content: x}
";
    assert_eq!(rendered(&["-f", "-"], manifest).len(), 1);
    let closed = files.put("closed.yaml", "");
    let told = refused(&["-f", "-", "--host-policy", &closed], manifest);
    let fields: Vec<_> = told.iter().filter_map(|line| line.split(": ").nth(2)).collect();
    assert_eq!(
        fields,
        [
            "spec.container.privileged",
            "spec.container.binds[0]",
            "spec.container.ports[0].hostPort"
        ],
        "{told:#?}"
    );
    assert!(told[0].contains("not allowed by host policy"), "{told:?}");
    let open = files.put(
        "open.yaml",
        "policy:\n  namespaces:\n    team:\n      privileged: true\n      bindPrefixes: [/srv]\n      \
         hostPorts: ['8000-8999']\n",
    );
    assert_eq!(rendered(&["-f", "-", "-n", "team", "--host-policy", &open], manifest).len(), 1);
    refused(&["-f", "-", "--host-policy", &open], manifest);
    let wrong = files.put("wrong.yaml", "policy:\n  default:\n    privilegd: true\n");
    let told = refused(&["-f", "-", "--host-policy", &wrong], manifest).concat();
    assert!(
        told.contains("wrong.yaml") && told.contains("privilegd") && told.contains('3'),
        "{told}"
    );
}

#[test]
fn yaml_output_is_the_same_as_json() {
    let file = example("agent-sandbox.yaml");
    let yaml = render_with_input(&["-f", &file, "--output", "yaml"], "").stdout;
    let yaml: Value = serde_saphyr::from_str(std::str::from_utf8(&yaml).unwrap()).unwrap();
    assert_eq!(vec![yaml], rendered(&["-f", &file], ""));
}

#[test]
fn numbers_and_nulls_are_read_as_kubernetes_reads_them() {
    let [one] = rendered(
        &["-f", "-"],
        "
apiVersion: kibotos.dev/v1alpha1
kind: Workspace
metadata: {name: web}
spec:
  container:
    image: app
    labels: {a: null, b: x}
    ports: [{containerPort: 80.0}]
    mounts: [{type: tmpfs, target: /t, tmpfsOptions: {mode: 01777}}]
  lifetime: null
  volume: {mode: None}
",
    )
    .try_into()
    .unwrap();
    let body = &one["body"];
    assert_eq!(body["Labels"]["b"], "x");
    assert_eq!(body["Labels"].get("a"), None);
    assert_eq!(body["ExposedPorts"], json!({ "80/tcp": {} }));
    assert_eq!(body["HostConfig"]["Mounts"][0]["TmpfsOptions"]["Mode"], 1023);
}

#[test]
fn thousands_of_workspaces_in_one_file_are_rendered() {
    let one = |i: usize| {
        format!(
            "---\napiVersion: kibotos.dev/v1alpha1\nkind: Workspace\nmetadata: {{name: w{i}}}\n\
             spec: {{container: {{image: app}}}}\n"
        )
    };
    let files = Files::new("many");
    let file = files.put("many.yaml", &(0..2_000).map(one).collect::<String>());
    assert_eq!(rendered(&["-f", &file], "").len(), 2_000);
}
