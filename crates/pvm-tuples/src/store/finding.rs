//! Finding tuples: `in`, `rd`, claims, `count`, and bulk operations.

use super::{GATHERED_BYTES_MAX, Store, cost};
use crate::ids::Ids;
use crate::marks::Marks;
use crate::ops::{Find, Op, Outcome};
use crate::planted::{self, Bug};
use crate::snapshot::{Claim, Kept, Waiting};
use crate::tuple::Tuple;
use pvm_wire::Tid;
use std::borrow::Cow;
use std::num::NonZeroU64;

/// The bytes that a request counts while it waits for a tuple.
fn cost_of_waiting(waiting: &Waiting) -> u64 {
    (size_of::<Waiting>() + waiting.template.size()) as u64
}

/// Lets a request wait for a tuple.
pub(super) fn add_waiter(store: &mut Store, waiter: u64, waiting: Waiting) {
    store.waiting_bytes += cost_of_waiting(&waiting);
    store.waiters.put_waiter(waiting.template.marks(), waiter);
    let known = store.clients.entry(waiting.client).or_default();
    known.waiting.insert(waiting.number, waiter);
    store.waiting.insert(waiter, waiting);
}

/// Takes out a request that waits for a tuple.
pub(super) fn remove_waiter(store: &mut Store, waiter: u64) -> Option<Waiting> {
    let waiting = store.waiting.remove(&waiter)?;
    store.waiting_bytes -= cost_of_waiting(&waiting);
    store.waiters.take_waiter(waiting.template.marks(), waiter);
    Some(waiting)
}

impl Store {
    /// Free tuples that fit, the oldest first.
    pub(super) fn fitting(&self, template: &Tuple) -> impl Iterator<Item = (u64, Cow<'_, Kept>)> {
        let candidates = self.index.for_template(template.marks());
        let kept = candidates.filter_map(|id| self.tuples.get(id).map(|kept| (id, kept)));
        kept.filter(|(_, kept)| kept.tuple.fits(template))
    }

    pub(super) fn find(
        &mut self,
        asked: (Tid, u64),
        template: Tuple,
        how: Find,
        limit: Option<Option<NonZeroU64>>,
    ) {
        let found = self.fitting(&template).next().map(|(id, kept)| (id, kept.into_owned()));
        if limit.is_none() && planted::is(Bug::SaysNothing) {
            self.answer(asked, Outcome::Nothing);
        } else if let Some((id, kept)) = found {
            if how != Find::Copy {
                self.remove(id, kept.tuple.marks());
            }
            self.hand_over(asked, &how, id, kept);
        } else if let Some(limit_ms) = limit {
            self.wait(asked, template, how, limit_ms);
        } else {
            self.answer(asked, Outcome::Nothing);
        }
    }

    fn wait(
        &mut self,
        (client, number): (Tid, u64),
        template: Tuple,
        how: Find,
        limit_ms: Option<NonZeroU64>,
    ) {
        let waiter = self.next();
        let since = self.now;
        add_waiter(self, waiter, Waiting { client, number, template, how, since, limit_ms });
    }

    /// Gives a tuple that has just been taken out to the client that asked for it.
    fn hand_over(&mut self, asked: (Tid, u64), how: &Find, id: u64, kept: Kept) {
        let Kept { tuple, tries } = kept;
        let mut taken = Ids::None;
        let claim = match how {
            Find::Copy => None,
            Find::Take => {
                self.bytes -= cost(&tuple);
                taken = Ids::One(id);
                None
            }
            Find::Claim { lease_ms } => {
                let (tuple, lease_ms, since) = (tuple.clone(), *lease_ms, self.now);
                let claim = Claim { client: asked.0, id, tuple, tries, lease_ms, since };
                NonZeroU64::new(self.claim(claim))
            }
        };
        self.answer_taken(asked, Outcome::Found { tuple, claim, tries }, taken);
    }

    fn remove(&mut self, id: u64, marks: Marks) {
        self.tuples.remove(id);
        self.index.take_tuple(marks, id);
    }

    /// Offers a tuple that has become free to its waiters in their order: each that copies gets it,
    /// up to the first that takes it.
    pub(super) fn offer(&mut self, id: u64, kept: Kept) {
        let marks = kept.tuple.marks();
        let served = self.served_by(&kept.tuple, marks);
        let mut is_taken = false;
        for waiter in served {
            let Some(waiting) = remove_waiter(self, waiter) else { continue };
            is_taken = waiting.how != Find::Copy;
            self.hand_over((waiting.client, waiting.number), &waiting.how, id, kept.clone());
        }
        if !is_taken || planted::is(Bug::OffersTwice) {
            self.index.put_tuple(marks, id);
            self.tuples.insert(id, kept);
        }
    }

    fn served_by(&self, tuple: &Tuple, marks: Marks) -> Vec<u64> {
        let mut served = Vec::new();
        for waiter in self.waiters.for_tuple(marks) {
            let Some(waiting) = self.waiting.get(&waiter) else { continue };
            if tuple.fits(&waiting.template) {
                served.push(waiter);
                if waiting.how != Find::Copy {
                    break;
                }
            }
        }
        served
    }

    pub(super) fn gather(&mut self, asked: (Tid, u64), template: &Tuple, take: bool, room: u64) {
        let (mut chosen, mut bytes) = (Vec::new(), 0);
        for (id, kept) in self.fitting(template) {
            bytes += kept.tuple.size();
            let is_enough = chosen.len() as u64 >= room;
            if is_enough || (!chosen.is_empty() && bytes > GATHERED_BYTES_MAX) {
                break;
            }
            chosen.push((id, kept.tuple.clone()));
        }
        let mut taken = Ids::None;
        if take {
            for (id, tuple) in &chosen {
                self.remove(*id, tuple.marks());
                self.bytes -= cost(tuple);
                taken.insert(*id);
            }
        }
        let tuples = chosen.into_iter().map(|(_, tuple)| tuple).collect();
        self.answer_taken(asked, Outcome::Gathered { tuples }, taken);
    }
}

impl Op {
    /// True for an operation that is answered at once and changes no tuples.
    pub(crate) fn only_looks(&self, store: &Store) -> bool {
        match self {
            Self::Find { template, how: Find::Copy, wait, .. } => {
                !wait || store.fitting(template).next().is_some()
            }
            Self::Count { .. } | Self::Gather { take: false, .. } => true,
            _ => false,
        }
    }
}
