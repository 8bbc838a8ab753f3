//! Direct routes of a task to tasks of other hosts.
//!
//! A route is asked for at the first send under `PvmRouteDirect`; until it stands, and whenever it
//! cannot take a message, messages go by the daemons. Numbers keep them in order.

pub(crate) mod direct;
pub(crate) mod notices;
pub(crate) mod records;
pub(crate) mod stream;

use crate::buffer::Store;
use crate::order::{Life, Order, Stamp};
use direct::{Around, Direct};
use notices::RouteNotices;
use pvm_shm::Slab;
use pvm_wire::record::RouteKind;
use pvm_wire::{Envelope, Tid};
use records::RECORDS_MAX;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// A task asks again for a route after this time, if nothing has come of the last wish.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// Up to this many routes are looked at without asking which of them have something: one call less.
const FEW: usize = 2;
/// For tests: keys are renewed after fewer records.
const LIMIT: &str = "NEOPVM_ROUTE_RECORDS";
/// Routes that one look serves.
const READY: usize = 64;

/// `PvmDontRoute`: neither asks for direct routes nor grants them.
pub(crate) const DONT_ROUTE: i32 = 1;
/// `PvmAllowDirect`, the default: grants them.
pub(crate) const ALLOW_DIRECT: i32 = 2;
/// `PvmRouteDirect`: asks for them, too.
pub(crate) const ROUTE_DIRECT: i32 = 3;

/// A message as it waits.
pub(crate) type Arrived = (Envelope, Store);

/// All routes of a task.
#[derive(Debug)]
pub(crate) struct Routes {
    pub(crate) open: BTreeMap<Tid, Direct>,
    asked: BTreeMap<Tid, Instant>,
    /// The asked tasks from which no answer has come.
    awaited: BTreeSet<Tid>,
    /// Holds the sockets.
    epoll: Option<OwnedFd>,
    scratch: Vec<u8>,
    /// Records that may be sealed with one key.
    limit: u64,
    /// The life of this task.
    life: Life,
    /// `PvmRoute`.
    pub(crate) option: i32,
    /// Tasks that wait to hear that their messages came.
    owed: BTreeSet<Tid>,
    /// The notices about routes that the program wants.
    pub(crate) notices: RouteNotices,
}

impl Routes {
    /// None yet.
    pub(crate) fn new(me: Tid) -> Self {
        Self {
            limit: limit(std::env::var(LIMIT).ok().as_deref()),
            open: BTreeMap::new(),
            asked: BTreeMap::new(),
            awaited: BTreeSet::new(),
            epoll: None,
            scratch: Vec::new(),
            life: Life::now(),
            option: ALLOW_DIRECT,
            owed: BTreeSet::new(),
            notices: RouteNotices::new(me),
        }
    }

    /// The descriptor that is readable when something came by a route; made when there is none.
    pub(crate) fn descriptor(&mut self) -> Option<RawFd> {
        if self.epoll.is_none() {
            self.epoll = epoll::create(epoll::CreateFlags::CLOEXEC).ok();
        }
        self.epoll.as_ref().map(OwnedFd::as_raw_fd)
    }

    /// True if a route to this task is to be asked for now; it counts as asked for.
    pub(crate) fn ask(&mut self, to: Tid) -> bool {
        if self.option != ROUTE_DIRECT {
            return false;
        }
        let now = Instant::now();
        let due = self.asked.get(&to).is_none_or(|at| now - *at > ASK_AGAIN);
        if due {
            self.asked.insert(to, now);
            self.awaited.insert(to);
        }
        due
    }

    /// True while an answer is awaited.
    pub(crate) fn is_asking(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// There will be no route for now.
    pub(crate) fn refused(&mut self, peer: Tid) {
        self.awaited.remove(&peer);
    }

    /// Tells this task's numbers from those of others that had its id.
    pub(crate) const fn life(&self) -> Life {
        self.life
    }

    /// A message is on its way to this task by the daemons, so a route that stands has begun.
    pub(crate) fn begin(&mut self, to: Tid) {
        if let Some(direct) = self.open.get_mut(&to) {
            direct.begin();
        }
    }

    /// Records that may be sealed with one key.
    pub(crate) const fn limit(&self) -> u64 {
        self.limit
    }

    /// A new route.
    pub(crate) fn add(&mut self, peer: Tid, direct: Direct) {
        self.asked.remove(&peer);
        self.awaited.remove(&peer);
        if let Some(epoll) = &self.epoll {
            let data = epoll::EventData::new_u64(peer.0.into());
            // If this fails, the route is served whenever something else happens.
            let _ = epoll::add(epoll, &direct.socket, data, epoll::EventFlags::IN);
        }
        self.open.insert(peer, direct);
    }

    /// Forgets a route; its socket is closed with what is returned.
    pub(crate) fn remove(&mut self, peer: Tid) -> Option<Direct> {
        self.owed.remove(&peer);
        let direct = self.open.remove(&peer)?;
        // The host, and a child of a fork, may hold the socket as well: it would stay in the set,
        // readable for ever.
        if let Some(epoll) = &self.epoll {
            let _ = epoll::delete(epoll, &direct.socket);
        }
        let _ = rustix::net::shutdown(&direct.socket, rustix::net::Shutdown::Both);
        Some(direct)
    }

    /// Sends a message, or confirms. The error is that the route is of no more use.
    pub(crate) fn with<R>(
        &mut self,
        peer: Tid,
        (order, arrivals): (&mut Order<Arrived>, &mut VecDeque<Arrived>),
        slab: &mut dyn FnMut(usize) -> Option<Slab>,
        act: impl FnOnce(&mut Direct, Stamp, &mut Around<'_>) -> Result<R, direct::Broken>,
    ) -> Option<Result<R, direct::Broken>> {
        let direct = self.open.get_mut(&peer)?;
        let mut arrived = Vec::new();
        let mut around = Around { scratch: &mut self.scratch, arrived: &mut arrived, slab };
        let mut result = act(direct, order.last(peer), &mut around);
        for (envelope, store) in arrived {
            take(order, ((envelope, store), RouteKind::Direct), arrivals);
        }
        let heard = order.last(peer);
        if result.is_ok() && direct.owes(heard, false) {
            let mut rest = Vec::new();
            let mut around = Around { scratch: &mut self.scratch, arrived: &mut rest, slab };
            if let Err(broken) = direct.confirm(heard, &mut around) {
                result = Err(broken);
            }
            for (envelope, store) in rest {
                take(order, ((envelope, store), RouteKind::Direct), arrivals);
            }
        }
        if direct.owes(order.last(peer), true) {
            self.owed.insert(peer);
        } else {
            self.owed.remove(&peer);
        }
        Some(result)
    }

    /// The routes that may have something.
    pub(crate) fn ready(&self) -> Vec<Tid> {
        let Some(epoll) = self.epoll.as_ref().filter(|_| !self.open.is_empty()) else {
            return Vec::new();
        };
        if self.open.len() <= FEW {
            return self.open.keys().copied().collect();
        }
        let mut events: Vec<epoll::Event> = Vec::with_capacity(READY);
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        if epoll::wait(epoll, spare_capacity(&mut events), Some(&at_once)).is_err() {
            return Vec::new();
        }
        events.iter().map(|event| Tid(event.data.u64() as u32)).collect()
    }

    /// The tasks whose messages have come and that have not been told.
    pub(crate) fn take_owed(&mut self) -> BTreeSet<Tid> {
        std::mem::take(&mut self.owed)
    }
}

/// A message of another host has come this way. From now on its envelope says its number and its
/// way alone, not the life of its sender.
pub(crate) fn take(
    order: &mut Order<Arrived>,
    ((envelope, store), route): (Arrived, RouteKind),
    out: &mut VecDeque<Arrived>,
) {
    let stamp = Stamp::from_raw(envelope.sequence);
    let came = Stamp::of_arrived(stamp.number(), route == RouteKind::Direct);
    let envelope = Envelope { sequence: came.raw(), ..envelope };
    order.take(envelope.src, stamp, (envelope, store), out);
}

/// Fewer than the protocol allows, if tests say so; 16 at the least, so that a route is of use.
fn limit(wanted: Option<&str>) -> u64 {
    let wanted = wanted.and_then(|number| number.parse().ok()).unwrap_or(RECORDS_MAX);
    wanted.clamp(16, RECORDS_MAX)
}

/// The program's descriptor is readable when something came by a direct route, too.
pub(crate) fn watch_too(watch: &OwnedFd, routes: RawFd) {
    let data = epoll::EventData::new_u64(1);
    // This fails only for want of memory; then the program learns of the route by its next call.
    let _ = epoll::add(watch, crate::sys::borrow(routes), data, epoll::EventFlags::IN);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_setting_lets_a_key_seal_more_than_it_may() {
        assert_eq!(limit(None), RECORDS_MAX);
        assert_eq!(limit(Some("200")), 200);
        for wrong in ["0", "99999999999", "-1", "many", ""] {
            assert!((16..=RECORDS_MAX).contains(&limit(Some(wrong))), "{wrong}");
        }
    }
}
