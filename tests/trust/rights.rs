//! What the agent's token opens, and the refresh token, request by request.

use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use serde_json::{Value, json};

use crate::fixture::{Joined, cluster, eventually, join};

const OURS: &str = "/apis/kibotos.dev/v1alpha1";

#[tokio::test]
async fn the_agents_token_opens_what_its_work_needs() {
    let cluster = cluster().await;
    let joined = join(&cluster, "opens").await;
    let agent = in_force(&joined).await;
    let (host, ns) = (&joined.host, &joined.namespace);

    for resource in ["workspaceruns", "volumetasks"] {
        let path = format!("{OURS}/namespaces/{ns}/{resource}");
        assert_eq!(status(&agent, "GET", &path, None).await, 200, "{path}");
        let watch = format!("{path}?watch=true&timeoutSeconds=1");
        assert_eq!(status(&agent, "GET", &watch, None).await, 200, "{watch}");
        // Who may not is refused before it is looked for.
        let one = format!("{path}/none");
        assert_eq!(status(&agent, "GET", &one, None).await, 404, "{one}");
        let report = format!("{path}/none/status");
        let empty = json!({ "status": {} });
        assert_eq!(status(&agent, "PATCH", &report, Some(empty)).await, 404, "{report}");
    }

    let secrets = format!("/api/v1/namespaces/{ns}/secrets");
    assert_eq!(status(&agent, "GET", &secrets, None).await, 200);

    let own = format!("{OURS}/hosts?fieldSelector=metadata.name%3D{host}");
    let listed = call(&agent, "GET", &own, None).await.unwrap();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let watch = format!("{own}&watch=true&timeoutSeconds=1");
    assert_eq!(status(&agent, "GET", &watch, None).await, 200);
    let report = format!("{OURS}/hosts/{host}/status?fieldManager=kibotos-agent");
    let facts = json!({
        "apiVersion": "kibotos.dev/v1alpha1", "kind": "Host", "metadata": { "name": host },
        "status": { "agentVersion": "1.2.3" },
    });
    let reported = call(&agent, "APPLY", &report, Some(facts)).await.unwrap();
    assert_eq!(reported["status"]["agentVersion"], "1.2.3");

    let lease = format!(
        "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/kibotos-agent?fieldManager=kibotos-agent"
    );
    let held = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": "kibotos-agent" }, "spec": { "holderIdentity": "x" },
    });
    assert_eq!(status(&agent, "APPLY", &lease, Some(held.clone())).await, 201, "made by apply");
    assert_eq!(status(&agent, "APPLY", &lease, Some(held)).await, 200, "and renewed");

    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": { "generateName": "x-" },
        "involvedObject": { "namespace": ns, "kind": "WorkspaceRun", "name": "x" },
        "reason": "Test", "message": "m", "type": "Normal",
    });
    let events = format!("/api/v1/namespaces/{ns}/events");
    assert_eq!(status(&agent, "POST", &events, Some(event)).await, 201);
}

#[tokio::test]
async fn the_agents_token_opens_nothing_else() {
    let cluster = cluster().await;
    let joined = join(&cluster, "shut").await;
    let other = join(&cluster, "other").await;
    let agent = in_force(&joined).await;
    let (host, ns) = (&joined.host, &joined.namespace);
    let (other_host, other_ns) = (&other.host, &other.namespace);
    let empty = || Some(json!({ "spec": {} }));

    for (method, path, body) in [
        // Another host's.
        ("GET", format!("{OURS}/namespaces/{other_ns}/workspaceruns"), None),
        ("GET", format!("/api/v1/namespaces/{other_ns}/secrets"), None),
        ("PATCH", format!("{OURS}/namespaces/{other_ns}/workspaceruns/r/status"), empty()),
        ("GET", format!("{OURS}/hosts/{other_host}"), None),
        ("PATCH", format!("{OURS}/hosts/{other_host}/status"), empty()),
        // Everybody's.
        ("GET", format!("{OURS}/hosts"), None),
        ("GET", format!("{OURS}/workspaceruns"), None),
        ("GET", "/api/v1/secrets".to_owned(), None),
        ("GET", "/api/v1/namespaces/kibotos-credentials/secrets".to_owned(), None),
        ("GET", "/api/v1/namespaces".to_owned(), None),
        // Users'.
        ("GET", format!("{OURS}/workspaces"), None),
        ("GET", format!("{OURS}/namespaces/default/workspaces"), None),
        ("GET", "/api/v1/namespaces/default/secrets".to_owned(), None),
        ("GET", "/api/v1/namespaces/default/configmaps".to_owned(), None),
        // Specs, and the run itself.
        ("PATCH", format!("{OURS}/hosts/{host}"), empty()),
        ("PUT", format!("{OURS}/hosts/{host}/status"), empty()),
        ("DELETE", format!("{OURS}/hosts/{host}"), None),
        ("PATCH", format!("{OURS}/namespaces/{ns}/workspaceruns/r"), empty()),
        ("DELETE", format!("{OURS}/namespaces/{ns}/workspaceruns/r"), None),
        ("POST", format!("{OURS}/namespaces/{ns}/workspaceruns"), empty()),
        ("POST", format!("{OURS}/namespaces/{ns}/workspaces"), empty()),
        ("POST", format!("/api/v1/namespaces/{ns}/secrets"), Some(json!({}))),
        ("PATCH", format!("/api/v1/namespaces/{ns}/secrets/s"), Some(json!({}))),
        ("GET", format!("/api/v1/namespaces/{ns}/configmaps"), None),
        // Another Lease, and its own for good.
        ("PATCH", format!("/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/x"), empty()),
        (
            "DELETE",
            format!("/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/kibotos-agent"),
            None,
        ),
        // More rights, or more time.
        (
            "POST",
            format!("/api/v1/namespaces/{ns}/serviceaccounts/kibotos-agent/token"),
            Some(token()),
        ),
        ("POST", format!("/api/v1/namespaces/{ns}/serviceaccounts/default/token"), Some(token())),
        (
            "POST",
            format!(
                "/api/v1/namespaces/kibotos-credentials/serviceaccounts/kibotos-refresh-{host}/token"
            ),
            Some(token()),
        ),
        ("GET", format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles"), None),
    ] {
        assert_eq!(status(&agent, method, &path, body).await, 403, "{method} {path}");
    }
}

#[tokio::test]
async fn the_refresh_token_mints_tokens_for_its_own_agent_and_does_nothing_else() {
    let cluster = cluster().await;
    let joined = join(&cluster, "refresh").await;
    let other = join(&cluster, "refresh-other").await;
    in_force(&joined).await;
    let refresh = joined.refresh_client(&cluster);
    let (host, ns) = (&joined.host, &joined.namespace);

    let own = format!("/api/v1/namespaces/{ns}/serviceaccounts/kibotos-agent/token");
    assert_eq!(status(&refresh, "POST", &own, Some(token())).await, 201);

    for (method, path, body) in [
        ("POST", format!("/api/v1/namespaces/{ns}/serviceaccounts/default/token"), Some(token())),
        (
            "POST",
            format!("/api/v1/namespaces/{}/serviceaccounts/kibotos-agent/token", other.namespace),
            Some(token()),
        ),
        ("GET", format!("/api/v1/namespaces/{ns}/secrets"), None),
        ("GET", "/api/v1/namespaces/kibotos-credentials/secrets".to_owned(), None),
        ("GET", format!("{OURS}/hosts/{host}"), None),
        ("GET", format!("{OURS}/namespaces/{ns}/workspaceruns"), None),
        ("GET", format!("/api/v1/namespaces/{ns}/serviceaccounts/kibotos-agent"), None),
    ] {
        assert_eq!(status(&refresh, method, &path, body).await, 403, "{method} {path}");
    }
}

fn token() -> Value {
    json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": { "expirationSeconds": 3600 },
    })
}

/// The agent's client, once the API server has taken notice of both of its roles.
async fn in_force(joined: &Joined) -> Client {
    let access = joined.access().await;
    let host = format!("{OURS}/hosts/{}", joined.host);
    let runs = format!("{OURS}/namespaces/{}/workspaceruns", joined.namespace);
    for path in [host, runs] {
        eventually("the agent's rights are in force", async || {
            call(&access.client, "GET", &path, None).await.ok()
        })
        .await;
    }
    access.client.clone()
}

/// The status of an answer; `APPLY` is a server-side apply, `PATCH` a merge.
async fn status(client: &Client, method: &str, path: &str, body: Option<Value>) -> u16 {
    let (_, status) = send(client, method, path, body).await;
    status
}

async fn call(
    client: &Client,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Result<Value, String> {
    match send(client, method, path, body).await {
        (text, 200..300) => Ok(serde_json::from_str(&text).unwrap()),
        (text, _) => Err(text),
    }
}

async fn send(client: &Client, method: &str, path: &str, body: Option<Value>) -> (String, u16) {
    let (method, media) = match method {
        "APPLY" => ("PATCH", "application/apply-patch+yaml"),
        "PATCH" => ("PATCH", "application/merge-patch+json"),
        method => (method, "application/json"),
    };
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let request = Request::builder().method(method).uri(path).header("Content-Type", media);
    let request = request.body(body.into_bytes().into()).unwrap();
    let answer = client.send(request).await.unwrap();
    let status = answer.status().as_u16();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    (String::from_utf8(text.to_vec()).unwrap(), status)
}
