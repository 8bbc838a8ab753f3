//! A wait for the message of one sender, which leaves the messages of others in their lanes for a
//! while.
//!
//! It does so only for a while: messages that are left fill their lane, their sender waits for
//! room, and the awaited sender may wait for that one. The while belongs to the wait, not to one
//! sleep: signals and other senders may end each sleep long before.

use super::Deadline;
use super::token::{FOR_ONE, Until, WaitToken, may_wait_for_one};
use crate::state::Others;
use pvm_wire::Tid;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A sleep for one sender has lasted its whole time. It may be the sleep of another wait, which a
/// signal handler has interrupted; then one of the two ends its while too early, or the other by
/// its own clock.
static SLEPT_LONG: AtomicBool = AtomicBool::new(false);

/// See [`SLEPT_LONG`].
pub(super) fn has_slept_long() {
    SLEPT_LONG.store(true, Ordering::Relaxed);
}

/// The senders whose messages a receive waits for, as long as it waits: one at first, then all.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    is_endless: bool,
    /// The one, while others' messages stay.
    one: Option<Tid>,
    until: Until,
    /// A wait has ended without the message.
    has_waited: bool,
}

impl Awaited {
    /// A wait until `deadline` for messages of `source`, or for those of all. With a deadline it is
    /// for those of all: a caller that comes again after each one would leave them for ever.
    pub fn new(deadline: Deadline, source: Option<Tid>) -> Self {
        let is_endless = deadline == Deadline::Never;
        let one = source.filter(|source| is_endless && source.is_task());
        Self { is_endless, one, until: Until::NotYet, has_waited: false }
    }

    /// True if the caller stays until there is a message.
    pub(crate) const fn is_endless(self) -> bool {
        self.is_endless
    }

    /// The place of the messages of others behind the next look.
    pub(crate) fn others(self) -> Others {
        let stay = self.one.is_some() && may_wait_for_one();
        if stay { Others::Stay } else { Others::Come }
    }

    /// The token for the next wait of the task `own`. A message of another host may come by any
    /// lane of the host's, and by a route.
    pub fn narrow(&mut self, own: Tid, token: WaitToken) -> WaitToken {
        let was_narrow = self.one.is_some();
        if was_narrow && std::mem::replace(&mut self.has_waited, true) {
            let now = Instant::now();
            match self.until {
                _ if SLEPT_LONG.swap(false, Ordering::Relaxed) => self.one = None,
                Until::NotYet => self.until = Until::At(now + FOR_ONE),
                Until::At(end) if now >= end => self.one = None,
                Until::At(_) => {}
            }
        }
        if was_narrow && self.one.is_none() {
            // The look before it has left messages of others, and has taken their marks: nothing
            // would end a sleep for them.
            return token.over();
        }
        let near = self.one.filter(|one| one.host() == own.host());
        token.narrow(near.map(|one| (one, self.until)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::HostIndex;
    use std::time::Duration;

    const OWN: Tid = task(1, 1);

    const fn task(host: u16, local: u32) -> Tid {
        Tid::task(HostIndex(host), local)
    }

    fn left_for_one(awaited: &mut Awaited) -> Duration {
        awaited.narrow(OWN, WaitToken::new(0)).left_for_one()
    }

    #[test]
    fn sleeps_that_signals_ended_early_began_the_while_anew() {
        let mut awaited = Awaited::new(Deadline::Never, Some(task(1, 2)));
        assert_eq!(left_for_one(&mut awaited), FOR_ONE);
        let until = loop {
            assert!(left_for_one(&mut awaited) <= FOR_ONE);
            if let Until::At(end) = awaited.until {
                break end;
            }
        };
        while Instant::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(left_for_one(&mut awaited), Duration::ZERO);
        assert_eq!(awaited.others(), Others::Come);
    }

    #[test]
    fn a_wait_that_became_one_for_all_slept_beside_what_it_had_left() {
        let mut awaited = Awaited::new(Deadline::Never, Some(task(1, 2)));
        let mut ends_at_once = false;
        while awaited.one.is_some() {
            assert!(!ends_at_once);
            ends_at_once = awaited.narrow(OWN, WaitToken::new(0)).generation != 0;
        }
        assert!(ends_at_once);
        assert_eq!(awaited.narrow(OWN, WaitToken::new(0)).generation, 0, "once");
    }

    #[test]
    fn only_a_task_of_the_host_is_waited_for_alone_and_only_without_a_deadline() {
        for (deadline, source) in [
            (Deadline::Never, None),
            (Deadline::Never, Some(task(2, 1))),
            (Deadline::Never, Some(Tid::host_id(HostIndex(1)))),
            (Deadline::after(FOR_ONE), Some(task(1, 2))),
            (Deadline::Now, Some(task(1, 2))),
        ] {
            let mut awaited = Awaited::new(deadline, source);
            assert_eq!(left_for_one(&mut awaited), Duration::ZERO, "{deadline:?} {source:?}");
        }
    }
}
