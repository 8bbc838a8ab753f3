//! A ring of tasks on as many hosts, simulated: each host's clock is off by something of its own
//! and runs a little fast or slow. What the trace should say is known exactly.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part of it")]

use pvm_trace::{
    ClockPair, Counts, Ended, Error, HostFacts, Reason, Record, RouteKind, TaskFacts, TaskIndex,
    Transfer, What, Writer, calls,
};
use pvm_wire::{Encoding, HostIndex, Tid};
use std::io::{Seek, Write};

/// 1 January 2026.
const BEGAN: u64 = 1_767_225_600_000_000_000;
const PACK: u64 = 300;
const SEND: u64 = 900;
const TAKE: u64 = 400;

/// The properties of the ring.
#[derive(Clone, Copy)]
pub(crate) struct Ring {
    pub(crate) tasks: u32,
    pub(crate) rounds: u32,
    /// Bytes of the token.
    pub(crate) bytes: u64,
    /// From a send's end to the arrival, in nanoseconds.
    pub(crate) latency: u64,
    /// The time for which a task computes before it sends, in nanoseconds.
    pub(crate) computing: u64,
    /// The offset of the clock of host `n`, in nanoseconds times `n`.
    pub(crate) offset: i64,
    /// Parts in a million by which the clock of host `n` runs fast, times `n`.
    pub(crate) drift: i64,
}

impl Default for Ring {
    fn default() -> Self {
        Self {
            tasks: 4,
            rounds: 10,
            bytes: 4032,
            latency: 50_000,
            computing: 20_000,
            offset: 0,
            drift: 0,
        }
    }
}

impl Ring {
    pub(crate) fn tid(&self, task: u32) -> Tid {
        Tid((task + 1) << 18 | 2)
    }

    fn host(&self, task: u32) -> HostIndex {
        self.tid(task).host()
    }

    /// The time of a task's host.
    pub(crate) fn clock(&self, task: u32, time: u64) -> u64 {
        let host = i128::from(task);
        let drifted = i128::from(time) * i128::from(self.drift) * host / 1_000_000;
        let off = i128::from(self.offset) * host + drifted;
        u64::try_from(i128::from(BEGAN + time) + off).unwrap()
    }

    /// Writes all of it: the number of records, and the time at the end.
    pub(crate) fn write<W: Write + Seek>(
        &self,
        writer: &mut Writer<W>,
    ) -> Result<(u64, u64), Error> {
        let mut run = Run { ring: *self, writer, records: 0 };
        run.begin()?;
        let mut ready = vec![1_000_000; self.tasks as usize];
        let mut arrival = 0;
        for round in 0..self.rounds {
            for task in 0..self.tasks {
                let at = &mut ready[task as usize];
                if round > 0 || task > 0 {
                    let from = (task + self.tasks - 1) % self.tasks;
                    // A task's first message of the ring comes in the first round, but the first
                    // one's.
                    let number = u64::from(if task == 0 { round } else { round + 1 });
                    *at = run.receive((task, from, number), *at, arrival)?;
                }
                *at += self.computing;
                let to = (task + 1) % self.tasks;
                *at = run.send((task, to, u64::from(round) + 1), *at)?;
                arrival = *at + self.latency;
            }
        }
        let last = ready.iter().copied().max().unwrap_or_default();
        run.end(last)?;
        Ok((run.records, last))
    }
}

struct Run<'a, W> {
    ring: Ring,
    writer: &'a mut Writer<W>,
    records: u64,
}

impl<W: Write + Seek> Run<'_, W> {
    fn begin(&mut self) -> Result<(), Error> {
        for task in 0..self.ring.tasks {
            self.writer.host(HostFacts {
                host: self.ring.host(task),
                name: format!("host{task}").into(),
                architecture: "LINUX64".into(),
                version: "0.1.0".into(),
                cores: 2,
                probe_cost_ps: 40_000,
                congestion: "bbr".into(),
                mtu: 1500,
                began: self.ring.clock(task, 0),
            })?;
            self.writer.task(TaskFacts {
                tid: self.ring.tid(task),
                parent: if task == 0 { Tid(0) } else { self.ring.tid(0) },
                process: 1000 + task,
                program: "/home/user/ring".into(),
                began: self.ring.clock(task, 0),
            })?;
        }
        self.clocks(0)
    }

    /// Each host but the first compares its clock with that of the first one.
    fn clocks(&mut self, time: u64) -> Result<(), Error> {
        for task in 1..self.ring.tasks {
            let at = self.ring.clock(task, time);
            let offset = self.ring.clock(0, time).cast_signed() - at.cast_signed();
            let pair = ClockPair { other: self.ring.host(0), at, offset, error: 500 };
            self.writer.clock(self.ring.host(task), pair)?;
        }
        Ok(())
    }

    fn put(&mut self, task: u32, begin: u64, length: u64, record: Record) -> Result<(), Error> {
        let begin_there = self.ring.clock(task, begin);
        let length = self.ring.clock(task, begin + length) - begin_there;
        self.records += 1;
        self.writer.record(task, &Record { begin: begin_there, length, ..record })
    }

    fn message(&self, peer: u32, number: u64) -> Transfer {
        Transfer {
            peer: self.ring.tid(peer),
            tag: 7,
            context: 0,
            number,
            bytes: self.ring.bytes,
            encoding: Encoding::Default,
            route: RouteKind::Daemons,
            hops: 2,
        }
    }

    fn send(&mut self, (task, to, number): (u32, u32, u64), at: u64) -> Result<u64, Error> {
        self.put(task, at, PACK, Record { result: 1, ..Record::call(calls::INITSEND, 0, 0) })?;
        let at = at + PACK + 10;
        let what = What::Call { bytes: self.ring.bytes };
        self.put(task, at, PACK, Record { what, ..Record::call(calls::PKINT, 0, 0) })?;
        let at = at + PACK + 10;
        let message = self.message(to, number);
        let what = What::Send { message, wire: message.bytes + 76, pieces: 1 };
        self.put(task, at, SEND, Record { what, ..Record::call(calls::SEND, 0, 0) })?;
        Ok(at + SEND)
    }

    fn receive(
        &mut self,
        (task, from, number): (u32, u32, u64),
        at: u64,
        arrival: u64,
    ) -> Result<u64, Error> {
        let mut now = at + 100;
        if arrival > now {
            let what = What::Wait { reason: Reason::Message, processor: None };
            let wait = Record { what, part: true, depth: 1, ..Record::call(calls::RECV, 0, 0) };
            self.put(task, now, arrival - now, wait)?;
            now = arrival;
        }
        let message = self.message(from, number);
        let what = What::Receive { message, any_source: true, any_tag: false };
        let call = Record { what, result: 2, ..Record::call(calls::RECV, 0, 0) };
        self.put(task, at, now + TAKE - at, call)?;
        let at = now + TAKE + 10;
        let what = What::Call { bytes: self.ring.bytes };
        self.put(task, at, PACK, Record { what, ..Record::call(calls::UPKINT, 0, 0) })?;
        Ok(at + PACK)
    }

    fn end(&mut self, last: u64) -> Result<(), Error> {
        self.clocks(last)?;
        for task in 0..self.ring.tasks {
            let counts = Counts { noted: 0, lost: 0 };
            let at = self.ring.clock(task, last);
            self.writer.ended(task as TaskIndex, Ended::from((at, 0, counts)))?;
        }
        Ok(())
    }
}
