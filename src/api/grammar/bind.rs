use std::str::FromStr;

use super::absolute_path::AbsolutePath;
use super::bind_option::BindOption;
use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;
use super::volume_name::VolumeName;

/// A bind as Docker writes it: `source:destination[:options]`.
///
/// The source is an absolute path on the host without `..` segments (the engine cleans `//`, `.`
/// and a trailing `/`), or a [`VolumeName`]. The destination is an [`AbsolutePath`]. The options
/// are comma-separated [`BindOption`]s, at most one of each kind; `nocopy` is for volumes only and
/// propagation for host paths only. At most 1024 characters in all.
///
/// A text without `:` is refused, of which Docker would make an anonymous volume.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bind {
    text: String,
    source: BindSource,
    destination: AbsolutePath,
    options: Vec<BindOption>,
}

/// What a bind mounts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BindSource {
    /// A path on the host, as written: absolute, without `..` segments, perhaps not clean.
    Path(String),
    /// A named volume of the engine.
    Volume(String),
}

text_type!(Bind);

impl Bind {
    /// The longest bind, in characters.
    pub const MAX_CHARS: usize = 1024;

    /// What is mounted.
    pub fn source(&self) -> &BindSource {
        &self.source
    }

    /// Where in the container it is mounted.
    pub fn destination(&self) -> &AbsolutePath {
        &self.destination
    }

    /// How it is mounted, in the order written.
    pub fn options(&self) -> &[BindOption] {
        &self.options
    }

    /// Whether the container cannot write to it.
    pub fn is_read_only(&self) -> bool {
        self.options.contains(&BindOption::ReadOnly)
    }

    fn rules() -> Vec<Rule> {
        const FORM: &str = "^[^:]+:[^:]+(?::[^:]+)?$";
        // So that a text of another form is told only that.
        let in_form = |rule: String| format!("!{} || {rule}", matches(FORM));
        let word = BindOption::ALL.map(BindOption::as_str).join("|");
        let path = AbsolutePath::REGEX;
        let propagation = BindOption::PROPAGATION;
        let twice = BindOption::GROUPS.map(|g| format!("(?:{g}),(?:[^:]*,)?(?:{g})")).join("|");
        vec![
            (
                matches(FORM),
                "must be SOURCE:DESTINATION or SOURCE:DESTINATION:OPTIONS, \
                 such as /srv/data:/data:ro",
            ),
            (
                in_form(matches(r"^(?:/[^:\x00]*|[a-zA-Z0-9][a-zA-Z0-9_.-]{1,254}):")),
                "must have as source an absolute path on the host such as /srv/data, \
                 or the name of a volume",
            ),
            (
                format!("!{}", matches(r"^/(?:[^:]*/)?\.\.(?:/[^:]*)?:")),
                "must have no '..' segment in its source",
            ),
            ("!self.startsWith('kibotos-')".to_owned(), VolumeName::OURS_REFUSED),
            (
                in_form(matches(&format!("^[^:]*:{path}(?::|$)"))),
                "must have as destination an absolute path below '/' without '//', '.' or '..' \
                 segment, trailing '/' or control character, such as /data",
            ),
            (
                in_form(matches(&format!("^[^:]*:[^:]*(?::(?:{word})(?:,(?:{word}))*)?$"))),
                "must have as options only ro, rw, z, Z, [r]private, [r]shared, [r]slave, nocopy, \
                 consistent, cached and delegated, separated by ','",
            ),
            (
                format!("!{}", matches(&format!("^[^:]*:[^:]*:(?:[^:]*,)?(?:{twice})(?:,|$)"))),
                "must have no option twice, and none that contradicts another",
            ),
            (
                format!("!{}", matches("^/[^:]*:[^:]*:(?:[^:]*,)?nocopy(?:,|$)")),
                "must have the option nocopy only for a volume, not for a path of the host",
            ),
            (
                format!(
                    "!{}",
                    matches(&format!("^[^/:][^:]*:[^:]*:(?:[^:]*,)?{propagation}(?:,|$)")),
                ),
                "must have an option of propagation only for a path of the host, not for a volume",
            ),
        ]
    }
}

impl FromStr for Bind {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        check_length("a bind", text, Self::MAX_CHARS)?;
        let wrong = |problem: &str| Err(Invalid::new(format!("{} {problem}", quoted(text))));
        let mut parts = text.split(':');
        let (source, destination, options) =
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some(source), Some(destination), options, None) => (source, destination, options),
                (_, None, ..) => {
                    return wrong(
                        "has no ':': write SOURCE:DESTINATION, such as /srv/data:/data \
                         (for an anonymous volume use anonymousVolumes)",
                    );
                }
                _ => {
                    return wrong(
                        "has more than two ':': write SOURCE:DESTINATION:OPTIONS, \
                         and use mounts for a path that contains ':'",
                    );
                }
            };
        if options.is_none() && BindOption::parse_list(destination).is_ok() {
            return wrong(&format!(
                "has no destination: write SOURCE:DESTINATION:{destination}, \
                 such as /srv/data:/data:{destination}"
            ));
        }
        let source = BindSource::parse(source)?;
        let destination = destination
            .parse::<AbsolutePath>()
            .map_err(|error| Invalid::new(format!("destination {error}")))?;
        let options = options.map(BindOption::parse_list).transpose()?.unwrap_or_default();
        source.check_options(&options)?;
        Ok(Self { text: text.to_owned(), source, destination, options })
    }
}

impl BindSource {
    fn parse(text: &str) -> Result<Self, Invalid> {
        let wrong = |problem: &str| Err(Invalid::new(format!("source {} {problem}", quoted(text))));
        if text.is_empty() {
            return wrong("is empty: write a path such as /srv/data, or the name of a volume");
        }
        if text.starts_with('/') {
            if text.contains('\0') {
                return wrong("contains a NUL character");
            }
            if text.split('/').any(|segment| segment == "..") {
                return wrong("has a '..' segment: write the path that it leads to");
            }
            return Ok(Self::Path(text.to_owned()));
        }
        if text.starts_with(['.', '~']) || text.contains('/') {
            return wrong(
                "is a relative path: write the absolute one on the host, such as /srv/data",
            );
        }
        let name = text
            .parse::<VolumeName>()
            .map_err(|error| Invalid::new(format!("source {error} (or write an absolute path)")))?;
        Ok(Self::Volume(name.as_str().to_owned()))
    }

    fn check_options(&self, options: &[BindOption]) -> Result<(), Invalid> {
        match self {
            Self::Path(_) if options.contains(&BindOption::NoCopy) => Err(Invalid::new(
                "the option nocopy is for volumes, and a path of the host is never copied to: \
                 leave it out",
            )),
            Self::Volume(_) => match options.iter().find(|option| option.is_propagation()) {
                None => Ok(()),
                Some(option) => Err(Invalid::new(format!(
                    "the option {} is for paths of the host, not for volumes: leave it out",
                    option.as_str(),
                ))),
            },
            Self::Path(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{accepts, refuses};
    use super::*;

    #[test]
    fn parts() {
        let bind: Bind = "/host/log:/var/log:ro,rslave".parse().unwrap();
        assert_eq!(bind.source(), &BindSource::Path("/host/log".to_owned()));
        assert_eq!(bind.destination().as_str(), "/var/log");
        assert_eq!(bind.options(), [BindOption::ReadOnly, BindOption::RSlave]);
        assert!(bind.is_read_only());

        let bind: Bind = "pgdata:/var/lib/postgresql".parse().unwrap();
        assert_eq!(bind.source(), &BindSource::Volume("pgdata".to_owned()));
        assert_eq!(bind.options(), []);
        assert!(!bind.is_read_only());
    }

    #[test]
    fn accepted() {
        accepts::<Bind>(&[
            "/host/data:/data",
            "/:/host:ro",
            "//a/./b/:/data",
            "/a b,ro,rw/ü:/data",
            "/..a/b..:/data",
            "/srv:/data:rw,Z,rshared,delegated",
            "my_vol.1-x:/data:nocopy,ro,z,cached",
            "kibotos:/data",
            "/kibotos-x:/data",
            "/var/run/docker.sock:/var/run/docker.sock",
        ]);
    }

    #[test]
    fn refused() {
        refuses::<Bind>(&[
            ("", "has no ':'"),
            ("/data", "has no ':'"),
            (":/data", "source \"\" is empty"),
            ("/a:", "destination \"\" is not an absolute path"),
            ("/foo:ro", "has no destination: write SOURCE:DESTINATION:ro"),
            ("./x:/data", "is a relative path"),
            ("../x:/data", "is a relative path"),
            ("~/x:/data", "is a relative path"),
            ("x/y:/data", "is a relative path"),
            ("/a/../b:/data", "has a '..' segment"),
            ("/..:/data", "has a '..' segment"),
            ("/a\0:/data", "NUL"),
            ("v:/data", "source \"v\" is too short: a volume name has at least 2 characters"),
            ("my vol:/data", "contains ' '"),
            ("kibotos-0d1e:/data", "begins \"kibotos-\""),
            ("/a:data", "destination \"data\" is not an absolute path"),
            ("/a:/", "destination \"/\" is the root directory"),
            ("/a:/b/", "write \"/b\""),
            ("/a:/b:", "\"\" is not an option"),
            ("/a:/b:ro,", "\"\" is not an option"),
            ("/a:/b:readonly", "\"readonly\" is not an option"),
            ("/a:/b:RO", "\"RO\" is not an option"),
            ("/a:/b:ro,rw", "the options ro and rw contradict each other"),
            ("/a:/b:ro,z,ro", "the option ro is given twice"),
            ("/a:/b:z,Z", "contradict"),
            ("/a:/b:shared,rslave", "contradict"),
            ("/a:/b:nocopy", "nocopy is for volumes"),
            ("vol:/b:rshared", "the option rshared is for paths of the host"),
            ("/a:/b:ro:/c", "more than two ':'"),
            ("C:\\x:/data", "source \"C\" is too short"),
            (&format!("/{}:/b", "a".repeat(1024)), "at most 1024"),
        ]);
    }

    proptest! {
        #[test]
        fn parts_round_trip(
            source in "/[a-z]{1,5}|[a-z][a-z0-9_.-]{1,8}",
            destination in "(/[a-z]{1,5}){1,3}",
            options in prop::sample::subsequence(BindOption::ALL.to_vec(), 0..4),
        ) {
            let words: Vec<&str> = options.iter().map(|option| option.as_str()).collect();
            let text = [source.as_str(), &destination, &words.join(",")]
                .iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(":");
            if let Ok(bind) = text.parse::<Bind>() {
                prop_assert_eq!(bind.to_string(), text);
                prop_assert_eq!(bind.destination().as_str(), destination);
                prop_assert_eq!(bind.options(), options);
            }
        }
    }
}
