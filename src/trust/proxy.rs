//! Which proxy a connection to an API server takes, as kubectl and curl read the environment.
//!
//! kube has a reading of its own, which compares `NO_PROXY` with the proxy in place of the server.

use std::env;
use std::net::IpAddr;

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

/// What the environment says of proxies.
#[derive(Clone, Default)]
pub struct Proxies {
    /// `HTTPS_PROXY`.
    pub https: Option<String>,
    /// `HTTP_PROXY`, for servers without TLS.
    pub http: Option<String>,
    /// `NO_PROXY`: servers to reach without one.
    pub no: Option<String>,
}

impl Proxies {
    /// Reads the environment of this process.
    pub fn from_env() -> Self {
        let first = |names: [&str; 2]| {
            names.into_iter().filter_map(|name| env::var(name).ok()).find(|v| !v.trim().is_empty())
        };
        Self {
            https: first(["HTTPS_PROXY", "https_proxy"]),
            http: first(["HTTP_PROXY", "http_proxy"]),
            no: first(["NO_PROXY", "no_proxy"]),
        }
    }

    /// The proxy on the way to a server, if there is one.
    pub fn toward(&self, server: &Uri) -> Result<Option<Uri>, String> {
        let (variable, proxy) = match server.scheme_str() {
            Some("http") => ("HTTP_PROXY", &self.http),
            _ => ("HTTPS_PROXY", &self.https),
        };
        let Some(proxy) = proxy.as_deref().filter(|_| !self.bypassed(server)) else {
            return Ok(None);
        };
        parse(proxy).map(Some).map_err(|why| format!("{variable} {why}"))
    }

    fn bypassed(&self, server: &Uri) -> bool {
        let host = server.host().unwrap_or_default();
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        // No proxy leads back to this machine: so Go has it, and kubectl with it.
        if host == "localhost" || address.is_ok_and(|a| a.is_loopback()) {
            return true;
        }
        let port = server.port_u16().unwrap_or(match server.scheme_str() {
            Some("http") => 80,
            _ => 443,
        });
        let entries = self.no.as_deref().unwrap_or_default().split(',').map(str::trim);
        let no: Vec<_> = entries.filter_map(|entry| for_port(entry, port)).collect();
        // Which proxy it is asked about makes no difference.
        let all = Matcher::builder().all("http://proxy.invalid").no(no.join(",")).build();
        all.intercept(server).is_none()
    }
}

/// A proxy as it is written: without a scheme it is an `http` one. No error repeats it, for it may
/// hold a password.
pub fn parse(proxy: &str) -> Result<Uri, String> {
    let proxy = proxy.trim();
    let whole = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    let uri: Uri =
        whole.parse().map_err(|e| format!("is not a URL ({e}): write http://HOST:PORT"))?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.host().is_some_and(|h| !h.is_empty()) => Ok(uri),
        Some("http" | "https") => Err("names no host: write http://HOST:PORT".to_owned()),
        scheme => {
            let scheme = scheme.unwrap_or_default();
            Err(format!("begins with {scheme}://, which is not supported: write http://HOST:PORT"))
        }
    }
}

/// An entry without its port, or nothing where that is another. `*.` is the same as a dot.
fn for_port(entry: &str, port: u16) -> Option<&str> {
    let entry = entry.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(entry);
    match entry.rsplit_once(':') {
        // A bare IPv6 address has more than one colon.
        Some((host, digits)) if !host.contains(':') || host.ends_with(']') => {
            digits.parse().is_ok_and(|named: u16| named == port).then_some(host)
        }
        _ => Some(entry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toward(server: &str, no: &str) -> Option<String> {
        let proxies = Proxies {
            https: Some("http://user:pass@proxy.corp:3128".to_owned()),
            http: None,
            no: (!no.is_empty()).then(|| no.to_owned()),
        };
        let proxy = proxies.toward(&server.parse().unwrap()).unwrap();
        proxy.map(|uri| uri.to_string())
    }

    #[test]
    fn a_server_is_reached_through_the_proxy_with_its_login() {
        let proxy = toward("https://api.example.org:6443", "").unwrap();
        assert_eq!(proxy, "http://user:pass@proxy.corp:3128/");
    }

    #[test]
    fn no_proxy_speaks_of_the_server() {
        for (server, no) in [
            ("https://api.example.org:6443", "api.example.org"),
            ("https://api.example.org:6443", "example.org"),
            ("https://api.example.org:6443", ".example.org"),
            ("https://api.example.org:6443", "*.example.org"),
            ("https://api.example.org:6443", "example.org:6443"),
            ("https://api.example.org", "example.org:443"),
            ("https://api.example.org", "other.net, example.org,"),
            ("https://api.example.org", "*"),
            ("https://10.1.2.3:6443", "10.0.0.0/8"),
            ("https://10.1.2.3:6443", "10.1.2.3"),
            ("https://[fd00::1]:6443", "fd00::/8"),
            ("https://127.0.0.1:6443", ""),
            ("https://[::1]:6443", ""),
            ("https://localhost:6443", ""),
        ] {
            assert_eq!(toward(server, no), None, "{server} {no}");
        }
        for (server, no) in [
            ("https://api.example.org:6443", "proxy.corp"),
            ("https://api.example.org:6443", "example.org:443"),
            ("https://notexample.org", "example.org"),
            ("https://11.1.2.3", "10.0.0.0/8"),
        ] {
            assert!(toward(server, no).is_some(), "{server} {no}");
        }
    }

    #[test]
    fn a_proxy_without_a_scheme_is_an_http_proxy() {
        assert_eq!(parse("proxy.corp:3128").unwrap(), "http://proxy.corp:3128/");
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_an_error_without_its_password() {
        for bad in ["socks5://user:sesame@proxy:1080", "http://user:sesame@", "http://a b:sesame@c"]
        {
            let error = parse(bad).unwrap_err();
            assert!(error.contains("write http://HOST:PORT"), "{error}");
            assert!(!error.contains("sesame"), "{error}");
        }
    }
}
