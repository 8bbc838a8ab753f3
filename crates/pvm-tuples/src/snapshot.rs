//! The whole content of a store as bytes, with which a server that joins begins.

use crate::ops::{Find, Full, Outcome};
use crate::tuple::Tuple;
use pvm_wire::{Tid, record};
use std::num::NonZeroU64;

record! {
    /// A free tuple of the space.
    pub struct Kept {
        /// The tuple.
        pub tuple: Tuple,
        /// The number of times that it came back from a claim.
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
        /// The time at which the wait began.
        pub since: u64,
        /// The limit of the wait in milliseconds, if it has one.
        pub limit_ms: Option<NonZeroU64>,
    }

    /// A put that waits for room.
    pub struct Blocked {
        /// The client.
        pub client: Tid,
        /// The request's number.
        pub number: u64,
        /// The tuples.
        pub tuples: Vec<Tuple>,
        /// The time at which the wait began.
        pub since: u64,
    }

    /// A claimed tuple.
    pub struct Claim {
        /// The client that holds the claim.
        pub client: Tid,
        /// The tuple's number, which is its age.
        pub id: u64,
        /// The tuple.
        pub tuple: Tuple,
        /// The number of times that the tuple came back from earlier claims.
        pub tries: u32,
        /// The lease in milliseconds, if it ends.
        pub lease_ms: Option<NonZeroU64>,
        /// The time at which the claim, or its lease, began.
        pub since: u64,
    }

    /// The answers that a client has received or may repeat its request for.
    pub struct Remembered {
        /// The client.
        pub client: Tid,
        /// The client has the answers to all requests below this one, but those that wait or
        /// have an answer here.
        pub settled: u64,
        /// The answers that it may not have received.
        pub answered: Vec<(u64, Outcome)>,
        /// The numbers of the tuples that these requests have taken.
        pub taken: Vec<(u64, Vec<u64>)>,
    }

    /// The whole content of a store. Lists are in the order of their numbers.
    pub struct Snapshot {
        /// The most bytes that the space may hold.
        pub limit: u64,
        /// The effect of a put that finds no room.
        pub when_full: Full,
        /// The last number that was given to a tuple, a waiter or a claim.
        pub last: u64,
        /// The free tuples.
        pub tuples: Vec<(u64, Kept)>,
        /// The claimed tuples.
        pub claims: Vec<(u64, Claim)>,
        /// The waiters.
        pub waiting: Vec<(u64, Waiting)>,
        /// The puts that wait for room.
        pub blocked: Vec<Blocked>,
        /// The clients.
        pub clients: Vec<Remembered>,
    }
}
