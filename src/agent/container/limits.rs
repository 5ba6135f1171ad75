//! What a container may use: memory, CPU, processes, devices' bandwidth, the size of its layer.

use super::faults::{Faults, text};
use crate::api::WorkspaceRunSpec;
use crate::api::container::{Blkio, DeviceRate, DeviceWeight, Ulimit, form};
use crate::api::grammar::{DevicePath, RawQuantity};
use crate::docker;
use crate::docker::{HostConfig, ThrottleDevice, WeightDevice};

/// The engine's own least: below, create or start fails.
const LEAST_MEMORY: i64 = 6 << 20;
const LEAST_NANO_CPUS: i128 = 10_000_000;
const SHARES_PER_CORE: i128 = 1024;
/// Two shares, the least there are, and 262144, the most.
const LEAST_REQUEST: i128 = 1_953_125;
const MOST_REQUEST: i128 = 256 * NANOS;
const NANOS: i128 = 1_000_000_000;
/// Weights of block devices.
const WEIGHTS: std::ops::RangeInclusive<i32> = 10..=1000;
/// The most processes a kernel can count.
const MOST_PIDS: i128 = 4_194_304;

/// Sets all limits.
pub fn limit(run: &WorkspaceRunSpec, host: &mut HostConfig, faults: &mut Faults) {
    resources(run, host, faults);
    let container = &run.container;
    host.shm_size = faults.size("spec.container.shmSize", container.shm_size.as_ref());
    swap(run, host, faults);
    host.memory_swappiness = container.memory_swappiness;
    host.oom_score_adj = container.oom_score_adj.map(i64::from).filter(|score| *score != 0);
    host.oom_kill_disable = container.oom_kill_disable.filter(|disabled| *disabled);
    if host.oom_kill_disable.is_some() && host.memory.is_none() {
        faults.add(
            "spec.container.oomKillDisable",
            "container.oomKillDisable needs resources.limits.memory: without a limit the whole host is at stake",
        );
    }
    for (field, set) in
        [("cpusetCpus", &container.cpuset_cpus), ("cpusetMems", &container.cpuset_mems)]
    {
        faults.fits(format!("spec.container.{field}"), set.as_ref(), &form::CPUSET);
    }
    host.cpuset_cpus = text(container.cpuset_cpus.as_ref());
    host.cpuset_mems = text(container.cpuset_mems.as_ref());
    quota(run, host, faults);
    if let Some(limits) = container.blkio.as_ref() {
        blkio(limits, host, faults);
    }
    host.ulimits =
        container.ulimits.as_ref().filter(|list| !list.is_empty()).map(|list| {
            list.iter().enumerate().map(|(i, limit)| ulimit(i, limit, faults)).collect()
        });
    let size = faults.size("spec.writableLayer.size", run.writable_layer.size.as_ref());
    host.storage_opt = size.map(|bytes| [("size".to_owned(), bytes.to_string())].into());
}

fn resources(run: &WorkspaceRunSpec, host: &mut HostConfig, faults: &mut Faults) {
    let Some(resources) = &run.resources else { return };
    if let Some(limits) = &resources.limits {
        let path = "spec.resources.limits";
        host.memory = memory(&format!("{path}.memory"), limits.memory.as_ref(), faults);
        host.pids_limit = pids(&format!("{path}.kibotos.dev/pids"), limits.pids.as_ref(), faults);
        let at = format!("{path}.cpu");
        let nanos = faults.nanos(&at, limits.cpu.as_ref());
        if nanos.is_some_and(|nanos| nanos < LEAST_NANO_CPUS) {
            faults.add(&at, "must be at least 10m: a kernel enforces no smaller CPU limit");
        }
        host.nano_cpus = nanos.and_then(|nanos| i64::try_from(nanos).ok());
        if nanos.is_some() && host.nano_cpus.is_none() {
            faults.add(&at, "is more than any host has");
        }
    }
    if let Some(requests) = &resources.requests {
        let at = "spec.resources.requests.memory";
        host.memory_reservation = memory(at, requests.memory.as_ref(), faults);
        if host.memory.is_some_and(|limit| host.memory_reservation > Some(limit)) {
            faults.add(at, "requests.memory is above limits.memory");
        }
        let at = "spec.resources.requests.cpu";
        let nanos = faults.nanos(at, requests.cpu.as_ref());
        if nanos.is_some_and(|nanos| !(LEAST_REQUEST..=MOST_REQUEST).contains(&nanos)) {
            faults.add(at, "must be from 1953125n (2 CPU shares) to 256 (262144 CPU shares)");
        }
        let shares = nanos.map(|nanos| nanos * SHARES_PER_CORE / NANOS);
        host.cpu_shares = shares.and_then(|shares| i64::try_from(shares).ok());
    }
}

fn pids(path: &str, quantity: Option<&RawQuantity>, faults: &mut Faults) -> Option<i64> {
    let nanos = faults.nanos(path, quantity)?;
    if nanos % NANOS != 0 || !(1..=MOST_PIDS).contains(&(nanos / NANOS)) {
        faults.add(path, "must be a whole number from 1 to 4194304, the most a kernel can count");
    }
    i64::try_from(nanos / NANOS).ok()
}

fn memory(path: &str, quantity: Option<&RawQuantity>, faults: &mut Faults) -> Option<i64> {
    let bytes = faults.bytes(path, quantity)?;
    if bytes < LEAST_MEMORY {
        faults.add(path, "must be at least 6Mi: the engine takes no less");
    }
    Some(bytes)
}

fn swap(run: &WorkspaceRunSpec, host: &mut HostConfig, faults: &mut Faults) {
    let path = "spec.container.memorySwap";
    host.memory_swap = faults.bytes(path, run.container.memory_swap.as_ref());
    match (host.memory_swap, host.memory) {
        (Some(swap), _) if swap < -1 || swap == 0 => faults.add(path, "must be above 0, or -1 for swap without limit"),
        (Some(_), None) => faults.add(path, "container.memorySwap needs resources.limits.memory"),
        (Some(swap), Some(memory)) if swap > 0 && swap < memory => faults.add(
            path,
            "container.memorySwap counts memory and swap together: it is below resources.limits.memory",
        ),
        _ => {}
    }
}

fn quota(run: &WorkspaceRunSpec, host: &mut HostConfig, faults: &mut Faults) {
    host.cpu_period = run.container.cpu_period.filter(|period| *period != 0);
    host.cpu_quota = run.container.cpu_quota.filter(|quota| *quota != 0);
    if host.nano_cpus.is_some() && (host.cpu_period.is_some() || host.cpu_quota.is_some()) {
        faults.add(
            "spec.resources.limits.cpu",
            "resources.limits.cpu goes with neither container.cpuQuota nor container.cpuPeriod: set one or the other",
        );
    }
}

fn ulimit(i: usize, limit: &Ulimit, faults: &mut Faults) -> docker::Ulimit {
    let Ulimit { name, soft, hard } = limit;
    if *hard != -1 && (*soft == -1 || soft > hard) {
        faults.add(format!("spec.container.ulimits[{i}].soft"), "soft is above hard");
    }
    docker::Ulimit { name: name.as_str().to_owned(), soft: *soft, hard: *hard }
}

fn blkio(limits: &Blkio, host: &mut HostConfig, faults: &mut Faults) {
    let at = |field: &str| format!("spec.container.blkio.{field}");
    if limits.weight.is_some_and(|weight| weight != 0 && !WEIGHTS.contains(&weight)) {
        faults.add(at("weight"), "must be 0 or from 10 to 1000");
    }
    for (i, device) in limits.weight_device.iter().flatten().enumerate() {
        faults.parse::<DevicePath>(&at(&format!("weightDevice[{i}].path")), &device.path);
    }
    for (field, list) in [
        ("deviceReadBps", &limits.device_read_bps),
        ("deviceWriteBps", &limits.device_write_bps),
        ("deviceReadIOps", &limits.device_read_iops),
        ("deviceWriteIOps", &limits.device_write_iops),
    ] {
        for (i, device) in list.iter().flatten().enumerate() {
            faults.parse::<DevicePath>(&at(&format!("{field}[{i}].path")), &device.path);
        }
    }
    let rates = |list: &Option<Vec<DeviceRate>>| {
        let list = list.as_ref().filter(|list| !list.is_empty())?;
        Some(list.iter().map(|d| ThrottleDevice { path: d.path.clone(), rate: d.rate }).collect())
    };
    host.blkio_weight = limits.weight.map(i64::from).filter(|weight| *weight != 0);
    host.blkio_weight_device =
        limits.weight_device.as_ref().filter(|list| !list.is_empty()).map(|list| {
            let of =
                |d: &DeviceWeight| WeightDevice { path: d.path.clone(), weight: d.weight.into() };
            list.iter().map(of).collect()
        });
    host.blkio_device_read_bps = rates(&limits.device_read_bps);
    host.blkio_device_write_bps = rates(&limits.device_write_bps);
    host.blkio_device_read_iops = rates(&limits.device_read_iops);
    host.blkio_device_write_iops = rates(&limits.device_write_iops);
}
