//! `kibotos host join` as an admin runs it.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

use kibotos::trust::Credential;

use crate::fixture::{cluster, join};

fn host_join(kubeconfig: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kibotos"));
    command.args(["host", "join"]).args(arguments).env("KUBECONFIG", kubeconfig);
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn the_credential_is_printed_or_written_and_each_object_told() {
    let cluster = cluster().await;
    // A host that is there already makes the name a free one, and both outputs the same.
    let joined = join(&cluster, "program").await;
    let file = joined.root().join("out.yaml");
    let out = file.to_str().unwrap();

    let printed = host_join(cluster.kubeconfig(), &[&joined.host]);
    let server = "https://api.example.org:6443";
    let written =
        host_join(cluster.kubeconfig(), &[&joined.host, "--out", out, "--server", server]);

    assert!(printed.status.success(), "{}", text(&printed.stderr));
    assert_eq!(Credential::parse(&text(&printed.stdout)).unwrap(), joined.credential());
    let said = text(&printed.stderr);
    assert!(said.contains(&format!("host.kibotos.dev/{} unchanged", joined.host)), "{said}");
    assert!(said.contains("give --server URL"), "its server is on loopback: {said}");

    assert!(written.status.success(), "{}", text(&written.stderr));
    assert_eq!(text(&written.stdout), "");
    let said = text(&written.stderr);
    assert!(said.ends_with(&format!("credential written to {out}\n")), "{said}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let credential = Credential::read(&file).unwrap();
    assert_eq!(credential.server, server);
    assert_eq!(credential.refresh_token, joined.credential().refresh_token);
}

#[test]
fn a_bad_name_is_refused_before_anything_is_read() {
    let nowhere = Path::new("/nonexistent/kubeconfig");
    for (name, message) in [
        ("Edge", "contains 'E'"),
        ("edge.example.org", "contains '.'"),
        (&"a".repeat(51), "a host name has at most 50 characters"),
    ] {
        let output = host_join(nowhere, &[name]);
        let said = text(&output.stderr);
        assert!(!output.status.success());
        assert!(said.contains(message), "{said}");
        assert!(!said.contains("kubeconfig"), "{said}");
    }
}

#[test]
fn a_missing_kubeconfig_is_told() {
    let output = host_join(Path::new("/nonexistent/kubeconfig"), &["a"]);
    let said = text(&output.stderr);
    assert!(said.contains("name one with --kubeconfig or KUBECONFIG"), "{said}");
}

#[tokio::test]
async fn a_user_who_may_not_is_told_which_permission_is_missing() {
    let cluster = cluster().await;
    let joined = join(&cluster, "powerless").await;
    // Its refresh account is somebody who may do next to nothing.
    let config = fs::read_to_string(cluster.kubeconfig()).unwrap();
    let admin = config.split("user: {token: ").nth(1).unwrap().split('}').next().unwrap();
    let file = joined.root().join("kubeconfig");
    let token = joined.credential().refresh_token;
    fs::write(&file, config.replace(admin, token.reveal())).unwrap();

    let output = host_join(&file, &[&joined.host]);

    let said = text(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains(&format!("host.kibotos.dev/{}", joined.host)), "{said}");
    assert!(said.contains("cannot patch resource \"hosts\""), "{said}");
    assert!(!said.contains(token.reveal()), "{said}");
}
