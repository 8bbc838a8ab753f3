//! The messages of the machine here to one other host, in the sequence in which they go out.
//!
//! Short frames that are urgent bypass this queue: they go to the connection at once. Next come the
//! longer frames of the log, of which a bounded number of bytes waits: more are dropped, because
//! the log asks for them again. All other frames follow in their order, and none is dropped; a long
//! one is cut into pieces, and frames of the log go between the pieces.

use crate::link::frames::{CHUNK_BYTES, LinkFrame};
use pvm_wire::peer::PeerMessage;
use pvm_wire::{Blob, Wire as _, write_frame};
use std::collections::VecDeque;

/// Bytes of the order that wait at most; one word may always.
const ORDER_BYTES_MAX: usize = 1 << 20;
/// The longest frame: on a cable of 1 Mb/s it takes 66 ms, and beats of the order go between.
const PIECE_BYTES: usize = 8 << 10;

/// The waiting messages.
#[derive(Debug, Default)]
pub(crate) struct Speech {
    order: VecDeque<Blob>,
    order_bytes: usize,
    said: VecDeque<PeerMessage>,
    /// The message that goes in pieces.
    long: Option<Long>,
}

/// Something on its way in pieces.
#[derive(Debug)]
struct Long {
    bytes: Vec<u8>,
    gone: usize,
    /// A word of the order: no other one goes before it has gone.
    of_order: bool,
}

impl Speech {
    /// One thing more.
    pub(crate) fn add(&mut self, message: PeerMessage) {
        match message {
            PeerMessage::Quorum { bytes } => {
                if self.order.is_empty() || self.order_bytes + bytes.0.len() <= ORDER_BYTES_MAX {
                    self.order_bytes += bytes.0.len();
                    self.order.push_back(bytes);
                }
            }
            message => self.said.push_back(message),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty() && self.said.is_empty() && self.long.is_none()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next batch; empty where nothing waits.
    pub(crate) fn batch(&mut self) -> Vec<u8> {
        let mut batch = Vec::new();
        while batch.len() < CHUNK_BYTES {
            let begun = self.long.take_if(|long| long.of_order || self.order.is_empty());
            if let Some(long) = begun {
                self.write_piece(&mut batch, long);
            } else if let Some(bytes) = self.order.pop_front() {
                self.order_bytes -= bytes.0.len();
                self.say(&mut batch, PeerMessage::Quorum { bytes }, true);
            } else if let Some(message) = self.said.pop_front() {
                self.say(&mut batch, message, false);
            } else {
                break;
            }
        }
        batch
    }

    /// Only one message is cut at a time: a long frame of the log that comes meanwhile goes as a
    /// whole.
    fn say(&mut self, batch: &mut Vec<u8>, message: PeerMessage, of_order: bool) {
        let bytes = message.to_bytes();
        if bytes.len() > PIECE_BYTES && self.long.is_none() {
            self.long = Some(Long { bytes, gone: 0, of_order });
        } else {
            write_frame(batch, 0, &LinkFrame::Said { message });
        }
    }

    /// A piece of what is long.
    fn write_piece(&mut self, batch: &mut Vec<u8>, long: Long) {
        let Long { bytes, gone, of_order } = long;
        let end = (gone + PIECE_BYTES).min(bytes.len());
        let last = end == bytes.len();
        let piece = Blob(bytes[gone..end].to_vec());
        write_frame(batch, 0, &LinkFrame::Piece { bytes: piece, last });
        if !last {
            self.long = Some(Long { bytes, gone: end, of_order });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::frames::FRAME_BYTES_MAX;
    use pvm_wire::FrameBuffer;
    use pvm_wire::peer::Said;

    fn order(bytes: usize) -> PeerMessage {
        PeerMessage::Quorum { bytes: Blob(vec![1; bytes]) }
    }

    fn said(sequence: u64, bytes: usize) -> PeerMessage {
        let operator =
            pvm_wire::peer::Operator { host: pvm_wire::HostIndex(1), connection: 1, id: 1 };
        let tid = pvm_wire::Tid(0x40001);
        let bytes = Blob(vec![2; bytes]);
        PeerMessage::Ordered { sequence, said: Said::RunOutput { operator, tid, stream: 1, bytes } }
    }

    fn frames(batch: &[u8]) -> Vec<LinkFrame> {
        let mut frames = FrameBuffer::new(FRAME_BYTES_MAX);
        frames.push(batch);
        let next = || frames.next_frame().expect("whole frames").map(|(_, bytes)| bytes.to_vec());
        std::iter::from_fn(next).map(|bytes| LinkFrame::from_bytes(&bytes).unwrap()).collect()
    }

    #[test]
    fn the_order_goes_between_the_pieces_of_what_is_long() {
        let mut speech = Speech::default();
        let long = said(1, 3 * CHUNK_BYTES);
        speech.add(long.clone());
        speech.add(said(2, 10));
        let mut pieces = Vec::new();
        let mut rest = Vec::new();
        while !speech.is_empty() {
            let batch = speech.batch();
            assert!(batch.len() <= 2 * CHUNK_BYTES + 100, "{}", batch.len());
            for frame in frames(&batch) {
                match frame {
                    LinkFrame::Piece { bytes, .. } => pieces.extend(bytes.0),
                    LinkFrame::Said { message } => rest.push((pieces.len(), message)),
                    other => panic!("{other:?}"),
                }
            }
            if rest.is_empty() {
                speech.add(order(100));
            }
        }
        assert_eq!(PeerMessage::from_bytes(&pieces), Ok(long));
        assert_eq!(rest.last(), Some(&(pieces.len(), said(2, 10))));
        let between =
            |(at, message): &(usize, PeerMessage)| *at < pieces.len() && *message == order(100);
        assert!(rest.iter().any(between));
    }

    #[test]
    fn a_frame_of_the_order_was_so_long_that_beats_waited_a_second_on_a_slow_cable() {
        let mut speech = Speech::default();
        speech.add(order(64 << 10));
        speech.add(order(10));
        let (mut pieces, mut rest) = (Vec::new(), Vec::new());
        while !speech.is_empty() {
            for frame in frames(&speech.batch()) {
                match frame {
                    LinkFrame::Piece { bytes, .. } => {
                        assert!(bytes.0.len() <= PIECE_BYTES && rest.is_empty());
                        pieces.extend(bytes.0);
                    }
                    LinkFrame::Said { message } => rest.push(message),
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(PeerMessage::from_bytes(&pieces), Ok(order(64 << 10)));
        assert_eq!(rest, [order(10)]);
    }

    #[test]
    fn what_waits_of_the_order_is_bounded_and_nothing_else_is_dropped() {
        let mut speech = Speech::default();
        for number in 0..100 {
            speech.add(order(CHUNK_BYTES));
            speech.add(said(number, 10));
        }
        assert!(speech.order_bytes <= ORDER_BYTES_MAX);
        let mut numbers = Vec::new();
        while !speech.is_empty() {
            for frame in frames(&speech.batch()) {
                if let LinkFrame::Said { message: PeerMessage::Ordered { sequence, .. } } = frame {
                    numbers.push(sequence);
                }
            }
        }
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
        assert_eq!(speech.order_bytes, 0);
    }
}
