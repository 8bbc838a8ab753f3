//! The store beside a model: lists that are searched from the front, and nothing else.
//!
//! `TUPLES_OPERATIONS` says how many operations there are in all; the default takes some seconds.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use pvm_tuples::frames::Full;
use pvm_tuples::snapshot::Snapshot;
use pvm_tuples::{
    Answer, Builder, Find, Input, Kind, Op, Outcome, Reason, Shape, Store, Tuple, spill_to,
};
use pvm_wire::{Tid, Wire as _};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

#[path = "simulation/shelves.rs"]
#[allow(dead_code, reason = "the simulation has full disks, too")]
mod shelves;

const COST: u64 = 128;

/// An operation of a client, in numbers that the tests draw.
#[derive(Clone, Debug)]
enum Do {
    Put(Vec<(u8, u8)>, bool),
    Find(Template, How, bool),
    Count(Template),
    Gather(Template, bool, u64),
    Done(usize, Vec<(u8, u8)>),
    GiveBack(usize),
    DoneAll(Vec<(u8, u8)>),
    Cancel(usize),
    Withdraw(usize),
    Gone,
    Lapse(usize),
    Again(usize),
}

#[derive(Clone, Copy, Debug)]
enum How {
    Copy,
    Take,
    Claim,
}

/// A name or any, and a value or any; `other` asks for another type than there is.
type Template = (Option<u8>, Option<u8>, bool);

fn tuple((name, value): (u8, u8)) -> Tuple {
    let mut builder = Builder::new();
    builder.text(["a", "b", "c"][usize::from(name % 3)]).unwrap();
    match value % 8 {
        7 => builder.actual(Kind::Double, Shape::Scalar, &0.5_f64.to_le_bytes()).unwrap(),
        value => builder.int(value.into()).unwrap(),
    }
    builder.tuple().unwrap()
}

fn template((name, value, other): Template) -> Tuple {
    let mut builder = Builder::new();
    match name {
        Some(name) => builder.text(["a", "b", "c"][usize::from(name % 3)]).unwrap(),
        None => builder.formal(Kind::Text, Shape::Scalar, 0).unwrap(),
    }
    match value {
        Some(value) => builder.int((value % 7).into()).unwrap(),
        None if other => builder.formal(Kind::Double, Shape::Scalar, 0).unwrap(),
        None => builder.formal(Kind::Int, Shape::Scalar, 0).unwrap(),
    }
    builder.tuple().unwrap()
}

fn templates() -> impl Strategy<Value = Template> {
    (prop::option::of(0..3_u8), prop::option::of(0..7_u8), any::<bool>())
}

fn hows() -> impl Strategy<Value = How> {
    prop_oneof![Just(How::Copy), Just(How::Take), Just(How::Claim)]
}

fn deeds() -> impl Strategy<Value = Do> {
    let tuples = || prop::collection::vec((0..3_u8, 0..8_u8), 1..4);
    let one = || prop::collection::vec((0..3_u8, 0..8_u8), 1..2);
    prop_oneof![
        6 => (one(), any::<bool>()).prop_map(|(tuples, wait)| Do::Put(tuples, wait)),
        1 => (tuples(), any::<bool>()).prop_map(|(tuples, wait)| Do::Put(tuples, wait)),
        8 => (templates(), hows(), any::<bool>()).prop_map(|(t, how, wait)| Do::Find(t, how, wait)),
        1 => templates().prop_map(Do::Count),
        1 => (templates(), any::<bool>(), 0..4_u64)
            .prop_map(|(t, take, room)| Do::Gather(t, take, room)),
        2 => (any::<usize>(), prop::collection::vec((0..3_u8, 0..8_u8), 0..3))
            .prop_map(|(n, t)| Do::Done(n, t)),
        1 => any::<usize>().prop_map(Do::GiveBack),
        1 => prop::collection::vec((0..3_u8, 0..8_u8), 0..3).prop_map(Do::DoneAll),
        1 => any::<usize>().prop_map(Do::Cancel),
        1 => any::<usize>().prop_map(Do::Withdraw),
        1 => Just(Do::Gone),
        1 => any::<usize>().prop_map(Do::Lapse),
        1 => any::<usize>().prop_map(Do::Again),
    ]
}

/// A tuple: its age, what it is, and how often it came back.
type FreeTuple = (u64, Tuple, u32);

struct Waiter {
    asked: (Tid, u64),
    template: Tuple,
    how: How,
}

struct Claim {
    number: u64,
    client: Tid,
    age: u64,
    tuple: Tuple,
    tries: u32,
}

/// The model: whatever it does, it goes through lists from the front.
struct Model {
    limit: u64,
    when_full: Full,
    tuples: Vec<(u64, Tuple, u32)>,
    waiters: Vec<Waiter>,
    blocked: Vec<((Tid, u64), Vec<Tuple>)>,
    claims: Vec<Claim>,
    /// The tuples that requests have taken.
    taken: BTreeMap<(Tid, u64), Vec<FreeTuple>>,
    age: u64,
    answers: Vec<(Tid, u64, Outcome)>,
}

fn fits(tuple: &Tuple, template: &Tuple) -> bool {
    let same = |own: &pvm_tuples::FieldView<'_>, wanted: &pvm_tuples::FieldView<'_>| {
        own.kind == wanted.kind
            && own.shape == wanted.shape
            && (wanted.data.is_none() || own.data == wanted.data)
    };
    tuple.arity() == template.arity()
        && tuple.fields().zip(template.fields()).all(|(own, wanted)| same(&own, &wanted))
}

impl Model {
    fn bytes(&self) -> u64 {
        let free = self.tuples.iter().map(|(_, tuple, _)| tuple);
        let claimed = self.claims.iter().map(|claim| &claim.tuple);
        free.chain(claimed).map(|tuple| tuple.encoded().len() as u64 + COST).sum()
    }

    fn answer(&mut self, (client, number): (Tid, u64), outcome: Outcome) {
        self.answers.push((client, number, outcome));
    }

    /// The number of a claim is the store's own choice: it is taken over from its answer.
    fn hand_over(&mut self, asked: (Tid, u64), how: How, kept: (u64, Tuple, u32)) {
        let (age, tuple, tries) = kept;
        if matches!(how, How::Claim) {
            let (client, tuple) = (asked.0, tuple.clone());
            self.claims.push(Claim { number: 0, client, age, tuple, tries });
        }
        if matches!(how, How::Take) {
            self.taken.insert(asked, vec![(age, tuple.clone(), tries)]);
        }
        let claim = matches!(how, How::Claim).then_some(NonZeroU64::MAX);
        self.answer(asked, Outcome::Found { tuple, claim, tries });
    }

    fn offer(&mut self, age: u64, tuple: Tuple, tries: u32) {
        let mut place = 0;
        while place < self.waiters.len() {
            if !fits(&tuple, &self.waiters[place].template) {
                place += 1;
                continue;
            }
            let waiter = self.waiters.remove(place);
            self.hand_over(waiter.asked, waiter.how, (age, tuple.clone(), tries));
            if !matches!(waiter.how, How::Copy) {
                return;
            }
        }
        let place = self.tuples.iter().take_while(|(other, ..)| *other < age).count();
        self.tuples.insert(place, (age, tuple, tries));
    }

    fn put(&mut self, tuples: Vec<Tuple>) {
        for tuple in tuples {
            self.age += 1;
            self.offer(self.age, tuple, 0);
        }
    }

    fn has_room(&self, tuples: &[Tuple]) -> bool {
        let needed: u64 = tuples.iter().map(|tuple| tuple.encoded().len() as u64 + COST).sum();
        self.when_full == Full::Spill || self.bytes() + needed <= self.limit
    }

    fn admit(&mut self) {
        while !self.blocked.is_empty() && self.has_room(&self.blocked[0].1) {
            let (asked, tuples) = self.blocked.remove(0);
            self.put(tuples);
            self.answer(asked, Outcome::Done);
        }
    }

    /// A request is left behind; `known` is what it was answered.
    fn withdraw(&mut self, asked: (Tid, u64), known: Option<Outcome>) {
        self.waiters.retain(|waiter| waiter.asked != asked);
        self.blocked.retain(|(of, _)| *of != asked);
        let mut taken = self.taken.remove(&asked).unwrap_or_default();
        let outcome = match known {
            Some(Outcome::Found { claim: Some(claim), .. }) => {
                if let Some(place) = self.position(asked.0, claim.get()) {
                    let claim = self.claims.remove(place);
                    taken.push((claim.age, claim.tuple, claim.tries));
                }
                Outcome::Nothing
            }
            None | Some(Outcome::Found { .. } | Outcome::Gathered { .. }) => Outcome::Nothing,
            Some(other) => other,
        };
        for (age, tuple, tries) in taken {
            self.offer(age, tuple, tries);
        }
        self.answer(asked, outcome);
    }

    fn bring_back(&mut self, claim: Claim) {
        self.offer(claim.age, claim.tuple, claim.tries + 1);
    }

    fn position(&self, client: Tid, number: u64) -> Option<usize> {
        self.claims.iter().position(|claim| claim.client == client && claim.number == number)
    }

    fn gone(&mut self, client: Tid) {
        self.waiters.retain(|waiter| waiter.asked.0 != client);
        self.blocked.retain(|(asked, _)| asked.0 != client);
        self.taken.retain(|asked, _| asked.0 != client);
        // In the order in which they were made, as the store brings them back.
        while let Some(place) = self.claims.iter().position(|claim| claim.client == client) {
            let claim = self.claims.remove(place);
            self.bring_back(claim);
        }
    }

    fn ask(&mut self, asked: (Tid, u64), op: Op) {
        match op {
            Op::Put { tuples, wait } => {
                let needed: u64 =
                    tuples.iter().map(|tuple| tuple.encoded().len() as u64 + COST).sum();
                if needed > self.limit {
                    self.answer(asked, Outcome::Failed { reason: Reason::TooLarge });
                } else if self.blocked.is_empty() && self.has_room(&tuples) {
                    self.put(tuples);
                    self.answer(asked, Outcome::Done);
                } else if self.when_full == Full::Fail {
                    self.answer(asked, Outcome::Failed { reason: Reason::Full });
                } else if wait {
                    self.blocked.push((asked, tuples));
                } else {
                    self.answer(asked, Outcome::Nothing);
                }
            }
            Op::Find { template, how, wait, .. } => {
                let how = match how {
                    Find::Copy => How::Copy,
                    Find::Take => How::Take,
                    Find::Claim { .. } => How::Claim,
                };
                match self.tuples.iter().position(|(_, tuple, _)| fits(tuple, &template)) {
                    Some(place) => {
                        let (age, tuple, tries) = self.tuples[place].clone();
                        if !matches!(how, How::Copy) {
                            self.tuples.remove(place);
                        }
                        self.hand_over(asked, how, (age, tuple, tries));
                    }
                    None if wait => self.waiters.push(Waiter { asked, template, how }),
                    None => self.answer(asked, Outcome::Nothing),
                }
            }
            Op::Count { template } => {
                let all = self.tuples.iter().filter(|(_, tuple, _)| fits(tuple, &template));
                let count = all.count() as u64;
                self.answer(asked, Outcome::Counted { count });
            }
            Op::Gather { template, take, room } => {
                let all = self.tuples.iter().filter(|(_, tuple, _)| fits(tuple, &template));
                let chosen: Vec<_> = all.take(room as usize).cloned().collect();
                if take {
                    self.tuples.retain(|(age, ..)| chosen.iter().all(|(other, ..)| other != age));
                    let new = |(age, tuple, _): &(u64, Tuple, u32)| (*age, tuple.clone(), 0);
                    self.taken.insert(asked, chosen.iter().map(new).collect());
                }
                let tuples = chosen.into_iter().map(|(_, tuple, _)| tuple).collect();
                self.answer(asked, Outcome::Gathered { tuples });
            }
            Op::Done { claim, tuples } => match self.position(asked.0, claim) {
                Some(place) => {
                    self.claims.remove(place);
                    self.put(tuples);
                    self.answer(asked, Outcome::Done);
                }
                None => self.answer(asked, Outcome::Failed { reason: Reason::ClaimOver }),
            },
            Op::GiveBack { claim } => match self.position(asked.0, claim) {
                Some(place) => {
                    let claim = self.claims.remove(place);
                    self.bring_back(claim);
                    self.answer(asked, Outcome::Done);
                }
                None => self.answer(asked, Outcome::Failed { reason: Reason::ClaimOver }),
            },
            Op::DoneAll { tuples } => {
                self.claims.retain(|claim| claim.client != asked.0);
                self.put(tuples);
                self.answer(asked, Outcome::Done);
            }
            Op::Renew { .. } => unreachable!("not drawn"),
        }
    }
}

/// The store and its model, and what clients have asked so far.
struct Pair {
    store: Store,
    model: Model,
    number: u64,
    asked: Vec<(Tid, u64, Op)>,
    /// All claims that there were.
    claims: Vec<(Tid, u64)>,
    answered: Vec<(Tid, u64, Outcome)>,
}

impl Pair {
    fn new(limit: u64, when_full: Full) -> Self {
        let model = Model {
            limit,
            when_full,
            tuples: Vec::new(),
            waiters: Vec::new(),
            blocked: Vec::new(),
            claims: Vec::new(),
            taken: BTreeMap::new(),
            age: 0,
            answers: Vec::new(),
        };
        let mut store = Store::new(limit, when_full);
        spill_to(&mut store, Box::new(shelves::MemoryShelf::default()));
        let (asked, claims, answered) = (Vec::new(), Vec::new(), Vec::new());
        Self { store, model, number: 0, asked, claims, answered }
    }

    fn deed(&mut self, client: Tid, deed: Do) {
        let op = match deed {
            Do::Put(tuples, wait) => {
                Op::Put { tuples: tuples.into_iter().map(tuple).collect(), wait }
            }
            Do::Find(wanted, how, wait) => {
                let how = match how {
                    How::Copy => Find::Copy,
                    How::Take => Find::Take,
                    How::Claim => Find::Claim { lease_ms: None },
                };
                Op::Find { template: template(wanted), how, wait, limit_ms: None }
            }
            Do::Count(wanted) => Op::Count { template: template(wanted) },
            Do::Gather(wanted, take, room) => Op::Gather { template: template(wanted), take, room },
            Do::Done(which, tuples) => Op::Done {
                claim: self.claim(which).1,
                tuples: tuples.into_iter().map(tuple).collect(),
            },
            Do::GiveBack(which) => Op::GiveBack { claim: self.claim(which).1 },
            Do::DoneAll(tuples) => Op::DoneAll { tuples: tuples.into_iter().map(tuple).collect() },
            other => return self.event(client, other),
        };
        self.number += 1;
        self.asked.push((client, self.number, op.clone()));
        self.model.ask((client, self.number), op.clone());
        self.apply(Input::Asked { client, number: self.number, settled: 0, op });
    }

    fn event(&mut self, client: Tid, event: Do) {
        match event {
            Do::Cancel(which) => {
                let Some((client, number, _)) = self.some_request(which) else { return };
                let waits = |asked: (Tid, u64)| asked == (client, number);
                let before = self.model.waiters.len() + self.model.blocked.len();
                self.model.waiters.retain(|waiter| !waits(waiter.asked));
                self.model.blocked.retain(|(asked, _)| !waits(*asked));
                if self.model.waiters.len() + self.model.blocked.len() < before {
                    self.model.answer((client, number), Outcome::Nothing);
                }
                self.apply(Input::Cancelled { client, number });
            }
            Do::Withdraw(which) => {
                let Some((client, number, _)) = self.some_request(which) else { return };
                let is_it = |(of, at, _): &(Tid, u64, Outcome)| (*of, *at) == (client, number);
                let known = self.answered.iter().position(is_it);
                let known = known.map(|place| self.answered.remove(place).2);
                self.model.withdraw((client, number), known);
                self.apply(Input::Withdrawn { client, number });
            }
            Do::Gone => {
                self.model.gone(client);
                self.asked.retain(|(of, ..)| *of != client);
                self.answered.retain(|(of, ..)| *of != client);
                self.apply(Input::Gone { client });
            }
            Do::Lapse(which) => {
                let (client, claim) = self.claim(which);
                if let Some(place) = self.model.position(client, claim) {
                    let claim = self.model.claims.remove(place);
                    self.model.bring_back(claim);
                }
                self.apply(Input::Lapsed { claim });
            }
            Do::Again(which) => {
                let Some((client, number, op)) = self.some_request(which) else { return };
                // What was answered is answered again, word for word; what waits goes on waiting.
                let known = self.answered.iter().find(|(of, at, _)| (*of, *at) == (client, number));
                let known: Vec<_> = known.cloned().into_iter().collect();
                let answers = self.answers(Input::Asked { client, number, settled: 0, op });
                assert_eq!(answers, known);
            }
            _ => unreachable!("an operation"),
        }
    }

    fn some_request(&self, which: usize) -> Option<(Tid, u64, Op)> {
        self.asked.get(which % self.asked.len().max(1)).cloned()
    }

    fn claim(&self, which: usize) -> (Tid, u64) {
        self.claims.get(which % self.claims.len().max(1)).copied().unwrap_or((Tid(1), 999))
    }

    fn answers(&mut self, input: Input) -> Vec<(Tid, u64, Outcome)> {
        let mut answers = Vec::new();
        self.store.apply(0, input, &mut answers);
        let plain = |Answer { client, number, outcome }| (client, number, outcome);
        answers.into_iter().map(plain).collect()
    }

    /// Both do the same, and their answers are equal but for the numbers of claims.
    fn apply(&mut self, input: Input) {
        self.model.admit();
        let answers = self.answers(input);
        let mut expected = std::mem::take(&mut self.model.answers);
        assert_eq!(answers.len(), expected.len(), "{answers:?} {expected:?}");
        for (given, wanted) in answers.iter().zip(&mut expected) {
            if let (
                Outcome::Found { claim: Some(claim), .. },
                Outcome::Found { claim: Some(expected), .. },
            ) = (&given.2, &mut wanted.2)
                && *expected == NonZeroU64::MAX
            {
                *expected = *claim;
                let open = self.model.claims.iter_mut().find(|claim| claim.number == 0);
                if let Some(open) = open {
                    open.number = claim.get();
                }
                self.claims.push((given.0, claim.get()));
            }
        }
        assert_eq!(answers, expected);
        assert_eq!(self.store.count(), self.model.tuples.len());
        assert_eq!(self.store.seen(0, 0).bytes, self.model.bytes());
        self.answered.extend(answers);
    }
}

/// The number of operations of one run, and the number of runs.
fn amounts() -> (usize, u32) {
    let wanted = std::env::var("TUPLES_OPERATIONS").ok().and_then(|text| text.parse().ok());
    let runs = wanted.unwrap_or(50_000_usize).div_ceil(200);
    (200, u32::try_from(runs).unwrap_or(u32::MAX))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: amounts().1, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_lists_do(
        deeds in prop::collection::vec((1..5_u32, deeds()), amounts().0),
        limit in prop_oneof![3 => Just(1_u64 << 20), 1 => 300..3000_u64],
        when_full in prop_oneof![Just(Full::Wait), Just(Full::Fail), Just(Full::Spill)],
    ) {
        let mut pair = Pair::new(limit, when_full);
        for (number, (client, deed)) in deeds.into_iter().enumerate() {
            pair.deed(Tid(client), deed);
            if number % 50 == 49 {
                // Nobody notices that another server goes on with what this one had.
                let bytes = pair.store.snapshot().to_bytes();
                pair.store = Store::restore(Snapshot::from_bytes(&bytes).unwrap());
                spill_to(&mut pair.store, Box::new(shelves::MemoryShelf::default()));
            }
        }
    }
}
