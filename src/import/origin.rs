//! Which field of a source each field of a create body came from.

/// Paths of a create body, and beside each the path in the source.
#[derive(Clone, Debug, Default)]
pub struct Origins(Vec<(String, String)>);

impl Origins {
    /// Everything under `docker` came from under `source`.
    pub fn put(&mut self, docker: impl Into<String>, source: impl Into<String>) {
        self.0.push((docker.into(), source.into()));
    }

    /// The path in the source of `docker`, by the longest path that it lies under.
    pub fn source_of(&self, docker: &str) -> String {
        let under = |(prefix, source): &(String, String)| {
            let rest = docker.strip_prefix(prefix.as_str())?;
            let apart = rest.is_empty() || prefix.is_empty() || rest.starts_with(['.', '[']);
            apart.then(|| (prefix.len(), source.clone(), rest.to_owned()))
        };
        let Some((_, source, rest)) =
            self.0.iter().filter_map(under).max_by_key(|(length, ..)| *length)
        else {
            return docker.to_owned();
        };
        match (source.as_str(), rest.as_str()) {
            ("", rest) => rest.trim_start_matches('.').to_owned(),
            (source, "") => source.to_owned(),
            (source, rest) if rest.starts_with(['.', '[']) => format!("{source}{rest}"),
            (source, rest) => format!("{source}.{rest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_path_that_a_field_lies_under_counts() {
        let mut origins = Origins::default();
        origins.put("", "[0].Config");
        origins.put("HostConfig", "[0].HostConfig");
        origins.put("HostConfig.Binds[1]", "services.web.volumes[2]");
        for (docker, source) in [
            ("Image", "[0].Config.Image"),
            ("HostConfig.Memory", "[0].HostConfig.Memory"),
            ("HostConfigs", "[0].Config.HostConfigs"),
            ("HostConfig.Binds[1]", "services.web.volumes[2]"),
            ("HostConfig.Binds[10]", "[0].HostConfig.Binds[10]"),
        ] {
            assert_eq!(origins.source_of(docker), source);
        }
        assert_eq!(Origins::default().source_of("Image"), "Image");
    }
}
