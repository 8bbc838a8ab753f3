use super::*;

const A: Tid = Tid(0x40001);
const B: Tid = Tid(0x80001);

const fn stamp(number: u64) -> Stamp {
    Stamp::new(Life::of_second(7), number)
}

/// A small generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
        (self.0 >> 33) as usize % n
    }
}

#[test]
fn whatever_way_they_come_each_is_taken_once_and_in_order() {
    // All orders of two copies of five messages.
    let mut dice = Dice(7);
    for _ in 0..2000 {
        let mut coming: Vec<u64> = (1..=5).chain(1..=5).collect();
        for i in (1..coming.len()).rev() {
            coming.swap(i, dice.below(i + 1));
        }
        let mut order = Order::new();
        let mut out = VecDeque::new();
        for number in coming {
            order.take(A, stamp(number), (A, number), &mut out);
            order.take(B, stamp(number), (B, number), &mut out);
        }
        for from in [A, B] {
            let numbers: Vec<u64> =
                out.iter().filter(|(tid, _)| *tid == from).map(|(_, n)| *n).collect();
            assert_eq!(numbers, [1, 2, 3, 4, 5]);
            assert_eq!(order.last(from), stamp(5));
        }
        assert!(!order.is_waiting());
    }
}

#[test]
fn what_misses_one_before_it_waits() {
    let mut order = Order::new();
    let mut out = VecDeque::new();
    order.take(A, stamp(2).direct(), "two", &mut out);
    order.take(A, stamp(4).direct(), "four", &mut out);
    assert!(out.is_empty() && order.last(A).number() == 0 && order.is_waiting());
    order.take(A, stamp(1), "one", &mut out);
    assert_eq!(out, ["one", "two"]);
    order.take(A, stamp(3), "three", &mut out);
    assert_eq!(out, ["one", "two", "three", "four"]);
    assert!(!order.is_waiting());
}

#[test]
fn the_next_task_of_an_id_hears_from_who_had_sent_to_the_one_before_it() {
    let mut order = Order::new();
    let mut out = VecDeque::new();
    order.take(A, stamp(51), 51, &mut out);
    // Another daemon may have handed on what was sent before, and that lies in another lane.
    assert!(out.is_empty() && order.is_beginning());
    order.settle(&mut out);
    assert!(!order.is_beginning() && !order.is_waiting());
    order.take(A, stamp(52).direct(), 52, &mut out);
    order.take(A, stamp(51), 51, &mut out);
    assert_eq!(out, [51, 52]);
    assert_eq!(order.last(A), stamp(52));
}

#[test]
fn what_another_daemon_handed_on_before_is_no_late_message() {
    let mut order = Order::new();
    let mut out = VecDeque::new();
    for number in [3, 1, 2] {
        order.take(A, stamp(number), number, &mut out);
    }
    order.settle(&mut out);
    assert_eq!(out, [1, 2, 3]);
}

#[test]
fn what_overtakes_begins_nothing() {
    let mut order = Order::new();
    let mut out = VecDeque::new();
    order.take(A, stamp(52).direct(), 52, &mut out);
    order.settle(&mut out);
    assert!(out.is_empty() && !order.is_beginning() && order.last(A).number() == 0);
    order.take(A, stamp(51), 51, &mut out);
    order.settle(&mut out);
    assert_eq!(out, [51, 52]);
}

#[test]
fn the_next_sender_of_an_id_is_heard_and_the_last_words_of_the_one_before_it_are_not_repeated() {
    let next = |number| Stamp::new(Life::of_second(20), number);
    let mut order = Order::new();
    let mut out = VecDeque::new();
    for number in 1..=50 {
        order.take(A, stamp(number), number, &mut out);
    }
    out.clear();
    order.take(A, next(1), 1001, &mut out);
    order.take(A, stamp(50), 50, &mut out);
    order.take(A, next(2), 1002, &mut out);
    assert_eq!(out, [1001, 1002]);
    assert_eq!(order.last(A), next(2));
    // Nothing is kept of one that two others have followed.
    order.take(A, Stamp::new(Life::of_second(30), 2).direct(), 0, &mut out);
    assert!(order.is_waiting());
    order.take(A, Stamp::new(Life::of_second(31), 1), 2001, &mut out);
    order.take(A, Stamp::new(Life::of_second(32), 1), 3001, &mut out);
    assert!(!order.is_waiting());
}

/// A message on its way: its stamp, and the task that was alive at the other end.
type Sent = (Stamp, usize);

/// The messages from tasks of id A to tasks of id B, with daemons, links and routes that break.
struct World {
    dice: Dice,
    lives: u64,
    receivers: usize,
    number: u64,
    /// The lane for the host: what is not confirmed, and how much of it the link has carried.
    lane: VecDeque<Sent>,
    carried: usize,
    /// A route that stands, whether it has begun, and what it has not confirmed.
    route: Option<bool>,
    unconfirmed: VecDeque<Sent>,
    /// The messages in the socket.
    socket: VecDeque<Sent>,
    /// Lanes of routes that broke.
    released: Vec<VecDeque<Sent>>,
    /// The receiver's inbox: a lane of each daemon that there has been.
    inbox: Vec<VecDeque<Sent>>,
    order: Order<Sent>,
    taken: Vec<Sent>,
    sent: Vec<Sent>,
    /// The last of former senders, which may come again.
    repeats: Vec<Sent>,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice(seed),
            lives: 0,
            receivers: 0,
            number: 0,
            lane: VecDeque::new(),
            carried: 0,
            route: None,
            unconfirmed: VecDeque::new(),
            socket: VecDeque::new(),
            released: Vec::new(),
            inbox: vec![VecDeque::new()],
            order: Order::new(),
            taken: Vec::new(),
            sent: Vec::new(),
            repeats: Vec::new(),
        }
    }

    fn send(&mut self) {
        self.number += 1;
        let stamp = Stamp::new(Life::of_second(self.lives), self.number);
        // A route begins behind a message by the daemons; now and then its lane is full.
        if self.route == Some(true) && self.dice.below(6) > 0 {
            let message = (stamp.direct(), self.receivers);
            self.unconfirmed.push_back(message);
            self.socket.push_back(message);
            return self.sent.push(message);
        }
        self.route = self.route.map(|_| true);
        self.lane.push_back((stamp, self.receivers));
        self.sent.push((stamp, self.receivers));
    }

    fn break_route(&mut self) {
        if self.route.take().is_some() {
            // Some of what lies in the socket arrives.
            let arrives = self.dice.below(self.socket.len() + 1);
            for message in self.socket.drain(..).take(arrives) {
                let mut out = VecDeque::new();
                self.order.take(A, message.0, message, &mut out);
                self.taken.extend(out);
            }
            self.released.push(std::mem::take(&mut self.unconfirmed));
        }
    }

    /// The daemons carry something, and put it into the receiver's inbox.
    fn carry(&mut self) {
        let Some(inbox) = self.inbox.last_mut() else { return };
        let ways = self.released.len() + 1;
        match self.dice.below(ways).checked_sub(1) {
            None if self.carried < self.lane.len() => {
                inbox.push_back(self.lane[self.carried]);
                self.carried += 1;
            }
            None => {}
            Some(way) => match self.released[way].pop_front() {
                Some(message) => inbox.push_back(message),
                None => drop(self.released.remove(way)),
            },
        }
    }

    /// The receiver takes what one of the lanes has.
    fn take(&mut self) {
        let mut out = VecDeque::new();
        let lane = self.dice.below(self.inbox.len() + 1);
        let next = match self.inbox.get_mut(lane) {
            Some(lane) => lane.pop_front(),
            None => self.socket.pop_front(),
        };
        match next {
            Some(message) => self.order.take(A, message.0, message, &mut out),
            None if self.is_read() => self.order.settle(&mut out),
            None => {}
        }
        self.taken.extend(out);
        let heard = self.order.last(A);
        if heard.life() == Life::of_second(self.lives) && self.route.is_some() {
            self.unconfirmed.retain(|(stamp, _)| stamp.number() > heard.number());
        }
    }

    fn happen(&mut self) {
        match self.dice.below(200) {
            0..60 => self.send(),
            60..110 => self.carry(),
            110..180 => self.take(),
            // The other host has confirmed.
            180..188 => drop(self.lane.drain(..std::mem::take(&mut self.carried))),
            // The link broke: what was not confirmed goes again.
            188..191 => self.carried = 0,
            // Another daemon on the receiver's host.
            191 => self.inbox.push(VecDeque::new()),
            192..196 if self.route.is_none() => self.route = Some(false),
            192..196 => self.break_route(),
            196 => self.repeat(),
            197 if self.dice.below(8) == 0 => self.receiver_dies(),
            198 if self.dice.below(8) == 0 => self.sender_dies(),
            _ => {}
        }
    }

    fn repeat(&mut self) {
        let Some(inbox) = self.inbox.last_mut() else { return };
        inbox.extend(self.repeats.pop());
    }

    /// By the time that its id comes again, all that was sent to it has come, to nobody.
    fn receiver_dies(&mut self) {
        self.break_route();
        self.lane.clear();
        self.released.clear();
        self.carried = 0;
        self.check(false);
        self.receivers += 1;
        self.order = Order::new();
        self.inbox = vec![VecDeque::new()];
        self.taken.clear();
    }

    /// Everything that the sender has sent arrives; the messages of the one before it are not
    /// repeated any more.
    fn sender_dies(&mut self) {
        self.break_route();
        self.drain();
        while !self.is_read() {
            self.take();
        }
        let life = Life::of_second(self.lives);
        let own = self.sent.iter().filter(|(stamp, _)| stamp.life() == life);
        self.repeats = own.rev().take(3).copied().collect();
        self.lane.clear();
        (self.carried, self.number) = (0, 0);
        self.lives += 1;
    }

    fn is_read(&self) -> bool {
        self.inbox.iter().all(VecDeque::is_empty)
    }

    fn drain(&mut self) {
        while self.carried < self.lane.len() || !self.released.is_empty() {
            self.carry();
        }
    }

    /// The receiver has taken the messages in the order in which they were sent, each once; all
    /// that were sent to it, if it has had the time.
    fn check(&self, whole: bool) {
        for life in (0..=self.lives).map(Life::of_second) {
            let of = |list: &[Sent]| -> Vec<u64> {
                let theirs = list.iter().filter(|(stamp, _)| stamp.life() == life);
                theirs.map(|(stamp, _)| stamp.number()).collect()
            };
            let taken = of(&self.taken);
            assert!(taken.is_sorted_by(|a, b| a + 1 == *b), "{life:?}: {taken:?}");
            let meant: Vec<Sent> =
                self.sent.iter().filter(|(_, to)| *to == self.receivers).copied().collect();
            if whole && let Some(missing) = of(&meant).iter().find(|n| !taken.contains(n)) {
                panic!("{life:?}: {missing} is missing of {:?}: {taken:?}", of(&meant));
            }
        }
    }
}

#[test]
fn whoever_has_an_id_that_comes_again_misses_and_repeats_nothing_that_is_meant_for_it() {
    let (mut receivers, mut senders, mut routes) = (0, 0, 0);
    for seed in 0..1000 {
        let mut world = World::new(seed);
        for _ in 0..400 {
            world.happen();
            routes += usize::from(world.route == Some(true));
        }
        world.break_route();
        world.drain();
        while !world.is_read() || world.order.is_beginning() {
            world.take();
        }
        world.check(true);
        receivers += world.receivers;
        senders += world.lives;
    }
    assert!(receivers > 30 && senders > 30 && routes > 1000, "{receivers} {senders} {routes}");
}
