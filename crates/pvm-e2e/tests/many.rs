//! Many tasks on one host.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, eventually, process};
use std::sync::Mutex;
use std::time::Duration;

/// One crowd at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The peers of the test with select(), and what each of them may take.
const PEERS: u64 = 1200;
const PEER_KIB_MAX: u64 = 3 << 10;

#[test]
fn a_thousand_tasks_start_talk_and_end() {
    let _alone = ALONE.lock();
    let machine = Machine::start();
    let output = machine.run("thousand.c", &["1000"]);
    eprintln!("1000 tasks: {}", output.out.replace('\n', ", "));
    machine.halt();
}

/// As many peers as memory allows, at most [`PEERS`].
fn peers() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").expect("/proc/meminfo");
    let line =
        text.lines().find(|line| line.starts_with("MemAvailable:")).expect("a kernel of today");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    let count = PEERS.min(kib / 2 / PEER_KIB_MAX);
    if count < PEERS {
        eprintln!("only {count} peers: {kib} KiB of memory are free");
    }
    count
}

#[test]
fn select_on_the_one_descriptor_serves_a_task_with_1200_peers() {
    let _alone = ALONE.lock();
    let count = peers();
    let machine = Machine::start();
    let mut running = machine.begin("select.c", &[&count.to_string()]);
    let ready = eventually(Duration::from_secs(300), || {
        running.so_far().contains("ready\n") || !running.is_running()
    });
    assert!(
        ready && running.is_running(),
        "{}{}{}",
        running.so_far(),
        running.errors_so_far(),
        machine.log()
    );
    let peers: Vec<u32> = process::children(machine.parent())
        .into_iter()
        .filter(|pid| process::command_line(*pid).ends_with(" peer"))
        .collect();
    assert_eq!(peers.len() as u64, count, "alive at once");
    let each: u64 =
        peers.iter().take(20).map(|pid| process::proportional_kib(*pid)).sum::<u64>() / 20;
    eprintln!(
        "{count} peers of {each} KiB each; the parent has {} KiB and {} descriptors; {}",
        process::resident_kib(machine.parent()),
        process::descriptors(machine.parent()),
        running.so_far().replace('\n', ", ")
    );
    assert!(each < PEER_KIB_MAX, "a peer takes {each} KiB");
    running.write("\n");
    machine.expect_success(running);
    machine.halt();
}
