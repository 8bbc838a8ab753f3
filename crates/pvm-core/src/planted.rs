//! Bugs that are planted on purpose, so that the simulator can show that it finds them.
//!
//! Without the feature `planted`, which only the simulator's own test turns on, [`is`] is false
//! for the compiler already.

/// A bug, named after what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// The vote is not given back when a new term begins.
    VoteNotReset,
    /// Entries are acknowledged and not stored.
    AcknowledgedBeforeStored,
    /// One vote less than the majority is enough to commit an entry.
    CommitByMinority,
    /// One vote less than the majority is enough to lead.
    LeadByMinority,
    /// A log that is behind is voted for.
    StaleLogVotedFor,
    /// An entry of an earlier term counts as ordered once a majority has it.
    EarlierTermCounted,
    /// A new host gets the state, but not the entries after it.
    SnapshotWithoutTail,
    /// A new host gets the state as if it were older than it is.
    SnapshotTooOld,
    /// A command that was proposed again after a change of leader is done again.
    DoubledOnResume,
    /// A command that was proposed to a leader that died is not proposed again.
    ProposalForgotten,
    /// A host that was taken out is listened to.
    FenceForgotten,
    /// A leader without answers goes on answering linearizable reads.
    StaleRead,
    /// Any host's suspicion removes a host, not the leader's alone.
    SuspicionDecides,
    /// A leader has a host taken out that it alone does not hear.
    NoSecondOpinion,
    /// A leader goes on leading although others hear hosts that it does not.
    LeadsHalfDeaf,
    /// A leader answers under its lease, although its clock may have stood still.
    LeaseOverAPause,
    /// A member that has missed more entries than any member keeps is sent later ones, which it
    /// cannot take.
    LaggardWithoutState,
    /// The state that such a member gets is added to its old one.
    CatchesUpByAdding,
    /// A barrier that the leader let go is not told to its successor.
    ReleaseForgotten,
    /// A barrier's askers do not ask the next leader.
    BarrierNotAskedAgain,
    /// A new leader lets barriers go before it has heard from all hosts.
    NoReport,
    /// With two hosts, the first does not wait for the second.
    SecondNotNeeded,
    /// With two hosts, the second goes on after mere silence.
    SilenceIsEvidence,
    /// A log is cut off before all members have it.
    CutTooEarly,
    /// A voter that is gone is not replaced.
    VoterNotReplaced,
    /// A member votes for two in one term.
    VotedTwice,
    /// An entry of another leader stays in a log although the present leader has another one there.
    LogNotTruncated,
    /// Entries are taken without a look at the one before them.
    BeforeNotChecked,
    /// A new host is not told of the named messages.
    StateWithoutNames,
    /// A host that was taken out is told of twice.
    NoticeTwice,
    /// A notice is told before what the dead task has left is gone from its host's tables.
    NoticeOvertakes,
    /// A host that was taken out keeps its seat.
    SeatKept,
    /// A host is deleted before it is known that the others that vote could go on without it.
    PartsUnasked,
    /// A command that takes out a voter goes into the log without the entry that takes out its
    /// vote.
    GoesByItsOwnVote,
    /// A leader that leads no more keeps the removal of a voter that it has not committed.
    RemovalKept,
    /// A follower that is started again stands for election although it may have heard the leader.
    LeaseForgotten,
    /// A leader of two that is started again commits before it knows whether the other one is
    /// needed.
    NeedForgotten,
    /// A leader of two goes on leading and answering while the other one may have the witness.
    LeadsUnanswered,
    /// Voters are chosen without regard to their computers.
    VotersOnOneComputer,
    /// A follower answers with its own time instead of the leader's, which counts its lease from
    /// it.
    StampOfAnother,
    /// A leader sends all that a member lacks, whatever of it is under way.
    NoWindow,
    /// Entries under way are sent again with each heartbeat.
    ResentOnBeat,
    /// Beats, votes and answers wait behind entries.
    BeatsBehindBulk,
    /// A long command is one place of the log: all others wait behind it.
    LongInOnePiece,
    /// A relay hands on what is not committed.
    RelayedUncommitted,
    /// Entries that members below a relay lack do not count when the log is cut.
    BelowUncounted,
    /// Along a tree only the member above another one, as far as that one knows, may tell it that
    /// the entries that it lacks are not kept any more. The random runs of `pvm-quorum/tests/lag`
    /// find this one and the next.
    LackUnheard,
    /// A member that knows of no tree asks no other one to send to it when all are silent.
    LostOutsideTheTree,
    /// A new leader changes the voters before an entry of its own term is committed. The tests of
    /// `pvm-quorum` find this one and those below: long runs by chance, or the test of the rule.
    ChangeBeforeOwnEntry,
    /// A leader changes the voters while another change of them is under way.
    TwoChangesAtOnce,
    /// A member follows a leader of an earlier term.
    OlderTermFollowed,
    /// A leader that hears of a later term goes on leading in it.
    LeadsOnInLaterTerm,
    /// A follower applies what its leader has committed, although its own log may differ there.
    CommitUnverified,
    /// A leader answers reads before an entry of its own term is committed.
    ReadBeforeOwnEntry,
    /// A vote is not stored.
    BallotNotStored,
    /// The state replaces the end of a log that has its place.
    StateOverLaterLog,
    /// The state names the voters of a later entry.
    StateWithLaterVoters,
    /// A voter is taken out while another member could have its vote and has none.
    GoesBeforeItsStandIn,
    /// A member that has given its vote away gets none back when its removal does not come.
    VoteNotGivenBack,
    /// A leader's message to one member counts as answered by all.
    AnswerCountsForAll,
    /// A leader that is to be taken out lets the commands of others go before that for ever. One
    /// seed of the scene `Removals` finds it.
    NoLastCall,
}

impl Bug {
    /// The bugs that the simulator finds within the runs of its test.
    pub const ALL: [Self; 46] = [
        Self::VoteNotReset,
        Self::AcknowledgedBeforeStored,
        Self::CommitByMinority,
        Self::LeadByMinority,
        Self::StaleLogVotedFor,
        Self::SnapshotTooOld,
        Self::DoubledOnResume,
        Self::ProposalForgotten,
        Self::StaleRead,
        Self::SuspicionDecides,
        Self::ReleaseForgotten,
        Self::NoSecondOpinion,
        Self::LeadsHalfDeaf,
        Self::LeaseOverAPause,
        Self::LaggardWithoutState,
        Self::CatchesUpByAdding,
        Self::NeedForgotten,
        Self::VotersOnOneComputer,
        Self::BeatsBehindBulk,
        Self::NoReport,
        Self::SecondNotNeeded,
        Self::SilenceIsEvidence,
        Self::CutTooEarly,
        Self::VoterNotReplaced,
        Self::VotedTwice,
        Self::LogNotTruncated,
        Self::BeforeNotChecked,
        Self::StateWithoutNames,
        Self::NoticeTwice,
        Self::NoticeOvertakes,
        Self::SeatKept,
        Self::PartsUnasked,
        Self::GoesByItsOwnVote,
        Self::RemovalKept,
        Self::LeaseForgotten,
        Self::StampOfAnother,
        Self::LeadsUnanswered,
        Self::EarlierTermCounted,
        Self::SnapshotWithoutTail,
        Self::FenceForgotten,
        Self::BarrierNotAskedAgain,
        Self::NoWindow,
        Self::ResentOnBeat,
        Self::LongInOnePiece,
        Self::RelayedUncommitted,
        Self::BelowUncounted,
    ];
}

#[cfg(feature = "planted")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug in everything that this thread runs from now on.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// True where this bug is planted.
#[cfg(feature = "planted")]
pub fn is(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// True where this bug is planted: nowhere.
#[cfg(not(feature = "planted"))]
pub const fn is(_bug: Bug) -> bool {
    false
}
