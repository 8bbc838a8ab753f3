//! The arrival of the state at a new member, or at one that lacks entries that no member keeps.

use crate::core::Core;
use crate::flow::Arriving;
use crate::frame::Word;
use crate::log::Start;
use pvm_core::planted::{self, Bug};
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
        let later = !planted::is(Bug::StateOverLaterLog);
        if later && start.number > self.commit && self.log.term(start.number) == Some(start.term) {
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
    use crate::frame::{Entry, Frame, What};
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

    /// A member of which the state is one that its log has, and that has confirmed what follows.
    /// Returns the end of its log, when the state has come.
    fn end_of_log() -> u64 {
        let mut core = Core::new(1);
        core.me = Some(ME);
        core.members = vec![SENDERS[0], SENDERS[1], ME].into();
        core.log.begin(Start { number: 5, term: 1, voters: core.members.to_vec() });
        (core.commit, core.ballot.term) = (5, 1);
        for _ in 0..3 {
            core.log.push(Entry { term: 1, what: What::Command { bytes: Blob(vec![1]) } });
        }
        let [leader, _] = SENDERS;
        core.handle(Time(1), QuorumInput::Linked { host: leader.host(), up: true });
        let voters = core.members.to_vec();
        let (number, number_term, bytes) = (6, 1, Blob(vec![7]));
        for word in [
            Word::Beat { commit: 5, everywhere: 0, stamp: 1 },
            Word::Install { number, number_term, voters, offset: 0, bytes, last: true },
        ] {
            let frame = Frame { from: leader, to: ME, term: 1, word, kin: None };
            let bytes = Blob(frame.to_bytes());
            core.handle(Time(2), QuorumInput::Heard { host: leader.host(), bytes });
        }
        assert_eq!(core.commit, 6);
        core.log.last()
    }

    #[test]
    fn a_state_leaves_what_follows_its_place_in_a_log() {
        assert_eq!(end_of_log(), 8);
    }

    /// The state that a leader sends while a change of voters behind it is not committed.
    fn voters_of_state() -> Vec<Member> {
        let [leader, other] = SENDERS;
        let mut core = Core::new(1);
        core.me = Some(leader);
        core.members = vec![leader, other].into();
        core.log.begin(Start { number: 5, term: 1, voters: vec![leader] });
        (core.commit, core.ballot.term) = (5, 1);
        core.handle(Time(1), QuorumInput::Linked { host: other.host(), up: true });
        core.raise_term(2);
        core.lead();
        let term = core.term();
        core.log.push(Entry { term, what: What::Voters { voters: vec![leader, other] } });
        while core.poll_output().is_some() {}
        let (number, state) = (5, Blob(vec![7]));
        core.handle(Time(2), QuorumInput::State { to: other, number, state });
        let sent = std::iter::from_fn(|| core.poll_output()).find_map(|output| match output {
            QuorumOutput::Send { bytes, .. } => match Frame::from_bytes(&bytes.0).ok()?.word {
                Word::Install { voters, .. } => Some(voters),
                _ => None,
            },
            _ => None,
        });
        sent.expect("the state")
    }

    #[test]
    fn a_state_has_the_voters_of_its_place() {
        assert_eq!(voters_of_state(), [SENDERS[0]]);
    }

    #[cfg(feature = "planted")]
    #[test]
    fn the_tests_of_the_state_find_their_planted_bugs() {
        planted::plant(Some(Bug::StateOverLaterLog));
        let end = end_of_log();
        planted::plant(Some(Bug::StateWithLaterVoters));
        let voters = voters_of_state();
        planted::plant(None);
        assert_eq!((end, voters), (6, SENDERS.to_vec()));
    }
}
