//! Recording into a file: this process listens to the recorders of all hosts.
//!
//! It is a task. Each host's parent is asked for the host's recorder, which gets a word by message
//! and sends what it reads ([`pvm_wire::record::frames`]). A recorder that was replaced has another
//! id, by which that is noticed; a host that comes later is noticed by the same question.

mod clocks;
mod hosts;
mod output;

use crate::failure::{Failure, Status};
use crate::show::remark;
use clocks::Comparisons;
use hosts::Hosts;
use pvm::{Buffer, Deadline, Pattern, Task, WaitToken};
use pvm_trace::intake::Intake;
use pvm_trace::{Limits, Writer};
use pvm_wire::record::RECORD_VERSION;
use pvm_wire::record::frames::{Ask, CONTEXT, Frame};
use pvm_wire::request::Request;
use pvm_wire::{Address, Code, Context, Encoding, Kind, Tag, Tid, Wire as _};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Most bytes of a frame that are believed.
const FRAME_MAX: usize = 1 << 20;
/// The timeout for the next frame of a host that has not sent its last one. A recorder has a low
/// priority until it hears that it is waited for.
const LAST_WORD: Duration = Duration::from_secs(60);
/// The timeout for the recorders of all hosts. Each is a process that has to be started.
const BEGIN: Duration = Duration::from_secs(30);
/// The interval at which frames that have come are written to the file.
const FLUSH: Duration = Duration::from_secs(1);

/// The name under which the registry has all recordings that a command may stop.
pub(crate) const NAME: &str = "###_NEOPVM_RECORDING_###";
/// `PvmMboxMultiInstance`
const MULTI_INSTANCE: i32 = 2;

/// The tasks that are to be recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// All tasks, those to come included.
    All,
    /// These, and what they start; tasks may be named later.
    Tasks(Vec<Tid>),
}

/// A recording that goes on.
pub(crate) struct Recording {
    task: &'static Task,
    path: PathBuf,
    intake: Option<Intake<BufWriter<File>>>,
    hosts: Hosts,
    clocks: Comparisons,
    which: Which,
    tasks: BTreeSet<Tid>,
    /// Tasks that were introduced and have not ended.
    living: BTreeSet<Tid>,
    flushed: Instant,
    /// The time of the last frame of a recorder, apart from its clock.
    heard: Instant,
    /// All recorders were asked for their last word.
    is_ending: bool,
    records: u64,
    lost: u64,
}

/// The result of a recording.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// Records in the file.
    pub(crate) records: u64,
    /// Records that are known to be missing.
    pub(crate) lost: u64,
    /// The file could not be written to its end.
    pub(crate) is_cut: bool,
}

fn failed(code: Code) -> Failure {
    Failure::new(Status::Daemon, format!("cannot record: {code}"))
}

impl Recording {
    /// Begins: all hosts have recorders from now on, and tasks that are named note.
    pub(crate) fn begin(
        sockets: &[PathBuf],
        path: &Path,
        bytes: Option<u64>,
        which: Which,
    ) -> Result<Self, Failure> {
        let named = |error: &dyn std::fmt::Display| {
            Failure::new(Status::Refused, format!("{}: {error}", path.display()))
        };
        let file = output::create(path)?;
        let file = BufWriter::with_capacity(1 << 18, file);
        let identity = pvm::record_clock() ^ u64::from(std::process::id()) << 40;
        let writer =
            Writer::new(file, Limits { bytes }, identity).map_err(|error| named(&error))?;
        let task = Task::enrol_at(sockets, b"\0pvm trace", false).map_err(failed)?;
        task.be_unrecorded();
        let mut recording = Self {
            task,
            path: path.to_path_buf(),
            intake: Some(Intake::new(writer)),
            hosts: Hosts::new(task, which == Which::All),
            clocks: Comparisons::new(),
            which,
            tasks: BTreeSet::new(),
            living: BTreeSet::new(),
            flushed: Instant::now(),
            heard: Instant::now(),
            is_ending: false,
            records: 0,
            lost: 0,
        };
        recording.settle()?;
        if let Which::Tasks(tasks) = recording.which.clone() {
            recording.add(&tasks)?;
        }
        Ok(recording)
    }

    /// Lets `pvm trace stop` find this recording: by an entry of the registry that goes with this
    /// task.
    pub(crate) fn be_found(&self) -> Result<(), Failure> {
        let buffer = Buffer::new(Encoding::Raw);
        let mut message = buffer.to_message().map_err(failed)?;
        message.envelope.src = self.task.tid();
        let (name, flags) = (NAME.into(), MULTI_INSTANCE);
        let placed = self.task.request(&Request::PutInfo { name, flags, message });
        placed.map(drop).map_err(failed)
    }

    /// Notes that the tasks of a host compute one after the other, for the readers of the trace.
    pub(crate) fn in_turns(&mut self) {
        self.write(|intake| intake.writer().in_turns());
    }

    /// Waits until all hosts have recorders that know of us.
    fn settle(&mut self) -> Result<(), Failure> {
        let until = Instant::now() + BEGIN;
        loop {
            let token = self.task.token();
            self.step()?;
            if self.hosts.are_known() {
                return Ok(());
            }
            if Instant::now() > until {
                let text = "not every host has started its recorder within 30 seconds; see its log";
                return Err(Failure::new(Status::Daemon, text.to_owned()));
            }
            self.wait(token, Duration::from_millis(5))?;
        }
    }

    /// Records these tasks, too.
    pub(crate) fn add(&mut self, tasks: &[Tid]) -> Result<(), Failure> {
        let new: Vec<Tid> = tasks.iter().copied().filter(|tid| self.tasks.insert(*tid)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for tid in &new {
            self.task.set_probes(*tid, 1).map_err(|code| match code {
                Code::NoTask => Failure::new(Status::Refused, format!("no such task: {tid}")),
                code => failed(code),
            })?;
        }
        self.tell_tasks(&new);
        Ok(())
    }

    /// The tasks that a program was started with: they note already.
    pub(crate) fn expect(&mut self, tasks: &[Tid]) {
        let new: Vec<Tid> = tasks.iter().copied().filter(|tid| self.tasks.insert(*tid)).collect();
        self.tell_tasks(&new);
    }

    fn tell_tasks(&self, tasks: &[Tid]) {
        if tasks.is_empty() {
            return;
        }
        let ask = Ask::Start { version: RECORD_VERSION, tasks: tasks.to_vec() };
        self.hosts.recorders().for_each(|recorder| tell(self.task, recorder, &ask));
    }

    /// Takes what has come, and looks after the hosts.
    pub(crate) fn step(&mut self) -> Result<(), Failure> {
        self.hear()?;
        let new = self.hosts.look().map_err(failed)?;
        for recorder in new {
            let tasks = match self.which {
                Which::All => Vec::new(),
                // No task, until a task is named.
                Which::Tasks(_) if self.tasks.is_empty() => vec![self.task.tid()],
                Which::Tasks(_) => self.tasks.iter().copied().collect(),
            };
            let ask = Ask::Start { version: RECORD_VERSION, tasks };
            say(self.task, recorder, &ask).map_err(failed)?;
            // One that is new while this ends has what one before it did not tell.
            if self.is_ending {
                tell(self.task, recorder, &Ask::Stop);
            }
        }
        for host in self.hosts.take_lost() {
            let now = self.clocks.now();
            self.write(|intake| intake.broken(host, now));
        }
        self.clocks.ask(self.hosts.recorders(), |to, ask| tell(self.task, to, ask));
        self.write_clocks(false);
        if self.flushed.elapsed() > FLUSH {
            self.flushed = Instant::now();
            self.write(|intake| intake.writer().flush());
        }
        Ok(())
    }

    /// Writes the comparisons of clocks; at the end of the recording all that is known of them.
    fn write_clocks(&mut self, at_end: bool) {
        for (host, pair) in self.clocks.take(self.task.tid().host(), at_end) {
            self.write(|intake| intake.writer().clock(host, pair));
        }
    }

    fn hear(&mut self) -> Result<(), Failure> {
        let pattern = Pattern { context: CONTEXT, source: None, tag: None };
        while let Some(mut message) = self.task.receive(&pattern).map_err(failed)? {
            let from = message.envelope().src;
            // Any task may say something in this context.
            if !self.hosts.is_recorder(from) {
                continue;
            }
            let Some(frame) = read(&mut message) else { continue };
            self.take(from, frame);
        }
        Ok(())
    }

    fn take(&mut self, from: Tid, frame: Frame) {
        let host = from.host();
        match &frame {
            Frame::Shows { number, at } => {
                return self.clocks.heard(from, *number, *at, self.task.tid().host());
            }
            Frame::End { .. } => self.hosts.done(from),
            Frame::Task { task } => {
                self.living.insert(task.tid);
                let is_child = self.tasks.contains(&task.parent) && !self.tasks.contains(&task.tid);
                // Recorders of other hosts do not know that what it starts there is wanted.
                if is_child && matches!(self.which, Which::Tasks(_)) {
                    self.expect(&[task.tid]);
                }
            }
            Frame::Ended { tid, .. } => drop(self.living.remove(tid)),
            _ => (),
        }
        self.heard = Instant::now();
        self.write(|intake| intake.take(host, frame).map(drop));
    }

    /// A file that cannot be written ends the recording, not what is recorded.
    fn write(
        &mut self,
        work: impl FnOnce(&mut Intake<BufWriter<File>>) -> Result<(), pvm_trace::Error>,
    ) {
        let Some(intake) = &mut self.intake else { return };
        let done = work(intake);
        (self.records, self.lost) = intake.counts();
        if let Err(error) = done {
            self.complain(&error);
            self.intake = None;
            self.say_stop();
        }
    }

    fn complain(&self, error: &pvm_trace::Error) {
        let path = self.path.display();
        remark(format_args!("pvm: {path}: {error}; the recording ends, the tasks go on"));
    }

    /// Sleeps until a frame comes, the clocks are to be compared, or `most` is over.
    pub(crate) fn wait(&self, token: WaitToken, most: Duration) -> Result<(), Failure> {
        let most = most.min(self.clocks.until_next());
        self.task.wait(token, Deadline::after(most)).map(drop).map_err(failed)
    }

    /// For [`Recording::wait`].
    pub(crate) fn token(&self) -> WaitToken {
        self.task.token()
    }

    /// True once there is nothing more to record: all tasks that were named have ended, or the file
    /// cannot be written.
    pub(crate) fn is_over(&self) -> bool {
        let named = matches!(&self.which, Which::Tasks(tasks) if !tasks.is_empty());
        self.intake.is_none() || named && self.living.is_empty() && self.records > 0
    }

    fn say_stop(&self) {
        self.hosts.recorders().for_each(|recorder| tell(self.task, recorder, &Ask::Stop));
    }

    /// Has all recorders tell what they still have, and completes the file.
    pub(crate) fn finish(mut self) -> Outcome {
        self.say_stop();
        (self.is_ending, self.heard) = (true, Instant::now());
        while self.intake.is_some() && !self.hosts.are_done() && self.heard.elapsed() < LAST_WORD {
            let token = self.task.token();
            // A machine that has ended says no more.
            if self.step().is_err() {
                break;
            }
            if self.hosts.are_done() || self.wait(token, Duration::from_millis(20)).is_err() {
                break;
            }
        }
        self.write_clocks(true);
        let now = self.clocks.now();
        for host in self.hosts.undone() {
            self.write(|intake| intake.broken(host, now));
        }
        let is_cut = match self.intake.take().map(Intake::finish) {
            Some(Ok(_)) => false,
            Some(Err(error)) => {
                self.complain(&error);
                true
            }
            None => true,
        };
        let _ = self.task.leave();
        Outcome { records: self.records, lost: self.lost, is_cut }
    }
}

fn read(message: &mut Buffer) -> Option<Frame> {
    let size = message.data_size();
    if size > FRAME_MAX {
        return None;
    }
    let mut bytes = vec![0; size];
    message.unpack(Kind::Byte, &mut bytes).ok()?;
    Frame::from_bytes(&bytes).ok()
}

/// A word that is said again, or not missed: a recorder that is gone is replaced.
fn tell(task: &Task, to: Tid, ask: &Ask) {
    let _ = say(task, to, ask);
}

fn say(task: &Task, to: Tid, ask: &Ask) -> Result<(), Code> {
    let mut buffer = Buffer::new(Encoding::Raw);
    buffer.pack(Kind::Byte, &ask.to_bytes())?;
    task.send(&mut buffer, Address { to, tag: Tag(0), context: Context(CONTEXT) })
}
