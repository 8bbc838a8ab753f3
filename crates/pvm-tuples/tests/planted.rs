//! Each planted bug is found by the simulation: `cargo test -p pvm-tuples --features planted --test
//! planted`.
#![cfg(feature = "planted")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "simulation/history.rs"]
mod history;
#[path = "simulation/power.rs"]
#[allow(dead_code, reason = "the other test, which sums up its runs, uses all of it")]
mod power;
#[path = "simulation/shelves.rs"]
mod shelves;
#[path = "simulation/world.rs"]
#[allow(dead_code, reason = "the other test, which sums up its runs, uses all of it")]
mod world;

use power::Power;
use pvm_tuples::planted::{Bug, plant};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use world::World;

/// A bug that needs more seeds is one that the simulation does not really look for.
const SEEDS: u64 = 2000;
const THREADS: usize = 2;

/// The first seed that finds it; a crash is a find, too.
fn found(bug: Bug) -> Option<u64> {
    plant(Some(bug));
    let finds = |run: &dyn Fn() -> bool| !catch_unwind(AssertUnwindSafe(run)).unwrap_or(false);
    let power = |seed: &u64| finds(&|| Power::new(*seed).run().is_ok());
    let world = |seed: &u64| {
        finds(&|| {
            let mut world = World::new(*seed);
            world.run();
            world.judge().is_ok()
        })
    };
    let is_of_disk = matches!(bug, Bug::AnswersBeforeTheDisk | Bug::TrustsTheDisk);
    let seed = if is_of_disk { (0..SEEDS).find(power) } else { (0..SEEDS).find(world) };
    plant(None);
    seed
}

#[test]
fn every_planted_bug_is_found() {
    // A bug is planted for its thread only.
    let next = AtomicUsize::new(0);
    let search = || {
        let mut all = Vec::new();
        while let Some(bug) = Bug::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            all.push((*bug, found(*bug)));
        }
        all
    };
    let found = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(search)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    eprintln!("{found:?}");
    let missed: Vec<Bug> =
        found.iter().filter(|(_, seed)| seed.is_none()).map(|(bug, _)| *bug).collect();
    assert!(missed.is_empty(), "not found within {SEEDS} seeds: {missed:?}");
}
