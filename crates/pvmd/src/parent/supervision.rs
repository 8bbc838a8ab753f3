//! The daemon's life as the parent leads it.

use super::Parent;
use crate::between::{Begin, Down, Invited, Up};
use crate::parent::daemon::{Daemon, Loss};
use crate::parent::poll::{Interest, Token};
use crate::parent::silence::Verdict;
use crate::processes;
use crate::sys::Text;
use pvm_core::io::Event;
use pvm_wire::request::{Reply, Request, Segment};
use pvm_wire::route::Route;
use pvm_wire::{Blob, Code, PROTOCOL_VERSION, Tid, Wire as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;
use std::time::Instant;

const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

impl Parent {
    /// Tells the machine what happened. It is told again to the next daemon if this one dies
    /// before the effects have come.
    pub(super) fn tell(&mut self, event: Event) {
        let (number, event) = self.journal.add(event);
        if let Some(daemon) = &mut self.daemon {
            daemon.stream.push(number, &Up::Happened { event: event.clone() });
        }
    }

    /// Starts a daemon and tells it all that earlier ones left.
    pub(super) fn start_daemon(&mut self) -> std::io::Result<()> {
        let errors = self.log.file().and_then(|file| file.try_clone().ok());
        let errors = errors.map_or_else(Stdio::null, Stdio::from);
        let mut daemon = Daemon::start(&self.program, errors)?;
        self.restart_at = None;
        (self.daemon_worked, self.daemon_ready, self.daemon_hung) = (false, false, false);
        self.silence.heard();
        self.upgrade_started();
        let begin = Begin {
            between: crate::between::VERSION,
            protocol: PROTOCOL_VERSION,
            parent_pid: std::process::id(),
            restarts: self.restarts.total,
            name: self.name.clone(),
            folder: Blob(self.folder.path().as_os_str().as_bytes().to_vec()),
            options: self.options.clone(),
            join: self.join.as_ref().map(|join| Invited {
                addresses: join.addresses.clone(),
                fingerprint: Blob(join.fingerprint.clone()),
                local: join.local,
                via: join.via.map(|via| via.to_string()).unwrap_or_default(),
                token: join.token.clone(),
                patience: join.patience,
            }),
            processes: self.tasks.own_processes(),
            clock: self.clock,
        };
        for records in self.journal.records() {
            daemon.stream.push(0, &Up::Records { records });
        }
        daemon.stream.push(0, &Up::Begin { begin });
        for (number, event) in self.journal.unanswered() {
            daemon.stream.push(number, &Up::Happened { event: event.clone() });
        }
        self.poll.add(&daemon.stream, Token::Daemon, Interest::Read)?;
        self.poll.add(&daemon.broker, Token::Broker, Interest::Read)?;
        (self.daemon_writing, self.daemon_gone) = (false, false);
        self.daemon = Some(daemon);
        Ok(())
    }

    /// The daemon is gone: what it said to its end counts, then another takes its place.
    pub(super) fn daemon_lost(&mut self, how: &str, killed: bool) {
        self.read_daemon_to_its_end();
        let Some(daemon) = self.daemon.take() else { return };
        if self.ending {
            return;
        }
        if let Some(tid) = self.daemon_tid.take() {
            self.segments.remove_sender(tid);
        }
        let pid = daemon.pid;
        drop(daemon);
        self.parts.clear();
        let loss = match &self.upgrade {
            Some(upgrade) if upgrade.is_started() => {
                self.upgrade_failed(how);
                Loss::Innocent
            }
            Some(_) => Loss::Innocent,
            None if self.daemon_hung => Loss::Crashed(self.journal.oldest()),
            None if killed || self.daemon_worked => Loss::Innocent,
            None => Loss::Crashed(self.journal.oldest()),
        };
        let mut delay = self.restarts.lost(Instant::now(), loss);
        if !killed && !self.printed && self.restarts.is_hopeless() {
            delay = None;
        }
        if let Some(culprit) = self.restarts.take_culprit() {
            self.drop_culprit(culprit);
        }
        match delay {
            Some(delay) => {
                self.log.line(&format!("the daemon (process {pid}) is gone ({how}): next one"));
                self.restart_at = Some(Instant::now() + delay);
            }
            None => {
                let text = format!("the daemon dies again and again ({how}): the host gives up");
                let words = crate::log::last_words(&self.folder.log());
                crate::say::complain(format_args!("{text}{words}"));
                self.log.line(&text);
                self.failed = true;
                self.ending = true;
            }
        }
    }

    /// An event that no daemon survives is not told again. If it is a request, its connection is
    /// closed without an answer; any other event is lost.
    fn drop_culprit(&mut self, number: u32) {
        let Some(event) = self.journal.drop_event(number) else { return };
        self.log.line("an event has brought down one daemon after the other: it is dropped");
        if let Event::Asked { connection, .. } | Event::Hello { connection, .. } = event {
            self.connections.bad_peers += 1;
            self.close(connection);
        }
    }

    /// Starts the next daemon when its time has come.
    pub(super) fn restart_daemon(&mut self) {
        if self.restart_at.is_none_or(|at| at > Instant::now()) {
            return;
        }
        if let Err(error) = self.start_daemon() {
            self.log.line(&format!("no daemon can be started: {error}"));
            match self.restarts.lost(Instant::now(), Loss::Crashed(None)) {
                Some(delay) => self.restart_at = Some(Instant::now() + delay),
                None => (self.failed, self.ending) = (true, true),
            }
        }
    }

    /// Kills a daemon that does nothing although there is something to do. The next one takes its
    /// place, as that of any killed daemon; no request has to wait for a debugger or a signal that
    /// does not come.
    pub(super) fn watch_daemon(&mut self) {
        let waits = self.journal.oldest().is_some() && self.daemon.is_some();
        self.silence.expect(waits, Instant::now);
        if self.silence.next().is_none() {
            return;
        }
        let Some(pid) = self.daemon.as_ref().map(|daemon| daemon.pid) else { return };
        let state = || processes::state(pid);
        // A daemon that has no place yet may wait for the host that lets it in.
        let begun = self.daemon_ready && self.daemon_tid.is_some();
        let Some(verdict) = self.silence.look(Instant::now(), begun, state) else {
            return;
        };
        let found = match verdict {
            Verdict::Stopped => "was stopped by a signal",
            Verdict::Hung => "does nothing of what it is told",
        };
        self.log.line(&format!("the daemon (process {pid}) {found}: another one is to go on"));
        self.daemon_hung = verdict == Verdict::Hung;
        self.silence.heard();
        processes::signal(pid, SIGKILL);
    }

    /// The daemon has said something, or has room for more.
    pub(super) fn serve_daemon(&mut self) {
        let Some(daemon) = &mut self.daemon else { return };
        let ended = daemon.stream.read(&mut self.scratch).is_err();
        let sane = self.take_frames_of_daemon();
        if ended || !sane {
            self.end_daemon();
        }
    }

    /// A daemon that closed its socket or talks nonsense is of no use. It is not ended by the
    /// signal with which others kill it, so that its end tells whose fault it was.
    fn end_daemon(&mut self) {
        let Some(daemon) = &self.daemon else { return };
        processes::signal(daemon.pid, SIGTERM);
        self.poll.remove(&daemon.stream);
        self.daemon_gone = true;
        // Its end as a process brings the next one.
    }

    fn read_daemon_to_its_end(&mut self) {
        while let Some(daemon) = &mut self.daemon {
            let read = daemon.stream.read(&mut self.scratch);
            self.take_frames_of_daemon();
            if !matches!(read, Ok(n) if n > 0) {
                return;
            }
        }
    }

    /// False if the daemon said something that makes no sense.
    fn take_frames_of_daemon(&mut self) -> bool {
        loop {
            let Some(daemon) = &mut self.daemon else { return true };
            let (number, down) = match daemon.stream.frames().next_frame() {
                Ok(None) => return true,
                Ok(Some((number, payload))) => (number, Down::from_bytes(payload)),
                Err(_) => return false,
            };
            self.silence.heard();
            match down {
                Ok(Down::Part { effects }) => self.parts.extend(effects),
                Ok(Down::Effects { effects }) => {
                    let mut all = std::mem::take(&mut self.parts);
                    all.extend(effects);
                    let news = number == 0 || self.journal.answered(number);
                    self.daemon_worked |= number != 0;
                    if news {
                        self.apply(all);
                    }
                }
                Ok(Down::Host { host }) => {
                    self.daemon_tid = Some(Tid::daemon(host));
                    self.log.name(Tid::daemon(host));
                }
                Ok(Down::Ready { line }) => {
                    self.daemon_ready = true;
                    self.print_once(&line);
                    self.upgrade_ready();
                    Text::find().give_back();
                }
                Ok(Down::Version { version, guard }) => {
                    if guard != self.daemon_guard {
                        self.log.line(&format!("the daemon is confined by: {guard}"));
                    }
                    (self.daemon_version, self.daemon_guard) = (version, guard);
                }
                Ok(Down::Unfit { reason }) => self.upgrade_unfit(&reason),
                Err(error) => {
                    self.log
                        .line(&format!("the daemon sends frames that cannot be decoded: {error}"));
                    return false;
                }
            }
        }
    }

    /// The daemon asks for a segment, as tasks do.
    pub(super) fn serve_broker(&mut self) {
        let Some(daemon) = &mut self.daemon else { return };
        if daemon.broker.read_with(&mut self.scratch, &mut daemon.sockets).is_err() {
            return self.poll.remove(&daemon.broker);
        }
        loop {
            let Some(daemon) = &mut self.daemon else { return };
            let Ok(Some((id, payload))) = daemon.broker.frames().next_frame() else { break };
            let Ok(request) = Request::from_bytes(payload) else { break };
            let (reply, fd) = match request {
                Request::Hello { .. } => self.welcome_daemon(),
                Request::GiveRoute { to, route } => (self.give_route(to, route), None),
                Request::FenceRoutes { members } => {
                    self.given.fence(&members.into_iter().collect());
                    (Reply::Done, None)
                }
                request => self.segments.answer(self.daemon_tid, &request),
            };
            let Some(daemon) = &mut self.daemon else { return };
            daemon.broker.push_with(id, &reply, fd);
        }
        // The daemon waits for the answer, so there is room for it.
        if let Some(daemon) = &mut self.daemon {
            let _ = daemon.broker.flush();
        }
    }

    /// Hands a task its end of a direct route.
    fn give_route(&mut self, to: Tid, route: Route) -> Reply {
        let socket = self.daemon.as_mut().and_then(|daemon| daemon.sockets.pop_front());
        let task = self.connections.of_task(to);
        let (Some(socket), Some((number, connection))) = (socket, task) else {
            return Reply::Failed { code: Code::NoTask };
        };
        if self.given.keep((to, route.peer), &socket).is_err() {
            return Reply::Failed { code: Code::OutOfRes };
        }
        connection.stream.push_with(0, &Reply::Route { route }, [socket]);
        self.touched.insert(number);
        Reply::Done
    }

    /// Gives the daemon its inbox. It has told its id on its other socket before it asks.
    fn welcome_daemon(&mut self) -> (Reply, Option<OwnedFd>) {
        self.serve_daemon();
        let bell = self.folder.bells().join("daemon");
        let inbox = self.daemon_tid.ok_or(Code::Denied);
        match inbox.and_then(|tid| self.segments.inbox(tid, &bell)) {
            Ok((segment, fd)) => {
                let doorbell = Blob(bell.as_os_str().as_bytes().to_vec());
                (Reply::Segment { segment: Segment { doorbell, ..segment } }, Some(fd))
            }
            Err(code) => (Reply::Failed { code }, None),
        }
    }

    /// Sends what is queued for the daemon.
    pub(super) fn settle_daemon(&mut self) {
        let old = self.daemon_interest();
        let Some(daemon) = &mut self.daemon else { return };
        if self.daemon_gone || daemon.stream.flush().is_err() {
            // Its end as a process is told, too.
            return;
        }
        self.daemon_writing = daemon.stream.pending();
        let new = Interest::of(true, self.daemon_writing);
        self.poll.change(&daemon.stream, Token::Daemon, (old, new));
    }

    const fn daemon_interest(&self) -> Option<Interest> {
        Interest::of(true, self.daemon_writing)
    }
}
