//! What is read, and what is a fault.

use serde_json::json;

use super::*;

#[track_caller]
fn one(text: &str) -> Value {
    let [read] = read(text, false).try_into().unwrap();
    assert_eq!(read.faults, []);
    read.value
}

fn faults(text: &str) -> Vec<(usize, usize, String, String)> {
    let found = read(text, false).into_iter().flat_map(|read| read.faults);
    found.map(|f| (f.line, f.column, f.path, f.message)).collect()
}

#[test]
fn a_key_that_kubernetes_reads_as_another_takes_quotes() {
    // What `kubectl label --local -o json` (1.36) made of them: 1, true, false, 15.
    let text = "{1: a, y: b, n: c, 017: d, 'on': e}";
    let read_as: Vec<_> = faults(text).into_iter().map(|fault| (fault.2, fault.3)).collect();
    let told = |key: &str, read: &str| {
        (key.to_owned(), format!("Kubernetes reads this key as {read}: put it in quotes"))
    };
    assert_eq!(read_as, [told("y", "true"), told("n", "false"), told("017", "15")]);
}

#[test]
fn a_map_is_merged_under_what_stands_in_it() {
    let text =
        "base: &b {x: 1, z: 2}\na: {<<: *b, z: 3}\nb: {z: 3, <<: [*b]}\nc: {<<: *b, x: null}\n";
    assert_eq!(
        one(text),
        json!({
            "base": { "x": 1, "z": 2 },
            "a": { "x": 1, "z": 3 },
            "b": { "x": 1, "z": 3 },
            "c": { "z": 2 },
        })
    );
}

#[test]
fn tags_say_what_a_scalar_is() {
    assert_eq!(one("[!!str 1, !!int '5', ! 1, !mine x]"), json!(["1", 5, "1", "x"]));
}

#[test]
fn every_fault_has_its_place_and_hides_no_other() {
    let text =
        "a: 1\na: 2\nb:\n  c: .inf\n  c: null\n[x]: 1\n---\nd: [1,\n---\ne: *gone\n---\nf: 1\n";
    let found = faults(text);
    let told: Vec<_> = found.iter().map(|(l, c, p, m)| (*l, *c, p.as_str(), m.as_str())).collect();
    assert_eq!(
        told[..4],
        [
            (2, 1, "a", "stands twice: leave one of the two out"),
            (4, 6, "b.c", "must be finite: write a number"),
            (5, 3, "b.c", "stands twice: leave one of the two out"),
            (6, 1, "", "a key must be a text: put it in quotes"),
        ]
    );
    assert_eq!((told[4].0, told[5].0), (8, 10), "{told:?}");
    assert_eq!(read(text, false).last().unwrap().value, json!({ "f": 1 }));
}

#[test]
fn what_aliases_blow_a_text_up_to_is_bounded() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        let before = format!("*a{}", i - 1);
        writeln!(text, "a{i}: &a{i} [{}]", vec![before; 10].join(", ")).unwrap();
    }
    assert!(faults(&text)[0].3.contains("aliases make more"));
    let mut deep = "a0: &a0 [x]\n".to_owned();
    for i in 1..5_000 {
        writeln!(deep, "a{i}: &a{i} [*a{}]", i - 1).unwrap();
    }
    assert!(faults(&deep)[0].3.contains("nested too deep"));
    assert!(faults(&"[".repeat(10_000))[0].3.contains("nested too deep"));
    assert!(faults("a: &a [*a]\n")[0].3.contains("within what it names"));
}

#[test]
fn a_syntax_error_speaks_plainly() {
    for (text, message) in [
        ("a: *b\n", "begins with * takes quotes"),
        ("a:\n\t- b\n", "a tab cannot indent"),
        ("a: @b\n", "begins with @ takes quotes"),
        ("a: 'b\n", "never closed"),
        ("a: {b: 1\n", "never closed"),
        ("a: \"\\d\"\n", "no such escape"),
    ] {
        let told = faults(text);
        assert!(told.iter().any(|fault| fault.3.contains(message)), "{text}: {told:?}");
        assert!(told.iter().all(|fault| fault.0 >= 1 && fault.1 >= 1), "{text}: {told:?}");
    }
}
