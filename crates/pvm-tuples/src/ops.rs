//! The operations of clients, the changes that they make in a store, and their outcomes.

use crate::tuple::Tuple;
use pvm_wire::{Tid, choice, record};
use std::num::NonZeroU64;

choice! {
    /// An operation of a client.
    pub enum Op {
        /// Puts tuples, all in one step. With `wait` it waits for room.
        1 => Put { /// The tuples.
            tuples: Vec<Tuple>, /// True if the put waits for room.
            wait: bool },
        /// Finds a tuple; [`Find`] describes its use. With `wait` it waits for one. A server ends
        /// the wait after `limit_ms` if it has not heard of its end.
        2 => Find { /// The template.
            template: Tuple, /// The use of the tuple.
            how: Find, /// True if it waits for a tuple.
            wait: bool, /// The limit of the wait, if it has one.
            limit_ms: Option<NonZeroU64> },
        /// Counts the tuples that fit.
        3 => Count { /// The template.
            template: Tuple },
        /// Copies or takes the tuples that fit, at most `room` of them.
        4 => Gather { /// The template.
            template: Tuple, /// True if the tuples are taken, false if they are copied.
            take: bool, /// The most tuples.
            room: u64 },
        /// Ends a claim and puts tuples in the same step.
        5 => Done { /// The claim's number.
            claim: u64, /// The tuples that are put.
            tuples: Vec<Tuple> },
        /// Ends a claim; its tuple becomes free.
        6 => GiveBack { /// The claim's number.
            claim: u64 },
        /// Renews the lease of a claim, in milliseconds.
        7 => Renew { /// The claim's number.
            claim: u64, /// The new lease, if it ends.
            lease_ms: Option<NonZeroU64> },
        /// Ends all claims of the client and puts tuples in the same step.
        8 => DoneAll { /// The tuples that are put.
            tuples: Vec<Tuple> },
    }

    /// The use of a tuple that is found.
    pub enum Find {
        /// The tuple is copied (`rd`).
        1 => Copy,
        /// The tuple is taken (`in`).
        2 => Take,
        /// The tuple is claimed for `lease_ms` milliseconds.
        3 => Claim { /// The lease, if it ends.
            lease_ms: Option<NonZeroU64> },
    }

    /// A change of a store. Every server of a space applies these changes in one order.
    pub enum Input {
        /// A client requests an operation. A repeated request gets the answer of the first one.
        1 => Asked { /// The client.
            client: Tid, /// The request's number; it counts up.
            number: u64, /// The client has the answers to all requests below this one.
            settled: u64, /// The operation.
            op: Op },
        /// A client cancels its wait for this request.
        2 => Cancelled { /// The client.
            client: Tid, /// The request's number.
            number: u64 },
        /// A client has ended.
        3 => Gone { /// The client.
            client: Tid },
        /// The lease of a claim has run out.
        4 => Lapsed { /// The claim's number.
            claim: u64 },
        /// A client has left a request behind without its answer. The request is not carried out
        /// any more, and tuples that it has taken come back.
        5 => Withdrawn { /// The client.
            client: Tid, /// The request's number.
            number: u64 },
        /// A client has the answers to all requests below this one, but the open ones.
        6 => Settled { /// The client.
            client: Tid, /// The number behind those requests.
            below: u64, /// The numbers of the open ones.
            open: Vec<u64> },
    }
}

choice! {
    /// The outcome of a request.
    pub enum Outcome {
        /// The operation was carried out.
        1 => Done,
        /// No tuple fitted, or there was no room, and the client did not want to wait, or to wait
        /// longer.
        2 => Nothing,
        /// A tuple was found.
        3 => Found { /// The tuple.
            tuple: Tuple, /// The claim's number, if it was claimed.
            claim: Option<NonZeroU64>, /// The number of times that it came back before.
            tries: u32 },
        /// Tuples were counted.
        4 => Counted { /// The number.
            count: u64 },
        /// Tuples were copied or taken.
        5 => Gathered { /// The tuples.
            tuples: Vec<Tuple> },
        /// The operation failed.
        6 => Failed { /// The reason.
            reason: Reason },
    }

    /// The effect of a put that finds no room within the limit of a space.
    #[derive(Copy, Default)]
    pub enum Full {
        /// The put waits until there is room.
        #[default]
        0 => Wait,
        /// The put fails.
        1 => Fail,
        /// The tuples go to a file of the server.
        2 => Spill,
    }

    /// The reason why an operation could not be done.
    pub enum Reason {
        /// The space has no room for the tuples.
        1 => Full,
        /// The tuples are larger than the space may be.
        2 => TooLarge,
        /// The claim has ended.
        3 => ClaimOver,
        /// There is no such space, or it has ended.
        4 => NoSpace,
        /// A space of this name exists.
        5 => Exists,
        /// The tuple to be put has a formal.
        6 => Formal,
        /// The machine refused a call that the server needs.
        7 => Machine,
        /// The disk of a durable space is full, or reports an error.
        8 => Disk,
    }
}

record! {
    /// An answer to a client.
    pub struct Answer {
        /// The client that gets it.
        pub client: Tid,
        /// The number of the client's request.
        pub number: u64,
        /// The outcome.
        pub outcome: Outcome,
    }
}
