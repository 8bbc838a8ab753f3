//! The daemon's inbox: messages to other hosts.
//!
//! There is a lane for each pair of a sender and a host. The daemon reads ahead of the mark up to
//! which a lane counts as read, and moves the mark when the other host has confirmed a message.
//! So nothing is lost with a daemon: the next one starts again at the marks. The data in slabs
//! are held in the host's name until then.

use crate::Payload;
use crate::broker::{Broker, map};
use crate::inbox::{Inbox, LANE_BITS};
use crate::inlet::may_pass;
use crate::lane::{self, Popped, Ring, Room, room_for};
use crate::mappings::Mappings;
use crate::slab::{Descriptor, SlabView};
use crate::spill::SpillView;
use pvm_wire::request::SegmentId;
use pvm_wire::spread::{self, Receiver};
use pvm_wire::{Code, Envelope, HostIndex, Tid};
use rustix::fd::OwnedFd;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Weak};

/// Names a lane; never used twice.
pub type LaneNumber = u64;

/// A message on its way to another host.
#[derive(Debug)]
pub struct Parcel {
    /// Its envelope.
    pub envelope: Envelope,
    /// Its body.
    pub payload: Payload,
    /// The receivers, if it is for several.
    pub receivers: Vec<Receiver>,
    /// The list of receivers is needed again by a daemon that takes over.
    #[expect(dead_code, reason = "held, not read")]
    list: Option<SlabView>,
}

impl Parcel {
    /// A message that holds no list of receivers in a slab.
    pub const fn new(envelope: Envelope, payload: Payload, receivers: Vec<Receiver>) -> Self {
        Self { envelope, payload, receivers, list: None }
    }
}

/// One ring of a lane.
#[derive(Debug)]
struct RingIn {
    receiver: lane::Receiver,
    segment: SegmentId,
    /// The entries that were read and are not confirmed.
    ahead: VecDeque<Ahead>,
    /// It has been read to the cell that says where the lane goes on.
    left: bool,
}

/// An entry that was read ahead: whether it is a message, and how many cells it has.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    is_message: bool,
    cells: usize,
}

#[derive(Debug)]
struct LaneIn {
    sender: Tid,
    /// A host, or a task there: then it is the lane of a direct route.
    to: Tid,
    /// The lane of a direct route is opened only when it is released.
    closed: Option<(SegmentId, Ring)>,
    /// Oldest first; all but the last one are left.
    rings: VecDeque<RingIn>,
}

impl RingIn {
    fn new(segment: SegmentId, ring: Ring) -> Self {
        let receiver = lane::Receiver::new(ring);
        Self { receiver, segment, ahead: VecDeque::new(), left: false }
    }
}

impl LaneIn {
    fn has(&self, segment: SegmentId) -> bool {
        self.rings.iter().any(|ring| ring.segment == segment)
            || self.closed.as_ref().is_some_and(|(id, _)| *id == segment)
    }

    const fn host(&self) -> HostIndex {
        self.to.host()
    }

    /// True if it is of this task, and leads to that one if there is one.
    fn is_of(&self, (sender, to): (Tid, Option<Tid>)) -> bool {
        self.sender == sender && to.is_none_or(|to| to == self.to)
    }

    /// Opens the lane of a direct route that has been released.
    fn open_released(&mut self) {
        if let Some((segment, ring)) = self.closed.take_if(|(_, ring)| ring.is_released()) {
            self.rings.push_back(RingIn::new(segment, ring));
        }
    }

    fn unconfirmed(&self) -> usize {
        self.rings.iter().map(|ring| ring.ahead.len()).sum()
    }

    /// Moves the marks past cells that are no messages, and lets go of rings that are done with.
    fn settle(&mut self, broker: &mut dyn Broker) {
        while let Some(ring) = self.rings.front_mut() {
            while let Some(nonsense) = ring.ahead.pop_front_if(|ahead| !ahead.is_message) {
                ring.receiver.confirm(nonsense.cells);
            }
            if !(ring.left && ring.ahead.is_empty()) {
                return;
            }
            broker.drop_segment(ring.segment);
            self.rings.pop_front();
        }
    }
}

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
            let place = segment.lane as usize;
            // The keeper counts lanes; more than this is nobody's doing but a scribbler's.
            if place > 1 << 20 || !(segment.to.is_host() || segment.to.is_task()) {
                continue;
            }
            if self.places.len() <= place {
                self.places.resize(place + 1, None);
            }
            let known = self.places[place].and_then(|number| self.lanes.get(&number));
            // An opening may be listed twice.
            if known.is_some_and(|lane| lane.has(segment.id)) {
                continue;
            }
            // A lane that was here before has been read to its end and confirmed.
            if let Some(old) = self.places[place].take() {
                self.lanes.remove(&old);
                self.unreached.remove(&old);
            }
            let (ring, to) = match open(broker, segment.id, segment.owner) {
                Ok(opened) => opened,
                Err(code) => {
                    all &= !may_pass(code);
                    continue;
                }
            };
            let number = self.next;
            self.next += 1;
            let mut lane =
                LaneIn { sender: segment.owner, to, closed: None, rings: VecDeque::new() };
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
            self.lanes.insert(number, lane);
            self.places[place] = Some(number);
        }
        if all {
            self.opened = opened;
            self.ended.clear();
        }
        all
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
            let lane = self.lanes.get_mut(&number)?;
            let ring = lane.rings.back_mut()?;
            let mut room = room_for(0);
            let Some(popped) = ring.receiver.peek(&mut room) else {
                if ring.receiver.is_ready() {
                    self.reach_again(number);
                }
                return None;
            };
            if popped.kind == lane::Kind::Moved as u8 {
                let id = room.first_chunk().map_or(0, |id| u32::from_ne_bytes(*id));
                let next = open(broker, id, lane.sender);
                if next.as_ref().is_err_and(|code| may_pass(*code)) {
                    self.reach_again(number);
                    return None;
                }
                ring.receiver.step(popped.cells);
                ring.left = true;
                match next {
                    Ok((next, to)) if to == lane.to => {
                        lane.rings.push_back(RingIn::new(id, next));
                    }
                    // A lane that leads nowhere ends.
                    _ => self.dropped += 1,
                }
                lane.settle(broker);
                continue;
            }
            let (sender, host) = (lane.sender, Tid::host_id(lane.host()));
            let opened = self.open_message(broker, (sender, host), popped, room);
            if opened.as_ref().is_err_and(|code| may_pass(*code)) {
                self.reach_again(number);
                return None;
            }
            let parcel = opened.ok();
            let lane = self.lanes.get_mut(&number)?;
            let ahead = Ahead { is_message: parcel.is_some(), cells: popped.cells };
            let ring = lane.rings.back_mut()?;
            ring.receiver.step(popped.cells);
            ring.ahead.push_back(ahead);
            if parcel.is_some() {
                return parcel;
            }
            self.dropped += 1;
            lane.settle(broker);
        }
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

    /// The message that a cell leads to.
    ///
    /// # Errors
    /// [`Code::BadMsg`] where that makes no sense; what [`may_pass`] where it is out of reach now.
    fn open_message(
        &mut self,
        broker: &mut dyn Broker,
        (sender, host): (Tid, Tid),
        popped: Popped,
        room: Room,
    ) -> Result<Parcel, Code> {
        let envelope = popped.envelope.ok_or(Code::BadMsg)?;
        if envelope.src != sender || envelope.dst.host() != host.host() {
            return Err(Code::BadMsg);
        }
        let bytes = &room[..popped.size];
        let size = usize::try_from(envelope.body_size()).map_err(|_| Code::BadMsg)?;
        let list_size = list_size(&envelope).ok_or(Code::BadMsg)?;
        let whole = size.checked_add(list_size).ok_or(Code::BadMsg)?;
        if popped.kind == lane::Kind::Inline as u8 || popped.kind == lane::Kind::Spanning as u8 {
            if bytes.len() != whole {
                return Err(Code::BadMsg);
            }
            let receivers = receivers(&bytes[size..])?;
            let payload = Payload::Inline { bytes: room, size };
            return Ok(Parcel::new(envelope, payload, receivers));
        }
        if popped.kind != lane::Kind::Slab as u8 {
            return Err(Code::BadMsg);
        }
        let body = Descriptor::from_slice(bytes).ok_or(Code::BadMsg)?;
        let behind = bytes.get(Descriptor::SIZE..).ok_or(Code::BadMsg)?;
        if body.is_in_file() {
            let view = self.spilled(broker, host, body, whole)?;
            let mut list = vec![0; list_size];
            view.read(size, &mut list)?;
            let payload = Payload::Spilled(view.cut(size));
            return Ok(Parcel::new(envelope, payload, receivers(&list)?));
        }
        if list_size == 0 || behind.len() == list_size {
            let list = if list_size == 0 { &[] } else { behind };
            let payload = Payload::Slab(self.view(broker, host, body, size)?);
            return Ok(Parcel::new(envelope, payload, receivers(list)?));
        }
        if behind.is_empty() {
            // The list lies behind the body.
            let view = self.view(broker, host, body, whole)?;
            let mut list = vec![0; list_size];
            view.read(size, &mut list);
            let payload = Payload::Slab(view.cut(size));
            return Ok(Parcel::new(envelope, payload, receivers(&list)?));
        }
        let at = Descriptor::from_slice(behind).ok_or(Code::BadMsg)?;
        // A view that is given up strikes its note out: none is made before both can be.
        let list_mapping = self.slabs.find(broker, at.segment)?;
        let view = self.view(broker, host, body, size)?;
        let list_view =
            SlabView::new(list_mapping, host, at, list_size as u64).ok_or(Code::BadMsg)?;
        let mut list = vec![0; list_size];
        list_view.read(0, &mut list);
        let receivers = receivers(&list)?;
        let payload = Payload::Slab(view);
        Ok(Parcel { envelope, payload, receivers, list: Some(list_view) })
    }

    fn spilled(
        &mut self,
        broker: &mut dyn Broker,
        host: Tid,
        descriptor: Descriptor,
        size: usize,
    ) -> Result<SpillView, Code> {
        let mapping = self.slabs.find(broker, descriptor.segment)?;
        let id = descriptor.segment;
        let known = self.files.get(&id).and_then(Weak::upgrade);
        let fd = match known {
            Some(fd) => fd,
            None => {
                let fd = Arc::new(broker.map_spill(id)?.1);
                self.files.retain(|_, fd| fd.strong_count() > 0);
                self.files.insert(id, Arc::downgrade(&fd));
                fd
            }
        };
        let view = SpillView::new(mapping, host, descriptor, size as u64).ok_or(Code::BadMsg)?;
        view.with_file(fd).ok_or(Code::BadMsg)
    }

    fn view(
        &mut self,
        broker: &mut dyn Broker,
        host: Tid,
        descriptor: Descriptor,
        size: usize,
    ) -> Result<SlabView, Code> {
        let mapping = self.slabs.find(broker, descriptor.segment)?;
        SlabView::new(mapping, host, descriptor, size as u64).ok_or(Code::BadMsg)
    }
}

/// The bit of the inbox by which the lane in this place tells that it has something.
const fn bit_of(place: usize) -> u64 {
    1 << (place as u32 % LANE_BITS)
}

/// Bytes of the list of receivers; none if no list can be that long.
fn list_size(envelope: &Envelope) -> Option<usize> {
    if !envelope.is_spread() {
        return Some(0);
    }
    usize::try_from(envelope.sequence).ok()?.checked_mul(Receiver::SIZE)
}

fn receivers(list: &[u8]) -> Result<Vec<Receiver>, Code> {
    if list.is_empty() { Ok(Vec::new()) } else { spread::from_bytes(list).ok_or(Code::BadMsg) }
}

/// A ring of a lane, and the host or task that it leads to.
fn open(broker: &mut dyn Broker, id: SegmentId, sender: Tid) -> Result<(Ring, Tid), Code> {
    let (segment, mapping) = broker.map(id).and_then(map)?;
    let is_theirs = segment.owner == sender;
    is_theirs.then_some((Ring::Shared(mapping), segment.to)).ok_or(Code::BadParam)
}
