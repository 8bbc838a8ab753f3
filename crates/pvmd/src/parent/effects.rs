//! The execution of the machine's decisions.

use super::Parent;
use crate::launch::task;
use crate::parent::feed::Fed;
use crate::parent::poll::{Interest, Token};
use crate::parent::tasks::Signalled;
use crate::processes;
use pvm_core::io::{Effect, Event, Launch};
use pvm_wire::request::{Reply, Request, Welcome};
use pvm_wire::{Blob, Code, Tid};
use rustix::process::{Pid, PidfdFlags};
use std::os::unix::ffi::OsStringExt as _;

impl Parent {
    /// Applies what one frame holds.
    pub(super) fn apply(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Reply { connection, id, reply } => self.reply(connection, id, reply),
                Effect::Enrol { connection, id, pid, welcome } => {
                    self.enrol((connection, id), pid, welcome);
                }
                Effect::Launch { launch } => self.launch(&launch),
                Effect::Signal { tid, signal } => match self.tasks.signalled(tid, signal) {
                    Some(Signalled::Process(pid)) => processes::signal(pid, signal),
                    Some(Signalled::Group(leader)) => processes::signal_group(leader, signal),
                    None => {}
                },
                Effect::Deliver { to, message } => {
                    if let Err(error) = self.segments.deliver(to, &message) {
                        self.log.line(&format!("[{to}] a message of the machine is lost: {error}"));
                    }
                }
                Effect::Feed { tid, bytes } => self.feed(tid, &bytes),
                Effect::Log { text } => self.log.line(&text),
                Effect::Forget { tid } => self.forget(tid),
                Effect::Ask { ticket, request } => {
                    let reply = match request {
                        Request::Recorder { all, .. } => self.record(all),
                        request => self.segments.answer_machine(&request),
                    };
                    self.tell(Event::Answered { ticket, reply });
                }
                Effect::Save { key, value } => self.journal.save(key, value),
                Effect::Upgrade { mark, program } => self.upgrade(mark, &program),
                Effect::Hold { tid, on } => self.outputs.lag(tid, on),
                Effect::End => self.ending = true,
            }
        }
    }

    fn reply(&mut self, number: u64, id: u32, reply: Reply) {
        let mut reply = reply;
        if let Reply::Status { status } = &mut reply {
            status.parent_pid = std::process::id();
            status.daemon_pid = self.daemon.as_ref().map_or(0, |daemon| daemon.pid);
            status.bad_peers += self.connections.bad_peers;
            status.restarts = self.restarts.total;
            status.guard.clone_from(&self.daemon_guard);
        }
        let Some(connection) = self.connections.get(number) else { return };
        connection.stream.push(id, &reply);
        self.touched.insert(number);
        if let Reply::Output { tid, .. } = reply
            && connection.is_clogged()
        {
            connection.holding.insert(tid);
            self.outputs.hold(tid);
        }
    }

    fn enrol(&mut self, (number, id): (u64, u32), pid: u32, welcome: Welcome) {
        let tid = welcome.tid;
        let bell = self.folder.bells().join(tid.to_string());
        let inbox = self.segments.inbox(tid, &bell);
        let descriptors = match inbox.and_then(|inbox| Ok([inbox.1, self.segments.activity()?])) {
            Ok(descriptors) => descriptors,
            Err(error) => {
                let reason = format!("no memory for the inbox of {tid}: {error}");
                self.log.line(&reason);
                self.reply(number, id, Reply::Refused { code: Code::OutOfRes, reason });
                return self.tell(Event::Exited { tid, status: 0 });
            }
        };
        if self.recorder.enrolled(pid, tid) {
            self.segments.set_reader(Some(tid));
        }
        if self.tasks.enrol(tid, pid) {
            self.watch(pid);
        }
        let doorbell = Blob(bell.into_os_string().into_vec());
        let reply = Reply::Welcome { welcome: Welcome { doorbell, ..welcome } };
        if let Some(connection) = self.connections.get(number) {
            connection.tid = Some(tid);
            connection.stream.push_with(id, &reply, descriptors);
            self.touched.insert(number);
        }
    }

    /// Waits for the end of a process that may be no child of this one.
    fn watch(&mut self, pid: u32) {
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let fd = raw.map(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()));
        match fd {
            Some(Ok(fd)) => {
                let token = Token::Process(pid.into());
                if let Err(error) = self.poll.add(&fd, token, Interest::Read) {
                    self.log.line(&format!("cannot watch process {pid}: {error}"));
                }
                self.watched.insert(pid, fd);
            }
            _ => self.process_gone(pid, None),
        }
    }

    fn launch(&mut self, launch: &Launch) {
        let tid = launch.tid;
        let bell = self.folder.bells().join(tid.to_string());
        let ready = self.segments.inbox(tid, &bell).map_err(|error| {
            self.log.line(&format!("no memory for the inbox of {tid}: {error}"));
            (Code::OutOfRes, Vec::new())
        });
        if launch.cookie != 0 {
            return self.look_for(launch, ready.map(drop));
        }
        let started = ready.and_then(|_| {
            task::start(launch, &mut self.around).map_err(|error| (error.code, error.tried))
        });
        let child = match started {
            Ok(child) => child,
            Err((code, tried)) => {
                self.segments.remove_task(tid);
                return self.tell(Event::LaunchFailed { tid, code, tried });
            }
        };
        self.tasks.start(tid, child.pid, launch.group);
        if let Some(fd) = child.input {
            self.feeds.add(tid, fd);
        }
        for (stream, fd) in child.outputs {
            self.outputs.add(tid, stream, fd);
        }
        self.tell(Event::Launched { tid, pid: child.pid });
        // The daemon counts the time from one start to the next, so it hears of each at once.
        self.settle_daemon();
    }

    /// A tasker will start the program, if there is one.
    fn look_for(&mut self, launch: &Launch, ready: Result<(), (Code, Vec<Blob>)>) {
        let tid = launch.tid;
        let found =
            ready.and_then(|()| task::find(launch).map_err(|error| (error.code, error.tried)));
        match found {
            Ok(path) => {
                self.tasks.give(tid, launch.cookie);
                let path = Blob(path.into_os_string().into_vec());
                self.tell(Event::Found { tid, path });
            }
            Err((code, tried)) => {
                self.segments.remove_task(tid);
                self.tell(Event::LaunchFailed { tid, code, tried });
            }
        }
    }

    fn feed(&mut self, tid: Tid, bytes: &Blob) {
        let waited = self.feeds.waits(tid);
        match self.feeds.feed(tid, &bytes.0) {
            Fed::Waits if !waited => {
                let fd = self.feeds.descriptor(tid).expect("it waits");
                let token = Token::Feed(tid.0.into());
                self.poll.change(fd, token, (None, Some(Interest::Write)));
            }
            Fed::Dropped => self.log.line(&format!("[{tid}] does not read its input: dropped")),
            Fed::Waits | Fed::All | Fed::Closed => {}
        }
    }

    /// The pipe of a task that waited for input has room.
    pub(super) fn feed_on(&mut self, tid: Tid) {
        if self.feeds.write(tid) == Fed::All
            && let Some(fd) = self.feeds.descriptor(tid)
        {
            self.poll.change(fd, Token::Feed(tid.0.into()), (Some(Interest::Write), None));
        }
    }

    fn forget(&mut self, tid: Tid) {
        self.tasks.forget(tid);
        self.given.gone(tid);
        self.segments.remove_task(tid);
        let _ = std::fs::remove_file(self.folder.bells().join(tid.to_string()));
        if let Some((_, connection)) = self.connections.of_task(tid) {
            connection.tid = None;
        }
    }
}
