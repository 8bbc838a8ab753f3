//! Bugs that the simulation must find: one at a time is planted by its test, with the feature
//! `planted`.

/// A bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// The primary answers before its copies have the step.
    AnswersEarly,
    /// A request that comes again is done again.
    DoesTwice,
    /// A server that the last entry does not name takes over, too.
    UnnamedTakesOver,
    /// Tuples that a dead client had claimed stay away.
    KeepsClaims,
    /// A claim that comes back stays a claim.
    ReturnsTwice,
    /// A copy applies a step though the one before is missing.
    SkipsSteps,
    /// A beginning that comes again undoes what came behind it.
    BeginsAgain,
    /// A claim ends, and what was to be put with it is not.
    ForgetsPuts,
    /// The last one of tuples that are put together is lost.
    PutsAPart,
    /// A snapshot lacks the claims.
    SnapshotWithoutClaims,
    /// A snapshot lacks the answers.
    SnapshotWithoutAnswers,
    /// A snapshot lacks the waiters.
    SnapshotWithoutWaiters,
    /// A new tuple goes to a waiter and into the space.
    OffersTwice,
    /// A client that does not want to wait is told that there is nothing.
    SaysNothing,
    /// A tuple that a dead client waited for is taken for it.
    ServesTheDead,
    /// A tuple that a withdrawn request has taken stays away.
    KeepsWithdrawn,
    /// A step that is not on the disk yet is answered.
    AnswersBeforeTheDisk,
    /// A server that is to leave its host leaves, whether others have what it holds or not.
    LeavesNothing,
    /// On a full disk a request that comes again is refused, though it waits or was done.
    RefusesAgain,
    /// A record of a log whose hash is not its own is believed.
    TrustsTheDisk,
    /// A snapshot lacks the tuples that have no room in memory.
    ForgetsTheShelf,
    /// A primary that has told another server to be the next one still answers without it.
    AnswersWhileItMoves,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::AnswersEarly,
        Self::DoesTwice,
        Self::UnnamedTakesOver,
        Self::KeepsClaims,
        Self::ReturnsTwice,
        Self::SkipsSteps,
        Self::BeginsAgain,
        Self::ForgetsPuts,
        Self::PutsAPart,
        Self::SnapshotWithoutClaims,
        Self::SnapshotWithoutAnswers,
        Self::SnapshotWithoutWaiters,
        Self::OffersTwice,
        Self::SaysNothing,
        Self::ServesTheDead,
        Self::KeepsWithdrawn,
        Self::LeavesNothing,
        Self::RefusesAgain,
        Self::AnswersBeforeTheDisk,
        Self::TrustsTheDisk,
        Self::ForgetsTheShelf,
        Self::AnswersWhileItMoves,
    ];
}

#[cfg(feature = "planted")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Plants a bug, or none, for this thread.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// True where this bug is planted.
#[cfg(feature = "planted")]
pub(crate) fn is(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Never true in what is shipped.
#[cfg(not(feature = "planted"))]
pub(crate) const fn is(_: Bug) -> bool {
    false
}
