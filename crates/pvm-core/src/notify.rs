//! The requests of `pvm_notify` of this host's tasks, and those of other hosts about this host's
//! tasks.
//!
//! A request lives on the host of the task that made it. For a task of another host that host
//! is asked to tell; each request is answered once because the record goes with the answer.
//!
//! A task that is gone may have left traces in the agreed state. A watcher that is told of its end
//! must not find them any more, so the answer waits for the command that removes them.

use crate::records::{Change, Slot, Table};
use pvm_wire::{HostIndex, Tid, record};
use std::collections::BTreeSet;

/// `PvmTaskExit`.
pub(crate) const TASK_EXIT: i32 = 1;
/// `PvmHostDelete`.
pub(crate) const HOST_DELETE: i32 = 2;
/// `PvmHostAdd`.
pub(crate) const HOST_ADD: i32 = 3;
/// `PvmRouteAdd`.
pub(crate) const ROUTE_ADD: i32 = 4;
/// `PvmRouteDelete`.
pub(crate) const ROUTE_DELETE: i32 = 5;

record! {
    /// One thing that a task wants to be told.
    pub struct Watch {
        pub owner: Tid,
        pub kind: i32,
        /// A task, a host, or none for `PvmHostAdd`.
        pub of: Tid,
        pub context: i32,
        pub tag: i32,
        /// For `PvmHostAdd`: how many more; negative for ever.
        pub left: i32,
    }
}

/// The requests of this host's tasks, and those of others for this host's tasks.
#[derive(Debug)]
pub(crate) struct Watches {
    own: Table<u64, Watch>,
    count: Slot<u64>,
    foreign: Table<(HostIndex, u64), Tid>,
    /// The foreign requests whose task is gone but whose messages are still on their way.
    leaving: Table<(HostIndex, u64), Tid>,
    /// The leaving requests that are answered after a command of this host, with its number.
    behind: Table<(HostIndex, u64), u64>,
    /// Requests that are answered once a command of the host of what they watch has been applied
    /// here, with its number.
    held: Table<u64, u64>,
}

impl Watches {
    pub(crate) const fn new() -> Self {
        Self {
            own: Table::new(b'w'),
            count: Slot::new(b'W', 0),
            foreign: Table::new(b'f'),
            leaving: Table::new(b'6'),
            behind: Table::new(b'B'),
            held: Table::new(b'C'),
        }
    }

    /// Notes a request; returns its number.
    pub(crate) fn add(&mut self, watch: Watch) -> u64 {
        let number = self.count.next();
        self.own.insert(number, watch);
        number
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Watch> {
        self.own.get(&number)
    }

    /// The numbers of the requests that fit, oldest first.
    pub(crate) fn numbers_where(&self, fits: impl Fn(&Watch) -> bool) -> Vec<u64> {
        self.own.keys_where(|_, watch| fits(watch))
    }

    /// Takes the request with this number, to be answered.
    pub(crate) fn take(&mut self, number: u64) -> Option<Watch> {
        self.held.remove(&number);
        self.own.remove(&number)
    }

    /// A request is to be answered behind the command with this number of the host of what it
    /// watches.
    pub(crate) fn hold(&mut self, number: u64, ticket: u64) {
        self.held.insert(number, ticket);
    }

    /// The requests that were held for commands of a host up to this one.
    pub(crate) fn held_for(&self, host: HostIndex, ticket: u64) -> Vec<u64> {
        let of = |number: &u64| self.own.get(number).map(|watch| watch.of.host());
        self.held.keys_where(|number, until| *until <= ticket && of(number) == Some(host))
    }

    /// Takes the requests that fit, oldest first.
    pub(crate) fn take_where(&mut self, fits: impl Fn(&Watch) -> bool) -> Vec<(u64, Watch)> {
        let numbers = self.numbers_where(fits);
        numbers.into_iter().filter_map(|n| Some((n, self.take(n)?))).collect()
    }

    /// The requests that want to hear of a new host, each counted down by one.
    pub(crate) fn host_added(&mut self) -> Vec<Watch> {
        let numbers = self.own.keys_where(|_, watch| watch.kind == HOST_ADD);
        let mut due = Vec::new();
        for number in numbers {
            let Some(watch) = self.own.get_mut(&number) else { continue };
            watch.left -= i32::from(watch.left > 0);
            due.push(watch.clone());
            if watch.left == 0 {
                self.own.remove(&number);
            }
        }
        due
    }

    /// Another host wants to know when `tid` is gone.
    pub(crate) fn add_foreign(&mut self, host: HostIndex, number: u64, tid: Tid) {
        self.foreign.insert((host, number), tid);
    }

    pub(crate) fn remove_foreign(&mut self, host: HostIndex, number: u64) {
        self.foreign.remove(&(host, number));
        self.leaving.remove(&(host, number));
        self.behind.remove(&(host, number));
    }

    /// Another host is to be told of the end of `tid` a little later, behind the command of this
    /// host with the number `ticket` if that is not 0. True if it is the first time for this host
    /// and this task.
    pub(crate) fn add_leaving(
        &mut self,
        (host, number): (HostIndex, u64),
        tid: Tid,
        ticket: u64,
    ) -> bool {
        let first = self.leaving.keys_where(|key, of| key.0 == host && *of == tid).is_empty();
        self.leaving.insert((host, number), tid);
        if ticket != 0 {
            self.behind.insert((host, number), ticket);
        }
        first
    }

    /// Takes the numbers by which `host` is to be told of the end of `tid`, each with that of the
    /// command before it or 0.
    pub(crate) fn take_leaving(&mut self, host: HostIndex, tid: Tid) -> Vec<(u64, u64)> {
        let keys = self.leaving.keys_where(|key, of| key.0 == host && *of == tid);
        let taken = keys.into_iter().map(|key| {
            self.leaving.remove(&key);
            (key.1, self.behind.remove(&key).unwrap_or(0))
        });
        taken.collect()
    }

    /// The hosts that are to be told of the end of tasks, and those tasks.
    pub(crate) fn leaving(&self) -> BTreeSet<(HostIndex, Tid)> {
        self.leaving.iter().map(|(key, tid)| (key.0, *tid)).collect()
    }

    /// Takes what other hosts want to know about `tid`.
    pub(crate) fn take_foreign(&mut self, tid: Tid) -> Vec<(HostIndex, u64)> {
        let keys = self.foreign.keys_where(|_, of| *of == tid);
        for key in &keys {
            self.foreign.remove(key);
        }
        keys
    }

    /// A host is gone, and with it what it wanted to know.
    pub(crate) fn forget_host(&mut self, host: HostIndex) {
        for table in [&mut self.foreign, &mut self.leaving] {
            for key in table.keys_where(|key, _| key.0 == host) {
                table.remove(&key);
                self.behind.remove(&key);
            }
        }
    }

    /// True if a request still means a task by this id.
    pub(crate) fn names(&self, tid: Tid) -> bool {
        let foreign = self.foreign.values().chain(self.leaving.values());
        self.own.values().any(|watch| watch.of == tid) || foreign.into_iter().any(|&of| of == tid)
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.own.take_changes(out);
        self.count.take_changes(out);
        self.foreign.take_changes(out);
        self.leaving.take_changes(out);
        self.behind.take_changes(out);
        self.held.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.own.restore(key, value)
            || self.count.restore(key, value)
            || self.foreign.restore(key, value)
            || self.leaving.restore(key, value)
            || self.behind.restore(key, value)
            || self.held.restore(key, value)
    }
}
