//! What lists of named messages and of groups show.

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
