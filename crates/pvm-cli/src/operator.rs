//! A connection to the local daemon as an operator: somebody who asks and is no task.
//!
//! Most commands ask one thing after the other. `pvm run` asks and listens at the same time, so a
//! connection can be taken apart into an [`Asker`] and [`Answers`].

use crate::failure::{Failure, Status};
use crate::stopped;
use pvm_wire::request::{Reply, Request, Role};
use pvm_wire::{
    Code, FRAME_BYTES_MAX, FrameBuffer, Layout, PROTOCOL_VERSION, Wire as _, write_frame,
};
use rustix::process::Pid;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// No answer of a living daemon takes longer; starting a host over ssh takes the longest.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(120);
/// A daemon that lives greets at once; one that is being replaced, a moment later.
const GREETING_TIME_MAX: Duration = Duration::from_secs(30);

/// A connection that is being closed is closed by then.
const CLOSING_TIME_MAX: Duration = Duration::from_secs(1);

/// The result of a connection.
enum Greeting {
    Ready(Operator),
    /// No process listens, or the daemon went down between our connect and its answer: it counts as
    /// not running.
    Gone,
    /// It listens and does not answer; its process.
    Silent(Option<Pid>),
}

/// Asks.
#[derive(Debug)]
pub(crate) struct Asker {
    stream: UnixStream,
    last: u32,
}

impl Asker {
    /// Sends a request and gives its number.
    pub(crate) fn send(&mut self, request: &Request) -> Result<u32, Code> {
        self.last = self.last.wrapping_add(1);
        let mut bytes = Vec::new();
        write_frame(&mut bytes, self.last, request);
        self.stream.write_all(&bytes).map_err(|_| Code::SysErr)?;
        Ok(self.last)
    }
}

/// Listens.
#[derive(Debug)]
pub(crate) struct Answers {
    stream: UnixStream,
    frames: FrameBuffer,
}

impl Answers {
    /// The next answer and the number of its request; waits for it.
    pub(crate) fn next(&mut self) -> Result<(u32, Reply), Code> {
        loop {
            if let Some(answer) = self.next_before(None)? {
                return Ok(answer);
            }
        }
    }

    /// The next answer, if it comes by then; without a time it waits for ever. A caller with a
    /// limit does not wait for a daemon that is stopped, either.
    fn next_before(&mut self, until: Option<Instant>) -> Result<Option<(u32, Reply)>, Code> {
        let mut bytes = [0; 1 << 16];
        let mut going = Instant::now();
        loop {
            if let Some((id, payload)) = self.frames.next_frame().map_err(|_| Code::BadMsg)? {
                return Ok(Some((id, Reply::from_bytes(payload).map_err(|_| Code::BadMsg)?)));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let pause = left.map(|left| left.min(stopped::LOOK));
            self.stream.set_read_timeout(pause).map_err(|_| Code::SysErr)?;
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(Code::SysErr),
                Ok(count) => self.frames.push(&bytes[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                        if !stopped::listener(&self.stream).is_some_and(stopped::is_stopped) {
                            going = Instant::now();
                        } else if going.elapsed() >= stopped::TIME_MAX {
                            return Ok(None);
                        }
                    }
                    _ => return Err(Code::SysErr),
                },
            }
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Operator {
    asker: Asker,
    answers: Answers,
    /// The time that an answer may take.
    patience: Duration,
}

impl Operator {
    /// To the machine that the environment names.
    pub(crate) fn connect() -> Result<Self, Failure> {
        Self::connect_if_running()?.ok_or_else(no_machine)
    }

    /// As [`Operator::connect`], but that nothing runs is no failure.
    pub(crate) fn connect_if_running() -> Result<Option<Self>, Failure> {
        for path in pvm::locate::sockets() {
            if let Some(operator) = Self::connect_at(&path)? {
                return Ok(Some(operator));
            }
        }
        Ok(None)
    }

    /// To the machine that the environment names, if it answers each question within `patience`.
    pub(crate) fn connect_quickly(patience: Duration) -> Option<Self> {
        let mut found = pvm::locate::sockets().into_iter();
        found.find_map(|path| match Self::greet(&path, patience) {
            Ok(Greeting::Ready(operator)) => Some(Self { patience, ..operator }),
            _ => None,
        })
    }

    /// Whether the daemon whose socket this is says a word within `patience`.
    pub(crate) fn answers(path: &Path, patience: Duration) -> bool {
        !matches!(Self::greet(path, patience), Ok(Greeting::Gone | Greeting::Silent(_)))
    }

    /// To the daemon whose socket this is, if it lives.
    pub(crate) fn connect_at(path: &Path) -> Result<Option<Self>, Failure> {
        match Self::greet(path, GREETING_TIME_MAX)? {
            Greeting::Ready(operator) => Ok(Some(operator)),
            Greeting::Gone => Ok(None),
            Greeting::Silent(pid) => Err(silent(path, pid)),
        }
    }

    fn greet(path: &Path, patience: Duration) -> Result<Greeting, Failure> {
        let stream = match stopped::connect(path) {
            Ok(stream) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Ok(Greeting::Silent(stopped::holder(path)));
            }
            Err(_) => return Ok(Greeting::Gone),
        };
        if !pvm::locate::is_own(&stream) {
            let text = format!(
                "{}: the process that listens there belongs to another user\n  set PVM_TMP to a \
                 folder of your own",
                path.display()
            );
            return Err(Failure::new(Status::Daemon, text));
        }
        let pid = stopped::listener(&stream);
        let other = stream.try_clone()?;
        let frames = FrameBuffer::new(FRAME_BYTES_MAX);
        let answers = Answers { stream, frames };
        let asker = Asker { stream: other, last: 0 };
        let mut operator = Self { asker, answers, patience: ANSWER_TIME_MAX };
        let hello = Request::Hello {
            version: PROTOCOL_VERSION,
            role: Role::Operator,
            program: "pvm".into(),
            reset: false,
            cookie: 0,
            layout: Layout::NATIVE,
        };
        let sent = operator.send(&hello);
        match sent.and_then(|_| operator.next_before(Instant::now() + patience)) {
            Ok(Some((_, Reply::Ready { .. }))) => Ok(Greeting::Ready(operator)),
            Ok(Some((_, Reply::Refused { reason, .. }))) => Err(Failure::new(
                Status::Daemon,
                format!("the daemon at {} refused: {reason}", path.display()),
            )),
            Ok(None) => Ok(Greeting::Silent(pid)),
            Err(Code::SysErr) => Ok(Greeting::Gone),
            _ => Err(Failure::unexpected(&format!("the daemon at {}", path.display()))),
        }
    }

    /// Asks and waits for the answer; a refusal is an error.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Reply, Code> {
        let asked = self.asker.send(request)?;
        let until = Instant::now() + self.patience;
        loop {
            match self.next_before(until)?.ok_or(Code::SysErr)? {
                (id, Reply::Failed { code }) if id == asked => return Err(code),
                (id, reply) if id == asked => return Ok(reply),
                _ => {}
            }
        }
    }

    /// Asks without waiting; gives the number that the answer will have.
    pub(crate) fn send(&mut self, request: &Request) -> Result<u32, Code> {
        self.asker.send(request)
    }

    /// The next answer, if one comes by then.
    pub(crate) fn next_before(&mut self, until: Instant) -> Result<Option<(u32, Reply)>, Code> {
        self.answers.next_before(Some(until))
    }

    /// True if the other side has closed the connection: its host has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        loop {
            match self.next_before(Instant::now() + CLOSING_TIME_MAX) {
                Ok(Some(_)) => {}
                other => return other.is_err(),
            }
        }
    }

    /// Takes the connection apart. The listening side waits without a bound.
    pub(crate) fn split(self) -> Result<(Asker, Answers), Failure> {
        self.answers.stream.set_read_timeout(None)?;
        Ok((self.asker, self.answers))
    }
}

/// A daemon that says nothing.
fn silent(socket: &Path, pid: Option<Pid>) -> Failure {
    if let Some(pid) = pid.filter(|&pid| stopped::is_stopped(pid)) {
        return Failure::new(Status::Daemon, stopped::words(pid));
    }
    let process = pid.map(|pid| format!(" (process {})", pid.as_raw_nonzero()));
    let text = format!(
        "the daemon at {}{} does not answer\n  `pvm doctor` examines it; its log is {}",
        socket.display(),
        process.unwrap_or_default(),
        socket.with_file_name("pvml").display()
    );
    Failure::new(Status::Daemon, text)
}

/// Nothing runs: says where it was looked for and what runs instead.
fn no_machine() -> Failure {
    let folder = pvm::locate::runtime_directory();
    let mut text = format!("no virtual machine is running (looked in {})", folder.display());
    let others = other_machines(&folder);
    if others.is_empty() {
        text += "\n  start one with `pvm up`";
    } else {
        text += &format!(
            "\n  running under another PVM_VMID: {}\n  choose one with `PVM_VMID={} pvm ...`, or \
             start one here with `pvm up`",
            others.join(", "),
            others[0]
        );
    }
    Failure::new(Status::NoMachine, text)
}

/// The machine's name where a `pvm run` has started one for itself: it ends with that, and is no
/// other command's.
pub(crate) const OF_RUN: &str = "run-";

/// The user's machines beside the one whose folder this is: those with a socket that answers, but
/// for those of `pvm run`.
fn other_machines(folder: &Path) -> Vec<String> {
    let machines = folder.parent().map(entries).unwrap_or_default();
    let lives = |machine: &PathBuf| {
        let sockets = entries(machine).into_iter().map(|host| host.join("pvmd.sock"));
        sockets.into_iter().any(|socket| stopped::connect(&socket).is_ok())
    };
    let private = |machine: &PathBuf| {
        let name = machine.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.strip_prefix(OF_RUN).is_some_and(|pid| pid.parse::<u32>().is_ok())
    };
    let others = machines.into_iter().filter(|machine| machine != folder && !private(machine));
    let living = others.filter(lives);
    living.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect()
}

/// The content of a folder, in order.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
