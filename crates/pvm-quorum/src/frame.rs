//! The messages between members. Each may be lost, repeated or late.

use pvm_core::planted::{self, Bug};
use pvm_core::quorum::Member;
use pvm_wire::{Blob, choice, record};

/// No machine counts this far, nor do nanoseconds since 1970 in this century: sums with numbers
/// below it do not overflow.
const NUMBER_MAX: u64 = 1 << 62;
/// The bytes of an entry besides its command.
const ENTRY_BYTES: usize = 32;

record! {
    /// A message from one member to another.
    pub struct Frame {
        pub from: Member,
        pub to: Member,
        /// The sender's term.
        pub term: u64,
        pub word: Word,
        /// The sender's knowledge of the tree, where the log goes along one.
        pub kin: Option<Kin>,
    }

    /// A tree member's knowledge that goes with its frames.
    pub struct Kin {
        /// The leader, if it is known.
        pub leader: Option<Member>,
        /// The age of this knowledge in nanoseconds, counted from the leader's message; each relay
        /// adds its delay.
        pub age: u64,
        /// The tree as the sender has worked it out.
        pub tree: u64,
        /// The sender and all below it have the log up to this entry; 0 if that is not known.
        pub below: u64,
    }

    /// One place of the log.
    pub struct Entry {
        pub term: u64,
        pub what: What,
    }
}

choice! {
    /// The content of an entry.
    pub enum What {
        /// A new leader's first entry: its commit commits everything before it, too.
        1 => Nothing,
        /// A command of the machine.
        2 => Command {
            bytes: Blob,
        },
        /// From here on these members vote.
        3 => Voters {
            voters: Vec<Member>,
        },
    }

    /// The content of a frame.
    pub enum Word {
        /// Leader: entries that follow a place of the log, perhaps none.
        1 => Append {
            before: u64,
            before_term: u64,
            entries: Vec<Entry>,
            /// The leader's commit number.
            commit: u64,
            /// Every member has the log up to this entry.
            everywhere: u64,
            /// The leader's time, to be sent back.
            stamp: u64,
        },
        /// The log agrees with the leader's up to here.
        2 => Agree {
            through: u64,
            stamp: u64,
        },
        /// The log differs at the place that was named; the leader may try after `hint`.
        3 => Differ {
            hint: u64,
            stamp: u64,
        },
        /// A new member has nothing yet.
        4 => Blank,
        /// A piece of the state after a place of the log.
        5 => Install {
            number: u64,
            number_term: u64,
            voters: Vec<Member>,
            /// The offset of the piece in the state.
            offset: u64,
            bytes: Blob,
            /// True if it is the last one.
            last: bool,
        },
        /// Vote for me, in the term of the frame. Before it raises its term a member asks
        /// whether it would be elected; `firm` tells the two apart.
        6 => Ask {
            firm: bool,
            last: u64,
            last_term: u64,
            /// The leader wants it.
            wanted: bool,
        },
        /// The answer, in the term that was asked for if it is yes.
        7 => Vote {
            firm: bool,
            yes: bool,
        },
        /// Leader: lead in my place.
        8 => Lead,
        /// Leader: it still leads.
        9 => Beat {
            /// The leader's commit number.
            commit: u64,
            /// Every member has the log up to this entry.
            everywhere: u64,
            /// The leader's time, to be sent back.
            stamp: u64,
        },
        /// The answer to that: the log agrees with the leader's up to here.
        11 => Alive {
            through: u64,
            stamp: u64,
        },
        /// The member has this many bytes of the state.
        10 => Got {
            through: u64,
        },
        /// To a member of the tree: the member that should hand on the log to the sender is silent.
        12 => Foster,
        /// From a member of the tree: it does not keep the next entry that the receiver lacks.
        13 => Lacks,
    }
}

impl Entry {
    /// The approximate size of the entry in bytes.
    pub(crate) const fn size(&self) -> usize {
        ENTRY_BYTES
            + match &self.what {
                What::Command { bytes } => bytes.0.len(),
                What::Nothing | What::Voters { .. } => 0,
            }
    }
}

impl Word {
    /// True for a short message, which may overtake messages that were sent before it.
    pub(crate) fn is_hasty(&self) -> bool {
        !matches!(self, Self::Append { .. } | Self::Install { .. })
            && !planted::is(Bug::BeatsBehindBulk)
    }
}

impl Frame {
    /// False for numbers that no member ever counts to: a sender of these is broken.
    pub(crate) fn is_possible(&self) -> bool {
        let all = |numbers: &[u64]| numbers.iter().all(|number| *number < NUMBER_MAX);
        let numbers = match &self.word {
            Word::Append { before, before_term, entries, commit, everywhere, stamp } => {
                let terms = entries.iter().all(|entry| entry.term < NUMBER_MAX);
                terms && all(&[*before, *before_term, *commit, *everywhere, *stamp])
            }
            Word::Agree { through: number, stamp }
            | Word::Alive { through: number, stamp }
            | Word::Differ { hint: number, stamp } => all(&[*number, *stamp]),
            Word::Beat { commit, everywhere, stamp } => all(&[*commit, *everywhere, *stamp]),
            Word::Install { number, number_term, offset, .. } => {
                all(&[*number, *number_term, *offset])
            }
            Word::Got { through } => all(&[*through]),
            Word::Ask { last, last_term, .. } => all(&[*last, *last_term]),
            Word::Blank | Word::Vote { .. } | Word::Lead | Word::Foster | Word::Lacks => true,
        };
        let kin = self.kin.as_ref().is_none_or(|kin| all(&[kin.age, kin.below]));
        numbers && kin && self.term < NUMBER_MAX
    }
}
