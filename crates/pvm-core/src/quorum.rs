//! The machine's interface to the consensus library, which gives its hosts one log of commands.
//!
//! The library knows neither hosts nor commands: it orders strings of bytes among *members*, some
//! of which vote. It has the four methods of every machine here, so time is an argument and what
//! it wants done comes out; whatever it must not forget it puts out as records. What was put out
//! for one input must be stored as a whole before anything of it is sent: the parent does that.
//!
//! ADR 7 says why this is a trait, and what was compared.

use crate::Time;
use pvm_wire::{Blob, DecodeError, HostIndex, Reader, Wire};
use std::fmt;

/// Most bits of a host's place.
const HOST_BITS: u32 = 12;

/// One incarnation of a host as a member. It is never given twice: a host that was taken out and
/// comes back is another member, so a voter that lost its records cannot vote under its old name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Member(u64);

impl Member {
    /// The member that was let in at `place` by the command with the number `incarnation`.
    pub const fn new(incarnation: u64, place: HostIndex) -> Self {
        Self(incarnation << HOST_BITS | place.0 as u64 & HostIndex::MAX.0 as u64)
    }

    /// Its place in the host table.
    pub const fn host(self) -> HostIndex {
        HostIndex((self.0 & HostIndex::MAX.0 as u64) as u16)
    }

    /// The number of the command that let it in.
    pub const fn incarnation(self) -> u64 {
        self.0 >> HOST_BITS
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.host(), self.incarnation())
    }
}

impl Wire for Member {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        u64::decode(input).map(Self)
    }
}

/// The configuration of the votes where one member votes and others are in, which is the machine's
/// to decide: a majority of one protects nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Voting {
    /// Nothing is committed before these members have it, besides the majority. A leader that alone
    /// votes and has other members commits nothing before it has a configuration; it needs a new
    /// one after each change of the members.
    With {
        /// Members; empty for none.
        members: Vec<Member>,
        /// The leader leads only while they answer, too: a witness may let them go on alone.
        lease: bool,
    },
    /// This member is the only voter from now on, whatever the others may do: it was made certain
    /// elsewhere that none of them acts. It is dropped where others may act all the same.
    Alone {
        /// The others are gone for certain. Otherwise a witness or a rule let this member go on,
        /// and the library makes sure that there are no more than two.
        certain: bool,
    },
}

/// An input of the library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QuorumInput {
    /// A machine begins here: this member is all there is.
    Begin {
        /// This member.
        me: Member,
    },
    /// A command to be ordered. Only a leader takes it; others drop it.
    Propose {
        /// The command.
        command: Blob,
        /// The member that is no member any more when it is applied.
        without: Option<Member>,
    },
    /// The library on another host said something.
    Heard {
        /// The host that really said it.
        host: HostIndex,
        /// The bytes of the message.
        bytes: Blob,
    },
    /// A link came up or broke.
    Linked {
        /// To whom.
        host: HostIndex,
        /// True if it is up.
        up: bool,
    },
    /// The members are these now, by the commands applied so far.
    Members {
        /// All of them, this one too.
        members: Vec<Member>,
    },
    /// One more is a member, in the place of one on its host.
    Joined {
        /// The member.
        member: Member,
    },
    /// There is no member on this host any more.
    Left {
        /// The host.
        host: HostIndex,
    },
    /// On which computers these members are, beside what was told of others; told before the
    /// members that it is about. Members of which nothing is said are each on one of their own.
    Computers {
        /// Each member's.
        of: Vec<(Member, Blob)>,
    },
    /// The state after all commands up to `number`, for a member that has nothing yet.
    State {
        /// For whom.
        to: Member,
        /// The last command in it.
        number: u64,
        /// The state.
        state: Blob,
    },
    /// The configuration of two hosts' votes; see [`Voting`].
    Votes(Voting),
    /// A member is gone for certain: no need to wait for its silence.
    Gone {
        /// The host that is gone.
        host: HostIndex,
    },
    /// A linearizable read waits for the confirmation that this member leads.
    Confirm {
        /// Counts the questions of this member.
        mark: u64,
    },
    /// A member is to be taken out that may live: a leader asks the other voters whether they could
    /// go on without it. An entry that is appended meanwhile ends the question.
    Part {
        /// The member.
        member: Member,
    },
    /// Another member should lead: leadership transfer, as in Ongaro's thesis (3.10). This member
    /// stands for election after others for a while.
    Transfer {
        /// The host that should lead; none for any.
        to: Option<HostIndex>,
    },
}

/// An output of the library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QuorumOutput {
    /// Send this if there is a link; it may be lost.
    Send {
        /// To whom.
        host: HostIndex,
        /// The bytes of the message.
        bytes: Blob,
        /// It is short and may overtake earlier messages; messages without this mark stay in
        /// sequence.
        hasty: bool,
    },
    /// Store this record before anything is sent.
    Save {
        /// Its key.
        key: Blob,
        /// Its value, none if it is gone.
        value: Option<Blob>,
    },
    /// The next command of the log.
    Apply {
        /// Its number; numbers grow, with gaps.
        number: u64,
        /// The command.
        command: Blob,
    },
    /// The next place of the log, which has no command: a term begins there, or the voters change.
    Passed {
        /// The number of the place.
        number: u64,
    },
    /// This host had nothing, or too little: the state at a place of the log.
    Adopt {
        /// The number of the place. It may be behind the last command, where no command follows.
        number: u64,
        /// The state.
        state: Blob,
    },
    /// A member has nothing yet: answer with [`QuorumInput::State`].
    StateWanted {
        /// The member that has nothing yet.
        to: Member,
    },
    /// There is a new leader, or no leader is known any more.
    Leader {
        /// The term of the leader. There is at most one leader in a term.
        term: u64,
        /// The leader, if there is one.
        leader: Option<Member>,
    },
    /// This member led at some moment since the questions up to this one came, and all that had
    /// been ordered then is applied: they may be answered. A question that comes to a member that
    /// does not lead, or that leads no more before it is sure, is never confirmed.
    Confirmed {
        /// The number of the last of these questions.
        mark: u64,
    },
    /// Others have gone on without this host: it has no say any more.
    Overtaken,
}

/// One order of commands among members.
pub trait Quorum: fmt::Debug + Send {
    /// Something happened.
    fn handle(&mut self, now: Time, input: QuorumInput);
    /// A moment that was asked for has come.
    fn handle_timeout(&mut self, now: Time);
    /// When to call [`Quorum::handle_timeout`].
    fn poll_timeout(&self) -> Option<Time>;
    /// Returns the next output; to be called until nothing is left, after every input.
    fn poll_output(&mut self) -> Option<QuorumOutput>;
    /// Takes a record back that was put out before; before the first input.
    fn restore(&mut self, key: &[u8], value: &[u8]) -> bool;
    /// True where this member leads, has applied all commands that were ordered before, and can
    /// have no successor yet as long as its clock goes on.
    fn is_current(&self, now: Time) -> bool;
    /// The voters, as far as this member knows.
    fn voters(&self) -> Vec<Member>;
    /// True where this member alone votes.
    fn is_sole(&self) -> bool;
    /// True if this member leads, all voters are members, and no change of voters is under way.
    fn is_settled(&self) -> bool;
    /// True where this member is settled and all proposals are committed.
    fn is_at_rest(&self) -> bool;
    /// True if this member is settled, and there are as many voters as there should be.
    fn is_arranged(&self) -> bool;
    /// True if this member leads, and a majority of the voters other than `member` has the whole
    /// log and has answered since [`QuorumInput::Part`]; none if that question has to be asked
    /// first.
    fn may_part(&self, member: Member) -> Option<bool>;
    /// The number of times that a member went on alone.
    fn era(&self) -> u64;
    /// The hosts to which links are to stand for the log's tree, and how often they have changed.
    /// `None` if the leader sends to all.
    fn kin(&self) -> Option<(u64, Vec<HostIndex>)>;
}
