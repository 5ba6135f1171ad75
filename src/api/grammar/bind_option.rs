use super::invalid::{Invalid, quoted};

/// One option of a [`Bind`](super::Bind), as Docker has it on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindOption {
    /// `ro`: the container cannot write.
    ReadOnly,
    /// `rw`: the container can write, as without the option.
    ReadWrite,
    /// `z`: the `SELinux` label is shared with other containers.
    SharedLabel,
    /// `Z`: the `SELinux` label is this container's alone.
    PrivateLabel,
    /// `private`: mounts made below do not propagate.
    Private,
    /// `rprivate`: as `private`, with the mounts below; the default.
    RPrivate,
    /// `shared`: mounts made below propagate both ways.
    Shared,
    /// `rshared`: as `shared`, with the mounts below.
    RShared,
    /// `slave`: mounts made on the host propagate into the container.
    Slave,
    /// `rslave`: as `slave`, with the mounts below.
    RSlave,
    /// `nocopy`: an empty volume is not filled with what the image has at the destination.
    NoCopy,
    /// `consistent`: no effect on Linux.
    Consistent,
    /// `cached`: no effect on Linux.
    Cached,
    /// `delegated`: no effect on Linux.
    Delegated,
}

impl BindOption {
    /// All options.
    pub const ALL: [Self; 14] = [
        Self::ReadOnly,
        Self::ReadWrite,
        Self::SharedLabel,
        Self::PrivateLabel,
        Self::Private,
        Self::RPrivate,
        Self::Shared,
        Self::RShared,
        Self::Slave,
        Self::RSlave,
        Self::NoCopy,
        Self::Consistent,
        Self::Cached,
        Self::Delegated,
    ];

    /// Docker's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "ro",
            Self::ReadWrite => "rw",
            Self::SharedLabel => "z",
            Self::PrivateLabel => "Z",
            Self::Private => "private",
            Self::RPrivate => "rprivate",
            Self::Shared => "shared",
            Self::RShared => "rshared",
            Self::Slave => "slave",
            Self::RSlave => "rslave",
            Self::NoCopy => "nocopy",
            Self::Consistent => "consistent",
            Self::Cached => "cached",
            Self::Delegated => "delegated",
        }
    }

    /// Whether it says how mounts propagate, which only the bind of a host path has.
    pub fn is_propagation(self) -> bool {
        self.group() == Group::Propagation
    }

    fn group(self) -> Group {
        match self {
            Self::ReadOnly | Self::ReadWrite => Group::Access,
            Self::SharedLabel | Self::PrivateLabel => Group::Label,
            Self::Private
            | Self::RPrivate
            | Self::Shared
            | Self::RShared
            | Self::Slave
            | Self::RSlave => Group::Propagation,
            Self::NoCopy => Group::Copy,
            Self::Consistent | Self::Cached | Self::Delegated => Group::Consistency,
        }
    }

    /// Regular expressions of the words that exclude one another and themselves.
    pub(super) const GROUPS: [&str; 5] =
        ["ro|rw", "z|Z", Self::PROPAGATION, "nocopy", "consistent|cached|delegated"];

    /// A regular expression of the words of propagation.
    pub(super) const PROPAGATION: &str = "r?(?:private|shared|slave)";

    /// Parses a comma-separated list in which no option contradicts or repeats another.
    pub(super) fn parse_list(text: &str) -> Result<Vec<Self>, Invalid> {
        let mut options: Vec<Self> = Vec::new();
        for word in text.split(',') {
            let option =
                Self::ALL.into_iter().find(|known| known.as_str() == word).ok_or_else(|| {
                    Invalid::new(format!(
                        "{} is not an option of a bind: write ro, rw, z, Z, private, rprivate, \
                         shared, rshared, slave, rslave, nocopy, consistent, cached or delegated",
                        quoted(word),
                    ))
                })?;
            match options.iter().find(|other| other.group() == option.group()) {
                Some(other) if *other == option => {
                    return Err(Invalid::new(format!("the option {word} is given twice")));
                }
                Some(other) => {
                    return Err(Invalid::new(format!(
                        "the options {} and {word} contradict each other: leave one out",
                        other.as_str(),
                    )));
                }
                None => options.push(option),
            }
        }
        Ok(options)
    }
}

/// Options of one group exclude one another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Access,
    Label,
    Propagation,
    Copy,
    Consistency,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_each_group() {
        let options = BindOption::parse_list("ro,Z,rslave,nocopy,cached").unwrap();
        let words: Vec<&str> = options.iter().map(|option| option.as_str()).collect();
        assert_eq!(words, ["ro", "Z", "rslave", "nocopy", "cached"]);
    }

    #[test]
    fn two_of_one_group_are_refused() {
        for one in BindOption::ALL {
            for other in BindOption::ALL {
                let text = format!("{},{}", one.as_str(), other.as_str());
                let refused = BindOption::parse_list(&text).is_err();
                assert_eq!(refused, one.group() == other.group(), "{text}");
            }
        }
    }
}
