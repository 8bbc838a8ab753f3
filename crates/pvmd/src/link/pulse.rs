//! The pulse of a connection: something is said at least twice a second, and who says nothing for two
//! and a half seconds is silent. Once nothing has come in a turn, the turns are half as long, so that
//! the silence is noticed in time.
//!
//! Turns of all connections end at the same moments, and on all hosts of a computer: a daemon wakes once for the
//! beats of all its links, and once more for those that come, instead of once for each.
//!
//! Silence is counted in turns of this side, not in time: a daemon that was itself stopped, or
//! got no processor, does not take that for the silence of others.

use crate::clock;
use crate::link::frames::LinkFrame;
use pvm_wire::write_frame;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::WeakSender;
use tokio::time::sleep;

/// How often a side that has nothing to say says so.
const BEAT_TIME: Duration = Duration::from_millis(500);
/// The same while nothing comes.
const HASTY_TIME: Duration = Duration::from_millis(250);
/// So many of those without a word, and the other side is silent.
const SILENT_TURNS: u32 = 10;
/// The same as a time.
pub(crate) const SILENT_TIME: Duration = Duration::from_millis(2500);

/// How long a turn takes that begins now, and as long as `turn` where it begins with another one's end.
fn until_end_of(turn: Duration) -> Duration {
    let (now, grid) = (clock::now(0).0, HASTY_TIME.as_nanos() as u64);
    let end = (now + turn.as_nanos() as u64) / grid * grid;
    Duration::from_nanos(end.saturating_sub(now))
}

/// What goes on at a connection.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Counts what came.
    heard: AtomicU64,
    /// Counts what went.
    written: AtomicU64,
    /// What came waits for the shell: nothing is read meanwhile.
    full: AtomicBool,
}

impl Pulse {
    /// Something came.
    pub(crate) fn heard(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// Something went.
    pub(crate) fn written(&self) {
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    /// The shell has no room for more, or has room again.
    pub(crate) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
    }

    /// Whether something came since `before`, which follows.
    fn has_heard(&self, before: &mut u64) -> bool {
        let now = self.heard.load(Ordering::Relaxed);
        std::mem::replace(before, now) != now || self.full.load(Ordering::Relaxed)
    }

    /// Whether something went since `before`, which follows.
    fn has_written(&self, before: &mut u64) -> bool {
        let now = self.written.load(Ordering::Relaxed);
        std::mem::replace(before, now) != now
    }
}

/// Keeps a connection's pulse until it ends, or the other side is silent: then true.
pub(crate) async fn keep(pulse: Arc<Pulse>, batches: WeakSender<Vec<u8>>) -> bool {
    let (mut heard, mut written, mut quiet) = (0, 0, 0);
    let mut turn = BEAT_TIME;
    loop {
        sleep(until_end_of(turn)).await;
        let Some(batches) = batches.upgrade() else { return false };
        quiet = match pulse.has_heard(&mut heard) {
            true => 0,
            false if turn == BEAT_TIME => 2,
            false => quiet + 1,
        };
        if quiet >= SILENT_TURNS {
            return true;
        }
        turn = if quiet == 0 { BEAT_TIME } else { HASTY_TIME };
        if !pulse.has_written(&mut written) {
            let mut beat = Vec::new();
            write_frame(&mut beat, 0, &LinkFrame::Beat);
            // Where there is no room something is being said.
            let _ = batches.try_send(beat);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;
    use tokio::time::{Instant, timeout};

    fn running<F: Future>(what: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(what)
    }

    #[test]
    fn turns_end_together_and_none_is_long_or_missing() {
        let grid = HASTY_TIME.as_nanos();
        for turn in [BEAT_TIME, HASTY_TIME] {
            let before = u128::from(clock::now(0).0);
            let time = until_end_of(turn);
            let after = u128::from(clock::now(0).0);
            assert!(time <= turn && time > turn.saturating_sub(HASTY_TIME));
            let since = |now: u128| (now + time.as_nanos()) % grid;
            assert!(since(before) == 0 || since(after) <= after - before);
        }
    }

    #[test]
    fn a_connection_on_which_nothing_comes_is_silent_and_says_something_itself() {
        running(async {
            let (batches, mut queue) = mpsc::channel(64);
            let begin = Instant::now();
            let kept = timeout(SILENT_TIME * 20, keep(Arc::default(), batches.downgrade())).await;
            assert_eq!(kept, Ok(true));
            assert!(begin.elapsed() >= SILENT_TIME - BEAT_TIME);
            assert!(queue.recv().await.is_some_and(|beat| !beat.is_empty()));
        });
    }

    #[test]
    fn one_that_says_little_or_waits_for_the_shell_is_not_silent() {
        running(async {
            let (batches, _queue) = mpsc::channel(64);
            let pulse = Arc::new(Pulse::default());
            let kept = tokio::spawn(keep(pulse.clone(), batches.downgrade()));
            for _ in 0..4 {
                sleep(SILENT_TIME / 3).await;
                pulse.heard();
            }
            pulse.set_full(true);
            sleep(SILENT_TIME * 2).await;
            assert!(!kept.is_finished());
            drop(batches);
            assert_eq!(kept.await.ok(), Some(false));
        });
    }

    #[test]
    fn a_daemon_that_was_stopped_does_not_take_that_for_silence() {
        running(async {
            let (batches, _queue) = mpsc::channel(64);
            let kept = tokio::spawn(keep(Arc::default(), batches.downgrade()));
            sleep(BEAT_TIME).await;
            std::thread::sleep(SILENT_TIME + BEAT_TIME);
            sleep(BEAT_TIME).await;
            assert!(!kept.is_finished());
        });
    }
}
