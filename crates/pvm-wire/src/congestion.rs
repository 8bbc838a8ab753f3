//! How much of a connection is on its way.
//!
//! What the kernel has taken nothing overtakes, and most ways of sending fill whatever queue stands
//! before the slowest cable: seconds of it, where that is long. So each connection has a *window*
//! of bytes that may be under way, whatever the kernel would take: what goes out in `QUEUE_TIME`
//! beyond the time of the way itself. Several connections over one cable then keep a queue of about
//! that time together, as each of them keeps its share of it. What is urgent never waits for a
//! window. Daemons hold their links to it, tasks their direct routes.
//!
//! A byte is timed: the last one that the kernel has taken, until it is confirmed. The kernel's own
//! average of such times is not used, as it stands still for seconds where its way of sending paces
//! (*bbr*).
//!
//! The time of the way itself is found anew now and then ([`base`]), as a queue of others, which no
//! window of ours makes shorter, counts for a part of the way.

mod base;

use base::{Base, Doubt, Drain, LEAST_WINDOW};
use std::time::Duration;

/// The first window: little where cables are slow, and on fast ones it is large after a few round
/// trips.
const FIRST_WINDOW: u64 = 32 << 10;
/// A window that bounds nothing any more.
const MOST_WINDOW: u64 = 1 << 30;
/// What goes at least where there is room: about a segment.
const SEGMENT: u64 = 1448;
/// Bytes that the kernel is to take beyond what it may send at once. Its own buffer holds
/// megabytes, which are seconds on a slow cable.
pub const UNSENT_BYTES: u32 = 32 << 10;

/// How long it is true that there is room.
const LOOK: Duration = Duration::from_millis(1);
/// How long to wait where there is none, before the kernel is asked again: at least, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));
/// Who has not looked for so long sends nothing.
const IDLE: Duration = Duration::from_secs(1);

/// What of a connection the kernel has taken and the other side has not confirmed.
#[derive(Clone, Copy, Default, Debug)]
pub struct UnderWay {
    /// All of it.
    pub bytes: u64,
    /// Whether some of it is in the network. Where nothing is and something waits, the other side
    /// does not read.
    pub sent: bool,
    /// How many bytes were confirmed since the connection was made.
    pub confirmed: u64,
    /// The shortest time until something sent was confirmed.
    pub least: Duration,
    /// For how long in all the other side had no room.
    pub without_room: Duration,
}

/// A byte whose way is timed.
#[derive(Clone, Copy, Debug)]
struct Timed {
    /// Since when, and when it was looked last without its being confirmed.
    since: Duration,
    missed: Duration,
    /// What is confirmed with it, and what was when this began.
    place: u64,
    from: u64,
    /// The window was under way with it: what it meets is what a whole window makes.
    is_full: bool,
}

/// Whether a connection takes more.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// Bytes that may be under way.
    window: u64,
    /// Bytes that may go before the kernel is asked again, and when it was asked last.
    room: u64,
    asked_at: Option<Duration>,
    /// What was under way then, and what has gone since.
    way: UnderWay,
    timed: Option<Timed>,
    /// More would have gone with a larger window.
    is_limited: bool,
    /// The window that became smaller and has not grown since.
    slowed: Option<u64>,
    base: Base,
    drain: Option<Drain>,
}

impl Default for Ahead {
    fn default() -> Self {
        Self {
            window: FIRST_WINDOW,
            room: 0,
            asked_at: None,
            way: UnderWay::default(),
            timed: None,
            is_limited: false,
            slowed: None,
            base: Base::default(),
            drain: None,
        }
    }
}

impl Ahead {
    /// How many bytes may go, at the least about a segment.
    ///
    /// `now` is the time since any moment; `look` asks the kernel, and where it
    /// tells nothing there is always room.
    ///
    /// # Errors
    /// What is under way, where that is so much that nothing more is to go.
    pub fn room(
        &mut self,
        now: Duration,
        look: impl FnOnce() -> Option<UnderWay>,
    ) -> Result<usize, UnderWay> {
        let is_fresh = self.room > 0 && self.asked_at.is_some_and(|at| now < at + LOOK);
        if !is_fresh {
            let way = look();
            self.asked_at = Some(now);
            self.room = MOST_WINDOW;
            if let Some(way) = way {
                self.judge(now, &way);
                let is_unread = way.bytes > 0 && !way.sent;
                if !is_unread && way.bytes >= self.window {
                    (self.room, self.is_limited) = (0, true);
                    return Err(way);
                }
                if !is_unread {
                    self.room = (self.window - way.bytes).max(SEGMENT);
                }
            }
        }
        Ok(usize::try_from(self.room).unwrap_or(usize::MAX))
    }

    /// So many bytes have gone to the kernel.
    pub const fn went(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes as u64);
        self.is_limited |= self.room == 0;
        self.way.bytes += bytes as u64;
        let is_drained = match &self.drain {
            Some(drain) => drain.has_begun(),
            None => true,
        };
        let is_full = self.room == 0;
        let is_timed = match &self.timed {
            Some(timed) => timed.is_full || !is_full,
            None => false,
        };
        if let Some(now) = self.asked_at
            && is_drained
            && !is_timed
        {
            self.timed = Some(Timed::begin(now, &self.way, is_full));
        }
    }

    /// Bytes that may be under way.
    pub fn window(&self) -> usize {
        usize::try_from(self.window).unwrap_or(usize::MAX)
    }

    /// How long to wait where there is no room: little where the window is still to be found.
    pub fn pause(&self) -> Duration {
        let pause = if self.slowed.is_some() { PAUSES.1 } else { self.base.time() / 2 };
        pause.clamp(PAUSES.0, PAUSES.1)
    }

    fn judge(&mut self, now: Duration, way: &UnderWay) {
        self.base.hear(now, way.least);
        let known = std::mem::replace(&mut self.way, *way);
        let is_all_confirmed = way.bytes == 0;
        if !is_all_confirmed && !way.sent || way.without_room != known.without_room {
            self.timed = None;
            return;
        }
        if let Some(drain) = &mut self.drain {
            drain.look(now, way.bytes);
        }
        let Some(timed) = &mut self.timed else { return };
        let arrived = is_all_confirmed || way.confirmed >= timed.place;
        if !arrived {
            timed.missed = now;
        }
        let most = self.base.time() + self.base.slack();
        let is_late = timed.least_time() > most && self.drain.is_none();
        if arrived || is_late {
            let (timed, rate) = (*timed, timed.rate(now, way.confirmed));
            self.timed = None;
            if self.drain.is_some() {
                self.note_drained(now, &timed, rate);
            } else {
                self.note(now, &timed, rate, arrived);
            }
        }
    }

    /// A byte is confirmed, or has taken longer than it may, while `rate` bytes a second went.
    fn note(&mut self, now: Duration, timed: &Timed, rate: f64, arrived: bool) {
        // It went when the window was small already, so a queue of ours would be short.
        let before = self.slowed.filter(|before| self.window <= before / 4 * 3);
        let time = timed.least_time();
        if time > self.most() {
            self.shrink(rate);
        }
        if arrived {
            self.base.carried(rate);
            self.base.arrived(now, now - timed.since);
            self.grow(now, timed);
        }
        if let Some(doubt) = self.base.doubt(now, time, before.is_some()) {
            let before = before.filter(|_| doubt == Doubt::Early);
            self.begin_drain(Drain::new(self.window, before, self.base.time()));
        }
    }

    fn begin_drain(&mut self, drain: Drain) {
        self.window = drain.level.min(self.window);
        self.drain = Some(drain);
    }

    /// While little is under way a byte is confirmed.
    fn note_drained(&mut self, now: Duration, timed: &Timed, rate: f64) {
        let Some(mut drain) = self.drain.take() else { return };
        if now - timed.missed > IDLE {
            self.window = drain.window;
            return;
        }
        // A process that waits for a processor looks late.
        if !timed.is_known(now) || !drain.note(now, timed.least_time()) {
            self.drain = Some(drain);
            return;
        }
        let known = self.most();
        let is_longer = self.base.set(now, &drain, rate);
        self.window = if is_longer { drain.before } else { drain.behind() };
        let part = self.most().as_secs_f64() / known.as_secs_f64();
        if part < 0.75 {
            // Half of what was thought to be on the way was a queue, too.
            self.window = ((drain.window as f64 * part) as u64).max(LEAST_WINDOW);
            self.begin_drain(Drain::new(self.window, None, self.base.time()));
        }
    }

    /// How long bytes may take.
    fn most(&self) -> Duration {
        self.base.time() + self.base.slack()
    }

    /// By its whole, or a part of it, if it was in the way of what is confirmed now and there is
    /// hardly a queue.
    fn grow(&mut self, now: Duration, timed: &Timed) {
        // Where nobody looked for long the longer time may be true as well.
        let time = if timed.is_known(now) { timed.least_time() } else { now - timed.since };
        let (queue, most) = (time.saturating_sub(self.base.time()), self.base.slack());
        let short = (self.base.time() / 8).clamp(most / 4, most / 2);
        if self.is_limited && timed.is_full && queue <= most / 2 {
            let more = if queue <= short { self.window } else { self.window / 8 };
            self.window = (self.window + more).min(MOST_WINDOW);
            (self.is_limited, self.slowed) = (false, None);
        }
    }

    /// To what goes out in the time that bytes may take, at such a rate (bytes a second).
    fn shrink(&mut self, rate: f64) {
        let window = (rate * self.most().as_secs_f64()) as u64;
        self.slowed.get_or_insert(self.window);
        // Behind a long queue of others much comes at once and then nothing for a while, and little
        // is no use to them.
        let least = if self.base.is_raised() {
            (FIRST_WINDOW / 2).max(self.window / 2)
        } else {
            LEAST_WINDOW
        };
        self.window = window.max(least).min(self.window);
    }
}

impl Timed {
    const fn begin(now: Duration, way: &UnderWay, is_full: bool) -> Self {
        Self {
            since: now,
            missed: now,
            place: way.confirmed + way.bytes,
            from: way.confirmed,
            is_full,
        }
    }

    /// So long it took at least: when it came after the last look nobody knows.
    fn least_time(&self) -> Duration {
        self.missed - self.since
    }

    /// It came hardly later.
    fn is_known(&self, now: Duration) -> bool {
        now - self.missed <= (PAUSES.1 * 2).max(self.least_time() / 4)
    }

    /// Bytes a second that were confirmed meanwhile.
    fn rate(&self, now: Duration, confirmed: u64) -> f64 {
        (confirmed - self.from) as f64 / (now - self.since).max(PAUSES.0).as_secs_f64()
    }
}

#[cfg(test)]
mod tests;
