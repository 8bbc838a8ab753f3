//! The model's copy of what `pvm-core/order` and `pvm-core/host` do around a core, in the
//! same sequence.

use super::host::{ADD, REMOVE, number_of};
use super::world::World;
use crate::frame::Frame;
use pvm_core::Time;
use pvm_core::planted::{self, Bug};
use pvm_core::quorum::{Quorum as _, QuorumInput, QuorumOutput, Voting};
use pvm_wire::{Blob, Wire as _};
use std::rc::Rc;

impl World {
    pub(super) fn tell(&mut self, host: u8, input: QuorumInput) {
        let it = self.at(host);
        it.core.handle(Time(it.clock), input);
    }

    pub(super) fn input(&mut self, host: u8, input: QuorumInput) {
        self.tell(host, input);
        self.follow(host);
    }

    /// Does the work of a machine after an input, in its sequence.
    pub(super) fn follow(&mut self, host: u8) {
        loop {
            while let Some(output) = self.at(host).core.poll_output() {
                self.output(host, output);
            }
            if !self.arrange_two(host) && !self.fence(host) {
                break;
            }
        }
        let it = self.at(host);
        it.fresh = it.core.settle_random();
        if it.core.reads.is_empty() {
            it.asked = None;
        }
        self.note_leader(host);
    }

    /// Tells the core which members it needs, as the machine does; true if they have changed.
    fn arrange_two(&mut self, host: u8) -> bool {
        let decides = self.has_witness;
        let it = self.at(host);
        let late = planted::is(Bug::NeedForgotten) && !it.core.is_leader();
        if !it.joined || it.ended || late {
            return false;
        }
        let need = it.need(host, decides);
        if it.needed.as_ref() == Some(&need) {
            return false;
        }
        it.needed = Some(need.clone());
        let (members, lease) = need;
        self.tell(host, QuorumInput::Votes(Voting::With { members, lease }));
        true
    }

    /// A host that goes on alone takes the other one out.
    fn fence(&mut self, host: u8) -> bool {
        let it = self.host(host);
        let due = it.suspects && it.core.is_current(Time(it.clock)) && it.core.is_at_rest();
        let Some(other) = self.other(host).filter(|_| due) else { return false };
        let command = Blob(vec![REMOVE + other]);
        self.tell(host, QuorumInput::Propose { command, without: None });
        true
    }

    fn output(&mut self, host: u8, output: QuorumOutput) {
        match output {
            QuorumOutput::Send { host: to, bytes, .. } => {
                let frame = Frame::from_bytes(&bytes.0).expect("a frame of ours");
                self.send(host, number_of(to), frame);
            }
            QuorumOutput::Save { key, value: Some(value) } => {
                Rc::make_mut(&mut self.at(host).records).insert(key.0, value.0);
            }
            QuorumOutput::Save { key, value: None } => {
                Rc::make_mut(&mut self.at(host).records).remove(&key.0);
            }
            QuorumOutput::Apply { number, command } => self.apply(host, number, command.0[0]),
            QuorumOutput::Adopt { state, .. } => {
                let state = Vec::<(u64, u32)>::from_bytes(&state.0).expect("a state of ours");
                self.at(host).joined = true;
                self.at(host).applied = state.into_iter().map(|(n, c)| (n, c as u8)).collect();
                self.tell_members(host);
            }
            QuorumOutput::StateWanted { to } => {
                let it = self.host(host);
                let number = it.applied.last().map_or(1, |last| last.0);
                let state: Vec<(u64, u32)> =
                    it.applied.iter().map(|&(n, command)| (n, u32::from(command))).collect();
                let state = Blob(state.to_bytes());
                self.tell(host, QuorumInput::State { to, number, state });
            }
            QuorumOutput::Leader { .. } | QuorumOutput::Passed { .. } => {}
            QuorumOutput::Confirmed { .. } => self.confirmed(host),
            QuorumOutput::Overtaken => self.end(host),
        }
    }

    fn apply(&mut self, host: u8, number: u64, command: u8) {
        self.note_applied(host, number, command);
        self.at(host).applied.push((number, command));
        if command == REMOVE + host {
            return self.end(host);
        }
        if command >= ADD {
            self.tell_members(host);
        }
    }

    fn tell_members(&mut self, host: u8) {
        let it = self.at(host);
        it.needed = None;
        let members = it.members();
        self.tell(host, QuorumInput::Members { members });
    }
}
