//! Shows manifests to the API server.

use std::collections::BTreeSet;
use std::fmt::Write;

use futures::{StreamExt, stream};
use http::Request;
use kube::Client;
use serde_json::Value;

use super::kind::Kind;
use super::manifest::set;
use super::pair::{Case, Fields, Pair};
use super::{pairs, walk};
use crate::fixture::cluster;

/// How many requests are under way at once.
const AT_ONCE: usize = 16;

/// What the API server said to one write.
pub enum Answer {
    Accepted(Value),
    /// Code, message, and each cause with its field.
    Refused(u16, String, Vec<(String, String)>),
}

/// The API server as one test uses it: a namespace of its own, strict validation.
pub struct Judge {
    client: Client,
    namespace: String,
}

impl Judge {
    pub fn new(client: Client, namespace: &str) -> Self {
        Self { client, namespace: namespace.to_owned() }
    }

    pub fn collection(&self, kind: Kind) -> String {
        let plural = kind.plural();
        if kind.namespaced() {
            format!("/apis/kibotos.dev/v1alpha1/namespaces/{}/{plural}", self.namespace)
        } else {
            format!("/apis/kibotos.dev/v1alpha1/{plural}")
        }
    }

    pub async fn write(&self, method: &str, url: &str, body: &Value) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!(
                "{url}{}fieldValidation=Strict",
                if url.contains('?') { '&' } else { '?' }
            ))
            .header("content-type", "application/json")
            .body(serde_json::to_vec(body).unwrap())
            .unwrap();
        match self.client.request::<Value>(request).await {
            Ok(object) => Answer::Accepted(object),
            Err(kube::Error::Api(status)) => {
                let causes = status.details.iter().flat_map(|d| &d.causes);
                let causes = causes.map(|c| (c.field.clone(), c.message.clone())).collect();
                Answer::Refused(status.code, status.message.clone(), causes)
            }
            Err(error) => panic!("{method} {url}: {error}"),
        }
    }

    /// Creates an object that has a life of its own, for what follows.
    pub async fn create(&self, kind: Kind, manifest: &Value) -> Value {
        match self.write("POST", &self.collection(kind), manifest).await {
            Answer::Accepted(object) => object,
            Answer::Refused(code, message, _) => panic!("{code} {message}\n{manifest:#}"),
        }
    }

    /// What the API server says to a case; nothing is left of it but what came before.
    pub async fn case(&self, kind: Kind, tag: &str, case: &Case) -> Answer {
        let with = |fields: &Fields| {
            let mut manifest = kind.least(tag);
            for (at, value) in fields {
                set(kind, &mut manifest, at, value.clone());
            }
            manifest
        };
        let in_status = case.set.iter().any(|(at, _)| at.starts_with("status."));
        if case.before.is_none() && !in_status {
            let url = format!("{}?dryRun=All", self.collection(kind));
            return self.write("POST", &url, &with(&case.set)).await;
        }
        let mut object = self.create(kind, &with(case.before.as_ref().unwrap_or(&vec![]))).await;
        for (at, value) in &case.set {
            set(kind, &mut object, at, value.clone());
        }
        let name = object["metadata"]["name"].as_str().unwrap();
        let part = if in_status { "/status" } else { "" };
        let url = format!("{}/{name}{part}?dryRun=All", self.collection(kind));
        self.write("PUT", &url, &object).await
    }

    /// What is wrong with a pair on one kind; empty when nothing is.
    async fn faults(&self, number: usize, pair: &Pair, kind: Kind) -> String {
        let mut faults = String::new();
        let label = format!("{kind:?} {} {:?}", pair.at, pair.bound);
        for (i, case) in pair.refused.iter().enumerate() {
            match self.case(kind, &format!("p{number}-r{i}"), case).await {
                Answer::Accepted(_) => writeln!(faults, "{label}: accepted: {:?}", case.set),
                Answer::Refused(422, _, causes)
                    if causes.iter().any(|(field, message)| {
                        *field == pair.field && message.contains(&pair.message)
                    }) =>
                {
                    Ok(())
                }
                Answer::Refused(code, message, causes) => writeln!(
                    faults,
                    "{label}: wanted {} at {}, got {code} {message} {causes:?}",
                    pair.message, pair.field
                ),
            }
            .unwrap();
        }
        for (i, case) in pair.accepted.iter().enumerate() {
            if let Answer::Refused(code, message, _) =
                self.case(kind, &format!("p{number}-a{i}"), case).await
            {
                writeln!(faults, "{label}: refused at its bound: {code} {message}").unwrap();
            }
        }
        faults
    }
}

#[test]
fn every_constraint_has_a_pair() {
    let found = walk::constraints();
    let paired: BTreeSet<_> =
        pairs::all().iter().flat_map(|p| p.constraints().collect::<Vec<_>>()).collect();
    let without_pair: Vec<_> = found.difference(&paired).collect();
    let without_constraint: Vec<_> = paired.difference(&found).collect();
    assert!(
        without_pair.is_empty(),
        "{} constraints without a pair: {without_pair:#?}",
        without_pair.len()
    );
    assert!(without_constraint.is_empty(), "pairs without a constraint: {without_constraint:#?}");
    for pair in pairs::all() {
        assert!(!pair.refused.is_empty(), "{} {:?} refuses nothing", pair.at, pair.bound);
        assert!(!pair.accepted.is_empty(), "{} {:?} accepts nothing", pair.at, pair.bound);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_constraint_refuses_and_accepts_what_its_pair_says() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("pairs").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let pairs = pairs::all();
    let work = pairs.iter().enumerate();
    let work = work.flat_map(|(n, pair)| pair.kinds.iter().map(move |&kind| (n, pair, kind)));
    let faults: Vec<String> = stream::iter(work)
        .map(|(number, pair, kind)| judge.faults(number, pair, kind))
        .buffer_unordered(AT_ONCE)
        .filter(|faults| std::future::ready(!faults.is_empty()))
        .collect()
        .await;
    assert!(faults.is_empty(), "{} of {} pairs:\n{}", faults.len(), pairs.len(), faults.concat());
}
