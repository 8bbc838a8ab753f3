//! The parent process of a host: it owns the tasks, their pipes, the segments and the local
//! socket, and keeps a daemon alive. It knows no network and decides nothing: what happens goes
//! to the daemon as an event, what follows comes back as effects.
//!
//! One thread, one poll set, nothing that blocks. The parts of this room are data (`journal`,
//! `tasks`, `output` ...) and the four ways in (`requests`, `supervision`, `exits`, `effects`).

pub(crate) mod connections;
pub(crate) mod daemon;
mod effects;
mod ending;
mod exits;
pub(crate) mod feed;
mod given;
pub(crate) mod journal;
mod leftovers;
pub(crate) mod output;
pub(crate) mod poll;
pub(crate) mod program;
mod proxies;
mod recorder;
mod recording;
mod requests;
pub(crate) mod segments;
mod setup;
pub(crate) mod silence;
pub(crate) mod stream;
mod supervision;
pub(crate) mod tasks;
mod upgrade;

use crate::config::Join;
use crate::launch::task::Surroundings;
use crate::log::Log;
use crate::parent::connections::Connections;
use crate::parent::daemon::{Daemon, Restarts};
use crate::parent::feed::Feeds;
use crate::parent::given::RouteSockets;
use crate::parent::journal::Journal;
use crate::parent::leftovers::Leftovers;
use crate::parent::output::Outputs;
use crate::parent::poll::{Poll, Token};
use crate::parent::program::{Program, Upgrade};
use crate::parent::proxies::Proxies;
use crate::parent::recorder::Recorder;
use crate::parent::segments::Segments;
use crate::parent::silence::Silence;
use crate::parent::tasks::Tasks;
use crate::runtime_dir::{self, RuntimeDir};
use pvm_core::io::Effect;
use pvm_wire::Tid;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The parent.
#[derive(Debug)]
pub(crate) struct Parent {
    folder: RuntimeDir,
    log: Log,
    poll: Poll,
    listener: UnixListener,
    /// The poll set tells of new connections.
    listening: bool,
    /// The machine lives no longer than this process.
    bound: bool,
    /// When to listen again after descriptors ran out.
    accept_again: Option<Instant>,
    /// A byte for each child that ended.
    children: UnixStream,
    /// A byte for each signal that asks for the end; one is enough.
    _terminations: UnixStream,
    connections: Connections,
    segments: Segments,
    tasks: Tasks,
    outputs: Outputs,
    feeds: Feeds,
    leftovers: Leftovers,
    /// Direct routes that tasks have.
    given: RouteSockets,
    journal: Journal,
    proxies: Proxies,
    recorder: Recorder,
    around: Surroundings,
    /// The program of the daemon, and where it is installed.
    program: Program,
    own_path: PathBuf,
    upgrade: Option<Upgrade>,
    daemon: Option<Daemon>,
    /// The version that the daemon has told.
    daemon_version: String,
    /// The confinement that it has told.
    daemon_guard: String,
    /// The daemon has done something since it was started.
    daemon_worked: bool,
    /// The daemon has said since it was started that it is ready.
    daemon_ready: bool,
    /// The time for which it has said nothing while something was to be done.
    silence: Silence,
    /// It was killed because it did nothing.
    daemon_hung: bool,
    /// The daemon's id, once it has one.
    daemon_tid: Option<Tid>,
    /// The poll set waits for room in the daemon's socket.
    daemon_writing: bool,
    /// The daemon has closed its socket; its end as a process is still to come.
    daemon_gone: bool,
    /// Effects of an event that have come, but not all of them.
    parts: Vec<Effect>,
    restarts: Restarts,
    restart_at: Option<Instant>,
    /// Processes that are tasks but not our children.
    watched: BTreeMap<u32, OwnedFd>,
    /// Connections to be looked after at the end of a turn.
    touched: BTreeSet<u64>,
    scratch: Vec<u8>,
    /// Name of the host from the command line, or empty.
    name: String,
    /// The options of this host in a host file.
    options: String,
    /// Hosts to add once the machine has begun.
    hostfile: Option<PathBuf>,
    /// The machine to join.
    join: Option<Join>,
    /// From the monotonic clock to the time of day, read once: tasks see no clock that jumps.
    clock: u64,
    printed: bool,
    ending: bool,
    failed: bool,
}

impl Parent {
    /// Serves until the end. False if it is one that was not asked for.
    pub(crate) fn run(mut self) -> std::io::Result<bool> {
        if let Err(error) = self.start_daemon() {
            let path = self.folder.path().to_path_buf();
            drop(self);
            runtime_dir::remove_orphan(&path);
            return Err(error);
        }
        while !self.ending {
            self.settle();
            let ready = self.poll.wait(self.timeout())?;
            for token in ready {
                self.dispatch(token);
            }
            self.watch_daemon();
            self.restart_daemon();
            self.end_slow_upgrade();
            self.drop_overdue();
            self.end_leftovers();
            self.segments.sweep(Instant::now());
        }
        self.end();
        Ok(!self.failed)
    }

    fn dispatch(&mut self, token: Token) {
        match token {
            Token::Listener => self.accept(),
            Token::Daemon => self.serve_daemon(),
            Token::Broker => self.serve_broker(),
            Token::Children => {
                self.swallow_children();
                self.reap();
            }
            Token::Terminate => self.ending = true,
            Token::Input => self.ending |= self.input_ended(),
            Token::Connection(number) => self.serve(number),
            Token::Output(number) => self.read_output(number),
            Token::Feed(tid) => self.feed_on(Tid(tid as u32)),
            Token::Process(pid) => self.process_gone(pid as u32, None),
        }
    }

    /// Sends what is queued, and reads no more than the daemon can follow.
    fn settle(&mut self) {
        self.settle_listener();
        self.settle_pause();
        self.settle_connections();
        self.settle_outputs();
        self.settle_daemon();
    }

    /// The time until something is due by itself.
    fn timeout(&self) -> Option<Duration> {
        let next = [
            self.restart_at,
            self.upgrade_deadline(),
            self.accept_again,
            self.connections.next_deadline(),
            self.silence.next(),
            self.leftovers.next(),
            self.segments.next_sweep(),
        ];
        next.into_iter().flatten().min().map(|at| at.saturating_duration_since(Instant::now()))
    }

    fn swallow_children(&mut self) {
        let _ = rustix::io::read(&self.children, &mut self.scratch);
    }

    /// True if the starter of this process is gone.
    fn input_ended(&mut self) -> bool {
        use rustix::io::Errno;
        let read = rustix::io::read(rustix::stdio::stdin(), &mut self.scratch);
        !matches!(read, Ok(1..) | Err(Errno::AGAIN | Errno::INTR))
    }

    /// Tells the starter of this process that the host is there, and lets go of its output.
    fn print_once(&mut self, line: &str) {
        if std::mem::replace(&mut self.printed, true) {
            return;
        }
        let socket = self.folder.socket();
        let line = if line.is_empty() { socket.display().to_string() } else { line.to_owned() };
        if let Err(error) = crate::say::answer(line) {
            // Programs find the socket of this host without that line.
            self.log.line(&format!("standard output: {error}"));
        }
        self.populate();
        self.log.line(&format!("ready {}", socket.display()));
        let _ = rustix::stdio::dup2_stdout(&self.around.null);
        if !self.bound {
            // Nothing reads from it any more; a writer need not wait for the end of the host to
            // learn that.
            let _ = rustix::stdio::dup2_stdin(&self.around.null);
        }
        if let Some(file) = self.log.file() {
            let _ = rustix::stdio::dup2_stderr(file);
        }
    }

    /// Adds the hosts of the host file, if there is one.
    fn populate(&mut self) {
        let Some(file) = &self.hostfile else { return };
        let mut command = Command::new("/proc/self/exe");
        command.arg0("pvmd").arg("--populate").arg(self.folder.socket()).arg("--hostfile");
        // Its end is noticed like that of any child.
        let started = command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        if let Err(error) = started {
            self.log.line(&format!("{}: not read: {error}", file.display()));
        }
    }
}
