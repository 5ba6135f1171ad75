//! A host that leaves and joins again, and two hosts on one engine.

use kibotos::api::Host;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine, eventually};

const VOLUME: &str = "3f1c0a52-0000-4000-8000-00000000da7a";

async fn host_status(hosts: &Api<Host>, name: &str) -> Value {
    serde_json::to_value(hosts.get(name).await.unwrap().status).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_host_left_is_stopped_and_kept_until_an_admin_has_it_removed() {
    let (cluster, engine) = (cluster().await, engine().await);
    let agent = agent(&cluster, &engine, "rejoin").await;
    let hosts: Api<Host> = Api::all(cluster.admin());
    let uid = VOLUME.replace("3f1c0a52", &agent.host_uid[..8]);
    let volume =
        json!({ "volume": { "name": "data", "uid": uid }, "driver": "local", "path": "/data" });
    let always = json!({ "name": "always" });
    let spec = json!({ "mounts": [volume], "restartPolicy": always });
    agent.create(&agent.run("gone", 1, spec)).await;
    agent.create(&agent.run("back", 1, json!({ "restartPolicy": always }))).await;
    agent.phase("gone-1", "Running").await;
    agent.phase("back-1", "Running").await;
    let (gone, back) = (agent.inspect("gone").await, agent.inspect("back").await);

    hosts.delete(&agent.joined.host, &DeleteParams::default()).await.unwrap();
    agent.delete("gone-1").await;
    agent.delete("back-1").await;
    eventually("the Host is gone", async || {
        hosts.get_opt(&agent.joined.host).await.unwrap().is_none().then_some(())
    })
    .await;
    agent.joined.again(&cluster).await;
    let joined = hosts.get(&agent.joined.host).await.unwrap();
    assert_ne!(joined.uid().unwrap(), agent.host_uid);

    eventually("both are stopped", async || {
        let (gone, back) = (agent.inspect("gone").await, agent.inspect("back").await);
        let down = |seen: &Value| seen["State"]["Running"] == false;
        (down(&gone) && down(&back)).then_some(())
    })
    .await;
    let seen = agent.inspect("gone").await;
    assert_eq!(seen["HostConfig"]["RestartPolicy"]["Name"], "no", "no engine starts it again");
    eventually("both are counted", async || {
        let status = host_status(&hosts, &agent.joined.host).await;
        (status["containers"]["released"] == 2).then_some(())
    })
    .await;

    // The Workspace is placed here again, with what it had.
    let previous = json!({ "containerId": back["Id"], "startedAt": back["State"]["StartedAt"] });
    let spec = json!({ "restartPolicy": always, "previous": previous });
    agent.create(&agent.run("back", 2, spec)).await;
    let status = agent.phase("back-2", "Running").await;
    assert_eq!(status.container_id.as_deref(), back["Id"].as_str());

    let order = json!({ "metadata": { "annotations": { "kibotos.dev/remove-released": "true" } } });
    let patch = Patch::Merge(order);
    hosts.patch(&agent.joined.host, &PatchParams::default(), &patch).await.unwrap();
    eventually("what was released is removed", async || {
        (agent.inspect("gone").await == Value::Null).then_some(())
    })
    .await;
    assert_ne!(gone["Id"], Value::Null);
    eventually("nothing is counted as released", async || {
        let status = host_status(&hosts, &agent.joined.host).await;
        (status["containers"]["released"] == 0).then_some(())
    })
    .await;
    assert_eq!(agent.inspect("back").await["State"]["Running"], true, "it is a run's again");
    let volume = format!("/volumes/kibotos-{uid}");
    assert_eq!(agent.engine.request("GET", &volume, None).await.0, 200, "data is never removed");
    agent.engine.call("DELETE", &volume, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_on_one_engine_leave_each_others_containers_alone() {
    let (cluster, engine) = (cluster().await, engine().await);
    let one = agent(&cluster, &engine, "hosta").await;
    let mut other = agent(&cluster, &engine, "hostb").await;
    let run = one.run("web", 1, json!({}));
    one.create(&run).await;
    one.phase("web-1", "Running").await;
    let before = one.inspect("web").await;

    // Were the Workspace's run ever given to both, the second could not tell whose the first is.
    let same = json!({
        "workspace": { "uid": run.spec.workspace.uid },
        "container": { "name": one.scope.name("web") },
    });
    other.create(&other.run("web", 1, same)).await;
    let conflict = |s: &_| Agent::reason(s, "ContainerRunning").1 == "NameConflict";
    other.until("web-1", "a name that is taken", conflict).await;
    other.change("web-1", json!({ "desired": "Stopped" })).await;
    other.change("web-1", json!({ "desired": "Removed" })).await;
    other.phase("web-1", "Removed").await;
    other.create(&other.run("more", 1, json!({}))).await;
    other.phase("more-1", "Running").await;
    other.kill();
    other.start();
    other.delete("more-1").await;
    eventually("what no run is there for is stopped", async || {
        (other.inspect("more").await["State"]["Running"] == false).then_some(())
    })
    .await;

    let after = one.inspect("web").await;
    assert_eq!((&after["Id"], &after["State"]), (&before["Id"], &before["State"]));
    assert_eq!((one.containers().await.len(), other.containers().await.len()), (1, 1));
}
