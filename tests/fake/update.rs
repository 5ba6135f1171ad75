//! `POST /containers/{id}/update`: resources and the restart policy; the rest is ignored.

use serde_json::{Value, json};

use super::{
    answer::{Answer, Reply, json_of, refusal},
    call::Call,
    state::State,
    validate,
};

/// What an update sets where it is neither absent nor 0.
const RESOURCES: [&str; 11] = [
    "BlkioWeight",
    "CpuPeriod",
    "CpuQuota",
    "CpuShares",
    "CpusetCpus",
    "CpusetMems",
    "KernelMemory",
    "Memory",
    "MemoryReservation",
    "MemorySwap",
    "NanoCpus",
];

impl State {
    pub fn update_call(&mut self, word: &str, call: &Call) -> Reply {
        let body = call.json()?;
        if body["Memory"].is_string() {
            let status = if self.since(44) { 400 } else { 500 };
            let message = "json: cannot unmarshal string into Go struct field \
                           UpdateConfig.Memory of type int64";
            return Err(refusal(status, message));
        }
        validate::restart_policy(&body["RestartPolicy"])?;
        validate::least_memory(body)?;
        validate::cpus(self, body)?;
        let container = self.get(word)?;
        let host = updated(&container.host, body).map_err(|why| {
            refusal(409, format!("Cannot update container {}: {why}", container.id))
        })?;
        let container = self.get_mut(word)?;
        container.host = host;
        let told = container.clone();
        self.tell(&told, "update", &[]);
        Ok(json_of(200, json!({ "Warnings": null })))
    }

    /// Changes the state of health, as a probe would.
    pub fn probed(&mut self, word: &str, health: &str) -> Result<(), Answer> {
        let container = self.get_mut(word)?;
        container.health = Some(health.to_owned());
        let told = container.clone();
        self.tell(&told, &format!("health_status: {health}"), &[]);
        Ok(())
    }
}

fn updated(host: &Value, body: &Value) -> Result<Value, &'static str> {
    let amount = |of: &Value, key: &str| of[key].as_i64().unwrap_or(0);
    let (memory, swap) = (amount(body, "Memory"), amount(body, "MemorySwap"));
    let set = amount(host, "MemorySwap");
    // Where there is no limit yet, any memory alone passes the limit of swap that is not set.
    if memory != 0 && swap == 0 && set != -1 && memory > set {
        return Err("Memory limit should be smaller than already set memoryswap limit, \
             update the memoryswap at the same time");
    }
    if amount(body, "CpuQuota") > 0 && amount(host, "NanoCpus") > 0 {
        return Err(
            "Conflicting options: CPU Quota cannot be updated as NanoCPUs has already been set",
        );
    }
    if amount(body, "NanoCpus") > 0 && amount(host, "CpuQuota") > 0 {
        return Err(
            "Conflicting options: Nano CPUs cannot be updated as CPU Quota has already been set",
        );
    }
    let mut updated = host.clone();
    for key in RESOURCES {
        if !super::normalise::is_blank(&body[key]) {
            updated[key] = body[key].clone();
        }
    }
    if let Some(limit) = body["PidsLimit"].as_i64() {
        updated["PidsLimit"] = limit.max(0).into();
    }
    let policy = &body["RestartPolicy"];
    if let Some(name) = policy["Name"].as_str().filter(|name| !name.is_empty()) {
        let count = amount(policy, "MaximumRetryCount");
        updated["RestartPolicy"] = json!({ "Name": name, "MaximumRetryCount": count });
    }
    Ok(updated)
}
