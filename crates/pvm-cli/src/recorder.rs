//! `pvm recorder`: the one process of a host that reads the trace rings of its tasks.
//!
//! The daemon's parent starts it when somebody wants to record, and again if it is killed. It is a
//! task: those who listen tell it so by messages ([`pvm_wire::record::frames`]), and get what it
//! reads as messages, on this host and on others. When nobody has listened for a while it ends, and
//! with it all recording of the host.

mod allowance;
mod clock;
mod dropped;
mod listeners;
mod pace;
mod rings;

use crate::failure::{Failure, Status};
use crate::options::RecorderOptions;
use crate::proxy::end_with;
use clock::Clock;
use listeners::Listeners;
use pace::Pace;
use pvm::{Deadline, Pattern, Policy, Task};
use pvm_wire::record::frames::{Ask, CONTEXT};
use pvm_wire::{HostIndex, Tid};
use rings::{Marks, Rings};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time without listeners after which the recorder ends.
const IDLE: Duration = Duration::from_secs(5);
/// The wait for records after a listener has stopped: it gets all that were noted until then, but
/// the recorder gives up records if none could be read for this long,
const LAST_LOOK: Duration = Duration::from_secs(2);
/// and in this many looks,
const LAST_LOOKS: u32 = 500;
/// or if reading takes longer than this: tasks may begin and end all the time.
const LAST_LOOK_MAX: Duration = Duration::from_secs(20);
/// The interval at which the recorder asks whether listeners are alive.
const ROLL_CALL: Duration = Duration::from_secs(1);
/// Whether listeners have taken something is looked at so often.
const SOON: Duration = Duration::from_millis(1);
/// Rings of new tasks are looked for so often.
const LOOK: Duration = Duration::from_millis(20);

/// Reads rings until there are no listeners.
///
/// # Errors
/// The process was not started by a daemon, or the host is gone.
pub(crate) fn run(options: &RecorderOptions) -> Result<ExitCode, Failure> {
    let failed = |text: String| Failure::new(Status::Daemon, format!("pvm recorder: {text}"));
    end_with(options.host).map_err(failed)?;
    let task = Task::enrol(b"\0recorder", false).map_err(|code| failed(code.to_string()))?;
    task.be_unrecorded();
    // A listener that does not read then holds up only itself, and fills no disk.
    task.set_policy(Policy::Block).map_err(|code| failed(code.to_string()))?;
    let mut recorder = Recorder {
        task,
        clock: Clock::new(options.clock),
        listeners: Listeners::new(task),
        rings: Rings::new(task),
        pace: Pace::new(),
        heard: Instant::now(),
        listed: None,
    };
    recorder.serve().map_err(|code| failed(code.to_string()))?;
    Ok(ExitCode::SUCCESS)
}

struct Recorder {
    task: &'static Task,
    clock: Clock,
    listeners: Listeners,
    rings: Rings,
    pace: Pace,
    /// The time at which a listener was last known to be alive.
    heard: Instant,
    /// When the rings were listed last.
    listed: Option<Instant>,
}

impl Recorder {
    fn serve(&mut self) -> Result<(), pvm_wire::Code> {
        loop {
            let token = self.task.token();
            self.hear()?;
            self.list()?;
            let fullest = self.read();
            if !self.listeners.is_empty() {
                if self.heard.elapsed() > ROLL_CALL {
                    self.listeners.forget_gone();
                    self.heard = Instant::now();
                }
            } else if self.heard.elapsed() > IDLE {
                return Ok(());
            }
            let pause = self.pace.after(fullest, self.listeners.are_behind());
            self.task.wait(token, Deadline::after(pause))?;
        }
    }

    /// Takes the requests of listeners.
    fn hear(&mut self) -> Result<(), pvm_wire::Code> {
        let pattern = Pattern { context: CONTEXT, source: None, tag: None };
        while let Some(mut message) = self.task.receive(&pattern)? {
            let from = message.envelope().src;
            let Some(ask) = listeners::read(&mut message) else { continue };
            match ask {
                Ask::Start { tasks, .. } => {
                    self.listeners.start(from, tasks, (self.host(), self.clock.now()));
                    self.rings.introduce(&mut self.listeners, from);
                }
                Ask::Stop => {
                    self.pace.hurry();
                    self.listed = None;
                    self.list()?;
                    self.read_up_to_now(from)?;
                    self.listeners.stop(from, self.clock.now());
                }
                Ask::Clock { number } => self.listeners.show(from, number, self.clock.now()),
            }
        }
        self.listeners.look();
        Ok(())
    }

    fn host(&self) -> HostIndex {
        self.task.tid().host()
    }

    fn list(&mut self) -> Result<(), pvm_wire::Code> {
        if self.listed.is_some_and(|at| at.elapsed() < LOOK) {
            return Ok(());
        }
        self.listed = Some(Instant::now());
        let rings = self.task.rings()?;
        self.rings.know(&rings);
        Ok(())
    }

    /// Reads what waits, as long as the listeners follow. How full the fullest ring was; a ring
    /// that says that it is full, and of which nothing can be read, is in no hurry.
    fn read(&mut self) -> u64 {
        let fullest = self.rings.fullness();
        let mut any = self.listeners.are_behind();
        while self.read_once() {
            any = true;
        }
        if any { fullest } else { 0 }
    }

    /// Reads all records up to now for a listener that stops. If there is no time for that, this is
    /// reported.
    fn read_up_to_now(&mut self, from: Tid) -> Result<(), pvm_wire::Code> {
        // New tasks introduce themselves first.
        self.read_once();
        let marks = self.rings.marks(|tid| self.listeners.is_wanted_by(from, tid));
        let begun = Instant::now();
        let (mut read, mut vain) = (begun, 0);
        // On a busy computer this process may not run for longer than that.
        while (read.elapsed() < LAST_LOOK || vain < LAST_LOOKS)
            && begun.elapsed() < LAST_LOOK_MAX
            && self.owes(from, &marks)
        {
            if self.read_once() {
                (read, vain) = (Instant::now(), 0);
            } else {
                vain += 1;
                // Either a listener must take a frame first, or a claim waits for its record, or
                // the parent does not know yet how a task has ended.
                let token = self.task.token();
                self.listeners.look();
                self.task.wait(token, Deadline::after(SOON))?;
                self.list()?;
            }
        }
        self.rings.tell_unread(&marks, &mut self.listeners, (from, self.clock));
        Ok(())
    }

    /// True while records up to these marks have not been sent.
    fn owes(&self, to: Tid, marks: &Marks) -> bool {
        let is_wanted = |tid| self.listeners.is_wanted_by(to, tid);
        self.rings.are_behind(marks) || self.rings.have_ends(is_wanted)
    }

    /// One block of each ring; false if there was nothing or the listeners do not follow.
    fn read_once(&mut self) -> bool {
        !self.listeners.are_behind() && self.rings.read(&mut self.listeners, self.clock)
    }
}
