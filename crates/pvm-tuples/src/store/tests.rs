use super::*;
use crate::Tuple;
use crate::builder::Builder;
use crate::kind::{Kind, Shape};
use crate::ops::Find;

const ANN: Tid = Tid(0x4_0001);
const BOB: Tid = Tid(0x4_0002);
const EVE: Tid = Tid(0x4_0003);

/// A space, and the number of requests of each client.
struct Space {
    store: Store,
    asked: u64,
}

impl Space {
    fn new(limit: u64, when_full: Full) -> Self {
        Self { store: Store::new(limit, when_full), asked: 0 }
    }

    fn roomy() -> Self {
        Self::new(1 << 20, Full::Wait)
    }

    fn give(&mut self, input: Input) -> Vec<Answer> {
        let mut answers = Vec::new();
        self.store.apply(0, input, &mut answers);
        answers
    }

    /// Carries out a request and returns the answers with their receivers.
    fn ask(&mut self, client: Tid, op: Op) -> Vec<(Tid, Outcome)> {
        self.asked += 1;
        let (number, settled) = (self.asked, 0);
        let answers = self.give(Input::Asked { client, number, settled, op });
        answers.into_iter().map(|answer| (answer.client, answer.outcome)).collect()
    }

    fn put(&mut self, client: Tid, name: &str, value: i32) -> Vec<(Tid, Outcome)> {
        self.ask(client, Op::Put { tuples: vec![tuple(name, value)], wait: true })
    }

    fn find(&mut self, client: Tid, name: &str, how: Find) -> Vec<(Tid, Outcome)> {
        self.ask(client, Op::Find { template: any(name), how, wait: true, limit_ms: None })
    }
}

const CLAIM: Find = Find::Claim { lease_ms: None };

fn tuple(name: &str, value: i32) -> Tuple {
    let mut builder = Builder::new();
    builder.text(name).expect("fits");
    builder.int(value).expect("fits");
    builder.tuple().expect("has fields")
}

fn any(name: &str) -> Tuple {
    let mut builder = Builder::new();
    builder.text(name).expect("fits");
    builder.formal(Kind::Int, Shape::Scalar, 0).expect("fits");
    builder.tuple().expect("has fields")
}

fn found(client: Tid, name: &str, value: i32) -> (Tid, Outcome) {
    (client, Outcome::Found { tuple: tuple(name, value), claim: None, tries: 0 })
}

fn claim_of(answers: &[(Tid, Outcome)]) -> (u64, u32) {
    match answers {
        [(_, Outcome::Found { claim: Some(claim), tries, .. })] => (claim.get(), *tries),
        other => panic!("no claim: {other:?}"),
    }
}

#[test]
fn the_oldest_tuple_goes_first_and_waiters_are_served_in_order() {
    let mut space = Space::roomy();
    space.put(ANN, "task", 1);
    space.put(ANN, "task", 2);
    assert_eq!(space.find(BOB, "task", Find::Take), [found(BOB, "task", 1)]);
    assert_eq!(space.find(BOB, "task", Find::Copy), [found(BOB, "task", 2)]);
    space.find(BOB, "task", Find::Take);
    for client in [BOB, EVE, ANN] {
        assert_eq!(space.find(client, "task", Find::Take), []);
    }
    for (client, value) in [(BOB, 3), (EVE, 4), (ANN, 5)] {
        assert_eq!(
            space.put(ANN, "task", value),
            [found(client, "task", value), (ANN, Outcome::Done)]
        );
    }
    assert_eq!(space.store.count(), 0);
}

#[test]
fn those_who_copy_are_served_up_to_the_first_who_takes() {
    let mut space = Space::roomy();
    space.find(BOB, "x", Find::Copy);
    space.find(EVE, "x", Find::Copy);
    space.find(ANN, "x", Find::Take);
    space.find(BOB, "x", Find::Copy);
    let answers = space.put(ANN, "x", 9);
    let served = [found(BOB, "x", 9), found(EVE, "x", 9), found(ANN, "x", 9), (ANN, Outcome::Done)];
    assert_eq!(answers, served);
    assert_eq!(space.put(ANN, "x", 10)[0], found(BOB, "x", 10));
    assert_eq!(space.store.count(), 1);
}

#[test]
fn a_request_that_is_asked_again_is_done_once_and_answered_again() {
    let mut space = Space::roomy();
    let put = |number, settled| Input::Asked {
        client: ANN,
        number,
        settled,
        op: Op::Put { tuples: vec![tuple("x", 1)], wait: true },
    };
    let answer = Answer { client: ANN, number: 1, outcome: Outcome::Done };
    assert_eq!(space.give(put(1, 0)), std::slice::from_ref(&answer));
    assert_eq!(space.give(put(1, 0)), [answer]);
    assert_eq!(space.store.count(), 1);
    space.give(put(2, 2));
    assert_eq!(space.give(put(1, 0)), [], "the client had said that it has this answer");
    assert_eq!(space.store.count(), 2);
}

fn put_of(number: u64) -> Input {
    let op = Op::Put { tuples: vec![tuple("done", 1)], wait: true };
    Input::Asked { client: ANN, number, settled: 1, op }
}

fn wait_of(number: u64) -> Input {
    let op =
        Op::Find { template: any("x"), how: Find::Take, wait: true, limit_ms: NonZeroU64::new(9) };
    Input::Asked { client: ANN, number, settled: 1, op }
}

#[test]
fn as_long_as_one_request_waited_the_answers_to_all_later_ones_were_kept() {
    let mut space = Space::roomy();
    space.give(wait_of(1));
    (2..1000).for_each(|number| drop(space.give(put_of(number))));
    space.give(Input::Settled { client: ANN, below: 1000, open: vec![1, 999] });
    let answered = |space: &Space| {
        let known = space.store.known(ANN).expect("a client");
        known.answered.keys().copied().collect::<Vec<_>>()
    };
    assert_eq!(answered(&space), [999]);
    // What is settled is not carried out again, and what is open is answered again.
    assert_eq!((space.give(put_of(500)), space.store.count()), (Vec::new(), 998));
    assert_eq!(space.give(put_of(999)).len(), 1);
    // The old request waits once, is served, is answered again, and may be withdrawn.
    space.give(wait_of(1));
    assert_eq!(space.put(BOB, "x", 7)[0], found(ANN, "x", 7));
    assert_eq!(space.give(wait_of(1)).len(), 1);
    space.store = Store::restore(space.store.snapshot());
    assert_eq!((answered(&space), space.give(wait_of(1)).len()), (vec![1, 999], 1));
    space.give(Input::Withdrawn { client: ANN, number: 1 });
    assert_eq!(space.find(BOB, "x", Find::Take)[0], found(BOB, "x", 7));
    space.give(Input::Settled { client: ANN, below: 1001, open: Vec::new() });
    assert_eq!((answered(&space), space.give(wait_of(1))), (Vec::new(), Vec::new()));
}

#[test]
fn an_open_request_that_comes_late_is_carried_out() {
    let mut space = Space::roomy();
    [2, 3, 7, 8].map(put_of).into_iter().for_each(|input| drop(space.give(input)));
    space.give(Input::Settled { client: ANN, below: 8, open: vec![5, 6] });
    assert_eq!(space.give(put_of(3)), []);
    assert_eq!([5, 6].map(|number| space.give(put_of(number)).len()), [1, 1]);
    assert_eq!(space.store.count(), 6);
}

#[test]
fn a_waiting_request_that_is_asked_again_waits_once() {
    let mut space = Space::roomy();
    let take = || Input::Asked {
        client: BOB,
        number: 100,
        settled: 0,
        op: Op::Find { template: any("x"), how: Find::Take, wait: true, limit_ms: None },
    };
    space.give(take());
    space.give(take());
    space.put(ANN, "x", 1);
    assert_eq!(space.put(ANN, "x", 2), [(ANN, Outcome::Done)]);
    assert_eq!(space.store.count(), 1);
}

#[test]
fn a_claimed_tuple_comes_back_to_its_old_place_with_one_try_more() {
    let mut space = Space::roomy();
    space.put(ANN, "task", 1);
    space.put(ANN, "task", 2);
    let (_, tries) = claim_of(&space.find(BOB, "task", CLAIM));
    assert_eq!(tries, 0);
    assert_eq!(space.store.count(), 1);
    space.give(Input::Gone { client: BOB });
    let (claim, tries) = claim_of(&space.find(EVE, "task", CLAIM));
    assert_eq!(tries, 1);
    assert_eq!(
        space.ask(BOB, Op::GiveBack { claim })[0].1,
        Outcome::Failed { reason: Reason::ClaimOver }
    );
    assert_eq!(space.ask(EVE, Op::GiveBack { claim }), [(EVE, Outcome::Done)]);
    let again = space.find(BOB, "task", Find::Take);
    assert_eq!(again, [(BOB, Outcome::Found { tuple: tuple("task", 1), claim: None, tries: 2 })]);
}

#[test]
fn done_puts_its_tuples_with_the_end_of_the_claim_or_not_at_all() {
    let mut space = Space::roomy();
    space.put(ANN, "task", 1);
    let (claim, _) = claim_of(&space.find(BOB, "task", CLAIM));
    let done = || Op::Done { claim, tuples: vec![tuple("answer", 1), tuple("answer", 2)] };
    assert_eq!(space.ask(BOB, done()), [(BOB, Outcome::Done)]);
    assert_eq!(space.ask(BOB, done()), [(BOB, Outcome::Failed { reason: Reason::ClaimOver })]);
    assert_eq!(
        space.ask(ANN, Op::Count { template: any("answer") })[0].1,
        Outcome::Counted { count: 2 }
    );
    space.give(Input::Gone { client: BOB });
    assert_eq!(space.store.count(), 2, "what was done with does not come back");
}

#[test]
fn a_lease_that_ends_frees_the_tuple_and_done_is_too_late() {
    let mut space = Space::roomy();
    space.put(ANN, "task", 1);
    let (claim, _) =
        claim_of(&space.find(BOB, "task", Find::Claim { lease_ms: NonZeroU64::new(50) }));
    assert_eq!(space.store.lease(claim), Some(50));
    space.find(EVE, "task", Find::Take);
    assert_eq!(space.give(Input::Lapsed { claim }).len(), 1);
    let late = space.ask(BOB, Op::Done { claim, tuples: Vec::new() });
    assert_eq!(late[0].1, Outcome::Failed { reason: Reason::ClaimOver });
    assert_eq!(space.store.count(), 0);
}

#[test]
fn a_cancelled_wait_takes_nothing_and_an_answer_stands() {
    let mut space = Space::roomy();
    space.find(BOB, "x", Find::Take);
    let number = space.asked;
    let cancelled = space.give(Input::Cancelled { client: BOB, number });
    assert_eq!(cancelled[0].outcome, Outcome::Nothing);
    space.put(ANN, "x", 1);
    assert_eq!(space.store.count(), 1);
    space.find(BOB, "x", Find::Take);
    let number = space.asked;
    assert_eq!(space.give(Input::Cancelled { client: BOB, number }), []);
    assert_eq!(space.store.count(), 0);
}

#[test]
fn a_full_space_lets_puts_wait_in_order_or_fail() {
    let cost = cost(&tuple("x", 1));
    let mut space = Space::new(2 * cost, Full::Wait);
    space.put(ANN, "x", 1);
    space.put(ANN, "x", 2);
    assert_eq!(space.put(ANN, "x", 3), []);
    assert_eq!(space.put(BOB, "x", 4), []);
    assert_eq!(space.find(EVE, "x", Find::Take), [found(EVE, "x", 1), (ANN, Outcome::Done)]);
    space.give(Input::Gone { client: BOB });
    space.find(EVE, "x", Find::Take);
    assert_eq!(space.store.count(), 1, "the tuple of a client that is gone is not put");

    let mut space = Space::new(cost, Full::Fail);
    space.put(ANN, "x", 1);
    assert_eq!(space.put(ANN, "x", 2), [(ANN, Outcome::Failed { reason: Reason::Full })]);
    let large = vec![tuple("x", 1), tuple("x", 2)];
    let refused = space.ask(ANN, Op::Put { tuples: large, wait: true });
    assert_eq!(refused, [(ANN, Outcome::Failed { reason: Reason::TooLarge })]);
}

#[test]
fn a_template_is_not_put_and_near_misses_are_shown() {
    let mut space = Space::roomy();
    let refused = space.ask(ANN, Op::Put { tuples: vec![any("x")], wait: true });
    assert_eq!(refused, [(ANN, Outcome::Failed { reason: Reason::Formal })]);
    let mut builder = Builder::new();
    builder.text("x").expect("fits");
    builder.actual(Kind::Long, Shape::Scalar, &7_i64.to_le_bytes()).expect("fits");
    let long = builder.tuple().expect("has fields");
    space.ask(ANN, Op::Put { tuples: vec![long.clone()], wait: true });
    space.find(BOB, "x", Find::Take);
    let seen = space.store.seen(5, 10);
    assert_eq!(seen.oldest, std::slice::from_ref(&long));
    assert_eq!((seen.waiting[0].client, seen.waiting[0].waited_ms), (BOB, 5));
    assert_eq!(seen.waiting[0].near, [long]);
}

#[test]
fn a_page_has_claimed_tuples_in_their_places_and_begins_behind_the_last_one() {
    let mut space = Space::roomy();
    for value in 1..=3 {
        space.put(ANN, "x", value);
    }
    space.find(BOB, "x", Find::Claim { lease_ms: None });
    let page = seen::page(&space.store, None);
    assert_eq!(page.oldest, [1, 2, 3].map(|value| tuple("x", value)));
    space.put(ANN, "x", 4);
    let next = seen::page(&space.store, page.last);
    assert_eq!(next.oldest, [tuple("x", 4)]);
    let end = seen::page(&space.store, next.last);
    assert_eq!((end.oldest.len(), end.last), (0, None));
}

fn gathered(space: &mut Space, name: &str, take: bool, room: u64) -> Vec<Tuple> {
    match &*space.ask(EVE, Op::Gather { template: any(name), take, room }) {
        [(EVE, Outcome::Gathered { tuples })] => tuples.clone(),
        other => panic!("{other:?}"),
    }
}

fn counted(space: &mut Space, name: &str) -> u64 {
    match &*space.ask(EVE, Op::Count { template: any(name) }) {
        [(EVE, Outcome::Counted { count })] => *count,
        other => panic!("{other:?}"),
    }
}

#[test]
fn count_copy_and_collect_see_the_free_tuples_that_fit_the_oldest_first() {
    let mut space = Space::roomy();
    (1..=5).for_each(|value| drop(space.put(ANN, "x", value)));
    space.put(ANN, "y", 9);
    let claimed = space.find(BOB, "x", Find::Claim { lease_ms: None });
    let of = |values: &[i32]| values.iter().map(|value| tuple("x", *value)).collect::<Vec<_>>();
    assert_eq!((counted(&mut space, "x"), counted(&mut space, "y")), (4, 1));
    assert_eq!(gathered(&mut space, "x", false, 2), of(&[2, 3]));
    assert_eq!(counted(&mut space, "x"), 4, "a copy takes nothing");
    assert_eq!(gathered(&mut space, "x", true, 3), of(&[2, 3, 4]));
    assert_eq!(counted(&mut space, "x"), 1);
    let (claim, _) = claim_of(&claimed);
    space.ask(BOB, Op::GiveBack { claim });
    assert_eq!(gathered(&mut space, "x", true, 9), of(&[1, 5]));
    assert_eq!((counted(&mut space, "x"), counted(&mut space, "y")), (0, 1));
    assert_eq!(gathered(&mut space, "x", true, 9), []);
}

#[test]
fn a_collect_gives_what_an_answer_has_room_for_but_at_least_one() {
    let mut space = Space::new(1 << 30, Full::Wait);
    let large = |mebibytes: usize| {
        let mut builder = Builder::new();
        builder.actual(Kind::Bytes, Shape::Scalar, &vec![1; mebibytes << 20]).expect("fits");
        builder.tuple().expect("has a field")
    };
    for mebibytes in [70, 30, 30, 30] {
        space.ask(ANN, Op::Put { tuples: vec![large(mebibytes)], wait: false });
    }
    let mut builder = Builder::new();
    builder.formal(Kind::Bytes, Shape::Scalar, 0).expect("fits");
    let template = builder.tuple().expect("has a field");
    let sizes = [1, 2, 1, 0].map(|expected| {
        let answers =
            space.ask(EVE, Op::Gather { template: template.clone(), take: true, room: 9 });
        let [(EVE, Outcome::Gathered { tuples })] = &answers[..] else { panic!("no answer") };
        (tuples.len(), expected)
    });
    assert!(sizes.iter().all(|(given, expected)| given == expected), "{sizes:?}");
}

#[test]
fn a_find_that_does_not_wait_says_nothing_only_if_no_free_tuple_fits() {
    let mut space = Space::new(400, Full::Wait);
    let inp = |space: &mut Space, name: &str| {
        let (template, how) = (any(name), Find::Take);
        let asked = space.ask(EVE, Op::Find { template, how, wait: false, limit_ms: None });
        !matches!(asked[..], [(EVE, Outcome::Nothing)])
    };
    assert!(!inp(&mut space, "x"));
    space.put(ANN, "x", 1);
    space.put(ANN, "y", 2);
    assert!(space.put(BOB, "z", 3).is_empty(), "it waits for room");
    assert!(!inp(&mut space, "z"), "it is not in the space yet");
    assert!(inp(&mut space, "x"));
    assert!(inp(&mut space, "z") && inp(&mut space, "y"), "there was room for it");
    space.put(ANN, "x", 4);
    let claimed = space.find(BOB, "x", Find::Claim { lease_ms: None });
    assert!(!inp(&mut space, "x"), "it is claimed");
    let (claim, _) = claim_of(&claimed);
    space.ask(BOB, Op::GiveBack { claim });
    assert!(inp(&mut space, "x"));
}

#[test]
fn near_misses_have_the_name_and_another_type_or_number_of_fields() {
    let mut space = Space::roomy();
    let with = |name: &str, long: Option<i64>, more: usize| {
        let mut builder = Builder::new();
        builder.text(name).expect("fits");
        if let Some(long) = long {
            builder.actual(Kind::Long, Shape::Scalar, &long.to_le_bytes()).expect("fits");
        }
        (0..more).for_each(|_| builder.int(1).expect("fits"));
        builder.tuple().expect("has fields")
    };
    let near = [with("x", Some(1), 0), with("x", None, 2), with("x", None, 0)];
    let far = [with("y", Some(1), 0), with("y", None, 2), with("x", Some(9), 0)];
    for tuple in near.iter().chain(&far) {
        space.ask(ANN, Op::Put { tuples: vec![tuple.clone()], wait: false });
    }
    space.find(BOB, "x", Find::Take);
    let seen = space.store.seen(1, 0);
    assert_eq!(seen.waiting[0].near, near, "of another name none, and three at most");
    // A tuple of the right types whose value differs is no near miss: it may well come.
    let (mut other, mut builder) = (Space::roomy(), Builder::new());
    builder.text("x").expect("fits");
    builder.int(7).expect("fits");
    other.put(ANN, "x", 1);
    let template = builder.tuple().expect("has fields");
    other.ask(BOB, Op::Find { template, how: Find::Take, wait: true, limit_ms: None });
    assert_eq!(other.store.seen(1, 0).waiting[0].near, []);
}
