//! Errors that can be planted in the models, so that their tests show that they find them.
//!
//! Without the feature `planted`, which only one test uses, the compiler knows that `is` returns
//! false.

/// An error, named after what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// A frame of the shared cable does not wait for the gap behind the last one.
    GapForgotten,
    /// The slot of the shared cable is twice as long.
    SlotTooLong,
    /// The backoff does not double after a collision.
    BackoffFlat,
    /// A collision takes no time.
    JamForgotten,
    /// Frames below the shortest length are not padded.
    ShortFrames,
    /// The thesis: an acknowledgement is forgotten.
    AcknowledgementForgotten,
    /// The thesis: protocol time is spent for each packet, not for each message.
    ServerTimePerPacket,
    /// The thesis: the rest of a write's time is not spent.
    RestForgotten,
    /// The thesis: bytes that a receive left over are lost.
    StubLost,
    /// The thesis: a message to oneself passes the protocol.
    OwnMessagesPassTcp,
    /// A port's queue has no bound.
    QueueWithoutBound,
    /// Tokens of a bucket grow beyond its burst.
    BucketWithoutBottom,
    /// A link that should lose frames loses none.
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
    /// A write always finds room.
    BufferWithoutBound,
    /// A route fills the queues of the network.
    QueueUnbounded,
    /// The receive window stays as small as it is at first.
    WindowFixed,
    /// A writer handles acknowledgements before its write is over.
    WriterHearsAtOnce,
    /// A loss leaves the window as it is.
    LossUnanswered,
    /// A link into a host carries as many flows at full rate as come.
    ReceiverNotShared,
    /// The capacity that a flow takes is left for others, too.
    LinkOverbooked,
    /// Timers do not wait for a tick.
    TicksForgotten,
    /// The rest of a write never waits for segments in the queue.
    CorkForgotten,
    /// Segments that still wait in the host's own queue are sent again.
    QueuedSentAgain,
    /// Tasks that share cores do not slow one another down.
    CoresForgotten,
    /// A hypercube's packets take the highest bit first.
    HighestBitFirst,
    /// A torus is routed as a mesh.
    TorusWithoutWrap,
    /// Of the links upwards of a fat tree's switch only one is used.
    OneUplink,
    /// A switch that cuts through waits for the whole frame.
    CutForgotten,
    /// Cells have no bytes beside the packet's.
    TrailerForgotten,
    /// The token's timer never runs out.
    TokenWithoutTimer,
    /// A crossbar connects with a destination that is busy.
    BusyIgnored,
    /// Each host has a bus of its own.
    BusOfMany,
    /// A ring has one direction.
    RingOneWay,
    /// A grid's packets take the last dimension first.
    LastDimensionFirst,
    /// A fat tree has all its links upwards.
    TaperForgotten,
    /// A card sends long messages without asking.
    RendezvousForgotten,
    /// A card sends at the call.
    PostForgotten,
    /// Records of TLS are encrypted and decrypted in no time.
    CipherForgotten,
    /// Datagrams do not wait for one another's acknowledgements.
    WindowForgotten,
    /// Memory for RDMA is registered in no time.
    RegistrationForgotten,
    /// A daemon sends all messages of one task before those of another.
    TurnsForgotten,
    /// Records of TLS add no bytes.
    RecordsForgotten,
    /// Daemons send no heartbeats.
    BeatsForgotten,
}

impl Bug {
    /// All errors.
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
        Self::QueueUnbounded,
        Self::WindowFixed,
        Self::WriterHearsAtOnce,
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
        Self::BusOfMany,
        Self::RingOneWay,
        Self::LastDimensionFirst,
        Self::TaperForgotten,
        Self::RendezvousForgotten,
        Self::PostForgotten,
        Self::CipherForgotten,
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

/// Plants an error in all that this thread runs from now on.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// True while this error is planted.
#[cfg(feature = "planted")]
pub(crate) fn is(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Always false in a program without the feature.
#[cfg(not(feature = "planted"))]
pub(crate) const fn is(_: Bug) -> bool {
    false
}
