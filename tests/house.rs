//! The rules of the house that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

/// Every source file of a folder, or the one file, with its text, but for the tests beside the code.
fn sources(below: &str) -> Vec<(PathBuf, String)> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    let below = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(below);
    if below.is_dir() {
        walk(&below, &mut found);
    } else {
        found.push(below);
    }
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap().to_owned();
        (path, code)
    };
    let is_test = |path: &Path| path.iter().any(|part| part == "tests" || part == "tests.rs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let inside = |path: &PathBuf| !is_test(path.strip_prefix(root).unwrap());
    found.into_iter().filter(inside).map(read).collect()
}

#[track_caller]
fn none_has(below: &str, words: &[&str]) {
    let files = sources(below);
    assert!(!files.is_empty(), "nothing below src/{below}");
    for (path, code) in files {
        let code: Vec<_> = code.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        for word in words {
            assert!(!code.iter().any(|line| line.contains(word)), "{}: {word}", path.display());
        }
    }
}

const EFFECTS: [&str; 12] = [
    "tokio",
    "kube::Client",
    "kube::Api",
    "kube::client",
    "bollard",
    "std::fs",
    "std::net::Tcp",
    "std::process",
    "::now()",
    "std::env",
    "Instant",
    "SystemTime",
];

#[test]
fn what_decides_is_pure() {
    for below in [
        "api",
        "docker",
        "schema",
        "controller/workspace",
        "agent/container",
        "agent/fault.rs",
        "agent/intent.rs",
        "agent/lifecycle",
        "agent/policy",
        "agent/status.rs",
        "import",
    ] {
        none_has(below, &EFFECTS);
    }
}

#[test]
fn controller_and_agent_meet_in_the_api_alone() {
    none_has("controller", &["crate::agent", "crate::cli", "super::super::agent"]);
    none_has("agent", &["crate::controller", "crate::cli", "super::super::controller"]);
}

#[test]
fn imports_run_one_way() {
    none_has("api", &["crate::agent", "crate::controller", "crate::cli", "crate::runtime"]);
    none_has("docker", &["crate::api", "crate::agent", "crate::controller", "crate::cli"]);
    none_has("runtime", &["crate::api", "crate::agent", "crate::controller", "crate::cli"]);
    none_has(
        "engine",
        &["crate::api", "crate::agent", "crate::controller", "crate::cli", "crate::runtime"],
    );
    none_has("schema", &["crate::agent", "crate::controller", "crate::cli"]);
}

#[test]
fn no_module_is_a_drawer_for_everything() {
    for (path, _) in sources("") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            !["util", "utils", "common", "helper", "helpers", "misc"].contains(&name),
            "{path:?}"
        );
    }
}
