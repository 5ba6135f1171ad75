//! What of a container's limits and restart policy is not as wished.

use super::{SeenContainer, Wish};
use crate::docker::{RestartPolicy, Update};

/// Whether all of a change is seen.
pub(super) fn is_in_force(change: &Update, container: &SeenContainer) -> bool {
    let policy = change.restart_policy.as_ref();
    policy.is_none_or(|policy| same_policy(policy, &container.policy))
        && beyond(change, &container.limits).is_empty()
}

/// What of limits and policy is not as wished.
pub(super) fn due(wish: &Wish, container: &SeenContainer) -> Update {
    let mut change = beyond(&wish.limits, &container.limits);
    if !same_policy(&wish.policy, &container.policy) {
        change.restart_policy = Some(wish.policy.clone());
    }
    change
}

/// Whether two restart policies mean the same.
fn same_policy(a: &RestartPolicy, b: &RestartPolicy) -> bool {
    let of = |policy: &RestartPolicy| {
        let name = if policy.name.is_empty() { "no".to_owned() } else { policy.name.clone() };
        (name, policy.maximum_retry_count.unwrap_or_default())
    };
    of(a) == of(b)
}

/// What of the wished limits is not in force.
fn beyond(wished: &Update, inforce: &Update) -> Update {
    // No `..`: a limit that is added must be compared.
    let Update {
        memory,
        memory_reservation,
        memory_swap,
        nano_cpus,
        cpu_shares,
        cpu_period,
        cpu_quota,
        cpuset_cpus,
        cpuset_mems,
        blkio_weight,
        pids_limit,
        restart_policy: _,
    } = wished;
    let memory = other(memory.as_ref(), inforce.memory.as_ref());
    Update {
        // The engine refuses more memory than there is of memory and swap: they go together.
        memory_swap: if memory.is_some() { *memory_swap } else { None },
        memory,
        memory_reservation: other(memory_reservation.as_ref(), inforce.memory_reservation.as_ref()),
        nano_cpus: other(nano_cpus.as_ref(), inforce.nano_cpus.as_ref()),
        cpu_shares: other(cpu_shares.as_ref(), inforce.cpu_shares.as_ref()),
        cpu_period: other(cpu_period.as_ref(), inforce.cpu_period.as_ref()),
        cpu_quota: other(cpu_quota.as_ref(), inforce.cpu_quota.as_ref()),
        cpuset_cpus: other(cpuset_cpus.as_ref(), inforce.cpuset_cpus.as_ref()),
        cpuset_mems: other(cpuset_mems.as_ref(), inforce.cpuset_mems.as_ref()),
        blkio_weight: other(blkio_weight.as_ref(), inforce.blkio_weight.as_ref()),
        pids_limit: other(pids_limit.as_ref(), inforce.pids_limit.as_ref()),
        restart_policy: None,
    }
}

fn other<T: Clone + PartialEq>(wished: Option<&T>, inforce: Option<&T>) -> Option<T> {
    wished.filter(|wished| Some(*wished) != inforce).cloned()
}
