//! The hosts of a recording, and their recorders.

use pvm::Task;
use pvm_wire::request::{Reply, Request};
use pvm_wire::{Code, HostIndex, Tid};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The interval at which all hosts are asked for their recorder, and the machine for its hosts.
const ROLL_CALL: Duration = Duration::from_millis(300);
/// While a recorder starts.
const SOON: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
struct Host {
    /// 0 while it starts.
    recorder: Option<Tid>,
    /// A question that was not answered yet.
    asked: Option<u32>,
    next: Option<Instant>,
    /// It has said its last frame.
    done: bool,
}

/// All hosts.
pub(super) struct Hosts {
    task: &'static Task,
    all: bool,
    known: BTreeMap<HostIndex, Host>,
    /// The question which hosts there are.
    listing: Option<u32>,
    next: Option<Instant>,
    lost: Vec<HostIndex>,
    /// All recorders that hosts have named, those that were replaced included.
    named: BTreeSet<Tid>,
}

impl Hosts {
    /// `all`: all their tasks are to note.
    pub(super) fn new(task: &'static Task, all: bool) -> Self {
        let (known, named) = (BTreeMap::new(), BTreeSet::new());
        Self { task, all, known, listing: None, next: None, lost: Vec::new(), named }
    }

    /// Asks and hears. The recorders that are new.
    pub(super) fn look(&mut self) -> Result<Vec<Tid>, Code> {
        let now = Instant::now();
        self.list(now)?;
        let mut new = Vec::new();
        let mut gone = Vec::new();
        for (index, host) in &mut self.known {
            match host.look(self.task, (*index, self.all), now) {
                Ok(Some(recorder)) => new.push(recorder),
                Ok(None) => (),
                // The host has left, or it has no recorder to start.
                Err(Code::SysErr) => return Err(Code::SysErr),
                Err(_) => gone.push(*index),
            }
        }
        for index in gone {
            if self.known.remove(&index).is_some_and(|host| host.recorder.is_some() && !host.done) {
                self.lost.push(index);
            }
        }
        self.named.extend(&new);
        Ok(new)
    }

    fn list(&mut self, now: Instant) -> Result<(), Code> {
        if let Some(id) = self.listing {
            if let Some(reply) = self.task.answer(id)? {
                self.listing = None;
                self.learn(&reply);
            }
        } else if self.next.is_none_or(|next| next <= now) {
            self.next = Some(now + ROLL_CALL);
            self.listing = Some(self.task.ask(&Request::Config)?);
        }
        Ok(())
    }

    fn learn(&mut self, reply: &Reply) {
        let Reply::Hosts { hosts } = reply else { return };
        for host in hosts {
            self.known.entry(host.tid.host()).or_default();
        }
    }

    /// True once there are hosts and all of them have recorders.
    pub(super) fn are_known(&self) -> bool {
        !self.known.is_empty() && self.known.values().all(|host| host.recorder.is_some())
    }

    /// The recorders.
    pub(super) fn recorders(&self) -> impl Iterator<Item = Tid> {
        self.known.values().filter_map(|host| host.recorder)
    }

    /// True for a task that a host has named as its recorder, now or before.
    pub(super) fn is_recorder(&self, task: Tid) -> bool {
        self.named.contains(&task)
    }

    /// A recorder has said its last frame.
    pub(super) fn done(&mut self, recorder: Tid) {
        if let Some(host) = self.known.get_mut(&recorder.host()) {
            host.done |= host.recorder == Some(recorder);
        }
    }

    /// True once all recorders have ended.
    pub(super) fn are_done(&self) -> bool {
        self.known.values().all(|host| host.done || host.recorder.is_none())
    }

    /// The hosts whose recorders have not ended.
    pub(super) fn undone(&self) -> Vec<HostIndex> {
        let undone = self.known.iter().filter(|(_, host)| host.recorder.is_some() && !host.done);
        undone.map(|(index, _)| *index).collect()
    }

    /// Hosts that are gone, since this was asked last.
    pub(super) fn take_lost(&mut self) -> Vec<HostIndex> {
        std::mem::take(&mut self.lost)
    }
}

impl Host {
    /// The recorder if it is another one than before.
    fn look(
        &mut self,
        task: &Task,
        (index, all): (HostIndex, bool),
        now: Instant,
    ) -> Result<Option<Tid>, Code> {
        if self.done {
            return Ok(None);
        }
        let Some(id) = self.asked else {
            if self.next.is_none_or(|next| next <= now) {
                let host = Tid::host_id(index);
                self.asked = Some(task.ask(&Request::Recorder { host, all })?);
            }
            return Ok(None);
        };
        let Some(reply) = task.answer(id)? else { return Ok(None) };
        self.asked = None;
        let Reply::Number { value } = reply else { return Err(Code::DSysErr) };
        let told = (value > 0).then(|| Tid::from_c_int(value));
        self.next = Some(now + if told.is_some() { ROLL_CALL } else { SOON });
        let Some(recorder) = told else { return Ok(None) };
        if self.recorder == told {
            return Ok(None);
        }
        // The new recorder sends what the one before has read and not passed on.
        self.recorder = told;
        Ok(Some(recorder))
    }
}
