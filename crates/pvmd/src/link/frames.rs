//! The frames of a link, once both ends have proved their keys.

use pvm_wire::peer::{HostFacts, PeerMessage};
use pvm_wire::spread::Receiver;
use pvm_wire::{Blob, Envelope, HostIndex, Wire as _, choice};
use std::sync::Arc;

/// Most of a message's body, or of something said, in one frame: no other frame waits long behind
/// either.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;
/// The largest frame.
pub(crate) const FRAME_BYTES_MAX: usize = 4 << 20;

choice! {
    /// One frame.
    pub enum LinkFrame {
        /// First on every connection, from both sides.
        1 => Hello {
            /// The protocol's version.
            version: u16,
            /// The sender's place, 0 if it has none yet.
            host: HostIndex,
        },
        /// To a new host: its place, and the other hosts.
        2 => Admitted {
            /// The new host's place.
            host: HostIndex,
            /// The first host's place.
            first: HostIndex,
            /// All hosts.
            hosts: Vec<(HostIndex, Arc<HostFacts>)>,
        },
        /// The machines to each other.
        3 => Said {
            /// The message.
            message: PeerMessage,
        },
        /// The sender's host ends now.
        7 => Goodbye,
        /// The receiver was taken out of the machine.
        70 => Removed {
            /// The number of times that a host of the sender's machine went on alone.
            era: u64,
        },
        /// The sender lives and has nothing to say.
        71 => Beat,
        /// The link was not used for a while, and the sender would close it: if the other side
        /// agrees it says the same and closes.
        72 => Rest,
        /// A part of something said that is too long for one frame.
        8 => Piece {
            /// The bytes.
            bytes: Blob,
            /// True for the last one.
            last: bool,
        },
        /// A message between tasks begins, with the first part of its body. Messages of one
        /// stream come one after the other; parts of different streams may alternate.
        10 => Begin {
            /// The sender's number for a lane of its own.
            stream: u32,
            /// Its envelope.
            envelope: Envelope,
            /// The receivers, if there are several.
            receivers: Vec<Receiver>,
            /// The first bytes.
            bytes: Blob,
        },
        /// More of the body.
        11 => More {
            /// The stream.
            stream: u32,
            /// The bytes.
            bytes: Blob,
        },
        /// More messages of a stream lie in the inboxes of their receivers.
        12 => Delivered {
            /// The stream.
            stream: u32,
            /// The number of further messages that have been delivered.
            count: u32,
        },
        /// Memory lacks for the next message of this stream that was not delivered: it and those
        /// behind it must be sent again, as another stream.
        13 => Again {
            /// The stream.
            stream: u32,
        },
    }
}

/// Writes a frame that ends with `size` bytes of a body, without a copy of them between: what
/// `write_frame` makes of [`LinkFrame::Begin`] and [`LinkFrame::More`].
pub(crate) fn write_body(
    out: &mut Vec<u8>,
    head: BodyHead<'_>,
    size: usize,
    fill: impl FnOnce(&mut [u8]),
) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    match head {
        BodyHead::Begin { stream, envelope, receivers } => {
            10u16.encode(out);
            stream.encode(out);
            envelope.encode(out);
            (receivers.len() as u32).encode(out);
            receivers.iter().for_each(|receiver| receiver.encode(out));
        }
        BodyHead::More { stream } => {
            11u16.encode(out);
            stream.encode(out);
        }
    }
    (size as u32).encode(out);
    let body = out.len();
    out.resize(body + size, 0);
    fill(&mut out[body..]);
    let length = (out.len() - start - 8) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// The fields before the bytes.
#[derive(Clone, Copy)]
pub(crate) enum BodyHead<'a> {
    /// See [`LinkFrame::Begin`].
    Begin { stream: u32, envelope: &'a Envelope, receivers: &'a [Receiver] },
    /// See [`LinkFrame::More`].
    More { stream: u32 },
}

#[cfg(test)]
mod tests {
    use super::*;
    use pvm_wire::{Address, Context, Tag, Tid, write_frame};

    #[test]
    fn bodies_are_written_as_the_frames_that_are_read() {
        let envelope =
            Envelope::new(Tid(0x40001), Address::new(Tid(0x80000), Tag(3), Context::FIRST));
        let receivers = vec![Receiver { tid: Tid(0x80001), sequence: 7 }];
        let bytes = Blob(b"some bytes".to_vec());
        let head = BodyHead::Begin { stream: 9, envelope: &envelope, receivers: &receivers };
        let more = BodyHead::More { stream: 9 };
        let frames = [
            LinkFrame::Begin {
                stream: 9,
                envelope,
                receivers: receivers.clone(),
                bytes: bytes.clone(),
            },
            LinkFrame::More { stream: 9, bytes: bytes.clone() },
        ];
        for (head, frame) in [head, more].into_iter().zip(frames) {
            let (mut by_hand, mut as_frame) = (vec![1], vec![1]);
            write_body(&mut by_hand, head, bytes.0.len(), |out| out.copy_from_slice(&bytes.0));
            write_frame(&mut as_frame, 0, &frame);
            assert_eq!(by_hand, as_frame);
        }
    }
}
