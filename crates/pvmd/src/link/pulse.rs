//! The pulse of a connection: each side says something at least every 1.1 seconds, and a side that
//! has said nothing for two and a half seconds is silent.
//!
//! Turns of all connections of a daemon end at the same moments: it wakes once to send the beats of
//! all its links, and reads what it has received by then: beats wake nobody
//! ([`crate::link::intake`]). When the turns end is drawn by lot, once for each daemon. If all
//! daemons of a computer woke at the same moment, each would look for the beats of its neighbours
//! just while they send them, and would miss half of them.
//!
//! A look comes up to a turn after what it finds, so the kernel tells how old that is.
//!
//! Silence is counted in turns of this side, not in time: a daemon that was itself stopped, or
//! got no processor, does not take that for the silence of others.

use crate::alarm;
use crate::clock;
use crate::link::frames::LinkFrame;
use crate::link::intake::Unread;
use pvm_wire::write_frame;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::WeakSender;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

/// The length of a turn, at the end of which a side sends a beat.
const BEAT_TIME: Duration = Duration::from_secs(1);
/// Frames that were sent so shortly before the end of a turn stand for its beat.
const RECENT_TIME: Duration = Duration::from_millis(100);
/// After this time without a word the other side is silent.
pub(crate) const SILENT_TIME: Duration = Duration::from_millis(2500);

/// When the turns end, for all connections of a daemon.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    ends: watch::Receiver<()>,
    wanted: Arc<Notify>,
}

impl Turns {
    /// No connection waits for a turn yet.
    pub(crate) fn new() -> Self {
        let (ended, ends) = watch::channel(());
        let wanted = Arc::new(Notify::new());
        tokio::spawn(tell(ended, wanted.clone()));
        Self { ends, wanted }
    }

    /// Waits until this turn ends.
    async fn end(&mut self) {
        self.wanted.notify_one();
        if self.ends.changed().await.is_err() {
            sleep(BEAT_TIME).await;
        }
    }
}

/// Tells of the ends while a connection waits for them. If the kernel has no timer it ends, and all
/// sleep for themselves.
async fn tell(ended: watch::Sender<()>, wanted: Arc<Notify>) {
    loop {
        wanted.notified().await;
        let Ok(timer) = alarm::timer() else { return };
        if alarm::set(&timer, part_of_a_turn(), BEAT_TIME).is_err() {
            return;
        }
        // One receiver is that from which those of connections are made.
        while ended.receiver_count() > 1 {
            if alarm::rung(&timer).await.is_err() {
                return;
            }
            ended.send_replace(());
        }
        if ended.receiver_count() == 0 {
            return;
        }
    }
}

/// A time within a turn, by lot.
fn part_of_a_turn() -> Duration {
    let random = ring::rand::generate::<[u8; 2]>(&ring::rand::SystemRandom::new());
    let part = random.map_or(0, |random| u16::from_le_bytes(random.expose()));
    BEAT_TIME * u32::from(part) / (u32::from(u16::MAX) + 1)
}

/// The traffic of a connection, as the pulse sees it.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Counts what came.
    heard: AtomicU64,
    /// When something went last, in nanoseconds since boot.
    written_at: AtomicU64,
    /// Received frames wait for the shell: nothing is read meanwhile.
    full: AtomicBool,
    /// Bytes that have woken nobody.
    unread: Option<Unread>,
}

impl Pulse {
    /// The pulse of a connection with such bytes.
    pub(crate) fn of(unread: Option<Unread>) -> Self {
        Self { unread, ..Self::default() }
    }

    /// Something came.
    pub(crate) fn heard(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// Something went.
    pub(crate) fn written(&self) {
        self.written_at.store(clock::now(0).0, Ordering::Relaxed);
    }

    /// The shell has no room for more, or has room again.
    pub(crate) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
    }

    /// The time since the last word, if there was one since `before`, which is brought up to date.
    /// Beats have woken nobody: the reader is called for them.
    fn heard_ago(&self, before: &mut u64) -> Option<Duration> {
        let now = self.heard.load(Ordering::Relaxed);
        let unread = self.unread.as_ref().is_some_and(Unread::call_reader);
        if self.full.load(Ordering::Relaxed) {
            *before = now;
            return Some(Duration::ZERO);
        }
        let has_heard = std::mem::replace(before, now) != now || unread;
        has_heard.then(|| self.unread.as_ref().and_then(Unread::came_ago).unwrap_or_default())
    }

    /// True if something went a moment ago.
    fn has_just_written(&self) -> bool {
        let ago = clock::now(0).0.saturating_sub(self.written_at.load(Ordering::Relaxed));
        Duration::from_nanos(ago) < RECENT_TIME
    }
}

/// Keeps a connection's pulse until it ends, or the other side is silent: then true.
pub(crate) async fn keep(
    pulse: Arc<Pulse>,
    batches: WeakSender<Vec<u8>>,
    mut turns: Turns,
) -> bool {
    let (mut heard, mut quiet) = (0, Duration::ZERO);
    loop {
        let begin = Instant::now();
        // The last turn of a silence is short, so that it is noticed in time.
        let turn = BEAT_TIME.min(SILENT_TIME - quiet);
        if turn == BEAT_TIME {
            turns.end().await;
        } else {
            sleep(turn).await;
        }
        let Some(batches) = batches.upgrade() else { return false };
        // No longer than a turn: a daemon that stood still heard nothing in that time.
        quiet = match pulse.heard_ago(&mut heard) {
            Some(ago) => ago.min(turn),
            None => quiet + begin.elapsed().min(turn),
        };
        if quiet >= SILENT_TIME {
            return true;
        }
        if !pulse.has_just_written() {
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
    fn a_beat_stood_for_that_of_the_next_turn() {
        running(async {
            let (batches, mut queue) = mpsc::channel(64);
            let (ended, ends) = watch::channel(());
            let turns = Turns { ends, wanted: Arc::default() };
            let pulse = Arc::new(Pulse::default());
            let kept = tokio::spawn(keep(pulse.clone(), batches.downgrade(), turns));
            for _ in 0..3 {
                sleep(RECENT_TIME).await;
                ended.send_replace(());
                let beat = timeout(SILENT_TIME * 20, queue.recv()).await;
                assert!(beat.is_ok_and(|beat| beat.is_some()));
                pulse.written();
            }
            ended.send_replace(());
            sleep(RECENT_TIME).await;
            assert!(!kept.is_finished());
        });
    }

    #[test]
    fn the_first_turn_of_a_daemon_ends_within_one() {
        assert!((0..1000).all(|_| part_of_a_turn() < BEAT_TIME));
        let few = (0..1000).filter(|_| part_of_a_turn() < BEAT_TIME / 2).count();
        assert!((100..900).contains(&few), "{few}");
    }

    #[test]
    fn a_connection_on_which_nothing_comes_is_silent_and_says_something_itself() {
        running(async {
            let (batches, mut queue) = mpsc::channel(64);
            let turns = Turns::new();
            let begin = Instant::now();
            let kept =
                timeout(SILENT_TIME * 20, keep(Arc::default(), batches.downgrade(), turns.clone()))
                    .await;
            assert_eq!(kept, Ok(true));
            assert!(begin.elapsed() >= SILENT_TIME);
            assert!(queue.recv().await.is_some_and(|beat| !beat.is_empty()));
        });
    }

    #[test]
    fn one_that_says_little_or_waits_for_the_shell_is_not_silent() {
        running(async {
            let (batches, _queue) = mpsc::channel(64);
            let turns = Turns::new();
            let pulse = Arc::new(Pulse::default());
            let kept = tokio::spawn(keep(pulse.clone(), batches.downgrade(), turns.clone()));
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
            let turns = Turns::new();
            let kept = tokio::spawn(keep(Arc::default(), batches.downgrade(), turns.clone()));
            sleep(BEAT_TIME).await;
            std::thread::sleep(SILENT_TIME + BEAT_TIME);
            sleep(BEAT_TIME).await;
            assert!(!kept.is_finished());
        });
    }
}
