//! Images: from a real registry, with and without a login, and what is told where there is none.

use kibotos::api::workspace_run::WorkspaceRunStatus;
use serde_json::{Value, json};

use crate::fixture::{Agent, LOGIN, agent, cluster, engine, registry};

fn image(name: &str) -> Value {
    json!({ "container": { "image": name } })
}

fn pulled(status: &WorkspaceRunStatus) -> (String, String, String) {
    Agent::reason(status, "ImagePulled")
}

async fn fails(agent: &Agent, run: &str, reason: &str) -> (WorkspaceRunStatus, String) {
    let status = agent.until(run, reason, |s| pulled(s).1 == reason).await;
    let message = pulled(&status).2;
    assert_eq!(pulled(&status).0, "False");
    assert_eq!(Agent::reason(&status, "Ready").0, "False");
    (status, message)
}

/// Removes the runs, so that the images go too.
async fn tidy(agent: &Agent, runs: &[&str], images: &[&str]) {
    for run in runs {
        agent.change(run, json!({ "desired": "Removed" })).await;
    }
    for run in runs {
        agent.phase(run, "Removed").await;
    }
    for image in images {
        agent.engine.request("DELETE", &format!("/images/{image}"), None).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_pulled_once_for_all_who_want_it_with_the_login_that_it_needs() {
    let (cluster, engine, registry) = (cluster().await, engine().await, registry().await);
    let agent = agent(&cluster, &engine, "pull").await;
    let repository = agent.scope.name("app");
    registry.push(&engine, "kibotos.test/busybox:1", &repository).await;
    let plain = format!("{}/{repository}:1", registry.plain());
    let locked = format!("{}/{repository}:1", registry.locked());
    let since = engine.call("GET", "/info", None).await["SystemTime"].as_str().unwrap().to_owned();
    let since: k8s_openapi::jiff::Timestamp = since.parse().unwrap();
    let names = ["one", "two", "six"];
    for name in names {
        agent.create(&agent.run(name, 1, image(&plain))).await;
    }
    for name in names {
        let status = agent.phase(&format!("{name}-1"), "Running").await;
        let known = engine.call("GET", &format!("/images/{plain}/json"), None).await;
        let known = known["RepoDigests"].as_array().unwrap();
        let digest = status.image_digest.expect("a digest is told");
        let whole = format!("{}/{repository}@{digest}", registry.plain());
        assert!(known.contains(&json!(whole)), "{digest} in {known:?}");
        let found = agent.inspect(name).await;
        assert_eq!(status.image_id.as_deref(), found["Image"].as_str());
    }
    let until = k8s_openapi::jiff::Timestamp::now().as_second() + 1;
    let filters = "%7B%22event%22%3A%5B%22pull%22%5D%7D";
    let path = format!("/events?since={}&until={until}&filters={filters}", since.as_second());
    let events = engine.call("GET", &path, None).await;
    let events = match events {
        Value::String(lines) => lines,
        one => one.to_string(),
    };
    assert_eq!(events.lines().filter(|line| line.contains(&plain)).count(), 1, "{events}");

    let login = |password: &str| {
        json!({ "auths": { registry.locked(): { "username": LOGIN.0, "password": password } } })
            .to_string()
    };
    agent.secret("login", &[(".dockerconfigjson", login(LOGIN.1).as_bytes())]).await;
    agent.secret("wrong", &[(".dockerconfigjson", login("not-the-word").as_bytes())]).await;
    let mut spec = image(&locked);
    agent.create(&agent.run("none", 1, spec.clone())).await;
    let (_, message) = fails(&agent, "none-1", "Unauthorized").await;
    assert!(message.contains("imagePullSecrets"), "{message}");
    spec["secretName"] = "wrong".into();
    agent.create(&agent.run("bad", 1, spec.clone())).await;
    let (status, message) = fails(&agent, "bad-1", "Unauthorized").await;
    assert!(message.contains(registry.locked()), "{message}");
    assert!(status.next_retry_at.is_some());
    let all = serde_json::to_string(&status).unwrap() + &agent.logged();
    assert!(!all.contains("not-the-word"), "a password is never told");
    spec["secretName"] = "login".into();
    agent.create(&agent.run("good", 1, spec)).await;
    let status = agent.phase("good-1", "Running").await;
    assert!(status.image_digest.is_some());
    assert!(!agent.logged().contains(LOGIN.1));
    let runs = ["one-1", "two-1", "six-1", "none-1", "bad-1", "good-1"];
    tidy(&agent, &runs, &[&plain, &locked]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_tag_takes_always_and_a_new_run() {
    let (cluster, engine, registry) = (cluster().await, engine().await, registry().await);
    let agent = agent(&cluster, &engine, "moved").await;
    let repository = agent.scope.name("app");
    registry.push(&engine, "kibotos.test/busybox:1", &repository).await;
    let tag = format!("{}/{repository}:1", registry.plain());
    let mut spec = image(&tag);
    spec["container"]["imagePullPolicy"] = "Always".into();
    agent.create(&agent.run("web", 1, spec.clone())).await;
    let first = agent.phase("web-1", "Running").await;
    let before = agent.inspect("web").await;
    // Pushing takes the tag from the engine for a moment, as a build elsewhere would not.
    let keep = format!("/images/{tag}/tag?repo={}&tag=kept", agent.scope.name("kept"));
    engine.call("POST", &keep, None).await;
    registry.push(&engine, "kibotos.test/entry:1", &repository).await;
    let same = agent.inspect("web").await;
    assert_eq!(same["State"]["StartedAt"], before["State"]["StartedAt"]);

    agent.change("web-1", json!({ "desired": "Stopped" })).await;
    let stopped = agent.phase("web-1", "Exited").await;
    spec["previous"] = json!({
        "containerId": stopped.container_id, "startedAt": stopped.container_started_at,
    });
    agent.create(&agent.run("web", 2, spec)).await;
    let second = agent.phase("web-2", "Running").await;
    assert_ne!(first.image_id, second.image_id);
    assert_ne!(first.image_digest, second.image_digest);
    assert_ne!(first.container_id, second.container_id);
    let steps: Vec<_> = second.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["Pull", "Recreate", "Create", "Start"]);
    let kept = format!("{}:kept", agent.scope.name("kept"));
    tidy(&agent, &["web-2"], &[&tag, &kept]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_cannot_be_had_is_told_by_what_to_do_and_tried_again() {
    let (cluster, engine, registry) = (cluster().await, engine().await, registry().await);
    let agent = agent(&cluster, &engine, "nopull").await;
    let missing = format!("{}/{}:nope", registry.plain(), agent.scope.name("app"));
    let away = format!("{}:1/app:1", engine.gateway());
    agent.create(&agent.run("gone", 1, image(&missing))).await;
    agent.create(&agent.run("away", 1, image(&away))).await;
    let mut never = image(&missing);
    never["container"]["imagePullPolicy"] = "Never".into();
    agent.create(&agent.run("never", 1, never)).await;

    let (status, message) = fails(&agent, "gone-1", "ImageNotFound").await;
    assert!(message.contains(&missing) && message.contains("pushed"), "{message}");
    assert!(status.next_retry_at.is_some());
    assert_eq!(format!("{:?}", status.phase.unwrap()), "Failed");
    assert_eq!(Agent::reason(&status, "Reconciling").0, "True", "it is tried again");
    let (status, message) = fails(&agent, "away-1", "RegistryUnreachable").await;
    assert!(message.contains(&format!("{}:1", engine.gateway())), "{message}");
    assert!(status.next_retry_at.is_some());
    let (status, message) = fails(&agent, "never-1", "ImageNeverPulled").await;
    assert!(message.contains("imagePullPolicy"), "{message}");
    assert_eq!(status.next_retry_at, None, "nothing is tried");
    assert_eq!(Agent::reason(&status, "Stalled").0, "True");

    // By hand, as the message says; so the other one has it too.
    let (name, tag) = missing.rsplit_once(':').unwrap();
    let path = format!("/images/kibotos.test/busybox:1/tag?repo={name}&tag={tag}");
    engine.call("POST", &path, None).await;
    agent.phase("never-1", "Running").await;
    agent.phase("gone-1", "Running").await;
    tidy(&agent, &["gone-1", "never-1"], &[&missing]).await;
}
