//! An agent that is killed, or started without what it knew: it goes on from what is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::{Agent, agent, cluster, engine, eventually};

/// How long after a step began the agent is killed: before, in and after the engine's answer.
const MOMENTS: [u64; 3] = [0, 8, 40];

/// Kills the agent a moment after it began with a step, and starts it again.
async fn kill_at(agent: &mut Agent, from: usize, step: &str, moment: u64) {
    let begun = format!("step=\"{step}\"");
    eventually(&begun, async || agent.logged()[from..].contains(&begun).then_some(())).await;
    tokio::time::sleep(Duration::from_millis(moment)).await;
    agent.kill();
    agent.start();
}

/// The name of each container there is, sorted.
async fn names(agent: &Agent) -> Vec<String> {
    let all = agent.containers().await;
    let mut all: Vec<_> =
        all.iter().map(|c| c["Names"][0].as_str().unwrap()[1..].to_owned()).collect();
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_an_agent_is_killed_the_next_one_ends_with_the_one_container_or_none() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = agent(&cluster, &engine, "kills").await;
    for moment in MOMENTS {
        let name = format!("k{moment:03}");
        let run = |n: u32| format!("{name}-{n}");
        for (sequence, hello, stages) in
            [(1, "one", vec!["Prepare", "Create", "Start"]), (2, "two", vec!["Recreate", "Start"])]
        {
            let from = agent.logged().len();
            let environment = json!([{ "name": "HELLO", "value": hello }]);
            let spec = json!({ "container": { "env": environment } });
            agent.create(&agent.run(&name, sequence, spec)).await;
            for stage in stages {
                // One that was done before the kill is not done again.
                if agent.status(&run(1)).await.phase.is_some() && stage == "Prepare" {
                    continue;
                }
                kill_at(&mut agent, from, stage, moment).await;
            }
            agent.phase(&format!("{name}-{sequence}"), "Running").await;
            let seen = agent.inspect(&name).await;
            let environment = seen["Config"]["Env"].as_array().unwrap();
            assert!(environment.contains(&json!(format!("HELLO={hello}"))), "{environment:?}");
            assert_eq!(names(&agent).await, [agent.scope.name(&name)], "killed {moment} ms in");
            if sequence == 1 {
                let from = agent.logged().len();
                agent.change(&run(1), json!({ "desired": "Stopped" })).await;
                kill_at(&mut agent, from, "Stop", moment).await;
                agent.phase(&run(1), "Exited").await;
                let stopped = agent.inspect(&name).await;
                assert_eq!(stopped["State"]["Running"], false);
            }
        }
        let from = agent.logged().len();
        agent.change(&run(2), json!({ "desired": "Stopped" })).await;
        agent.change(&run(2), json!({ "desired": "Removed" })).await;
        kill_at(&mut agent, from, "Remove", moment).await;
        agent.phase(&run(2), "Removed").await;
        assert!(names(&agent).await.is_empty(), "killed {moment} ms in");
        for n in [1, 2] {
            agent.delete(&run(n)).await;
        }
    }
}

/// What every run is at, and every container.
async fn all(agent: &Agent, runs: &[&str]) -> Vec<(Value, Value, Option<String>, String)> {
    let mut all = Vec::new();
    for name in runs {
        let seen = agent.inspect(name).await;
        let status = agent.status(&format!("{name}-1")).await;
        let phase = status.phase.map(|phase| format!("{phase:?}"));
        let reason = Agent::reason(&status, "ContainerRunning").1;
        all.push((seen["Id"].clone(), seen["State"]["StartedAt"].clone(), phase, reason));
    }
    all
}

/// Waits until the agent that was started last has taken up all runs, and a further one runs.
async fn at_work(agent: &Agent, from: usize, runs: usize, probe: &str) {
    eventually("the runs are taken up", async || {
        let taken = agent.logged()[from..].matches("taking up a run").count();
        (taken >= runs).then_some(())
    })
    .await;
    agent.create(&agent.run(probe, 1, json!({}))).await;
    agent.phase(&format!("{probe}-1"), "Running").await;
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            all.extend(files(&entry.path()));
        } else {
            all.push(entry.path());
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn containers_outlive_their_agent_also_one_that_lost_its_checkpoint() {
    let (cluster, engine) = (cluster().await, engine().await);
    let mut agent = agent(&cluster, &engine, "outlives").await;
    let policy = |name| json!({ "restartPolicy": { "name": name } });
    let ends = json!({ "command": ["sh", "-c", "exit 3"] });
    let runs = ["keep", "once", "done", "fail"];
    agent.create(&agent.run("keep", 1, json!({}))).await;
    agent.create(&agent.run("once", 1, policy("no"))).await;
    let mut spec = policy("no");
    spec["container"] = json!({ "command": ["true"] });
    agent.create(&agent.run("done", 1, spec.clone())).await;
    spec["container"] = ends;
    agent.create(&agent.run("fail", 1, spec)).await;
    for (name, phase) in runs.into_iter().zip(["Running", "Running", "Exited", "Failed"]) {
        agent.phase(&format!("{name}-1"), phase).await;
    }
    let before = all(&agent, &runs).await;
    let checkpoint = agent.root().join("checkpoint");
    for way in ["terminated", "killed", "without a checkpoint", "with a broken checkpoint"] {
        if way == "terminated" {
            assert_eq!(agent.terminate().await, Some(0));
        }
        agent.kill();
        let from = agent.logged().len();
        match way {
            "without a checkpoint" => fs::remove_dir_all(&checkpoint).unwrap(),
            "with a broken checkpoint" => {
                let files = files(&checkpoint);
                assert!(files.len() > runs.len(), "{files:?}");
                for file in files {
                    let mut bytes = fs::read(&file).unwrap();
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 1;
                    fs::write(&file, bytes).unwrap();
                }
            }
            _ => {}
        }
        agent.start();
        at_work(&agent, from, runs.len(), &format!("p{}", way.len())).await;
        assert_eq!(all(&agent, &runs).await, before, "{way}");
        let aside = agent.logged()[from..].contains("is set aside");
        assert_eq!(aside, way == "with a broken checkpoint");
    }
}
