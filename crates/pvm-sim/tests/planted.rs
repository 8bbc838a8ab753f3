//! The test of the tester: bugs that are planted on purpose are found, each with the seed that
//! finds it. `cargo test -p pvm-sim --features planted --test planted -- --nocapture` shows them.

#![cfg(feature = "planted")]

use pvm_core::planted::{Bug, plant};
use pvm_sim::faults::{Scene, run};
use std::panic::catch_unwind;

/// Runs of each scene before a bug counts as not found.
const RUNS: u64 = 150;

/// The first run that goes wrong, and what it says.
fn find(bug: Bug) -> Option<(Scene, u64, String)> {
    plant(Some(bug));
    let found = (0..RUNS).find_map(|seed| {
        [Scene::Anything, Scene::Two, Scene::Witness, Scene::Deaths].into_iter().find_map(|scene| {
            // The scenes of two hosts are short; the long one need not be run for each.
            if scene == Scene::Deaths && seed % 10 != 0 {
                return None;
            }
            match catch_unwind(|| run(scene, seed, None)) {
                Ok(Ok(_)) => None,
                Ok(Err(why)) => Some((scene, seed, why)),
                Err(_) => Some((scene, seed, "a panic".to_owned())),
            }
        })
    });
    plant(None);
    found
}

#[test]
fn every_planted_bug_is_found() {
    let only = std::env::var("PVM_SIM_BUG").ok();
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        let name = format!("{bug:?}");
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        match find(bug) {
            Some((scene, seed, why)) => println!("{name}: {scene:?}, seed {seed}: {why}"),
            None => missed.push(name),
        }
    }
    assert!(missed.is_empty(), "not found: {}", missed.join(", "));
}
