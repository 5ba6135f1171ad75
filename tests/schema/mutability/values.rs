//! The values that the fields are changed to, and what goes with a change.

use crate::schema::kind::Kind;

/// A field, another value for it, and what must change at the same time.
type Other = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Other values, in JSON, where no other variant has one, or not one that can be set alone; with
/// what must change at the same time.
pub const OTHER: &[Other] = &[
    ("spec.template", r#"{"name": "other", "revision": "v4"}"#, &[]),
    ("spec.template.name", r#""other""#, &[]),
    ("spec.template.revision", r#""v4""#, &[]),
    ("spec.container", r#"{"user": "1"}"#, &[]),
    (
        "spec.volume.mode",
        r#""Bind""#,
        &[("spec.volume.size", NONE), ("spec.volume.storagePool", NONE)],
    ),
    ("spec.volume.size", r#""30Gi""#, &[]),
    ("spec.volume.storagePool", r#""slow""#, &[]),
    ("spec.configFile.content", r#""a = 2""#, &[]),
    ("spec.configFile.configMapKeyRef", KEY, &[]),
    ("spec.configFile.configMapKeyRef.name", r#""other""#, &[]),
    ("spec.configFile.configMapKeyRef.key", r#""other""#, &[]),
    ("spec.configFile.secretKeyRef", KEY, &[]),
    ("spec.configFile.secretKeyRef.name", r#""other""#, &[]),
    ("spec.configFile.secretKeyRef.key", r#""other""#, &[]),
    ("spec.lifetime.expiresAt", r#""2038-01-01T00:00:00Z""#, &[]),
    ("spec.lifetime.ttl", r#""9h""#, &[]),
    ("spec.placement.hostName", r#""edge-2""#, &[]),
    ("spec.placement.hostSelector", "{}", &[]),
    ("spec.placement.hostSelector.matchLabels", r#"{"zone": "b"}"#, &[]),
    ("spec.placement.hostSelector.matchExpressions", "[]", &[]),
    ("spec.placement.hostSelector.matchExpressions[].key", r#""cpu""#, &[]),
    ("spec.placement.hostSelector.matchExpressions[].operator", r#""NotIn""#, &[]),
    ("spec.placement.hostSelector.matchExpressions[].values", r#"["b200"]"#, &[]),
    ("spec.hostSelector.matchExpressions[].operator", r#""NotIn""#, &[]),
    ("spec.hostSelector.matchExpressions[].values", r#"["other"]"#, &[]),
    ("spec.namespaceSelector.matchExpressions[].operator", r#""NotIn""#, &[]),
    ("spec.namespaceSelector.matchExpressions[].values", r#"["other"]"#, &[]),
    ("spec.resources.limits.cpu", r#""2""#, &[]),
    ("spec.restartPolicy.name", r#""always""#, &[("spec.restartPolicy.maximumRetryCount", NONE)]),
    (
        "spec.container.restartPolicy.name",
        r#""always""#,
        &[("spec.container.restartPolicy.maximumRetryCount", NONE)],
    ),
    ("spec.container.env[].value", r#""other""#, &[]),
    ("spec.container.env[].valueFrom.secretKeyRef", KEY, &[]),
    ("spec.container.env[].valueFrom.secretKeyRef.name", r#""other""#, &[]),
    ("spec.container.env[].valueFrom.secretKeyRef.key", r#""other""#, &[]),
    ("spec.container.env[].valueFrom.configMapKeyRef", KEY, &[]),
    ("spec.container.env[].valueFrom.configMapKeyRef.name", r#""other""#, &[]),
    ("spec.container.env[].valueFrom.configMapKeyRef.key", r#""other""#, &[]),
    ("spec.container.envFrom[].secretRef", r#"{"name": "other"}"#, &[]),
    ("spec.container.envFrom[].secretRef.name", r#""other""#, &[]),
    ("spec.container.envFrom[].configMapRef", r#"{"name": "other"}"#, &[]),
    ("spec.container.envFrom[].configMapRef.name", r#""other""#, &[]),
    ("spec.container.hostname", r#""web-2""#, &[]),
    (
        "spec.container.ports[].publish",
        "false",
        &[("spec.container.ports[].hostIP", r#""""#), ("spec.container.ports[].hostPort", "0")],
    ),
    (
        "spec.container.mounts[].type",
        r#""tmpfs""#,
        &[("spec.container.mounts[].source", NONE), ("spec.container.mounts[].bindOptions", NONE)],
    ),
    ("spec.container.mounts[].bindOptions", "{}", &[]),
    ("spec.container.mounts[].imageOptions", "{}", &[]),
    ("spec.container.mounts[].imageOptions.subpath", r#""other""#, &[]),
    ("spec.container.mounts[].source", r#""other""#, &[]),
    ("spec.container.mounts[].tmpfsOptions", "{}", &[]),
    ("spec.container.mounts[].tmpfsOptions.mode", "448", &[]),
    ("spec.container.mounts[].tmpfsOptions.options", "[]", &[]),
    ("spec.container.mounts[].tmpfsOptions.sizeBytes", "0", &[]),
    ("spec.container.mounts[].volumeOptions", "{}", &[]),
    ("spec.container.mounts[].volumeOptions.driverConfig", "{}", &[]),
    ("spec.container.mounts[].volumeOptions.driverConfig.name", r#""other""#, &[]),
    ("spec.container.mounts[].volumeOptions.driverConfig.options", r#"{"type": "tmpfs"}"#, &[]),
    ("spec.container.mounts[].volumeOptions.labels", r#"{"other": ""}"#, &[]),
    ("spec.container.mounts[].volumeOptions.subpath", r#""other""#, &[]),
    ("spec.container.deviceRequests[].count", "-1", &[]),
    ("spec.container.deviceRequests[].deviceIDs", r#"["0"]"#, &[]),
    ("spec.templateName", r#""other""#, &[]),
    ("spec.defaultRevision", r#""v4""#, &[]),
];

/// What a field can be changed with only.
pub const WITH: &[(&str, &str)] = &[
    ("spec.placement.onHostLoss", "writableLayer"),
    ("spec.container.memorySwap", "resources"),
    ("spec.container.oomKillDisable", "resources"),
];

/// What a rule demands, as `required` would.
pub const DEMANDED: &[(Kind, &str)] = &[
    (Kind::TemplateRevision, "spec.container.image"),
    (Kind::WorkspaceRun, "spec.container.image"),
];

/// What takes the place of a field that cannot go without.
pub const INSTEAD: &[(&str, &str, &str)] = &[
    (
        "spec.placement.hostSelector.matchExpressions[].values",
        "spec.placement.hostSelector.matchExpressions[].operator",
        r#""Exists""#,
    ),
    (
        "spec.hostSelector.matchExpressions[].values",
        "spec.hostSelector.matchExpressions[].operator",
        r#""Exists""#,
    ),
    (
        "spec.namespaceSelector.matchExpressions[].values",
        "spec.namespaceSelector.matchExpressions[].operator",
        r#""Exists""#,
    ),
    ("spec.template", "spec.container.image", r#""app""#),
    ("spec.container.image", "spec.template", r#"{"name": "base"}"#),
    ("spec.configFile.content", "spec.configFile.secretKeyRef", KEY),
    ("spec.configFile.configMapKeyRef", "spec.configFile.content", r#""""#),
    ("spec.configFile.secretKeyRef", "spec.configFile.content", r#""""#),
    ("spec.lifetime.expiresAt", "spec.lifetime.ttl", r#""1h""#),
    ("spec.lifetime.ttl", "spec.lifetime.expiresAt", r#""2037-01-31T18:00:00Z""#),
    (
        "spec.container.env[].valueFrom.secretKeyRef",
        "spec.container.env[].valueFrom.configMapKeyRef",
        KEY,
    ),
    (
        "spec.container.env[].valueFrom.configMapKeyRef",
        "spec.container.env[].valueFrom.secretKeyRef",
        KEY,
    ),
    (
        "spec.container.envFrom[].secretRef",
        "spec.container.envFrom[].configMapRef",
        r#"{"name": "x"}"#,
    ),
    (
        "spec.container.envFrom[].configMapRef",
        "spec.container.envFrom[].secretRef",
        r#"{"name": "x"}"#,
    ),
];

const NONE: &str = "null";
const KEY: &str = r#"{"name": "other", "key": "other"}"#;
