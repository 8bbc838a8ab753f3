//! What crosses a link, once both ends have proved their keys.

use pvm_wire::peer::{HostFacts, PeerMessage};
use pvm_wire::{Blob, Envelope, HostIndex, choice};

/// Most of a message's body in one frame, so that nobody waits long behind a large message.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;
/// Something said that is longer goes in pieces.
pub(crate) const SAID_BYTES_MAX: usize = 1 << 20;
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
            /// A number for the sender's daemon process.
            incarnation: u64,
            /// The incarnation of the receiver that the next number is about.
            known: u64,
            /// The last message of that incarnation which has been delivered here.
            delivered: u64,
        },
        /// To a new host: its place, and who else is there.
        2 => Admitted {
            /// The new host's place.
            host: HostIndex,
            /// The first host's place.
            first: HostIndex,
            /// All hosts.
            hosts: Vec<(HostIndex, HostFacts)>,
        },
        /// The machines to each other.
        3 => Said {
            /// What.
            message: PeerMessage,
        },
        /// A message between tasks begins. Its body follows.
        4 => Begin {
            /// Its number on this link.
            sequence: u64,
            /// Its envelope.
            envelope: Envelope,
        },
        /// More of the body.
        5 => More {
            /// The bytes.
            bytes: Blob,
        },
        /// Messages have been put into the inboxes of their receivers.
        6 => Delivered {
            /// The last of them.
            through: u64,
        },
        /// The sender's host ends now.
        7 => Goodbye,
        /// The receiver was taken out of the machine.
        70 => Removed {
            /// How often somebody of the sender's machine went on alone.
            era: u64,
        },
        /// A part of something said that is too long for one frame.
        8 => Piece {
            /// The bytes.
            bytes: Blob,
            /// True for the last one.
            last: bool,
        },
    }
}
