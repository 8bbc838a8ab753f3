//! How far it is, on a terminal as one line that is written anew; elsewhere a line for each suite.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::Instant;

const WIDTH: usize = 24;

/// A progress bar.
#[derive(Debug)]
pub(crate) struct Bar {
    all: usize,
    done: usize,
    suite: String,
    start: Instant,
    live: bool,
}

impl Bar {
    /// For so many steps.
    pub(crate) fn new(all: usize) -> Self {
        let live = stderr().is_terminal();
        Self { all, done: 0, suite: String::new(), start: Instant::now(), live }
    }

    /// The next step is this one of this suite.
    pub(crate) fn step(&mut self, suite: &str, what: &str) {
        let seconds = self.start.elapsed().as_secs();
        let line = line(self.done, self.all, seconds, &format!("{suite}: {what}"));
        // Nobody may be reading any more; the measurement goes on.
        if self.live {
            let _ = write!(stderr(), "\r\x1b[K{line}");
        } else if self.suite != suite {
            let _ = writeln!(
                stderr(),
                "pvm bench: {suite} ({} of {}, {seconds} s)",
                self.done,
                self.all
            );
        }
        suite.clone_into(&mut self.suite);
        self.done += 1;
    }

    /// Something to be read meanwhile.
    pub(crate) fn say(&self, text: &str) {
        let _ = writeln!(stderr(), "{}pvm bench: {text}", if self.live { "\r\x1b[K" } else { "" });
    }

    /// It is over.
    pub(crate) fn end(&self) {
        if self.live {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn line(done: usize, all: usize, seconds: u64, what: &str) -> String {
    let full = (done * WIDTH).checked_div(all).unwrap_or(WIDTH).min(WIDTH);
    let bar = "#".repeat(full) + &"-".repeat(WIDTH - full);
    let left = (seconds * (all - done.min(all)) as u64).checked_div(done as u64);
    let left =
        left.map_or_else(String::new, |left| format!(", {}:{:02} left", left / 60, left % 60));
    format!("[{bar}] {done}/{all}{left}  {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_and_tells_what_is_left() {
        assert_eq!(line(0, 10, 0, "x"), format!("[{}] 0/10  x", "-".repeat(24)));
        let half = format!("[{}{}] 5/10, 1:05 left  x", "#".repeat(12), "-".repeat(12));
        assert_eq!(line(5, 10, 65, "x"), half);
        assert!(line(0, 0, 0, "x").contains("0/0"));
    }
}
