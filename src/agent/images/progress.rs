//! How far a pull is, from what the engine says. Pure.

use std::collections::BTreeMap;

use crate::docker::PullProgress;

/// How far a pull is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many layers there are, as far as is known.
    pub layers: usize,
    /// How many of them are on the host, unpacked.
    pub layers_done: usize,
    /// How many bytes have come, of the layers whose size is known.
    pub current: u64,
    /// How many bytes those layers have.
    pub total: u64,
}

/// What is known of each layer.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    layers: BTreeMap<String, Layer>,
    digest: Option<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Layer {
    stage: Stage,
    current: u64,
    total: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Still comes from the registry.
    #[default]
    Coming,
    /// All of it came; it is verified, or waits to be unpacked.
    Came,
    Unpacking,
    Done,
}

impl Layers {
    /// Takes a message of the pull.
    pub fn take(&mut self, message: &PullProgress) {
        if let Some(digest) = message.status.strip_prefix("Digest: ") {
            self.digest = Some(digest.trim().to_owned());
        }
        let Some(stage) = stage(&message.status) else { return };
        if message.id.is_empty() {
            return;
        }
        let layer = self.layers.entry(message.id.clone()).or_default();
        layer.stage = stage;
        let detail = message.progress_detail;
        let (current, total) = (known(detail.current), known(detail.total));
        match stage {
            Stage::Coming if current > 0 || total > 0 => {
                layer.current = current;
                layer.total = total.max(current);
            }
            Stage::Coming => {}
            // From here on the numbers tell of the unpacking.
            _ => layer.current = layer.total,
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let layers = self.layers.values();
        Progress {
            layers: layers.len(),
            layers_done: layers.clone().filter(|layer| layer.stage == Stage::Done).count(),
            current: layers.clone().map(|layer| layer.current).sum(),
            total: layers.map(|layer| layer.total).sum(),
        }
    }

    /// Nothing more comes from the registry, and some of it is still to be unpacked: an engine
    /// says nothing while it does that.
    pub fn unpacks(&self) -> bool {
        let mut stages = self.layers.values().map(|layer| layer.stage);
        let unpacking = stages.clone().any(|stage| stage == Stage::Unpacking);
        unpacking || !self.layers.is_empty() && stages.all(|stage| stage != Stage::Coming)
    }

    /// The digest that the reference stands for, which the registry told.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }
}

/// Of a layer; none for what is said of the whole.
fn stage(status: &str) -> Option<Stage> {
    Some(match status {
        "Pulling fs layer" | "Waiting" | "Downloading" => Stage::Coming,
        "Verifying Checksum" | "Download complete" => Stage::Came,
        "Extracting" => Stage::Unpacking,
        "Pull complete" | "Already exists" => Stage::Done,
        _ if status.starts_with("Retrying in ") => Stage::Coming,
        _ => return None,
    })
}

fn known(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker::ProgressDetail;

    fn after(messages: &[(&str, &str, i64, i64)]) -> Layers {
        let mut layers = Layers::default();
        for &(id, status, current, total) in messages {
            layers.take(&PullProgress {
                id: id.to_owned(),
                status: status.to_owned(),
                progress_detail: ProgressDetail { current, total },
                ..PullProgress::default()
            });
        }
        layers
    }

    // As Docker 26 says it.
    const MESSAGES: &[(&str, &str, i64, i64)] = &[
        ("1.29", "Pulling from library/nginx", 0, 0),
        ("aa", "Pulling fs layer", 0, 0),
        ("bb", "Pulling fs layer", 0, 0),
        ("cc", "Already exists", 0, 0),
        ("bb", "Waiting", 0, 0),
        ("aa", "Downloading", 10, 100),
        ("aa", "Downloading", 100, 100),
        ("aa", "Verifying Checksum", 0, 0),
        ("aa", "Download complete", 0, 0),
        ("bb", "Downloading", 5, 50),
        ("aa", "Extracting", 1, 100),
        ("aa", "Pull complete", 0, 0),
        ("bb", "Download complete", 0, 0),
        ("bb", "Pull complete", 0, 0),
        ("", "Digest: sha256:0a", 0, 0),
        ("", "Status: Downloaded newer image for nginx:1.29", 0, 0),
    ];

    #[test]
    fn layers_and_bytes_are_counted() {
        let of =
            |layers, layers_done, current, total| Progress { layers, layers_done, current, total };
        assert_eq!(after(&MESSAGES[..1]).progress(), Progress::default());
        assert_eq!(after(&MESSAGES[..6]).progress(), of(3, 1, 10, 100));
        assert_eq!(after(&MESSAGES[..11]).progress(), of(3, 1, 105, 150));
        assert_eq!(after(MESSAGES).progress(), of(3, 3, 150, 150));
        assert_eq!(after(MESSAGES).digest(), Some("sha256:0a"));
        assert_eq!(after(&[("aa", "Downloading", -1, -1)]).progress(), of(1, 0, 0, 0));
    }

    #[test]
    fn it_unpacks_when_a_layer_is_or_nothing_more_comes() {
        for (taken, unpacks) in
            [(1, false), (6, false), (9, false), (11, true), (12, false), (13, true)]
        {
            assert_eq!(after(&MESSAGES[..taken]).unpacks(), unpacks, "{:?}", MESSAGES[taken - 1]);
        }
    }
}
