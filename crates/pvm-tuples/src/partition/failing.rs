//! A server that cannot keep the space any more, as its disk has failed: others go on.
//!
//! A primary answers nothing from then on, and says [`Between::Failed`] to the copies that the
//! entry names, again and again until it sees that one of them has become the primary, as after a
//! death. A copy says it to its primary, which gives the copy up. Only where no other server is
//! named the space is given up.

use super::limits::Limits;
use super::{Output, Partition, RESEND_MS, Role, Search, moves};
use crate::frames::{Between, Entry, Full, Told};
use crate::planted::{self, Bug};
use crate::store::Store;
use pvm_wire::Tid;

impl Partition {
    /// The disk of this server has failed, or that of another one, which follows a primary of this
    /// term or was it.
    pub(super) fn failed(&mut self, other: Option<(Tid, i32)>) {
        match other {
            Some(other) => other_failed(self, other),
            None => begin(self),
        }
    }
}

fn begin(space: &mut Partition) {
    if matches!(space.role, Role::Failed | Role::Closed) {
        return;
    }
    if space.erasing.is_some() {
        // Its files are all that there is still to do.
        space.ending = false;
        return space.close(false, None);
    }
    take_back(space);
    if space.role == Role::Primary {
        moves::send_on(space);
    }
    space.role = Role::Failed;
    (space.ending, space.creator) = (false, None);
    space.store = Store::new(0, Full::Fail);
    space.steps.clear();
    space.leases.clear();
    space.limits = Limits::default();
    (space.resend_at, space.search) = (None, Search::Open);
    say(space);
    space.look();
    space.look_at = Some(space.now + RESEND_MS);
}

/// Takes back outputs: they may rest on tuples that could not be read.
fn take_back(space: &mut Partition) {
    for output in std::mem::take(&mut space.outputs) {
        match output {
            Output::Tell { client, number, told: Told::Answer { .. } } => {
                space.tell(client, number, Told::Elsewhere { number });
            }
            Output::Put { .. } => space.putting = None,
            _ => {}
        }
    }
}

/// Tells the others that the entry names.
fn say(space: &mut Partition) {
    if planted::is(Bug::FailsInSilence) {
        return;
    }
    let (number, me) = (space.entry.space, space.me);
    let named = [space.entry.primary].into_iter().chain(space.entry.copies.iter().copied());
    for other in named.filter(|other| *other != me).collect::<Vec<_>>() {
        space.say(other, Between::Failed { space: number, term: space.term });
    }
}

/// Handles the last entry, once the disk of this server has failed.
pub(super) fn latest(space: &mut Partition, entry: Option<(i32, Entry)>) {
    let number = space.entry.space;
    let own = entry.filter(|(_, entry)| entry.space == number && !entry.deleted);
    let Some((epoch, entry)) = own else { return space.close(false, None) };
    (space.epoch, space.entry) = (epoch, entry);
    let is_primary = space.entry.primary == space.me;
    if is_primary && space.entry.copies.is_empty() && space.putting.is_none() {
        return give_up(space);
    }
    say(space);
    if is_primary || space.putting.is_some() {
        space.look_at = Some(space.now + RESEND_MS);
    } else {
        space.close(false, None);
    }
}

fn give_up(space: &mut Partition) {
    space.outputs.push_back(Output::Abandon);
    space.close(false, None);
}

fn other_failed(space: &mut Partition, (from, term): (Tid, i32)) {
    match space.role {
        // A late word costs a copy that is begun anew.
        Role::Primary if term <= space.term => {
            if let Some(follower) = space.followers.get_mut(&from) {
                follower.is_lost = true;
                space.unfit.insert(from);
                space.tend();
            }
        }
        // To a copy it is as if the primary had ended. The first state of the primary may not have
        // come, so its term may be new here.
        Role::Copy if term >= space.term => space.gone_from_copy(from),
        Role::Failed => space.look(),
        _ => {}
    }
}
