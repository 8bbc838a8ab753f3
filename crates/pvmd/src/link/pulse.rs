//! The pulse of a connection: each side sends at least once a second, and a side that sends
//! nothing for two and a half seconds is silent. Turns are half a second long; a beat goes at the
//! end of one in which nothing went, so a beat stands for that of the next turn, too. Once nothing
//! has come for a second and a half, the turns are half as long, so that the silence is noticed in
//! time.
//!
//! Turns of all connections end at the same moments, and on all hosts of a computer: a daemon wakes
//! once to send the beats of all its links, and reads what it has received by then: beats wake
//! nobody ([`crate::link::intake`]). One timer of the kernel tells of these moments: the runtime's
//! own timers wake twice for each time that is more than 64 ms away.
//!
//! Silence is counted in turns of this side, not in time: a daemon that was itself stopped, or
//! got no processor, does not take that for the silence of others.

use crate::link::frames::LinkFrame;
use crate::link::intake::Unread;
use crate::{alarm, clock};
use pvm_wire::write_frame;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::WeakSender;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

/// The length of a turn. A side that has nothing to say sends a beat at the end of every other one.
const BEAT_TIME: Duration = Duration::from_millis(500);
/// Like `BEAT_TIME`, once nothing has come for a while.
const HASTY_TIME: Duration = Duration::from_millis(250);
/// A turn is no shorter; less than [`HASTY_TIME`], as each begins a moment after another one's end.
const SHORT_TIME: Duration = Duration::from_millis(100);
/// After this many turns of [`HASTY_TIME`] without a word the other side is silent.
const SILENT_TURNS: u32 = 10;
/// After this many of them without a word the turns are hasty. That is three others: a beat stands
/// for that of the next turn, and may come a moment after the end of a turn, so that it is found at
/// the end of the third one.
const HASTY_FROM: u32 = 6;
/// [`SILENT_TURNS`] as a time.
pub(crate) const SILENT_TIME: Duration = Duration::from_millis(2500);

/// The length of a turn that begins now: until the next multiple of `turn` since boot, or the one
/// after it if that is less than [`SHORT_TIME`] away.
fn until_end_of(turn: Duration) -> Duration {
    let (now, grid) = (clock::now(0).0, turn.as_nanos() as u64);
    let end = (now + SHORT_TIME.as_nanos() as u64).div_ceil(grid) * grid;
    Duration::from_nanos(end - now)
}

/// When the turns of [`BEAT_TIME`] end, for all connections of a daemon.
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
            sleep(until_end_of(BEAT_TIME)).await;
        }
    }
}

/// Tells of the ends while a connection waits for them. If the kernel has no timer it ends, and all
/// sleep for themselves.
async fn tell(ended: watch::Sender<()>, wanted: Arc<Notify>) {
    loop {
        wanted.notified().await;
        let Ok(timer) = timer() else { return };
        // One receiver is that from which those of connections are made.
        while ended.receiver_count() > 1 {
            let Ok(mut ready) = timer.readable().await else { return };
            let read =
                |timer: &AsyncFd<OwnedFd>| Ok(rustix::io::read(timer.get_ref(), &mut [0; 8])?);
            if ready.try_io(read).is_ok() {
                // The kernel need not be asked whether there is more.
                ready.clear_ready();
                ended.send_replace(());
            }
        }
        if ended.receiver_count() == 0 {
            return;
        }
    }
}

/// Is readable at each multiple of [`BEAT_TIME`] since boot.
fn timer() -> std::io::Result<AsyncFd<OwnedFd>> {
    let timer = alarm::timer()?;
    let turn = BEAT_TIME.as_nanos() as u64;
    let first = Duration::from_nanos((clock::now(0).0 / turn + 1) * turn);
    alarm::set(&timer, first, BEAT_TIME)?;
    Ok(timer)
}

/// The number of turns of [`HASTY_TIME`] for which a turn of this length counts.
fn hasty_turns(time: Duration) -> u32 {
    ((time + HASTY_TIME / 2).as_nanos() / HASTY_TIME.as_nanos()) as u32
}

/// The traffic of a connection, as the pulse sees it.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Counts what came.
    heard: AtomicU64,
    /// Counts what went.
    written: AtomicU64,
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
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    /// The shell has no room for more, or has room again.
    pub(crate) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
    }

    /// True if something came since `before`, which is brought up to date. Beats have woken nobody:
    /// the reader is called for them.
    fn has_heard(&self, before: &mut u64) -> bool {
        let now = self.heard.load(Ordering::Relaxed);
        let unread = self.unread.as_ref().is_some_and(Unread::call_reader);
        std::mem::replace(before, now) != now || unread || self.full.load(Ordering::Relaxed)
    }

    /// True if something went since `before`, which is brought up to date.
    fn has_written(&self, before: &mut u64) -> bool {
        let now = self.written.load(Ordering::Relaxed);
        std::mem::replace(before, now) != now
    }
}

/// For how many turns of [`HASTY_TIME`] nothing has come.
#[derive(Clone, Copy, Debug, Default)]
struct Quiet(u32);

impl Quiet {
    /// True if the next turn is to be a hasty one.
    const fn is_hasty(self) -> bool {
        self.0 >= HASTY_FROM
    }

    /// True if the other side is silent.
    const fn is_silent(self) -> bool {
        self.0 >= SILENT_TURNS
    }

    /// The end of a turn of this length, in which something came or nothing did.
    fn look(&mut self, heard: bool, time: Duration) {
        self.0 = match heard {
            true => 0,
            // No longer than a turn: a daemon that stood still heard nothing in that time.
            false => self.0 + hasty_turns(time.min(BEAT_TIME)),
        };
    }
}

/// Keeps a connection's pulse until it ends, or the other side is silent: then true.
pub(crate) async fn keep(
    pulse: Arc<Pulse>,
    batches: WeakSender<Vec<u8>>,
    mut turns: Turns,
) -> bool {
    let (mut heard, mut written, mut quiet) = (0, 0, Quiet::default());
    loop {
        let begin = Instant::now();
        if quiet.is_hasty() {
            sleep(until_end_of(HASTY_TIME)).await;
        } else {
            turns.end().await;
        }
        let Some(batches) = batches.upgrade() else { return false };
        quiet.look(pulse.has_heard(&mut heard), begin.elapsed());
        if quiet.is_silent() {
            return true;
        }
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
    fn a_beat_that_came_a_moment_after_a_look_made_the_next_looks_hasty() {
        let mut quiet = Quiet::default();
        // One beat came just before the first look, the next one just after the third.
        for heard in [true, false, false, true] {
            assert!(!quiet.is_hasty());
            quiet.look(heard, BEAT_TIME);
        }
        let mut silent = Duration::ZERO;
        while !quiet.is_silent() {
            let turn = if quiet.is_hasty() { HASTY_TIME } else { BEAT_TIME };
            quiet.look(false, turn);
            silent += turn;
        }
        assert_eq!(silent, SILENT_TIME);
    }

    #[test]
    fn turns_end_together_and_none_is_long_or_missing() {
        for turn in [BEAT_TIME, HASTY_TIME] {
            let grid = turn.as_nanos();
            let before = u128::from(clock::now(0).0);
            let time = until_end_of(turn);
            let after = u128::from(clock::now(0).0);
            assert!(time < turn + SHORT_TIME && time >= SHORT_TIME);
            assert_eq!(hasty_turns(turn), (turn.as_millis() / HASTY_TIME.as_millis()) as u32);
            let since = |now: u128| (now + time.as_nanos()) % grid;
            assert!(since(before) == 0 || since(after) <= after - before);
        }
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
            assert!(begin.elapsed() >= SILENT_TIME - BEAT_TIME);
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
