//! Direct routes that are being made: what one side has heard of and the other has not yet.

use crate::link::direct::Made;
use pvm_wire::Tid;
use pvm_wire::route::Route;
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// How long one half waits for the other.
const WAIT: Duration = Duration::from_secs(5);

/// One end of a connection, and its socket.
pub(crate) type End = (OwnedFd, Route);

/// The task here and the task there.
type Pair = (Tid, Tid);

/// Routes on their way.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    /// Agreed on; the other host calls, or is being called.
    agreed: BTreeMap<Pair, Instant>,
    /// Called, but not agreed on yet.
    called: BTreeMap<Pair, (Instant, End)>,
}

impl Routes {
    /// The machines have agreed. The end, if the other host has called already; true if this
    /// was not known before.
    pub(crate) fn agree(&mut self, pair: Pair, now: Instant) -> (Option<End>, bool) {
        if let Some((_, end)) = self.called.remove(&pair) {
            return (Some(end), false);
        }
        (None, self.agreed.insert(pair, now).is_none())
    }

    /// A connection was made, or not. The end, if it is to be handed to the task.
    pub(crate) fn made(&mut self, made: Made, now: Instant) -> Option<End> {
        let pair = (made.local, made.peer);
        let end = made.route?;
        if self.agreed.remove(&pair).is_some() {
            return Some(end);
        }
        if made.key.is_some() {
            self.called.insert(pair, (now, end));
        }
        None
    }

    /// What was agreed on and will not be.
    pub(crate) fn give_up(&mut self, pair: Pair) -> bool {
        self.agreed.remove(&pair).is_some()
    }

    /// When somebody has waited long enough.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let called = self.called.values().map(|(since, _)| since);
        self.agreed.values().chain(called).min().map(|since| *since + WAIT)
    }

    /// Those who have.
    pub(crate) fn overdue(&mut self, now: Instant) -> Vec<Pair> {
        self.called.retain(|_, (since, _)| *since + WAIT > now);
        self.agreed.extract_if(.., |_, since| *since + WAIT <= now).map(|(pair, _)| pair).collect()
    }
}
