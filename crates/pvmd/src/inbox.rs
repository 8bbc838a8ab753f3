//! The daemon as a task among tasks: what they send to other hosts comes in here, what other
//! hosts send goes out to them.

use crate::broker::ParentBroker;
use crate::rosters::Rosters;
use anyhow::{Context as _, Result};
use pvm_core::io::{Departure, GroupState};
use pvm_shm::inbox::Inbox as Segment;
use pvm_shm::segment::Mapping;
use pvm_shm::spill::Draft;
use pvm_shm::transit::{LaneNumber, Parcel};
use pvm_shm::{Body, Outbox, Sent, Slab, Transit};
use pvm_wire::route::Route;
use pvm_wire::{Blob, Code, Envelope, HostIndex, Tid};
use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use tokio::net::UnixDatagram;

/// The daemon's inbox and lanes.
#[derive(Debug)]
pub(crate) struct Inbox {
    broker: ParentBroker,
    transit: Transit,
    outbox: Outbox,
    bell: UnixDatagram,
    rosters: Rosters,
    /// The members by which routes were fenced last; none since this daemon began.
    fenced: Option<BTreeSet<HostIndex>>,
}

impl Inbox {
    /// Asks the parent for the daemon's inbox and binds its doorbell.
    pub(crate) fn open(mut broker: ParentBroker, host: HostIndex) -> Result<Self> {
        let (segment, fd) = broker.inbox()?;
        let mapping = Mapping::new(&fd, usize::try_from(segment.size)?, true)?;
        let path = Path::new(std::str::from_utf8(&segment.doorbell.0)?);
        // A daemon before this one left its name there.
        let _ = std::fs::remove_file(path);
        let bell = UnixDatagram::bind(path).context("the daemon's doorbell")?;
        let outbox = Outbox::new(&mut broker)?;
        let transit = Transit::new(Segment::new(Arc::new(mapping)));
        transit.inbox().start(outbox.activity());
        // A daemon before this one may have died asleep, or with lanes in its hands.
        transit.inbox().disarm(outbox.activity());
        Ok(Self { broker, transit, outbox, bell, rosters: Rosters::new(host), fenced: None })
    }

    /// The lanes that have something new, and the hosts that they lead to.
    pub(crate) fn poll(&mut self) -> Vec<(LaneNumber, HostIndex)> {
        let mut lanes = Vec::new();
        self.transit.poll(&mut self.broker, &mut lanes);
        if lanes.is_empty() && self.outbox.is_large() {
            self.outbox.shrink(&mut self.broker);
        }
        lanes
    }

    /// The next message of a lane, to be confirmed when it is safe at the other host.
    pub(crate) fn next(&mut self, lane: LaneNumber) -> Option<Parcel> {
        self.transit.next(&mut self.broker, lane)
    }

    /// True if nothing was found in some lane only because memory or descriptors lack: the next
    /// look is to come later.
    pub(crate) const fn take_lack(&mut self) -> bool {
        self.transit.take_lack()
    }

    /// False while a lane holds what cannot be had now.
    pub(crate) fn is_within_reach(&self, lane: LaneNumber) -> bool {
        self.transit.is_within_reach(lane)
    }

    /// Like `is_within_reach`, for all lanes.
    pub(crate) fn is_all_within_reach(&self) -> bool {
        self.transit.is_all_within_reach()
    }

    /// The oldest message of a lane, dropped by now, is safe.
    pub(crate) fn confirm(&mut self, lane: LaneNumber) {
        self.transit.confirm(&mut self.broker, lane);
    }

    /// The host that a lane leads to is gone.
    pub(crate) fn discard(&mut self, lane: LaneNumber) {
        self.transit.discard(&mut self.broker, lane);
    }

    /// The direct routes of a task are no more, or that to one task: the lanes to be read.
    pub(crate) fn release(&mut self, sender: Tid, to: Option<Tid>) -> Vec<(LaneNumber, HostIndex)> {
        self.transit.release(&mut self.broker, sender, to)
    }

    /// Hands a task its end of a direct route.
    pub(crate) fn give_route(&mut self, to: Tid, route: Route, socket: OwnedFd) -> Result<()> {
        self.broker.give_route(to, route, socket)
    }

    /// Nothing comes by direct routes any more from hosts that are no members: to be called before
    /// any task is told that they are gone. The parent ends them, as those of earlier daemons are
    /// among them.
    pub(crate) fn fence(&mut self, members: BTreeSet<HostIndex>) {
        if self.fenced.as_ref().is_some_and(|before| before.is_subset(&members)) {
            self.fenced = Some(members);
            return;
        }
        // A dead parent is noticed elsewhere.
        let _ = self.broker.fence_routes(members.iter().copied().collect());
        self.fenced = Some(members);
    }

    /// The lanes of a task to a host; none if they cannot all be learnt of now.
    pub(crate) fn lanes_of(&mut self, sender: Tid, host: HostIndex) -> Option<Vec<LaneNumber>> {
        self.transit.lanes_of(&mut self.broker, sender, host)
    }

    /// Shows the tasks of this host a group.
    pub(crate) fn show_group(
        &mut self,
        name: &Blob,
        group: Option<GroupState>,
        departure: Departure,
    ) {
        self.rosters.show((&mut self.broker, &self.outbox), name, group, departure);
    }

    /// About to wait; false if something has come meanwhile.
    pub(crate) fn arm(&self) -> bool {
        self.transit.inbox().arm(self.outbox.activity())
    }

    /// Done with waiting.
    pub(crate) fn disarm(&self) {
        self.transit.inbox().disarm(self.outbox.activity());
    }

    /// Waits for the bell. Can be given up at any time.
    pub(crate) async fn rung(&self) {
        if self.bell.readable().await.is_ok() {
            let mut ring = [0; 8];
            while self.bell.try_recv(&mut ring).is_ok() {}
        }
    }

    /// Room for the body of a message that comes in pieces.
    pub(crate) fn slab(&mut self, size: usize) -> Result<Slab, Code> {
        self.outbox.slab(&mut self.broker, size)
    }

    /// Like `slab`, in a file, for `readers` receivers, where there is no credit in memory.
    pub(crate) fn spill(&mut self, size: usize, readers: usize) -> Result<Draft, Code> {
        self.outbox.spill(&mut self.broker, size, readers)
    }

    /// Puts a message into the inbox of a task here; one that is gone needs none.
    pub(crate) fn send(&mut self, envelope: &Envelope, body: Body<'_>) -> Result<Sent, Code> {
        self.outbox.send(&mut self.broker, envelope.dst, envelope, body)
    }
}
