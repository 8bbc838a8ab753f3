//! The daemon as a task among tasks: what they send to other hosts comes in here, what other
//! hosts send goes out to them.

use crate::broker::ParentBroker;
use anyhow::{Context as _, Result};
use pvm_shm::inbox::Inbox as Segment;
use pvm_shm::inlet::Arrival;
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Inlet, Outbox, Sent, Slab};
use pvm_wire::{Code, Envelope, Tid};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use tokio::net::UnixDatagram;

/// The daemon's inbox and lanes.
#[derive(Debug)]
pub(crate) struct Inbox {
    broker: ParentBroker,
    inlet: Inlet,
    outbox: Outbox,
    bell: UnixDatagram,
    arrivals: VecDeque<Arrival>,
}

impl Inbox {
    /// Asks the parent for the inbox of `me` and binds its doorbell.
    pub(crate) fn open(mut broker: ParentBroker, me: Tid) -> Result<Self> {
        let (segment, fd) = broker.inbox()?;
        let mapping = Mapping::new(&fd, usize::try_from(segment.size)?, true)?;
        let path = Path::new(std::str::from_utf8(&segment.doorbell.0)?);
        // A daemon before this one left its name there.
        let _ = std::fs::remove_file(path);
        let bell = UnixDatagram::bind(path).context("the daemon's doorbell")?;
        let outbox = Outbox::new(&mut broker)?;
        let inlet = Inlet::new(me, Segment::new(Arc::new(mapping)));
        inlet.inbox().start(outbox.activity());
        // A daemon before this one may have died asleep, or with lanes in its hands.
        inlet.inbox().disarm(outbox.activity());
        inlet.inbox().header().put_back(u64::MAX);
        Ok(Self { broker, inlet, outbox, bell, arrivals: VecDeque::new() })
    }

    /// What tasks have sent since the last time.
    pub(crate) fn arrivals(&mut self) -> impl Iterator<Item = Arrival> {
        self.inlet.poll(&mut self.broker, &mut self.arrivals);
        self.arrivals.drain(..)
    }

    /// About to wait; false if something has come meanwhile.
    pub(crate) fn arm(&self) -> bool {
        self.inlet.inbox().arm(self.outbox.activity())
    }

    /// Done with waiting.
    pub(crate) fn disarm(&self) {
        self.inlet.inbox().disarm(self.outbox.activity());
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

    /// Puts a message into the inbox of a task here; one that is gone needs none.
    pub(crate) fn send(&mut self, envelope: &Envelope, body: Body<'_>) -> Result<Sent, Code> {
        self.outbox.send(&mut self.broker, envelope.dst, envelope, body)
    }
}
