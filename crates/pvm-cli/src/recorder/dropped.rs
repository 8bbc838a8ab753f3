//! Rings that the parent could not keep until they were read. Their unread records are reported as
//! lost.

use super::clock::Clock;
use super::listeners::{GRACE, Listeners, Missed};
use pvm_wire::record::frames::TaskFacts;
use pvm_wire::record::{Loss, Moment};
use pvm_wire::request::{Dropped, Ring, SegmentId};
use pvm_wire::{Blob, Tid};
use std::collections::BTreeMap;
use std::time::Instant;

/// One of them.
struct Unread {
    ring: Ring,
    what: Dropped,
    since: Instant,
    is_told: bool,
}

/// All of them.
#[derive(Default)]
pub(super) struct Unreads(BTreeMap<SegmentId, Unread>);

impl Unreads {
    /// The parent names such a ring, again and again until it knows that the recorder has it.
    pub(super) fn know(&mut self, ring: &Ring, what: Dropped) {
        let since = Instant::now();
        self.0.entry(ring.id).or_insert(Unread { ring: *ring, what, since, is_told: false });
    }

    /// Reports them to the listeners, in the order in which the tasks ended. True if there was one.
    pub(super) fn tell(&mut self, listeners: &mut Listeners, clock: Clock) -> bool {
        let mut any = false;
        for unread in self.0.values_mut().filter(|unread| !unread.is_told) {
            if listeners.are_behind() {
                break;
            }
            unread.is_told = unread.tell(listeners, clock);
            any |= unread.is_told;
        }
        any
    }

    /// Takes the segments of which all listeners have heard.
    pub(super) fn take_told(&mut self, listeners: &Listeners) -> Vec<SegmentId> {
        if !listeners.are_clear() {
            return Vec::new();
        }
        let told = self.0.values().filter(|unread| unread.is_told);
        let told: Vec<SegmentId> = told.map(|unread| unread.ring.id).collect();
        self.0.retain(|_, unread| !unread.is_told);
        told
    }
}

impl Unread {
    /// False while a listener may still name the task.
    fn tell(&self, listeners: &mut Listeners, clock: Clock) -> bool {
        let Dropped { parent, from, to, noted, lost } = self.what;
        let (tid, span) = (self.ring.owner, (clock.at(from), clock.at(to)));
        if tid == Tid::NONE {
            listeners.host_gap(span, lost, Loss::Recorder);
            return true;
        }
        listeners.child(parent, tid);
        if !listeners.want(tid) {
            return self.since.elapsed() > GRACE;
        }
        let (process, program, began) = (0, Blob::default(), span.0);
        let facts = TaskFacts { tid, parent, process, program, began };
        let at = Moment { ticks: 0, nanoseconds: began };
        listeners.task(&facts, Vec::new, at);
        let missed = Missed { from: span.0, to: span.1, first: noted.saturating_sub(lost), lost };
        listeners.gap(tid, missed, Loss::Recorder);
        listeners.ended(tid, span.1, self.ring.status, noted);
        true
    }
}
