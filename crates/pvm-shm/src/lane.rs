//! A ring of cells that one sender fills and one receiver empties.
//!
//! ```text
//! segment:  0  consumed   64  watched   256 + 256 k  cell k
//! cell:     0 stamp u32   4 head (44 bytes)   48 payload (208 bytes)
//! ```
//! A cell begins with the fields that a receive looks at first, so that a message of up to 16 bytes
//! is one cache line.
//!
//! The stamp of the cell for position `p` becomes `p + 1` when the cell is complete, and the
//! receiver reads nothing before. A message of a few kilobytes goes on behind its cell, in all
//! bytes of further cells but their stamps; it is complete when its first cell is. Those cells are
//! stamped, too, so that each stamp in a ring is of this round or the one before: the 2^32
//! positions after which a stamp would come again are many rounds away. A sender that dies before
//! its first cell is complete has sent nothing. One cell is always kept back: when the ring is
//! full, the sender writes *moved* into it and goes on in a larger ring, so that a send neither
//! waits for its receiver nor overtakes an earlier one.

mod cell;
mod head;
mod kind;
mod receiver;
mod ring;
mod room;
mod sender;

pub use cell::{CELL_SIZE, Cell, Content, LINE_MAX, SLAB_PAYLOAD_MAX, SPANNING_MAX};
pub use head::{Head, Key};
pub use kind::{INLINE_MAX, Kind};
pub use receiver::{Popped, Receiver};
pub use ring::{HEADER_SIZE, Header, Ring, segment_size};
pub use room::{Room, room_for, try_room_for};
pub use sender::{Full, Sender};

/// Cells of a new lane: with the header they take two pages, so that two such rings leave half of a
/// first-level cache of 32 KiB to the program.
pub const CELLS_FIRST: u32 = 31;
/// A ring that is full is followed by one this many times as large.
pub const GROWTH: u32 = 8;
/// No ring is larger: 16 MiB.
pub const CELLS_MAX: u32 = 1 << 16;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::cell::FOLLOWING;
    use super::*;
    use crate::sync::Ordering;
    use pvm_wire::{Address, Context, Encoding, Envelope, Layout, Tag, Tid};

    /// Takes the next message on the fast path, if it has this tag, or any.
    fn take(receiver: &mut Receiver, tag: Option<i32>, room: &mut [u8]) -> Option<(Head, usize)> {
        let mut about = Head::NONE;
        let wanted = (Tid(1), Key::new(Context(0), tag.map(Tag)));
        let wanted = (wanted.0, &wanted.1);
        // `take_few` takes messages of a few bytes; `take` takes the rest.
        let few = receiver.take_few(wanted, &mut about, room, || true).map(|(size, _)| size);
        few.or_else(|| receiver.take(wanted, &mut about, room)).map(|size| (about, size))
    }

    fn envelope(sequence: u64) -> Envelope {
        let mut envelope = Envelope::new(Tid(1), Address::new(Tid(2), Tag(3), Context::FIRST));
        envelope.sequence = sequence;
        envelope
    }

    fn pop(receiver: &mut Receiver) -> Option<(Popped, Room)> {
        let mut room = room_for(0);
        Some((receiver.pop(&mut room)?, room))
    }

    fn sequence(popped: &Popped) -> u64 {
        popped.envelope.expect("our own").sequence
    }

    #[test]
    fn messages_come_out_in_order_over_many_laps() {
        let ring = Ring::on_heap(8);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        let (mut sent, mut received) = (0, 0);
        for step in 0..1000u64 {
            for _ in 0..step % 9 {
                sent += u64::from(sender.push(Kind::Inline, &envelope(sent), b"x").is_ok());
            }
            for _ in 0..step % 7 {
                let Some((popped, _)) = pop(&mut receiver) else { break };
                assert_eq!((sequence(&popped), popped.size), (received, 1));
                received += 1;
            }
        }
        while pop(&mut receiver).is_some() {
            received += 1;
        }
        assert_eq!(sent, received);
        assert!(ring.is_drained());
    }

    #[test]
    fn every_part_of_an_envelope_comes_out_of_the_cell() {
        let ring = Ring::on_heap(8);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring));
        let mut sent = Envelope {
            encoding: Encoding::Raw,
            layout: Layout::Big32,
            flags: 0x81,
            wait_id: -5,
            data_size: 200,
            run_count: 1,
            first_run: u64::MAX - 7,
            ..Envelope::new(Tid(u32::MAX), Address::new(Tid(77), Tag(-1), Context(i32::MIN)))
        };
        sent.sequence = u64::MAX;
        sender.push(Kind::Inline, &sent, &[7; 200]).expect("room");
        let (popped, room) = pop(&mut receiver).expect("sent");
        assert_eq!((popped.envelope, popped.size, room[199]), (Some(sent), 200, 7));
        (sent.data_size, sent.run_count) = (u64::MAX, u32::MAX);
        sender.push(Kind::Slab, &sent, &[9; SLAB_PAYLOAD_MAX]).expect("room");
        let (popped, room) = pop(&mut receiver).expect("sent");
        assert_eq!((popped.envelope, popped.size), (Some(sent), SLAB_PAYLOAD_MAX));
        assert_eq!(room[..popped.size], [9; SLAB_PAYLOAD_MAX]);
    }

    #[test]
    fn a_full_ring_still_has_the_cell_to_say_where_it_goes_on() {
        let ring = Ring::on_heap(4);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        for i in 0..3 {
            assert_eq!(sender.push(Kind::Inline, &envelope(i), &[]), Ok(()));
        }
        assert_eq!(sender.push(Kind::Inline, &envelope(3), &[]), Err(Full));
        sender.push_moved(77);
        assert!(!ring.is_drained());
        for i in 0..3 {
            assert_eq!(sequence(&pop(&mut receiver).expect("sent").0), i);
        }
        let (moved, room) = pop(&mut receiver).expect("moved");
        assert_eq!((moved.kind, &room[..4]), (Kind::Moved as u8, &77u32.to_ne_bytes()[..]));
        assert!(pop(&mut receiver).is_none() && ring.is_drained());
    }

    #[test]
    fn a_second_receiver_goes_on_where_the_first_one_stopped() {
        let ring = Ring::on_heap(8);
        let mut sender = Sender::new(ring.clone());
        for i in 0..5 {
            sender.push(Kind::Inline, &envelope(i), &[]).expect("room");
        }
        let mut first = Receiver::new(ring.clone());
        while pop(&mut first).is_some() {}
        sender.push(Kind::Inline, &envelope(5), &[]).expect("room");
        let (popped, _) = pop(&mut Receiver::new(ring)).expect("one more");
        assert_eq!(sequence(&popped), 5);
    }

    #[test]
    fn what_was_read_ahead_and_not_confirmed_is_read_again_by_the_next_receiver() {
        let ring = Ring::on_heap(4);
        let (mut sender, mut first) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        for i in 0..3 {
            sender.push(Kind::Inline, &envelope(i), &[]).expect("room");
        }
        let mut room = room_for(0);
        while first.pop_ahead(&mut room).is_some() {}
        assert_eq!(sender.push(Kind::Inline, &envelope(3), &[]), Err(Full));
        first.confirm(1);
        sender.push(Kind::Inline, &envelope(3), &[]).expect("one is done with");
        let mut second = Receiver::new(ring.clone());
        for i in 1..4 {
            assert_eq!(sequence(&second.pop_ahead(&mut room).expect("not confirmed")), i);
            second.confirm(1);
        }
        second.confirm(1);
        assert!(second.pop_ahead(&mut room).is_none() && ring.is_drained());
    }

    #[test]
    fn a_receiver_that_lies_about_its_progress_gets_nothing_overwritten() {
        let ring = Ring::on_heap(4);
        let mut sender = Sender::new(ring.clone());
        ring.header().consumed.0.store(u64::MAX, Ordering::Relaxed);
        for i in 0..3 {
            assert_eq!(sender.push(Kind::Inline, &envelope(i), &[]), Ok(()));
        }
        assert_eq!(sender.push(Kind::Inline, &envelope(3), &[]), Err(Full));
    }

    #[test]
    fn only_a_wanted_message_is_taken_and_the_rest_stays_as_it_is() {
        let ring = Ring::on_heap(8);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring));
        let mut first = envelope(1);
        first.data_size = 3;
        first.encoding = Encoding::Raw;
        sender.push(Kind::Inline, &first, b"abc").expect("room");
        // Its size is not the envelope's: nobody's but the slow way's to judge.
        sender.push(Kind::Inline, &envelope(2), b"abc").expect("room");
        let mut room = room_for(0);
        assert!(take(&mut receiver, Some(4), &mut room).is_none());
        let (taken, size) = take(&mut receiver, Some(3), &mut room).expect("wanted");
        assert_eq!((taken.envelope(), &room[..size]), (Some(first), &b"abc"[..]));
        assert!(take(&mut receiver, None, &mut room).is_none());
        assert_eq!(sequence(&pop(&mut receiver).expect("still there").0), 2);
        assert!(take(&mut receiver, None, &mut room).is_none());
    }

    #[test]
    fn a_message_in_several_cells_comes_out_whole_wherever_the_ring_ends() {
        let ring = Ring::on_heap(32);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        // Miri is slow.
        let sizes = (209..SPANNING_MAX).step_by(if cfg!(miri) { 971 } else { 97 });
        for size in sizes.chain([SPANNING_MAX, 209, 448, 449, 700]) {
            let body: Vec<u8> = (0..size).map(|i| (i * 7 + size) as u8).collect();
            let mut sent = envelope(size as u64);
            (sent.encoding, sent.data_size) = (Encoding::Raw, size as u64);
            sender.push(Kind::Spanning, &sent, &body).expect("it was emptied");
            assert!(!ring.is_drained());
            if size % 2 == 0 {
                let (popped, room) = pop(&mut receiver).expect("sent");
                assert_eq!((popped.envelope, &room[..popped.size]), (Some(sent), &body[..]));
                receiver.report();
            } else {
                let mut room = room_for(size - 1);
                if room.len() < size {
                    assert!(take(&mut receiver, None, &mut room).is_none());
                    room = room_for(size);
                }
                let (taken, taken_size) = take(&mut receiver, None, &mut room).expect("sent");
                assert_eq!((taken.sequence(), &room[..taken_size]), (sent.sequence, &body[..]));
                receiver.report();
            }
            assert!(ring.is_drained(), "{size}");
            assert!(pop(&mut receiver).is_none(), "{size}");
        }
    }

    #[test]
    fn a_message_in_several_cells_is_whole_with_its_last_cell_whatever_lay_there_before() {
        let ring = Ring::on_heap(8);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring));
        let mut spanning = envelope(1);
        (spanning.encoding, spanning.data_size) = (Encoding::Raw, 1000);
        // Every stamp that the ring could come to.
        let body: Vec<u8> = (0..250u32).flat_map(|i| (i % 24).to_ne_bytes()).collect();
        sender.push(Kind::Spanning, &spanning, &body).expect("five of seven cells");
        assert_eq!(sender.push(Kind::Spanning, &spanning, &body), Err(Full));
        for i in 0..2 {
            sender.push(Kind::Inline, &envelope(2 + i), &[]).expect("a cell");
        }
        assert_eq!(sender.push(Kind::Inline, &envelope(4), &[]), Err(Full));
        for i in 1..4 {
            assert_eq!(sequence(&pop(&mut receiver).expect("sent").0), i);
        }
        for lap in 0..30 {
            assert!(pop(&mut receiver).is_none(), "{lap}: nothing was sent");
            let one: &[u8] = if lap % 3 == 0 { &body } else { &[] };
            let kind = if lap % 3 == 0 { Kind::Spanning } else { Kind::Inline };
            let plain = if lap % 3 == 0 { spanning } else { envelope(9) };
            sender.push(kind, &plain, one).expect("it was emptied");
            assert_eq!(pop(&mut receiver).expect("sent").0.size, one.len());
        }
    }

    /// Sends a message of `cells` cells and reads it at once.
    fn pass(sender: &mut Sender, receiver: &mut Receiver, cells: usize) {
        assert!(pop(receiver).is_none(), "nothing was sent");
        let size = if cells == 1 { 8 } else { SLAB_PAYLOAD_MAX + (cells - 1) * FOLLOWING };
        let mut about = envelope(cells as u64);
        (about.encoding, about.data_size) = (Encoding::Raw, size as u64);
        let kind = if cells == 1 { Kind::Inline } else { Kind::Spanning };
        sender.push(kind, &about, &vec![cells as u8; size]).expect("it was emptied");
        let (popped, room) = pop(receiver).expect("sent");
        assert_eq!((popped.envelope, popped.cells), (Some(about), cells));
        assert_eq!(room[..popped.size], vec![cells as u8; size]);
        receiver.report();
    }

    #[test]
    fn a_stamp_that_comes_again_after_2_to_the_32_cells_completes_nothing() {
        let round = 1u64 << 32;
        // Miri is slow.
        for &cells in if cfg!(miri) { &[8][..] } else { &[8, 31, 256] } {
            let ring = Ring::on_heap(cells);
            let mut position = 5 * cells as u64;
            // Each cell has a stamp of its own by now.
            let mut receiver = {
                let mut sender = Sender::at(ring.clone(), position);
                let mut receiver = Receiver::new(ring.clone());
                (0..cells).for_each(|_| pass(&mut sender, &mut receiver, 1));
                receiver
            };
            receiver.report();
            // Many rounds later, where only every second one begins a message, up to where those
            // stamps come again.
            position += round * cells as u64 - 10 * cells as u64;
            let mut sender = Sender::at(ring.clone(), position);
            let mut receiver = Receiver::new(ring);
            for _ in 0..5 * cells {
                pass(&mut sender, &mut receiver, 2);
            }
            for length in [1, 2, 2, 3, 1, 4].into_iter().cycle().take(40 * cells) {
                pass(&mut sender, &mut receiver, length);
            }
        }
    }

    #[test]
    fn positions_go_on_where_their_stamps_begin_again() {
        for cells in [8, 31] {
            let ring = Ring::on_heap(cells);
            let mut sender = Sender::at(ring.clone(), (1 << 32) - 20);
            let mut receiver = Receiver::new(ring);
            for length in [1, 2, 1, 3, 4].into_iter().cycle().take(100) {
                pass(&mut sender, &mut receiver, length);
            }
        }
    }

    #[test]
    fn a_length_that_lies_is_nonsense_of_one_cell() {
        let ring = Ring::on_heap(8);
        let (mut sender, mut receiver) = (Sender::new(ring.clone()), Receiver::new(ring.clone()));
        for lie in [0, 208, 1 << 12, (1 << 12) + 1, u64::MAX] {
            let mut liar = envelope(1);
            (liar.encoding, liar.data_size) = (Encoding::Raw, lie);
            // As a slab's descriptor, the envelope is taken as it is.
            sender.push(Kind::Slab, &liar, b"no body").expect("room");
            ring.cells()[receiver.at()].content.with_mut(|content| {
                // SAFETY: nobody else is there.
                unsafe { content.cast::<u8>().write(Kind::Spanning as u8) }
            });
            let mut room = room_for(0);
            assert!(take(&mut receiver, None, &mut room).is_none());
            let (popped, _) = pop(&mut receiver).expect("something");
            assert_eq!((popped.envelope, popped.size, popped.cells), (None, 0, 1), "{lie}");
        }
    }
}
