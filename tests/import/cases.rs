//! What people run, recorded: `tests/fixture/docker-run/given.json`.

use kibotos::docker::ApiVersion;
use serde_json::Value;

/// One recorded create call.
pub struct Call {
    /// The case it is of.
    pub case: String,
    /// The client and the API it spoke.
    pub client: &'static str,
    /// That API.
    pub engine: ApiVersion,
    /// The query.
    pub query: String,
    /// The body.
    pub body: Value,
    /// The compose file, where it was one.
    pub compose: Option<String>,
}

const CLIENTS: [(&str, ApiVersion); 3] = [
    ("v141", ApiVersion::v1(41)),
    ("v141_cli28", ApiVersion::v1(41)),
    ("v148", ApiVersion::v1(48)),
];

/// All recorded calls.
pub fn all() -> Vec<Call> {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../fixture/docker-run/given.json")).unwrap();
    assert_eq!(cases.len(), 72);
    let mut calls = Vec::new();
    for case in &cases {
        for (client, engine) in CLIENTS {
            let call = &case["create"][client];
            if call["body"].is_object() {
                calls.push(Call {
                    case: case["id"].as_str().unwrap().to_owned(),
                    client,
                    engine,
                    query: call["query"].as_str().unwrap_or_default().to_owned(),
                    body: call["body"].clone(),
                    compose: case["compose"].as_str().map(str::to_owned),
                });
            }
        }
    }
    calls
}

impl Call {
    /// A member of the query.
    pub fn query(&self, key: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
    }
}
