//! The watching tasks, and what they have said.

use super::observation::PROGRAM;
use crate::{Hosts, Running, eventually};
use std::collections::BTreeMap;
use std::time::Duration;

/// A task that watches has begun within this, also on a busy computer.
const BEGIN: Duration = Duration::from_secs(60);

/// Starts the program on a host and waits until it is ready.
pub(super) fn start(hosts: &Hosts, host: &str, words: &[&str]) -> Running {
    let program = hosts.compile(PROGRAM);
    let mut running = Running::start(hosts.on(host, &[&[program.as_str()], words].concat()));
    let ready = || running.so_far().starts_with("ready\n") || !running.is_running();
    let is_ready = eventually(BEGIN, ready) && running.so_far().starts_with("ready\n");
    assert!(is_ready, "{host}: faults {words:?}: {}\n{}", running.errors_so_far(), hosts.logs());
    running
}

/// A watcher on each host.
pub(super) struct Watchers(BTreeMap<String, Running>);

impl Watchers {
    /// One on each of these.
    pub(super) fn start(hosts: &Hosts, on: &[String]) -> Self {
        let one = |host: &String| (host.clone(), start(hosts, host, &["watch"]));
        Self(on.iter().map(one).collect())
    }

    /// One more, in the place of one that is gone.
    pub(super) fn restart(&mut self, hosts: &Hosts, host: &str) {
        self.0.insert(host.to_owned(), start(hosts, host, &["watch"]));
    }

    /// This host is gone.
    pub(super) fn forget(&mut self, host: &str) {
        self.0.remove(host);
    }

    /// The notices that `host` got since a moment, such as `host-delete h2`, by their times.
    pub(super) fn told(&self, host: &str, what: &str, since_s: f64) -> Vec<f64> {
        let said = self.0.get(host).map(Running::so_far).unwrap_or_default();
        let matching = |line: &str| {
            let (moment, rest) = line.split_once(' ')?;
            (rest == what).then(|| moment.parse().ok()).flatten()
        };
        said.lines().filter_map(matching).filter(|moment| *moment >= since_s).collect()
    }

    /// Waits until every watcher was told; when each was, in seconds since then.
    pub(super) fn await_told(&self, what: &str, since_s: f64, limit: Duration) -> Vec<f64> {
        let all = || self.0.keys().all(|host| !self.told(host, what, since_s).is_empty());
        eventually(limit, all);
        let told =
            |host: &String| self.told(host, what, since_s).into_iter().map(|at| at - since_s);
        self.0.keys().flat_map(told).collect()
    }

    /// All lines of all that speak of an end.
    pub(super) fn ends(&self) -> Vec<String> {
        let lines = self.0.iter().flat_map(|(host, running)| {
            let said = running.so_far();
            said.lines()
                .filter(|line| line.contains("host-delete") || line.contains("task-exit"))
                .map(|line| format!("{host}: {line}"))
                .collect::<Vec<_>>()
        });
        lines.collect()
    }

    /// Lets them end; true if all did so in order.
    pub(super) fn finish(self) -> bool {
        self.0.into_values().all(|running| running.finish(BEGIN).code() == 0)
    }
}

/// The pauses of a `pair` that is over: when each began and how long it was, in seconds.
pub(super) fn stalls(said: &str) -> Vec<(f64, f64)> {
    let stall = |line: &str| {
        let (at, spent) = line.strip_prefix("stall ")?.split_once(' ')?;
        Some((at.parse().ok()?, spent.parse().ok()?))
    };
    said.lines().filter_map(stall).collect()
}
