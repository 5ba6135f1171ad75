//! What a container may use.

use super::{Body, valid};
use crate::api::Container;
use crate::api::container::{Blkio, DeviceRate, DeviceWeight, Ulimit, UlimitName};
use crate::api::grammar::{AbsolutePath, Quantity, RawQuantity};
use crate::api::resources::{ResourceLimits, ResourceRequests, Resources};
use crate::api::workspace::WorkspaceSpec;
use crate::import::notes::Notes;
use crate::import::object::Object;
use crate::import::size;

const LEAST_MEMORY: i64 = 6 << 20;
const LEAST_NANO_CPUS: i64 = 10_000_000;
const NANOS: i128 = 1_000_000_000;
const SHARES_PER_CORE: i128 = 1024;
/// More than this a quantity cannot say.
const MOST: i64 = i64::MAX - 1;

const ULIMITS: [UlimitName; 15] = [
    UlimitName::Core,
    UlimitName::Cpu,
    UlimitName::Data,
    UlimitName::Fsize,
    UlimitName::Locks,
    UlimitName::Memlock,
    UlimitName::Msgqueue,
    UlimitName::Nice,
    UlimitName::Nofile,
    UlimitName::Nproc,
    UlimitName::Rss,
    UlimitName::Rtprio,
    UlimitName::Rttime,
    UlimitName::Sigpending,
    UlimitName::Stack,
];

/// All limits.
pub fn read(
    body: &mut Body<'_>,
    container: &mut Container,
    spec: &mut WorkspaceSpec,
    notes: &mut Notes,
) {
    let host = &mut body.host;
    let memory = amount("Memory", LEAST_MEMORY, MOST, host, notes);
    let reserved = amount("MemoryReservation", LEAST_MEMORY, MOST, host, notes);
    let reserved = reserved.filter(|reserved| {
        let fits = memory.is_none_or(|limit| *reserved <= limit);
        if !fits {
            let message = format!("is above {}: left out", notes.name("HostConfig.Memory"));
            notes.warn("HostConfig.MemoryReservation", message);
        }
        fits
    });
    let nanos = amount("NanoCpus", LEAST_NANO_CPUS, MOST, host, notes);
    let shares = amount("CpuShares", 2, 262_144, host, notes);
    let pids = host.int("PidsLimit", notes).filter(|n| *n > 0);
    let pids = pids.and_then(|n| valid::ranged("HostConfig.PidsLimit", n, 1, 4_194_304, notes));
    let limits = ResourceLimits {
        cpu: nanos.and_then(|n| cores(n.into())),
        memory: memory.and_then(bytes),
        pids: pids.map(RawQuantity::from),
    };
    let requests = ResourceRequests {
        // Rounded up, so that rounding down gives the same number of shares back.
        cpu: shares
            .and_then(|n| cores((i128::from(n) * NANOS + SHARES_PER_CORE - 1) / SHARES_PER_CORE)),
        memory: reserved.and_then(bytes),
    };
    let resources = Resources {
        limits: Some(limits).filter(|limits| *limits != ResourceLimits::default()),
        requests: Some(requests).filter(|requests| *requests != ResourceRequests::default()),
    };
    spec.resources = Some(resources).filter(|resources| *resources != Resources::default());
    container.memory_swap = swap(memory, host, notes);
    container.shm_size = amount("ShmSize", 1, MOST, host, notes).and_then(bytes);
    spec.writable_layer.size = storage(host, notes);
    kernel(nanos.is_some(), host, container, notes);
    container.oom_kill_disable = spared(memory.is_some(), host, notes);
    container.ulimits = ulimits(host, notes);
    container.blkio = blkio(host, notes);
}

/// A number above 0 that the CRD takes; 0 is none.
fn amount(
    key: &str,
    least: i64,
    most: i64,
    host: &mut Object<'_>,
    notes: &mut Notes,
) -> Option<i64> {
    let number = host.int(key, notes).filter(|number| *number != 0)?;
    valid::ranged(&host.at(key), number, least, most, notes)
}

fn cores(nanos: i128) -> Option<RawQuantity> {
    Quantity::from_nanos(nanos).ok().map(RawQuantity::from)
}

fn bytes(bytes: i64) -> Option<RawQuantity> {
    Quantity::from_bytes(bytes).ok().map(RawQuantity::from)
}

fn swap(memory: Option<i64>, host: &mut Object<'_>, notes: &mut Notes) -> Option<RawQuantity> {
    let at = host.at("MemorySwap");
    let swap = host.int("MemorySwap", notes).filter(|n| *n != 0)?;
    let Some(memory) = memory else {
        notes.warn(&at, format!("needs {}: left out", notes.name("HostConfig.Memory")));
        return None;
    };
    if swap == -1 {
        return Some(RawQuantity::from(-1));
    }
    if swap < memory {
        let limit = notes.name("HostConfig.Memory");
        let message = format!("counts memory and swap together, and is below {limit}: left out");
        notes.warn(&at, message);
        return None;
    }
    bytes(swap)
}

fn storage(host: &mut Object<'_>, notes: &mut Notes) -> Option<RawQuantity> {
    let mut options = host.object("StorageOpt", notes);
    let text = options.text("size", notes);
    let at = options.at("size");
    options.finish(notes);
    let text = text?;
    let size = size::bytes(&text).filter(|size| *size > 0).and_then(bytes);
    if size.is_none() {
        notes.warn(&at, format!("{text:?} is no size such as 10G: left out"));
    }
    size
}

fn kernel(limited: bool, host: &mut Object<'_>, container: &mut Container, notes: &mut Notes) {
    container.memory_swappiness = host
        .int("MemorySwappiness", notes)
        .filter(|n| *n != -1)
        .and_then(|n| valid::ranged("HostConfig.MemorySwappiness", n, 0, 100, notes));
    container.oom_score_adj = host
        .int("OomScoreAdj", notes)
        .filter(|n| *n != 0)
        .and_then(|n| valid::small("HostConfig.OomScoreAdj", n, -1000, 1000, notes));
    let mut set = |key: &str| {
        let text = host.text(key, notes)?;
        valid::if_so(
            &host.at(key),
            &text,
            valid::is_cpu_set,
            "is not made of numbers and ranges such as 0-2,4",
            notes,
        )
    };
    container.cpuset_cpus = set("CpusetCpus");
    container.cpuset_mems = set("CpusetMems");
    container.cpu_period = amount("CpuPeriod", 1000, 1_000_000, host, notes);
    // -1 is an engine's own way to say "without limit".
    let quota = host.int("CpuQuota", notes).filter(|n| !matches!(n, 0 | -1));
    container.cpu_quota =
        quota.and_then(|n| valid::ranged("HostConfig.CpuQuota", n, 1000, i64::MAX, notes));
    if limited {
        for (key, field) in
            [("CpuPeriod", &mut container.cpu_period), ("CpuQuota", &mut container.cpu_quota)]
        {
            if field.take().is_some() {
                let cpus = notes.name("HostConfig.NanoCpus");
                notes.warn(&host.at(key), format!("goes not with {cpus}: left out"));
            }
        }
    }
}

/// Whether the kernel spares the container, which without a limit puts the whole host at stake.
fn spared(limited: bool, host: &mut Object<'_>, notes: &mut Notes) -> Option<bool> {
    let on = host.flag("OomKillDisable", notes).filter(|on| *on)?;
    if !limited {
        let limit = notes.name("HostConfig.Memory");
        let message = format!("needs {limit}, or the whole host is at stake: left out");
        notes.warn(&host.at("OomKillDisable"), message);
    }
    Some(on).filter(|_| limited)
}

fn ulimits(host: &mut Object<'_>, notes: &mut Notes) -> Option<Vec<Ulimit>> {
    let mut list: Vec<Ulimit> = Vec::new();
    for (at, value) in host.list("Ulimits", notes) {
        let mut object = Object::of(&at, value, notes);
        let name = object.text("Name", notes).unwrap_or_default();
        let soft = object.int("Soft", notes).unwrap_or_default();
        let hard = object.int("Hard", notes).unwrap_or_default();
        object.finish(notes);
        let Some(name) = super::mounts::one_of(&at, &name, &ULIMITS, UlimitName::as_str, notes)
        else {
            continue;
        };
        let ordered = hard == -1 || (soft != -1 && soft <= hard);
        if soft < -1 || hard < -1 || !ordered {
            notes.warn(&at, "soft is above hard, or below -1: left out");
            continue;
        }
        if list.iter().any(|limit| limit.name == name) {
            notes.warn(&at, format!("{} is set twice: left out", name.as_str()));
            continue;
        }
        list.push(Ulimit { name, soft, hard });
    }
    Some(list).filter(|list| !list.is_empty())
}

fn blkio(host: &mut Object<'_>, notes: &mut Notes) -> Option<Blkio> {
    let weight = amount("BlkioWeight", 10, 1000, host, notes).and_then(|n| i32::try_from(n).ok());
    let weights: Vec<_> = devices("BlkioWeightDevice", "Weight", 10, 1000, host, notes)
        .into_iter()
        .filter_map(|(path, n)| Some(DeviceWeight { path, weight: i32::try_from(n).ok()? }))
        .collect();
    let mut rates = |key: &str| {
        let list = devices(key, "Rate", 1, i64::MAX, host, notes);
        let list = list.into_iter().map(|(path, rate)| DeviceRate { path, rate }).collect();
        valid::bounded(&host.at(key), list, 64, notes)
    };
    let blkio = Blkio {
        weight,
        device_read_bps: rates("BlkioDeviceReadBps"),
        device_write_bps: rates("BlkioDeviceWriteBps"),
        device_read_iops: rates("BlkioDeviceReadIOps"),
        device_write_iops: rates("BlkioDeviceWriteIOps"),
        weight_device: valid::bounded(&host.at("BlkioWeightDevice"), weights, 64, notes),
    };
    Some(blkio).filter(|blkio| *blkio != Blkio::default())
}

fn devices(
    key: &str,
    member: &str,
    least: i64,
    most: i64,
    host: &mut Object<'_>,
    notes: &mut Notes,
) -> Vec<(String, i64)> {
    let mut list = Vec::new();
    for (at, value) in host.list(key, notes) {
        let mut object = Object::of(&at, value, notes);
        let path = object.text("Path", notes).unwrap_or_default();
        let path = valid::path::<AbsolutePath>(&object.at("Path"), &path, notes);
        let number = object.int(member, notes).unwrap_or_default();
        let number = valid::ranged(&object.at(member), number, least, most, notes);
        object.finish(notes);
        if let (Some(path), Some(number)) = (path, number) {
            list.push((path, number));
        }
    }
    list
}
