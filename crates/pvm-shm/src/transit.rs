//! The daemon's inbox: messages to other hosts.
//!
//! There is a lane for each pair of a sender and a host. The daemon reads ahead of the mark up to
//! which a lane counts as read, and moves the mark when the other host has confirmed a message.
//! So nothing is lost with a daemon: the next one starts again at the marks. The data in slabs
//! are held in the host's name until then.

mod lane_in;
mod opening;
mod parcel;

pub use parcel::Parcel;

use crate::broker::Broker;
use crate::inbox::{Inbox, LANE_BITS};
use crate::inlet::may_pass;
use crate::lane::{Kind, room_for};
use crate::mappings::Mappings;
use lane_in::{Ahead, End, LaneIn, RingIn, open};
use pvm_wire::request::{Segment, SegmentId};
use pvm_wire::{Code, HostIndex, Tid};
use rustix::fd::OwnedFd;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Weak;

/// Names a lane; never used twice.
pub type LaneNumber = u64;

/// The daemon's lanes.
#[derive(Debug)]
pub struct Transit {
    inbox: Inbox,
    lanes: BTreeMap<LaneNumber, LaneIn>,
    places: Vec<Option<LaneNumber>>,
    next: LaneNumber,
    opened: u32,
    slabs: Mappings,
    /// Files of messages that are on their way.
    files: BTreeMap<SegmentId, Weak<OwnedFd>>,
    dropped: u64,
    /// There may be lanes that could not be learnt of.
    unlisted: bool,
    /// Lanes whose next message lies where this process cannot look now.
    unreached: BTreeSet<LaneNumber>,
    /// See [`Transit::take_lack`].
    lacks: bool,
    /// Routes that are no more, while there may be such lanes.
    ended: Vec<(Tid, Option<Tid>)>,
}

impl Transit {
    /// Reads this inbox.
    pub fn new(inbox: Inbox) -> Self {
        // A reader before this one may have died between taking the bits and reading the lanes.
        inbox.header().put_back(u64::MAX);
        Self {
            inbox,
            lanes: BTreeMap::new(),
            places: Vec::new(),
            next: 1,
            opened: 0,
            slabs: Mappings::default(),
            files: BTreeMap::new(),
            dropped: 0,
            unlisted: false,
            unreached: BTreeSet::new(),
            lacks: false,
            ended: Vec::new(),
        }
    }

    /// The inbox.
    pub const fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Messages that were dropped because they made no sense.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Puts the lanes that have something new into `out`, each with the host that it leads to.
    pub fn poll(&mut self, broker: &mut dyn Broker, out: &mut Vec<(LaneNumber, HostIndex)>) {
        let bits = self.inbox.header().take();
        if bits == 0 {
            return;
        }
        // One that is not known yet is looked for by the next poll.
        let _ = self.refresh(broker);
        let mut bits = bits;
        while bits != 0 {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            for number in self.places.iter().skip(bit).step_by(LANE_BITS as usize).flatten() {
                if let Some(lane) = self.lanes.get_mut(number) {
                    lane.open_released();
                    if lane.closed.is_none() {
                        out.push((*number, lane.host()));
                    }
                }
            }
        }
    }

    /// Learns of lanes that were opened since the last time. False if there may be some that could
    /// not be learnt of now.
    #[must_use]
    fn refresh(&mut self, broker: &mut dyn Broker) -> bool {
        self.unlisted = !self.learn(broker);
        if self.unlisted {
            // Any of the lanes may have something, and may have told so.
            self.look_again(u64::MAX);
        }
        !self.unlisted
    }

    fn learn(&mut self, broker: &mut dyn Broker) -> bool {
        let opened = self.inbox.opened();
        if opened == self.opened {
            return true;
        }
        let segments = match broker.list_lanes(self.opened) {
            Ok(segments) => segments,
            Err(code) => return !may_pass(code),
        };
        let mut all = true;
        for segment in segments {
            all &= self.learn_of(broker, &segment).map_or_else(|code| !may_pass(code), |()| true);
        }
        if all {
            self.opened = opened;
            self.ended.clear();
        }
        all
    }

    /// Opens a lane that the keeper has listed.
    ///
    /// # Errors
    /// Those of [`open`].
    fn learn_of(&mut self, broker: &mut dyn Broker, segment: &Segment) -> Result<(), Code> {
        let place = segment.lane as usize;
        // The keeper counts lanes; more than this is nobody's doing but a scribbler's.
        if place > 1 << 20 || !(segment.to.is_host() || segment.to.is_task()) {
            return Ok(());
        }
        if self.places.len() <= place {
            self.places.resize(place + 1, None);
        }
        let known = self.places[place].and_then(|number| self.lanes.get(&number));
        // An opening may be listed twice.
        if known.is_some_and(|lane| lane.has(segment.id)) {
            return Ok(());
        }
        // A lane that was here before has been read to its end and confirmed.
        if let Some(old) = self.places[place].take() {
            self.lanes.remove(&old);
            self.unreached.remove(&old);
        }
        let (ring, to) = open(broker, segment.id, segment.owner)?;
        let mut lane = LaneIn { sender: segment.owner, to, closed: None, rings: VecDeque::new() };
        if to.is_task() {
            if self.ended.iter().any(|ended| lane.is_of(*ended)) {
                ring.release();
                self.inbox.header().put_back(bit_of(place));
            }
            lane.closed = Some((segment.id, ring));
            lane.open_released();
        } else {
            lane.rings.push_back(RingIn::new(segment.id, ring));
        }
        self.lanes.insert(self.next, lane);
        self.places[place] = Some(self.next);
        self.next += 1;
        Ok(())
    }

    /// The messages of these lanes cannot be had now, for want of memory or descriptors: the next
    /// look tries again.
    #[cold]
    fn look_again(&mut self, bits: u64) {
        self.lacks = true;
        self.inbox.header().put_back(bits);
    }

    /// The next look tries this lane again.
    #[cold]
    fn reach_again(&mut self, number: LaneNumber) {
        if let Some(place) = self.places.iter().position(|known| *known == Some(number)) {
            self.unreached.insert(number);
            self.look_again(bit_of(place));
        }
    }

    /// True if a look since the last question could not see the messages of some lane, for want of
    /// memory or descriptors. Nothing tells when there is room again, and the inbox never comes to
    /// rest: the next look is not to follow at once.
    pub const fn take_lack(&mut self) -> bool {
        std::mem::replace(&mut self.lacks, false)
    }

    /// False while the next message of a lane cannot be had; [`Transit::next`] gives nothing of the
    /// lane then.
    pub fn is_within_reach(&self, number: LaneNumber) -> bool {
        !self.unreached.contains(&number)
    }

    /// True if all lanes are known, and within reach.
    pub fn is_all_within_reach(&self) -> bool {
        self.unreached.is_empty() && !self.unlisted
    }

    /// The next message of a lane, to be confirmed later.
    pub fn next(&mut self, broker: &mut dyn Broker, number: LaneNumber) -> Option<Parcel> {
        self.unreached.remove(&number);
        loop {
            match self.next_entry(broker, number) {
                Ok(None) => {}
                Ok(parcel) => return parcel,
                Err(End::OutOfReach) => {
                    self.reach_again(number);
                    return None;
                }
                Err(End::Empty) => return None,
            }
        }
    }

    /// The next entry of a lane; none if it was no message.
    fn next_entry(
        &mut self,
        broker: &mut dyn Broker,
        number: LaneNumber,
    ) -> Result<Option<Parcel>, End> {
        let lane = self.lanes.get_mut(&number).ok_or(End::Empty)?;
        let ring = lane.rings.back_mut().ok_or(End::Empty)?;
        let mut room = room_for(0);
        let Some(popped) = ring.receiver.peek(&mut room) else {
            return Err(if ring.receiver.is_ready() { End::OutOfReach } else { End::Empty });
        };
        if popped.kind == Kind::Moved as u8 {
            let id = room.first_chunk().map_or(0, |id| u32::from_ne_bytes(*id));
            let leads_on = lane.go_on(broker, id, popped.cells)?;
            self.dropped += u64::from(!leads_on);
            return Ok(None);
        }
        let (sender, host) = (lane.sender, Tid::host_id(lane.host()));
        let cells = popped.cells;
        let parcel = match self.open_message(broker, (sender, host), popped, room) {
            Err(code) if may_pass(code) => return Err(End::OutOfReach),
            opened => opened.ok(),
        };
        let lane = self.lanes.get_mut(&number).ok_or(End::Empty)?;
        lane.read_ahead(Ahead { is_message: parcel.is_some(), cells });
        if parcel.is_none() {
            self.dropped += 1;
            lane.settle(broker);
        }
        Ok(parcel)
    }

    /// The oldest message that [`Transit::next`] gave of this lane lies where it is safe. Its
    /// data must have been let go of before.
    pub fn confirm(&mut self, broker: &mut dyn Broker, number: LaneNumber) {
        let Some(lane) = self.lanes.get_mut(&number) else { return };
        lane.settle(broker);
        if let Some(ring) = lane.rings.front_mut()
            && let Some(oldest) = ring.ahead.pop_front()
        {
            ring.receiver.confirm(oldest.cells);
            lane.settle(broker);
        }
    }

    /// Nobody will ever get the messages in this lane: the host is gone. All that was read of it
    /// must have been let go of before.
    pub fn discard(&mut self, broker: &mut dyn Broker, number: LaneNumber) {
        while !self.is_confirmed(number) {
            self.confirm(broker, number);
        }
        while self.next(broker, number).is_some() {
            self.confirm(broker, number);
        }
    }

    /// The lanes of a sender to a host, those that a sender of the same name had before included.
    /// None if there may be some that could not be learnt of now.
    pub fn lanes_of(
        &mut self,
        broker: &mut dyn Broker,
        sender: Tid,
        host: HostIndex,
    ) -> Option<Vec<LaneNumber>> {
        let fits = |lane: &LaneIn| lane.sender == sender && lane.host() == host;
        self.refresh(broker).then(|| {
            self.lanes.iter().filter(|(_, lane)| fits(lane)).map(|(number, _)| *number).collect()
        })
    }

    /// The direct routes of a task are no more, or that to one task: unconfirmed messages are to be
    /// read. Returns the lanes of these routes.
    pub fn release(
        &mut self,
        broker: &mut dyn Broker,
        sender: Tid,
        to: Option<Tid>,
    ) -> Vec<(LaneNumber, HostIndex)> {
        if !self.refresh(broker) {
            self.ended.push((sender, to));
        }
        let mut released = Vec::new();
        for (number, lane) in &mut self.lanes {
            if lane.is_of((sender, to))
                && let Some((_, ring)) = &lane.closed
            {
                ring.release();
                lane.open_released();
                released.push((*number, lane.host()));
            }
        }
        released
    }

    /// True if nothing of a lane waits to be confirmed. Messages that have not been read yet do not
    /// count.
    pub fn is_confirmed(&self, number: LaneNumber) -> bool {
        self.lanes.get(&number).is_none_or(|lane| lane.unconfirmed() == 0)
    }
}

/// The bit of the inbox by which the lane in this place tells that it has something.
const fn bit_of(place: usize) -> u64 {
    1 << (place as u32 % LANE_BITS)
}
