//! The messages between a task without shared memory and its proxy.
//!
//! Such a task says [`crate::request::Role::Remote`] in its hello. The host then starts a process
//! that enrols for it, holds its segments, and from the welcome on reads the task's socket itself.
//! Each [`Ask`] is a frame and gets one [`Answer`] of the same number, but for [`Ask::Part`],
//! [`Ask::Cancel`], [`Ask::Fetch`], [`Ask::Refuse`] and [`Ask::Say`], which get none. What waits
//! does not hold up what is asked later.
//!
//! The body of a message that is longer than [`PART_BYTES_MAX`] goes ahead of it in parts of the
//! same number: the body of the message is what the parts held, then what stands in the message
//! itself. A task gets such a message when it has said that it has room for it.

use crate::request::Request;
use crate::{Blob, Code, Envelope, Message, Tid, choice};

/// A body longer than this is cut, both ways.
pub const PART_BYTES_MAX: usize = 1 << 20;

choice! {
    /// From the task.
    pub enum Ask {
        /// A request of the library to the host, except requests for segments.
        1 => Host {
            /// The request.
            request: Request,
        },
        /// The next bytes of a body.
        2 => Part {
            /// The bytes.
            bytes: Blob,
        },
        /// `pvm_send`; to several tasks it is `pvm_mcast`.
        3 => Send {
            /// The receivers.
            to: Vec<Tid>,
            /// The context.
            context: i32,
            /// The tag.
            tag: i32,
            /// Its envelope says encoding, layout, runs and size; of the addresses nothing is read.
            message: Message,
        },
        /// `pvm_bcast`.
        4 => Broadcast {
            /// The group.
            group: Blob,
            /// The context.
            context: i32,
            /// The tag.
            tag: i32,
            /// As in `Send`.
            message: Message,
        },
        /// `pvm_recv`, `pvm_nrecv`, `pvm_trecv`.
        5 => Receive {
            /// The context.
            context: i32,
            /// The sender, -1 for any.
            source: i32,
            /// The tag, -1 for any.
            tag: i32,
            /// The timeout in nanoseconds; below 0 for ever.
            limit: i64,
        },
        /// `pvm_probe`.
        6 => Probe {
            /// The context.
            context: i32,
            /// The sender, -1 for any.
            source: i32,
            /// The tag, -1 for any.
            tag: i32,
        },
        /// The ask of this frame's number need not wait longer: a receive, a barrier, or what the
        /// host was asked. It is answered at once, with what has come of it before, or as if it had
        /// never been asked.
        7 => Cancel,
        /// `pvm_joingroup`.
        8 => Join {
            /// The group.
            group: Blob,
        },
        /// `pvm_lvgroup`.
        9 => LeaveGroup {
            /// The group.
            group: Blob,
        },
        /// The members of a group.
        10 => Members {
            /// The group.
            group: Blob,
        },
        /// `pvm_freezegroup`.
        11 => Freeze {
            /// The group.
            group: Blob,
            /// Its size; -1 for its size now.
            size: i32,
        },
        /// `pvm_barrier`.
        12 => Barrier {
            /// The group.
            group: Blob,
            /// Members to wait for; -1 for all.
            count: i32,
        },
        /// The behaviour of sends that find no room: 0 spill, 1 wait, 2 fail.
        13 => WhenFull {
            /// The policy; any other number changes nothing.
            policy: i32,
        },
        /// `pvm_exit`; the proxy ends once it has answered.
        14 => Leave,
        /// There is room for the message that was announced to the receive of this frame's number.
        15 => Fetch,
        /// There is none: the receive is over, and the message is the first again for receives that
        /// are asked later.
        16 => Refuse,
        /// Takes a message that a receive would get, and forgets it.
        17 => Discard {
            /// The context.
            context: i32,
            /// The sender, -1 for any.
            source: i32,
            /// The tag, -1 for any.
            tag: i32,
        },
        /// A statement of the program, for its trace. It gets no answer.
        18 => Say {
            /// The kind of statement.
            saying: Saying,
            /// Its name; empty for none.
            name: Blob,
            /// A mark's value, or how much is done.
            value: i64,
            /// The total.
            total: u64,
        },
    }

    /// A kind of statement of a program.
    #[derive(Copy)]
    pub enum Saying {
        /// A mark.
        1 => Mark,
        /// The state from now on.
        2 => State,
        /// The progress of the program.
        3 => Progress,
    }

    /// From the proxy.
    pub enum Answer {
        /// Done, or nothing was there within the time.
        1 => Done,
        /// Refused or failed.
        2 => Failed {
            /// The reason.
            code: Code,
        },
        /// To [`Ask::Host`].
        3 => Host {
            /// The host's answer.
            reply: crate::request::Reply,
        },
        /// The next bytes of a body.
        4 => Part {
            /// The bytes.
            bytes: Blob,
        },
        /// To [`Ask::Receive`].
        5 => Received {
            /// The message. Its items lie as its layout says.
            message: Message,
        },
        /// To [`Ask::Probe`].
        6 => Probed {
            /// The message's.
            envelope: Envelope,
            /// Its length as `pvm_bufinfo` tells it.
            bytes: u64,
        },
        /// To [`Ask::Join`], [`Ask::Freeze`] and [`Ask::WhenFull`]: what it was before. To
        /// [`Ask::Discard`]: 1 if there was a message.
        7 => Number {
            /// The number.
            value: i32,
        },
        /// To [`Ask::Members`].
        8 => Members {
            /// By instance; 0 marks a hole.
            tids: Vec<Tid>,
        },
        /// To [`Ask::Barrier`] and [`Ask::Host`] that were cancelled: nothing has come of it.
        9 => Withdrawn,
        /// To [`Ask::Receive`], before a body that goes in parts: it comes, in the same answer,
        /// behind [`Ask::Fetch`].
        10 => Announced {
            /// The message's.
            envelope: Envelope,
            /// Bytes of its body.
            bytes: u64,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, Context, Tag, Wire as _};

    #[test]
    fn what_tasks_and_proxies_say_survives_the_way_there_and_back() {
        let envelope =
            Envelope::new(Tid(0x40001), Address::new(Tid(0x40002), Tag(7), Context::FIRST));
        let message = Message::of_ints(envelope, &[1, -2]);
        let ask = Ask::Send { to: vec![Tid(0x40002)], context: 0, tag: 7, message };
        assert_eq!(Ask::from_bytes(&ask.to_bytes()), Ok(ask));
        let answer = Answer::Probed { envelope, bytes: 8 };
        assert_eq!(Answer::from_bytes(&answer.to_bytes()), Ok(answer));
    }
}
