//! The start of a parent.

use super::Parent;
use crate::config::{ParentOptions, Places};
use crate::launch::child::Stack;
use crate::launch::task::Surroundings;
use crate::log::Log;
use crate::parent::poll::{Interest, Poll, Token};
use crate::parent::program::Program;
use crate::parent::segments::Segments;
use crate::processes;
use crate::runtime_dir::{self, HostSlot, RuntimeDir};
use anyhow::{Context as _, Result};
use rustix::process::{Resource, Rlimit};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const SIGKILL: i32 = 9;

impl Parent {
    /// Takes the host's folder and everything that can only be had once.
    pub(crate) fn new(options: &ParentOptions, places: &Places) -> Result<Self> {
        let seat = match &options.join {
            None => HostSlot::First,
            Some(join) if join.again => HostSlot::Further,
            Some(_) => HostSlot::Guest,
        };
        // Before there is anything that a signal could leave behind.
        let signals = Signals::new()?;
        let folder = RuntimeDir::take(&places.temporary, &places.vmid, seat)?;
        let path = folder.path().to_path_buf();
        let made = Self::in_folder(folder, signals, options, places);
        made.inspect_err(|_| runtime_dir::remove(&path))
    }

    fn in_folder(
        folder: RuntimeDir,
        Signals { children, terminations }: Signals,
        options: &ParentOptions,
        places: &Places,
    ) -> Result<Self> {
        end_leftovers(places);
        // A shell that started us in the background keeps its own job control.
        let _ = rustix::process::setsid();
        let log = Log::create(&folder.log()).context("the log")?;
        let around = surroundings(&folder, places)?;
        let listener = UnixListener::bind(folder.socket()).context("the local socket")?;
        listener.set_nonblocking(true)?;
        // Orphans of tasks become children of this process, to be ended with the host.
        let _ = rustix::process::set_child_subreaper(rustix::process::Pid::from_raw(1));
        let poll = Poll::new()?;
        poll.add(&listener, Token::Listener, Interest::Read)?;
        poll.add(&children, Token::Children, Interest::Read)?;
        poll.add(&terminations, Token::Terminate, Interest::Read)?;
        // An input that cannot be polled is at its end already.
        let ended = options.bound
            && poll.add(rustix::stdio::stdin(), Token::Input, Interest::Read).is_err();
        let program = Program::own().context("this program")?;
        let segments = Segments::new(&places.spilling, folder.path()).with_context(no_segment)?;
        Ok(Self {
            folder,
            log,
            poll,
            listener,
            listening: true,
            accept_again: None,
            bound: options.bound,
            children,
            _terminations: terminations,
            connections: Default::default(),
            segments,
            tasks: Default::default(),
            outputs: Default::default(),
            feeds: Default::default(),
            leftovers: Default::default(),
            given: Default::default(),
            journal: Default::default(),
            proxies: Default::default(),
            recorder: Default::default(),
            around,
            own_path: program.path().to_path_buf(),
            program,
            upgrade: None,
            daemon: None,
            daemon_version: crate::version::version().to_owned(),
            daemon_guard: String::new(),
            daemon_worked: false,
            daemon_ready: false,
            silence: Default::default(),
            daemon_hung: false,
            daemon_tid: None,
            daemon_writing: false,
            daemon_gone: false,
            parts: Vec::new(),
            restarts: Default::default(),
            restart_at: None,
            watched: Default::default(),
            touched: Default::default(),
            scratch: vec![0; crate::parent::output::CHUNK_BYTES],
            name: options.name.clone().unwrap_or_default(),
            options: options.options.clone(),
            hostfile: options.hostfile.clone(),
            join: options.join.clone(),
            clock: crate::clock::offset(),
            printed: false,
            ending: ended,
            failed: false,
        })
    }
}

/// A byte for each signal that concerns a parent.
struct Signals {
    children: UnixStream,
    terminations: UnixStream,
}

impl Signals {
    fn new() -> Result<Self> {
        // A terminal that closes is none of our business.
        signal_hook::flag::register(SIGHUP, Arc::new(AtomicBool::new(false)))?;
        Ok(Self { children: signals(&[SIGCHLD])?, terminations: signals(&[SIGTERM, SIGINT])? })
    }
}

/// Ends what tasks of the user's earlier hosts here left that were killed together with their
/// daemons.
fn end_leftovers(places: &Places) {
    let sockets = runtime_dir::user_folder(&places.temporary);
    let is_dead = |parent| !processes::is_alive(parent) || !processes::is_like_us(parent);
    for pid in processes::of_hosts(&sockets, is_dead) {
        if !processes::is_like_us(pid) && !processes::may_outlive(pid) {
            processes::signal(pid, SIGKILL);
        }
    }
}

/// The message if there is no shared memory.
fn no_segment() -> String {
    let mut text = String::from("no shared memory for messages");
    if let Some(limit) = rustix::process::getrlimit(Resource::Fsize).current {
        text += &format!(
            ": files, and shared memory with them, may have {limit} bytes (raise `ulimit -f`)"
        );
    }
    text
}

fn surroundings(folder: &RuntimeDir, places: &Places) -> Result<Surroundings> {
    let files = rustix::process::getrlimit(Resource::Nofile);
    let files_raised = Rlimit { current: files.maximum, maximum: files.maximum };
    rustix::process::setrlimit(Resource::Nofile, files_raised)?;
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    Ok(Surroundings {
        socket: folder.socket(),
        home: places.home.clone(),
        root: places.root.clone(),
        null: null.into(),
        files,
        environment: Surroundings::own_environment(),
        stack: Stack::new(),
    })
}

/// A socket that gets a byte for each of these signals.
fn signals(numbers: &[i32]) -> Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    writer.set_nonblocking(true)?;
    for number in numbers {
        signal_hook::low_level::pipe::register(*number, writer.try_clone()?)?;
    }
    Ok(reader)
}
