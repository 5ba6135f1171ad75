//! What is wrong with a Workspace that no run shows any more: what is resolved, or never leaves the
//! controller. Pure.
//!
//! An API server with our CRDs has refused all of it by the same grammars; this says so where there
//! is none, and of what was stored before a rule was. What a run does show, its translation judges.

use std::collections::BTreeSet;
use std::str::FromStr;

use crate::api::container::{Container, EnvFromSource, EnvVar, EnvVarSource};
use crate::api::field_error::FieldError;
use crate::api::grammar::{
    AbsolutePath, DataKey, DnsLabel, Duration, HostName, Invalid, Moment, ObjectName, RawQuantity,
};
use crate::api::quantity_rules::{WHOLE_BYTES_MESSAGE, is_whole_bytes};
use crate::api::reference::KeyRef;
use crate::api::selector::Selector;
use crate::api::workspace::{
    ConfigFile, Lifetime, OnHostLoss, Placement, Retention, VolumeMode, WorkspaceVolume,
};
use crate::api::{TemplateRevisionSpec, WorkspaceSpec, names};

/// All that is wrong with a Workspace of this name.
pub fn workspace(name: &str, spec: &WorkspaceSpec) -> Vec<FieldError> {
    let mut found = Found::default();
    found.parse::<DnsLabel>("metadata.name", name);
    template(spec, &mut found);
    if let Some(container) = &spec.container {
        environment(container, &mut found);
    }
    volume(&spec.volume, &mut found);
    if let Some(file) = &spec.config_file {
        config_file(file, &mut found);
    }
    if let Some(lifetime) = &spec.lifetime {
        self::lifetime(lifetime, &mut found);
    }
    if let Some(placement) = &spec.placement {
        self::placement(placement, spec.writable_layer.retention, &mut found);
    }
    for (i, secret) in spec.image_pull_secrets.iter().flatten().enumerate() {
        found.parse::<ObjectName>(&format!("spec.imagePullSecrets[{i}].name"), &secret.name);
    }
    found.errors
}

/// All that is wrong with a TemplateRevision of this name.
pub fn revision(name: &str, spec: &TemplateRevisionSpec) -> Vec<FieldError> {
    let mut found = Found::default();
    let TemplateRevisionSpec { template_name, revision, container, .. } = spec;
    if name != names::template_revision(template_name, revision) {
        let message = "must be spec.templateName, '-', and spec.revision";
        found.add("metadata.name", message);
    }
    found.parse::<DnsLabel>("spec.templateName", template_name);
    found.parse::<DnsLabel>("spec.revision", revision);
    if container.image.is_none() {
        found.add("spec.container.image", "a revision needs an image");
    }
    environment(container, &mut found);
    found.errors
}

/// What was made, where nothing is wrong beside it; else all that is, each thing once.
pub fn together<T>(
    mut wrong: Vec<FieldError>,
    made: Result<T, Vec<FieldError>>,
) -> Result<T, Vec<FieldError>> {
    match made {
        Ok(made) if wrong.is_empty() => return Ok(made),
        Ok(_) => {}
        Err(more) => {
            for error in more {
                if !wrong.contains(&error) {
                    wrong.push(error);
                }
            }
        }
    }
    Err(wrong)
}

/// What was found so far, in the order of the fields.
#[derive(Default)]
struct Found {
    errors: Vec<FieldError>,
}

impl Found {
    fn add(&mut self, path: &str, message: &str) {
        self.errors.push(FieldError::new(path, message));
    }

    fn parse<T: FromStr<Err = Invalid>>(&mut self, path: &str, text: &str) -> Option<T> {
        text.parse().map_err(|fault: Invalid| self.add(path, &fault.to_string())).ok()
    }

    /// Refuses all but whole bytes above 0.
    fn size(&mut self, path: &str, raw: &RawQuantity) {
        match raw.parse() {
            Err(fault) => self.add(path, &fault.to_string()),
            Ok(parsed) if !is_whole_bytes(raw, &parsed) => self.add(path, WHOLE_BYTES_MESSAGE),
            Ok(parsed) if parsed.nanos() <= 0 => self.add(path, "must be above 0"),
            Ok(_) => {}
        }
    }

    fn key_ref(&mut self, path: &str, key: Option<&KeyRef>) {
        if let Some(KeyRef { name, key, .. }) = key {
            self.parse::<ObjectName>(&format!("{path}.name"), name);
            self.parse::<DataKey>(&format!("{path}.key"), key);
        }
    }
}

fn template(spec: &WorkspaceSpec, found: &mut Found) {
    let image = spec.container.as_ref().is_some_and(|container| container.image.is_some());
    if spec.template.is_some() == image {
        found.add("spec", "set exactly one of template and container.image");
    }
    if let Some(template) = &spec.template {
        found.parse::<DnsLabel>("spec.template.name", &template.name);
        if let Some(revision) = &template.revision {
            found.parse::<DnsLabel>("spec.template.revision", revision);
        }
    }
}

/// Where variables come from, which a run has resolved, and names that stand twice, of which
/// resolving keeps the last.
fn environment(container: &Container, found: &mut Found) {
    let mut names = BTreeSet::new();
    for (i, EnvVar { name, value, value_from }) in container.env.iter().flatten().enumerate() {
        let path = format!("spec.container.env[{i}]");
        if !names.insert(name) {
            found.add(&format!("{path}.name"), &format!("{name} is set twice: set it once"));
        }
        let Some(EnvVarSource { secret_key_ref, config_map_key_ref }) = value_from else {
            continue;
        };
        let path = format!("{path}.valueFrom");
        if value.is_some() {
            found.add(&path, "set value or valueFrom, not both");
        }
        if secret_key_ref.is_some() == config_map_key_ref.is_some() {
            found.add(&path, "set exactly one of secretKeyRef and configMapKeyRef");
        }
        found.key_ref(&format!("{path}.secretKeyRef"), secret_key_ref.as_ref());
        found.key_ref(&format!("{path}.configMapKeyRef"), config_map_key_ref.as_ref());
    }
    for (i, from) in container.env_from.iter().flatten().enumerate() {
        let path = format!("spec.container.envFrom[{i}]");
        let EnvFromSource { secret_ref, config_map_ref, .. } = from;
        if secret_ref.is_some() == config_map_ref.is_some() {
            found.add(&path, "set exactly one of secretRef and configMapRef");
        }
        for (field, source) in [("secretRef", secret_ref), ("configMapRef", config_map_ref)] {
            if let Some(source) = source {
                found.parse::<ObjectName>(&format!("{path}.{field}.name"), &source.name);
            }
        }
    }
}

fn volume(volume: &WorkspaceVolume, found: &mut Found) {
    let WorkspaceVolume { mode, name, size, storage_pool, mount_path, .. } = volume;
    match (mode, name) {
        (VolumeMode::Bind, None) => {
            found.add("spec.volume.name", "mode Bind needs the name of the Volume to bind");
        }
        (VolumeMode::None, Some(_)) => found
            .add("spec.volume.name", "with mode None there is no Volume to name: leave name out"),
        _ => {}
    }
    if let Some(name) = name {
        found.parse::<DnsLabel>("spec.volume.name", name);
    }
    let bound = *mode != VolumeMode::Create;
    if let Some(size) = size {
        if bound {
            let message = "size goes with mode Create only: a bound Volume has its own";
            found.add("spec.volume.size", message);
        }
        found.size("spec.volume.size", size);
    }
    if let Some(pool) = storage_pool {
        if bound {
            let message = "storagePool goes with mode Create only: a bound Volume has its own";
            found.add("spec.volume.storagePool", message);
        }
        found.parse::<ObjectName>("spec.volume.storagePool", pool);
    }
    // With a Volume the run has the path, and its translation judges it.
    if *mode == VolumeMode::None {
        found.parse::<AbsolutePath>("spec.volume.mountPath", mount_path);
    }
}

fn config_file(file: &ConfigFile, found: &mut Found) {
    let ConfigFile { content, config_map_key_ref, secret_key_ref, .. } = file;
    let sources = [content.is_some(), config_map_key_ref.is_some(), secret_key_ref.is_some()];
    if sources.iter().filter(|is_set| **is_set).count() != 1 {
        let message = "set exactly one of content, configMapKeyRef and secretKeyRef";
        found.add("spec.configFile", message);
    }
    found.key_ref("spec.configFile.configMapKeyRef", config_map_key_ref.as_ref());
    found.key_ref("spec.configFile.secretKeyRef", secret_key_ref.as_ref());
}

fn lifetime(lifetime: &Lifetime, found: &mut Found) {
    let Lifetime { expires_at, ttl, .. } = lifetime;
    if expires_at.is_some() == ttl.is_some() {
        found.add("spec.lifetime", "set exactly one of expiresAt and ttl");
    }
    if let Some(at) = expires_at {
        found.parse::<Moment>("spec.lifetime.expiresAt", at);
    }
    let ttl = ttl.as_deref().and_then(|ttl| found.parse::<Duration>("spec.lifetime.ttl", ttl));
    if ttl.is_some_and(|ttl| ttl.nanos() == 0) {
        found.add("spec.lifetime.ttl", "must be above 0");
    }
}

fn placement(placement: &Placement, retention: Retention, found: &mut Found) {
    let Placement { host_name, host_selector, on_host_loss } = placement;
    if host_name.is_some() && host_selector.is_some() {
        found.add("spec.placement.hostSelector", "set hostName or hostSelector, not both");
    }
    if let Some(name) = host_name {
        found.parse::<HostName>("spec.placement.hostName", name);
    }
    if let Some(selector) = host_selector {
        found.errors.extend(Selector::check(selector, "spec.placement.hostSelector"));
    }
    if *on_host_loss == OnHostLoss::Move && retention != Retention::Discard {
        found.add(
            "spec.placement.onHostLoss",
            "onHostLoss Move needs writableLayer.retention Discard: a writable layer cannot leave its host",
        );
    }
}

#[cfg(test)]
mod tests;
