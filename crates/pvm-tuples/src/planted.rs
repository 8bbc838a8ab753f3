//! Bugs that the simulation must find. Its test plants one at a time, with the feature `planted`.

/// A bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// The primary answers before its copies have the step.
    AnswersEarly,
    /// A repeated request is carried out again.
    DoesTwice,
    /// A server that the last entry does not name takes over.
    UnnamedTakesOver,
    /// The tuples that a dead client had claimed do not come back.
    KeepsClaims,
    /// A claimed tuple that comes back is also still claimed.
    ReturnsTwice,
    /// A copy applies a step although the step before is missing.
    SkipsSteps,
    /// A repeated first state undoes the steps that came after it.
    BeginsAgain,
    /// A claim ends, but the tuples to be put with it are lost.
    ForgetsPuts,
    /// Of several tuples that are put together the last one is lost.
    PutsAPart,
    /// A snapshot lacks the claims.
    SnapshotWithoutClaims,
    /// A snapshot lacks the answers.
    SnapshotWithoutAnswers,
    /// A snapshot lacks the waiters.
    SnapshotWithoutWaiters,
    /// A new tuple goes to a waiter, and into the space as well.
    OffersTwice,
    /// A client that does not want to wait is told that no tuple fits.
    SaysNothing,
    /// A tuple is given to a waiter that has died.
    ServesTheDead,
    /// A tuple that a withdrawn request had taken does not come back.
    KeepsWithdrawn,
    /// A step is answered before it is on the disk.
    AnswersBeforeTheDisk,
    /// A server on a host that is to be left ends, even if no other server holds its spaces.
    LeavesNothing,
    /// On a full disk a repeated request is refused, although it waits or was carried out.
    RefusesAgain,
    /// A record of a log is used although its hash is wrong.
    TrustsTheDisk,
    /// A snapshot lacks the tuples on the shelf.
    ForgetsTheShelf,
    /// A primary that has told another server to replace it still answers without that server.
    AnswersWhileItMoves,
    /// A server is named as a copy before it has all that was answered.
    NamesTooEarly,
    /// A server whose disk has failed tells nobody.
    FailsInSilence,
}

impl Bug {
    /// All bugs.
    pub const ALL: [Self; 24] = [
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
        Self::NamesTooEarly,
        Self::FailsInSilence,
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

/// True while this bug is planted.
#[cfg(feature = "planted")]
pub(crate) fn is(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Always false in a program without the feature.
#[cfg(not(feature = "planted"))]
pub(crate) const fn is(_: Bug) -> bool {
    false
}
