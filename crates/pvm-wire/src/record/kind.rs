//! The numbers of the kinds of records ([`super::What`]), in cells and in files alike.

/// A call that has no kind of its own.
pub const CALL: u8 = 1;
/// A wait.
pub const WAIT: u8 = 2;
/// A message sent.
pub const SEND: u8 = 3;
/// A message taken.
pub const RECEIVE: u8 = 4;
/// A look for a message.
pub const POLL: u8 = 5;
/// Data copied.
pub const COPY: u8 = 6;
/// A piece of a message.
pub const CHUNK: u8 = 7;
/// A group call.
pub const GROUP: u8 = 8;
/// Tasks started.
pub const SPAWN: u8 = 9;
/// A program's mark.
pub const MARK: u8 = 10;
/// A program's state.
pub const STATE: u8 = 11;
/// The progress of a program.
pub const PROGRESS: u8 = 12;
/// The state of a direct route.
pub const ROUTE: u8 = 13;
/// A name given to a number.
pub const NAME: u8 = 14;
/// Records that are missing.
pub const GAP: u8 = 15;
/// A task begins.
pub const BEGIN: u8 = 16;
/// A task ends.
pub const END: u8 = 17;
