//! The test of the tester: bugs that are planted on purpose are found, each with the seed that
//! finds it. `cargo test -p pvm-sim --features planted --test planted -- --nocapture` shows them.

#![cfg(feature = "planted")]

use pvm_core::planted::{Bug, plant};
use pvm_sim::faults::{Scene, run};
use pvm_sim::random;
use std::panic::{UnwindSafe, catch_unwind};
use std::sync::Mutex;

/// Runs of each scene before a bug counts as not found.
const RUNS: u64 = 300;
/// Steps of a run in which anything is asked for, as in `random.rs`.
const STEPS: u32 = 150;

/// Returns the fault that a run reports.
fn wrong<T>(run: impl FnOnce() -> Result<T, String> + UnwindSafe) -> Option<String> {
    match catch_unwind(run) {
        Ok(Ok(_)) => None,
        Ok(Err(why)) => Some(why),
        Err(_) => Some("a panic".to_owned()),
    }
}

/// The scene that was made for a bug, where others would only take time.
const fn home(bug: Bug) -> Option<Scene> {
    match bug {
        Bug::NeedForgotten => Some(Scene::Witness),
        Bug::PartsUnasked => Some(Scene::Parted),
        Bug::GoesByItsOwnVote | Bug::RemovalKept => Some(Scene::Removal),
        Bug::LeaseOverAPause => Some(Scene::Stopped),
        Bug::NoSecondOpinion | Bug::LeadsHalfDeaf => Some(Scene::HalfDeaf),
        Bug::VotersOnOneComputer => Some(Scene::OneComputer),
        Bug::RelayedUncommitted | Bug::BelowUncounted => Some(Scene::Tree),
        Bug::LaggardWithoutState | Bug::CatchesUpByAdding | Bug::BeatsBehindBulk => {
            Some(Scene::SlowCables)
        }
        _ => None,
    }
}

/// The first run that goes wrong, and what it says.
fn find(bug: Bug) -> Option<(String, u64, String)> {
    plant(Some(bug));
    let at_home = home(bug).and_then(|scene| {
        let seek = |seed| wrong(|| run(scene, seed, None)).map(|why| (seed, why));
        (0..RUNS).find_map(seek).map(|(seed, why)| (format!("{scene:?}"), seed, why))
    });
    let everywhere = || {
        (0..RUNS).find_map(|seed| {
            let scenes = [
                Scene::Anything,
                Scene::Two,
                Scene::Witness,
                Scene::Lease,
                Scene::Overruled,
                Scene::Deaf,
                Scene::OneComputer,
                Scene::Stopped,
                Scene::HalfDeaf,
                Scene::SlowCables,
                Scene::Deaths,
            ];
            let in_scene = scenes.into_iter().find_map(|scene| {
                // The scenes of two hosts are short; the long ones need not be run for each.
                let long = !matches!(scene, Scene::Anything | Scene::Two | Scene::Witness);
                if long && seed % 10 != 0 {
                    return None;
                }
                wrong(|| run(scene, seed, None)).map(|why| (format!("{scene:?}"), seed, why))
            });
            in_scene.or_else(|| {
                let why = wrong(|| random::run(seed, STEPS, None))?;
                Some(("requests of all sorts".to_owned(), seed, why))
            })
        })
    };
    let found = at_home.or_else(everywhere);
    plant(None);
    found
}

/// Each bug is sought on a thread of its own.
#[test]
fn every_planted_bug_is_found() {
    let only = std::env::var("PVM_SIM_BUG").ok();
    let wanted = |bug: &Bug| only.as_ref().is_none_or(|only| *only == format!("{bug:?}"));
    let bugs: Vec<Bug> = Bug::ALL.into_iter().filter(wanted).collect();
    let open = Mutex::new(bugs.iter());
    let missed = Mutex::new(Vec::new());
    let seek = || {
        let next = || open.lock().expect("no thread panics").next();
        while let Some(&bug) = next() {
            match find(bug) {
                Some((scene, seed, why)) => println!("{bug:?}: {scene}, seed {seed}: {why}"),
                None => missed.lock().expect("no thread panics").push(format!("{bug:?}")),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(seek);
        }
    });
    let missed = missed.into_inner().expect("no thread panics");
    assert!(!bugs.is_empty() && missed.is_empty(), "not found: {}", missed.join(", "));
}

/// Others have to put without a pause while the leader is being deleted, which few seeds do.
#[test]
fn a_leader_that_was_kept_by_the_commands_of_others_is_found() {
    let run = || wrong(|| run(Scene::Removals, 32_003_007, None));
    assert_eq!(run(), None);
    plant(Some(Bug::NoLastCall));
    let why = run();
    plant(None);
    println!("{:?}: {why:?}", Bug::NoLastCall);
    assert!(why.is_some());
}
