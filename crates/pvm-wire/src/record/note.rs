//! The types of records.

use crate::{Encoding, Tid};

/// No record has more cells.
pub const RECORD_CELLS_MAX: usize = 255;
/// A name in a record is cut here, at the beginning of a character.
pub const NAME_BYTES_MAX: usize = 4096;
/// A spawn of more children takes several records.
pub const CHILDREN_MAX: usize = (RECORD_CELLS_MAX - 1) * 7;
/// Calls deeper in each other than this are noted with this depth.
pub const DEPTH_MAX: u8 = 15;
/// Numbers of names in [`What::Mark`], [`What::State`] and [`What::Progress`] are below this.
pub const NAMES_MAX: u32 = 1 << 24;

/// One thing that a task noted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// When it began, in ticks.
    pub begin: u64,
    /// The duration in ticks. Above 2^47 it is given in steps of 65536. Above 2^47 it is told in
    /// steps of 65536.
    pub length: u64,
    /// The thread: a small number of the task's own.
    pub thread: u16,
    /// In how many calls of the same thread this one is, at most [`DEPTH_MAX`].
    pub depth: u8,
    /// The call ([`super::calls`]), of a part that of the call around it; 0xffff for none.
    pub call: u16,
    /// The result of the call.
    pub result: i32,
    /// True if this is no call but something inside of one.
    pub part: bool,
    /// The event.
    pub what: What,
}

impl Record {
    /// A call without arguments; the others are made of it by `..`.
    pub const fn call(call: u16, begin: u64, length: u64) -> Self {
        let what = What::Call { bytes: 0 };
        Self { begin, length, thread: 0, depth: 0, call, result: 0, part: false, what }
    }

    /// When it ended, in ticks.
    pub const fn end(&self) -> u64 {
        self.begin.saturating_add(self.length)
    }
}

/// A message, as its sender or its receiver sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The other task.
    pub peer: Tid,
    /// The tag.
    pub tag: i32,
    /// The context.
    pub context: i32,
    /// The number among the messages from this sender to this receiver, from 1 on; 0 where it is
    /// not known.
    pub number: u64,
    /// Bytes of its data.
    pub bytes: u64,
    /// The encoding of its data.
    pub encoding: Encoding,
    /// The path of the message.
    pub route: RouteKind,
    /// Daemons that it passes.
    pub hops: u8,
}

/// The kind of a record, with the fields of that kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// A call that has no kind of its own.
    Call {
        /// The bytes that it packed or unpacked.
        bytes: u64,
    },
    /// The thread waited.
    Wait {
        /// The reason.
        reason: Reason,
        /// The processor time of the thread, if it really slept.
        processor: Option<Processor>,
    },
    /// A message was sent; a call that sends to several has a part for each receiver.
    Send {
        /// The message.
        message: Transfer,
        /// Bytes with all that is around them; those of the data if there is nothing.
        wire: u64,
        /// Into how many pieces it was cut, 1 for a whole one.
        pieces: u32,
    },
    /// A message was taken.
    Receive {
        /// The message. A receive that did not ask for any sender asked for this one, and so on.
        message: Transfer,
        /// It asked for any sender.
        any_source: bool,
        /// It asked for any tag.
        any_tag: bool,
    },
    /// A look for a message: it was a probe, or there was none.
    Poll {
        /// The sender that was asked for, [`Tid`] 0 for any.
        source: Tid,
        /// The tag that was asked for, -1 for any.
        tag: i32,
        /// The context that was asked for.
        context: i32,
    },
    /// Data were copied inside of a call, or read from where another task has them.
    Copy {
        /// The number of bytes.
        bytes: u64,
    },
    /// A piece of a message was put on its way.
    Chunk {
        /// The message, with the bytes of this piece.
        message: Transfer,
    },
    /// A call of a group.
    Group {
        /// Its name's number.
        name: u32,
        /// Its members, as far as the call knew.
        members: u32,
        /// The caller's place in it.
        instance: u32,
        /// The root of a reduction and its like, -1 for none.
        root: i32,
        /// The tag.
        tag: i32,
        /// Items of a reduction, members of a barrier.
        count: u64,
    },
    /// Tasks were started.
    Spawn {
        /// Their tids, or error numbers as `pvm_spawn` gives them; at most [`CHILDREN_MAX`].
        children: Vec<i32>,
    },
    /// The program's own mark.
    Mark {
        /// Its name's number.
        name: u32,
        /// The value that the program tells with it.
        value: i64,
    },
    /// The program says what it does from now on.
    State {
        /// The name's number, 0 for nothing more.
        name: u32,
    },
    /// The program says how far it is.
    Progress {
        /// The text's number.
        name: u32,
        /// The part that is done,
        done: u64,
        /// and the whole.
        total: u64,
    },
    /// A direct route is negotiated.
    Route {
        /// With whom.
        peer: Tid,
        /// The step that was reached.
        step: RouteStep,
    },
    /// A number gets its name, for all later records of the task.
    Name {
        /// The class of the named thing.
        class: Class,
        /// The number.
        number: u32,
        /// At most [`NAME_BYTES_MAX`] bytes.
        text: Vec<u8>,
    },
    /// Records are missing between `begin` and its end.
    Gap {
        /// The reason of the loss.
        reason: Loss,
        /// The number of lost records.
        lost: u64,
    },
    /// The task's first record.
    Begin {
        /// The task that spawned it, [`Tid`] 0 for none.
        parent: Tid,
        /// Its process id.
        process: u32,
        /// Its program name's number.
        name: u32,
    },
    /// The task's last record.
    End {
        /// As `wait` tells it; -1 if it is not known.
        status: i32,
        /// Records that it noted.
        noted: u64,
        /// Records among them that found no room.
        lost: u64,
    },
}

/// The processor time of a thread around a wait, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Processor {
    /// When it went to sleep.
    pub begin: u64,
    /// When it went on.
    pub end: u64,
}

/// Enums of one byte: the numbers stay as they are.
macro_rules! numbered {
    ($($(#[$attr:meta])* pub enum $name:ident {
        $($(#[$vattr:meta])* $variant:ident = $number:literal),* $(,)?
    })*) => {$(
        $(#[$attr])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum $name { $($(#[$vattr])* $variant = $number),* }

        impl $name {
            /// All of them, by number.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// From its number.
            pub const fn from_number(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    )*};
}

numbered! {
    /// The kind of route that a message took.
    pub enum RouteKind {
        /// Not known.
        None = 0,
        /// Shared memory of one host.
        Memory = 1,
        /// A direct route between two hosts.
        Direct = 2,
        /// The links of the daemons.
        Daemons = 3,
        /// To the task itself.
        Own = 4,
    }

    /// The reason of a thread's wait.
    pub enum Reason {
        /// A message.
        Message = 0,
        /// An answer of its host.
        Answer = 1,
        /// The other members of a group.
        Group = 2,
        /// Room for what it sends.
        Room = 3,
        /// Something that is none of these.
        Other = 4,
        /// Its turn to compute (`pvm run --alone`).
        Turn = 5,
    }

    /// The steps in the negotiation of a direct route.
    pub enum RouteStep {
        /// The host was asked for one.
        Asked = 1,
        /// It stands.
        Stands = 2,
        /// There will be none for now.
        Refused = 3,
        /// It ended.
        Broke = 4,
    }

    /// The class of a named thing.
    pub enum Class {
        /// A program.
        Program = 1,
        /// A group.
        Group = 2,
        /// A mark.
        Mark = 3,
        /// A state.
        State = 4,
        /// A text of progress.
        Progress = 5,
        /// A call that [`super::calls`] does not know.
        Call = 6,
    }

    /// The reason why records are missing.
    pub enum Loss {
        /// The ring was full.
        Full = 1,
        /// The recorder was gone for a while.
        Recorder = 2,
        /// The ring held what makes no sense.
        Damaged = 3,
        /// The link to the host was gone.
        Link = 4,
        /// The file had its size.
        Size = 5,
        /// The task or its host ended while it wrote.
        Killed = 6,
    }
}
