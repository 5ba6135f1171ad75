//! Values from a structural schema: those that fit it, and those just outside.
//!
//! The expressions of its CEL rules give texts that the rules are likely to accept, so that what is
//! tested gets past the first check. No rule is evaluated.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::string::string_regex;
use regex::Regex;
use serde_json::{Map, Value, json};

/// How close to its schema a value stays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounds {
    Kept,
    /// Of the right types, with any number, text and count.
    Broken,
}

/// Values that fit a schema.
pub fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    node(schema, &[], Bounds::Kept)
}

/// Values of the types that a schema wants, within its bounds and without.
pub fn broken(schema: &Value) -> BoxedStrategy<Value> {
    node(schema, &[], Bounds::Broken)
}

/// `hints` are expressions that rules above the node put on it.
fn node(schema: &Value, hints: &[String], bounds: Bounds) -> BoxedStrategy<Value> {
    if let Some(values) = schema["enum"].as_array() {
        return prop::sample::select(values.clone()).boxed();
    }
    if schema["x-kubernetes-int-or-string"] == json!(true) {
        return prop_oneof![text(schema, hints, bounds), integer(schema, bounds)].boxed();
    }
    match schema["type"].as_str().unwrap() {
        "string" => text(schema, hints, bounds),
        "integer" => integer(schema, bounds),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "array" => list(schema, bounds),
        "object" => object(schema, bounds),
        other => panic!("the generator does not know type {other}"),
    }
}

/// The expressions that a node's rules want its text, its items or its keys to match.
fn expressions(schema: &Value) -> Vec<String> {
    static MATCHES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(!?)\b(?:self|[a-z])(?:[.]upperAscii\(\))?[.]matches\(r?'([^']*)'\)").unwrap()
    });
    let mut found: Vec<String> =
        schema["pattern"].as_str().map(str::to_owned).into_iter().collect();
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let rule = rule["rule"].as_str().unwrap();
        let wanted = MATCHES.captures_iter(rule).filter(|c| c[1].is_empty());
        found.extend(wanted.map(|c| c[2].to_owned()));
        if rule.contains("'host-gateway'") {
            found = vec!["[a-z]{1,4}:(10[.]0[.]0[.][1-9]|::1|host-gateway)".to_owned()];
        } else if rule.contains("isIP(") {
            found.push("10[.]0[.]0[.][1-9]|fe80::[1-9]".to_owned());
        }
    }
    found
}

/// What several grammars take, and what trips a careless reader.
const TEXTS: [&str; 24] = [
    "",
    "/",
    "/data",
    "a",
    "A=",
    "host",
    "none",
    "bridge",
    "container:db",
    "front",
    "512Mi",
    "-1",
    "0",
    "1e3",
    "30s",
    "1ms",
    "CMD",
    "NONE",
    "CMD-SHELL",
    "10.0.0.7",
    "::1",
    "/a:/b:ro",
    "\0",
    "é\n",
];

fn text(schema: &Value, hints: &[String], bounds: Bounds) -> BoxedStrategy<Value> {
    let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX) as usize;
    let anchored = |e: &String| {
        let e = e.strip_prefix('^').unwrap_or(e);
        // Few digits: the greatest number is soon passed.
        let e = e.replace("[0-9]+", "[0-9]{1,3}").replace("[0-9]*", "[0-9]{0,3}");
        string_regex(e.strip_suffix('$').unwrap_or(&e)).ok()
    };
    let wanted: Vec<_> =
        expressions(schema).iter().chain(hints).filter_map(anchored).map(Strategy::boxed).collect();
    // A pattern is part of the structure, and holds for every text that is kept within it.
    if schema["pattern"].is_string() && bounds == Bounds::Kept {
        return prop::strategy::Union::new(wanted).prop_map(Value::from).boxed();
    }
    let any = prop_oneof![
        prop::sample::select(&TEXTS[..]).prop_map(str::to_owned),
        "[a-z]{1,6}",
        ".{0,12}",
    ];
    let all = if wanted.is_empty() {
        any.boxed()
    } else {
        let often = if bounds == Bounds::Kept { 12 } else { 1 };
        prop_oneof![often => prop::strategy::Union::new(wanted), 1 => any].boxed()
    };
    all.prop_map(move |text| match bounds {
        Bounds::Kept => text.chars().take(most).collect::<String>().into(),
        Bounds::Broken => text.into(),
    })
    .boxed()
}

fn integer(schema: &Value, bounds: Bounds) -> BoxedStrategy<Value> {
    let (smallest, greatest) = match schema["format"].as_str() {
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    };
    let said = |keyword: &str| schema[keyword].as_f64().map(|n| n as i64);
    let (least, most) = (said("minimum"), said("maximum"));
    let near = [least, most, Some(0), Some(smallest), Some(greatest)].into_iter().flatten();
    let near: Vec<_> = near.flat_map(|n| [n.saturating_sub(1), n, n.saturating_add(1)]).collect();
    let (low, high) = match bounds {
        Bounds::Kept => (least.unwrap_or(smallest), most.unwrap_or(greatest)),
        Bounds::Broken => (smallest, greatest),
    };
    let near: Vec<_> = near.into_iter().filter(|n| (low..=high).contains(n)).collect();
    let small = low..=high.min(low.saturating_add(100_000));
    prop_oneof![prop::sample::select(near), small, low..=high].prop_map(Value::from).boxed()
}

fn list(schema: &Value, bounds: Bounds) -> BoxedStrategy<Value> {
    let item = node(&schema["items"], &expressions(schema), bounds);
    let least = schema["minItems"].as_u64().unwrap_or_default() as usize;
    let most = schema["maxItems"].as_u64().unwrap_or(u64::MAX) as usize;
    let keys: Option<Vec<String>> = match schema["x-kubernetes-list-type"].as_str() {
        Some("map") => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array().unwrap();
            Some(keys.iter().map(|key| key.as_str().unwrap().to_owned()).collect())
        }
        Some("set") => Some(Vec::new()),
        _ => None,
    };
    let properties = schema["items"]["properties"].clone();
    let identity = move |keys: &[String], item: &Value| -> Vec<Value> {
        let of = |key: &String| item.get(key).unwrap_or(&properties[key]["default"]).clone();
        if keys.is_empty() { vec![item.clone()] } else { keys.iter().map(of).collect() }
    };
    let (size, kept) = match bounds {
        Bounds::Kept => (least..(least.max(1) + 3).min(most.saturating_add(1)), keys),
        Bounds::Broken => (0..5, None),
    };
    prop::collection::vec(item, size)
        .prop_map(move |mut items| {
            if let Some(keys) = &kept {
                let mut seen = Vec::new();
                items.retain(|item| {
                    let one = identity(keys, item);
                    let new = !seen.contains(&one);
                    seen.push(one);
                    new
                });
            }
            items.into()
        })
        .boxed()
}

fn object(schema: &Value, bounds: Bounds) -> BoxedStrategy<Value> {
    let others = &schema["additionalProperties"];
    if others.is_object() {
        let keys = text(&json!({ "type": "string" }), &expressions(schema), bounds);
        let keys = keys.prop_map(|key| key.as_str().unwrap().to_owned());
        let map = prop::collection::btree_map(keys, node(others, &[], bounds), 0..4);
        return map.prop_map(|map| json!(map)).boxed();
    }
    let properties: Vec<_> = schema["properties"].as_object().into_iter().flatten().collect();
    // A few of many: each further field is one more that may go with none of the others.
    let share = (4.0 / f64::from(properties.len().max(1) as u32)).min(0.5);
    let required = |name: &String| {
        schema["required"].as_array().is_some_and(|list| list.contains(&json!(name)))
    };
    let members: Vec<_> = properties
        .into_iter()
        .map(|(name, property)| {
            let value = node(property, &[], bounds);
            let name = name.clone();
            let value = if required(&name) {
                value.prop_map(Some).boxed()
            } else {
                prop::option::weighted(share, value).boxed()
            };
            value.prop_map(move |value| value.map(|value| (name.clone(), value)))
        })
        .collect();
    members.prop_map(|all| all.into_iter().flatten().collect::<Map<_, _>>().into()).boxed()
}
