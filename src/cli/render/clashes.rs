//! Workspaces of one input that cannot all run: of one name, or with containers of one name.

use std::collections::HashMap;

use crate::api::field_error::FieldError;
use crate::cli::manifest::Document;

/// A Workspace, and the container that was rendered for it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Its manifest.
    pub document: &'a Document,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its container's name.
    pub container: &'a str,
}

/// What becomes of two that share a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clash {
    /// They can never both be.
    Error(FieldError),
    /// One of them fails if they come to one host.
    Warning(FieldError),
}

/// The clashes of each with those before it, by its place in the list.
pub fn find(list: &[Named<'_>]) -> Vec<(usize, Clash)> {
    let mut found = Vec::new();
    let mut objects: HashMap<(&str, &str), usize> = HashMap::new();
    let mut containers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, one) in list.iter().enumerate() {
        let name = one.document.name();
        if let Some(other) = objects.insert((one.namespace, name), i).and_then(|i| list.get(i)) {
            let other = place(other);
            let message = format!("is the name of a Workspace before it too, {other}: change one");
            found.push((i, Clash::Error(FieldError::new("metadata.name", message))));
            continue;
        }
        let before = containers.entry(one.container).or_default();
        let others = before.iter().filter_map(|other| list.get(*other));
        found.extend(container(one, others).map(|clash| (i, clash)));
        before.push(i);
    }
    found
}

/// The worst clash of one container with those before it.
fn container<'a>(one: &Named<'_>, others: impl Iterator<Item = &'a Named<'a>>) -> Option<Clash> {
    let mut warning = None;
    for other in others {
        let told = |where_: &str| {
            let Named { namespace, container, .. } = other;
            let (name, place) = (other.document.name(), place(other));
            FieldError::new(
                path(one),
                format!(
                    "container name {container} is that of Workspace {namespace}/{name} too \
                     ({place}), and {where_}: change one, or leave both out"
                ),
            )
        };
        match (host(one), host(other)) {
            (Some(one), Some(other)) if one == other => {
                return Some(Clash::Error(told(&format!("both are placed on host {one}"))));
            }
            (Some(_), Some(_)) => {}
            _ if warning.is_none() => {
                warning = Some(Clash::Warning(told("on one host only one of them can be made")));
            }
            _ => {}
        }
    }
    warning
}

fn path(named: &Named<'_>) -> &'static str {
    let name = named.document.value.pointer("/spec/container/name");
    if name.is_some() { "spec.container.name" } else { "metadata.name" }
}

fn host<'a>(named: &Named<'a>) -> Option<&'a str> {
    named.document.value.pointer("/spec/placement/hostName")?.as_str()
}

/// `ws.yaml:3`
fn place(named: &Named<'_>) -> String {
    let Named { document, .. } = named;
    let line = document.line(path(named)).unwrap_or(1);
    format!("{}:{line}", document.file())
}
