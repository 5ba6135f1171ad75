//! The logins of pull Secrets, and which of them a registry is shown.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::HeaderValue;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::api::grammar::ImageReference;

/// As Secrets are written by hand, with and without the `=` at the end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What Docker Hub is called.
const DOCKER_HUB: [&str; 4] =
    ["docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"];

/// The logins of one or several `.dockerconfigjson`. Shows no secret in its `Debug`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keyring(Vec<(Scope, Login)>);

/// For which images a login is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Scope {
    /// Each label may have `*` and `?`, which never match a `.`.
    host: String,
    port: String,
    /// What the repository must begin with.
    path: String,
}

/// A login. Shows no secret in its `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    username: String,
    password: String,
    identity_token: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    auths: Option<BTreeMap<String, Option<Entry>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    #[serde(rename = "identitytoken")]
    identity_token: Option<String>,
}

impl Keyring {
    /// Reads a `.dockerconfigjson`. The error names what is wrong and no secret.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        // The words of a parser may quote what it read.
        let file: File = serde_json::from_slice(text).map_err(|error| {
            format!(
                ".dockerconfigjson is not readable at line {}, column {}: write \
                 {{\"auths\":{{\"registry.example.com\":{{\"username\":…,\"password\":…}}}}}}",
                error.line(),
                error.column(),
            )
        })?;
        let mut logins = Vec::new();
        for (registry, entry) in file.auths.unwrap_or_default() {
            let entry = entry.unwrap_or_default();
            if let Some(login) = login(entry).map_err(|wrong| {
                format!(".dockerconfigjson: auths[{:?}]: {wrong}", without_user(&registry))
            })? {
                logins.push((scope(&registry), login));
            }
        }
        Ok(Self(logins))
    }

    /// Adds what another Secret has; its logins come after these for the same scope.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The logins for an image in the order to try: the longest path first, and a host in full
    /// before one with wildcards. None: it is pulled without.
    pub fn logins(&self, image: &ImageReference) -> Vec<Login> {
        let mut found: Vec<_> =
            self.0.iter().filter(|(scope, _)| scope.covers(image)).collect::<Vec<_>>();
        found.sort_by_key(|(scope, _)| {
            (usize::MAX - scope.path.len(), scope.host.contains(['*', '?']))
        });
        let mut logins: Vec<Login> = Vec::new();
        for (_, login) in found {
            if !logins.contains(login) {
                logins.push(login.clone());
            }
        }
        logins
    }
}

impl Login {
    /// The value of `X-Registry-Auth`. An engine shows the login to no other registry than the
    /// image's.
    pub fn header(&self, image: &ImageReference) -> Option<HeaderValue> {
        let server = match image.registry() {
            "docker.io" => "https://index.docker.io/v1/",
            registry => registry,
        };
        let config = if self.identity_token.is_empty() {
            json!({
                "username": self.username, "password": self.password, "serveraddress": server,
            })
        } else {
            json!({
                "username": self.username, "identitytoken": self.identity_token,
                "serveraddress": server,
            })
        };
        let mut value = HeaderValue::try_from(URL_SAFE.encode(config.to_string())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Tells logins apart without keeping them.
pub fn fingerprint(logins: &[Login]) -> String {
    let mut hash = Sha256::new();
    for login in logins {
        for part in [&login.username, &login.password, &login.identity_token] {
            hash.update(part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.finalize()
        .iter()
        .take(16)
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn login(entry: Entry) -> Result<Option<Login>, &'static str> {
    let mut login = Login {
        username: entry.username.unwrap_or_default(),
        password: entry.password.unwrap_or_default(),
        identity_token: entry.identity_token.unwrap_or_default(),
    };
    if let Some(auth) = entry.auth.filter(|auth| !auth.is_empty()) {
        let wrong = "auth must be user:password in base64";
        let decoded = BASE64.decode(auth.trim()).map_err(|_| wrong)?;
        let decoded = String::from_utf8(decoded).map_err(|_| wrong)?;
        let (username, password) = decoded.split_once(':').ok_or(wrong)?;
        username.clone_into(&mut login.username);
        password.trim_end_matches('\0').clone_into(&mut login.password);
    }
    let empty = login.identity_token.is_empty() && login.username.is_empty();
    Ok((!empty).then_some(login))
}

/// `[scheme://]host[:port][/v1|/v2][/path]`.
fn scope(registry: &str) -> Scope {
    let text = without_user(registry);
    let text = text.split_once("://").map_or(&*text, |(_, rest)| rest);
    let (authority, path) = text.split_once('/').unwrap_or((text, ""));
    // The paths of the registry protocol are not those of a repository.
    let path = match path.split_once('/') {
        Some(("v1" | "v2", rest)) => rest,
        None if matches!(path, "v1" | "v2") => "",
        _ => path,
    };
    let (host, port) = split_port(authority);
    let host = host.to_ascii_lowercase();
    let hub = DOCKER_HUB.contains(&host.as_str());
    Scope {
        host: if hub { "docker.io".to_owned() } else { host },
        port: port.to_owned(),
        path: path.trim_end_matches('/').to_owned(),
    }
}

/// No one should write a login there, but then no message must show it.
fn without_user(registry: &str) -> String {
    let (scheme, rest) = registry.split_once("://").map_or(("", registry), |(s, r)| (s, r));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

fn split_port(authority: &str) -> (&str, &str) {
    authority.rsplit_once(':').unwrap_or((authority, ""))
}

impl Scope {
    /// As Kubernetes matches: label by label, the port exactly, the path as the beginning.
    fn covers(&self, image: &ImageReference) -> bool {
        let (host, port) = split_port(image.registry());
        let host = host.to_ascii_lowercase();
        let (ours, theirs): (Vec<_>, Vec<_>) =
            (self.host.split('.').collect(), host.split('.').collect());
        self.port == port
            && ours.len() == theirs.len()
            && ours
                .iter()
                .zip(&theirs)
                .all(|(glob, label)| matches(glob.as_bytes(), label.as_bytes()))
            && image.repository().starts_with(&self.path)
    }
}

/// `*` is any number of characters, `?` is one.
fn matches(glob: &[u8], text: &[u8]) -> bool {
    match (glob, text) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|taken| matches(rest, &text[taken..])),
        ([b'?', rest @ ..], [_, text @ ..]) => matches(rest, text),
        ([first, rest @ ..], [same, text @ ..]) if first == same => matches(rest, text),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyring(json: serde_json::Value) -> Keyring {
        Keyring::parse(json.to_string().as_bytes()).unwrap()
    }

    /// A login for each registry, named after it.
    fn each(registries: &[&str]) -> Keyring {
        let auths: serde_json::Map<_, _> = registries
            .iter()
            .map(|&name| (name.to_owned(), json!({ "username": name, "password": "p" })))
            .collect();
        keyring(json!({ "auths": auths }))
    }

    fn users(keyring: &Keyring, image: &str) -> Vec<String> {
        keyring.logins(&image.parse().unwrap()).into_iter().map(|login| login.username).collect()
    }

    // From Kubernetes' documentation of image pull secrets, and its keyring tests.
    #[test]
    fn a_login_is_for_the_registries_that_kubernetes_means() {
        for (registry, image, covered) in [
            ("registry.example.com", "registry.example.com/app:1", true),
            ("https://registry.example.com", "registry.example.com/a/b", true),
            ("http://registry.example.com/v2/", "registry.example.com/a", true),
            ("https://registry.example.com/v1", "registry.example.com/a", true),
            ("REGISTRY.example.com", "registry.example.com/a", true),
            ("registry.example.com", "registry.example.com:5000/a", false),
            ("registry.example.com:5000", "registry.example.com:5000/a", true),
            ("registry.example.com:5000", "registry.example.com/a", false),
            ("*.example.com", "registry.example.com/a", true),
            ("*.example.com", "example.com/a", false),
            ("*.example.com", "a.b.example.com/a", false),
            ("*.*.example.com", "a.b.example.com/a", true),
            ("reg*.example.com", "registry.example.com/a", true),
            ("?egistry.example.com", "registry.example.com/a", true),
            ("registry.example.com/team", "registry.example.com/team/app", true),
            ("registry.example.com/team", "registry.example.com/other/app", false),
            ("registry.example.com/v2/team", "registry.example.com/team/app", true),
            ("https://index.docker.io/v1/", "nginx", true),
            ("https://index.docker.io/v1/", "docker.io/team/app:1", true),
            ("docker.io", "team/app", true),
            ("registry-1.docker.io", "team/app", true),
            ("docker.io/team", "team/app", true),
            ("docker.io/team", "nginx", false),
            ("index.docker.io", "ghcr.io/a/b", false),
            ("localhost:5000", "localhost:5000/app", true),
            ("10.0.0.1", "10.0.0.1/app", true),
            ("", "nginx", false),
        ] {
            assert_eq!(!users(&each(&[registry]), image).is_empty(), covered, "{registry} {image}");
        }
    }

    #[test]
    fn the_longest_path_comes_first_and_a_wildcard_last() {
        let keyring = each(&["*.io", "ghcr.io", "ghcr.io/team", "ghcr.io/team/app", "ghcr.io/x"]);
        let expected = ["ghcr.io/team/app", "ghcr.io/team", "ghcr.io", "*.io"];
        assert_eq!(users(&keyring, "ghcr.io/team/app:1"), expected);

        let mut two = each(&["ghcr.io"]);
        two.extend(keyring_of("ghcr.io", "second"));
        two.extend(keyring_of("ghcr.io", "second"));
        assert_eq!(users(&two, "ghcr.io/a"), ["ghcr.io", "second"]);
    }

    fn keyring_of(registry: &str, user: &str) -> Keyring {
        keyring(json!({ "auths": { registry: { "username": user, "password": "p" } } }))
    }

    #[test]
    fn a_login_is_given_in_any_of_dockers_ways() {
        // base64 of kim:pass:word
        for (entry, expected) in [
            (
                json!({ "auth": "a2ltOnBhc3M6d29yZA==" }),
                json!({ "username": "kim", "password": "pass:word" }),
            ),
            (
                json!({ "auth": "a2ltOnBhc3M6d29yZA" }),
                json!({ "username": "kim", "password": "pass:word" }),
            ),
            (
                json!({ "auth": "a2ltOnBhc3M6d29yZA==", "username": "x", "password": "y" }),
                json!({ "username": "kim", "password": "pass:word" }),
            ),
            (
                json!({ "username": "kim", "password": "ü" }),
                json!({ "username": "kim", "password": "ü" }),
            ),
            (
                json!({ "username": "u", "identitytoken": "t" }),
                json!({ "username": "u", "identitytoken": "t" }),
            ),
        ] {
            let keyring = keyring(json!({ "auths": { "r.io": entry } }));
            let image = "r.io/a".parse().unwrap();
            let login = &keyring.logins(&image)[0];
            let sent = URL_SAFE.decode(login.header(&image).unwrap()).unwrap();
            let mut sent: serde_json::Value = serde_json::from_slice(&sent).unwrap();
            assert_eq!(sent["serveraddress"], "r.io");
            sent.as_object_mut().unwrap().remove("serveraddress");
            assert_eq!(sent, expected);
        }
        for nothing in [json!({}), json!(null), json!({ "auth": "" }), json!({ "email": "a@b" })] {
            assert_eq!(keyring(json!({ "auths": { "r.io": nothing } })), Keyring::default());
        }
        assert_eq!(keyring(json!({ "credsStore": "desktop" })), Keyring::default());
        assert_eq!(keyring(json!({ "auths": null })), Keyring::default());
    }

    #[test]
    fn docker_hub_is_named_as_engines_expect() {
        let image = "nginx".parse().unwrap();
        let login = &keyring_of("docker.io", "u").logins(&image)[0];
        let sent = URL_SAFE.decode(login.header(&image).unwrap()).unwrap();
        assert!(String::from_utf8(sent).unwrap().contains("https://index.docker.io/v1/"));
    }

    #[test]
    fn nothing_that_is_shown_has_a_secret() {
        let json = json!({ "auths": { "r.io": {
            "username": "hidden-user", "password": "hidden-word", "identitytoken": "hidden-token" } } });
        let keyring = keyring(json);
        let image: ImageReference = "r.io/a".parse().unwrap();
        let logins = keyring.logins(&image);
        let header = logins[0].header(&image).unwrap();
        let shown = format!("{keyring:?} {logins:?} {header:?} {}", fingerprint(&logins));
        assert!(!shown.contains("hidden"), "{shown}");

        for bad in [
            r#"{"auths":{"r.io":{"auth":"hidden!"}}}"#,
            r#"{"auths":{"r.io":{"auth":"aGlkZGVu"}}}"#,
            r#"{"auths":{"r.io":"hidden"}}"#,
            r#"{"auths":{"https://hidden@r.io":{"auth":"!"}}}"#,
            r#"{"auths":"hidden"}"#,
            "hidden",
            "",
        ] {
            let error = Keyring::parse(bad.as_bytes()).unwrap_err();
            assert!(error.contains(".dockerconfigjson") && !error.contains("hidden"), "{error}");
        }
        let error = Keyring::parse(br#"{"auths":{"r.io":{"auth":"!"}}}"#).unwrap_err();
        assert!(error.contains("r.io") && error.contains("user:password in base64"), "{error}");
    }

    #[test]
    fn other_logins_have_another_fingerprint() {
        let of =
            |user: &str| fingerprint(&keyring_of("r.io", user).logins(&"r.io/a".parse().unwrap()));
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        assert_ne!(of("a"), fingerprint(&[]));
    }
}
