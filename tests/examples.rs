//! The manifests in `examples/`, and what Docker's users write, on a real API server.

use std::{ffi::OsStr, fs, path::Path};

use serde_json::Value;

use crate::kubectl::Kubectl;

#[tokio::test]
async fn every_example_passes_a_strict_dry_run() {
    let kubectl = Kubectl::in_a_namespace("examples").await;

    for file in examples() {
        let said = kubectl.run(&format!("apply --dry-run=server --validate=strict -f {file}"));

        assert!(said.lines().all(|line| line.ends_with("(server dry run)")), "{file}: {said}");
    }
}

#[tokio::test]
async fn every_example_can_be_applied_again_without_a_change() {
    let kubectl = Kubectl::in_a_namespace("examples").await;

    for file in examples() {
        let apply = format!("apply --server-side --validate=strict -f {file}");
        let stored = || {
            kubectl.run(&apply);
            kubectl.json("", &format!("get -f {file} -o json --show-managed-fields"))
        };
        let (first, second, third) = (stored(), stored(), stored());

        // The API server stores the default of a status with the second write of an object.
        assert_eq!(without_versions(&first), without_versions(&second), "{file}");
        assert_eq!(second, third, "{file}");
    }
}

#[tokio::test]
async fn the_manifest_in_the_readme_is_accepted() {
    let kubectl = Kubectl::in_a_namespace("readme").await;
    let readme = include_str!("../README.md");
    let (_, manifest) = readme.split_once("```yaml\n").unwrap();
    let (manifest, _) = manifest.split_once("```").unwrap();

    let said = kubectl.feed(manifest, "apply --validate=strict -f -");

    assert_eq!(said, "workspace.kibotos.dev/web created\n");
}

/// Each field of Docker's create request, beside the name it has there.
#[tokio::test]
async fn all_that_a_docker_container_commonly_needs_can_be_written_in_a_workspace() {
    accepted_as_written(
        "
        container:
          name: my_app                                    # ?name=
          image: registry.example.com:5000/team/app:1.2   # Image
          imagePullPolicy: Always
          command: [/bin/app]                             # Entrypoint
          args: [--verbose]                               # Cmd
          env: [{name: MODE, value: prod}]                # Env
          labels: {com.example.team: core}                # Labels
          anonymousVolumes: [/cache]                      # Volumes
          user: '1000:1000'                               # User
          workingDir: /srv                                # WorkingDir
          hostname: app                                   # Hostname
          ports:                                          # ExposedPorts
          - {containerPort: 80, protocol: TCP, hostIP: '', hostPort: 0}
          healthcheck:                                    # Healthcheck
            test: [CMD, /bin/app, --check]
            interval: 30s
            timeout: 10s
            startPeriod: 1m
            startInterval: 1s
            retries: 3
          networks: [{name: front}]                       # NetworkingConfig.EndpointsConfig
          binds: ['/host/data:/data:ro']                  # HostConfig.Binds
          networkMode: front                              # HostConfig.NetworkMode
          restartPolicy: {name: on-failure, maximumRetryCount: 5}
          privileged: true                                # HostConfig.Privileged
          capAdd: [NET_ADMIN]                             # HostConfig.CapAdd
          capDrop: [MKNOD]                                # HostConfig.CapDrop
          devices:                                        # HostConfig.Devices
          - {pathOnHost: /dev/fuse, pathInContainer: /dev/fuse, cgroupPermissions: rwm}
          ulimits: [{name: nofile, soft: 1024, hard: 2048}]
          tmpfs: {/run: 'rw,size=64m'}                    # HostConfig.Tmpfs
          sysctls: {net.ipv4.ip_forward: '1'}             # HostConfig.Sysctls
          extraHosts: ['db:10.0.0.7']                     # HostConfig.ExtraHosts
        resources:
          limits: {memory: 512Mi, cpu: 1500m}             # HostConfig.Memory, NanoCpus
          requests: {memory: 256Mi, cpu: 500m}            # HostConfig.MemoryReservation, CpuShares
        volume: {mode: None, mountPath: /data}
        ",
    )
    .await;
}

#[tokio::test]
async fn a_shell_line_can_be_a_health_check() {
    accepted_as_written(
        "
        container:
          image: app
          healthcheck:
            test: [CMD-SHELL, curl -f http://localhost || exit 1]
            interval: 30s
            timeout: 10s
            retries: 3
        ",
    )
    .await;
}

#[tokio::test]
async fn restarts_can_be_counted() {
    accepted_as_written(
        "
        container:
          image: app
          restartPolicy: {name: on-failure, maximumRetryCount: 3}
        ",
    )
    .await;
}

#[tokio::test]
async fn a_serial_line_can_be_given_to_a_container() {
    accepted_as_written(
        "
        container:
          image: app
          devices: [{pathOnHost: /dev/ttyUSB0, pathInContainer: /dev/ttyUSB0}]
        ",
    )
    .await;
}

#[tokio::test]
async fn resources_are_written_as_for_a_pod() {
    accepted_as_written(
        "
        container: {image: app}
        resources:
          limits: {memory: 512Mi, cpu: 1500m}
          requests: {memory: 256Mi, cpu: 500m}
        ",
    )
    .await;
}

#[tokio::test]
async fn the_kernels_limits_and_parameters_can_be_set() {
    accepted_as_written(
        "
        container:
          image: app
          ulimits: [{name: nofile, soft: 1024, hard: 2048}]
          sysctls: {net.ipv4.ip_forward: '1'}
          tmpfs: {/tmp: '', /run: 'rw,size=64m'}
        ",
    )
    .await;
}

#[tokio::test]
async fn ports_networks_and_hosts_can_be_several() {
    accepted_as_written(
        "
        container:
          image: app
          extraHosts: ['host.docker.internal:host-gateway']
          ports:
          - {containerPort: 80, protocol: TCP, hostIP: '', hostPort: 0}
          - {containerPort: 53, protocol: UDP, hostIP: '', hostPort: 0}
          networks: [{name: bridge}, {name: mynet}]
        ",
    )
    .await;
}

#[tokio::test]
async fn binds_go_beside_a_config_file() {
    accepted_as_written(
        "
        container:
          image: app
          binds: ['/host/log:/var/log:ro', '/host/data:/data']
        configFile:
          content: a = 1
          path: /usr/local/etc/service.conf
        volume: {mode: None, mountPath: /data}
        ",
    )
    .await;
}

/// Asserts that the API server takes a Workspace of this spec and keeps every field of it.
async fn accepted_as_written(spec: &str) {
    let kubectl = Kubectl::in_a_namespace("docker").await;
    let manifest = format!(
        "apiVersion: kibotos.dev/v1alpha1\nkind: Workspace\nmetadata: {{name: app}}\nspec:{spec}"
    );
    let written: Value = serde_saphyr::from_str(&manifest).expect("the manifest is YAML");

    let stored = kubectl.json(&manifest, "apply --server-side --validate=strict -o json -f -");

    for (field, value) in written["spec"].as_object().expect("a spec has fields") {
        assert_eq!(&stored["spec"][field], value, "{field}");
    }
}

/// The files in `examples/` that are manifests.
fn examples() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut files: Vec<_> = fs::read_dir(directory)
        .expect("there are examples")
        .map(|entry| entry.expect("examples/ can be read").path())
        .filter(|path| path.extension() == Some(OsStr::new("yaml")))
        .map(|path| format!("examples/{}", path.file_name().unwrap().to_str().unwrap()))
        .collect();
    files.sort();
    assert!(files.len() >= 5, "{files:?}");
    files
}

/// The objects as a reader sees them: all but `resourceVersion`.
fn without_versions(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let objects = match answer.get_mut("items").and_then(Value::as_array_mut) {
        Some(items) => items.iter_mut().collect(),
        None => vec![&mut answer],
    };
    for object in objects {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
    }
    answer
}
