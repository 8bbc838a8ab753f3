//! The messages that a daemon forwards to one other host. Its tasks share the one connection in
//! turn.

use crate::planted::{self, Bug};
use std::collections::VecDeque;

/// The next bytes for the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece<M> {
    /// Its bytes.
    pub(crate) bytes: u64,
    /// The message that ends with this piece.
    pub(crate) whole: Option<M>,
}

/// The messages for one other host.
#[derive(Debug)]
pub(crate) struct Relay<M> {
    /// The most bytes that a sender hands over in one turn.
    turn: u64,
    /// By sender and receiver, in the order of their turns.
    queues: VecDeque<Queue<M>>,
}

#[derive(Debug)]
struct Queue<M> {
    pair: (u32, u32),
    messages: VecDeque<(M, u64)>,
    /// The bytes that are left of its turn.
    turn: u64,
}

impl<M: Copy> Relay<M> {
    /// An empty relay.
    pub(crate) fn new(turn: u64) -> Self {
        let turn = if planted::is(Bug::TurnsForgotten) { u64::MAX } else { turn };
        Self { turn, queues: VecDeque::new() }
    }

    /// Adds a message of this many bytes for the other host.
    pub(crate) fn handle(&mut self, pair: (u32, u32), message: M, bytes: u64) {
        if let Some(queue) = self.queues.iter_mut().find(|queue| queue.pair == pair) {
            return queue.messages.push_back((message, bytes));
        }
        let (messages, turn) = (VecDeque::from([(message, bytes)]), self.turn);
        self.queues.push_back(Queue { pair, messages, turn });
    }

    /// True if a message waits.
    pub(crate) fn has_more(&self) -> bool {
        !self.queues.is_empty()
    }

    /// The next piece, if the connection has room for this many bytes.
    pub(crate) fn poll_output(&mut self, room: u64) -> Option<Piece<M>> {
        let queue = self.queues.front_mut()?;
        let (message, left) = queue.messages.front_mut()?;
        let bytes = room.min(*left).min(queue.turn);
        if bytes == 0 {
            return None;
        }
        *left -= bytes;
        queue.turn -= bytes;
        let whole = (*left == 0).then_some(*message);
        if whole.is_some() {
            queue.messages.pop_front();
        }
        if queue.messages.is_empty() {
            self.queues.pop_front();
        } else if queue.turn == 0 {
            queue.turn = self.turn;
            self.queues.rotate_left(1);
        }
        Some(Piece { bytes, whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(relay: &mut Relay<char>) -> Vec<(u64, Option<char>)> {
        std::iter::from_fn(|| relay.poll_output(u64::MAX))
            .map(|piece| (piece.bytes, piece.whole))
            .collect()
    }

    #[test]
    fn a_short_message_waits_for_one_turn_of_a_long_one() {
        let mut relay = Relay::new(16);
        relay.handle((0, 9), 'a', 40);
        relay.handle((1, 9), 'b', 5);
        relay.handle((0, 9), 'c', 1);
        let expected = [(16, None), (5, Some('b')), (16, None), (8, Some('a')), (1, Some('c'))];
        assert_eq!(all(&mut relay), expected);
        relay.handle((1, 9), 'd', 3);
        assert_eq!(all(&mut relay), [(3, Some('d'))]);
    }

    #[test]
    fn a_connection_without_room_gets_nothing() {
        let mut relay = Relay::new(16);
        relay.handle((0, 9), 'a', 20);
        assert_eq!(relay.poll_output(0), None);
        assert_eq!(relay.poll_output(10), Some(Piece { bytes: 10, whole: None }));
        assert_eq!(relay.poll_output(10), Some(Piece { bytes: 6, whole: None }));
        assert_eq!(relay.poll_output(10), Some(Piece { bytes: 4, whole: Some('a') }));
        assert_eq!(relay.poll_output(10), None);
    }
}
