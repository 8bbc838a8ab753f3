//! One host: its machine, and what its parent process would keep.

use crate::archive::{Archive, Record};
use crate::clock::Clock;
use crate::sums::Sums;
use pvm_core::io::{Event, HostFacts};
use pvm_core::{Config, Machine, Rules, Setup};
use pvm_quorum::{Core, Limits};
use pvm_wire::{Blob, HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The facts of a host of this name.
pub(crate) fn facts(name: &str) -> HostFacts {
    HostFacts {
        name: name.into(),
        arch: "LINUX64".into(),
        signature: 0x408c41,
        cores: 2,
        speed: 1000,
        addresses: vec![format!("{name}:1")],
        search: vec!["/bin".into()],
        ..HostFacts::default()
    }
}

/// A process that is or was a task.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// The id that it was launched with.
    pub launched: Option<Tid>,
    /// The id that it enrolled with last.
    pub tid: Option<Tid>,
    /// All ids that it had; the parent tells the end of each.
    pub tids: Vec<Tid>,
    /// Its connection.
    pub connection: Option<u64>,
}

/// One host of the world.
#[derive(Debug)]
pub struct Node {
    /// The daemon, unless it has crashed.
    pub machine: Option<Machine>,
    /// The configuration of a new daemon.
    pub config: Config,
    /// The records that the parent keeps.
    records: BTreeSet<Record>,
    sums: Sums,
    /// Events whose effects the parent has not seen.
    pub undone: VecDeque<Event>,
    /// The processes, by pid.
    pub processes: BTreeMap<u32, Process>,
    /// Connections, with the process at their other end.
    pub connections: BTreeMap<u64, u32>,
    /// Until when its daemon is stopped (`SIGSTOP`): inputs wait meanwhile.
    pub paused_until: u64,
    /// Until when nothing of other hosts arrives: their kernels try again at growing distances.
    pub hears_from: u64,
    /// Its clock.
    pub(crate) clock: Clock,
    rules: Rules,
    seed: u64,
    limits: Limits,
    pid_count: u32,
    connection_count: u64,
}

/// Different for each host and each of its daemons.
fn setup((seed, limits): (u64, Limits), config: &Config, rules: &Rules) -> Setup {
    let seed = seed ^ u64::from(config.host.0) << 32 ^ u64::from(config.restarts) << 8;
    Setup { quorum: Box::new(Core::within(limits, seed)), rules: rules.clone() }
}

impl Node {
    /// A host whose daemon has just been started.
    pub fn new(
        host: HostIndex,
        first: HostIndex,
        facts: HostFacts,
        (seed, rules): (u64, Rules),
        limits: Limits,
    ) -> Self {
        let config = Config {
            host,
            first,
            facts,
            version: "sim".to_owned(),
            parent_pid: 1,
            daemon_pid: 2,
            restarts: 0,
            debugger: Blob::default(),
        };
        let mut node = Self {
            machine: Some(Machine::new(config.clone(), setup((seed, limits), &config, &rules))),
            config,
            records: BTreeSet::new(),
            sums: Sums::default(),
            undone: VecDeque::new(),
            processes: BTreeMap::new(),
            connections: BTreeMap::new(),
            paused_until: 0,
            hears_from: 0,
            clock: Clock::RIGHT,
            rules,
            seed,
            limits,
            pid_count: 100,
            connection_count: 0,
        };
        node.sums = node.machine.as_ref().map(Sums::of).unwrap_or_default();
        node
    }

    /// The parent keeps a record, or drops it.
    pub(crate) fn save(&mut self, key: Blob, value: Option<Blob>, archive: &mut Archive) {
        let Some(value) = value else {
            let before = self.records.take(&key);
            return self.sums.change(&key, before.as_ref().map(Record::value), None);
        };
        let after = archive.record(key, value);
        let before = self.records.replace(after.clone());
        let (before, after) = (before.as_ref().map(Record::value), &after);
        self.sums.change(after.key(), before, Some(after.value()));
    }

    /// The sums of what it keeps of what all hosts agree on.
    pub(crate) const fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Bytes of all records.
    pub(crate) fn bytes_kept(&self) -> u64 {
        self.records.iter().map(|r| (r.key().0.len() + r.value().0.len()) as u64).sum()
    }

    /// Starts the daemon again from the records.
    pub fn restart(&mut self) {
        self.config.restarts += 1;
        let kept = self.records.iter();
        let records: Vec<_> = kept.map(|r| (r.key().clone(), r.value().clone())).collect();
        self.paused_until = 0;
        let order = setup((self.seed, self.limits), &self.config, &self.rules);
        self.machine = Some(match &records[..] {
            [] => Machine::new(self.config.clone(), order),
            records => Machine::restore(self.config.clone(), order, records),
        });
    }

    /// A new process.
    pub fn process(&mut self, launched: Option<Tid>) -> u32 {
        self.pid_count += 1;
        let tids = launched.into_iter().collect();
        let process = Process { launched, tids, ..Process::default() };
        self.processes.insert(self.pid_count, process);
        self.pid_count
    }

    /// A new connection of a process.
    pub fn connect(&mut self, pid: u32) -> u64 {
        self.connection_count += 1;
        self.connections.insert(self.connection_count, pid);
        self.connection_count
    }

    /// The process of a task.
    pub fn process_of(&self, tid: Tid) -> Option<u32> {
        let has = |process: &Process| process.tids.contains(&tid);
        self.processes.iter().find(|(_, process)| has(process)).map(|(&pid, _)| pid)
    }

    /// The connection and id of each task that is enrolled.
    pub fn tasks(&self) -> impl Iterator<Item = (u64, Tid)> {
        self.processes.values().filter_map(|process| Some((process.connection?, process.tid?)))
    }
}
