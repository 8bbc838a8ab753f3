//! `pvm run --trace`: the recording of the program, in a thread of its own.

use crate::failure::{Failure, Status};
use crate::recording::{Outcome, Recording, Which};
use crate::show::remark;
use crate::trace::told;
use pvm_wire::Tid;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// A file has no more than this; it keeps the newest: 10 GiB.
const SIZE_MAX: u64 = 10 << 30;
/// The longest time between two looks at what has come.
const LOOK: Duration = Duration::from_millis(20);

/// The recording of a program.
pub(super) struct Traced {
    tasks: Sender<Vec<Tid>>,
    thread: JoinHandle<Result<Outcome, Failure>>,
    path: PathBuf,
}

impl Traced {
    /// Begins, before the program is started. `socket` is that of a machine of our own.
    pub(super) fn begin(
        socket: Option<PathBuf>,
        path: &Path,
        in_turns: bool,
    ) -> Result<Self, Failure> {
        let sockets = socket.map_or_else(pvm::locate::sockets, |socket| vec![socket]);
        let which = Which::Tasks(Vec::new());
        let mut recording = Recording::begin(&sockets, path, Some(SIZE_MAX), which)?;
        if in_turns {
            recording.in_turns();
        }
        let (tasks, named) = channel();
        let named = move || record(recording, &named);
        let thread = Builder::new().name("trace".to_owned()).spawn(named);
        let thread = thread.map_err(|error| Failure::new(Status::Daemon, error.to_string()))?;
        Ok(Self { tasks, thread, path: path.to_path_buf() })
    }

    /// The tasks that the program was started with.
    pub(super) fn expect(&self, tasks: Vec<Tid>) {
        // The thread goes on until this end of the channel is gone, or the file cannot be written.
        let _ = self.tasks.send(tasks);
    }

    /// All tasks have ended. A trace that could not be written is reported, but is no failure of
    /// theirs.
    pub(super) fn finish(self) {
        let Self { tasks, thread, path } = self;
        drop(tasks);
        match thread.join() {
            Ok(Ok(outcome)) => told(&path, outcome),
            Ok(Err(failure)) => remark(format_args!("pvm: {}: {failure}", path.display())),
            Err(_) => remark(format_args!("pvm: {}: the recording broke off", path.display())),
        }
    }
}

fn record(mut recording: Recording, named: &Receiver<Vec<Tid>>) -> Result<Outcome, Failure> {
    loop {
        let token = recording.token();
        match named.try_recv() {
            Ok(tasks) => recording.expect(&tasks),
            Err(TryRecvError::Empty) => (),
            Err(TryRecvError::Disconnected) => return Ok(recording.finish()),
        }
        recording.step()?;
        recording.wait(token, LOOK)?;
        if recording.is_over() {
            // No thread must wait for one that has ended.
            while !matches!(named.recv_timeout(LOOK), Err(RecvTimeoutError::Disconnected)) {}
            return Ok(recording.finish());
        }
    }
}
