//! A word on a terminal for an action that takes longer than two seconds. Without a terminal
//! nothing is printed.

use crate::threads;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const QUIET_FOR: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_secs(1);

/// As long as this lives, something is going on.
#[derive(Debug)]
pub(crate) struct Progress {
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Says `what`, with the time, if it is still going on in two seconds.
    pub(crate) fn start(what: &str) -> Self {
        if !stderr().is_terminal() {
            return Self { end: None, thread: None };
        }
        let (end, ended) = mpsc::channel::<()>();
        let what = what.to_owned();
        // Without a thread nothing is said.
        let thread = threads::start(move || show(&what, &ended)).ok();
        Self { end: Some(end), thread }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn show(what: &str, ended: &mpsc::Receiver<()>) {
    let start = Instant::now();
    let goes_on = |time| ended.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
    if !goes_on(QUIET_FOR) {
        return;
    }
    let mut out = stderr();
    loop {
        let _ = write!(out, "\rpvm: {what} ... {} s", start.elapsed().as_secs());
        if !goes_on(STEP) {
            break;
        }
    }
    let _ = write!(out, "\r\x1b[K");
}

/// The progress of many things at once: a line for each that changes, once two seconds have passed.
#[derive(Debug)]
pub(crate) struct Board {
    names: Vec<String>,
    states: Vec<&'static str>,
    start: Instant,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// There is no terminal.
    Off,
    /// The two seconds have not passed.
    Quiet,
    /// Changes are shown.
    Shown,
}

impl Board {
    /// For these, all of which are in the state `now`.
    pub(crate) fn new(names: Vec<String>, now: &'static str) -> Self {
        let stage = if stderr().is_terminal() { Stage::Quiet } else { Stage::Off };
        let states = vec![now; names.len()];
        Self { names, states, start: Instant::now(), stage }
    }

    /// When [`Board::look`] is to be called at the latest.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        (self.stage == Stage::Quiet).then(|| self.start + QUIET_FOR)
    }

    /// Shows how things stand, if it is time for that.
    pub(crate) fn look(&mut self) {
        if self.next_look().is_some_and(|at| Instant::now() >= at) {
            self.stage = Stage::Shown;
            (0..self.names.len()).for_each(|place| self.line(place));
        }
    }

    /// The state of the `place`-th has changed.
    pub(crate) fn set(&mut self, place: usize, state: &'static str) {
        self.states[place] = state;
        if self.stage == Stage::Shown {
            self.line(place);
        }
    }

    fn line(&self, place: usize) {
        let seconds = self.start.elapsed().as_secs_f32();
        // A terminal that is gone shows nothing.
        let _ = writeln!(
            stderr(),
            "pvm: {} {} ({seconds:.1} s)",
            self.names[place],
            self.states[place]
        );
    }
}
