//! All that a store holds, as bytes: a server that joins begins with it.

use crate::ops::{Find, Full, Outcome};
use crate::tuple::Tuple;
use pvm_wire::{Tid, record};

record! {
    /// A tuple of the space that is free.
    pub struct Kept {
        /// The tuple.
        pub tuple: Tuple,
        /// The number of times that it came back.
        pub tries: u32,
    }

    /// A client's request that waits for a tuple.
    pub struct Waiting {
        /// The client.
        pub client: Tid,
        /// The request's number.
        pub number: u64,
        /// The template of the wanted tuple.
        pub template: Tuple,
        /// The use of that tuple.
        pub how: Find,
        /// Since when.
        pub since: u64,
        /// It ends after so many milliseconds; 0 has no end.
        pub limit_ms: u64,
    }

    /// Tuples for which there is no room yet.
    pub struct Blocked {
        /// The client.
        pub client: Tid,
        /// The request's number.
        pub number: u64,
        /// The tuples.
        pub tuples: Vec<Tuple>,
        /// Since when.
        pub since: u64,
    }

    /// A claimed tuple.
    pub struct Claim {
        /// By whom.
        pub client: Tid,
        /// The tuple's number, which is its age.
        pub id: u64,
        /// The tuple.
        pub tuple: Tuple,
        /// The number of times that it came back before.
        pub tries: u32,
        /// Its lease; 0 has no end.
        pub lease_ms: u64,
        /// Since when.
        pub since: u64,
    }

    /// An answer that a client got.
    pub struct Remembered {
        /// The client.
        pub client: Tid,
        /// It has the answers to all requests below this one.
        pub settled: u64,
        /// The answers that it may not have.
        pub answered: Vec<(u64, Outcome)>,
        /// The numbers of the tuples that these requests have taken.
        pub taken: Vec<(u64, Vec<u64>)>,
    }

    /// A store. Lists are in the order of their numbers.
    pub struct Snapshot {
        /// The most bytes that the space may have.
        pub limit: u64,
        /// The effect of a put where there is no room.
        pub when_full: Full,
        /// The last number that was given.
        pub last: u64,
        /// Free tuples.
        pub tuples: Vec<(u64, Kept)>,
        /// Claimed ones.
        pub claims: Vec<(u64, Claim)>,
        /// The waiters.
        pub waiting: Vec<(u64, Waiting)>,
        /// The puts that wait for room.
        pub blocked: Vec<Blocked>,
        /// Clients.
        pub clients: Vec<Remembered>,
    }
}
