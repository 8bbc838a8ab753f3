//! Every run of a few members within bounds, searched state by state.
//!
//! At any moment: a message arrives, late, in another order or never; a host's clock goes on, each
//! by itself; a due timeout is handled, late too; a daemon is killed and comes back with its
//! records; a link breaks and comes back, and each side notices the break when it does; one of two
//! that hears nothing of the other asks the witness, in either order, and hears the answer late; a
//! command is proposed; a linearizable read is requested; the leader gives way. Most of it is
//! bounded by a number ([`Bounds`]), terms too; time is not. States that no member could tell apart
//! count as one (`hash`), and the real core runs, not a model of it.
//!
//! Each step checks that a term has one leader; that a leader of a later term than all before has
//! every command that was ever applied; that a host that answers a read has applied all that any
//! host had applied when the read came; that all apply the same commands under the same numbers and
//! leave none out; and that no host ends while it alone has a command.

mod hash;
mod host;
mod machine;
mod walks;
mod world;

use self::world::{Bounds, Step, World};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// The findings of a search.
#[derive(Debug)]
struct SearchTotals {
    states: usize,
    steps: usize,
    /// All runs of this many steps were searched.
    length: usize,
    /// States at a bound of terms, that were not followed.
    bounded: usize,
    /// The number of times that each event has happened.
    counts: BTreeMap<&'static str, usize>,
}

/// Searches all that can happen from here, the shortest runs first, until nothing is left, or until
/// all runs of one length are done and at least `most` states were found. Returns what was seen, or
/// what is wrong in one of the states, with the steps that lead there.
fn search(world: World, most: usize) -> Result<SearchTotals, String> {
    let mut seen = HashSet::from([hash::of(&world)]);
    let mut found =
        SearchTotals { states: 1, steps: 0, length: 0, bounded: 0, counts: BTreeMap::new() };
    // Which step led to each state, and from which other one.
    let mut ways = vec![(0, Step::Tick(0))];
    let mut open = VecDeque::from([(0, 0, world)]);
    while let Some((at, depth, world)) = open.pop_front() {
        if ways.len() >= most && depth >= found.length {
            break;
        }
        // Each state at this depth is followed by one step more.
        found.length = depth + 1;
        for step in world.steps() {
            let mut next = world.clone();
            next.take(step);
            found.steps += 1;
            next.seen.iter().for_each(|what| *found.counts.entry(what).or_default() += 1);
            if let Some(wrong) = next.wrong() {
                return Err(format!("{wrong}, after {:?}, {step:?}", way(&ways, at)));
            }
            if !next.is_within() {
                found.bounded += 1;
            } else if seen.insert(hash::of(&next)) {
                ways.push((at, step));
                open.push_back((ways.len() - 1, depth + 1, next));
            }
        }
    }
    found.states = seen.len();
    Ok(found)
}

/// The steps that led to a state.
fn way(ways: &[(usize, Step)], mut at: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while at != 0 {
        steps.push(ways[at].1);
        at = ways[at].0;
    }
    steps.reverse();
    steps
}

/// Nothing happens, and one message of each direction is under way.
const NOTHING: Bounds = Bounds {
    crashes: 0,
    cuts: 0,
    proposals: 0,
    reads: 0,
    resigns: 0,
    removals: 0,
    deaths: 0,
    asks: false,
    wire: 1,
    late: false,
    lazy: false,
    terms: 1,
    short: false,
};

/// A link breaks, and may come back; a leader that steps down then does not lead again.
const CUT: Bounds = Bounds { cuts: 1, reads: 1, terms: 0, ..NOTHING };
/// A daemon is killed; its leadership ends with that.
const CRASH: Bounds = Bounds { crashes: 1, proposals: 1, terms: 0, ..NOTHING };
/// A member is taken out that lives, and meanwhile a daemon is killed.
const REMOVAL: Bounds = Bounds { crashes: 1, removals: 1, ..NOTHING };
/// A leader that stepped down may lead again.
const CUT_AND_LEAD: Bounds = Bounds { cuts: 1, ..NOTHING };

/// Every run of two members and a witness within the bounds is right, and each event in `needed`
/// has happened in some run.
fn holds(name: &str, bounds: Bounds, needed: &[&str]) {
    let began = std::time::Instant::now();
    let found = search(World::of(2, true, bounds), usize::MAX)
        .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    println!("{name}: {found:?}, {:?}", began.elapsed());
    for what in needed {
        assert!(found.counts.contains_key(what), "{name}: nobody ever {what}");
    }
}

#[test]
fn two_with_a_witness_answer_nothing_old_and_lose_nothing() {
    holds("cut", CUT, &["takes over", "answers", "ends"]);
    holds("crash", CRASH, &["takes over", "ends"]);
    holds("cut, lead again", CUT_AND_LEAD, &["leads again", "takes over", "ends"]);
    holds("crash and cut", Bounds { cuts: 1, proposals: 0, ..CRASH }, &["takes over", "ends"]);
}

/// Searches within wider bounds, each bound by itself: together they have too many states.
#[test]
#[ignore = "a minute and more: make soak"]
fn deep_searches_of_two_with_a_witness() {
    let all = &["takes over", "answers", "ends"];
    holds("cut, lead again, read", Bounds { terms: 1, ..CUT }, all);
    holds("cut, late and lazy", Bounds { late: true, lazy: true, ..CUT }, all);
    holds("cut, overtaking", Bounds { wire: 2, ..CUT }, all);
    holds("crash, read", Bounds { reads: 1, ..CRASH }, all);
    holds(
        "crash, lead again",
        Bounds { terms: 1, ..CRASH },
        &["leads again", "takes over", "ends"],
    );
    holds("crash, cut, command", Bounds { cuts: 1, ..CRASH }, &["takes over", "ends"]);
    holds("the leader gives way", Bounds { resigns: 1, ..NOTHING }, &["leads instead"]);
}

/// States of three members after which a search ends.
const MANY: usize = 1_000_000;

/// Three members have too many states for a whole search: every run of the given length is right.
#[test]
#[ignore = "minutes: make soak"]
fn every_short_run_of_three_is_right() {
    for (name, bounds, length) in [
        ("cut", Bounds { reads: 0, ..CUT }, 16),
        ("crash", CRASH, 12),
        ("crash, lead again", Bounds { terms: 1, ..CRASH }, 12),
        ("removal and crash", REMOVAL, 13),
        ("nothing", NOTHING, 18),
    ] {
        let began = std::time::Instant::now();
        let found = search(World::of(3, false, bounds), MANY);
        let found = found.unwrap_or_else(|wrong| panic!("three, {name}: {wrong}"));
        println!("three, {name}: {found:?}, {:?}", began.elapsed());
        assert!(found.length >= length, "three, {name}: {found:?}");
    }
}

/// States of four members after which a search ends: each has more than one of three.
const SOME: usize = 200_000;

/// Four members, of which three vote, or four while one is replaced.
#[test]
#[ignore = "minutes: make soak"]
fn every_short_run_of_four_is_right() {
    for (name, bounds, length) in [
        ("cut", Bounds { reads: 0, ..CUT }, 8),
        ("crash", CRASH, 8),
        ("removal and crash", REMOVAL, 8),
    ] {
        let began = std::time::Instant::now();
        let found = search(World::of(4, false, bounds), SOME);
        let found = found.unwrap_or_else(|wrong| panic!("four, {name}: {wrong}"));
        println!("four, {name}: {found:?}, {:?}", began.elapsed());
        assert!(found.length >= length, "four, {name}: {found:?}");
    }
}

/// Bounds of long runs by chance.
const LONG: Bounds = Bounds {
    crashes: 4,
    cuts: 6,
    proposals: 12,
    reads: 12,
    resigns: 1,
    removals: 2,
    deaths: 0,
    asks: true,
    wire: 4,
    late: false,
    lazy: true,
    terms: u64::MAX,
    short: false,
};

/// Bounds in which a host dies for ever. One of three and four may.
const LONG_AND_DEATH: Bounds = Bounds { deaths: 1, removals: 1, ..LONG };

/// Runs by chance of this many hosts.
fn walks(name: &str, world: &World, (seeds, length): (u64, usize)) {
    let mut counts = walks::Counts::new();
    for seed in 0..seeds {
        let seen = walks::walk(world.clone(), seed, length);
        let seen = seen.unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        seen.into_iter().for_each(|(what, count)| *counts.entry(what).or_default() += count);
    }
    println!("{name}: {seeds} runs of {length} steps, {counts:?}");
}

#[test]
fn long_runs_by_chance_are_right_and_end_in_agreement() {
    let only = std::env::var("PVM_WALK").ok();
    let runs = std::env::var("PVM_WALKS").map_or(200, |text| text.parse().expect("a number"));
    for (name, count, bounds) in [
        ("three", 3, LONG),
        ("three, one dies", 3, Bounds { removals: 0, ..LONG_AND_DEATH }),
        ("four", 4, LONG),
        ("four, one dies", 4, LONG_AND_DEATH),
        ("five", 5, LONG),
        ("five, one dies", 5, Bounds { removals: 2, ..LONG_AND_DEATH }),
        ("six", 6, LONG),
        ("four, the state", 4, Bounds { short: true, ..LONG }),
    ] {
        if only.as_ref().is_none_or(|only| only == name) {
            walks(name, &World::of(count, false, bounds), (runs, 400));
        }
    }
}

/// The test of the search: a bug that is planted on purpose is found, in these bounds.
#[cfg(feature = "planted")]
fn finds(bug: pvm_core::planted::Bug, bounds: Bounds) {
    pvm_core::planted::plant(Some(bug));
    let found = search(World::of(2, true, bounds), usize::MAX);
    pvm_core::planted::plant(None);
    let wrong = found.err().unwrap_or_else(|| panic!("{bug:?} is not found"));
    println!("{bug:?}: {wrong}");
}

#[cfg(feature = "planted")]
#[test]
fn planted_bugs_are_found_by_the_search() {
    use pvm_core::planted::Bug;
    finds(Bug::LeadsUnanswered, CUT);
    finds(Bug::StaleRead, CUT);
    finds(Bug::LeaseOverAPause, CUT);
    finds(Bug::AcknowledgedBeforeStored, CRASH);
    finds(Bug::NeedForgotten, Bounds { terms: 1, ..CRASH });
}

/// Bugs that runs by chance find; the short runs of the search are too short for most of them.
#[cfg(feature = "planted")]
#[test]
fn planted_bugs_are_found_by_long_runs() {
    use pvm_core::planted::{Bug, plant};
    let three = Bounds { removals: 0, ..LONG_AND_DEATH };
    let all = [(3, three), (4, LONG_AND_DEATH), (4, LONG), (5, LONG)];
    let worlds = all.map(|(count, bounds)| World::of(count, false, bounds));
    for bug in [
        Bug::OlderTermFollowed,
        Bug::LeadsOnInLaterTerm,
        Bug::CommitUnverified,
        Bug::ReadBeforeOwnEntry,
        Bug::BallotNotStored,
        Bug::AnswerCountsForAll,
    ] {
        plant(Some(bug));
        let run = |(seed, world): (u64, &World)| walks::walk(world.clone(), seed, 400).err();
        let found = (0..10_000).zip(worlds.iter().cycle()).find_map(run);
        plant(None);
        let wrong = found.unwrap_or_else(|| panic!("{bug:?} is not found"));
        println!("{bug:?}: {}", wrong.split(", after").next().unwrap_or(""));
    }
}
