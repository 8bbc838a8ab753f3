//! The hosts of tasks: cores that tasks share, and messages through the memory of one host.

use super::inbox::{Arrived, Message, Transfer};
use crate::action::TaskNumber;
use crate::host::cores::{self, Cores};
use crate::kernel::Map;
use crate::platform::{Host, Line};
use crate::unit::Time;
use std::collections::VecDeque;

/// An output of processors.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    /// Call `handle_timeout` for this computer at this time with this number.
    Wake(u32, Time, u64),
    /// A task has got the time that it asked for.
    Done(Time, TaskNumber),
}

/// The hosts and computers of tasks.
pub(super) struct Places<W> {
    hosts: Vec<u32>,
    /// The number of computers, to which hosts are assigned in turn.
    computers: u32,
    /// By computer: its cores; none if each task has one.
    cores: Vec<Option<Cores>>,
    memory: Line,
    /// The arrival of the last message of a pair: messages do not overtake one another.
    last: Map<(TaskNumber, TaskNumber), Time>,
    /// The messages that pass through memory.
    under_way: Vec<(TaskNumber, TaskNumber, Arrived<W>)>,
    free: Vec<u32>,
    out: VecDeque<Output>,
}

impl<W: Transfer> Places<W> {
    pub(super) fn new(hosts: Vec<u32>, host: Host) -> Self {
        let count = hosts.iter().max().map_or(0, |most| most + 1);
        let computers = host.computers.map_or(count, |computers| computers.min(count)).max(1);
        let mut on = vec![0u32; computers as usize];
        hosts.iter().for_each(|host| on[(host % computers) as usize] += 1);
        let cores = |cores| Cores::new(cores, host.slice);
        let shared = |tasks: &u32| host.cores.filter(|cores| tasks > cores).map(cores);
        Self {
            computers,
            cores: on.iter().map(shared).collect(),
            hosts,
            memory: host.memory,
            last: Map::default(),
            under_way: Vec::new(),
            free: Vec::new(),
            out: VecDeque::new(),
        }
    }

    pub(super) fn host(&self, task: TaskNumber) -> u32 {
        self.hosts[task as usize]
    }

    /// True for tasks of one host.
    pub(super) fn are_near(&self, one: TaskNumber, other: TaskNumber) -> bool {
        self.host(one) == self.host(other)
    }

    /// A task needs a processor for `time`; false if no other task shares it.
    pub(super) fn handle(&mut self, now: Time, task: TaskNumber, time: Time) -> bool {
        let computer = self.host(task) % self.computers;
        let Some(cores) = &mut self.cores[computer as usize] else { return false };
        if time == Time::ZERO {
            return false;
        }
        cores.handle(now, task, time);
        self.told(now, computer);
        true
    }

    pub(super) fn handle_timeout(&mut self, now: Time, computer: u32, wish: u64) {
        if let Some(cores) = &mut self.cores[computer as usize] {
            cores.handle_timeout(now, wish);
        }
        self.told(now, computer);
    }

    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn told(&mut self, now: Time, computer: u32) {
        let Some(cores) = &mut self.cores[computer as usize] else { return };
        while let Some(output) = cores.poll_output() {
            self.out.push_back(match output {
                cores::Output::Wake(at, wish) => Output::Wake(computer, at, wish),
                cores::Output::Done(task) => Output::Done(now, task),
            });
        }
    }

    /// Sends a message through memory. Returns the time of its arrival, and its index until then.
    pub(super) fn send(
        &mut self,
        now: Time,
        pair: (TaskNumber, TaskNumber),
        message: Message,
    ) -> (Time, u32) {
        let last = self.last.entry(pair).or_default();
        *last = (*last).max(now + self.memory.latency + self.memory.time_of(message.bytes));
        let (at, arrived) = (*last, Arrived::through_memory(message, *last));
        let entry = (pair.0, pair.1, arrived);
        if let Some(place) = self.free.pop() {
            self.under_way[place as usize] = entry;
            return (at, place);
        }
        self.under_way.push(entry);
        (at, self.under_way.len() as u32 - 1)
    }

    /// A message has passed through memory: its receiver, its sender, and the message.
    pub(super) fn arrived(&mut self, place: u32) -> (TaskNumber, TaskNumber, Arrived<W>) {
        self.free.push(place);
        self.under_way[place as usize]
    }
}
