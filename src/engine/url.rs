use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The longest path that a Unix socket can have.
const MAX_PATH: usize = 107;

/// Where an engine listens: `unix:///var/run/docker.sock`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineUrl(PathBuf);

impl EngineUrl {
    /// The socket's path.
    pub fn socket(&self) -> &Path {
        &self.0
    }
}

impl Default for EngineUrl {
    fn default() -> Self {
        Self(PathBuf::from("/var/run/docker.sock"))
    }
}

impl fmt::Display for EngineUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unix://{}", self.0.display())
    }
}

impl FromStr for EngineUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let instead = "write unix:///var/run/docker.sock, with the path of the engine's socket";
        let Some(path) = text.strip_prefix("unix://") else {
            return Err(match text.split_once("://") {
                Some((scheme, _)) => format!(
                    "{scheme}:// is not supported, as an agent works beside its engine: {instead}"
                ),
                None if text.starts_with('/') => format!("write unix://{text}"),
                None => format!("{text:?} is not a socket: {instead}"),
            });
        };
        if !path.starts_with('/') || path.ends_with('/') {
            return Err(format!("{text:?} has no absolute path: {instead}"));
        }
        if path.len() > MAX_PATH {
            return Err(format!(
                "a socket's path has at most {MAX_PATH} bytes, not {}",
                path.len()
            ));
        }
        Ok(Self(PathBuf::from(path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_given_by_its_absolute_path() {
        let url: EngineUrl = "unix:///run/user/1000/podman/podman.sock".parse().unwrap();
        assert_eq!(url.socket(), Path::new("/run/user/1000/podman/podman.sock"));
        assert_eq!(url.to_string().parse::<EngineUrl>().unwrap(), url);
        assert_eq!(EngineUrl::default().to_string(), "unix:///var/run/docker.sock");
    }

    #[test]
    fn what_is_no_socket_is_refused_with_what_to_write() {
        for (text, says) in [
            ("tcp://127.0.0.1:2375", "tcp:// is not supported"),
            ("ssh://user@host", "write unix:///var/run/docker.sock"),
            ("/var/run/docker.sock", "write unix:///var/run/docker.sock"),
            ("docker.sock", "is not a socket"),
            ("", "is not a socket"),
            ("unix://docker.sock", "no absolute path"),
            ("unix://", "no absolute path"),
            ("unix:///run/", "no absolute path"),
            (&format!("unix:///{}", "x".repeat(107)), "at most 107 bytes, not 108"),
        ] {
            let error = text.parse::<EngineUrl>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
