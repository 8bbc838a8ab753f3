//! A word on standard error for what takes longer than two seconds.

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
    /// Says `what` if it is still going on in two seconds; on a terminal, with the time.
    pub(crate) fn start(what: &str) -> Self {
        let (end, ended) = mpsc::channel::<()>();
        let what = what.to_owned();
        let thread = std::thread::spawn(move || show(&what, &ended));
        Self { end: Some(end), thread: Some(thread) }
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
    if !out.is_terminal() {
        let _ = writeln!(out, "pvm: {what} ...");
        return;
    }
    loop {
        let _ = write!(out, "\rpvm: {what} ... {} s", start.elapsed().as_secs());
        if !goes_on(STEP) {
            break;
        }
    }
    let _ = write!(out, "\r\x1b[K");
}
