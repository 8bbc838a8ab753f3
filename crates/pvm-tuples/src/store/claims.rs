//! Claims: tuples that come back unless their client ends the claim.

use super::{Store, cost};
use crate::ops::{Op, Outcome, Reason};
use crate::planted::{self, Bug};
use crate::snapshot::{Claim, Kept};
use crate::tuple::Tuple;
use pvm_wire::Tid;
use std::num::NonZeroU64;

impl Store {
    /// Notes a claim and returns its number.
    pub(super) fn claim(&mut self, claim: Claim) -> u64 {
        let number = self.next();
        self.clients.entry(claim.client).or_default().claims.insert(number);
        self.claims.insert(number, claim);
        number
    }

    /// Ends a claim of this client; claims of other clients stay.
    pub(super) fn end_claim(&mut self, client: Tid, number: u64) -> Option<Claim> {
        if self.claims.get(&number)?.client != client {
            return None;
        }
        if let Some(known) = self.clients.get_mut(&client) {
            known.claims.remove(&number);
        }
        self.claims.remove(&number)
    }

    pub(super) fn done(&mut self, asked: (Tid, u64), claim: u64, tuples: Vec<Tuple>) {
        if tuples.iter().any(Tuple::has_formals) {
            return self.fail(asked, Reason::Formal);
        }
        let Some(claim) = self.end_claim(asked.0, claim) else {
            return self.fail(asked, Reason::ClaimOver);
        };
        self.bytes -= cost(&claim.tuple);
        if !planted::is(Bug::ForgetsPuts) {
            self.put(tuples);
        }
        self.answer(asked, Outcome::Done);
    }

    pub(super) fn done_all(&mut self, asked: (Tid, u64), tuples: Vec<Tuple>) {
        if tuples.iter().any(Tuple::has_formals) {
            return self.fail(asked, Reason::Formal);
        }
        let claims = self.clients.get_mut(&asked.0).map(|known| std::mem::take(&mut known.claims));
        for number in claims.unwrap_or_default() {
            if let Some(claim) = self.claims.remove(&number) {
                self.bytes -= cost(&claim.tuple);
            }
        }
        self.put(tuples);
        self.answer(asked, Outcome::Done);
    }

    pub(super) fn give_back(&mut self, asked: (Tid, u64), number: u64) {
        match self.end_claim(asked.0, number) {
            Some(claim) => {
                self.free(claim);
                self.answer(asked, Outcome::Done);
            }
            None => self.fail(asked, Reason::ClaimOver),
        }
    }

    pub(super) fn renew(&mut self, asked: (Tid, u64), number: u64, lease_ms: Option<NonZeroU64>) {
        let now = self.now;
        match self.claims.get_mut(&number).filter(|claim| claim.client == asked.0) {
            Some(claim) => {
                (claim.lease_ms, claim.since) = (lease_ms, now);
                self.answer(asked, Outcome::Done);
            }
            None => self.fail(asked, Reason::ClaimOver),
        }
    }

    /// Ends a claim in place of its client: the tuple becomes free.
    pub(super) fn bring_back(&mut self, number: u64) {
        let Some(client) = self.claims.get(&number).map(|claim| claim.client) else { return };
        if let Some(known) = self.clients.get_mut(&client) {
            known.claims.remove(&number);
        }
        if let Some(claim) = self.claims.remove(&number) {
            if planted::is(Bug::ReturnsTwice) {
                self.bytes += cost(&claim.tuple);
                self.put(vec![claim.tuple.clone()]);
            }
            self.free(claim);
        }
    }

    fn free(&mut self, claim: Claim) {
        let tries = claim.tries.saturating_add(1);
        self.offer(claim.id, Kept { tuple: claim.tuple, tries });
    }
}

impl Op {
    /// The claim that is ended or renewed.
    pub(crate) const fn claim(&self) -> Option<u64> {
        match self {
            Self::Done { claim, .. } | Self::GiveBack { claim } | Self::Renew { claim, .. } => {
                Some(*claim)
            }
            _ => None,
        }
    }

    /// The tuples that are put.
    pub(crate) const fn puts(&self) -> Option<&Vec<Tuple>> {
        match self {
            Self::Put { tuples, .. } | Self::Done { tuples, .. } | Self::DoneAll { tuples } => {
                Some(tuples)
            }
            _ => None,
        }
    }

    /// The tuples that are put, for changing them.
    pub(crate) const fn puts_mut(&mut self) -> Option<&mut Vec<Tuple>> {
        match self {
            Self::Put { tuples, .. } | Self::Done { tuples, .. } | Self::DoneAll { tuples } => {
                Some(tuples)
            }
            _ => None,
        }
    }
}
