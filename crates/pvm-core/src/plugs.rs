//! The open requests between this host and the tasks that do a part of its work: a hoster, a
//! tasker, a manager.

use crate::io::Connection;
use crate::records::{Change, Slot, Table};
use pvm_wire::request::Request;
use pvm_wire::{Blob, Tid, record};

record! {
    /// A task that a tasker is to start, until its end is known.
    pub struct TaskerTask {
        pub tasker: Tid,
        /// The number with which the task says hello.
        pub cookie: u32,
        /// The flags of the spawn call.
        pub flags: i32,
        pub args: Vec<Blob>,
        pub environment: Vec<Blob>,
        /// Its number among those of the same call on this host, and how many there are.
        pub at: u32,
        pub count: u32,
        /// The exit status that the tasker has told.
        pub status: Option<i32>,
        /// Its process is gone.
        pub gone: bool,
    }

    /// A request that a manager is to answer.
    pub struct Call {
        pub manager: Tid,
        pub connection: Connection,
        pub id: u32,
        /// The task that asks.
        pub tid: Tid,
        pub request: Request,
        pub deadline: u64,
    }

    /// Hosts that a hoster is to start.
    pub struct Hosting {
        pub hoster: Tid,
        /// The request to add hosts that they belong to.
        pub addition: u64,
        pub guests: Vec<Guest>,
        /// The hoster has been asked.
        pub asked: bool,
    }

    /// One of them.
    pub struct Guest {
        pub ticket: u64,
        /// The id that the hoster is told: its place, if no other host comes before it.
        pub tid: Tid,
        /// Start options, login and command, once they are known.
        pub words: Vec<Blob>,
    }
}

/// Everything of that kind.
#[derive(Debug)]
pub(crate) struct Plugs {
    pub(crate) given: Table<Tid, TaskerTask>,
    pub(crate) calls: Table<u32, Call>,
    pub(crate) hostings: Table<u32, Hosting>,
    /// Tasks here that a manager on another host has ordered.
    pub(crate) ordered: Table<Tid, Tid>,
    /// Numbers that answers carry.
    waits: Slot<u32>,
    cookies: Slot<u32>,
}

/// The first number, as in PVM 3.4.6; no process has such a number.
const COOKIE_FIRST: u32 = 10_000_000;
/// Numbers start again beyond this, so that they fit an int of a program.
const NUMBER_MAX: u32 = i32::MAX.cast_unsigned();

impl Plugs {
    pub(crate) const fn new() -> Self {
        Self {
            given: Table::new(b'0'),
            calls: Table::new(b'1'),
            hostings: Table::new(b'2'),
            ordered: Table::new(b'3'),
            waits: Slot::new(b'4', 0),
            cookies: Slot::new(b'5', COOKIE_FIRST - 1),
        }
    }

    /// A number for an answer. Not zero.
    pub(crate) fn wait(&mut self) -> u32 {
        let next = self.waits.get() % NUMBER_MAX + 1;
        self.waits.set(next);
        next
    }

    pub(crate) fn cookie(&mut self) -> u32 {
        let next = (self.cookies.get() % NUMBER_MAX + 1).max(COOKIE_FIRST);
        self.cookies.set(next);
        next
    }

    /// The earliest moment at which a manager has had time enough.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.calls.values().map(|call| call.deadline).min()
    }

    pub(crate) fn take_changes(&mut self, out: &mut Vec<Change>) {
        self.given.take_changes(out);
        self.calls.take_changes(out);
        self.hostings.take_changes(out);
        self.ordered.take_changes(out);
        self.waits.take_changes(out);
        self.cookies.take_changes(out);
    }

    pub(crate) fn restore(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.given.restore(key, value)
            || self.calls.restore(key, value)
            || self.hostings.restore(key, value)
            || self.ordered.restore(key, value)
            || self.waits.restore(key, value)
            || self.cookies.restore(key, value)
    }
}
