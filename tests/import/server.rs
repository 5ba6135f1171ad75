//! A real API server takes what is imported, with strict validation.

use futures::{StreamExt, stream};
use http::Request;
use kibotos::api::Workspace;
use kibotos::import::{self, Imported, Kind, manifest};
use kube::Client;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{cases, of_body, request};
use crate::fixture::cluster;

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_takes_every_workspace_made_from_what_people_run() {
    let mut imported = Vec::new();
    for call in cases::all() {
        imported.push((format!("{} {}", call.case, call.client), of_body(&call.body)));
        if let Some(text) = &call.compose {
            let env = "SOME=thing\n";
            let read = |_: &str| Ok(env.to_owned());
            let request = import::Request { read: &read, ..request(Kind::Compose, text) };
            imported.push((format!("{} compose", call.case), import::import(&request).unwrap()));
        }
    }
    taken(imported).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_takes_what_is_left_of_bodies_with_values_it_would_refuse() {
    let bad = super::bad::bodies();
    let imported = bad.iter().map(|(name, body)| ((*name).to_owned(), of_body(body)));
    taken(imported.collect()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_takes_every_workspace_made_from_bodies_at_random() {
    let mut runner = TestRunner::deterministic();
    let bodies = super::random::body();
    let mut imported = Vec::new();
    for i in 0..200 {
        let body = bodies.new_tree(&mut runner).unwrap().current();
        imported.push((format!("body {i}"), of_body(&body)));
    }
    taken(imported).await;
}

/// Asserts that an API server would create all of it.
async fn taken(imported: Vec<(String, Imported)>) {
    let cluster = cluster().await;
    let namespace = cluster.namespace("import").await;
    let client = cluster.admin();
    let refused: Vec<String> = stream::iter(&imported)
        .map(|(what, imported)| {
            let (client, namespace) = (client.clone(), namespace.name());
            async move { refusal(what, imported, client, namespace).await }
        })
        .buffer_unordered(8)
        .filter_map(std::future::ready)
        .collect()
        .await;
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

async fn refusal(
    what: &str,
    imported: &Imported,
    client: Client,
    namespace: &str,
) -> Option<String> {
    let [_] = imported.workspaces.as_slice() else {
        return Some(format!("{what}: {:?}", imported.errors));
    };
    // As it is printed: the API server reads YAML 1.1, as kubectl does.
    let text = manifest::yaml(&imported.workspaces).unwrap();
    let url = format!("/apis/kibotos.dev/v1alpha1/namespaces/{namespace}/workspaces");
    let request = Request::builder()
        .method("POST")
        .uri(format!("{url}?dryRun=All&fieldValidation=Strict"))
        .header("content-type", "application/yaml")
        .body(text.clone().into_bytes())
        .unwrap();
    let answer = match client.request::<Value>(request).await {
        Ok(answer) => answer,
        Err(error) => return Some(format!("{what}: {error}\n{text}")),
    };
    let stored = serde_json::from_value::<Workspace>(answer).unwrap();
    let differs = stored.spec != imported.workspaces[0].spec;
    differs.then(|| format!("{what}: stored as {:#?}, from\n{text}", stored.spec))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_reads_texts_as_texts_that_yaml_1_1_takes_for_something_else() {
    let words = vec![
        "no",
        "No",
        "on",
        "off",
        "y",
        "Y",
        "n",
        "yes",
        "true",
        "null",
        "~",
        "",
        "0123",
        "0o17",
        "0x1F",
        "0b11",
        "1:30",
        "190:20:30",
        "1_000",
        "12e03",
        "1.5",
        ".5",
        ".inf",
        ".nan",
        "-1",
        "+1",
        "2024-01-02",
        "<<",
        "=",
        "!x",
        "&a",
        "*a",
        "- a",
        "a: b",
        "a #b",
        "%d",
        "@x",
        "{}",
        "[]",
        "?",
        "|",
        ">",
        " x",
        "x ",
        "a\nb",
        "a\n",
        "\ta",
        "\ta\nb",
        "\n \ta\n",
        "a:\n\tb\n",
        "\n\n",
        " a\nb",
        "\n a\n\n",
        "None",
        "é",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{1f600}",
        "\u{7f}",
        "a\r\nb",
    ];
    let labels: serde_json::Map<_, _> = words.iter().map(|w| (format!("{w}."), json!(w))).collect();
    let body = json!({ "Image": "app", "Cmd": words, "Labels": labels,
        "HostConfig": { "GroupAdd": words } });
    taken(vec![("words".to_owned(), of_body(&body))]).await;
}
