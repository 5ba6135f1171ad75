//! What the engine says of itself.

use serde_json::json;

use super::{
    answer::{Answer, json_of},
    container::{Container, Status},
    images::Image,
    state::{State, now},
};

/// The engine that came with an API version.
fn release(api: (u16, u16)) -> &'static str {
    match api.1 {
        ..=41 => "20.10.24",
        42 => "23.0.6",
        43 => "24.0.9",
        44 => "25.0.5",
        45 => "26.1.5",
        46 | 47 => "27.5.1",
        48..=51 => "28.5.2",
        _ => "29.0.0",
    }
}

/// The oldest version that such an engine speaks.
pub fn oldest(api: (u16, u16)) -> (u16, u16) {
    match api.1 {
        ..=43 => (1, 12),
        44..=51 => (1, 24),
        _ => (1, 44),
    }
}

impl State {
    pub fn version(&self) -> Answer {
        let api = self.options.api;
        let oldest = oldest(api);
        json_of(
            200,
            json!({
                "Platform": { "Name": "" }, "Version": release(api),
                "ApiVersion": format!("{}.{}", api.0, api.1),
                "MinAPIVersion": format!("{}.{}", oldest.0, oldest.1),
                "Os": "linux", "Arch": "amd64", "KernelVersion": "6.1.0",
            }),
        )
    }

    pub fn info(&self) -> Answer {
        let count = |judge: &dyn Fn(&Container) -> bool| {
            self.containers.values().filter(|container| judge(container)).count()
        };
        let paused = count(&|c| c.status == Status::Paused);
        let running = count(&Container::is_running) - paused;
        json_of(
            200,
            json!({
                "ID": "FAKE:ENGI:NE00", "Name": "fake",
                "Containers": self.containers.len(), "ContainersRunning": running,
                "ContainersPaused": paused,
                "ContainersStopped": self.containers.len() - running - paused,
                "Images": self.images.len(), "Driver": "overlay2",
                "DriverStatus": [["Backing Filesystem", "extfs"]],
                "ServerVersion": release(self.options.api), "OSType": "linux",
                "OperatingSystem": "Debian GNU/Linux 12 (bookworm)", "Architecture": "x86_64",
                "KernelVersion": "6.1.0", "NCPU": self.options.cpus,
                "MemTotal": self.options.memory, "DockerRootDir": "/var/lib/docker",
                "CgroupDriver": "cgroupfs", "CgroupVersion": "1", "DefaultRuntime": "runc",
                "Runtimes": { "runc": { "path": "runc" }, "io.containerd.runc.v2": { "path": "runc" } },
                "LiveRestoreEnabled": self.options.live_restore,
                "SecurityOptions": ["name=seccomp,profile=default"],
                "SystemTime": now().to_string(), "Warnings": null,
            }),
        )
    }

    pub fn disk_usage(&self) -> Answer {
        let size: u64 = self.images.iter().map(|image| image.size).sum();
        json_of(
            200,
            json!({
                "LayersSize": size, "Images": [], "Containers": [], "Volumes": [],
                "BuildCache": null, "BuilderSize": 0,
            }),
        )
    }

    /// Puts an image into the engine; others lose its tags.
    pub fn store(&mut self, image: Image) {
        for other in &mut self.images {
            other.tags.retain(|tag| !image.tags.contains(tag));
        }
        self.images.retain(|other| other.id != image.id);
        if let Some(name) = image.tags.first() {
            self.tell_of("image", "pull", name, &[("name", name)]);
        }
        self.images.push(image);
        self.forget_lists();
    }
}
