//! Whole runs of the thesis' model: sums, standstills, repetition.

#[path = "checks/thesis.rs"]
#[allow(dead_code)]
mod thesis;

type Verdict = Result<(), String>;
fn is<T: PartialEq>(_: &str, _: T, _: T) -> Verdict {
    Ok(())
}

use pvm_predict::report::Report;
use thesis::run;

/// A program in which all talk to all, with sizes and times from a small generator.
fn program(stations: u32, rounds: u32, mut seed: u32) -> Vec<String> {
    let mut next = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed >> 8
    };
    let mut files = vec![String::new(); stations as usize];
    for _ in 0..rounds {
        let mut sizes = Vec::new();
        for from in 0..stations {
            files[from as usize] += &format!("c {} 0 0 0\n", next() % 5_000);
            for to in 0..stations {
                let bytes = next() % 9_000 + 16;
                files[from as usize] += &format!("s {} {bytes} {from} {to}\n", next() % 3_000);
                sizes.push((from, to, bytes));
            }
        }
        for (from, to, bytes) in sizes {
            let file = &mut files[to as usize];
            *file += &format!("r {} 16 {from} {to}\n", next() % 200);
            if bytes > 16 {
                *file += &format!("r {} {} {from} {to}\n", next() % 900, bytes - 16);
            }
        }
    }
    files
}

fn report(files: &[String], megabits: u32) -> Report {
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run(&files, megabits).expect("it is a sound program")
}

#[test]
fn times_of_a_station_sum_up_to_its_run_and_the_path_to_the_whole() {
    for (stations, seed) in [(2, 1), (4, 2), (5, 3), (9, 4)] {
        for megabits in [10, 100] {
            let report = report(&program(stations, 6, seed), megabits);
            for (number, station) in report.stations.iter().enumerate() {
                assert_eq!(station.total(), station.execution, "station {number} of {stations}");
            }
            assert_eq!(report.path.total(), report.time, "{stations} stations: {:?}", report.path);
        }
    }
}

#[test]
fn one_input_and_seed_give_one_run() {
    let files = program(5, 10, 9);
    assert_eq!(report(&files, 10), report(&files, 10));
    assert!(report(&files, 10).collisions > Some(10));
}

#[test]
fn a_standstill_tells_who_waits_for_whom() {
    let told = run(&["r 1 20 1 0", "s 0 8 1 0\nr 1 5 0 1"], 10).expect_err("nobody sends");
    let text = told.to_string();
    assert!(text.starts_with("standstill: 2 tasks wait"), "{text}");
    assert!(text.contains("task 0 waits for task 1: 8 of 20 bytes have come"), "{text}");
    assert!(text.contains("task 1 waits for task 0: 0 of 5 bytes have come"), "{text}");
    let own = run(&["r 1 5 0 0"], 10).expect_err("it does not send to itself").to_string();
    assert!(own.contains("task 0 waits for task 0"), "{own}");
}
