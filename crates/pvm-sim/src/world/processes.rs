//! Processes of a host and their connections to its daemon.

use super::World;
use super::happening::Happening;
use crate::time::MS;
use pvm_core::io::Event;
use pvm_wire::request::{Request, Role};
use pvm_wire::{Blob, Code, HostIndex, Tid};

pub(super) const LAUNCH_NS: u64 = MS;

impl World {
    /// A program is looked for that a tasker will start.
    pub(super) fn find(&mut self, host: HostIndex, tid: Tid, path: Blob) {
        let event = match path.0.as_slice() {
            b"missing" => Event::LaunchFailed { tid, code: Code::NoFile, tried: Vec::new() },
            _ => Event::Found { tid, path },
        };
        self.later(LAUNCH_NS, Happening::Event(host, event));
    }

    /// A program is started: `missing` does not exist, `mute` never enrols, all others do.
    pub(super) fn launch(&mut self, host: HostIndex, tid: Tid, file: &Blob) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if file.0 == b"missing" {
            let event = Event::LaunchFailed { tid, code: Code::NoFile, tried: vec!["/bin".into()] };
            return self.later(LAUNCH_NS, Happening::Event(host, event));
        }
        let pid = node.process(Some(tid));
        self.later(LAUNCH_NS, Happening::Event(host, Event::Launched { tid, pid }));
        if file.0 != b"mute" {
            self.later(2 * LAUNCH_NS, Happening::Enrol(host, tid));
        }
    }

    pub(super) fn enrol(&mut self, host: HostIndex, tid: Tid) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        let Some(pid) = node.process_of(tid) else { return };
        let connection = node.connect(pid);
        self.hello(host, connection, pid, Role::Task, true);
    }

    fn hello(&mut self, host: HostIndex, connection: u64, pid: u32, role: Role, reset: bool) {
        self.request_count += 1;
        let id = self.request_count;
        let Some(node) = self.nodes.get_mut(&host) else { return };
        let launched = node.processes.get(&pid).and_then(|process| process.launched);
        self.checks.asked(self.now, (host, connection), id, None);
        let event =
            Event::Hello { connection, id, role, program: "program".into(), reset, pid, launched };
        self.later(0, Happening::Event(host, event));
    }

    /// A new process connects.
    pub fn connect(&mut self, host: HostIndex, role: Role) -> Option<u64> {
        let node = self.nodes.get_mut(&host)?;
        let pid = node.process(None);
        let connection = node.connect(pid);
        self.hello(host, connection, pid, role, true);
        Some(connection)
    }

    /// A process that has left says hello again.
    pub fn hello_again(&mut self, host: HostIndex, connection: u64) {
        let node = self.nodes.get(&host);
        if let Some(&pid) = node.and_then(|node| node.connections.get(&connection)) {
            self.hello(host, connection, pid, Role::Task, true);
        }
    }

    /// A client makes a request.
    pub fn request(&mut self, host: HostIndex, connection: u64, request: Request) {
        self.request_count += 1;
        let id = self.request_count;
        self.checks.asked(self.now, (host, connection), id, Some(&request));
        if request == Request::Leave
            && let Some(node) = self.nodes.get_mut(&host)
            && let Some(pid) = node.connections.get(&connection)
            && let Some(process) = node.processes.get_mut(pid)
        {
            process.tid = None;
        }
        self.later(0, Happening::Event(host, Event::Asked { connection, id, request }));
    }

    /// A process ends: its connection, its outputs, itself.
    pub fn end_process(&mut self, host: HostIndex, pid: u32, status: i32) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        let Some(process) = node.processes.remove(&pid) else { return };
        let connections: Vec<u64> =
            node.connections.iter().filter(|(_, of)| **of == pid).map(|(&c, _)| c).collect();
        node.connections.retain(|_, of| *of != pid);
        for connection in connections {
            self.checks.closed((host, connection));
            self.later(0, Happening::Event(host, Event::Closed { connection }));
        }
        if let Some(tid) = process.launched {
            self.later(0, Happening::Event(host, Event::OutputEnded { tid }));
        }
        for tid in process.tids {
            self.checks.ended(self.now, tid);
            self.later(0, Happening::Event(host, Event::Exited { tid, status }));
        }
    }

    /// A process closes its connection and lives on.
    pub fn disconnect(&mut self, host: HostIndex, connection: u64) {
        let Some(node) = self.nodes.get_mut(&host) else { return };
        if let Some(pid) = node.connections.remove(&connection)
            && let Some(process) = node.processes.get_mut(&pid)
        {
            process.connection = None;
            process.tid = None;
            self.checks.closed((host, connection));
            self.later(0, Happening::Event(host, Event::Closed { connection }));
        }
    }
}
