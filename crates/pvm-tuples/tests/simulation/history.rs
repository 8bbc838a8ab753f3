//! The operations of clients, and the checks of them.

use pvm_tuples::{Outcome, Tuple};
use pvm_wire::Tid;
use std::collections::{BTreeMap, BTreeSet};

/// A tuple of a simulation: a name, and a number that no other one has.
pub(crate) type Item = (u8, i32);

/// The operation that a client asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Deed {
    Put(Vec<Item>),
    Take(Option<u8>, bool),
    Copy(Option<u8>, bool),
    Claim(Option<u8>),
    Done(Item, Vec<Item>),
    GiveBack(Item),
}

/// A request and its end.
#[derive(Clone, Debug)]
pub(crate) struct Did {
    pub(crate) client: Tid,
    pub(crate) called: u64,
    /// None if the client died before, or before the servers had settled what it left behind.
    pub(crate) returned: Option<u64>,
    pub(crate) deed: Deed,
    pub(crate) outcome: Option<Outcome>,
}

/// The item that a tuple is.
pub(crate) fn item(tuple: &Tuple) -> Item {
    let fields: Vec<_> = tuple.fields().collect();
    let name = fields[0].data.unwrap()[0];
    (name, i32::from_le_bytes(fields[1].data.unwrap().try_into().unwrap()))
}

impl Did {
    /// The item that it got.
    fn got(&self) -> Option<Item> {
        match &self.outcome {
            Some(Outcome::Found { tuple, .. }) => Some(item(tuple)),
            _ => None,
        }
    }

    fn is_done(&self) -> bool {
        self.outcome == Some(Outcome::Done)
    }

    /// The items that it takes away for good, if it was answered so.
    fn removed(&self) -> Option<Item> {
        match &self.deed {
            Deed::Take(..) => self.got(),
            Deed::Done(item, _) if self.is_done() => Some(*item),
            _ => None,
        }
    }
}

fn fits(item: Item, name: Option<u8>) -> bool {
    name.is_none_or(|name| name == item.0)
}

/// Nothing is taken twice, nothing that was answered is lost, and nobody gets what was never put.
/// `left` is what is in the space at the end, when all claims of the dead have come back; `held`
/// what the living have claimed; `buried` when a primary heard last that a client has died.
pub(crate) fn judge(
    all: &[Did],
    buried: &BTreeMap<Tid, u64>,
    left: &[Item],
    held: &BTreeSet<Item>,
) -> Result<(), String> {
    let mut put = BTreeMap::new();
    for did in all {
        if let Deed::Put(items) | Deed::Done(_, items) = &did.deed {
            for item in items {
                put.insert(*item, did);
            }
        }
    }
    let mut removed: BTreeMap<Item, &Did> = BTreeMap::new();
    for did in all {
        if let Some(item) = did.removed()
            && let Some(before) = removed.insert(item, did)
        {
            return Err(format!("{item:?} was taken twice: {before:?} and {did:?}"));
        }
        if let Some(item) = did.got()
            && put.get(&item).is_none_or(|put| Some(put.called) > did.returned)
        {
            return Err(format!("{item:?} was never put: {did:?}"));
        }
    }
    refused_is_not_done(all, &removed, left)?;
    let mut there = BTreeSet::new();
    for item in left {
        if !there.insert(*item) {
            return Err(format!("{item:?} is there twice"));
        }
        if let Some(did) = removed.get(item) {
            return Err(format!("{item:?} was taken and is there: {did:?}"));
        }
    }
    let missing: Vec<Item> = put
        .iter()
        .filter(|(_, did)| did.is_done())
        .map(|(item, _)| *item)
        .filter(|item| !removed.contains_key(item) && !there.contains(item) && !held.contains(item))
        .collect();
    lost_by_the_dead(all, (&put, buried), missing)?;
    all_or_none(all, &put, &removed, &there, held)?;
    nothing_was_true(all, &put, &removed)
}

/// A put that was refused, because a disk is full, has put nothing.
fn refused_is_not_done(
    all: &[Did],
    removed: &BTreeMap<Item, &Did>,
    left: &[Item],
) -> Result<(), String> {
    for did in all.iter().filter(|did| matches!(did.outcome, Some(Outcome::Failed { .. }))) {
        let (Deed::Put(items) | Deed::Done(_, items)) = &did.deed else { continue };
        let is_known = |item: &&Item| removed.contains_key(item) || left.contains(item);
        if let Some(item) = items.iter().find(is_known) {
            return Err(format!("{item:?} is there, and its put was refused: {did:?}"));
        }
    }
    Ok(())
}

/// A client that died before it was answered may have taken one tuple for each such request: each
/// missing tuple needs one of its own. What was put after its server had heard of the death is not
/// taken for it.
fn lost_by_the_dead(
    all: &[Did],
    (put, buried): (&BTreeMap<Item, &Did>, &BTreeMap<Tid, u64>),
    missing: Vec<Item>,
) -> Result<(), String> {
    let could_see = |did: &Did, item: Item| {
        let heard = buried.get(&did.client).zip(put.get(&item));
        heard.is_none_or(|(heard, put)| put.called <= *heard)
    };
    let could_take = |did: &Did, item: Item| match &did.deed {
        Deed::Take(name, _) => fits(item, *name) && could_see(did, item),
        Deed::Done(done, _) => *done == item,
        _ => false,
    };
    let is_unanswered =
        |did: &&Did| did.returned.is_none() && matches!(did.deed, Deed::Take(..) | Deed::Done(..));
    let takers: Vec<&Did> = all.iter().filter(is_unanswered).collect();
    let able: Vec<Vec<usize>> = missing
        .iter()
        .map(|item| (0..takers.len()).filter(|at| could_take(takers[*at], *item)).collect())
        .collect();
    let mut taken_by = vec![None; takers.len()];
    for (at, item) in missing.iter().enumerate() {
        if !finds_a_taker(at, &able, &mut taken_by, &mut BTreeSet::new()) {
            let known = about(all, *item);
            return Err(format!(
                "{item:?} is lost: {known:?}; {missing:?} are missing, {takers:?} were not answered"
            ));
        }
    }
    Ok(())
}

/// Gives a missing item a taker of its own, for which others may have to change theirs; false if
/// there is none.
fn finds_a_taker(
    item: usize,
    able: &[Vec<usize>],
    taken_by: &mut [Option<usize>],
    tried: &mut BTreeSet<usize>,
) -> bool {
    able[item].iter().any(|taker| {
        let is_free = tried.insert(*taker)
            && taken_by[*taker].is_none_or(|other| finds_a_taker(other, able, taken_by, tried));
        if is_free {
            taken_by[*taker] = Some(item);
        }
        is_free
    })
}

/// The known operations on an item, for the message.
fn about(all: &[Did], item: Item) -> Vec<&Did> {
    let names = |did: &&Did| match &did.deed {
        Deed::Put(items) => items.contains(&item),
        Deed::Done(done, items) => *done == item || items.contains(&item),
        Deed::GiveBack(given) => *given == item,
        _ => did.got() == Some(item),
    };
    all.iter().filter(names).collect()
}

/// Tuples that were put in one step are all there, or none is.
fn all_or_none(
    all: &[Did],
    put: &BTreeMap<Item, &Did>,
    removed: &BTreeMap<Item, &Did>,
    there: &BTreeSet<Item>,
    held: &BTreeSet<Item>,
) -> Result<(), String> {
    let takes_of_dead = all
        .iter()
        .any(|did| did.returned.is_none() && matches!(did.deed, Deed::Take(..) | Deed::Done(..)));
    let is_known =
        |item: &Item| removed.contains_key(item) || there.contains(item) || held.contains(item);
    for did in put.values().filter(|did| did.returned.is_none()) {
        let (Deed::Put(items) | Deed::Done(_, items)) = &did.deed else { continue };
        let known = items.iter().filter(|item| is_known(item)).count();
        if known != 0 && known != items.len() && !takes_of_dead {
            return Err(format!("a part of it was put: {did:?}"));
        }
    }
    Ok(())
}

/// A client that did not want to wait is told that there is nothing only if at one moment of the
/// call there was nothing.
fn nothing_was_true(
    all: &[Did],
    put: &BTreeMap<Item, &Did>,
    removed: &BTreeMap<Item, &Did>,
) -> Result<(), String> {
    // What may have been away at some time: claimed, or asked for by a client that died.
    let mut touched: BTreeSet<Item> = BTreeSet::new();
    for did in all.iter().filter(|did| matches!(did.deed, Deed::Claim(_))) {
        touched.extend(did.got());
    }
    // A look that was left behind may have a tuple until it is withdrawn.
    let is_unsure = all.iter().any(|did| did.returned.is_none() || did.outcome.is_none());
    for did in all.iter().filter(|did| did.outcome == Some(Outcome::Nothing)) {
        let (Deed::Take(name, false) | Deed::Copy(name, false)) = &did.deed else { continue };
        let Some(returned) = did.returned else { continue };
        let was_there = put.iter().find(|(item, put)| {
            let came = put.is_done() && put.returned.is_some_and(|at| at < did.called);
            let stayed = removed.get(item).is_none_or(|taker| taker.called > returned);
            fits(**item, *name) && came && stayed && !touched.contains(item) && !is_unsure
        });
        if let Some((item, _)) = was_there {
            return Err(format!("{item:?} was there all the time: {did:?}"));
        }
    }
    Ok(())
}
