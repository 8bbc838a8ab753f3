//! The move of a space to a server of another host while its primary lives.
//!
//! The primary adds the other server as a copy. When the entry names the copy, the primary sends
//! [`Between::Yield`], and the copy puts the next entry, as an heir does: an entry can be put only
//! by the server that it makes the primary. The entry names the former primary as a copy, so that
//! nothing is lost if the new primary dies at once. When all copies have their first state, the new
//! primary removes the former one.

use super::moving::Moving;
use super::{Partition, RESEND_MS};
use crate::frames::{Between, Told};
use crate::planted::{self, Bug};
use pvm_wire::Tid;

/// The primary takes the next step of the move.
pub(super) fn go_on(space: &mut Partition) {
    let Some(to) = space.moving.to else { return };
    let follower = space.followers.get(&to).filter(|follower| !follower.is_lost).copied();
    let Some(follower) = follower else {
        if space.moving.is_taken_in || space.drains.has(to) {
            space.moving = Moving::default();
        } else {
            space.moving.is_taken_in = true;
            space.take_in(to);
        }
        return;
    };
    space.moving.is_taken_in = true;
    let is_named = space.entry.copies.contains(&to) && follower.confirmed.is_some();
    if is_named && !space.moving.is_told {
        space.moving.is_told = true;
        tell(space, to);
        space.resend_at.get_or_insert(space.now + RESEND_MS);
        if planted::is(Bug::AnswersWhileItMoves) {
            space.followers.remove(&to);
        }
    }
}

/// Tells the copy to become the primary.
pub(super) fn tell(space: &mut Partition, to: Tid) {
    let (number, term) = (space.entry.space, space.term);
    space.say(to, Between::Yield { space: number, term });
}

/// The former primary, if it is a copy that the space does not need any more.
pub(super) fn surplus(space: &Partition, wanted: usize) -> Option<Tid> {
    let have_begun = space.followers.values().all(|follower| follower.confirmed.is_some());
    let is_one_more = space.entry.copies.len() > wanted && have_begun;
    space.moving.former.filter(|former| is_one_more && space.entry.copies.contains(former))
}

/// This server has stopped being the primary: the clients that wait here are sent to the next one.
/// A server that was to become a copy looks at the names: the next primary may not know of it.
pub(super) fn send_on(space: &mut Partition) {
    let number = space.entry.space;
    for follower in std::mem::take(&mut space.followers).into_keys() {
        space.say(follower, Between::Later { space: number });
    }
    let held = space.held.drain(..).map(|(_, answer)| (answer.client, answer.number));
    let unanswered: Vec<_> = held.chain(space.store.waiting_requests()).collect();
    for (client, number) in unanswered {
        space.tell(client, number, Told::Elsewhere { number });
    }
}
