//! `ports` and `expose`.

use serde_json::Value;

use super::service::Draft;
use super::value::{Node, scalar};
use crate::import::notes::Notes;

/// The ports, exposed and published.
pub fn read(node: &mut Node<'_>, draft: &mut Draft, notes: &mut Notes) {
    for (at, text) in node.texts("expose", notes) {
        let (numbers, protocol) = text.split_once('/').unwrap_or((text.as_str(), "tcp"));
        match range(numbers) {
            Some(numbers) => {
                for number in numbers {
                    draft.member(
                        "ExposedPorts",
                        &format!("{number}/{}", protocol.to_lowercase()),
                        &at,
                    );
                }
            }
            None => notes.error_at(at, format!("{text:?} is no port and no range of ports")),
        }
    }
    for (at, item) in node.list("ports") {
        match &item {
            Value::Object(_) => long(&at, &item, draft, notes),
            short => {
                let Some(text) = scalar(&at, short, notes) else { continue };
                let place = Place { at: &at, long: false };
                if let Err(error) = published(&place, &text, draft) {
                    notes.error_at(at, error);
                }
            }
        }
    }
}

/// Where a port stands in the file.
struct Place<'a> {
    at: &'a str,
    /// Whether as an object with members.
    long: bool,
}

impl Place<'_> {
    fn publish(&self, port: &str, ip: &str, host: &str, draft: &mut Draft) {
        if let Some(path) = draft.publish(port, self.at, ip, host)
            && self.long
        {
            draft.members(&path, self.at, &[("HostIp", "host_ip"), ("HostPort", "published")]);
        }
    }
}

fn long(at: &str, item: &Value, draft: &mut Draft, notes: &mut Notes) {
    let mut node = Node::new(at.to_owned(), item);
    let target = node.text("target", notes).unwrap_or_default();
    let host = node.text("published", notes).unwrap_or_default();
    let ip = node.text("host_ip", notes).unwrap_or_default();
    let protocol = node.text("protocol", notes).unwrap_or_else(|| "tcp".to_owned());
    // How a port is published in a swarm, which is nothing to docker compose.
    node.take("mode");
    let message = "is for people, and docker compose makes nothing of it: left out";
    node.refuse(&[("name", message), ("app_protocol", message)], notes);
    node.finish(notes);
    let place = Place { at, long: true };
    if let Err(error) = pair(&place, &ip, &host, &target, &protocol, draft) {
        notes.error_at(at, error);
    }
}

/// `[[IP:][HOST]:]CONTAINER[/PROTOCOL]`, each port one or a range.
fn published(place: &Place<'_>, text: &str, draft: &mut Draft) -> Result<(), String> {
    let (rest, protocol) = text.split_once('/').unwrap_or((text, "tcp"));
    let (front, target) = rest.rsplit_once(':').unwrap_or(("", rest));
    let (ip, host) = match front.rsplit_once(':') {
        Some((ip, host)) => (ip, host),
        None if front.contains('.') || front.starts_with('[') => (front, ""),
        None => ("", front),
    };
    let ip = ip.strip_prefix('[').and_then(|ip| ip.strip_suffix(']')).unwrap_or(ip);
    pair(place, ip, host, target, protocol, draft)
}

fn pair(
    place: &Place<'_>,
    ip: &str,
    host: &str,
    target: &str,
    protocol: &str,
    draft: &mut Draft,
) -> Result<(), String> {
    let wrong = |text: &str| format!("{text:?} is no port and no range of ports");
    let targets = range(target).ok_or_else(|| wrong(target))?;
    let protocol = protocol.to_lowercase();
    let key = |target: u16| format!("{target}/{protocol}");
    if host.is_empty() {
        for target in targets {
            place.publish(&key(target), ip, "", draft);
        }
        return Ok(());
    }
    let hosts = range(host).ok_or_else(|| wrong(host))?;
    if targets.len() == 1 && hosts.len() > 1 {
        // One port, on any of the range: an engine picks, and the translation says so.
        for target in targets {
            place.publish(&key(target), ip, host, draft);
        }
        return Ok(());
    }
    if targets.len() != hosts.len() {
        return Err(format!("{host} and {target} have not as many ports each"));
    }
    for (host, target) in hosts.zip(targets) {
        place.publish(&key(target), ip, &host.to_string(), draft);
    }
    Ok(())
}

fn range(text: &str) -> Option<std::ops::RangeInclusive<u16>> {
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
    match text.split_once('-') {
        None => port(text).map(|port| port..=port),
        Some((first, last)) => {
            let (first, last) = (port(first)?, port(last)?);
            (first <= last).then_some(first..=last)
        }
    }
}
