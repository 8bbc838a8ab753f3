//! The entries of lists of named messages and of groups.

use crate::{Blob, Tid, record};

record! {
    /// One line of `pvm_getmboxinfo`.
    pub struct MailboxInfo {
        /// The name.
        pub name: Blob,
        /// Index, owner and flags of each entry.
        pub entries: Vec<MailboxEntry>,
    }

    /// One entry of a name.
    pub struct MailboxEntry {
        /// The index.
        pub index: i32,
        /// The owner, 0 for a persistent entry whose owner is gone.
        pub owner: Tid,
        /// The flags that it was put with.
        pub flags: i32,
    }

    /// A group in a list.
    pub struct GroupInfo {
        /// Name.
        pub name: Blob,
        /// Its members by instance; 0 marks a hole.
        pub members: Vec<Tid>,
        /// Tasks that wait at its barrier.
        pub waiting: u32,
    }
}

/// The tag of a message that is put under a name at exactly this index (0 or more), by
/// `pvm_insert`.
pub const fn inserted_tag(index: i32) -> i32 {
    !index
}

/// At which index a message is to be put exactly; none where its tag does not say so.
pub fn inserted_at(tag: i32) -> Option<i32> {
    (tag < 0).then_some(!tag)
}
