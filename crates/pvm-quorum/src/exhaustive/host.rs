//! A host of the search: its core, and what the machine around it would know.

use crate::{Core, Limits, frame::What};
use pvm_core::Standing;
use pvm_core::quorum::{Member, Quorum as _};
use pvm_wire::HostIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Commands from here on let a host in, and take one out.
pub(super) const ADD: u8 = 100;
pub(super) const REMOVE: u8 = 200;

pub(super) fn place(host: u8) -> HostIndex {
    HostIndex(u16::from(host) + 1)
}

pub(super) fn number_of(host: HostIndex) -> u8 {
    u8::try_from(host.0 - 1).expect("a host of the search")
}

/// A host: its core, and what a machine would know.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) core: Core,
    /// Its own clock, which is independent of all others.
    pub(super) clock: u64,
    /// The records that its parent keeps for it.
    pub(super) records: Rc<BTreeMap<Vec<u8>, Vec<u8>>>,
    pub(super) applied: Vec<(u64, u8)>,
    pub(super) joined: bool,
    /// The hosts to which it knows of a link.
    pub(super) up: BTreeSet<u8>,
    pub(super) met: bool,
    /// It takes the other one of two for dead.
    pub(super) suspects: bool,
    /// The witness let it go on.
    pub(super) lock: bool,
    /// The witness's permission is on its way, and may arrive any number of times. A refusal
    /// changes nothing.
    pub(super) granted: bool,
    pub(super) needed: Option<(Vec<Member>, bool)>,
    /// A read waits: the last command that any host had applied when the read came.
    pub(super) asked: Option<u64>,
    pub(super) ended: bool,
    /// Its core has had no input yet.
    pub(super) fresh: bool,
}

impl Host {
    pub(super) fn new(clock: u64, limits: Limits) -> Self {
        Self {
            core: Core::within(limits, 0),
            clock,
            records: Rc::default(),
            applied: Vec::new(),
            joined: false,
            up: BTreeSet::new(),
            met: true,
            suspects: false,
            lock: false,
            granted: false,
            needed: None,
            asked: None,
            ended: false,
            fresh: true,
        }
    }

    /// The members, by what was applied here.
    pub(super) fn members(&self) -> Vec<Member> {
        if !self.joined {
            return Vec::new();
        }
        let mut members = vec![Member::new(1, place(0))];
        for &(number, command) in &self.applied {
            match command {
                REMOVE.. => members.retain(|member| number_of(member.host()) != command - REMOVE),
                ADD.. => members.push(Member::new(number, place(command - ADD))),
                _ => {}
            }
        }
        members
    }

    pub(super) fn has_member(&self, host: u8) -> bool {
        self.members().iter().any(|member| number_of(member.host()) == host)
    }

    /// It has applied this command, or its log has it.
    pub(super) fn has(&self, number: u64, command: u8) -> bool {
        let in_log = || match self.core.log.get(number).map(|entry| &entry.what) {
            Some(What::Command { bytes }) => bytes.0 == [command],
            _ => false,
        };
        self.applied.contains(&(number, command)) || in_log()
    }

    pub(super) fn is_due(&self) -> bool {
        !self.ended && self.core.poll_timeout().is_some_and(|at| at.0 <= self.clock)
    }

    /// The members that this host needs, by the machine's rules (`order/two`).
    pub(super) fn need(&self, me: u8, decides: bool) -> (Vec<Member>, bool) {
        let members = self.members();
        let mut others = members.iter().filter(|member| number_of(member.host()) != me);
        let partner = others.next().filter(|_| members.len() == 2 || self.core.is_sole()).copied();
        let need = partner.and_then(|member| {
            let standing = Standing {
                up: self.up.contains(&number_of(member.host())),
                met: self.met,
                suspected: self.suspects,
                decides,
                lock: self.lock,
            };
            standing.need().map(|lease| (vec![member], lease))
        });
        need.unwrap_or_default()
    }
}
