//! Every spec is translated or refused: nothing panics, and one spec makes one body.

use std::sync::LazyLock;

use kibotos::agent::config::AgentConfig;
use kibotos::agent::policy::{self, Context, HostPolicy};
use kibotos::api::reference::WorkspaceRef;
use kibotos::api::{WorkspaceRunSpec, WorkspaceSpec};
use kibotos::controller::workspace::check;
use kibotos::controller::workspace::resolve::{Input, Sources, resolve};
use kibotos::docker::ApiVersion;
use kibotos::schema::{self, Schema};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::of_schema::{broken, fitting};
use super::{create, spec_of};

static RUN: LazyLock<Value> = LazyLock::new(|| spec_of("WorkspaceRun"));
static WORKSPACE: LazyLock<Value> = LazyLock::new(|| spec_of("Workspace"));

/// The closed default, and one that allows something of most kinds.
static POLICIES: LazyLock<Vec<HostPolicy>> = LazyLock::new(|| {
    let open = "policy:\n  default:\n    bindPrefixes: [/srv]\n    devices: [\"/dev/*\", \"c 1:* rwm\"]\n    \
                hostNamespaces: [network]\n    capabilities: [NET_ADMIN]\n    networks: [\"*\"]\n    \
                hostPorts: [dynamic, 80]\n    namedVolumes: [\"*\"]\n    sysctls: [net.*]\n";
    let of = |text: &str| AgentConfig::parse(text).unwrap().policy;
    vec![of(""), of(open)]
});

/// Runs that fit their schema and have an image.
fn runs() -> impl Strategy<Value = Value> {
    fitting(&RUN).prop_map(|mut run| {
        let image = &mut run["container"]["image"];
        if image.is_null() {
            *image = "app:1".into();
        }
        run
    })
}

/// The JSON of a value with the members of every object in another order.
fn shuffled(value: &Value, seed: &mut u64) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            for i in (1..members.len()).rev() {
                // Any sequence will do that a failure can be made again from.
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                members.swap(i, (*seed >> 33) as usize % (i + 1));
            }
            let member = |(key, value): &(&String, &Value), seed: &mut u64| {
                format!("{}:{}", Value::from(key.as_str()), shuffled(value, seed))
            };
            let members: Vec<_> = members.iter().map(|one| member(one, seed)).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| shuffled(item, seed)).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}

/// What an engine of this version is sent, in bytes; refusals name a field and say something.
fn sent(run: &WorkspaceRunSpec, engine: ApiVersion) -> Result<Vec<u8>, String> {
    match create(run, engine) {
        Ok(made) => {
            let context = Context { run, root: "/var/lib/kibotos", sockets: &[] };
            for policy in POLICIES.iter() {
                policy::check(&made, &context, &policy.governing("default"));
            }
            Ok(format!("{made:?}{}", serde_json::to_string(&made.body).unwrap()).into_bytes())
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|e| e.path.starts_with("spec.") && !e.message.is_empty()));
            Err(format!("{errors:?}"))
        }
    }
}

/// All that a controller and an agent make of a Workspace.
fn pass(spec: &WorkspaceSpec) {
    let workspace = WorkspaceRef {
        namespace: "default".to_owned(),
        name: "web".to_owned(),
        uid: "0123456789abcdef".to_owned(),
    };
    check::workspace("web", spec);
    let resolved = resolve(&Input {
        workspace: &workspace,
        spec,
        template: None,
        volume: None,
        sources: &Sources::default(),
        secret_name: "run",
        sequence: 1,
        generation: 1,
    });
    if let Ok(resolved) = resolved {
        let _ = sent(&resolved.run, ApiVersion::NEWEST);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_run_that_fits_its_schema_is_read_and_makes_one_body_or_one_refusal(
        spec in runs(), mut seed: u64, api in 41..53_u32,
    ) {
        prop_assert_eq!(schema::validate(&Schema::read(&RUN), &spec, "spec"), vec![]);
        let one: WorkspaceRunSpec = serde_json::from_value(spec.clone()).unwrap();
        let other: WorkspaceRunSpec = serde_json::from_str(&shuffled(&spec, &mut seed)).unwrap();
        let engine = ApiVersion::v1(api);
        prop_assert_eq!(sent(&one, engine), sent(&other, engine));
    }

    #[test]
    fn no_run_outside_its_schema_makes_anything_panic(spec in broken(&RUN), api in 0..60_u32) {
        if let Ok(run) = serde_json::from_value::<WorkspaceRunSpec>(spec) {
            let _ = sent(&run, ApiVersion::v1(api));
        }
    }

    #[test]
    fn no_workspace_makes_anything_panic(kept in fitting(&WORKSPACE), wild in broken(&WORKSPACE)) {
        pass(&serde_json::from_value(kept).unwrap());
        if let Ok(spec) = serde_json::from_value(wild) {
            pass(&spec);
        }
    }
}

#[test]
fn what_is_made_at_random_is_often_right() {
    let mut runner = TestRunner::deterministic();
    let specs = runs();
    let made: Vec<_> = (0..100)
        .map(|_| serde_json::from_value(specs.new_tree(&mut runner).unwrap().current()).unwrap())
        .map(|run| create(&run, ApiVersion::NEWEST))
        .collect();
    let right = made.iter().filter(|made| made.is_ok()).count();
    let wrong: Vec<_> = made.into_iter().filter_map(Result::err).flatten().collect();
    assert!(right > 15, "{right} of 100 made a body: {wrong:?}");
}
