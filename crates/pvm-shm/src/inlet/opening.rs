//! Changes of the lanes that lead into the inbox: new lanes, lanes that go on in a larger ring,
//! lanes that end.

use super::{Inlet, LaneIn, may_pass};
use crate::broker::Broker;
use crate::inbox::LANE_BITS;
use crate::lane;
use crate::watch::Retired;
use pvm_wire::Code;
use pvm_wire::request::Segment;

impl Inlet {
    /// Learns of lanes that were opened since the last time. False if there may be some that could
    /// not be learnt of now.
    #[must_use]
    pub(super) fn refresh(&mut self, broker: &mut dyn Broker) -> bool {
        let opened = self.inbox.opened();
        if opened == self.opened {
            return true;
        }
        let lanes = match broker.list_lanes(self.opened) {
            Ok(lanes) => lanes,
            Err(code) => return !may_pass(code),
        };
        let mut all = true;
        for segment in lanes {
            let place = segment.lane as usize;
            // The keeper counts lanes; more than this is nobody's doing but a scribbler's.
            if place > 1 << 20 {
                continue;
            }
            if self.lanes.len() <= place {
                self.lanes.resize_with(place + 1, || None);
            }
            // An opening may be listed twice; a sender that starts anew has another segment.
            if self.lanes[place].as_ref().is_some_and(|lane| lane.segment == segment.id) {
                continue;
            }
            if let Some(former) = self.lanes[place].take() {
                self.leave(&former);
            }
            self.lanes[place] = match open(broker, &segment, &mut self.retired) {
                Ok(lane) => Some(lane),
                Err(code) => {
                    all &= !may_pass(code);
                    None
                }
            };
        }
        if all {
            self.opened = opened;
        }
        all
    }

    /// The ring of a lane is watched no more and may go.
    pub(super) fn leave(&mut self, lane: &LaneIn) {
        if let Some(slot) = lane.slot {
            self.watch.clear(slot);
            self.watched[slot].place = None;
            self.count_watched();
            self.retired.keep(lane.receiver.ring().clone());
        }
    }

    /// The lane goes on in a larger ring. False where that cannot be mapped now: the next look
    /// tries again.
    #[cold]
    pub(super) fn follow(&mut self, broker: &mut dyn Broker, place: usize, room: &[u8]) -> bool {
        let id = room.first_chunk().map_or(0, |id| u32::from_ne_bytes(*id));
        let next = self.retired.map(broker, id);
        if next.as_ref().is_err_and(|code| may_pass(*code)) {
            self.look_again(1 << (place as u32 % LANE_BITS));
            return false;
        }
        let Some(mut lane) = self.lanes.get_mut(place).and_then(Option::take) else { return true };
        let old = lane.segment;
        self.leave(&lane);
        if lane.slot.take().is_some() {
            // What its sender has told of the new ring came while the lane was watched.
            self.ready |= 1 << (place as u32 % LANE_BITS);
        }
        match next {
            Ok((segment, ring)) if segment.owner == lane.sender => {
                lane.receiver = lane::Receiver::new(ring);
                lane.segment = id;
                self.lanes[place] = Some(lane);
            }
            // A lane that leads nowhere ends.
            _ => self.dropped += 1,
        }
        broker.drop_segment(old);
        true
    }
}

fn open(broker: &mut dyn Broker, segment: &Segment, retired: &mut Retired) -> Result<LaneIn, Code> {
    let (found, ring) = retired.map(broker, segment.id)?;
    let receiver = lane::Receiver::new(ring);
    Ok(LaneIn { receiver, segment: found.id, sender: segment.owner, slot: None, queued: None })
}
