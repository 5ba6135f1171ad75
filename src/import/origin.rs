//! Which field of a source each field of a create body came from, and what the source calls it.

/// How a source names fields that a create body has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Words {
    /// As Docker's API does.
    #[default]
    Docker,
    /// As another list has them, by Docker's name; names that it lacks are Docker's in snake case.
    Snake(&'static [(&'static str, &'static str)]),
}

impl Words {
    /// The name of one member.
    fn name(self, docker: &str) -> String {
        let Self::Snake(list) = self else { return docker.to_owned() };
        if let Some((_, name)) = list.iter().find(|(known, _)| *known == docker) {
            return (*name).to_owned();
        }
        let mut name = String::new();
        for c in docker.chars() {
            if c.is_ascii_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }

    /// The names in a path; what is in brackets is the user's.
    fn path(self, docker: &str) -> String {
        let mut path = String::new();
        let mut rest = docker;
        while !rest.is_empty() {
            if let Some(end) = rest.find(']').filter(|_| rest.starts_with('[')) {
                let (index, after) = rest.split_at(end + 1);
                path.push_str(index);
                rest = after;
            } else if let Some(after) = rest.strip_prefix('.') {
                path.push('.');
                rest = after;
            } else {
                let end = rest.find(['.', '[']).filter(|end| *end > 0).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                path.push_str(&self.name(name));
                rest = after;
            }
        }
        path
    }
}

/// Paths of a create body, and beside each the path in the source.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    words: Words,
    places: Vec<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    docker: String,
    source: String,
    /// Whether the source has all of it in one value, without members.
    whole: bool,
}

impl Origins {
    /// None yet, of a source that names fields so.
    pub fn in_words(words: Words) -> Self {
        Self { words, places: Vec::new() }
    }

    /// Everything under `docker` came from under `source`.
    pub fn put(&mut self, docker: impl Into<String>, source: impl Into<String>) {
        self.places.push(Place { docker: docker.into(), source: source.into(), whole: false });
    }

    /// Everything under `docker` came from `source` itself.
    pub fn put_whole(&mut self, docker: impl Into<String>, source: impl Into<String>) {
        self.places.push(Place { docker: docker.into(), source: source.into(), whole: true });
    }

    /// The path in the source of `docker`, by the longest path that it lies under.
    pub fn source_of(&self, docker: &str) -> String {
        let under = |place| Self::rest(place, docker).map(|rest| (place, rest));
        let longest = self
            .places
            .iter()
            .filter_map(under)
            .max_by_key(|(Place { docker, .. }, _)| docker.len());
        let Some((Place { source, whole, .. }, rest)) = longest else {
            return self.words.path(docker);
        };
        let rest = if *whole { String::new() } else { self.words.path(rest) };
        match (source.as_str(), rest.as_str()) {
            ("", rest) => rest.trim_start_matches('.').to_owned(),
            (source, "") => source.to_owned(),
            (source, rest) if rest.starts_with(['.', '[']) => format!("{source}{rest}"),
            (source, rest) => format!("{source}.{rest}"),
        }
    }

    fn rest<'a>(place: &Place, docker: &'a str) -> Option<&'a str> {
        let rest = docker.strip_prefix(place.docker.as_str())?;
        let apart = rest.is_empty() || place.docker.is_empty() || rest.starts_with(['.', '[']);
        apart.then_some(rest)
    }

    /// What the source calls `docker`, be it there or not, in a sentence about another field.
    pub fn name_of(&self, docker: &str) -> String {
        let last = docker.rsplit('.').next().unwrap_or(docker);
        // Where a source has more than one place for it, the one that is in it.
        let there = self.places.iter().rev().find(|place| place.whole && place.docker == docker);
        let base = self.places.iter().find(|place| place.docker.is_empty());
        let below = there.zip(base).and_then(|(there, base)| {
            there.source.strip_prefix(base.source.as_str())?.strip_prefix('.').map(str::to_owned)
        });
        below.unwrap_or_else(|| self.words.name(last))
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
        origins.put_whole("HostConfig.Binds[1]", "services.web.volumes[2]");
        for (docker, source) in [
            ("Image", "[0].Config.Image"),
            ("HostConfig.Memory", "[0].HostConfig.Memory"),
            ("HostConfigs", "[0].Config.HostConfigs"),
            ("HostConfig.Binds[1]", "services.web.volumes[2]"),
            ("HostConfig.Binds[1].Mode", "services.web.volumes[2]"),
            ("HostConfig.Binds[10]", "[0].HostConfig.Binds[10]"),
        ] {
            assert_eq!(origins.source_of(docker), source);
        }
        assert_eq!(Origins::default().source_of("Image"), "Image");
    }

    #[test]
    fn fields_are_called_as_the_source_calls_them_be_they_there_or_not() {
        let mut origins = Origins::in_words(Words::Snake(&[("UTSMode", "uts_mode")]));
        origins.put("HostConfig", "create.host_config");
        for (docker, source) in [
            ("HostConfig.NanoCpus", "create.host_config.nano_cpus"),
            ("HostConfig.UTSMode", "create.host_config.uts_mode"),
            ("HostConfig.Sysctls[net.X.y]", "create.host_config.sysctls[net.X.y]"),
            ("HostConfig.Devices[0].PathOnHost", "create.host_config.devices[0].path_on_host"),
        ] {
            assert_eq!(origins.source_of(docker), source);
        }
        assert_eq!(origins.name_of("HostConfig.NanoCpus"), "nano_cpus");
        assert_eq!(Origins::default().name_of("HostConfig.NanoCpus"), "NanoCpus");
        let mut origins = Origins::in_words(Words::Snake(&[("NanoCpus", "cpus")]));
        origins.put("", "services.web");
        assert_eq!(origins.name_of("HostConfig.NanoCpus"), "cpus");
        origins.put_whole("HostConfig.NanoCpus", "services.web.deploy.resources.limits.cpus");
        assert_eq!(origins.name_of("HostConfig.NanoCpus"), "deploy.resources.limits.cpus");
    }
}
