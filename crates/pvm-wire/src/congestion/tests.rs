use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

const MILLISECOND: Duration = Duration::from_millis(1);

/// How long a sender's kernel remembers the shortest time (300 s; less, so that tests are short).
const KERNEL_MEMORY: u64 = 30_000;

/// A cable with a queue in front of it, and connections over it, a millisecond after the other.
struct Cable {
    /// Bytes in a millisecond.
    rate: u64,
    /// How long the way takes besides, for each byte.
    way: u64,
    /// What others keep in the queue, where ours leave them so much room.
    foreign: u64,
    /// How long the way back takes, behind what others send there.
    back: u64,
    now: u64,
    senders: Vec<Sender>,
    /// Who has sent how much, in the order in which it goes out; `None` for others.
    queue: VecDeque<(Option<usize>, u64)>,
}

struct Sender {
    ahead: Ahead,
    /// What its kernel has told that is shortest, and since when it remembers that.
    least: u64,
    least_at: u64,
    taken: u64,
    confirmed: u64,
    /// Bytes of a turn that are on the way, and when they are confirmed.
    on_way: VecDeque<(u64, u64)>,
    /// Bytes that go at once, and pauses until a time.
    most: usize,
    rests_until: u64,
}

impl Cable {
    fn new(rate: u64, way: u64) -> Self {
        let (senders, queue) = (Vec::new(), VecDeque::new());
        Self { rate, way, foreign: 0, back: 0, now: 0, senders, queue }
    }

    /// One more connection, whose first time is what the queue makes of it now.
    fn join(&mut self) {
        self.senders.push(Sender {
            ahead: Ahead::default(),
            least: self.time(),
            least_at: self.now,
            taken: 0,
            confirmed: 0,
            on_way: VecDeque::new(),
            most: 16 << 10,
            rests_until: 0,
        });
    }

    fn queued(&self) -> u64 {
        self.queue.iter().map(|(_, bytes)| bytes).sum()
    }

    /// How long a byte takes that is sent now.
    fn time(&self) -> u64 {
        self.way + self.back + self.queued() / self.rate
    }

    /// Everybody sends all that may go for so long; the longest that anything stood in the queue,
    /// in the second half.
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

    /// What part of the cable the connections had together in so long a time.
    fn share(&mut self, time: u64) -> f64 {
        let confirmed = |cable: &Self| cable.senders.iter().map(|s| s.confirmed).sum::<u64>();
        let before = confirmed(self);
        self.run(time);
        (confirmed(self) - before) as f64 / (self.rate * time) as f64
    }

    fn step(&mut self) {
        self.now += 1;
        let mut left = self.rate;
        while let Some((who, bytes)) = self.queue.front_mut().filter(|_| left > 0) {
            let gone = left.min(*bytes);
            (left, *bytes) = (left - gone, *bytes - gone);
            if let Some(who) = *who {
                let at = self.now + self.way + self.back;
                self.senders[who].on_way.push_back((gone, at));
            }
            if *bytes == 0 {
                self.queue.pop_front();
            }
        }
        for who in 0..self.senders.len() {
            self.send(who);
        }
        let room = self.foreign.saturating_sub(self.queued());
        if room > 0 {
            self.queue.push_back((None, room));
        }
    }

    fn send(&mut self, who: usize) {
        let time = self.time();
        let (now, sender) = (self.now, &mut self.senders[who]);
        if time <= sender.least || now > sender.least_at + KERNEL_MEMORY {
            (sender.least, sender.least_at) = (time, now);
        }
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
                    self.queue.push_back((Some(who), bytes as u64));
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
        let share = cable.share(50_000);
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
    assert!(ahead.room(MILLISECOND, || Some(UnderWay::default())).is_ok());
    ahead.went(20_000);
    // Who computes for a second and comes back knows nothing of the time between.
    let arrived = UnderWay { bytes: 0, sent: false, confirmed: 20_000, ..stuck };
    assert!(ahead.room(MILLISECOND * 1000, || Some(arrived)).is_ok());
    assert_eq!(ahead.window(), FIRST_WINDOW as usize);
    ahead.went(20_000);
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

#[test]
fn a_queue_of_others_held_a_stream_at_the_least_window() {
    // Behind the confirmations, and then in front of the bytes themselves.
    let mut cable = Cable::new(1250, 1);
    cable.join();
    cable.run(5_000);
    cable.back = 800;
    let share = cable.share(14_000);
    assert!(share > 0.1, "{share} of the cable");
    let share = cable.share(4_000);
    assert!(share > 0.3, "{share} of the cable");
    // When it has gone, what the window was for it stands in the queue until the way is looked at
    // again.
    cable.back = 0;
    let longest = cable.run(100_000);
    assert!(longest < 300, "{longest} ms");
    cable.foreign = 1 << 20;
    let share = cable.share(14_000);
    assert!(share > 0.1, "{share} of the cable");
    cable.foreign = 0;
    let longest = cable.run(100_000);
    assert!(longest < 300, "{longest} ms");
}

#[test]
fn a_queue_of_others_that_is_now_more_and_now_less_held_a_stream_at_the_least_window() {
    let mut cable = Cable::new(1250, 1);
    cable.join();
    cable.run(5_000);
    let mut shares = Vec::new();
    for second in 0..14 {
        // As one of cubic's streams keeps it in a megabyte.
        for part in 0..10 {
            cable.back = 600 + 200 * (second % 3) + 20 * part;
            shares.push(cable.share(100));
        }
    }
    let share = shares[70..].iter().sum::<f64>() / 70.0;
    assert!(share > 0.015, "{share} of the cable");
}

#[test]
fn a_way_that_became_longer_was_taken_for_a_queue() {
    for (before, after) in [(0, 100), (20, 400), (400, 20), (1, 30)] {
        let mut cable = Cable::new(1250, before);
        cable.join();
        cable.run(5_000);
        cable.way = after;
        cable.run(50_000);
        let (share, longest) = (cable.share(20_000), cable.run(20_000));
        assert!(share > 0.75, "{share} of the cable, from {before} to {after} ms");
        // What was held back for the look at the way goes at once behind it.
        assert!(longest < 110 + after * 3 / 2, "{longest} ms, from {before} to {after} ms");
    }
}

#[test]
fn a_queue_that_stood_longer_than_the_kernel_remembers_was_taken_for_the_way() {
    for (rate, senders) in [(125, 1), (125, 4), (1250, 2)] {
        let mut cable = Cable::new(rate, 1);
        (0..senders).for_each(|_| cable.join());
        let longest = cable.run(20 * KERNEL_MEMORY);
        assert!(longest < 350, "{rate} bytes/ms, {senders} connections: {longest} ms");
    }
}

#[test]
fn a_window_doubled_each_time_all_was_confirmed_however_long_that_took() {
    let mut ahead = Ahead::default();
    for second in 1..100 {
        let mut way = UnderWay { confirmed: 1000 * second, ..UnderWay::default() };
        let now = Duration::from_secs(second);
        while let Ok(room) = ahead.room(now, || Some(way)) {
            ahead.went(room);
            way = UnderWay { bytes: way.bytes + room as u64, sent: true, ..way };
            if way.bytes >= ahead.window() as u64 {
                break;
            }
        }
    }
    assert_eq!(ahead.window(), FIRST_WINDOW as usize);
}

/// Of others: kept in front of the cable, and standing on the way back, in ms; and for how long.
fn of_others() -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    let time = prop_oneof![Just(0), 0..1500_u64];
    proptest::collection::vec((time.clone(), time, 500..12_000_u64), 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        rng_seed: proptest::test_runner::RngSeed::Fixed(15),
        ..ProptestConfig::default()
    })]

    /// Whatever others do meanwhile, and whenever a connection is made: afterwards the cable is
    /// used, and no long queue stands in front of it.
    #[test]
    fn what_others_did_is_over_when_it_is_over(
        rate in prop_oneof![Just(125_u64), Just(1250), Just(12_500)],
        (way, other_way) in (0..200_u64, 0..200_u64),
        senders in 1..4_usize,
        happens in of_others(),
    ) {
        let mut cable = Cable::new(rate, way);
        for (front, back, time) in happens {
            if cable.senders.len() < senders {
                cable.join();
            }
            (cable.foreign, cable.back) = (front * rate, back);
            cable.run(time);
        }
        (cable.foreign, cable.back, cable.way) = (0, 0, other_way);
        while cable.senders.len() < senders {
            cable.join();
            cable.run(1_000);
        }
        cable.run(60_000);
        let (share, longest) = (cable.share(20_000), cable.run(20_000));
        prop_assert!(share > 0.7, "{share} of the cable");
        prop_assert!(longest < 1_000, "{longest} ms");
    }
}
