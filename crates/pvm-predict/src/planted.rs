//! Errors that are planted in the models on purpose, so that their tests can show that they find
//! them.
//!
//! Without the feature `planted`, which only one test turns on, `is` is false for the compiler
//! already.

/// An error, named after what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// A frame of the shared cable begins without the gap behind the last one.
    GapForgotten,
    /// The slot of the shared cable is twice as long.
    SlotTooLong,
    /// Backoff does not double behind a collision.
    BackoffFlat,
    /// A collision takes no time.
    JamForgotten,
    /// Frames below the shortest one are sent as they are.
    ShortFrames,
    /// The thesis: an acknowledgement is forgotten.
    AcknowledgementForgotten,
    /// The thesis: protocol time is taken a packet, not a message.
    ServerTimePerPacket,
    /// The thesis: the rest of a write's time is not held.
    RestForgotten,
    /// The thesis: what a receive left over is lost.
    StubLost,
    /// The thesis: a message to oneself passes the protocol.
    OwnMessagesPassTcp,
    /// A port's queue has no bound.
    QueueWithoutBound,
    /// Tokens of a bucket grow beyond its burst.
    BucketWithoutBottom,
    /// A link that loses loses nothing.
    LossForgotten,
    /// In slow start each acknowledgement counts twice.
    SlowStartTooFast,
    /// A connection that was idle keeps its window.
    IdleRestartForgotten,
    /// No acknowledgement is delayed.
    DelayForgotten,
    /// The second segment is not acknowledged at once.
    AckEverySegmentLate,
    /// Segments that are not full never wait.
    NagleOff,
    /// A write finds room always.
    BufferWithoutBound,
    /// A loss leaves the window as it is.
    LossUnanswered,
    /// A link into a host carries as many flows at full rate as come.
    ReceiverNotShared,
    /// The share that a flow takes of a link is left for others, too.
    LinkOverbooked,
    /// Timers do not wait for a tick.
    TicksForgotten,
    /// The rest of a write never waits for what is in the queue.
    CorkForgotten,
    /// Segments that wait in the host's own queue are sent again.
    QueuedSentAgain,
    /// Tasks that share cores do not slow one another down.
    CoresForgotten,
    /// A hypercube's packets take the highest bit first.
    HighestBitFirst,
    /// A torus is a mesh.
    TorusWithoutWrap,
    /// A switch of a fat tree has one link upwards that is used.
    OneUplink,
    /// A switch that cuts through waits for the whole frame.
    CutForgotten,
    /// Cells carry nothing beside the packet.
    TrailerForgotten,
    /// The token's timer never runs out.
    TokenWithoutTimer,
    /// A crossbar connects with a destination that is busy.
    BusyIgnored,
    /// Datagrams do not wait for one another's acknowledgements.
    WindowForgotten,
    /// Memory for RDMA is registered in no time.
    RegistrationForgotten,
    /// A daemon sends one task's messages to their end before another task's.
    TurnsForgotten,
    /// Records of TLS have no bytes of their own.
    RecordsForgotten,
    /// Daemons do not beat.
    BeatsForgotten,
}

impl Bug {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::CoresForgotten,
        Self::ReceiverNotShared,
        Self::LinkOverbooked,
        Self::GapForgotten,
        Self::SlotTooLong,
        Self::BackoffFlat,
        Self::JamForgotten,
        Self::ShortFrames,
        Self::AcknowledgementForgotten,
        Self::ServerTimePerPacket,
        Self::RestForgotten,
        Self::StubLost,
        Self::OwnMessagesPassTcp,
        Self::QueueWithoutBound,
        Self::BucketWithoutBottom,
        Self::LossForgotten,
        Self::SlowStartTooFast,
        Self::IdleRestartForgotten,
        Self::DelayForgotten,
        Self::AckEverySegmentLate,
        Self::NagleOff,
        Self::BufferWithoutBound,
        Self::LossUnanswered,
        Self::TicksForgotten,
        Self::CorkForgotten,
        Self::QueuedSentAgain,
        Self::HighestBitFirst,
        Self::TorusWithoutWrap,
        Self::OneUplink,
        Self::CutForgotten,
        Self::TrailerForgotten,
        Self::TokenWithoutTimer,
        Self::BusyIgnored,
        Self::WindowForgotten,
        Self::RegistrationForgotten,
        Self::TurnsForgotten,
        Self::RecordsForgotten,
        Self::BeatsForgotten,
    ];
}

#[cfg(feature = "planted")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Plants an error in what this thread runs from now on.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// True where this error is planted.
#[cfg(feature = "planted")]
pub(crate) fn is(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// True where this error is planted: nowhere.
#[cfg(not(feature = "planted"))]
pub(crate) const fn is(_: Bug) -> bool {
    false
}
