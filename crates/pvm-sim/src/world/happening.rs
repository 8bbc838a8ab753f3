//! The events of a world.

use crate::link::Pair;
use pvm_core::io::{Event, News};
use pvm_wire::peer::PeerMessage;
use pvm_wire::{HostIndex, Tid};

/// Something that is going to happen.
#[derive(Clone, Debug)]
pub enum Happening {
    /// The parent of a host has something for its machine.
    Event(HostIndex, Event),
    /// The shell of a host has.
    News(HostIndex, News),
    /// A message arrives, if the link that it was sent over still stands.
    Arrival {
        /// Sender.
        from: HostIndex,
        /// Receiver.
        to: HostIndex,
        /// The link.
        made: u64,
        /// The message.
        message: PeerMessage,
    },
    /// A packet of a host's cable is through.
    Sent(HostIndex),
    /// Two hosts are connected.
    Connected(Pair),
    /// A deleted host's link is given up.
    Disconnected(Pair),
    /// A cut link can be used again.
    Heal(Pair),
    /// The parent starts a daemon again.
    Restart(HostIndex),
    /// A launched program says hello.
    Enrol(HostIndex, Tid),
    /// A host takes another one for dead, because it had no link to it for too long, unless there
    /// was one since this moment.
    Silence {
        /// The host that looks.
        at: HostIndex,
        /// The host that it looks at.
        of: HostIndex,
        /// The time since when.
        since: u64,
    },
    /// A host calls another that may have taken it out of its table.
    Call(HostIndex, HostIndex),
    /// A direction in which nothing arrives is noticed at both ends.
    Stalled(Pair),
    /// It is certain that a host is gone.
    Evidence(HostIndex),
    /// A slow link is as fast as the others again.
    Hastened(Pair),
    /// It is looked whether a link of this number is used.
    Idle(Pair, u64),
}

/// The place at which a daemon crashes while it handles an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crash {
    /// Before the parent has the effects.
    BeforeEffects,
    /// Between the effects and the acts.
    BeforeActs,
}
impl Happening {
    /// True for events that no run waits for.
    pub(super) fn is_background(&self) -> bool {
        matches!(
            self,
            Self::Arrival { message: PeerMessage::Quorum { .. } | PeerMessage::Hasty { .. }, .. }
                | Self::Silence { .. }
                | Self::Call(..)
                | Self::Stalled(..)
                | Self::Evidence(..)
                | Self::Hastened(..)
                | Self::Idle(..)
        )
    }

    /// The daemon that it is for.
    pub(super) const fn target(&self) -> Option<HostIndex> {
        match self {
            Self::Event(host, _) | Self::News(host, _) => Some(*host),
            Self::Arrival { to, .. } => Some(*to),
            Self::Silence { at, .. } => Some(*at),
            Self::Call(from, _) => Some(*from),
            _ => None,
        }
    }
}
