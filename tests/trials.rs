//! That `tests/trials.md` is complete, and that the tests it names exist.

use std::{collections::BTreeMap, fs, path::Path};

use regex::Regex;

/// The numbers of the list.
const NUMBERS: [u16; 64] = [
    1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17, 19, 20, 22, 23, 25, 26, 28, 29, 31, 32, 34, 35, 37,
    38, 40, 41, 43, 44, 46, 47, 49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65, 67, 68, 70, 71, 73,
    74, 76, 77, 79, 80, 82, 83, 85, 86, 88, 89, 91, 92, 94, 95,
];
/// So many may be left out, each with its reason.
const MOST_LEFT_OUT: usize = 5;

struct Trial {
    number: u16,
    words: String,
    tests: Vec<String>,
}

/// The trials of each section, by its heading.
fn sections() -> BTreeMap<String, Vec<Trial>> {
    let text = include_str!("trials.md");
    let trial = Regex::new(r"^- T(\d{3}) (.+)$").unwrap();
    let named = Regex::new(r"^  - `([\w:]+)`$").unwrap();
    let mut sections = BTreeMap::new();
    for section in text.split("\n## ").skip(1) {
        let (heading, body) = section.split_once('\n').unwrap();
        let mut trials: Vec<Trial> = Vec::new();
        for line in body.lines().filter(|line| !line.is_empty()) {
            if let Some(found) = trial.captures(line) {
                let (number, words) = (found[1].parse().unwrap(), found[2].to_owned());
                trials.push(Trial { number, words, tests: Vec::new() });
            } else {
                let found = named.captures(line).unwrap_or_else(|| panic!("what is this: {line}"));
                trials.last_mut().unwrap().tests.push(found[1].to_owned());
            }
        }
        assert!(sections.insert(heading.to_owned(), trials).is_none(), "{heading} stands twice");
    }
    sections
}

/// Whether a test of that path exists.
fn exists(path: &str) -> bool {
    let parts: Vec<_> = path.split("::").collect();
    let (name, module) = parts.split_last().unwrap();
    let inline = module.strip_suffix(&["tests"]).unwrap_or(module);
    let files = [module, inline].map(|module| module.join("/"));
    let files = files.iter().flat_map(|file| [format!("{file}.rs"), format!("{file}/mod.rs")]);
    let declared = Regex::new(&format!(
        r"#\[(?:tokio::)?test(?:\([^\]]*\))?\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn {name}\("
    ));
    let declared = declared.unwrap();
    files.into_iter().any(|file| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        fs::read_to_string(file).is_ok_and(|text| declared.is_match(&text))
    })
}

#[test]
fn every_trial_of_the_list_stands_in_the_table_once_and_in_order() {
    let sections = sections();
    let mut all: Vec<_> = sections.values().flatten().map(|trial| trial.number).collect();
    all.sort_unstable();
    assert_eq!(all, NUMBERS);
    for (heading, trials) in &sections {
        assert!(trials.is_sorted_by_key(|trial| trial.number), "{heading}");
    }
}

#[test]
fn every_trial_of_agent_and_translation_names_tests_that_exist() {
    let sections = sections();
    let trials = &sections["Agent and translation"];
    let bare: Vec<_> = trials.iter().filter(|t| t.tests.is_empty()).map(|t| t.number).collect();
    assert!(bare.is_empty(), "without a test: {bare:?}");
    let named = trials.iter().flat_map(|trial| &trial.tests);
    let missing: Vec<_> = named.filter(|test| !exists(test)).collect();
    assert!(missing.is_empty(), "there is no {missing:#?}");
    assert!(!exists("src::agent::fault::tests::nobody_wrote_this"));
}

#[test]
fn what_is_left_out_says_why() {
    let sections = sections();
    let out = &sections["Left out"];
    assert!(out.len() <= MOST_LEFT_OUT, "{} are left out", out.len());
    for trial in out.iter().chain(&sections["With later parts"]) {
        let words = trial.words.split(' ').count();
        assert!(words >= 5 && trial.tests.is_empty(), "T{:03} {}", trial.number, trial.words);
    }
}
