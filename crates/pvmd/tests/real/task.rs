//! A task as far as messages go: lanes, slabs and an inbox over the request protocol.

use crate::client::{Client, PATIENCE};
use pvm_shm::inbox::Inbox;
use pvm_shm::inlet::Arrival;
use pvm_shm::segment::Mapping;
use pvm_shm::{Body, Broker, Inlet, Outbox, Sent};
use pvm_wire::request::{Reply, Request, Role, Segment, SegmentId};
use pvm_wire::{
    Address, Bytes as _, Code, Context, Encoding, Envelope, PROTOCOL_VERSION, Tag, Tid,
};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct Task {
    pub(crate) tid: Tid,
    pub(crate) broker: ClientBroker,
    inlet: Inlet,
    outbox: Outbox,
    arrivals: VecDeque<Arrival>,
    sequence: u64,
}

impl Task {
    /// Enrols with the host behind this socket.
    pub(crate) fn enrol(socket: &Path) -> Self {
        let mut client = Client::connect_to(socket);
        let welcome = loop {
            match client.hello(Role::Task, PROTOCOL_VERSION) {
                Reply::Welcome { welcome } => break welcome,
                _ => client = Client::connect_to(socket),
            }
        };
        let fd = client.descriptors.pop_front().unwrap();
        // The host's count of awake tasks comes, too; here it is asked for like any segment.
        client.descriptors.pop_front().unwrap();
        let mapping = Mapping::new(&fd, Inbox::SIZE, true).unwrap();
        let mut broker = ClientBroker(client);
        let outbox = Outbox::new(&mut broker).unwrap();
        let inlet =
            Inlet::new(welcome.tid, Inbox::new(Arc::new(mapping)), outbox.activity().clone());
        let arrivals = VecDeque::new();
        Self { tid: welcome.tid, broker, inlet, outbox, arrivals, sequence: 0 }
    }

    /// Sends raw bytes: to a task here, or through the daemon.
    pub(crate) fn send(&mut self, to: Tid, tag: i32, bytes: &[u8]) -> Sent {
        let mut envelope = Envelope::new(self.tid, Address::new(to, Tag(tag), Context::FIRST));
        envelope.encoding = Encoding::Raw;
        envelope.data_size = bytes.len() as u64;
        self.sequence += 1;
        envelope.sequence = self.sequence;
        let here = to.host() == self.tid.host();
        let into = if here { to } else { Tid::host_id(to.host()) };
        self.outbox.send(&mut self.broker, into, &envelope, Body::Bytes(&[bytes])).unwrap()
    }

    /// The next message: its sender, tag and bytes.
    #[track_caller]
    pub(crate) fn receive(&mut self) -> (Tid, i32, Vec<u8>) {
        let (envelope, bytes) = self.receive_whole();
        (envelope.src, envelope.tag, bytes)
    }

    /// The next message with all that its envelope says.
    #[track_caller]
    pub(crate) fn receive_whole(&mut self) -> (Envelope, Vec<u8>) {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some((envelope, payload)) = self.arrivals.pop_front() {
                let mut bytes = vec![0; payload.size()];
                payload.copy_to(0, &mut bytes);
                return (envelope, bytes);
            }
            assert!(Instant::now() < end, "no message came");
            self.inlet.poll(&mut self.broker, &mut self.arrivals);
            std::thread::yield_now();
        }
    }
}

pub(crate) struct ClientBroker(pub(crate) Client);

impl ClientBroker {
    fn segment(&mut self, request: &Request) -> Result<(Segment, OwnedFd), Code> {
        match self.0.ask(request) {
            Reply::Segment { segment } => Ok((segment, self.0.descriptors.pop_front().unwrap())),
            Reply::Failed { code } => Err(code),
            other => panic!("{other:?}"),
        }
    }
}

impl Broker for ClientBroker {
    fn open_lane(&mut self, to: Tid, cells: u32) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::OpenLane { to, cells })
    }
    fn open_slab(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::OpenSlab { bytes })
    }
    fn open_spill(&mut self, bytes: u64) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::OpenSpill { bytes })
    }
    fn map_spill(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::MapSpill { id })
    }
    fn map(&mut self, id: SegmentId) -> Result<(Segment, OwnedFd), Code> {
        self.segment(&Request::MapSegment { id })
    }
    fn list_lanes(&mut self, after: u32) -> Result<Vec<Segment>, Code> {
        match self.0.ask(&Request::ListLanes { after }) {
            Reply::Lanes { lanes } => Ok(lanes),
            other => panic!("{other:?}"),
        }
    }
    fn drop_segment(&mut self, id: SegmentId) {
        self.0.ask(&Request::DropSegment { id });
    }
}
