//! Calls of all ranks, as the messages that a plain library would send.

use super::words::{computing, size};
use crate::action::{Action, TaskNumber};
use crate::unit::Time;
use std::collections::VecDeque;

/// A call of all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    Barrier,
    Broadcast { bytes: u64, root: TaskNumber },
    Reduce { bytes: u64, root: TaskNumber, computing: Time },
    AllReduce { bytes: u64, computing: Time },
    AllToAll { bytes: u64 },
    AllGather { bytes: u64 },
    Gather { bytes: u64, root: TaskNumber },
    Scatter { bytes: u64, root: TaskNumber },
}

/// One rank's part of such a call, and its output.
struct Part<'a> {
    rank: TaskNumber,
    ranks: TaskNumber,
    tag: i32,
    out: &'a mut VecDeque<Action>,
}

impl Call {
    /// Reads a call from the words of a line.
    pub(super) fn parse(
        what: &str,
        words: &[&str],
        ranks: TaskNumber,
        flop: f64,
    ) -> Result<Self, String> {
        let bytes = |place: usize| {
            let word = words.get(place).ok_or_else(|| format!("{what} lacks its size"))?;
            size(word, None)
        };
        let root = |place: usize| match words.get(place) {
            None => Ok(0),
            Some(word) => word
                .parse()
                .ok()
                .filter(|root| *root < ranks)
                .ok_or_else(|| format!("{word:?} is none of the {ranks} ranks")),
        };
        let computing = |place: usize| computing(words.get(place..).unwrap_or_default(), flop);
        Ok(match what {
            "barrier" => Self::Barrier,
            "bcast" => Self::Broadcast { bytes: bytes(0)?, root: root(1)? },
            "reduce" => Self::Reduce { bytes: bytes(0)?, computing: computing(1)?, root: root(2)? },
            "allreduce" | "reducescatter" => {
                Self::AllReduce { bytes: bytes(0)?, computing: computing(1)? }
            }
            "alltoall" => Self::AllToAll { bytes: bytes(0)? },
            "allgather" => Self::AllGather { bytes: bytes(0)? },
            "gather" => Self::Gather { bytes: bytes(0)?, root: root(2)? },
            "scatter" => Self::Scatter { bytes: bytes(0)?, root: root(2)? },
            _ => return Err(format!("{what:?} is no action that is known here")),
        })
    }

    /// Adds one rank's part of the call.
    pub(super) fn expand(
        self,
        rank: TaskNumber,
        ranks: TaskNumber,
        tag: i32,
        out: &mut VecDeque<Action>,
    ) {
        let mut part = Part { rank, ranks, tag, out };
        match self {
            Self::Barrier => part.dissemination(),
            Self::Broadcast { bytes, root } => part.broadcast(bytes, root),
            Self::Reduce { bytes, root, computing } => part.reduce(bytes, root, computing),
            Self::AllReduce { bytes, computing } => {
                part.reduce(bytes, 0, computing);
                part.broadcast(bytes, 0);
            }
            Self::AllToAll { bytes } => part.pairwise(bytes),
            Self::AllGather { bytes } => part.circulate(bytes),
            Self::Gather { bytes, root } => part.gather(bytes, root),
            Self::Scatter { bytes, root } => part.scatter(bytes, root),
        }
    }
}

impl Part<'_> {
    fn send(&mut self, to: TaskNumber, bytes: u64) {
        self.out.push_back(Action::Send { time: Time::ZERO, bytes, to, tag: self.tag });
    }

    fn receive(&mut self, from: TaskNumber, bytes: u64) {
        self.out.push_back(Action::Receive { time: Time::ZERO, bytes, from, tag: self.tag });
    }

    /// The rank that comes `count` ranks after this one in a ring.
    const fn behind(&self, count: TaskNumber) -> TaskNumber {
        ((self.rank as u64 + count as u64) % self.ranks as u64) as TaskNumber
    }

    const fn before(&self, count: TaskNumber) -> TaskNumber {
        self.behind(self.ranks - count)
    }

    fn dissemination(&mut self) {
        let mut step = 1;
        while step < self.ranks {
            self.send(self.behind(step), 0);
            self.receive(self.before(step), 0);
            step = step.saturating_mul(2);
        }
    }

    /// A binomial tree, numbered from its root.
    fn broadcast(&mut self, bytes: u64, root: TaskNumber) {
        let place = self.place(root);
        let mut step = 1;
        while step < self.ranks && place & step == 0 {
            step = step.saturating_mul(2);
        }
        if place != 0 {
            self.receive(self.at(place - step, root), bytes);
        }
        while step > 1 {
            step /= 2;
            if place + step < self.ranks {
                self.send(self.at(place + step, root), bytes);
            }
        }
    }

    fn reduce(&mut self, bytes: u64, root: TaskNumber, computing: Time) {
        let place = self.place(root);
        let mut step = 1;
        while step < self.ranks {
            if place & step != 0 {
                return self.send(self.at(place - step, root), bytes);
            }
            if place + step < self.ranks {
                self.receive(self.at(place + step, root), bytes);
                self.out.push_back(Action::Compute(computing));
            }
            step = step.saturating_mul(2);
        }
    }

    fn pairwise(&mut self, bytes: u64) {
        for step in 1..self.ranks {
            self.send(self.behind(step), bytes);
            self.receive(self.before(step), bytes);
        }
    }

    fn circulate(&mut self, bytes: u64) {
        for _ in 1..self.ranks {
            self.send(self.behind(1), bytes);
            self.receive(self.before(1), bytes);
        }
    }

    fn gather(&mut self, bytes: u64, root: TaskNumber) {
        if self.rank != root {
            return self.send(root, bytes);
        }
        (0..self.ranks).filter(|rank| *rank != root).for_each(|rank| self.receive(rank, bytes));
    }

    fn scatter(&mut self, bytes: u64, root: TaskNumber) {
        if self.rank != root {
            return self.receive(root, bytes);
        }
        (0..self.ranks).filter(|rank| *rank != root).for_each(|rank| self.send(rank, bytes));
    }

    const fn place(&self, root: TaskNumber) -> TaskNumber {
        self.before(root)
    }

    const fn at(&self, place: TaskNumber, root: TaskNumber) -> TaskNumber {
        ((place as u64 + root as u64) % self.ranks as u64) as TaskNumber
    }
}
