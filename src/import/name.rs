//! `metadata.name`: a DNS label made from what the container is called.

use std::collections::BTreeSet;

use crate::api::grammar::DnsLabel;

use super::notes::Notes;

/// The names given so far.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// A name made from `text` that no other has.
    pub fn give(&mut self, text: &str, notes: &mut Notes) -> Option<String> {
        let Some(label) = label(text) else {
            notes.error_at(
                "metadata.name",
                format!(
                    "no name can be made from {text:?}, which has no letter or digit: give --name"
                ),
            );
            return None;
        };
        let mut name = label.clone();
        for n in 2.. {
            if self.0.insert(name.clone()) {
                break;
            }
            let suffix = format!("-{n}");
            let room = DnsLabel::MAX_CHARS.saturating_sub(suffix.len());
            name = format!("{}{suffix}", cut(&label, room));
        }
        if name != label {
            notes.warn_at(
                "metadata.name",
                format!(
                    "{label} is taken by another container of the source: {name} is used for {text}"
                ),
            );
        }
        Some(name)
    }
}

/// A DNS label made from `text`; none where it has no letter or digit.
fn label(text: &str) -> Option<String> {
    let of = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = text.chars().map(of).collect();
    let name = cut(text.trim_matches('-'), DnsLabel::MAX_CHARS);
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

fn cut(label: &str, at: usize) -> &str {
    label.get(..at).unwrap_or(label).trim_end_matches('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_dns_label_whatever_the_container_is_called() {
        let long = "x".repeat(80);
        for (text, name) in [
            ("web", Some("web")),
            ("/Zigbee2MQTT", Some("zigbee2mqtt")),
            ("my_app.1", Some("my-app-1")),
            ("mysql5.7", Some("mysql5-7")),
            ("-x_", Some("x")),
            ("__", None),
            ("", None),
            (&long, Some(&long[..63])),
        ] {
            let given = label(text);
            assert_eq!(given.as_deref(), name, "{text}");
            assert!(given.is_none_or(|name| name.parse::<DnsLabel>().is_ok()));
        }
    }

    #[test]
    fn two_containers_never_get_one_name() {
        let mut notes = Notes::default();
        let mut names = Names::default();
        let long = "y".repeat(63);
        for (text, name) in [("a_b", "a-b"), ("a.b", "a-b-2"), ("a-b", "a-b-3"), (&long, &long)] {
            assert_eq!(names.give(text, &mut notes).unwrap(), name);
        }
        assert_eq!(names.give(&long, &mut notes).unwrap(), format!("{}-2", &long[..61]));
        assert_eq!(notes.into_parts().0.len(), 3);
    }
}
