//! Images, and what their names mean.

use serde_json::{Value, json};

use super::{
    answer::{Answer, Reply, json_of, refusal},
    call::Call,
    container::Container,
    state::{State, fresh_id, short},
};

const FILTERS: [&str; 6] = ["before", "dangling", "label", "reference", "since", "until"];

#[derive(Clone, Debug)]
pub struct Image {
    /// `sha256:` and 64 digits.
    pub id: String,
    /// `name:tag`, as they are shown.
    pub tags: Vec<String>,
    /// `name@sha256:…`.
    pub digests: Vec<String>,
    pub config: Value,
    pub os: String,
    pub architecture: String,
    pub size: u64,
}

impl Image {
    /// One of this name and these settings (`Config` of an image).
    pub fn new(tag: &str, config: Value) -> Self {
        let name = name_of(tag);
        let digests = vec![format!("{name}@sha256:{}", fresh_id())];
        let tags = if tag.contains('@') { Vec::new() } else { vec![familiar(tag)] };
        let digests = if tag.contains('@') { vec![familiar(tag)] } else { digests };
        Self {
            id: format!("sha256:{}", fresh_id()),
            tags,
            digests,
            config,
            os: "linux".into(),
            architecture: "amd64".into(),
            size: 1_984_229,
        }
    }

    fn has(&self, reference: &str) -> bool {
        self.tags.iter().chain(&self.digests).any(|name| name == reference)
    }

    fn references(&self) -> Value {
        json!({ "RepoTags": self.tags, "RepoDigests": self.digests, "Id": self.id })
    }
}

/// A reference as it is shown: without docker.io, and with a tag.
pub fn familiar(reference: &str) -> String {
    let short = reference.strip_prefix("docker.io/").unwrap_or(reference);
    let short = short.strip_prefix("library/").unwrap_or(short);
    if let Some((name, digest)) = short.split_once('@') {
        return format!("{}@{digest}", name_of(name));
    }
    let tagged = short.rsplit('/').next().is_some_and(|last| last.contains(':'));
    if tagged { short.to_owned() } else { format!("{short}:latest") }
}

/// Without tag and digest.
fn name_of(reference: &str) -> String {
    let plain = reference.split('@').next().unwrap_or_default();
    let last = plain.rfind('/').map_or(0, |at| at + 1);
    let end = plain[last..].find(':').map_or(plain.len(), |at| last + at);
    let name = &plain[..end];
    let name = name.strip_prefix("docker.io/").unwrap_or(name);
    name.strip_prefix("library/").unwrap_or(name).to_owned()
}

pub fn well_formed(reference: &str) -> Result<(), Answer> {
    let name = name_of(reference);
    let path = name.split_once('/').map_or(name.as_str(), |(_, path)| path);
    if path.chars().any(|c| c.is_ascii_uppercase()) {
        let message = "invalid reference format: repository name must be lowercase";
        return Err(refusal(400, message));
    }
    if name.is_empty() || name.chars().any(char::is_whitespace) {
        return Err(refusal(400, "invalid reference format"));
    }
    Ok(())
}

impl State {
    /// By id, the start of an id, or reference.
    pub fn image_named(&self, word: &str) -> Result<&Image, Answer> {
        let hex = word.strip_prefix("sha256:").unwrap_or(word);
        let is_id = hex.len() >= 4 && hex.bytes().all(|b| b.is_ascii_hexdigit());
        let by_id =
            || self.images.iter().find(|i| is_id && i.id["sha256:".len()..].starts_with(hex));
        let by_name = || self.images.iter().find(|image| image.has(&familiar(word)));
        if let Some(image) = by_id().or_else(by_name) {
            return Ok(image);
        }
        well_formed(word)?;
        Err(refusal(404, format!("No such image: {}", familiar(word))))
    }

    pub fn image(&self, word: &str) -> Reply {
        let image = self.image_named(word).map_err(|refused| match refused.status {
            404 => {
                let message = format!("no such image: {word}: No such image: {}", familiar(word));
                refusal(404, message)
            }
            _ => refused,
        })?;
        let mut json = image.references();
        json["Config"] = image.config.clone();
        json["Architecture"] = image.architecture.as_str().into();
        json["Os"] = image.os.as_str().into();
        json["Size"] = image.size.into();
        json["Created"] = "1970-01-01T00:00:00Z".into();
        Ok(json_of(200, json))
    }

    pub fn list_images(&self, call: &Call) -> Reply {
        let filters = call.filters(&FILTERS)?;
        let chosen = self.images.iter().filter(|image| {
            filters.labels(&image.config["Labels"])
                && filters.any("reference", |wanted| image.has(&familiar(wanted)))
                && filters.any("dangling", |wanted| {
                    image.tags.is_empty() == ["true", "1"].contains(&wanted)
                })
        });
        let list = chosen.map(|image| {
            let mut json = image.references();
            for (key, value) in [("Created", json!(0)), ("Containers", json!(-1))] {
                json[key] = value;
            }
            json["Labels"] = image.config["Labels"].clone();
            json["Size"] = image.size.into();
            json
        });
        Ok(json_of(200, list.collect::<Vec<_>>().into()))
    }

    /// `POST /images/{name}/tag`.
    pub fn tag(&mut self, word: &str, call: &Call) -> Reply {
        let id = self.image_named(word)?.id.clone();
        let tag = Some(call.parameter("tag")).filter(|tag| !tag.is_empty()).unwrap_or("latest");
        let name = familiar(&format!("{}:{tag}", call.parameter("repo")));
        for image in &mut self.images {
            image.tags.retain(|known| *known != name);
            if image.id == id {
                image.tags.push(name.clone());
            }
        }
        self.forget_lists();
        Ok(super::answer::empty(201))
    }

    pub fn remove_image(&mut self, word: &str, call: &Call) -> Reply {
        let force = call.flag("force");
        let image = self.image_named(word)?.clone();
        let reference = familiar(word);
        let by_reference = image.has(&reference);
        let uses = |c: &&Container| c.image_id == image.id;
        let holding = self.containers.values().filter(uses).max_by_key(|c| c.is_running());
        let last = image.tags.len() <= 1;
        let running = holding.is_some_and(Container::is_running);
        let (id, holder) = (short(&image.id), holding.map_or("", |container| short(&container.id)));
        if by_reference && last && holding.is_some() && !force {
            let message = format!(
                "conflict: unable to remove repository reference \"{word}\" (must force) - \
                 container {holder} is using its referenced image {id}"
            );
            return Err(refusal(409, message));
        }
        if !by_reference {
            let why = match holding {
                Some(_) if running => Some((
                    "cannot be forced",
                    format!("image is being used by running container {holder}"),
                )),
                Some(_) if !force => Some((
                    "must be forced",
                    format!("image is being used by stopped container {holder}"),
                )),
                None if !last && !force => Some((
                    "must be forced",
                    "image is referenced in multiple repositories".to_owned(),
                )),
                _ => None,
            };
            if let Some((how, why)) = why {
                let message = format!("conflict: unable to delete {id} ({how}) - {why}");
                return Err(refusal(409, message));
            }
        }
        let gone = if by_reference { vec![reference] } else { image.tags.clone() };
        Ok(json_of(200, self.untag(&image, &gone, last && !running)))
    }

    fn untag(&mut self, image: &Image, gone: &[String], whole: bool) -> Value {
        let mut said: Vec<_> = gone.iter().map(|name| json!({ "Untagged": name })).collect();
        for stored in self.images.iter_mut().filter(|stored| stored.id == image.id) {
            stored.tags.retain(|tag| !gone.contains(tag));
        }
        for name in gone {
            self.tell_of("image", "untag", &image.id, &[("name", name)]);
        }
        if whole {
            said.push(json!({ "Deleted": image.id }));
            self.images.retain(|stored| stored.id != image.id);
            self.tell_of("image", "delete", &image.id, &[("name", &image.id)]);
        }
        self.forget_lists();
        said.into()
    }
}
