//! Operations on a space with a copy, while its servers and the hosts' daemons are killed, can have
//! happened one after the other.
//!
//! `BAG_OPERATIONS=10000000 BAG_KILLS=500 BAG_WORKERS=40` does so many operations beside so many
//! kills.
#![forbid(unsafe_code)]

use pvm_e2e::bag::{Bag, numbers};
use pvm_e2e::{Machine, Running, eventually, process};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const WORKERS: u64 = 4;
/// In the check, and as many more as they do while the servers and daemons are killed.
const OPERATIONS: u64 = 10_000;
const KILLS: u64 = 6;
const LIMIT: Duration = Duration::from_secs(240);
/// A worker writes at least so many bytes for an operation.
const LINE_BYTES: u64 = 30;
const LOOK: Duration = Duration::from_millis(10);

#[test]
fn the_judge_finds_what_no_order_explains() {
    let of = |workers: &[&str], left: &[u64]| {
        let mut bag = Bag::default();
        workers.iter().try_for_each(|lines| bag.said(lines))?;
        bag.judge(left)
    };
    assert_eq!(of(&["P 1 0 5\nT 1 3 9\nN 0 10 11\nP 2 12 14"], &[2]), Ok(()));
    for (wrong, left) in [
        ("P 1 0 5\nT 1 6 7\nT 1 8 9", &[][..]),
        ("P 1 0 5", &[]),
        ("T 1 6 7", &[]),
        ("P 1 8 9\nT 1 6 7", &[]),
        ("P 1 0 5\nT 1 6 7", &[1]),
        ("P 1 0 5\nN 0 6 7", &[1]),
        ("P 1 0 5\nP 2 4 9\nT 1 7 20\nN 0 6 8\nT 2 10 11", &[3]),
        ("P 1 0 5\nP 2 6 9\nT 2 10 11\nT 1 12 13", &[]),
        // A call that is answered is not open any more, and what is withdrawn comes back.
        ("P 1 0 5\nt 0 6 0\nN 0 6 7", &[]),
        ("P 1 0 5\nt 0 6 0\nU 0 6 7", &[]),
    ] {
        assert!(of(&[wrong], left).is_err(), "{wrong}");
    }
    // A worker that was killed may have put what it wanted to put, and have taken one tuple.
    let killed = |begin: &'static str, left: &[u64]| of(&["P 1 0 5\nP 2 6 8", begin], left);
    for (begin, left) in [("p 3 9 0", &[1, 2, 3][..]), ("p 3 9 0", &[1, 2]), ("t 0 9 0", &[2])] {
        assert_eq!(killed(begin, left), Ok(()), "{begin} {left:?}");
    }
    for (begin, left) in [("p 3 9 0", &[1, 3][..]), ("t 0 9 0", &[]), ("t 0 9 0", &[1, 2, 3])] {
        assert!(killed(begin, left).is_err(), "{begin} {left:?}");
    }
}

/// Processes of the machine with these words in their command lines.
fn processes(machine: &Machine, words: &str) -> Vec<u32> {
    let all = machine.place().processes().into_iter();
    all.filter(|(_, line)| line.contains(words)).map(|(pid, _)| pid).collect()
}

/// True once the workers have written so many bytes.
fn have_written(files: &[PathBuf], bytes: u64) -> bool {
    let length = |file: &PathBuf| std::fs::metadata(file).map_or(0, |of| of.len());
    files.iter().map(length).sum::<u64>() >= bytes
}

/// True if the space has all its copies.
fn is_whole(machine: &Machine) -> bool {
    let list = machine.pvm(&["space", "list"]).out;
    list.contains("bag") && !list.contains("missing") && !list.contains("lost")
}

#[test]
fn operations_beside_killed_servers_and_daemons_can_have_happened_one_after_the_other() {
    let set = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (wanted, kills) = (set("BAG_OPERATIONS"), set("BAG_KILLS").unwrap_or(KILLS));
    let number = set("BAG_WORKERS").unwrap_or(WORKERS);
    let each = wanted.unwrap_or(OPERATIONS) / number;
    let machine = Machine::local(3);
    let made = machine.pvm(&["space", "create", "bag", "--copies", "1"]);
    assert_eq!(made.code(), 0, "{}", made.err);
    let file = |worker: u64| machine.place().home().join(format!("said-{worker}"));
    let files: Vec<PathBuf> = (1..=number).map(file).collect();
    let stop = machine.place().home().join("stop");
    let mut workers: Vec<Running> = files
        .iter()
        .zip(1..)
        .map(|(file, seed): (_, u64)| {
            let [file, stop] = [file, &stop].map(|path| path.to_string_lossy().into_owned());
            let words = [file, seed.to_string(), each.to_string(), "0".to_owned(), stop];
            machine.begin("bag.c", &words.each_ref().map(String::as_str))
        })
        .collect();
    let begun = Instant::now();
    let (mut servers, mut daemons) = (0_u64, 0_u64);
    while servers + daemons < kills && workers.iter_mut().all(Running::is_running) {
        assert!(wanted.is_some() || begun.elapsed() < LIMIT, "{servers} {daemons}: no end");
        // The kills are spread over the operations.
        let part = each * number * (servers + daemons) / kills;
        if !have_written(&files, part * LINE_BYTES) {
            std::thread::sleep(LOOK);
            continue;
        }
        if !is_whole(&machine) {
            continue;
        }
        let is_server = (servers + daemons) % 4 != 3;
        let words = if is_server { "pvmtuples" } else { "--daemon" };
        let all = processes(&machine, words);
        if let Some(victim) = all.get((servers + daemons) as usize % all.len().max(1)) {
            process::kill(*victim);
            // A space whose copy has just died looked whole otherwise.
            let ended = eventually(LIMIT, || !process::lives(*victim));
            assert!(ended, "{victim} lives on");
            *(if is_server { &mut servers } else { &mut daemons }) += 1;
        }
    }
    std::fs::write(&stop, "").expect("a file");
    // So many operations take longer than a program of the tests may.
    while wanted.is_some() && workers.iter_mut().any(Running::is_running) {
        std::thread::sleep(Duration::from_millis(100));
    }
    for worker in workers {
        machine.expect_success(worker);
    }
    println!("{servers} servers and {daemons} daemons killed in {:?}", begun.elapsed());
    let mut bag = Bag::default();
    for file in files {
        bag.read(&file).expect("once");
    }
    let mut dump = machine.place().installed("pvm");
    dump.args(["space", "dump", "bag"]);
    // Without its answer all that is there would count as lost.
    bag.judge(&numbers(&machine.succeed(dump).out)).expect("one order");
    assert!(servers >= kills / 2, "only {servers} servers were killed");
    machine.halt();
}
