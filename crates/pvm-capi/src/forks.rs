//! The state that the child of a fork has to forget, room by room.
//!
//! The list is complete by itself: a room that keeps something behind a gate, or in shared memory,
//! stands here, and nothing has to be registered at run time. `session`, which hears of forks, is
//! below all of these rooms, so it knows this list by a symbol.

use pvm::Forked;

use crate::handle::{enrolment, probes};
use crate::message::matching;
use crate::trace::told;
use crate::{buffer, handler, held, output, process, session, tuple};

const ROOMS: [fn(&Forked); 11] = [
    buffer::reset_after_fork,
    enrolment::reset_after_fork,
    handler::reset_after_fork,
    held::reset_after_fork,
    matching::reset_after_fork,
    output::reset_after_fork,
    probes::reset_after_fork,
    process::reset_after_fork,
    session::reset_name_after_fork,
    told::reset_after_fork,
    tuple::reset_after_fork,
];

/// Called in the child, which has one thread.
#[unsafe(no_mangle)]
fn _neopvm_forget_in_child(forked: &Forked) {
    ROOMS.iter().for_each(|forget| forget(forked));
}
