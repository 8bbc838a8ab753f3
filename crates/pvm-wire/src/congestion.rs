//! The window of a connection: the bytes that may be under way.
//!
//! No message overtakes the bytes that the kernel has taken, and most ways of sending fill whatever
//! queue stands before the slowest cable: seconds of it, where that is long. So each connection has
//! a *window* of bytes that may be under way, whatever the kernel would take: what goes out in
//! `QUEUE_TIME` beyond the time of the way itself. Several connections over one cable then keep a
//! queue of about that time together, as each of them keeps its share of it. Urgent messages never
//! wait for a window. Daemons hold their links to it, tasks their direct routes.
//!
//! A byte is timed: the last one that the kernel has taken, until it is confirmed. The kernel's own
//! average of such times is not used, as it stands still for seconds where its way of sending paces
//! (*bbr*).

use std::time::Duration;

/// The queueing time that bytes may add to the time of the path itself.
const QUEUE_TIME: Duration = Duration::from_millis(50);
/// The first window: little where cables are slow, and on fast ones it is large after a few round
/// trips.
const FIRST_WINDOW: u64 = 32 << 10;
/// The number of bytes that may be under way however long they take: with fewer the other side
/// would confirm late.
const LEAST_WINDOW: u64 = 4 << 10;
/// A window that bounds nothing any more.
const MOST_WINDOW: u64 = 1 << 30;
/// The least that goes if there is room: about a segment.
const SEGMENT: u64 = 1448;
/// Bytes that the kernel is to take beyond what it may send at once. Its own buffer holds
/// megabytes, which are seconds on a slow cable.
pub const UNSENT_BYTES: u32 = 32 << 10;

/// The time for which the answer that there is room stays valid.
const LOOK: Duration = Duration::from_millis(1);
/// The shortest and the longest wait before the kernel is asked again for room.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

/// The bytes of a connection that the kernel has taken and the other side has not confirmed.
#[derive(Clone, Copy, Default, Debug)]
pub struct UnderWay {
    /// All of it.
    pub bytes: u64,
    /// True if some of it is in the network. If none is and something waits, the other side does
    /// not read.
    pub sent: bool,
    /// The number of bytes that were confirmed since the connection was made.
    pub confirmed: u64,
    /// The shortest time until something sent was confirmed.
    pub least: Duration,
    /// For how long in all the other side had no room.
    pub without_room: Duration,
}

/// A byte whose way is timed.
#[derive(Clone, Copy, Debug)]
struct Timed {
    /// When this began, and the last look that found it unconfirmed.
    since: Duration,
    missed: Duration,
    /// The confirmed bytes at its end, and at its begin.
    place: u64,
    from: u64,
    /// The value of `without_room` at that moment.
    without_room: Duration,
}

/// The window of a connection, which tells whether it takes more.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// Bytes that may be under way.
    window: u64,
    /// Bytes that may go before the kernel is asked again, and when it was asked last.
    room: u64,
    asked_at: Option<Duration>,
    timed: Option<Timed>,
    /// More would have gone with a larger window.
    is_limited: bool,
    /// The window became smaller and has not grown since.
    is_slowed: bool,
    least: Duration,
}

impl Default for Ahead {
    fn default() -> Self {
        Self {
            window: FIRST_WINDOW,
            room: 0,
            asked_at: None,
            timed: None,
            is_limited: false,
            is_slowed: false,
            least: Duration::ZERO,
        }
    }
}

impl Ahead {
    /// The number of bytes that may go, at least about a segment.
    ///
    /// `now` is the time since any moment; `look` asks the kernel, and where that tells nothing
    /// there is always room.
    ///
    /// # Errors
    /// The data under way, if that is too much for more to go.
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

    /// Notes that `bytes` bytes have gone to the kernel.
    pub const fn went(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes as u64);
        self.is_limited |= self.room == 0;
    }

    /// Bytes that may be under way.
    pub fn window(&self) -> usize {
        usize::try_from(self.window).unwrap_or(usize::MAX)
    }

    /// The wait for room: short as long as the window is not known yet.
    pub fn pause(&self) -> Duration {
        let pause = if self.is_slowed { PAUSES.1 } else { self.least / 2 };
        pause.clamp(PAUSES.0, PAUSES.1)
    }

    fn judge(&mut self, now: Duration, way: &UnderWay) {
        self.least = way.least;
        if !way.sent {
            self.timed = None;
            if way.bytes == 0 {
                self.grow(2);
            }
            return;
        }
        let Some(timed) = self.timed.filter(|timed| timed.without_room == way.without_room) else {
            self.timed = Some(Timed::begin(now, way));
            return;
        };
        let arrived = way.confirmed >= timed.place;
        // This is a lower bound: when it came after the last look is not known.
        let time = if arrived { timed.missed } else { now } - timed.since;
        let most = way.least + QUEUE_TIME;
        if time > most {
            self.shrink(way.confirmed - timed.from, now - timed.since, most);
        } else if !arrived {
            self.timed = Some(Timed { missed: now, ..timed });
            return;
        } else if time <= way.least + QUEUE_TIME / 4 {
            self.grow(2);
        } else if time <= way.least + QUEUE_TIME / 2 {
            self.grow(8);
        }
        self.timed = Some(Timed::begin(now, way));
    }

    /// By its whole, or a part of it, if it was in the way.
    const fn grow(&mut self, part: u64) {
        if self.is_limited {
            let more = if part == 2 { self.window } else { self.window / part };
            let window = self.window + more;
            self.window = if window > MOST_WINDOW { MOST_WINDOW } else { window };
            (self.is_limited, self.is_slowed) = (false, false);
        }
    }

    /// Shrinks the window to the bytes that go out in the time `most`, if `confirmed` bytes did in
    /// the time `during`.
    fn shrink(&mut self, confirmed: u64, during: Duration, most: Duration) {
        let rate = confirmed as f64 / during.as_secs_f64();
        let window = (rate * most.as_secs_f64()) as u64;
        self.window = window.clamp(LEAST_WINDOW, self.window);
        self.is_slowed = true;
    }
}

impl Timed {
    const fn begin(now: Duration, way: &UnderWay) -> Self {
        Self {
            since: now,
            missed: now,
            place: way.confirmed + way.bytes,
            from: way.confirmed,
            without_room: way.without_room,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    /// A cable with a queue in front of it, and connections over it, a millisecond after the other.
    struct Cable {
        /// Bytes in a millisecond.
        rate: u64,
        /// The additional time of the path, for each byte.
        way: u64,
        now: u64,
        senders: Vec<Sender>,
        /// The sender and size of each packet, in the sequence in which they go out.
        queue: std::collections::VecDeque<(usize, u64)>,
    }

    struct Sender {
        ahead: Ahead,
        /// The shortest time that the kernel has reported.
        least: u64,
        taken: u64,
        confirmed: u64,
        /// Bytes of a turn that are on the way, and when they are confirmed.
        on_way: std::collections::VecDeque<(u64, u64)>,
        /// Bytes that go at once, and pauses until a time.
        most: usize,
        rests_until: u64,
    }

    impl Cable {
        fn new(rate: u64, way: u64) -> Self {
            Self {
                rate,
                way,
                now: 0,
                senders: Vec::new(),
                queue: std::collections::VecDeque::new(),
            }
        }

        /// One more connection, whose first time is what the queue makes of it now.
        fn join(&mut self) {
            let least = self.way + self.queued() / self.rate;
            self.senders.push(Sender {
                ahead: Ahead::default(),
                least,
                taken: 0,
                confirmed: 0,
                on_way: std::collections::VecDeque::new(),
                most: 16 << 10,
                rests_until: 0,
            });
        }

        fn queued(&self) -> u64 {
            self.queue.iter().map(|(_, bytes)| bytes).sum()
        }

        /// All senders send what may go for `time`. Returns the longest wait in the queue in the
        /// second half.
        fn run(&mut self, time: u64) -> u64 {
            let (end, mut longest) = (self.now + time, 0);
            while self.now < end {
                self.step();
                if end - self.now < time / 2 {
                    longest = longest.max(self.queued() / self.rate);
                }
            }
            longest
        }

        fn step(&mut self) {
            self.now += 1;
            let mut left = self.rate;
            while let Some((who, bytes)) = self.queue.front_mut().filter(|_| left > 0) {
                let gone = left.min(*bytes);
                (left, *bytes) = (left - gone, *bytes - gone);
                self.senders[*who].on_way.push_back((gone, self.now + self.way));
                if *bytes == 0 {
                    self.queue.pop_front();
                }
            }
            for who in 0..self.senders.len() {
                self.send(who);
            }
        }

        fn send(&mut self, who: usize) {
            let time = self.way + self.queued() / self.rate;
            let (now, sender) = (self.now, &mut self.senders[who]);
            sender.least = sender.least.min(time);
            while let Some((bytes, _)) = sender.on_way.pop_front_if(|(_, at)| *at <= now) {
                sender.confirmed += bytes;
            }
            while now >= sender.rests_until {
                let way = UnderWay {
                    bytes: sender.taken - sender.confirmed,
                    sent: sender.taken > sender.confirmed,
                    confirmed: sender.confirmed,
                    least: MILLISECOND * sender.least as u32,
                    without_room: Duration::ZERO,
                };
                match sender.ahead.room(MILLISECOND * now as u32, || Some(way)) {
                    Ok(room) => {
                        let bytes = room.min(sender.most);
                        sender.ahead.went(bytes);
                        sender.taken += bytes as u64;
                        self.queue.push_back((who, bytes as u64));
                    }
                    Err(_) => {
                        let pause = sender.ahead.pause().as_micros().div_ceil(1000);
                        sender.rests_until = now + pause as u64;
                    }
                }
            }
        }
    }

    #[test]
    fn bulk_filled_the_queue_of_a_slow_cable_for_seconds() {
        // 1, 10, 100 Mb/s, near and far.
        for (rate, way) in [(125, 0), (125, 80), (1250, 0), (1250, 200), (12_500, 1)] {
            let mut cable = Cable::new(rate, way);
            cable.join();
            let longest = cable.run(10_000);
            assert!(longest < 100, "{rate} bytes/ms: {longest} ms");
            let before = cable.senders[0].confirmed;
            cable.run(10_000);
            let share = (cable.senders[0].confirmed - before) as f64 / (rate * 10_000) as f64;
            assert!(share > 0.95, "{rate} bytes/ms, {way} ms away: {share} of the cable");
        }
    }

    #[test]
    fn connections_over_one_cable_keep_one_queue_together() {
        let mut cable = Cable::new(125, 1);
        (0..4).for_each(|_| cable.join());
        let longest = cable.run(10_000);
        assert!(longest < 200, "{longest} ms");
        // One that is made later takes the queue that it meets for a part of the way.
        for _ in 0..4 {
            cable.join();
            cable.run(1_000);
        }
        let longest = cable.run(10_000);
        assert!(longest < 600, "{longest} ms");
        let before: Vec<u64> = cable.senders.iter().map(|sender| sender.confirmed).collect();
        cable.run(10_000);
        for (sender, before) in cable.senders.iter().zip(before) {
            assert!(sender.confirmed > before + 30_000, "a fortieth of the cable at least");
        }
    }

    #[test]
    fn a_window_grows_where_there_is_room_and_only_then() {
        let mut cable = Cable::new(1 << 20, 0);
        cable.join();
        cable.run(50);
        assert!(cable.senders[0].ahead.window() > 8 << 20);
        assert_eq!(cable.senders[0].ahead.pause(), PAUSES.0);
        let mut ahead = Ahead::default();
        for now in 1..100 {
            assert!(ahead.room(MILLISECOND * now, || Some(UnderWay::default())).is_ok());
            ahead.went(8);
        }
        assert_eq!(ahead.window(), FIRST_WINDOW as usize, "nobody wanted more");
    }

    #[test]
    fn who_does_not_read_is_no_queue() {
        let mut ahead = Ahead::default();
        let unread = UnderWay { bytes: 1 << 20, ..UnderWay::default() };
        for now in 1..100 {
            assert!(ahead.room(MILLISECOND * now * 10, || Some(unread)).is_ok());
        }
        // Nor is it while the other side lets in a little now and then.
        for now in 100..200 {
            let way = UnderWay {
                bytes: 1000,
                sent: true,
                without_room: MILLISECOND * now,
                ..UnderWay::default()
            };
            assert!(ahead.room(MILLISECOND * now * 10, || Some(way)).is_ok());
        }
        assert_eq!(ahead.window(), FIRST_WINDOW as usize);
    }

    #[test]
    fn nothing_goes_while_nothing_is_confirmed_and_a_pause_is_no_queue() {
        let mut ahead = Ahead::default();
        let stuck = UnderWay { bytes: 20_000, sent: true, ..UnderWay::default() };
        assert!(ahead.room(MILLISECOND, || Some(stuck)).is_ok());
        // A task that computes for a second and comes back knows nothing of the time between.
        let arrived = UnderWay { bytes: 0, sent: false, confirmed: 20_000, ..stuck };
        assert!(ahead.room(MILLISECOND * 1000, || Some(arrived)).is_ok());
        assert_eq!(ahead.window(), FIRST_WINDOW as usize);
        let stuck = UnderWay { confirmed: 20_000, ..stuck };
        assert!(ahead.room(MILLISECOND * 1001, || Some(stuck)).is_ok());
        assert!(ahead.room(MILLISECOND * 1060, || Some(stuck)).is_err());
        assert_eq!(ahead.window(), LEAST_WINDOW as usize);
        assert_eq!(ahead.pause(), PAUSES.1);
    }

    #[test]
    fn the_kernel_is_asked_once_in_a_while_as_long_as_there_is_room() {
        let (mut ahead, now) = (Ahead::default(), Duration::from_secs(7));
        assert!(ahead.room(now, || Some(UnderWay::default())).is_ok());
        assert!(ahead.room(now + LOOK / 2, || panic!("just asked")).is_ok());
        let full = UnderWay { bytes: 1 << 20, sent: true, ..UnderWay::default() };
        assert!(ahead.room(now + LOOK, || Some(full)).is_err());
        assert!(ahead.room(now + LOOK, || Some(full)).is_err(), "it is asked each time");
        assert!(ahead.room(now + LOOK, || None).is_ok());
    }
}
