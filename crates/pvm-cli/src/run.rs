//! `pvm run`: starts tasks, stands between them and the terminal, ends as they end.
//!
//! One thread each waits for answers, for standard input and for signals; all of them end in one
//! channel, and the loop here is the only place that decides.

pub(crate) mod ending;
pub(crate) mod events;
pub(crate) mod program;
pub(crate) mod streams;

use crate::failure::{Failure, Status};
use crate::launch::{Bound, Launch};
use crate::operator::Operator;
use crate::options::RunOptions;
use crate::signals;
use ending::Ending;
use events::{Event, Events};
use program::Start;
use pvm_wire::Tid;
use pvm_wire::request::{Reply, Request};
use std::collections::VecDeque;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use streams::Streams;

/// Between the signal that asks tasks to end and the one that ends them.
const GRACE: Duration = Duration::from_secs(5);
/// Between the signal that cannot be refused and the end of waiting for it.
const KILL_GRACE: Duration = Duration::from_secs(1);
/// What the program's tasks have spawned may go on for this long after the program's end.
const CHILDREN_GRACE: Duration = Duration::from_secs(1);
const CHILDREN_LOOK: Duration = Duration::from_millis(20);
const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// Runs the program to its end.
pub(crate) fn run(options: &RunOptions) -> Result<ExitCode, Failure> {
    // A machine of our own, if we start one, has a name of its own: nobody else's `pvm run` may
    // join it by chance and end when ours ends.
    let mut own: Option<(Bound, String)> = None;
    let mut operator = match Operator::connect_if_running()? {
        Some(operator) => operator,
        None => {
            let vmid = format!("run-{}", std::process::id());
            let bound = Launch { vmid: Some(vmid.clone()), name: None }.bound()?;
            let operator = Operator::connect_at(&bound.socket)?;
            own = Some((bound, vmid));
            operator.ok_or_else(|| Failure::new(Status::Daemon, "the daemon went away"))?
        }
    };
    let vmid = own.as_ref().map(|(_, vmid)| vmid.as_str());
    let start = program::start(&mut operator, options, vmid)?;
    let (asker, answers) = operator.split()?;
    let events = Events::listen(asker, answers)?;
    let mut running = Running::new(events, &start, options);
    running.report_failed(&start);
    let ended = running.until_finished().and_then(|()| running.end_children());
    running.streams.flush();
    ended?;
    Ok(ExitCode::from(running.ending.status()))
}

/// The connection ended, which only the end of the parent process does.
fn lost() -> Failure {
    let text = "the daemon ended before the tasks did, and they with it\n  run it again: a new daemon is started if none runs";
    Failure::new(Status::Daemon, text)
}

struct Running {
    events: Events,
    streams: Streams,
    ending: Ending,
    /// All tasks that were started.
    tasks: Vec<Tid>,
    /// Those of them that have not ended.
    alive: Vec<Tid>,
    /// Signals that the tasks are to get.
    pending: VecDeque<i32>,
    /// When what is alive is killed, once a signal came.
    deadline: Option<Instant>,
    /// The signal that cannot be refused was sent.
    killed: bool,
    /// Nobody reads our output any more.
    unread: bool,
    finished: bool,
}

impl Running {
    fn new(events: Events, start: &Start, options: &RunOptions) -> Self {
        let tasks = start.tasks();
        let prefixed = options.count > 1 && !options.quiet;
        let streams = Streams::new(&tasks, prefixed);
        let alive = tasks.clone();
        let ending = Ending::default();
        let pending = VecDeque::new();
        let (deadline, killed, unread, finished) = (None, false, false, false);
        Self { events, streams, ending, tasks, alive, pending, deadline, killed, unread, finished }
    }

    fn report_failed(&mut self, start: &Start) {
        for code in start.failures() {
            eprintln!("pvm: one of {} tasks was not started: {code}", start.outcomes.len());
            self.ending.failed();
        }
    }

    fn until_finished(&mut self) -> Result<(), Failure> {
        if let Some(&first) = self.tasks.first() {
            self.events.feed(first);
        }
        while !self.finished {
            match self.events.next(self.deadline) {
                Some(event) => self.handle(event)?,
                // The tasks are dead, and what is no task holds their output: not waited for.
                None if self.killed => break,
                None => self.kill(),
            }
            while let Some(signal) = self.pending.pop_front() {
                self.signal_all(signal)?;
            }
        }
        Ok(())
    }

    /// Notes what an event means; never asks the machine itself, so that asking may handle events.
    fn handle(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Answer(Ok((_, reply))) => self.handle_reply(reply),
            Event::Answer(Err(_)) => return Err(lost()),
            Event::Signal(signal) => self.handle_signal(signal),
        }
        Ok(())
    }

    fn handle_reply(&mut self, reply: Reply) {
        match reply {
            Reply::Output { tid, bytes, stream } => self.show(tid, stream, &bytes.0),
            Reply::Exited { tid, status } => {
                self.streams.end_of(tid);
                self.alive.retain(|&task| task != tid);
                if let Some(signal) = self.ending.exited(status) {
                    eprintln!("pvm: {tid} was ended by {}", signals::name(signal));
                }
            }
            Reply::Finished => self.finished = true,
            _ => {}
        }
    }

    fn show(&mut self, tid: Tid, stream: u8, bytes: &[u8]) {
        if !self.unread && self.streams.write(tid, stream, bytes).is_err() {
            // Whoever read our output has gone: as if we had been told by SIGPIPE.
            self.unread = true;
            self.ending.nobody_reads();
            self.end_by(SIGTERM);
        }
    }

    /// The first signal is passed on, and what then lives on is killed; the second kills at once.
    fn handle_signal(&mut self, signal: i32) {
        if self.deadline.is_some() {
            return self.kill();
        }
        self.ending.interrupted(signal);
        self.end_by(signal);
    }

    fn end_by(&mut self, signal: i32) {
        self.pending.push_back(signal);
        self.deadline = Some(Instant::now() + GRACE);
    }

    fn kill(&mut self) {
        self.pending.push_back(SIGKILL);
        self.killed = true;
        self.ending.killed();
        self.deadline = Some(Instant::now() + KILL_GRACE);
    }

    fn signal_all(&mut self, signal: i32) -> Result<(), Failure> {
        let mut tids = self.alive.clone();
        tids.extend(self.children()?);
        for tid in tids {
            self.events.send(&Request::Signal { tid, signal })?;
        }
        Ok(())
    }

    /// What our tasks have spawned, and those in turn, as far as it is alive.
    fn children(&mut self) -> Result<Vec<Tid>, Failure> {
        let asked = self.events.send(&Request::Tasks { place: Tid::NONE })?;
        let limit = Some(Instant::now() + GRACE);
        while let Some(event) = self.events.next(limit) {
            match event {
                Event::Answer(Ok((id, reply))) if id == asked => {
                    let Reply::Tasks { tasks } = reply else { break };
                    return Ok(program::descendants(&self.tasks, &tasks));
                }
                other => self.handle(other)?,
            }
        }
        Ok(Vec::new())
    }

    /// The program is over; what it left running gets a moment, then a signal.
    fn end_children(&mut self) -> Result<(), Failure> {
        let limit = Instant::now() + CHILDREN_GRACE;
        let mut children = self.children()?;
        while !children.is_empty() && Instant::now() < limit {
            std::thread::sleep(CHILDREN_LOOK);
            children = self.children()?;
        }
        for &tid in &children {
            self.events.send(&Request::Signal { tid, signal: SIGTERM })?;
        }
        if !children.is_empty() {
            let names: Vec<String> = children.iter().map(Tid::to_string).collect();
            eprintln!("pvm: ended what the program left running: {}", names.join(" "));
        }
        Ok(())
    }
}
