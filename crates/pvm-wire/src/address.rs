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

impl Context {
    /// The context in which all tasks begin.
    pub const FIRST: Self = Self(0);
}

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

impl Address {
    /// The address of messages to `to` with this tag in this context.
    pub const fn new(to: Tid, tag: Tag, context: Context) -> Self {
        Self { to, tag, context }
    }

    /// The address of messages to `to` with tag 0 in the first context.
    pub const fn untagged(to: Tid) -> Self {
        Self::new(to, Tag(0), Context::FIRST)
    }
}
