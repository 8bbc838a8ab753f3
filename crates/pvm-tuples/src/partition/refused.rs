//! Requests of which the store knows nothing, and the primary does. Some were refused because the
//! disk was full: a late repetition of such a request must not be carried out, because its client
//! knows it as refused. Others would have waited when too much waited already; the clients repeat
//! them.

use pvm_wire::Tid;
use std::collections::BTreeSet;

/// The most requests beyond what may wait that are noted.
const BEYOND_MAX: usize = 1 << 16;

/// The numbers of these requests, as long as a repetition may come.
#[derive(Default, Debug)]
pub(super) struct Refused(BTreeSet<(Tid, u64)>);

impl Refused {
    pub(super) fn note(&mut self, client: Tid, number: u64) {
        self.0.insert((client, number));
    }

    /// As [`Refused::note`], but only so many are noted.
    pub(super) fn note_beyond(&mut self, client: Tid, number: u64) {
        if self.0.len() < BEYOND_MAX {
            self.note(client, number);
        }
    }

    pub(super) fn take(&mut self, client: Tid, number: u64) -> bool {
        self.0.remove(&(client, number))
    }

    pub(super) fn has(&self, client: Tid, number: u64) -> bool {
        self.0.contains(&(client, number))
    }

    /// Forgets a client's numbers below this one, because the client has those answers.
    pub(super) fn settle(&mut self, client: Tid, below: u64) {
        while let Some(first) = self.0.range((client, 0)..(client, below)).next().copied() {
            self.0.remove(&first);
        }
    }

    pub(super) fn gone(&mut self, client: Tid) {
        self.settle(client, u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Event, Output, Partition, Title, bound_waiting};
    use crate::frames::{Ask, Entry, Full, Options, Told};
    use crate::ops::{Find, Op, Outcome};
    use crate::tuple::Tuple;
    use crate::{Builder, Kind, Shape};
    use pvm_wire::{Blob, Tid};
    use std::collections::BTreeSet;

    const CLIENT: Tid = Tid(1 << 18 | 7);
    const MOST: u64 = 20_000;

    /// A space with room for one tuple.
    fn narrow() -> Partition {
        let when_full = Full::Wait;
        let options = Options { copies: 0, limit_bytes: 1500, when_full, loss_ms: 0 };
        let (primary, owner, copies) = (Tid(1 << 18 | 1), Tid::NONE, Vec::new());
        let (deleted, directory, generation) = (false, Blob::default(), 0);
        let entry =
            Entry { space: 7, primary, copies, options, owner, deleted, directory, generation };
        let title = Title { name: Blob::from("space"), epoch: 0, entry };
        let mut space = Partition::create(primary, title, None, None, 1);
        bound_waiting(&mut space, MOST);
        space
    }

    fn large(number: u64) -> Tuple {
        let mut builder = Builder::new();
        let number = i32::try_from(number).expect("small");
        builder.actual(Kind::Bytes, Shape::Scalar, &[1; 1000]).expect("fits");
        builder.int(number).expect("fits");
        builder.tuple().expect("fields")
    }

    fn template() -> Tuple {
        let mut builder = Builder::new();
        builder.formal(Kind::Bytes, Shape::Scalar, 0).expect("fits");
        builder.formal(Kind::Int, Shape::Scalar, 0).expect("fits");
        builder.tuple().expect("fields")
    }

    fn put(number: u64) -> Op {
        Op::Put { tuples: vec![large(number)], wait: true }
    }

    fn find(template: Tuple, wait: bool) -> Op {
        Op::Find { template, how: Find::Take, wait, limit_ms: None }
    }

    /// The requests that were answered, with their outcomes.
    fn told(space: &mut Partition, ask: Ask) -> Vec<(u64, Outcome)> {
        space.handle(2, Event::Asked { client: CLIENT, ask });
        let answers =
            std::iter::from_fn(|| space.poll_output()).filter_map(|output| match output {
                Output::Tell { told: Told::Answer { number, outcome }, .. } => {
                    Some((number, outcome))
                }
                _ => None,
            });
        answers.collect()
    }

    fn asked(space: &mut Partition, number: u64, op: Op) -> Vec<(u64, Outcome)> {
        told(space, Ask::Do { space: 7, number, settled: 1, op })
    }

    fn waiting(space: &Partition) -> u64 {
        space.store().waiting_requests().count() as u64
    }

    #[test]
    fn puts_that_waited_for_room_filled_the_memory_of_their_server() {
        let mut space = narrow();
        let mut done = BTreeSet::new();
        let mut note = |answers: Vec<(u64, Outcome)>| {
            let puts = answers.into_iter().filter(|(_, outcome)| *outcome == Outcome::Done);
            puts.for_each(|(number, _)| assert!(done.insert(number), "{number} again"));
        };
        (1..=100).for_each(|number| note(asked(&mut space, number, put(number))));
        assert!((5..=MOST / 1000).contains(&waiting(&space)), "{}", waiting(&space));
        // Each tuple is taken once, when its client has repeated its put often enough.
        let mut taken = BTreeSet::new();
        for round in 0..100 {
            for number in (1..=100).filter(|number| !taken.contains(number)) {
                let answers = asked(&mut space, number, put(number));
                assert!(answers.iter().all(|(_, outcome)| *outcome == Outcome::Done));
            }
            for (_, outcome) in asked(&mut space, 1000 + round, find(template(), false)) {
                let Outcome::Found { tuple, .. } = outcome else { continue };
                let is_it = |number: &u64| large(*number) == tuple;
                assert!(taken.insert((1..=100).find(is_it).expect("one that was put")));
            }
        }
        assert_eq!((taken.len(), waiting(&space), space.store().bytes()), (100, 0, 0));
    }

    #[test]
    fn large_templates_of_waiting_calls_filled_the_memory_of_their_server() {
        let mut space = narrow();
        for number in 1..=100 {
            assert_eq!(asked(&mut space, number, find(large(number), true)), []);
        }
        assert!((5..=MOST / 1000).contains(&waiting(&space)), "{}", waiting(&space));
        // A call for which there is a tuple does not wait, and others do when some have ended.
        assert_eq!(asked(&mut space, 200, put(100)), [(200, Outcome::Done)]);
        assert_eq!(asked(&mut space, 100, find(large(100), true)).len(), 1);
        let before = waiting(&space);
        (1..=5).for_each(|number| drop(told(&mut space, Ask::Cancel { space: 7, number })));
        assert_eq!(asked(&mut space, 99, find(large(99), true)), []);
        assert_eq!(waiting(&space), before - 4);
    }

    #[test]
    fn a_cancelled_put_that_did_not_wait_at_the_server_is_answered_and_not_done_later() {
        let mut space = narrow();
        (1..=50).for_each(|number| drop(asked(&mut space, number, put(number))));
        let nothing = [(50, Outcome::Nothing)];
        assert_eq!(told(&mut space, Ask::Cancel { space: 7, number: 50 }), nothing);
        space.handle(3, Event::Gone { task: Tid(1) });
        assert_eq!(asked(&mut space, 50, put(50)), nothing);
        // What was never asked is not answered.
        assert_eq!(told(&mut space, Ask::Cancel { space: 7, number: 51 }), []);
    }
}
