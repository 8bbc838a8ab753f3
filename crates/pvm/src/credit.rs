//! The way of a message, and the policy of its send when too much waits unread there.

use pvm_wire::{HostIndex, Tid};

/// The policy of a send when too much waits unread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Policy {
    /// Messages go to disk; when that is used up, too, it waits.
    Spill = 0,
    /// It waits.
    Block = 1,
    /// It fails with `PvmOutOfRes`.
    Error = 2,
}

impl Policy {
    /// The policy with this number.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Spill),
            1 => Some(Self::Block),
            2 => Some(Self::Error),
            _ => None,
        }
    }

    /// The policy that `PVM_SPILL` names: `block`, `error`, or anything else.
    pub(crate) fn of_environment() -> Self {
        match std::env::var("PVM_SPILL").as_deref() {
            Ok("block") => Self::Block,
            Ok("error") => Self::Error,
            _ => Self::Spill,
        }
    }
}

/// The way of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sending<'a> {
    /// To a task of this host.
    Here(Tid),
    /// To a task of another host.
    Abroad(Tid),
    /// To several tasks of another host.
    Spread(HostIndex, &'a [Tid]),
}

impl Sending<'_> {
    /// The tasks that get it.
    pub(crate) fn receivers(&self) -> Vec<Tid> {
        match self {
            Self::Here(to) | Self::Abroad(to) => vec![*to],
            Self::Spread(_, to) => to.to_vec(),
        }
    }
}
