//! The fake engine answers as a real one does: one script of requests goes to both, and status and
//! body must be the same, step by step.

mod lifecycle;
mod same;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::fixture::{Engine, eventually};
use same::Both;

const BUSYBOX: &str = "kibotos.test/busybox:1";
const ENTRY: &str = "kibotos.test/entry:1";

/// A busybox that runs `command`, with more in its HostConfig.
fn body(command: &[&str], host: Value) -> Value {
    json!({ "Image": BUSYBOX, "Cmd": command, "HostConfig": host })
}

fn sleeper() -> Value {
    body(&["sleep", "1000"], json!({}))
}

#[tokio::test]
async fn names_versions_and_paths_that_do_not_exist_are_refused_alike() {
    let mut both = Both::new("paths").await;
    both.get("/_ping").await;
    both.get("/nope").await;
    both.say("PUT", "/containers/json", None).await;
    both.unversioned("GET", "/v9.99/info").await;
    both.unversioned("GET", "/v1.5/info").await;
    both.unversioned("GET", "/v9/x").await;
    for verb in ["start", "stop", "kill", "pause", "unpause", "rename?name=xx", "wait"] {
        both.post(&format!("/containers/nope/{verb}"), None).await;
    }
    both.post("/containers/nope/update", Some(json!({}))).await;
    both.delete("/containers/nope?force=1").await;
    for path in ["/containers/nope/json", "/images/nope/json", "/volumes/nope", "/networks/nope"] {
        both.get(path).await;
    }
    for path in ["/networks/nope", "/volumes/nope", "/volumes/nope?force=1", "/images/nope:1"] {
        both.delete(path).await;
    }
    both.get("/containers/json?filters=%7B").await;
    both.get(&filtered("/containers/json?all=1", &json!({ "bogus": ["x"] }))).await;
    both.get(&filtered("/containers/json?all=1", &json!({ "status": ["bogus"] }))).await;
    both.get(&filtered("/images/json?all=1", &json!({ "bogus": ["x"] }))).await;
    both.get(&filtered("/volumes?x", &json!({ "bogus": ["x"] }))).await;
    both.get(&filtered("/networks?x", &json!({ "bogus": ["x"] }))).await;
    both.get("/events?since=abc&until=1").await;
    both.get("/containers/nope/logs").await;
    both.done();
}

fn filtered(path: &str, filters: &Value) -> String {
    let mut path = format!("{path}&filters=");
    for byte in filters.to_string().bytes() {
        write!(path, "%{byte:02X}").unwrap();
    }
    path
}

#[tokio::test]
async fn a_create_is_refused_in_the_same_words() {
    let mut both = Both::new("refused").await;
    both.post("/containers/create?name=t", Some(sleeper())).await;
    both.post("/containers/create?name=b!d", Some(sleeper())).await;
    let name = both.name("app");
    both.post(&format!("/containers/create?name={name}"), None).await;
    both.post(&format!("/containers/create?name={name}"), Some(json!({}))).await;
    for image in ["nope", "nope:v1", "UP", "localhost:5000/a/b", "docker.io/library/nope:1"] {
        both.create(&name, json!({ "Image": image, "Cmd": ["true"] })).await;
    }
    both.create(&name, json!({ "Image": BUSYBOX })).await;
    both.create(&format!("{name}&platform=linux/arm64"), sleeper()).await;
    both.create(&format!("{name}&platform=a/b/c/d"), sleeper()).await;
    for host in [
        json!({ "Memory": 1 }),
        json!({ "Memory": "512m" }),
        json!({ "Memory": 10 << 20, "MemorySwap": 7 << 20 }),
        json!({ "MemorySwap": 7 << 20 }),
        json!({ "Memory": 20 << 20, "MemoryReservation": 30 << 20 }),
        json!({ "NanoCpus": 1_000_000_000, "CpuQuota": 1000 }),
        json!({ "RestartPolicy": { "Name": "Always" } }),
        json!({ "RestartPolicy": { "Name": "always", "MaximumRetryCount": 3 } }),
        json!({ "AutoRemove": true, "RestartPolicy": { "Name": "always" } }),
        json!({ "CapAdd": ["BOGUS"] }),
        json!({ "Runtime": "nope" }),
        json!({ "Binds": ["/etc:/x:zz"] }),
        json!({ "Binds": ["/etc:/"] }),
        json!({ "Binds": ["/etc:x"] }),
        json!({ "Binds": ["/a:/b", "/c:/b"] }),
        json!({ "Mounts": [{ "Type": "bind", "Source": "/nope-here", "Target": "/x" }] }),
        json!({ "Mounts": [{ "Type": "bind", "Source": "etc", "Target": "/x" }] }),
        json!({ "Mounts": [{ "Type": "volume", "Source": "v", "Target": "x" }] }),
        json!({ "SecurityOpt": ["bogus=1"] }),
        json!({ "LogConfig": { "Type": "nope" } }),
        json!({ "PortBindings": { "80/tcp": [{ "HostPort": "70000" }] } }),
        json!({ "PidMode": "container:nope" }),
        json!({ "OomScoreAdj": 5000 }),
    ] {
        both.create(&name, body(&["true"], host)).await;
    }
    for more in [
        json!({ "WorkingDir": "rel" }),
        json!({ "StopSignal": "BOGUS" }),
        json!({ "Healthcheck": { "Interval": 5 } }),
        json!({ "Env": [""] }),
        json!({ "Env": ["=x"] }),
        json!({ "NetworkingConfig": { "EndpointsConfig": { "bridge": {}, "none": {} } } }),
    ] {
        let mut body = sleeper();
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        both.create(&name, body).await;
    }
    both.done();
}

#[tokio::test]
async fn a_start_fails_alike_and_its_reason_stays() {
    let mut both = Both::new("fails").await;
    let name = both.name("app");
    let device = json!({
        "PathOnHost": "/dev/nope", "PathInContainer": "/dev/nope", "CgroupPermissions": "rwm",
    });
    for body in [
        body(&["nope-command"], json!({})),
        body(&["/etc"], json!({})),
        body(&["true"], json!({ "NetworkMode": "nope" })),
        body(&["true"], json!({ "NetworkMode": "container:nope" })),
        body(&["true"], json!({ "Devices": [device] })),
        json!({ "Image": BUSYBOX, "Cmd": ["true"], "User": "no-one-here" }),
    ] {
        both.create(&name, body).await;
        both.post(&format!("/containers/{name}/start"), None).await;
        both.get(&format!("/containers/{name}/json")).await;
        both.delete(&format!("/containers/{name}")).await;
    }
    both.done();
}

#[tokio::test]
async fn inspect_shows_the_same_of_what_was_created() {
    let mut both = Both::new("inspect").await;
    let (name, volume) = (both.name("app"), both.name("vol"));
    for body in [
        json!({ "Image": ENTRY }),
        json!({ "Image": ENTRY, "Cmd": ["own"] }),
        json!({ "Image": ENTRY, "Entrypoint": ["/bin/echo"] }),
        json!({ "Image": ENTRY, "Entrypoint": [] }),
        json!({ "Image": ENTRY, "Entrypoint": [""], "Cmd": ["sh"] }),
        json!({
            "Image": ENTRY, "Env": ["A=own", "C=own", "NOEQ"], "Labels": { "of": "me", "mine": "" },
            "ExposedPorts": { "9/udp": {} }, "WorkingDir": "/a/../b/", "User": "0",
            "Healthcheck": { "Retries": 3 }, "StopSignal": "SIGTERM", "StopTimeout": 0,
            "Hostname": "own", "Domainname": "example.org", "Tty": true,
        }),
        json!({ "Image": ENTRY, "Healthcheck": { "Test": ["NONE"] } }),
        body(
            &["sleep", "1"],
            json!({
                "Binds": ["/etc:/c", "/usr/../etc/:/d/../e/:ro", format!("{volume}:/v:ro")],
                "Mounts": [
                    { "Type": "tmpfs", "Target": "/tm" },
                    { "Type": "bind", "Source": "/etc", "Target": "/b", "ReadOnly": true },
                    { "Type": "volume", "Source": volume, "Target": "/w" },
                ],
                "Tmpfs": { "/t": "size=1m" }, "Memory": 20 << 20, "PidsLimit": -1,
                "RestartPolicy": { "Name": "on-failure", "MaximumRetryCount": 2 },
                "PortBindings": { "80/tcp": [{ "HostPort": "8080" }, {}] }, "Init": true,
                "Ulimits": [{ "Name": "nofile", "Soft": 9, "Hard": 9 }], "CapAdd": ["NET_ADMIN"],
                "Sysctls": { "net.core.somaxconn": "9" }, "ExtraHosts": ["db:10.0.0.5"],
            }),
        ),
        body(&["sleep", "1"], json!({ "NetworkMode": "none" })),
        body(&["sleep", "1"], json!({ "NetworkMode": "container:nope" })),
        body(&["sleep", "1"], json!({ "Privileged": true })),
    ] {
        both.create(&name, body).await;
        both.get(&format!("/containers/{name}/json")).await;
        both.list().await;
        both.delete(&format!("/containers/{name}?v=1")).await;
    }
    both.done();
}

#[tokio::test]
async fn names_are_taken_renamed_and_found_alike() {
    let mut both = Both::new("names").await;
    let (one, two, three) = (both.name("one"), both.name("two"), both.name("three"));
    both.create(&one, sleeper()).await;
    both.create(&one, sleeper()).await;
    both.create(&format!("/{one}"), sleeper()).await;
    both.create(&two, sleeper()).await;
    both.post(&format!("/containers/{two}/rename?name={one}"), None).await;
    both.post(&format!("/containers/{two}/rename?name={two}"), None).await;
    both.post(&format!("/containers/{two}/rename?name=/{three}"), None).await;
    both.get(&format!("/containers/{two}/json")).await;
    both.get(&format!("/containers/{three}/json")).await;
    both.create(&two, sleeper()).await;
    let found = |pattern: String| filtered("/containers/json?all=1", &json!({ "name": [pattern] }));
    both.get(&found(format!("^/{one}$"))).await;
    both.get(&found(format!("^{one}$"))).await;
    both.get(&found(one[1..].to_owned())).await;
    both.get(&found(format!("^/{}$", &one[1..]))).await;
    // None of them runs.
    let label = json!({ "label": [both_label(&both.labels())] });
    both.get(&filtered("/containers/json?all=0", &label)).await;
    both.done();
}

#[tokio::test]
async fn volumes_are_made_used_and_removed_alike() {
    let mut both = Both::new("volumes").await;
    let (one, two, app) = (both.name("one"), both.name("two"), both.name("app"));
    let labels = both.labels();
    let make = |name: &str, more: Value| {
        let mut body = json!({ "Name": name, "Labels": labels });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Some(body)
    };
    both.post("/volumes/create", make(&one, json!({}))).await;
    both.post("/volumes/create", make(&one, json!({}))).await;
    both.post("/volumes/create", make("v", json!({}))).await;
    both.post("/volumes/create", make("v!2", json!({}))).await;
    both.post("/volumes/create", make(&two, json!({ "DriverOpts": { "bogus": "x" } }))).await;
    both.get(&format!("/volumes/{one}")).await;
    let shown = |more: Value| {
        let mut filters = json!({ "label": [both_label(&labels)] });
        filters.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        filtered("/volumes?x", &filters)
    };
    let all = [shown(json!({})), shown(json!({ "dangling": ["true"] }))];
    both.get(&all[0]).await;
    let mount = json!({ "Type": "volume", "Source": one, "Target": "/d" });
    let mut body =
        body(&["sleep", "9"], json!({ "Mounts": [mount], "Binds": [format!("{two}:/e")] }));
    body["Volumes"] = json!({ "/anonymous": {} });
    both.create(&app, body).await;
    both.get(&format!("/containers/{app}/json")).await;
    both.get(&all[1]).await;
    both.delete(&format!("/volumes/{one}")).await;
    both.delete(&format!("/volumes/{two}?force=1")).await;
    both.delete(&format!("/containers/{app}?v=1")).await;
    both.get(&all[1]).await;
    both.get(&format!("/volumes/{two}")).await;
    both.delete(&format!("/volumes/{two}")).await;
    both.delete(&format!("/volumes/{one}")).await;
    both.delete(&format!("/volumes/{one}")).await;
    both.delete(&format!("/volumes/{one}?force=1")).await;
    both.done();
}

/// `key=value` of the one label that makes something part of a test.
fn both_label(labels: &Value) -> String {
    let (key, value) = labels.as_object().unwrap().iter().next().unwrap();
    format!("{key}={}", value.as_str().unwrap())
}

#[tokio::test]
async fn networks_are_joined_left_and_missed_alike() {
    let mut both = Both::new("networks").await;
    let (one, two, app, other) =
        (both.name("n1"), both.name("n2"), both.name("app"), both.name("b"));
    let labels = both.labels();
    for name in [&one, &one, &two] {
        let body = json!({ "Name": name, "Labels": labels, "CheckDuplicate": true });
        both.post("/networks/create", Some(body)).await;
    }
    both.post("/networks/create", Some(json!({ "Name": "" }))).await;
    both.post("/networks/create", Some(json!({ "Name": "host" }))).await;
    both.delete("/networks/bridge").await;
    both.get(&filtered("/networks?x", &json!({ "label": [both_label(&labels)] }))).await;
    let mut publishing = body(
        &["sleep", "1000"],
        json!({
            "NetworkMode": one, "PortBindings": { "80/tcp": [{ "HostPort": "18080" }] },
        }),
    );
    publishing["ExposedPorts"] = json!({ "80/tcp": {}, "81/tcp": {} });
    both.create(&app, publishing.clone()).await;
    both.create(&other, publishing).await;
    let connect = |network: &str, more: Value| {
        (
            format!("/networks/{network}/connect"),
            json!({ "Container": app, "EndpointConfig": more }),
        )
    };
    for (path, body) in [
        connect(&two, json!({ "Aliases": ["al"] })),
        connect(&two, json!({ "Aliases": ["al"] })),
        connect("host", json!({})),
    ] {
        both.post(&path, Some(body)).await;
    }
    both.post(&format!("/networks/{two}/connect"), Some(json!({ "Container": "nope" }))).await;
    both.get(&format!("/containers/{app}/json")).await;
    both.post(&format!("/containers/{app}/start"), None).await;
    both.get(&format!("/containers/{app}/json")).await;
    both.list().await;
    both.get(&format!("/networks/{two}")).await;
    both.post(&format!("/containers/{other}/start"), None).await;
    both.get(&format!("/containers/{other}/json")).await;
    let (path, body) = connect(&two, json!({}));
    both.post(&path, Some(body)).await;
    both.delete(&format!("/networks/{two}")).await;
    let leave = json!({ "Container": app });
    both.post(&format!("/networks/{two}/disconnect"), Some(leave.clone())).await;
    both.post(&format!("/networks/{two}/disconnect"), Some(leave.clone())).await;
    both.post(&format!("/networks/{two}/disconnect"), Some(json!({ "Container": "nope" }))).await;
    let (path, body) = connect(&two, json!({}));
    both.post(&path, Some(body)).await;
    both.post(&format!("/containers/{app}/kill"), None).await;
    both.get(&format!("/containers/{app}/json")).await;
    both.post(&format!("/containers/{other}/start"), None).await;
    both.post(&format!("/containers/{other}/kill"), None).await;
    // A network of the same name is another network.
    both.delete(&format!("/networks/{two}")).await;
    both.post(&format!("/containers/{app}/start"), None).await;
    both.get(&format!("/containers/{app}/json")).await;
    let again = json!({ "Name": two, "Labels": labels });
    both.post("/networks/create", Some(again)).await;
    both.post(&format!("/containers/{app}/start"), None).await;
    both.done();
}

#[tokio::test]
async fn images_are_found_tagged_and_kept_while_in_use_alike() {
    let mut both = Both::new("images").await;
    let (app, tag) = (both.name("app"), both.name("tag"));
    both.get(&filtered("/images/json?x", &json!({ "reference": [BUSYBOX] }))).await;
    both.post(&format!("/images/{BUSYBOX}/tag?repo=kibotos.test/{tag}&tag=2"), None).await;
    both.create(&app, json!({ "Image": format!("kibotos.test/{tag}:2"), "Cmd": ["true"] })).await;
    both.list().await;
    both.delete(&format!("/images/kibotos.test/{tag}:2")).await;
    both.delete(&format!("/images/kibotos.test/{tag}:2")).await;
    // The name it was made of is no image's any more.
    both.list().await;
    both.get(&format!("/containers/{app}/json")).await;
    both.delete(&format!("/containers/{app}")).await;
    both.create(&app, json!({ "Image": ENTRY, "Cmd": ["sleep", "1000"] })).await;
    both.delete(&format!("/images/{ENTRY}")).await;
    both.post(&format!("/containers/{app}/start"), None).await;
    both.delete(&format!("/images/{ENTRY}")).await;
    both.post("/images/create?fromImage=UP", None).await;
    both.done();
}

#[tokio::test]
async fn events_tell_the_same_story() {
    let mut both = Both::new("events").await;
    let (app, net, vol) = (both.name("app"), both.name("net"), both.name("vol"));
    let labels = both.labels();
    both.mark();
    both.post("/networks/create", Some(json!({ "Name": net, "Labels": labels }))).await;
    let mount = json!({ "Type": "volume", "Source": vol, "Target": "/d" });
    let host = json!({ "NetworkMode": net, "Mounts": [mount] });
    both.create(&app, body(&["sleep", "1000"], host)).await;
    for step in ["start", "kill?signal=HUP", "pause", "unpause", "stop?t=0", "start", "kill"] {
        both.post(&format!("/containers/{app}/{step}"), None).await;
    }
    // What a policy restarts says neither kill nor stop.
    let other = both.name("other");
    let once = json!({ "RestartPolicy": { "Name": "on-failure", "MaximumRetryCount": 1 } });
    both.create(&other, body(&["false"], once)).await;
    both.post(&format!("/containers/{other}/start"), None).await;
    both.until(&other, |seen| seen["State"]["Status"] == "exited").await;
    both.post(&format!("/containers/{app}/rename?name={app}-2"), None).await;
    both.post(&format!("/containers/{app}-2/update"), Some(json!({ "PidsLimit": 10 }))).await;
    both.delete(&format!("/containers/{app}-2")).await;
    both.delete(&format!("/volumes/{vol}")).await;
    both.delete(&format!("/networks/{net}")).await;
    for container in [&app, &other] {
        both.story(container).await;
    }
    both.events(&json!({ "label": [both_label(&labels)], "event": ["die"] })).await;
    both.events(&json!({ "volume": [vol] })).await;
    both.events(&json!({ "network": [net] })).await;
    both.done();
}
