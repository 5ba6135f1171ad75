//! A request, taken apart.

use std::collections::BTreeMap;

use serde_json::Value;

use super::answer::{Answer, refusal};

/// One request that the engine got.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub method: String,
    /// Without the version in front.
    pub path: String,
    /// The version in front, as it was written.
    pub version: Option<String>,
    pub query: BTreeMap<String, String>,
    /// Null where there was none, or it was no JSON.
    pub body: Value,
    /// How long the body was.
    pub length: usize,
    /// The header with the registry's credentials.
    pub registry_auth: Option<String>,
}

/// Which of several objects a list is to show.
#[derive(Debug, Default)]
pub struct Filters(BTreeMap<String, Vec<String>>);

impl Call {
    pub fn parse(method: &str, uri: &hyper::Uri, body: &[u8]) -> Self {
        let path = uri.path();
        let (version, path) = match path.strip_prefix("/v").and_then(|rest| rest.split_once('/')) {
            Some((version, rest)) if version.starts_with(|c: char| c.is_ascii_digit()) => {
                (Some(version.to_owned()), format!("/{rest}"))
            }
            _ => (None, path.to_owned()),
        };
        let query = uri.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let query = query.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        Self {
            method: method.to_owned(),
            path: decoded(&path),
            version,
            query: query.map(|(key, value)| (decoded(key), decoded(value))).collect(),
            body: serde_json::from_slice(body).unwrap_or_default(),
            length: body.len(),
            registry_auth: None,
        }
    }

    /// Whether it may change something.
    pub fn is_mutating(&self) -> bool {
        self.method == "POST" || self.method == "DELETE"
    }

    pub fn parameter(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    /// As Docker reads a boolean: all but these is true.
    pub fn flag(&self, name: &str) -> bool {
        !matches!(self.parameter(name).to_lowercase().as_str(), "" | "0" | "no" | "false" | "none")
    }

    /// A number of seconds, maybe negative.
    pub fn seconds(&self, name: &str) -> Result<Option<i64>, Answer> {
        match self.parameter(name) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                refusal(500, format!("strconv.Atoi: parsing \"{text}\": invalid syntax"))
            }),
        }
    }

    /// The body, which has to be JSON.
    pub fn json(&self) -> Result<&Value, Answer> {
        match (self.length, &self.body) {
            (0, _) => Err(refusal(500, "EOF")),
            (_, Value::Null) => Err(refusal(500, "unexpected EOF")),
            (_, body) => Ok(body),
        }
    }

    /// The filters, whose names must be among `known`.
    pub fn filters(&self, known: &[&str]) -> Result<Filters, Answer> {
        let text = self.parameter("filters");
        if text.is_empty() {
            return Ok(Filters::default());
        }
        let value: Value =
            serde_json::from_str(text).map_err(|_| refusal(500, "unexpected end of JSON input"))?;
        let mut filters = BTreeMap::new();
        for (name, wanted) in value.as_object().into_iter().flatten() {
            if !known.contains(&name.as_str()) {
                return Err(refusal(400, format!("Invalid filter '{name}'")));
            }
            let values = match wanted {
                Value::Array(list) => {
                    list.iter().filter_map(Value::as_str).map(Into::into).collect()
                }
                // The form before API 1.22, which engines still read.
                Value::Object(set) => set.keys().cloned().collect(),
                _ => Vec::new(),
            };
            filters.insert(name.clone(), values);
        }
        Ok(Filters(filters))
    }
}

impl Filters {
    pub fn get(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether `judge` takes one of the values, or there are none.
    pub fn any(&self, name: &str, judge: impl Fn(&str) -> bool) -> bool {
        let wanted = self.get(name);
        wanted.is_empty() || wanted.iter().any(|value| judge(value))
    }

    /// Whether all the wanted labels are there: `key` or `key=value`.
    pub fn labels(&self, labels: &Value) -> bool {
        self.get("label").iter().all(|wanted| match wanted.split_once('=') {
            Some((key, value)) => labels[key].as_str() == Some(value),
            None => labels.get(wanted).is_some(),
        })
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (bytes[at], byte) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            (byte, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
