//! Tag, context and address of a message: types for numbers that must not change places.

use crate::Tid;

/// The number by which a program tells its messages apart; below 0 only what is reserved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Tag(pub i32);

/// The number that keeps messages of libraries and programs apart; 0 is the one that all begin in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Context(pub i32);

/// The destination of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// The receiver.
    pub to: Tid,
    /// The tag under which it is sent.
    pub tag: Tag,
    /// The context in which it is sent.
    pub context: Context,
}
