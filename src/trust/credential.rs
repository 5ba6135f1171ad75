//! The credential file: what a host has to be given so that its agent can reach the API.
//!
//! YAML (or JSON, which is YAML), of mode 0600:
//!
//! ```yaml
//! version: 1                        # of this format
//! server: https://203.0.113.7:6443  # the API server; always https
//! certificateAuthority: |           # PEM; absent: the machine's own authorities
//!   -----BEGIN CERTIFICATE-----
//!   …
//! tlsServerName: kubernetes         # absent: the name in `server`
//! host: edge-17                     # the Host
//! namespace: kibotos-host-edge-17   # all that it may read and write
//! refreshToken: eyJ…                # may do nothing but mint tokens for the agent
//! ```
//!
//! It is read strictly: an unknown field, an unknown version or a bad value is an error that names
//! it. As ssh has it with keys, a file of one's own that group or others may read is refused.

use std::io;
use std::path::Path;

use http::Uri;
use serde_json::{Map, Value, json};

use super::private_file;
use super::secret::Secret;
use crate::api::grammar::HostName;
use crate::api::names::host_namespace;
use crate::yaml;

/// The one version of the format.
const VERSION: u64 = 1;
const FIELDS: [&str; 7] = [
    "version",
    "server",
    "certificateAuthority",
    "tlsServerName",
    "host",
    "namespace",
    "refreshToken",
];

/// What a credential file holds. Its `Debug` does not show the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The API server.
    pub server: Uri,
    /// The certificates to trust, as PEM. None: the machine's own authorities.
    pub certificate_authority: Option<String>,
    /// The name in the server's certificate, where it is not the one in `server`.
    pub tls_server_name: Option<String>,
    /// The Host.
    pub host: HostName,
    /// May do nothing but mint tokens for the agent of that host.
    pub refresh_token: Secret,
}

/// Why a credential file cannot be used. It never repeats what stands in the file.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The file itself.
    #[error(
        "read the credential file {file} (an admin makes it with: kibotos host join NAME --out FILE)"
    )]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// What is in it.
    #[error(
        "the credential file {file}: {message}; let an admin make it anew: kibotos host join NAME --out FILE"
    )]
    Content {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
}

impl Credential {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, CredentialError> {
        let file = path.display().to_string();
        match private_file::read(path) {
            Ok(text) => {
                Self::parse(&text).map_err(|message| CredentialError::Content { file, message })
            }
            Err(source) => Err(CredentialError::Read { file, source }),
        }
    }

    /// Writes a file of mode 0600, whole or not at all.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        private_file::write(path, &self.to_yaml().map_err(io::Error::other)?)
    }

    /// The namespace that holds all that the host may read and write.
    pub fn namespace(&self) -> String {
        host_namespace(&self.host.to_string())
    }

    /// The API server, as it is written.
    pub fn address(&self) -> String {
        self.server.to_string().trim_end_matches('/').to_owned()
    }

    /// The file's text, token included.
    pub fn to_yaml(&self) -> Result<String, String> {
        let mut file = Map::new();
        let mut put = |field: &str, value: Value| file.insert(field.to_owned(), value);
        put("version", VERSION.into());
        put("server", self.address().into());
        if let Some(pem) = &self.certificate_authority {
            put("certificateAuthority", pem.as_str().into());
        }
        if let Some(name) = &self.tls_server_name {
            put("tlsServerName", name.as_str().into());
        }
        put("host", self.host.to_string().into());
        put("namespace", self.namespace().into());
        put("refreshToken", self.refresh_token.reveal().into());
        yaml::to_string(&json!(file)).map_err(|e| e.to_string())
    }

    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let options = serde_saphyr::options! { with_snippet: false };
        // Of a syntax error only the place is told: its text could be the token's.
        let value: Value =
            serde_saphyr::from_str_with_options(text, options).map_err(|e| match e.location() {
                Some(place) => format!("line {} is no YAML", place.line()),
                None => "it is no YAML".to_owned(),
            })?;
        let Value::Object(file) = value else {
            return Err("it is not a map of fields".to_owned());
        };
        // The version first: of another one the fields may be others.
        match file.get("version") {
            Some(version) if version.as_u64() == Some(VERSION) => {}
            Some(_) => return Err(format!("version is not {VERSION}, the one this agent reads")),
            None => return Err("version is missing".to_owned()),
        }
        if file.keys().any(|field| !FIELDS.contains(&field.as_str())) {
            return Err(format!("it has a field that is none of {}", FIELDS.join(", ")));
        }
        Self::of_fields(&file)
    }

    fn of_fields(file: &Map<String, Value>) -> Result<Self, String> {
        let host: HostName =
            required(file, "host")?.parse().map_err(|why| format!("host: {why}"))?;
        let certificate_authority = optional(file, "certificateAuthority")?.map(str::to_owned);
        if let Some(pem) = &certificate_authority {
            certificates(pem).map_err(|why| format!("certificateAuthority {why}"))?;
        }
        let token = required(file, "refreshToken")?;
        if !token.bytes().all(|b| b.is_ascii_graphic()) {
            return Err("refreshToken has characters that no token has".to_owned());
        }
        let read = Self {
            server: server(required(file, "server")?).map_err(|why| format!("server {why}"))?,
            certificate_authority,
            tls_server_name: optional(file, "tlsServerName")?.map(str::to_owned),
            host,
            refresh_token: Secret::new(token),
        };
        let namespace = read.namespace();
        if required(file, "namespace")? != namespace {
            return Err(format!("namespace is not {namespace}, that of its host"));
        }
        Ok(read)
    }
}

fn optional<'a>(file: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>, String> {
    match file.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim_end())),
        Some(_) => Err(format!("{field} is not a text")),
    }
}

fn required<'a>(file: &'a Map<String, Value>, field: &str) -> Result<&'a str, String> {
    optional(file, field)?.ok_or_else(|| format!("{field} is missing"))
}

/// An API server's address; tokens are sent there, so it has to be https.
pub fn server(text: &str) -> Result<Uri, String> {
    let uri: Uri =
        text.parse().map_err(|e| format!("is not a URL ({e}): write https://HOST:PORT"))?;
    match uri.scheme_str() {
        Some("https") if uri.host().is_some_and(|host| !host.is_empty()) => Ok(uri),
        _ => Err("is not the address of an API server: write https://HOST:PORT".to_owned()),
    }
}

/// The certificates of a PEM text, one at least.
pub fn certificates(pem: &str) -> Result<Vec<Vec<u8>>, String> {
    let blocks = pem::parse_many(pem).map_err(|_| "is no PEM".to_owned())?;
    let certificates: Vec<_> = blocks
        .into_iter()
        .filter(|block| block.tag() == "CERTIFICATE")
        .map(pem::Pem::into_contents)
        .collect();
    if certificates.is_empty() {
        return Err("holds no certificate in PEM".to_owned());
    }
    Ok(certificates)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----";
    const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.sesame.x";

    fn credential() -> Credential {
        Credential {
            server: "https://203.0.113.7:6443".parse().unwrap(),
            certificate_authority: Some(PEM.to_owned()),
            tls_server_name: Some("kubernetes".to_owned()),
            host: "edge-17".parse().unwrap(),
            refresh_token: Secret::new(TOKEN),
        }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("credential.yaml");
        credential().write(&path).unwrap();
        assert_eq!(Credential::read(&path).unwrap(), credential());

        let bare =
            Credential { certificate_authority: None, tls_server_name: None, ..credential() };
        assert_eq!(Credential::parse(&bare.to_yaml().unwrap()).unwrap(), bare);
    }

    #[test]
    fn the_format_is_the_documented_one() {
        let text = credential().to_yaml().unwrap();
        let file: Value = serde_saphyr::from_str(&text).unwrap();
        let wanted = json!({
            "version": 1, "server": "https://203.0.113.7:6443", "certificateAuthority": PEM,
            "tlsServerName": "kubernetes", "host": "edge-17",
            "namespace": "kibotos-host-edge-17", "refreshToken": TOKEN,
        });
        assert_eq!(file, wanted);
        assert!(Credential::parse(&wanted.to_string()).is_ok(), "JSON is read as well");
    }

    #[test]
    fn each_mistake_is_named() {
        let good = credential().to_yaml().unwrap();
        for (from, to, message) in [
            ("version: 1", "version: 2", "version is not 1"),
            ("version: 1\n", "", "version is missing"),
            ("host: edge-17\n", "", "host is missing"),
            ("host: edge-17", "host: Edge", "host: \"Edge\""),
            ("server: https", "server: http", "server is not the address"),
            ("host: edge-17", "hots: edge-17", "a field that is none of"),
            ("namespace: kibotos-host-edge-17", "namespace: default", "namespace is not"),
            ("-----BEGIN CERTIFICATE-----", "-----", "certificateAuthority"),
            (TOKEN, "''", "refreshToken is not a text"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from}");
            let error = Credential::parse(&bad).unwrap_err();
            assert!(error.contains(message), "{message}: {error}");
        }
    }

    #[test]
    fn no_error_and_no_debug_output_shows_the_token() {
        let good = credential().to_yaml().unwrap();
        for bad in [
            TOKEN.to_owned(),
            format!("- {TOKEN}"),
            format!("{good}\n  {TOKEN}: ["),
            format!("{good}\n{TOKEN}: 1"),
            format!("{good}\nrefreshToken: {TOKEN}"),
            good.replace("version: 1", &format!("version: {TOKEN}")),
            good.replace("host: edge-17", &format!("host: [{TOKEN}]")),
        ] {
            let error = Credential::parse(&bad).unwrap_err();
            assert!(!error.contains("sesame"), "{error}");
        }
        assert!(!format!("{:?}", credential()).contains("sesame"));
    }

    #[test]
    fn an_unusable_file_says_what_to_run() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("credential.yaml");
        let missing = Credential::read(&path).unwrap_err().to_string();
        private_file::write(&path, "version: 7").unwrap();
        let unknown = Credential::read(&path).unwrap_err().to_string();
        for error in [missing, unknown] {
            assert!(error.contains("kibotos host join NAME --out FILE"), "{error}");
            assert!(error.contains("credential.yaml"), "{error}");
        }
    }
}
