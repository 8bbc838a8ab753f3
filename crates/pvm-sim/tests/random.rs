//! Random runs from seeds. `PVM_SIM_SEED=7` replays one and prints its conversation,
//! `PVM_SIM_RUNS=100000` makes more.

use pvm_sim::{Fault, Tally};

/// The faults of these runs: each must really have happened, or the runs prove less than they say.
const FAULTS: [Fault; 9] = [
    Fault::BrokenOff,
    Fault::Crash,
    Fault::CrashBeforeActs,
    Fault::CrashBeforeEffects,
    Fault::Cut,
    Fault::Death,
    Fault::Fence,
    Fault::Silence,
    Fault::Slow,
];

const RUNS: u64 = 300;
const STEPS: u32 = 150;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn invariants_hold_whatever_breaks() {
    let (from, count) = match number("PVM_SIM_SEED") {
        Some(seed) => (seed, 1),
        None => (0, number("PVM_SIM_RUNS").unwrap_or(RUNS)),
    };
    let mut tally = Tally::default();
    for seed in from..from + count {
        let outcome = std::panic::catch_unwind(|| {
            let mut journal = Vec::new();
            let outcome = pvm_sim::random::run(seed, STEPS, (count == 1).then_some(&mut journal));
            journal.iter().for_each(|line| println!("{line}"));
            outcome
        });
        match outcome {
            Ok(Ok(faults)) => tally += &faults,
            Ok(Err(why)) => panic!("PVM_SIM_SEED={seed} replays this: {why}"),
            Err(_) => panic!("PVM_SIM_SEED={seed} replays this panic"),
        }
    }
    println!("{count} runs: {tally}");
    if count >= 100 {
        let missing = FAULTS.iter().find(|fault| tally.count(**fault) == 0);
        assert_eq!(missing, None, "a fault that never happened: {tally}");
    }
}
