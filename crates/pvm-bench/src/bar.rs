//! The progress display: on a terminal one line that is written anew, elsewhere a line for each
//! suite.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::Instant;

const WIDTH: usize = 24;

/// A progress bar.
#[derive(Debug)]
pub(crate) struct Bar {
    all: usize,
    done: usize,
    /// The weight of all steps, and of those that are done, for steps that take unlike times.
    weights: (u64, u64),
    suite: String,
    start: Instant,
    live: bool,
}

impl Bar {
    /// A bar for `all` steps.
    pub(crate) fn new(all: usize) -> Self {
        Self::weighted(all, all as u64)
    }

    /// A bar for `all` steps whose weights add up to `weight`.
    pub(crate) fn weighted(all: usize, weight: u64) -> Self {
        let live = stderr().is_terminal();
        let (done, weights, suite) = (0, (weight, 0), String::new());
        Self { all, done, weights, suite, start: Instant::now(), live }
    }

    /// The next step is this one of this suite.
    pub(crate) fn step(&mut self, suite: &str, what: &str) {
        self.heavy_step(suite, what, 1);
    }

    /// The next step is this one of this suite, and it counts as `weight` steps.
    pub(crate) fn heavy_step(&mut self, suite: &str, what: &str, weight: u64) {
        let seconds = self.start.elapsed().as_secs();
        let (all, done) = self.weights;
        let left = seconds_left(done, all, seconds);
        let line = line(self.done, self.all, left, &format!("{suite}: {what}"));
        // The reader may have gone; the measurement goes on.
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
        self.weights.1 += weight;
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

/// As long as the rest takes at the pace so far; unknown at the beginning.
fn seconds_left(done: u64, all: u64, seconds: u64) -> Option<u64> {
    seconds.saturating_mul(all - done.min(all)).checked_div(done)
}

fn line(done: usize, all: usize, left: Option<u64>, what: &str) -> String {
    let full = (done * WIDTH).checked_div(all).unwrap_or(WIDTH).min(WIDTH);
    let bar = "#".repeat(full) + &"-".repeat(WIDTH - full);
    let left =
        left.map_or_else(String::new, |left| format!(", {}:{:02} left", left / 60, left % 60));
    format!("[{bar}] {done}/{all}{left}  {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_and_tells_what_is_left() {
        let at = |done, all, seconds| {
            line(done, all, seconds_left(done as u64, all as u64, seconds), "x")
        };
        assert_eq!(at(0, 10, 0), format!("[{}] 0/10  x", "-".repeat(24)));
        let half = format!("[{}{}] 5/10, 1:05 left  x", "#".repeat(12), "-".repeat(12));
        assert_eq!(at(5, 10, 65), half);
        assert!(at(0, 0, 0).contains("0/0"));
    }

    #[test]
    fn a_short_step_did_not_shorten_what_is_left_like_a_long_one() {
        assert_eq!(seconds_left(10, 100, 5), Some(45));
        assert_eq!(seconds_left(90, 100, 45), Some(5));
        assert_eq!(seconds_left(0, 100, 5), None);
    }
}
