use std::borrow::Cow;
use std::str::FromStr;

use oci_spec::distribution::{ParseError, Reference};

use super::invalid::{Invalid, check_length, quoted};
use super::schema::{Rule, matches};
use super::text::text_type;

/// The longest `registry/repository` as given, in characters.
const MAX_NAME_CHARS: usize = 255;

/// The same for one of Docker Hub's own images: `library/` goes before it.
const MAX_BARE_CHARS: usize = MAX_NAME_CHARS - "library/".len();

/// An image as Docker names it: `[registry/]repository[:tag][@digest]`.
///
/// The name has at most 255 characters (247 without a registry or other `/`, since Docker Hub puts
/// `library/` before it), the whole at most 520. Stricter than Docker: a digest is
/// sha256, sha384 or sha512 in lower-case hexadecimal, a registry's host is a DNS name or IPv4
/// address (no IPv6 in brackets), and `Foo/bar` is an upper-case repository, not a registry `Foo`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageReference {
    text: String,
    reference: Reference,
    tagged: bool,
}

text_type!(ImageReference);

impl ImageReference {
    /// The longest reference, in characters.
    pub const MAX_CHARS: usize = 520;

    /// The registry's host and port; `docker.io` when the text names none.
    pub fn registry(&self) -> &str {
        self.reference.registry()
    }

    /// The repository in that registry; Docker Hub's own images are in `library/`.
    pub fn repository(&self) -> &str {
        self.reference.repository()
    }

    /// The tag, when the text gives one.
    pub fn tag(&self) -> Option<&str> {
        self.reference.tag().filter(|_| self.tagged)
    }

    /// The digest with its algorithm, `sha256:…`, when the text gives one.
    pub fn digest(&self) -> Option<&str> {
        self.reference.digest()
    }

    /// The text to pull and to create with: as given, with `:latest` when it gives neither tag nor
    /// digest (an engine asked to pull without a tag pulls every tag).
    pub fn canonical(&self) -> Cow<'_, str> {
        if self.tagged || self.digest().is_some() {
            Cow::Borrowed(&self.text)
        } else {
            Cow::Owned(format!("{}:latest", self.text))
        }
    }

    fn rules() -> Vec<Rule> {
        const LABEL: &str = "[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?";
        const SEGMENT: &str = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
        // A first segment is a registry when it has a '.' or a ':', and else must have neither.
        const FIRST: &str = "[a-z0-9]+(?:(?:__?|-+)[a-z0-9]+)*";
        const TAG: &str = "[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}";
        const DIGEST: &str = "sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}";
        let registry = format!(r"{LABEL}(?:(?:\.{LABEL})+(?::[0-9]+)?|:[0-9]+)");
        let whole = matches(&format!(
            "^(?:(?:{registry}|{FIRST})/{SEGMENT}(?:/{SEGMENT})*|{SEGMENT})\
             (?::{TAG})?(?:@(?:{DIGEST}))?$",
        ));
        vec![
            (
                whole,
                "must be an image such as nginx:1.29 or registry.example.com:5000/team/app@sha256:…, \
                 its repository in lower case",
            ),
            (
                format!("!{}", matches("^[a-f0-9]{64}$")),
                "must name an image, not be the bare id of one",
            ),
            (
                format!(
                    "{} && {}",
                    matches(&format!("^[^@]{{0,{MAX_NAME_CHARS}}}(?::{TAG})?(?:@|$)")),
                    matches(&format!("^(?:[^@/]*/|[^@]{{0,{MAX_BARE_CHARS}}}(?::{TAG})?(?:@|$))")),
                ),
                "must have at most 255 characters before tag and digest, 247 if there is no '/'",
            ),
        ]
    }
}

impl FromStr for ImageReference {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let wrong = |problem: &str| Err(Invalid::new(format!("{} {problem}", quoted(text))));
        if text.is_empty() {
            return Err(Invalid::new("an image has a name: write one such as nginx:1.29"));
        }
        check_length("an image reference", text, Self::MAX_CHARS)?;
        // The crate's expression takes any letter of Unicode in a tag.
        if let Some(bad) = text.chars().find(|c| !c.is_ascii_graphic()) {
            return wrong(&format!("contains {bad:?}: an image has only ASCII letters and digits"));
        }
        if let Some((scheme @ ("http" | "https" | "docker" | "oci"), rest)) = text.split_once("://")
        {
            return wrong(&format!("starts with {scheme}://: write {}", quoted(rest)));
        }
        if text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return wrong("is the bare id of an image: write its name, with @sha256:… to pin it");
        }

        let (name, tagged) = name_of(text);
        if name.len() > MAX_NAME_CHARS {
            return wrong("is too long: there are at most 255 characters before tag and digest");
        }
        if repository_of(name).contains(|c: char| c.is_ascii_uppercase()) {
            return wrong(&format!(
                "has upper-case letters in its repository: write it in lower case, as in {}",
                quoted(&name.to_ascii_lowercase()),
            ));
        }
        let reference = text.parse::<Reference>().map_err(|error| explain(text, &error))?;
        if reference.registry().contains('_') {
            return wrong("has '_' in its registry, which no host name has");
        }
        if reference
            .digest()
            .is_some_and(|digest| digest.contains(|c: char| c.is_ascii_uppercase()))
        {
            return wrong("has upper-case letters in its digest: write it in lower case");
        }
        Ok(Self { text: text.to_owned(), reference, tagged })
    }
}

/// The part before tag and digest, and whether there is a tag. A ':' before the last '/' belongs
/// to the registry's port.
fn name_of(text: &str) -> (&str, bool) {
    let without_digest = text.split_once('@').map_or(text, |(before, _)| before);
    match without_digest.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, true),
        _ => (without_digest, false),
    }
}

/// The part of a name after its registry, if it has one.
fn repository_of(name: &str) -> &str {
    match name.split_once('/') {
        Some((registry, rest)) if registry.contains(['.', ':']) || registry == "localhost" => rest,
        _ => name,
    }
}

fn explain(text: &str, error: &ParseError) -> Invalid {
    let problem = match error {
        ParseError::DigestInvalidFormat
        | ParseError::DigestInvalidLength
        | ParseError::DigestUnsupported => {
            "has a bad digest: write sha256: and 64 hexadecimal digits (or sha384, sha512)"
        }
        ParseError::NameTooLong => {
            "is too long: there are at most 247 characters before tag and digest without a '/'"
        }
        ParseError::NameContainsUppercase
        | ParseError::NameEmpty
        | ParseError::ReferenceInvalidFormat
        | ParseError::TagInvalidFormat => {
            "is not an image: write [registry/]repository[:tag][@digest], such as nginx:1.29"
        }
    };
    Invalid::new(format!("{} {problem}", quoted(text)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{accepts, refuses};
    use super::*;

    const HEX: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn parts() {
        struct Row<'a>(&'a str, &'a str, &'a str, Option<&'a str>, Option<&'a str>);
        let digest = format!("sha256:{HEX}");
        let pinned = format!("localhost:5000/app@{digest}");
        let both = format!("ghcr.io/a/b:v1@{digest}");
        for Row(text, registry, repository, tag, digest) in [
            Row("nginx", "docker.io", "library/nginx", None, None),
            Row("nginx:1.29", "docker.io", "library/nginx", Some("1.29"), None),
            Row("nginx:latest", "docker.io", "library/nginx", Some("latest"), None),
            Row("docker.io/library/nginx", "docker.io", "library/nginx", None, None),
            Row("localhost:5000/app", "localhost:5000", "app", None, None),
            Row("localhost/app", "localhost", "app", None, None),
            Row("test.com:5000", "docker.io", "library/test.com", Some("5000"), None),
            Row("team/app:Dev_1.x", "docker.io", "team/app", Some("Dev_1.x"), None),
            Row("Example.COM/app:v1", "Example.COM", "app", Some("v1"), None),
            Row(&pinned, "localhost:5000", "app", None, Some(&digest)),
            Row(&both, "ghcr.io", "a/b", Some("v1"), Some(&digest)),
        ] {
            let image: ImageReference = text.parse().unwrap();
            assert_eq!(image.registry(), registry, "{text}");
            assert_eq!(image.repository(), repository, "{text}");
            assert_eq!(image.tag(), tag, "{text}");
            assert_eq!(image.digest(), digest, "{text}");
            accepts::<ImageReference>(&[text]);
        }
    }

    #[test]
    fn latest_is_added_where_nothing_is_given() {
        for (text, canonical) in [
            ("nginx", "nginx:latest".to_owned()),
            ("docker.io/library/nginx", "docker.io/library/nginx:latest".to_owned()),
            ("localhost:5000/app", "localhost:5000/app:latest".to_owned()),
            ("nginx:1.29", "nginx:1.29".to_owned()),
            ("test.com:5000", "test.com:5000".to_owned()),
            (&format!("app@sha256:{HEX}"), format!("app@sha256:{HEX}")),
            (&format!("app:v1@sha256:{HEX}"), format!("app:v1@sha256:{HEX}")),
        ] {
            assert_eq!(text.parse::<ImageReference>().unwrap().canonical(), canonical);
            // Idempotent: what is pulled is what is created.
            assert_eq!(canonical.parse::<ImageReference>().unwrap().canonical(), canonical);
        }
    }

    #[test]
    fn accepted() {
        accepts::<ImageReference>(&[
            "a",
            "a.b",
            "a_b",
            "a__b",
            "a---b",
            "a-b/c.d/e_f",
            "127.0.0.1:80/x",
            "xn--n3h.com/x",
            &format!("a.b/{}:{}@sha512:{}", "c".repeat(251), "t".repeat(128), HEX.repeat(2)),
            &HEX[1..],
            &format!("sha256:{HEX}"),
        ]);
    }

    #[test]
    fn refused() {
        refuses::<ImageReference>(&[
            ("", "write one such as nginx:1.29"),
            (
                "Nginx",
                "upper-case letters in its repository: write it in lower case, as in \"nginx\"",
            ),
            ("Foo/bar", "upper-case letters in its repository"),
            ("docker.io/Foo/bar:v1", "as in \"docker.io/foo/bar\""),
            ("LOCALHOST/app", "upper-case letters in its repository"),
            (HEX, "bare id"),
            ("my image", "contains ' '"),
            ("ünix", "contains 'ü'"),
            ("nginx:ü", "contains 'ü'"),
            ("nginx\n", "contains '\\n'"),
            ("https://ghcr.io/a/b", "write \"ghcr.io/a/b\""),
            ("nginx:", "is not an image"),
            (":tag", "is not an image"),
            ("nginx@", "is not an image"),
            ("a//b", "is not an image"),
            ("/a", "is not an image"),
            ("a/", "is not an image"),
            ("a___b", "is not an image"),
            ("a..b", "is not an image"),
            ("-a", "is not an image"),
            ("a:b:c", "is not an image"),
            ("[::1]:5000/app", "is not an image"),
            ("a_b.c/x", "'_' in its registry"),
            ("nginx@sha256:0123456789abcdef0123456789abcdef", "bad digest"),
            ("nginx@md5:0123456789abcdef0123456789abcdef", "bad digest"),
            (&format!("nginx@sha256:{}", HEX.to_uppercase()), "upper-case letters in its digest"),
            (&format!("nginx:{}", "t".repeat(129)), "is not an image"),
            (&format!("a.b/{}", "c".repeat(252)), "at most 255 characters"),
            (&"c".repeat(248), "at most 247 characters"),
            (&"c".repeat(521), "at most 520 characters"),
        ]);
    }
}
