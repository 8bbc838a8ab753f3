//! The space of one server, driven by hand.

use super::*;
use crate::frames::{Ask, Full, Options};
use crate::ops::{Find, Outcome};
use crate::tuple::Tuple;
use std::num::NonZeroU64;

const ME: Tid = Tid(1 << 18 | 1);
const OTHER: Tid = Tid(2 << 18 | 1);

fn title() -> Title {
    let entry = Entry {
        space: 7,
        primary: ME,
        copies: Vec::new(),
        options: Options { copies: 1, limit_bytes: 1 << 20, when_full: Full::Wait, loss_ms: 0 },
        owner: Tid::NONE,
        deleted: false,
        directory: Blob::from("/d"),
        generation: 0,
    };
    Title { name: Blob::from("space"), epoch: 0, entry }
}

fn outputs(partition: &mut Partition) -> Vec<Output> {
    std::iter::from_fn(|| partition.poll_output()).collect()
}

#[test]
fn whoever_made_a_space_waited_for_ever_for_a_copy_that_its_host_could_not_keep() {
    let mut primary = Partition::create(ME, title(), Some((Tid(9), 1)), None, 1);
    let (mut now, mut searches) = (1, 0);
    let is_told = |output: &Output| matches!(output, Output::Tell { .. });
    while now < 60_000 {
        let all = outputs(&mut primary);
        if all.iter().any(is_told) {
            return;
        }
        for output in all {
            if let Output::Want { besides } = output {
                searches += 1;
                let server = Some(OTHER).filter(|other| !besides.contains(other));
                primary.handle(now, Event::Helper { server });
            }
        }
        now = primary.poll_timeout().unwrap_or(now).max(now + 1);
        primary.handle_timeout(now);
    }
    panic!("{searches} searches, and nobody was told");
}

/// A server confirms all that it got, and the primary puts the entry that names it.
fn names_copy(primary: &mut Partition, copy: Tid) {
    primary.handle(2, Event::Helper { server: Some(copy) });
    let begun = |output: Output| match output {
        Output::Say { to, what: Between::Begin { term, number, .. } } if to == copy => {
            Some(Between::Ack { space: 7, term, number })
        }
        _ => None,
    };
    let said = outputs(primary).into_iter().find_map(begun).expect("it begins");
    primary.handle(3, Event::Heard { from: copy, said });
    let put = |output: Output| match output {
        Output::Put { epoch, entry } if entry.copies.contains(&copy) => Some(epoch),
        _ => None,
    };
    let epoch = outputs(primary).into_iter().find_map(put);
    primary.handle(4, Event::Put { epoch });
}

/// One copy had all, and with the host that was left the space had no copy until the next one
/// stood.
#[test]
fn a_space_had_a_copy_less_while_its_host_was_left() {
    let drained = || {
        let entry = Entry { directory: Blob::default(), ..title().entry };
        let mut primary = Partition::create(ME, Title { entry, ..title() }, None, None, 1);
        names_copy(&mut primary, OTHER);
        primary.handle(5, Event::Draining { hosts: [ME.host()].into() });
        assert!(!may_leave(&primary));
        primary
    };
    let mut primary = drained();
    names_copy(&mut primary, Tid(3 << 18 | 1));
    assert!(may_leave(&primary));
    // With two hosts there is no other one.
    let mut primary = drained();
    primary.handle(6, Event::Helper { server: None });
    assert!(may_leave(&primary));
}

/// The disk of the next primary failed before its first state went out, so its term was new to the
/// former one, and no server answered any more.
#[test]
fn a_former_primary_followed_one_whose_disk_had_failed_at_once() {
    let mut former = Partition::create(ME, title(), None, None, 1);
    names_copy(&mut former, OTHER);
    former.handle(5, Event::Move { to: OTHER });
    let entry = Entry { primary: OTHER, copies: vec![ME], ..title().entry };
    let latest = |look| Event::Latest { look, entry: Some((2, entry.clone())) };
    former.handle(6, latest(100));
    assert!(!former.is_primary());
    outputs(&mut former);
    former.handle(7, Event::Heard { from: OTHER, said: Between::Failed { space: 7, term: 2 } });
    former.handle(8, latest(101));
    let puts =
        |output: &Output| matches!(output, Output::Put { epoch: 3, entry } if entry.primary == ME);
    assert!(outputs(&mut former).iter().any(puts));
}

/// A space whose only copy is the primary, with tuples of one field: 0 to `tuples`.
fn alone(tuples: i32) -> (Partition, Tuple) {
    let options = Options { copies: 0, ..title().entry.options };
    let entry = Entry { options, directory: Blob::default(), ..title().entry };
    let mut space = Partition::create(ME, Title { entry, ..title() }, None, None, 1);
    let tuple = |number| {
        let mut tuple = crate::Builder::new();
        tuple.int(number).expect("fits");
        tuple.tuple().expect("a field")
    };
    let tuples = (0..tuples).map(tuple).collect();
    said(&mut space, (1, Tid(7), 1), Op::Put { tuples, wait: false });
    let mut any = crate::Builder::new();
    any.formal(crate::Kind::Int, crate::Shape::Scalar, 0).expect("fits");
    (space, any.tuple().expect("a field"))
}

/// Sends a client's request at a time, and returns the answers to it.
fn said(space: &mut Partition, (now, client, number): (u64, Tid, u64), op: Op) -> Vec<Outcome> {
    let ask = Ask::Do { space: 7, number, settled: 1, op };
    space.handle(now, Event::Asked { client, ask });
    let told = outputs(space).into_iter().filter_map(|output| match output {
        Output::Tell { told: Told::Answer { outcome, .. }, .. } => Some(outcome),
        _ => None,
    });
    told.collect()
}

fn claimed(told: &[Outcome]) -> u64 {
    match told {
        [Outcome::Found { claim: Some(claim), .. }] => claim.get(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stranger_could_prolong_the_lease_of_a_claim_that_was_not_its_own() {
    let (mut space, template) = alone(1);
    let find = Op::Find {
        template,
        how: Find::Claim { lease_ms: NonZeroU64::new(100) },
        wait: false,
        limit_ms: None,
    };
    let claim = claimed(&said(&mut space, (10, Tid(8), 1), find));
    assert_eq!(space.poll_timeout(), Some(110));
    let renew = |lease_ms| Op::Renew { claim, lease_ms };
    said(&mut space, (50, Tid(9), 1), renew(NonZeroU64::new(1000)));
    assert_eq!(space.poll_timeout(), Some(110));
    said(&mut space, (60, Tid(8), 2), renew(NonZeroU64::new(1000)));
    assert_eq!(space.poll_timeout(), Some(1060));
    space.handle_timeout(1060);
    assert_eq!((space.store().count(), space.poll_timeout()), (1, None));
}

#[test]
fn the_lease_of_a_claim_that_was_done_still_ended_later_with_a_step_of_its_own() {
    let (mut space, template) = alone(4);
    let find = || Op::Find {
        template: template.clone(),
        how: Find::Claim { lease_ms: NonZeroU64::new(100) },
        wait: false,
        limit_ms: None,
    };
    let first = claimed(&said(&mut space, (10, Tid(8), 1), find()));
    let second = claimed(&said(&mut space, (20, Tid(8), 2), find()));
    claimed(&said(&mut space, (30, Tid(8), 3), find()));
    claimed(&said(&mut space, (40, Tid(9), 1), find()));
    said(&mut space, (50, Tid(8), 4), Op::Done { claim: first, tuples: Vec::new() });
    assert_eq!(space.poll_timeout(), Some(120));
    said(&mut space, (50, Tid(8), 5), Op::GiveBack { claim: second });
    assert_eq!(space.poll_timeout(), Some(130));
    said(&mut space, (50, Tid(8), 6), Op::DoneAll { tuples: Vec::new() });
    let applied = space.applied;
    space.handle_timeout(130);
    assert_eq!((space.applied, space.poll_timeout()), (applied, Some(140)));
    space.handle_timeout(140);
    assert_eq!((space.applied, space.poll_timeout()), (applied + 1, None));
    assert_eq!(space.store().count(), 2, "what was given back, and what lapsed");
}

#[test]
fn whoever_deleted_a_space_was_told_before_its_file_was_gone() {
    let options = Options { copies: 0, ..title().entry.options };
    let title = Title { entry: Entry { options, ..title().entry }, ..title() };
    let mut space = Partition::create(ME, title, None, None, 1);
    let ask = Ask::Delete { space: 7, number: 4 };
    space.handle(1, Event::Asked { client: Tid(9), ask });
    space.handle(1, Event::Put { epoch: Some(1) });
    let all = outputs(&mut space);
    assert!(!all.iter().any(|output| matches!(output, Output::Tell { .. })));
    let erased = all.iter().filter_map(|output| match output {
        Output::Erase { deleters, is_partial: false } => Some(deleters.clone()),
        _ => None,
    });
    assert_eq!(erased.collect::<Vec<_>>(), [vec![(Tid(9), 4)]]);
}

#[test]
fn whoever_deleted_a_space_was_told_before_the_files_of_copies_were_gone() {
    let deleted = || {
        let mut space = Partition::create(ME, title(), None, None, 1);
        let ack = Between::Ack { space: 7, term: 0, number: 0 };
        space.handle(1, Event::Helper { server: Some(OTHER) });
        space.handle(1, Event::Heard { from: OTHER, said: ack });
        space.handle(1, Event::Put { epoch: Some(1) });
        let ask = Ask::Delete { space: 7, number: 4 };
        space.handle(1, Event::Asked { client: Tid(9), ask: ask.clone() });
        space.handle(1, Event::Put { epoch: Some(2) });
        // The request is repeated and gets an answer.
        space.handle(1, Event::Asked { client: Tid(9), ask });
        assert_eq!(erased(&mut space), None, "the copy has not answered");
        space
    };
    let dropped = |is_gone| Between::Dropped { space: 7, term: 0, is_gone };
    for (event, is_partial) in [
        (Event::Heard { from: OTHER, said: dropped(true) }, false),
        (Event::Heard { from: OTHER, said: dropped(false) }, true),
        (Event::Gone { task: OTHER }, true),
    ] {
        let mut space = deleted();
        space.handle(2, event);
        assert_eq!(erased(&mut space), Some((vec![(Tid(9), 4)], is_partial)));
    }
    let mut space = deleted();
    let until = space.poll_timeout().expect("not for ever");
    space.handle_timeout(until);
    assert_eq!(erased(&mut space), Some((vec![(Tid(9), 4)], true)));
}

/// The deleting clients that get their answer now, and whether files may be left.
fn erased(space: &mut Partition) -> Option<(Vec<(Tid, u64)>, bool)> {
    outputs(space).into_iter().find_map(|output| match output {
        Output::Erase { deleters, is_partial } => Some((deleters, is_partial)),
        _ => None,
    })
}

#[test]
fn reads_and_repetitions_ate_the_disk_of_a_durable_space() {
    let options = Options { copies: 0, ..title().entry.options };
    let title = Title { entry: Entry { options, ..title().entry }, ..title() };
    let mut space = Partition::create(ME, title, None, None, 1);
    let mut template = crate::Builder::new();
    template.int(1).expect("fits");
    let tuple = template.tuple().expect("a field");
    let find = |how| Op::Find { template: tuple.clone(), how, wait: true, limit_ms: None };
    // The number of steps to be written, and the requests that are answered.
    let mut ask = |number, op| {
        let ask = Ask::Do { space: 7, number, settled: 1, op };
        space.handle(1, Event::Asked { client: Tid(9), ask });
        let (mut steps, mut told) = (0, Vec::new());
        while let Some(output) = space.poll_output() {
            match output {
                Output::Persist { record: Record::Step { number, .. } } => {
                    steps += 1;
                    // From the second request on the disk does not answer.
                    if number > 1 {
                        space.handle(1, Event::Persisted { number });
                    }
                }
                Output::Tell { number, .. } => told.push(number),
                _ => {}
            }
        }
        (steps, told)
    };
    assert_eq!(ask(1, Op::Put { tuples: vec![tuple.clone()], wait: true }), (1, vec![]));
    assert_eq!(ask(2, find(Find::Copy)), (0, vec![]), "what it has seen is not on disk");
    assert_eq!(ask(3, find(Find::Take)), (1, vec![1, 2, 3]));
    assert_eq!(ask(3, find(Find::Take)), (0, vec![3]));
    assert_eq!(ask(4, find(Find::Copy)), (1, vec![]), "it waits");
    assert_eq!(ask(4, find(Find::Copy)), (0, vec![]));
    assert_eq!(ask(5, Op::Put { tuples: vec![tuple.clone()], wait: true }), (1, vec![4, 5]));
    assert_eq!(ask(6, Op::Count { template: tuple.clone() }), (0, vec![6]));
}

#[test]
fn a_call_that_had_ended_took_a_tuple_at_the_copy_that_took_over() {
    let client = Tid(9);
    let mut template = crate::Builder::new();
    template.int(1).expect("fits");
    let template = template.tuple().expect("a field");
    let op = Op::Find {
        template: template.clone(),
        how: Find::Take,
        wait: true,
        limit_ms: NonZeroU64::new(6500),
    };
    let asked = Input::Asked { client, number: 1, settled: 1, op };
    let begin = Between::Begin {
        name: Blob::from("space"),
        term: 0,
        entry: Entry { copies: vec![OTHER], directory: Blob::default(), ..title().entry },
        number: 0,
        snapshot: Store::new(1 << 20, Full::Wait).snapshot(),
    };
    let mut copy = Partition::follow(OTHER, ME, begin, 100).expect("it begins");
    // The clock of the primary shows another time than the clock of the copy.
    let said = Between::Step { space: 7, term: 0, number: 1, at_ms: 900_000, input: asked };
    copy.handle(100, Event::Heard { from: ME, said });
    assert_eq!(copy.poll_timeout(), None, "the primary ends it");
    // The client has ended its call at 6600 by a message to the primary, which has died.
    copy.handle(6700, Event::Gone { task: ME });
    let entry = Entry { primary: OTHER, directory: Blob::default(), ..title().entry };
    copy.handle(6700, Event::Latest { look: 1, entry: Some((1, entry)) });
    let put = Op::Put { tuples: vec![template], wait: true };
    let ask = Ask::Do { space: 7, number: 1, settled: 1, op: put };
    copy.handle(6700, Event::Asked { client: Tid(8), ask });
    assert_eq!(copy.store().count(), 1, "{:?}", outputs(&mut copy));
}

#[test]
fn the_file_of_a_copy_under_a_new_primary_looked_like_one_under_the_old_one() {
    let begin = |term, primary| Between::Begin {
        name: Blob::from("space"),
        term,
        entry: Entry { primary, copies: vec![OTHER], ..title().entry },
        number: 0,
        snapshot: Store::new(1 << 20, Full::Wait).snapshot(),
    };
    let mut copy = Partition::follow(OTHER, ME, begin(0, ME), 1).expect("it begins");
    let next = Tid(3 << 18 | 1);
    copy.handle(2, Event::Heard { from: next, said: begin(4, next) });
    let Record::Begun { epoch, .. } = copy.checkpoint() else { panic!("the first record") };
    assert_eq!(epoch, 4);
}

#[test]
fn a_space_whose_name_is_gone_keeps_its_file_and_one_that_was_deleted_does_not() {
    let end = |event: Event| {
        let begin = Between::Begin {
            name: Blob::from("space"),
            term: 0,
            entry: Entry { copies: vec![OTHER], ..title().entry },
            number: 0,
            snapshot: Store::new(1 << 20, Full::Wait).snapshot(),
        };
        let mut copy = Partition::follow(OTHER, ME, begin, 1).expect("it begins");
        copy.handle(2, event);
        outputs(&mut copy).into_iter().find_map(|output| match output {
            Output::Close { is_over, .. } => Some(is_over),
            _ => None,
        })
    };
    assert_eq!(end(Event::Latest { look: 1, entry: None }), Some(false));
    let deleted = Entry { deleted: true, ..title().entry };
    assert_eq!(end(Event::Latest { look: 1, entry: Some((1, deleted)) }), Some(true));
    let said = Between::Drop { space: 7, term: 0 };
    assert_eq!(end(Event::Heard { from: ME, said }), Some(true));
}

fn of_copy(output: Output) -> Option<Between> {
    match output {
        Output::Say { to: OTHER, what } => Some(what),
        _ => None,
    }
}

fn entry_put(outputs: &[Output]) -> Option<(i32, &Entry)> {
    outputs.iter().find_map(|output| match output {
        Output::Put { epoch, entry } => Some((*epoch, entry)),
        _ => None,
    })
}

/// A space in memory that wants a copy, which its other server has not begun yet.
fn with_a_joining_copy() -> (Partition, Tuple) {
    let entry = Entry { directory: Blob::default(), ..title().entry };
    let mut space = Partition::create(ME, Title { entry, ..title() }, None, None, 1);
    outputs(&mut space);
    space.handle(2, Event::Helper { server: Some(OTHER) });
    let begun = outputs(&mut space).into_iter().find_map(of_copy);
    assert!(matches!(begun, Some(Between::Begin { number: 0, .. })), "{begun:?}");
    let mut tuple = crate::Builder::new();
    tuple.int(1).expect("fits");
    (space, tuple.tuple().expect("a field"))
}

fn ack(space: &mut Partition, now: u64, number: u64) -> Vec<Output> {
    space.handle(
        now,
        Event::Heard { from: OTHER, said: Between::Ack { space: 7, term: 0, number } },
    );
    outputs(space)
}

#[test]
fn all_answers_waited_for_a_server_that_was_to_become_a_copy_and_had_not_begun() {
    let (mut space, tuple) = with_a_joining_copy();
    let put = || Op::Put { tuples: vec![tuple.clone()], wait: false };
    assert_eq!(said(&mut space, (3, Tid(8), 1), put()), [Outcome::Done]);
    assert_eq!(said(&mut space, (4, Tid(8), 2), put()), [Outcome::Done]);
    // It has the beginning, and not yet what was answered since: it cannot take over, so it is not
    // named; what is answered from now on it must have.
    assert_eq!(entry_put(&ack(&mut space, 5, 0)), None);
    assert_eq!(said(&mut space, (6, Tid(8), 3), put()), []);
    // A step was lost: what it lacks is said again.
    space.handle_timeout(2000);
    let again = outputs(&mut space).into_iter().filter_map(of_copy);
    let again = again.filter_map(|what| match what {
        Between::Step { number, .. } => Some(number),
        _ => None,
    });
    assert_eq!(again.collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(entry_put(&ack(&mut space, 2001, 1)), None);
    let named = ack(&mut space, 2002, 2);
    assert_eq!(
        entry_put(&named).map(|(epoch, entry)| (epoch, &*entry.copies)),
        Some((1, &[OTHER][..]))
    );
    let told = ack(&mut space, 2003, 3);
    assert!(told.iter().any(|output| matches!(output, Output::Tell { number: 3, .. })), "{told:?}");
}

/// Like `with_a_joining_copy`, and the entry names the copy.
fn with_a_copy() -> (Partition, Tuple) {
    let (mut space, tuple) = with_a_joining_copy();
    assert!(entry_put(&ack(&mut space, 3, 0)).is_some());
    space.handle(4, Event::Put { epoch: Some(1) });
    outputs(&mut space);
    (space, tuple)
}

#[test]
fn the_first_state_of_a_large_space_was_sent_again_each_second_and_its_copy_given_up_after_six() {
    let (mut space, _) = with_a_joining_copy();
    let mut large = crate::Builder::new();
    large.actual(crate::Kind::Text, crate::Shape::Scalar, &vec![0; 100 << 20]).expect("fits");
    let put = Op::Put { tuples: vec![large.tuple().expect("a field")], wait: false };
    space.store.limit = u64::MAX;
    assert_eq!(said(&mut space, (3, Tid(8), 1), put), [Outcome::Done]);
    let begins = |outputs: Vec<Output>| {
        let begins = outputs.into_iter().filter_map(of_copy);
        begins.filter(|what| matches!(what, Between::Begin { .. })).count()
    };
    let mut sent = 0;
    for second in 1..10 {
        space.handle_timeout(second * 1100);
        sent += begins(outputs(&mut space));
    }
    assert!((1..=3).contains(&sent), "{sent}");
    assert!(entry_put(&ack(&mut space, 10_000, 1)).is_some(), "it was given up");
}

#[test]
fn a_copy_never_took_over_from_a_server_whose_disk_had_failed() {
    let (mut space, tuple) = with_a_copy();
    let put = Op::Put { tuples: vec![tuple], wait: false };
    assert_eq!(said(&mut space, (5, Tid(8), 1), put), []);
    space.handle(6, Event::Failed);
    let all = outputs(&mut space);
    let is_elsewhere = |output: &Output| {
        matches!(output, Output::Tell { number: 1, told: Told::Elsewhere { .. }, .. })
    };
    assert!(all.iter().any(is_elsewhere), "{all:?}");
    let is_failed = |what| matches!(what, Between::Failed { term: 0, .. });
    assert!(all.into_iter().filter_map(of_copy).any(is_failed));
    // The word was lost: it is said again, until another one is the primary.
    let own = Entry { copies: vec![OTHER], directory: Blob::default(), ..title().entry };
    for now in [1100, 2200] {
        space.handle_timeout(now);
        let looks = outputs(&mut space);
        let look = looks.iter().find_map(|output| match output {
            Output::Look { look } => Some(*look),
            _ => None,
        });
        let entry = Some((1, own.clone()));
        space.handle(now, Event::Latest { look: look.expect("a look"), entry });
        assert!(outputs(&mut space).into_iter().filter_map(of_copy).any(is_failed));
    }
    space.handle_timeout(3300);
    let theirs = Entry { primary: OTHER, copies: Vec::new(), ..own };
    space.handle(3301, Event::Latest { look: 9, entry: Some((2, theirs)) });
    let is_closed = |output: &Output| matches!(output, Output::Close { is_over: false, .. });
    assert!(outputs(&mut space).iter().any(is_closed));
}

#[test]
fn a_copy_whose_disk_has_failed_is_given_up_at_once() {
    let (mut space, tuple) = with_a_copy();
    let put = Op::Put { tuples: vec![tuple], wait: false };
    assert_eq!(said(&mut space, (5, Tid(8), 1), put), []);
    space.handle(6, Event::Heard { from: OTHER, said: Between::Failed { space: 7, term: 0 } });
    let named = outputs(&mut space);
    assert_eq!(entry_put(&named).map(|(epoch, entry)| (epoch, entry.copies.len())), Some((2, 0)));
    space.handle(7, Event::Put { epoch: Some(2) });
    let told = outputs(&mut space);
    assert!(told.iter().any(|output| matches!(output, Output::Tell { number: 1, .. })), "{told:?}");
}
