//! What must be there: leaving it out of an otherwise valid manifest is refused by its path.

use serde_json::Value;

use super::full::variants;
use super::judge::{Answer, Judge};
use super::kind::Kind;
use super::manifest::{get, set};
use super::walk;
use crate::fixture::cluster;

#[tokio::test]
async fn a_required_field_that_is_left_out_is_refused_by_its_path() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("required").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    let required = walk::nodes().into_iter().filter(|n| n.required && n.at.starts_with("spec"));
    let (mut seen, mut faults) = (0, Vec::new());
    for walk::Node { kind, at, .. } in required {
        let found = variants(kind).iter().find(|v| get(&v.manifest, &at).is_some());
        // What no manifest can set, none can leave out.
        let Some(variant) = found else { continue };
        let mut manifest = variant.named("required");
        set(kind, &mut manifest, &at, Value::Null);
        let url = format!("{}?dryRun=All", judge.collection(kind));
        let field = at.replace("[]", "[0]");
        match judge.write("POST", &url, &manifest).await {
            Answer::Refused(422, _, causes)
                if causes.iter().any(|(f, m)| *f == field && m.contains("Required value")) => {}
            Answer::Refused(code, message, _) => {
                faults.push(format!("{kind:?} {at}: {code} {message}"));
            }
            Answer::Accepted(_) => faults.push(format!("{kind:?} {at}: accepted")),
        }
        seen += 1;
    }
    assert!(faults.is_empty(), "{} of {seen}: {faults:#?}", faults.len());
}

#[tokio::test]
async fn every_kind_is_refused_without_a_spec() {
    let cluster = cluster().await;
    let namespace = cluster.namespace("specless").await;
    let judge = Judge::new(cluster.admin(), namespace.name());
    for kind in Kind::ALL {
        let mut manifest = kind.least("specless");
        manifest.as_object_mut().unwrap().remove("spec");
        match judge.write("POST", &judge.collection(*kind), &manifest).await {
            Answer::Refused(422, _, causes) => {
                let wanted = ("spec".to_owned(), "Required value".to_owned());
                assert!(causes.contains(&wanted), "{kind:?}: {causes:?}");
            }
            Answer::Refused(code, message, _) => panic!("{kind:?}: {code} {message}"),
            Answer::Accepted(_) => panic!("a {kind:?} without a spec is accepted"),
        }
    }
}
