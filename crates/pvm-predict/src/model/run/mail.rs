//! Mail between the parts of a run.

use super::network::Network;
use crate::action::TaskNumber;
use crate::blame::{Chain, Split};
use crate::model::meeting::Came;
use crate::unit::Time;

/// Something for another part.
#[derive(Debug)]
pub(super) enum Mail<M> {
    /// For its network.
    Network(M),
    /// A task is started.
    Start { task: TaskNumber, at: Time, chain: Chain },
    /// All tasks have come to a point.
    Met { came: Came, wait: Split, chain: Chain },
}

impl<M> Mail<M> {
    /// The earliest event that follows from it.
    pub(super) fn due<N: Network<Mail = M>>(&self) -> Time {
        match self {
            Self::Network(mail) => N::due(mail),
            Self::Start { at, .. } => *at,
            Self::Met { came, wait, .. } => came.at + wait.total() + came.time,
        }
    }
}
