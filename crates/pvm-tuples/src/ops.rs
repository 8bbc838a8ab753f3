//! The operations of clients, their changes of a store, and their outcomes.

use crate::tuple::Tuple;
use pvm_wire::{Tid, choice, record};

choice! {
    /// An operation of a client.
    pub enum Op {
        /// Puts tuples, all in one step. `wait`: until there is room.
        1 => Put { /// Which.
            tuples: Vec<Tuple>, /// Until there is room.
            wait: bool },
        /// Looks for a tuple; [`Find`] says what becomes of it. `wait`: until there is one.
        /// `limit_ms`: a server that has heard nothing else ends the wait then; 0 has no end.
        2 => Find { /// What it has to fit.
            template: Tuple, /// A [`Find`].
            how: Find, /// Until there is one.
            wait: bool, /// At the latest.
            limit_ms: u64 },
        /// Counts the tuples that fit.
        3 => Count { /// What.
            template: Tuple },
        /// All that fit, at most `room`.
        4 => Gather { /// What.
            template: Tuple, /// Takes them.
            take: bool, /// At most so many.
            room: u64 },
        /// Ends a claim and puts tuples in the same step.
        5 => Done { /// Its number.
            claim: u64, /// What is put.
            tuples: Vec<Tuple> },
        /// Ends a claim; its tuple comes back.
        6 => GiveBack { /// Its number.
            claim: u64 },
        /// Its lease begins anew, in milliseconds; 0 has no end.
        7 => Renew { /// Its number.
            claim: u64, /// The new lease.
            lease_ms: u64 },
        /// Ends all claims of the client and puts tuples in the same step.
        8 => DoneAll { /// What is put.
            tuples: Vec<Tuple> },
    }

    /// The use of a tuple that is found.
    pub enum Find {
        /// It is copied (`rd`).
        1 => Copy,
        /// It is taken (`in`).
        2 => Take,
        /// It is claimed, for `lease_ms` milliseconds; 0 has no end.
        3 => Claim { /// Its lease.
            lease_ms: u64 },
    }

    /// A change of a store. Every server of a space applies the same changes in the same sequence.
    pub enum Input {
        /// A client asks for something. Asked again it is answered again.
        1 => Asked { /// By whom.
            client: Tid, /// Its number, which counts up.
            number: u64, /// It has the answers to all below this one.
            settled: u64, /// What.
            op: Op },
        /// A client waits no longer for this request.
        2 => Cancelled { /// Which.
            client: Tid, /// Its number.
            number: u64 },
        /// A client is gone.
        3 => Gone { /// Which.
            client: Tid },
        /// The lease of a claim has ended.
        4 => Lapsed { /// Its number.
            claim: u64 },
        /// A client has left a request behind without its answer. It is not done any more, and the
        /// tuples that it has taken come back.
        5 => Withdrawn { /// Which client.
            client: Tid, /// The request's number.
            number: u64 },
    }
}

choice! {
    /// The outcome of a request.
    pub enum Outcome {
        /// It was done.
        1 => Done,
        /// Nothing fitted, or there was no room, and the client did not want to wait (longer).
        2 => Nothing,
        /// A tuple. `claim` is 0 unless it was claimed.
        3 => Found { /// Which.
            tuple: Tuple, /// The claim's number.
            claim: u64, /// How often it came back before.
            tries: u32 },
        /// A number of tuples.
        4 => Counted { /// How many.
            count: u64 },
        /// Tuples.
        5 => Gathered { /// Which.
            tuples: Vec<Tuple> },
        /// It could not be done.
        6 => Failed { /// Why.
            reason: Reason },
    }

    /// The effect of a put that finds no room within the limit of a space.
    #[derive(Copy, Default)]
    pub enum Full {
        /// It waits for its turn.
        #[default]
        0 => Wait,
        /// It fails.
        1 => Fail,
        /// Its tuples lie in a file of the server.
        2 => Spill,
    }

    /// The reason why an operation could not be done.
    pub enum Reason {
        /// The space has no room for the tuples.
        1 => Full,
        /// The tuples are larger than the space may be.
        2 => TooLarge,
        /// The claim is over.
        3 => ClaimOver,
        /// There is no such space, or no more.
        4 => NoSpace,
        /// There is such a space.
        5 => Exists,
        /// A template was put.
        6 => Formal,
        /// The machine refused something.
        7 => Machine,
        /// The disk of a durable space is full, or fails.
        8 => Disk,
    }
}

record! {
    /// An answer to a client.
    pub struct Answer {
        /// The client that it is for.
        pub client: Tid,
        /// To which request.
        pub number: u64,
        /// The outcome.
        pub outcome: Outcome,
    }
}
