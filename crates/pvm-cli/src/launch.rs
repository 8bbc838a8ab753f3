//! Starts a daemon: one that stays in the background, or one bound to this process's life.

use crate::failure::{Failure, Status};
use crate::program;
use crate::progress::Progress;
use crate::show::remark;
use crate::threads;
use rustix::fs::{MemfdFlags, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A daemon that is not ready by then will never be.
const READY_TIME_MAX: Duration = Duration::from_secs(20);
/// The message of a daemon that finds another one in its folder.
const ALREADY_RUNNING: &str = "pvmd already running";
/// The time that a bound daemon may take to end its tasks and remove its files.
const END_TIME_MAX: Duration = Duration::from_secs(5);

/// The daemon to start.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    /// The host's name in the machine, if not the computer's.
    pub(crate) name: Option<String>,
    /// The machine's name, if not the one in the environment.
    pub(crate) vmid: Option<String>,
    /// The host's options as in a host file.
    pub(crate) options: Option<String>,
}

/// A daemon that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Bound {
    /// Its socket.
    pub(crate) socket: PathBuf,
    child: Child,
    /// Its standard input: while it is open the daemon lives, so it ends even if we are killed.
    life: Option<ChildStdin>,
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.life = None;
        await_end(&mut self.child);
    }
}

/// Waits for the end of a daemon that was asked to end.
fn await_end(child: &mut Child) {
    let end = Instant::now() + END_TIME_MAX;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Ends a daemon whose start cannot be followed: it removes its files if it is asked to end.
fn end(child: &mut Child) {
    drop(child.stdin.take());
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
    await_end(child);
}

impl Launch {
    /// Starts a daemon that outlives this process; true if another process has started one at the
    /// same time, which may not be ready yet.
    pub(crate) fn background(&self) -> Result<bool, Failure> {
        match self.start(Stdio::null(), &[]) {
            Ok(_) => Ok(false),
            Err(failure) if failure.text().contains(ALREADY_RUNNING) => Ok(true),
            Err(failure) => Err(failure),
        }
    }

    /// As [`Launch::background`], and connects to the daemon that runs then by `connect`, which is
    /// tried again for some seconds where another one was faster; true if it is ours.
    pub(crate) fn background_and<T>(
        &self,
        mut connect: impl FnMut() -> Result<Option<T>, Failure>,
    ) -> Result<(T, bool), Failure> {
        let is_others = self.background()?;
        let end = Instant::now() + if is_others { READY_TIME_MAX } else { Duration::ZERO };
        loop {
            if let Some(connected) = connect()? {
                return Ok((connected, !is_others));
            }
            if Instant::now() >= end {
                return Err(Failure::new(Status::Daemon, "the daemon ended after its start"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Starts a daemon that ends with us.
    pub(crate) fn bound(&self) -> Result<Bound, Failure> {
        let (mut child, socket) = self.start(Stdio::piped(), &["--bound"])?;
        let life = child.stdin.take();
        Ok(Bound { socket, child, life })
    }

    fn start(&self, stdin: Stdio, args: &[&str]) -> Result<(Child, PathBuf), Failure> {
        let program = program::find()?;
        let _progress = Progress::start("waiting for the daemon");
        // No pipe: a daemon in the background would keep it open, and the caller of this command
        // may wait for its end.
        let mut said = scratch_file()?;
        let mut command = Command::new(&program);
        command.args(args).stdin(stdin).stdout(Stdio::piped()).stderr(said.try_clone()?);
        command.args(self.name.iter().map(|name| format!("--name={name}")));
        command.args(self.options.iter().map(|options| format!("--options={options}")));
        command.envs(self.vmid.iter().map(|vmid| ("PVM_VMID", vmid)));
        // Ctrl-C on our terminal is not for it.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| program::cannot_run(&program, &error))?;
        let ready = child.stdout.take().map(first_line).unwrap_or(Ok(None));
        let ready = ready.inspect_err(|_| end(&mut child))?;
        let mut reason = String::new();
        if let Some(socket) = ready {
            // Such as that root should not do this.
            let _ = said.rewind();
            let _ = said.read_to_string(&mut reason);
            if !reason.is_empty() {
                remark(reason.trim_end());
            }
            return Ok((child, PathBuf::from(socket)));
        }
        let _ = child.kill();
        let ended = child.wait();
        let _ = said.rewind();
        let _ = said.read_to_string(&mut reason);
        let reason = match reason.trim() {
            "" => ended
                .map_or_else(|error| error.to_string(), |status| format!("it ended with {status}")),
            text => text.replace('\n', "\n  "),
        };
        Err(Failure::new(
            Status::Daemon,
            format!("the daemon {} did not start\n  {reason}", program.display()),
        ))
    }
}

/// The line that the daemon prints when it is ready.
fn first_line(stdout: ChildStdout) -> Result<Option<String>, Failure> {
    let (sender, receiver) = mpsc::channel();
    threads::start(move || {
        let mut line = String::new();
        let _ = BufReader::new(stdout).read_line(&mut line);
        // A line that comes too late has no receiver.
        let _ = sender.send(line);
    })?;
    let line = receiver.recv_timeout(READY_TIME_MAX).unwrap_or_default();
    let line = line.trim_end();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

/// A file in memory: it needs no folder that may be written to.
fn scratch_file() -> Result<File, Failure> {
    let file = rustix::fs::memfd_create("pvm: what the daemon says", MemfdFlags::CLOEXEC);
    let file = file.map_err(|error| {
        Failure::new(Status::Daemon, format!("no memory for the daemon's output: {error}"))
    })?;
    // The daemon goes on writing where others have read to.
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND).map_err(std::io::Error::from)?;
    Ok(File::from(file))
}
