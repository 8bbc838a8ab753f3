//! The tasks of `pvm run` from their start to their end.

use super::ending::{self, Ending};
use super::events::{Event, Events};
use super::own::lost;
use super::program::{self, Start};
use super::streams::{Marking, Streams};
use crate::failure::Failure;
use crate::options::tasks::RunOptions;
use crate::signals;
use pvm_wire::Tid;
use pvm_wire::request::{Reply, Request};
use signal_hook::consts::SIGTSTP;
use std::collections::{BTreeSet, VecDeque};
use std::io::Error;
use std::time::{Duration, Instant};

/// Between the signal that asks tasks to end and the one that ends them.
const GRACE: Duration = Duration::from_secs(5);
/// Between the signal that cannot be refused and the end of waiting for it.
const KILL_GRACE: Duration = Duration::from_secs(1);
/// Tasks that the program's tasks have spawned may go on for this long after the program's end, or
/// after the end of the last of them that has ended.
pub(super) const CHILDREN_GRACE: Duration = Duration::from_secs(1);
pub(super) const SIGTERM: i32 = 15;
pub(super) const SIGKILL: i32 = 9;
pub(super) const SIGCONT: i32 = 18;
const SIGSTOP: i32 = 19;

/// The progress of the end. If there is a moment, the next step is due then. Where there is a
/// moment, the next step is due then.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// Tasks run, and have not been asked to end.
    Running,
    /// The program is over; what its tasks have spawned may go on until then.
    Parting(Instant),
    /// The living tasks were asked to end, and may take until this time.
    Ending(Instant),
    /// They were killed; their ends are waited for until then.
    Killed(Instant),
}

pub(super) struct Running {
    /// The events of the run.
    pub(super) events: Events,
    /// The output of the tasks.
    pub(super) streams: Streams,
    /// Our exit status.
    pub(super) ending: Ending,
    /// The first of our own tasks: it gets our input.
    pub(super) first: Option<Tid>,
    /// Our own tasks that have not ended: their statuses count.
    pub(super) own: BTreeSet<Tid>,
    /// The living tasks that tasks of ours have spawned, and those that these have spawned in turn.
    pub(super) children: BTreeSet<Tid>,
    /// Ranks of a job that other ranks have forked: signals are for them, too.
    pub(super) forked: BTreeSet<Tid>,
    /// The progress of the end.
    pub(super) stage: Stage,
    /// Signals that the tasks are to get.
    pub(super) pending: VecDeque<i32>,
    /// The last signal that was to end the tasks.
    ended_by: Option<i32>,
    /// Our output has no reader any more.
    pub(super) unread: bool,
    /// No task is left.
    pub(super) finished: bool,
}

impl Running {
    pub(super) fn new(
        events: Events,
        start: &Start,
        options: &RunOptions,
    ) -> Result<Self, Failure> {
        let tasks = start.tasks();
        let marking = match (options.quiet, options.count) {
            (true, _) => Marking::Nothing,
            (false, 1) => Marking::Others,
            (false, _) => Marking::All,
        };
        let streams = Streams::new(events.writer()?, &tasks, marking);
        Ok(Self {
            events,
            streams,
            ending: Ending::default(),
            first: tasks.first().copied(),
            own: tasks.into_iter().collect(),
            children: BTreeSet::new(),
            forked: BTreeSet::new(),
            stage: Stage::Running,
            pending: VecDeque::new(),
            ended_by: None,
            unread: false,
            finished: false,
        })
    }

    pub(super) fn report_failed(&mut self, start: &Start) {
        for (code, count) in start.failures() {
            let all = start.outcomes.len();
            let why = program::shortage(code);
            self.streams.say(&format!("{count} of {all} tasks were not started: {code}{why}"));
            self.ending.failed();
        }
    }

    pub(super) fn until_finished(&mut self) -> Result<(), Failure> {
        if let Some(first) = self.first {
            self.events.feed(first)?;
        }
        while !self.finished {
            match self.events.next(self.deadline()) {
                Some(event) => self.handle(event)?,
                None if self.overdue() => break,
                None => {}
            }
            self.send_signals()?;
        }
        Ok(())
    }

    /// When the next step is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.stage {
            Stage::Running => None,
            Stage::Parting(at) | Stage::Ending(at) | Stage::Killed(at) => Some(at),
        }
    }

    /// The next step is due; true where there is none.
    pub(super) fn overdue(&mut self) -> bool {
        match self.stage {
            // The tasks are dead, and what is no task holds their output: not waited for.
            Stage::Killed(_) => return true,
            Stage::Parting(_) => self.end_children(),
            _ => self.kill(),
        }
        false
    }

    pub(super) fn send_signals(&mut self) -> Result<(), Failure> {
        while let Some(signal) = self.pending.pop_front() {
            self.signal_all(signal)?;
        }
        Ok(())
    }

    /// Notes what an event means; what is to be asked for thereby is only noted, too.
    pub(super) fn handle(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Answer(Ok((_, Reply::Output { tid, bytes, stream })), _room) => {
                if !self.unread {
                    self.streams.write(tid, stream, bytes.0);
                }
            }
            Event::Answer(Ok((_, reply)), _) => self.handle_reply(reply),
            Event::Answer(Err(_), _) => return Err(lost()),
            Event::Signal(SIGTSTP) => self.pause()?,
            Event::Signal(signal) => self.handle_signal(signal),
            Event::Written(Err(error)) => self.cannot_write(&error),
            // The one comes where the streams are finished, the other to a keeper.
            Event::Written(Ok(())) | Event::RankMessage(_) => {}
        }
        let over = self.own.is_empty() && !self.children.is_empty();
        if over && matches!(self.stage, Stage::Running) {
            self.stage = Stage::Parting(Instant::now() + CHILDREN_GRACE);
        }
        Ok(())
    }

    pub(super) fn handle_reply(&mut self, reply: Reply) {
        match reply {
            Reply::Cut { tid } => {
                self.streams.end_of(tid);
                let bytes = self.streams.bytes_of(tid);
                self.streams.say(&format!(
                    "the host of {tid} is gone: {bytes} bytes of its output have come, what it \
                     wrote after them is lost"
                ));
            }
            Reply::Joined { tids } => self.children.extend(tids),
            Reply::Exited { tid, status } => {
                self.streams.end_of(tid);
                let signal = if self.own.remove(&tid) {
                    self.ending.exited(status)
                } else {
                    self.children.remove(&tid);
                    if let Stage::Parting(at) = &mut self.stage {
                        // They are ending.
                        *at = Instant::now() + CHILDREN_GRACE;
                    }
                    // As `pvm_kill` ends what a program needs no more.
                    ending::signal_of(status).filter(|&signal| signal != SIGTERM)
                };
                let expected = matches!(self.stage, Stage::Ending(_) | Stage::Killed(_));
                if let Some(signal) = signal.filter(|_| !expected) {
                    self.streams.say(&format!("{tid} was ended by {}", signals::name(signal)));
                }
            }
            Reply::Finished => self.finished = true,
            _ => {}
        }
    }

    /// Output goes nowhere any more: there is no use in going on.
    fn cannot_write(&mut self, error: &Error) {
        self.unread = true;
        self.ending.unwritten(error);
        self.end_by(SIGTERM, GRACE);
    }

    /// Handles Ctrl-Z: the tasks stop, then this process; when it goes on, so do they. They are not
    /// in the terminal's process group, so the terminal does not stop them.
    fn pause(&mut self) -> Result<(), Failure> {
        self.signal_all(SIGSTOP)?;
        // To this thread, so that it is stopped when the call returns.
        let _ = signal_hook::low_level::raise(SIGSTOP);
        self.signal_all(SIGCONT)
    }

    /// Waits until all output is written. After a signal to end it does not wait long for a reader
    /// that takes nothing.
    pub(super) fn finish(self) -> Ending {
        let Self { mut events, streams, mut ending, stage, unread, .. } = self;
        streams.finish();
        if unread {
            return ending;
        }
        let is_ending = matches!(stage, Stage::Ending(_) | Stage::Killed(_));
        let deadline = is_ending.then(|| Instant::now() + KILL_GRACE);
        while let Some(event) = events.next(deadline) {
            match event {
                Event::Written(outcome) => {
                    outcome.inspect_err(|error| ending.unwritten(error)).ok();
                    break;
                }
                Event::Signal(signal) if signal != SIGTSTP => {
                    ending.left_unread(signal);
                    break;
                }
                _ => {}
            }
        }
        ending
    }

    /// The first signal is passed on, and what then lives on is killed; the second kills at once.
    fn handle_signal(&mut self, signal: i32) {
        if matches!(self.stage, Stage::Ending(_) | Stage::Killed(_)) {
            return self.kill();
        }
        self.ending.interrupted(signal);
        self.end_by(signal, GRACE);
    }

    /// The program is over; what it left running has had its moment.
    fn end_children(&mut self) {
        let names: Vec<String> = self.children.iter().map(Tid::to_string).collect();
        self.streams.say(&format!("ended what the program left running: {}", names.join(" ")));
        self.end_by(SIGTERM, GRACE);
    }

    /// Tells the tasks to end, and kills what then lives on for longer than `grace`.
    pub(super) fn end_by(&mut self, signal: i32, grace: Duration) {
        self.pending.push_back(signal);
        self.ended_by = Some(signal);
        self.stage = Stage::Ending(Instant::now() + grace);
    }

    /// Asks a task to end whose start was reported only after the others were asked to end.
    pub(super) fn end_late(&mut self, tid: Tid) -> Result<(), Failure> {
        if let Some(signal) = self.ended_by {
            self.events.send(&Request::Signal { tid, signal })?;
        }
        Ok(())
    }

    fn kill(&mut self) {
        self.pending.push_back(SIGKILL);
        self.ended_by = Some(SIGKILL);
        self.ending.killed();
        self.stage = Stage::Killed(Instant::now() + KILL_GRACE);
    }

    fn signal_all(&mut self, signal: i32) -> Result<(), Failure> {
        for &tid in self.own.iter().chain(&self.children).chain(&self.forked) {
            self.events.send(&Request::Signal { tid, signal })?;
        }
        Ok(())
    }
}
