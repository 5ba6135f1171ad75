//! Networks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::EndpointSettings;

/// One network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[allow(missing_docs, reason = "the members are Docker's, which documents them")]
pub struct Network {
    pub name: String,
    pub id: String,
    pub created: String,
    pub driver: String,
    pub scope: String,
    pub internal: bool,
    pub labels: BTreeMap<String, String>,
    pub options: BTreeMap<String, String>,
}

/// The body of `POST /networks/ID/connect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct NetworkConnect<'a> {
    /// The container's id.
    pub container: &'a str,
    /// What it is to be there.
    pub endpoint_config: &'a EndpointSettings,
}
