//! Values that the CRD takes; what it would refuse is a warning.

use std::str::FromStr;

use crate::api::grammar::{Duration, HostIp, Invalid};
use crate::import::notes::Notes;

/// `text` if its grammar takes it.
pub fn parsed<T: FromStr<Err = Invalid>>(path: &str, text: &str, notes: &mut Notes) -> Option<T> {
    text.parse().map_err(|error| notes.warn(path, format!("{error}: left out"))).ok()
}

/// `text` as it is, if its grammar takes it.
pub fn kept<T: FromStr<Err = Invalid>>(
    path: &str,
    text: String,
    notes: &mut Notes,
) -> Option<String> {
    parsed::<T>(path, &text, notes).map(|_| text)
}

/// A path, cleaned as an engine cleans it, if its grammar takes it then.
pub fn path<T: FromStr<Err = Invalid>>(
    path: &str,
    text: &str,
    notes: &mut Notes,
) -> Option<String> {
    kept::<T>(path, clean(text), notes)
}

/// `text` if `holds` says so of it.
pub fn if_so(
    path: &str,
    text: &str,
    holds: impl Fn(&str) -> bool,
    message: &str,
    notes: &mut Notes,
) -> Option<String> {
    if holds(text) {
        return Some(text.to_owned());
    }
    notes.warn(path, format!("{text:?} {message}: left out"));
    None
}

/// `number` if it is in the range.
pub fn ranged(path: &str, number: i64, least: i64, most: i64, notes: &mut Notes) -> Option<i64> {
    if (least..=most).contains(&number) {
        return Some(number);
    }
    notes.warn(path, format!("{number} is not from {least} to {most}: left out"));
    None
}

/// `number` as a 32-bit one if it is in the range.
pub fn small(path: &str, number: i64, least: i32, most: i32, notes: &mut Notes) -> Option<i32> {
    ranged(path, number, least.into(), most.into(), notes).and_then(|n| i32::try_from(n).ok())
}

/// Nanoseconds in Go's form, 0 or at least a millisecond.
pub fn duration(path: &str, nanos: i64, notes: &mut Notes) -> Option<String> {
    const MILLISECOND: i64 = 1_000_000;
    // The CRD's rule stops a little below what an engine takes.
    const MOST: i64 = 2_562_046 * 3_600_000_000_000;
    if nanos == 0 {
        return None;
    }
    if !(MILLISECOND..=MOST).contains(&nanos) {
        let message =
            format!("{nanos} nanoseconds is not 0 and not from 1ms to 292 years: left out");
        notes.warn(path, message);
        return None;
    }
    Duration::from_nanos(nanos).ok().map(|duration| duration.as_str().to_owned())
}

/// A list without what is beyond the CRD's bound.
pub fn bounded<T>(path: &str, mut list: Vec<T>, most: usize, notes: &mut Notes) -> Option<Vec<T>> {
    if list.len() > most {
        notes.warn(
            path,
            format!("has {} items, and a Workspace takes {most}: the rest is left out", list.len()),
        );
        list.truncate(most);
    }
    Some(list).filter(|list| !list.is_empty())
}

/// `path` without empty, `.` and `..` segments and without a slash at its end, as Go cleans it; a
/// relative one stays as it is.
pub fn clean(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    format!("/{}", segments.join("/"))
}

/// An IP address as the API server reads one.
pub fn is_ip(text: &str) -> bool {
    !text.is_empty() && text.parse::<HostIp>().is_ok()
}

/// Letters, digits and `inner` characters, with a letter or digit first.
pub fn is_word(text: &str, inner: &[char]) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphanumeric())
        && chars.all(|c| c.is_ascii_alphanumeric() || inner.contains(&c))
}

/// A network's name.
pub fn is_network(text: &str) -> bool {
    text.len() <= 255 && is_word(text, &['_', '.', '-'])
}

/// A host or domain name.
pub fn is_host_name(text: &str) -> bool {
    text.len() <= 64
        && is_word(text, &['_', '.', '-'])
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// A MAC address.
pub fn is_mac(text: &str) -> bool {
    let pairs: Vec<&str> = text.split(':').collect();
    let pair = |p: &&str| p.len() == 2 && p.chars().all(|c| c.is_ascii_hexdigit());
    pairs.len() == 6 && pairs.iter().all(pair)
}

/// Numbers and ranges, `0-2,4`.
pub fn is_cpu_set(text: &str) -> bool {
    let number = |n: &str| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit());
    let part =
        |part: &str| part.split_once('-').map_or(number(part), |(a, b)| number(a) && number(b));
    text.len() <= 1024 && text.split(',').all(part)
}

/// `OS/ARCHITECTURE[/VARIANT]`.
pub fn is_platform(text: &str) -> bool {
    let word =
        |w: &str| !w.is_empty() && w.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let count = text.split('/').count();
    text.len() <= 64 && (2..=3).contains(&count) && text.split('/').all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_as_go_cleans_them() {
        for (path, cleaned) in [
            ("/", "/"),
            ("/a/", "/a"),
            ("//a/./b//c", "/a/b/c"),
            ("/a/../b", "/b"),
            ("/../a", "/a"),
            ("a/b", "a/b"),
            ("./a", "./a"),
        ] {
            assert_eq!(clean(path), cleaned);
        }
    }

    #[test]
    fn words_are_told_from_what_is_none() {
        assert!(
            is_network("my_net.1-a") && !is_network("-a") && !is_network("") && !is_network("a b")
        );
        assert!(
            is_host_name("mail.example.com")
                && !is_host_name("a-")
                && !is_host_name(&"a".repeat(65))
        );
        assert!(
            is_mac("02:42:ac:11:00:02")
                && !is_mac("02:42:ac:11:00")
                && !is_mac("02-42-ac-11-00-02")
        );
        assert!(is_cpu_set("0-2,4") && !is_cpu_set("0-") && !is_cpu_set(""));
        assert!(
            is_platform("linux/arm64/v8") && !is_platform("linux") && !is_platform("Linux/amd64")
        );
        assert!(is_ip("::1") && !is_ip("") && !is_ip("010.0.0.1") && !is_ip("::ffff:1.2.3.4"));
    }
}
