//! Compose files.

use std::collections::BTreeMap;

use kibotos::api::Workspace;
use kibotos::import::{Imported, Kind, Request, import, manifest};
use serde_json::{Value, json};

use super::{cases, meaning, rendered, request, same, seen, warned};

/// The env file of the one recorded case that has one.
const MAILSERVER: &str =
    "OVERRIDE_HOSTNAME=\nLOG_LEVEL=info\nENABLE_CLAMAV=0\nPOSTMASTER_ADDRESS=\nTZ=\n";

fn compose(text: &str, env: &str, files: &BTreeMap<&str, &str>) -> Imported {
    let read =
        |path: &str| files.get(path).map(ToString::to_string).ok_or("no such file".to_owned());
    let request = Request { env_file: Some(env), read: &read, ..request(Kind::Compose, text) };
    import(&request).unwrap()
}

/// A service's members as they stand in a file.
fn indented(service: &str) -> String {
    let lines: Vec<_> = service.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n") + "\n"
}

/// The one service of a file, without its warnings about the network.
pub fn one(service: &str) -> (Workspace, Vec<String>) {
    let indented = indented(service);
    let file = format!("services:\n  web:\n    image: app\n{indented}");
    let env = "PORT=8080\nEMPTY=\nTAG=1.10\n";
    let mut imported = compose(&file, env, &BTreeMap::from([("/srv/stack/a.env", "A=1\nB=x y\n")]));
    assert_eq!(imported.errors, [], "{service}");
    let mut warnings = warned(&imported);
    warnings.retain(|warning| !warning.contains("stack_default"));
    (imported.workspaces.remove(0), warnings)
}

#[test]
fn what_people_compose_comes_out_as_docker_compose_sends_it_but_for_its_default_network() {
    let files = BTreeMap::from([("/srv/stack/mailserver.env", MAILSERVER)]);
    let mut found = Vec::new();
    for call in cases::all() {
        let (Some(text), "v148") = (&call.compose, call.client) else { continue };
        let imported = compose(text, "", &files);
        let [workspace] = imported.workspaces.as_slice() else { panic!("{:?}", imported.errors) };
        let create = rendered(workspace, call.engine).unwrap();
        assert_eq!(Some(create.name.as_str()), call.query("name"), "{}", call.case);
        let name = create.name.clone();
        let strip = |body: Value| without_own_name(&without_default_network(body), &name);
        let (recorded, made) = (strip(call.body.clone()), strip(seen(&create)));
        let lost = same::differences(&meaning(&recorded), &meaning(&made));
        let warned = warned(&imported).into_iter().filter(|line| !line.contains("stack_default"));
        let lines: Vec<String> = warned
            .map(|line| format!("  warned {line}"))
            .chain(lost.into_iter().map(|line| format!("  lost   {line}")))
            .collect();
        if !lines.is_empty() {
            found.push(format!("{}\n{}", call.case, lines.join("\n")));
        }
    }
    let found = found.join("\n");
    assert_eq!(found, TABLE.trim(), "\n{found}");
}

/// The network that compose makes for a project's services, which is not carried over.
fn without_default_network(mut body: Value) -> Value {
    let default = body["HostConfig"]["NetworkMode"].as_str().unwrap_or_default().to_owned();
    if default.ends_with("_default") {
        body["HostConfig"]["NetworkMode"] = json!("default");
        body["NetworkingConfig"]["EndpointsConfig"].as_object_mut().unwrap().remove(&default);
    }
    body
}

/// The container's own name, which an engine finds it by anyway.
fn without_own_name(body: &Value, name: &str) -> Value {
    let mut body = body.clone();
    for endpoint in
        body["NetworkingConfig"]["EndpointsConfig"].as_object_mut().into_iter().flatten()
    {
        if let Some(aliases) = endpoint.1.get_mut("Aliases").and_then(Value::as_array_mut) {
            aliases.retain(|alias| alias != name);
        }
    }
    body
}

/// By case: what is warned of, and what differs after (as recorded, as it is).
const TABLE: &str = r"
case-054
  warned networks.searxng.ipam: has no counterpart in a Workspace: left out
  warned services.searxng.networks[0]: is the engine's network stack_searxng, as docker compose names it: it must exist on the host
case-066
  warned services.zwavejs2mqtt.networks[0]: is the engine's network stack_zwave, as docker compose names it: it must exist on the host
case-074
  warned services.open-webui.volumes[0]: is the engine's volume stack_open-webui, as docker compose names it
case-109
  warned services.postgresql.volumes[0]: is the engine's volume stack_database, as docker compose names it
";

#[test]
fn what_a_workspace_cannot_say_is_warned_of_by_its_path() {
    for (service, warning) in [
        ("depends_on: [db]", "services.web.depends_on: Workspaces start by themselves"),
        ("build: .", "services.web.build: an image is not built here"),
        ("secrets: [a]", "services.web.secrets: is not carried over"),
        ("configs: [a]", "services.web.configs: is not carried over"),
        ("profiles: [dev]", "services.web.profiles: profiles are not supported"),
        ("develop: {watch: [x]}", "services.web.develop:"),
        ("links: [db]", "services.web.links: links are not supported"),
        ("external_links: [db]", "services.web.external_links: links are not supported"),
        ("scale: 0", "services.web.scale: a Workspace is one container"),
        ("deploy: {mode: global}", "services.web.deploy.mode: is of a swarm"),
        ("deploy: {endpoint_mode: vip}", "services.web.deploy.endpoint_mode: is of a swarm"),
        (
            "restart: 'no'\ndeploy: {restart_policy: {condition: any}}",
            "services.web.deploy.restart_policy: counts over restart",
        ),
        (
            "deploy: {restart_policy: {delay: 5s, condition: any}}",
            "services.web.deploy.restart_policy.delay: the engine has its own",
        ),
        (
            "deploy: {restart_policy: {max_attempts: 0}}",
            "services.web.deploy.restart_policy.condition: is not set",
        ),
        ("ports: [{target: 80, name: http}]", "services.web.ports[0].name: is for people"),
        ("ipc: service:db", "services.web.ipc: write container:NAME"),
        ("pid: service:db", "services.web.pid: write container:NAME"),
        ("extends: {service: x}", "services.web.extends: is not followed"),
        ("use_api_socket: true", "services.web.use_api_socket: has no counterpart"),
        ("scale: 3", "services.web.scale: a Workspace is one container"),
        ("deploy: {replicas: 2}", "services.web.deploy.replicas: a Workspace is one container"),
        (
            "deploy: {resources: {reservations: {cpus: '0.5'}}}",
            "services.web.deploy.resources.reservations.cpus:",
        ),
        ("environment: [NOPE]", "services.web.environment[0]: NOPE has no value"),
        ("user: $NOPE", "services.web.user: NOPE is not set, so it is empty"),
        ("volumes: [vol:/d]", "services.web.volumes[0]: is the engine's volume stack_vol"),
        ("networks: [front]", "services.web.networks[0]: is the engine's network stack_front"),
        ("network_mode: service:db", "services.web.network_mode: write container:NAME"),
        ("cpu_rt_runtime: 950000", "services.web.cpu_rt_runtime: has no counterpart"),
        ("cpu_shares: 1", "services.web.cpu_shares: 1 is not from 2 to 262144"),
        ("ports: ['localhost:80:80']", "services.web.ports[0]: \"localhost\""),
        (
            "ports: [{target: 80, published: '80', host_ip: localhost}]",
            "services.web.ports[0].host_ip:",
        ),
        ("ports: ['8000-8010:80']", "services.web.ports[0]: a range to pick from"),
        ("cap_add: [BOGUS]", "services.web.cap_add[0]: \"BOGUS\" is no Linux capability"),
        ("bogus: 1", "services.web.bogus: has no counterpart"),
        ("logging: {bogus: 1}", "services.web.logging.bogus: has no counterpart"),
        ("healthcheck: {interval: 1us}", "services.web.healthcheck.interval: 1000 nanoseconds"),
        ("tmpfs: run", "services.web.tmpfs: \"run\" is not an absolute path"),
    ] {
        let (_, warnings) = one(service);
        let named = |line: &String| line.starts_with(warning);
        assert_eq!(warnings.len(), 1, "{service}: {warnings:?}");
        assert!(warnings.iter().any(named), "{service}: {warnings:?}");
    }
}

#[test]
fn anchors_merge_keys_and_extensions_work() {
    let file = "x-base: &base\n  image: app\n  environment: &env {A: '1'}\nname: proj\nservices:\n  one:\n    <<: *base\n    \
                container_name: One_1\n    x-note: hi\n  two:\n    <<: *base\n    environment: {<<: *env, B: '2'}\n";
    let imported = compose(file, "", &BTreeMap::new());
    let names: Vec<_> = imported
        .workspaces
        .iter()
        .map(|w| {
            (w.metadata.name.clone().unwrap(), w.spec.container.clone().unwrap().name.unwrap())
        })
        .collect();
    let own = |name: &str, container: &str| (name.to_owned(), container.to_owned());
    assert_eq!(names, [own("one-1", "One_1"), own("two", "proj-two-1")]);
    let yaml = manifest::yaml(&imported.workspaces).unwrap();
    assert_eq!(yaml.matches("---\n").count(), 2);
    assert!(yaml.contains("- name: B\n"), "{yaml}");
    assert!(
        imported.warnings.iter().all(|w| w.message.contains("proj_default")),
        "{:?}",
        imported.warnings
    );
}

#[test]
fn external_and_named_volumes_and_networks_keep_their_names_in_silence() {
    let file = "services:\n  web:\n    image: app\n    volumes: ['va:/a', 'vb:/b']\n    networks: [n]\n\
                volumes: {va: {external: true}, vb: {name: other, external: true}}\nnetworks: {n: {external: true}}\n";
    let imported = compose(file, "", &BTreeMap::new());
    assert_eq!(warned(&imported), [""; 0]);
    let container = imported.workspaces[0].spec.container.clone().unwrap();
    assert_eq!(container.binds.unwrap(), ["va:/a:rw", "other:/b:rw"]);
    assert_eq!(container.networks.unwrap()[0].name, "n");
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let read = |text: &str| import(&request(Kind::Compose, text)).unwrap_err().to_string();
    assert!(
        read("services:\n  web: [\n").contains("line 2, column 8"),
        "{}",
        read("services:\n  web: [\n")
    );
    assert!(read("services: 1").contains("services: must be an object"));
    assert!(read("services: {web: {image: '${X:?set X}'}}").contains("set X"));
    for (service, error) in [
        ("image: ", "services.web.image: is missing"),
        ("image: app\nports: [x]", "services.web.ports[0]: \"x\" is no port"),
        ("image: app\nmem_limit: lots", "services.web.mem_limit: \"lots\" is no size"),
        (
            "image: app\nenv_file: gone.env",
            "services.web.env_file: gone.env cannot be read: no such file",
        ),
        ("image: app\nstop_grace_period: soon", "services.web.stop_grace_period:"),
        ("image: app\ncommand: 'a \"b'", "services.web.command: has a quote that does not end"),
        ("image: app\nvolumes: ['~/x:/x']", "services.web.volumes[0]: begins with '~'"),
    ] {
        let indented = indented(service);
        let imported = compose(&format!("services:\n  web:\n{indented}"), "", &BTreeMap::new());
        assert!(
            imported.errors[0].to_string().starts_with(error),
            "{service}: {:?}",
            imported.errors
        );
        assert_eq!(imported.workspaces.len(), 0);
    }
}
