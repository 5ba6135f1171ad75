//! The objects that a join makes: all that a host's agent may do, as plain RBAC. Pure.

use kube::core::{ApiResource, DynamicObject, GroupVersionKind, ObjectMeta, TypeMeta};
use serde_json::{Value, json};

use crate::api::grammar::HostName;
use crate::api::names::{host_namespace, label};

/// The account that an agent works as, and its Role, in the host namespace; its Lease too.
pub const AGENT: &str = "kibotos-agent";
/// The namespace of the refresh tokens, which no agent can read.
pub const CREDENTIALS_NAMESPACE: &str = "kibotos-credentials";
/// The Role, in the host namespace, to mint tokens.
const MINT: &str = "kibotos-refresh";
const RBAC: &str = "rbac.authorization.k8s.io";

/// The name of a host's refresh account, and of the Secret with its token.
pub fn refresh_account(host: &str) -> String {
    format!("kibotos-refresh-{host}")
}

/// One object, and where it is served.
#[derive(Clone, Debug)]
pub struct Object {
    /// The kind.
    pub resource: ApiResource,
    /// The object.
    pub object: DynamicObject,
}

impl Object {
    /// As kubectl names it: `role.rbac.authorization.k8s.io/kibotos-agent in kibotos-host-a`.
    pub fn title(&self) -> String {
        let (resource, metadata) = (&self.resource, &self.object.metadata);
        let group = match resource.group.as_str() {
            "" => String::new(),
            group => format!(".{group}"),
        };
        let kind = resource.kind.to_lowercase();
        let name = metadata.name.as_deref().unwrap_or_default();
        match metadata.namespace.as_deref() {
            None => format!("{kind}{group}/{name}"),
            Some(namespace) => format!("{kind}{group}/{name} in {namespace}"),
        }
    }
}

/// All of a host, in the order in which they can be made.
pub fn of_host(host: &HostName) -> Vec<Object> {
    let host = host.to_string();
    let mut all = vec![
        // First, for it alone fails where the definitions are not installed.
        object(("kibotos.dev", "v1alpha1", "Host"), None, &host, json!({ "spec": {} })),
        labelled(object(("", "v1", "Namespace"), None, &host_namespace(&host), json!({})), &host),
        object(("", "v1", "Namespace"), None, CREDENTIALS_NAMESPACE, json!({})),
    ];
    let accounts = [agent_account(&host), refresh(&host), refresh_secret(&host)];
    let rights = [agent_rights(&host), host_rights(&host), minting_rights(&host)];
    let rest = accounts.into_iter().chain(rights.into_iter().flatten());
    all.extend(rest.map(|object| labelled(object, &host)));
    all
}

fn agent_account(host: &str) -> Object {
    // No pod runs as it; one that did should not get a token unasked.
    let body = json!({ "automountServiceAccountToken": false });
    object(("", "v1", "ServiceAccount"), Some(&host_namespace(host)), AGENT, body)
}

fn refresh(host: &str) -> Object {
    let body = json!({ "automountServiceAccountToken": false });
    let name = refresh_account(host);
    object(("", "v1", "ServiceAccount"), Some(CREDENTIALS_NAMESPACE), &name, body)
}

/// Kubernetes fills it with a token that lasts until the Secret or the account is deleted.
fn refresh_secret(host: &str) -> Object {
    let name = refresh_account(host);
    let body = json!({ "type": "kubernetes.io/service-account-token" });
    let mut secret = object(("", "v1", "Secret"), Some(CREDENTIALS_NAMESPACE), &name, body);
    let annotation = ("kubernetes.io/service-account.name".to_owned(), name);
    secret.object.metadata.annotations = Some([annotation].into());
    secret
}

fn agent_rights(host: &str) -> [Object; 2] {
    let namespace = host_namespace(host);
    let rules = json!([
        rule(&["kibotos.dev"], &["workspaceruns", "volumetasks"], &["get", "list", "watch"]),
        rule(&["kibotos.dev"], &["workspaceruns/status", "volumetasks/status"], &["patch"]),
        rule(&[""], &["secrets"], &["get", "list", "watch"]),
        named(rule(&["coordination.k8s.io"], &["leases"], &["get", "create", "patch"]), AGENT),
        rule(&["", "events.k8s.io"], &["events"], &["create", "patch"]),
    ]);
    pair("Role", Some(&namespace), AGENT, &rules, (&namespace, AGENT))
}

fn host_rights(host: &str) -> [Object; 2] {
    let rules = json!([
        // A list or watch needs the field selector metadata.name=HOST.
        named(rule(&["kibotos.dev"], &["hosts"], &["get", "list", "watch"]), host),
        named(rule(&["kibotos.dev"], &["hosts/status"], &["patch"]), host),
    ]);
    let name = format!("kibotos-agent-{host}");
    pair("ClusterRole", None, &name, &rules, (&host_namespace(host), AGENT))
}

fn minting_rights(host: &str) -> [Object; 2] {
    let rules = json!([named(rule(&[""], &["serviceaccounts/token"], &["create"]), AGENT)]);
    let account = refresh_account(host);
    let subject = (CREDENTIALS_NAMESPACE, account.as_str());
    pair("Role", Some(&host_namespace(host)), MINT, &rules, subject)
}

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({ "apiGroups": groups, "resources": resources, "verbs": verbs })
}

fn named(mut rule: Value, name: &str) -> Value {
    rule["resourceNames"] = json!([name]);
    rule
}

/// A role and the binding that gives it to one account, of one name.
fn pair(
    kind: &str,
    namespace: Option<&str>,
    name: &str,
    rules: &Value,
    (account_namespace, account): (&str, &str),
) -> [Object; 2] {
    let binding = json!({
        "roleRef": { "apiGroup": RBAC, "kind": kind, "name": name },
        "subjects": [
            { "kind": "ServiceAccount", "namespace": account_namespace, "name": account },
        ],
    });
    [
        object((RBAC, "v1", kind), namespace, name, json!({ "rules": rules })),
        object((RBAC, "v1", &format!("{kind}Binding")), namespace, name, binding),
    ]
}

fn object(
    (group, version, kind): (&str, &str, &str),
    namespace: Option<&str>,
    name: &str,
    data: Value,
) -> Object {
    let kind = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk(&kind);
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        ..ObjectMeta::default()
    };
    let types = TypeMeta { api_version: resource.api_version.clone(), kind: kind.kind };
    Object { resource, object: DynamicObject { types: Some(types), metadata, data } }
}

/// By this label all that belongs to one host is found.
fn labelled(mut object: Object, host: &str) -> Object {
    object.object.metadata.labels = Some([(label::HOST_NAME.to_owned(), host.to_owned())].into());
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_a() -> Vec<Object> {
        of_host(&"a".parse().unwrap())
    }

    fn find(kind: &str, namespace: Option<&str>, name: &str) -> Value {
        let found: Vec<_> = of_a()
            .into_iter()
            .filter(|o| {
                let metadata = &o.object.metadata;
                o.resource.kind == kind
                    && metadata.namespace.as_deref() == namespace
                    && metadata.name.as_deref() == Some(name)
            })
            .collect();
        assert_eq!(found.len(), 1, "{kind} {namespace:?} {name}");
        serde_json::to_value(&found[0].object).unwrap()
    }

    fn yaml(text: &str) -> Value {
        serde_saphyr::from_str(text).unwrap()
    }

    #[test]
    fn the_agent_may_do_in_its_namespace_what_its_work_needs_and_no_more() {
        let rules = yaml(
            "
- {apiGroups: [kibotos.dev], resources: [workspaceruns, volumetasks], verbs: [get, list, watch]}
- {apiGroups: [kibotos.dev], resources: [workspaceruns/status, volumetasks/status], verbs: [patch]}
- {apiGroups: [''], resources: [secrets], verbs: [get, list, watch]}
- {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [kibotos-agent], verbs: [get, create, patch]}
- {apiGroups: ['', events.k8s.io], resources: [events], verbs: [create, patch]}
",
        );
        assert_eq!(find("Role", Some("kibotos-host-a"), "kibotos-agent")["rules"], rules);
        let binding = find("RoleBinding", Some("kibotos-host-a"), "kibotos-agent");
        assert_eq!(binding["roleRef"]["kind"], "Role");
        assert_eq!(binding["roleRef"]["name"], "kibotos-agent");
        assert_eq!(
            binding["subjects"],
            yaml("[{kind: ServiceAccount, namespace: kibotos-host-a, name: kibotos-agent}]")
        );
    }

    #[test]
    fn the_agent_may_read_its_own_host_and_report_on_it() {
        let rules = yaml(
            "
- {apiGroups: [kibotos.dev], resources: [hosts], resourceNames: [a], verbs: [get, list, watch]}
- {apiGroups: [kibotos.dev], resources: [hosts/status], resourceNames: [a], verbs: [patch]}
",
        );
        assert_eq!(find("ClusterRole", None, "kibotos-agent-a")["rules"], rules);
        let binding = find("ClusterRoleBinding", None, "kibotos-agent-a");
        assert_eq!(binding["roleRef"]["kind"], "ClusterRole");
        assert_eq!(
            binding["subjects"],
            yaml("[{kind: ServiceAccount, namespace: kibotos-host-a, name: kibotos-agent}]")
        );
    }

    #[test]
    fn the_refresh_account_may_mint_tokens_for_the_agent_and_nothing_else() {
        let rules = yaml(
            "[{apiGroups: [''], resources: [serviceaccounts/token], resourceNames: [kibotos-agent], verbs: [create]}]",
        );
        assert_eq!(find("Role", Some("kibotos-host-a"), "kibotos-refresh")["rules"], rules);
        let binding = find("RoleBinding", Some("kibotos-host-a"), "kibotos-refresh");
        assert_eq!(
            binding["subjects"],
            yaml(
                "[{kind: ServiceAccount, namespace: kibotos-credentials, name: kibotos-refresh-a}]"
            )
        );
        let named = |o: &Object| o.object.data.to_string().contains("kibotos-refresh-a");
        assert_eq!(of_a().iter().filter(|o| named(o)).count(), 1, "bound once");
    }

    #[test]
    fn the_refresh_token_is_a_secret_that_kubernetes_fills() {
        let secret = find("Secret", Some("kibotos-credentials"), "kibotos-refresh-a");
        assert_eq!(secret["type"], "kubernetes.io/service-account-token");
        let annotations = yaml("{kubernetes.io/service-account.name: kibotos-refresh-a}");
        assert_eq!(secret["metadata"]["annotations"], annotations);
        find("ServiceAccount", Some("kibotos-credentials"), "kibotos-refresh-a");
    }

    #[test]
    fn the_host_its_namespace_and_its_agents_account() {
        let host = find("Host", None, "a");
        assert_eq!(host["apiVersion"], "kibotos.dev/v1alpha1");
        assert_eq!(host["spec"], json!({}), "what an admin declares of it stays the admin's");
        let namespace = find("Namespace", None, "kibotos-host-a");
        assert_eq!(namespace["metadata"]["labels"], json!({ "kibotos.dev/host": "a" }));
        find("Namespace", None, "kibotos-credentials");
        let account = find("ServiceAccount", Some("kibotos-host-a"), "kibotos-agent");
        assert_eq!(account["automountServiceAccountToken"], json!(false));
        assert_eq!(of_a().len(), 12, "there is nothing else");
    }

    #[test]
    fn the_longest_host_name_makes_names_that_kubernetes_takes() {
        let host = "h".repeat(HostName::MAX_CHARS);
        for object in of_host(&host.parse().unwrap()) {
            assert!(object.object.metadata.name.unwrap().len() <= 253);
            assert!(object.object.metadata.namespace.unwrap_or_default().len() <= 63);
        }
    }
}
