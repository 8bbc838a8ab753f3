//! The arrival of the state at a new member, or at one that lacks entries that no member keeps.

use crate::core::Core;
use crate::flow::Arriving;
use crate::frame::Word;
use crate::log::Start;
use pvm_core::quorum::{Member, QuorumOutput};
use pvm_wire::Blob;

/// The longest state that a member takes.
const STATE_BYTES_MAX: usize = 64 << 20;

impl Core {
    /// True if this member has this place of the leader's log, and so needs no state.
    fn has_place(&mut self, start: &Start) -> bool {
        if self.is_blank() {
            return false;
        }
        if start.number > self.commit && self.log.term(start.number) == Some(start.term) {
            // What follows it in the log may be counted on by others.
            let view = self.view();
            view.verified = view.verified.max(start.number);
            view.commit = view.commit.max(start.number);
            let everywhere = self.everywhere;
            self.follow_view(everywhere);
        }
        start.number <= self.commit
    }

    /// Takes a piece of the state: on a new member, or on one that lacks entries that no member
    /// keeps.
    pub(crate) fn install(
        &mut self,
        from: Member,
        start: Start,
        (offset, bytes, last): (u64, &[u8], bool),
    ) {
        if self.has_place(&start) {
            self.arriving = None;
            let (through, stamp) = (self.commit, 0);
            return self.send(from, Word::Agree { through, stamp });
        }
        if !self.is_blank() && self.leader != Some(from) {
            let hint = self.commit;
            return self.send(from, Word::Differ { hint, stamp: 0 });
        }
        let now = self.now;
        let mut arriving = match self.arriving.take() {
            Some(arriving) if arriving.start == start => Arriving { came_at: now, ..arriving },
            Some(arriving) if !arriving.gives_way_to(&start, now) => {
                // Two members may send states if they know different trees. One of the two states
                // arrives whole then.
                self.arriving = Some(arriving);
                return;
            }
            _ => Arriving::new(start, now),
        };
        let next = arriving.state.len() as u64 == offset;
        if next && arriving.state.len() + bytes.len() <= STATE_BYTES_MAX {
            arriving.state.extend_from_slice(bytes);
        }
        let through = arriving.state.len() as u64;
        if !(next && last) || arriving.start.number == 0 {
            self.arriving = Some(arriving);
            return self.send(from, Word::Got { through });
        }
        let Arriving { start, state, .. } = arriving;
        let number = start.number;
        self.log.begin(start);
        self.commit = number;
        self.put(QuorumOutput::Adopt { number, state: Blob(state) });
        self.send(from, Word::Agree { through: number, stamp: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::{Flow, Peer, Sending};
    use crate::frame::Frame;
    use crate::limits::Limits;
    use pvm_core::Time;
    use pvm_core::quorum::{Quorum as _, QuorumInput};
    use pvm_wire::{HostIndex, Wire as _};

    const ME: Member = Member::new(3, HostIndex(3));
    const SENDERS: [Member; 2] = [Member::new(1, HostIndex(1)), Member::new(2, HostIndex(2))];
    const SECOND: u64 = 1_000_000_000;

    /// A member that has nothing yet, and two that send it states of different moments.
    fn blank() -> (Core, [Peer; 2]) {
        let mut core = Core::new(1);
        core.me = Some(ME);
        let mut numbers = [5, 7].into_iter();
        let peers = SENDERS.map(|sender| {
            core.handle(Time(1), QuorumInput::Linked { host: sender.host(), up: true });
            let start =
                Start { number: numbers.next().unwrap_or(0), term: 1, voters: vec![sender] };
            let mut peer = Peer::new(1, 0);
            let state = Blob(vec![u8::try_from(start.number).unwrap_or(0); 300]);
            peer.note_state_begun(0, Sending { start, state, sent: 0, confirmed: 0 });
            peer
        });
        (core, peers)
    }

    /// The next piece that a member sends.
    fn piece(peer: &mut Peer) -> Option<Word> {
        let limits = Limits { window_bytes: 300, piece_bytes: 100, ..Limits::USUAL };
        let Flow::State(Some(sending)) = &mut peer.flow else { return None };
        let Start { number, term: number_term, voters } = sending.start.clone();
        let (offset, bytes, last) = sending.take_piece(&limits)?;
        let offset = offset as u64;
        Some(Word::Install { number, number_term, voters, offset, bytes, last })
    }

    /// Each sender's next piece arrives in turn, and is confirmed. Returns the state that is whole
    /// by then.
    fn turn(core: &mut Core, peers: &mut [Peer], now: u64) -> Option<(u64, Blob)> {
        let mut adopted = None;
        for (from, peer) in SENDERS.into_iter().zip(peers) {
            let Some(word) = piece(peer) else { continue };
            let bytes = Blob(Frame { from, to: ME, term: 1, word, kin: None }.to_bytes());
            core.handle(Time(now), QuorumInput::Heard { host: from.host(), bytes });
            while let Some(output) = core.poll_output() {
                match output {
                    QuorumOutput::Send { bytes, .. } => {
                        let frame = Frame::from_bytes(&bytes.0).expect("a frame of ours");
                        if let Word::Got { through } = frame.word {
                            peer.note_state(now, usize::try_from(through).unwrap_or(0));
                        }
                    }
                    QuorumOutput::Adopt { number, state } => adopted = Some((number, state)),
                    _ => {}
                }
            }
        }
        adopted
    }

    #[test]
    fn of_two_states_that_came_at_once_each_piece_threw_away_the_other_one() {
        let (mut core, mut peers) = blank();
        let adopted = (1..20).find_map(|now| turn(&mut core, &mut peers, now));
        let whole = |(number, Blob(state)): (u64, Blob)| (number, state == [7; 300]);
        assert_eq!(adopted.map(whole), Some((7, true)));
    }

    #[test]
    fn a_state_of_which_no_more_comes_gives_way_to_an_older_one() {
        let (mut core, mut peers) = blank();
        assert_eq!(turn(&mut core, &mut peers, 1), None);
        let mut older = || {
            peers[0].look_after(10 * SECOND);
            let now = 10 * SECOND;
            (0..20).find_map(|after| turn(&mut core, &mut peers[..1], now + after))
        };
        assert_eq!(older().map(|(number, _)| number), Some(5));
    }
}
