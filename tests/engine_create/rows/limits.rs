//! Memory, CPU, processes, bandwidth of devices, size of the layer.

use serde_json::{Value, json};

use super::Outcome::{NotCreated, Unless};
use super::{Row, host, row};
use crate::engine_create::Bench;

pub fn limits(_: &Bench) -> Vec<Row> {
    let device = block_device();
    let rate = json!([{ "path": device, "rate": 1_048_576 }]);
    let rates = json!([{ "Path": device, "Rate": 1_048_576 }]);
    let limits = |limits: Value| json!({ "resources": { "limits": limits } });
    vec![
        host(
            json!({}),
            json!({
                "Memory": 536_870_912, "MemorySwap": 1_073_741_824, "MemoryReservation": 268_435_456,
                "NanoCpus": 500_000_000, "CpuShares": 512, "PidsLimit": 100,
            }),
        )
        .with(json!({ "resources": {
            "limits": { "memory": "512Mi", "cpu": "500m", "kibotos.dev/pids": 100 },
            "requests": { "memory": "256Mi", "cpu": "500m" },
        } })),
        row(json!({}), json!({}))
            .with(limits(json!({ "cpu": "10k" })))
            .but(NotCreated(&["Range of CPUs is from 0.01 to"])),
        host(json!({ "memorySwap": "1Gi" }), json!({ "MemorySwap": 1_073_741_824 }))
            .with(limits(json!({ "memory": "512Mi" }))),
        host(json!({ "memorySwap": -1 }), json!({ "MemorySwap": -1 }))
            .with(limits(json!({ "memory": "512Mi" }))),
        host(json!({ "memorySwappiness": 0 }), json!({ "MemorySwappiness": 0 }))
            .but(Unless("memory swappiness")),
        host(json!({ "oomKillDisable": true }), json!({ "OomKillDisable": true }))
            .with(limits(json!({ "memory": "512Mi" })))
            .but(Unless("OomKillDisable")),
        host(
            json!({ "cpusetCpus": "0", "cpusetMems": "0" }),
            json!({ "CpusetCpus": "0", "CpusetMems": "0" }),
        ),
        row(json!({ "cpusetCpus": "4095" }), json!({}))
            .but(NotCreated(&["Requested CPUs are not available"])),
        host(
            json!({ "cpuPeriod": 100_000, "cpuQuota": 50_000 }),
            json!({ "CpuPeriod": 100_000, "CpuQuota": 50_000, "NanoCpus": 0 }),
        ),
        host(json!({ "blkio": { "weight": 300 } }), json!({ "BlkioWeight": 300 }))
            .but(Unless("Block I/O weight")),
        host(
            json!({ "blkio": { "weightDevice": [{ "path": device, "weight": 10 }] } }),
            json!({ "BlkioWeightDevice": [{ "Path": device, "Weight": 10 }] }),
        )
        .but(Unless("Block I/O weight_device")),
        host(
            json!({ "blkio": {
                "deviceReadBps": rate, "deviceWriteBps": rate, "deviceReadIOps": rate, "deviceWriteIOps": rate,
            } }),
            json!({
                "BlkioDeviceReadBps": rates, "BlkioDeviceWriteBps": rates,
                "BlkioDeviceReadIOps": rates, "BlkioDeviceWriteIOps": rates,
            }),
        ),
        // Only an engine over XFS with project quotas, Btrfs or ZFS bounds a writable layer.
        host(json!({}), json!({ "StorageOpt": { "size": "1073741824" } }))
            .with(json!({ "writableLayer": { "size": "1Gi" } }))
            .but(NotCreated(&[
                "--storage-opt is supported only for overlay over xfs with 'pquota' mount option",
                "--storage-opt is not supported for vfs",
            ])),
    ]
}

/// A disk of this machine, or what would be one.
fn block_device() -> String {
    let disks = std::fs::read_dir("/sys/block").into_iter().flatten();
    let disk = disks.flatten().map(|disk| disk.file_name()).min().unwrap_or_else(|| "sda".into());
    format!("/dev/{}", disk.display())
}
