//! The numbers of a conversation: which messages must be sent again when a link is back, and
//! which have been heard before.
//!
//! No I/O here. Each side numbers the messages between tasks that it hands to the other, keeps
//! them until they have been delivered there, and sends them again on the next connection. A
//! daemon that was started again has a new incarnation and has forgotten what it heard: it then
//! takes the first number that comes for the next.

use std::collections::VecDeque;

/// Messages that may be on their way at once.
const WINDOW: usize = 4096;

/// The outgoing half, for messages of type `M`.
#[derive(Debug)]
pub(crate) struct Outgoing<M> {
    waiting: VecDeque<M>,
    window: VecDeque<(u64, M)>,
    /// How many at the front of `window` are on this connection.
    sent: usize,
    last: u64,
}

impl<M> Outgoing<M> {
    /// Nothing sent yet.
    pub(crate) const fn new() -> Self {
        Self { waiting: VecDeque::new(), window: VecDeque::new(), sent: 0, last: 0 }
    }

    /// Queues a message.
    pub(crate) fn push(&mut self, message: M) {
        self.waiting.push_back(message);
    }

    /// The next message to send on this connection, with its number.
    pub(crate) fn next(&mut self) -> Option<(u64, &M)> {
        if self.sent == self.window.len() {
            if self.window.len() >= WINDOW {
                return None;
            }
            let message = self.waiting.pop_front()?;
            self.last += 1;
            self.window.push_back((self.last, message));
        }
        self.sent += 1;
        self.window.get(self.sent - 1).map(|(sequence, message)| (*sequence, message))
    }

    /// The last one that [`Outgoing::next`] gave.
    pub(crate) fn current(&self) -> Option<&M> {
        let at = self.sent.checked_sub(1)?;
        self.window.get(at).map(|(_, message)| message)
    }

    /// The other side has delivered everything up to here. What it claims beyond is a lie.
    pub(crate) fn delivered(&mut self, through: u64) {
        while self.sent > 0 && self.window.front().is_some_and(|(number, _)| *number <= through) {
            self.window.pop_front();
            self.sent -= 1;
        }
    }

    /// The last message that is known to have been delivered.
    pub(crate) fn confirmed(&self) -> u64 {
        self.window.front().map_or(self.last, |(number, _)| number - 1)
    }

    /// A new connection: everything that was not delivered is sent again. `through` is what the
    /// other side remembers of this incarnation, if it does.
    pub(crate) fn resume(&mut self, through: Option<u64>) {
        self.sent = self.window.len();
        self.delivered(through.unwrap_or(0));
        self.sent = 0;
    }

    /// True where nothing waits to be sent or confirmed.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.window.is_empty()
    }
}

/// What a number is to the incoming half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrived {
    /// To be delivered.
    New,
    /// Delivered before.
    Again,
    /// One is missing before it: the other side is out of its mind.
    Gap,
}

/// The incoming half.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    incarnation: u64,
    delivered: Option<u64>,
}

impl Incoming {
    /// A new connection to this incarnation of the other side.
    pub(crate) fn resume(&mut self, incarnation: u64) {
        if self.incarnation != incarnation {
            *self = Self { incarnation, delivered: None };
        }
    }

    /// What to tell the other side: which of its incarnations is known, and how far.
    pub(crate) fn progress(&self) -> (u64, u64) {
        match self.delivered {
            Some(delivered) => (self.incarnation, delivered),
            None => (0, 0),
        }
    }

    /// Judges a number.
    pub(crate) const fn judge(&self, sequence: u64) -> Arrived {
        match self.delivered {
            None => Arrived::New,
            Some(delivered) if sequence <= delivered => Arrived::Again,
            Some(delivered) if sequence == delivered + 1 => Arrived::New,
            Some(_) => Arrived::Gap,
        }
    }

    /// It is in the receiver's inbox.
    pub(crate) const fn deliver(&mut self, sequence: u64) {
        self.delivered = Some(sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ends and the messages that the second one delivered.
    struct Pair {
        out: Outgoing<u32>,
        incoming: Incoming,
        delivered: Vec<u32>,
    }

    impl Pair {
        fn new() -> Self {
            let mut incoming = Incoming::default();
            incoming.resume(1);
            Self { out: Outgoing::new(), incoming, delivered: Vec::new() }
        }

        /// Sends and delivers up to `n` messages; says whether anything happened.
        fn carry(&mut self, n: usize) {
            for _ in 0..n {
                let Some((sequence, message)) = self.out.next() else { return };
                let message = *message;
                match self.incoming.judge(sequence) {
                    Arrived::New => {
                        self.delivered.push(message);
                        self.incoming.deliver(sequence);
                    }
                    Arrived::Again => {}
                    Arrived::Gap => panic!("a gap before {sequence}"),
                }
            }
        }

        fn reconnect(&mut self) {
            let (known, delivered) = self.incoming.progress();
            self.incoming.resume(1);
            self.out.resume((known == 1).then_some(delivered));
        }
    }

    #[test]
    fn a_link_that_flaps_loses_repeats_and_reorders_nothing() {
        let mut pair = Pair::new();
        for message in 0..100 {
            pair.out.push(message);
            if message % 7 == 0 {
                pair.carry(5);
            }
            if message % 11 == 0 {
                // Sent, but the connection broke before it arrived.
                pair.out.next();
                pair.reconnect();
            }
            if message % 13 == 0
                && let Some(delivered) = pair.incoming.delivered
            {
                pair.out.delivered(delivered);
            }
        }
        pair.reconnect();
        pair.carry(1000);
        assert_eq!(pair.delivered, (0..100).collect::<Vec<_>>());
        pair.out.delivered(u64::MAX);
        assert!(pair.out.is_empty());
    }

    #[test]
    fn a_receiver_that_forgot_takes_up_where_the_sender_is() {
        let mut pair = Pair::new();
        (0..10).for_each(|message| pair.out.push(message));
        pair.carry(6);
        pair.out.delivered(4);
        pair.incoming = Incoming::default();
        pair.incoming.resume(1);
        pair.reconnect();
        pair.carry(10);
        // What was delivered but not confirmed before the crash comes again.
        assert_eq!(pair.delivered, [0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn what_was_never_sent_cannot_be_confirmed() {
        let mut pair = Pair::new();
        (0..3).for_each(|message| pair.out.push(message));
        pair.carry(1);
        pair.out.delivered(100);
        pair.carry(2);
        assert_eq!(pair.delivered, [0, 1, 2]);
    }

    #[test]
    fn no_more_than_the_window_is_on_its_way() {
        let mut out = Outgoing::new();
        (0..=WINDOW).for_each(|message| out.push(message));
        while out.next().is_some() {}
        assert_eq!(out.sent, WINDOW);
        out.delivered(1);
        assert!(out.next().is_some());
    }
}
