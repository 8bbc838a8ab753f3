//! Bounds of the machine's cost. One test at a time; the bounds leave room for a computer that does
//! other things as well, the figures are printed. One test at a time; the bounds leave room for a
//! computer that does other things as well, the figures are printed.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running, eventually, has, long, process};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// One measurement at a time.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn an_idle_host_takes_little_memory_and_no_processor() {
    let _alone = ALONE.lock();
    let machine = Machine::start();
    // It has worked before.
    machine.run("exits.c", &["3"]);
    std::thread::sleep(Duration::from_secs(1));
    let pids = [machine.parent(), machine.daemon().expect("a daemon")];
    let spent = || pids.iter().map(|pid| process::processor_ns(*pid)).sum::<u64>();
    let before = spent();
    let time = Duration::from_secs(if long() { 60 } else { 10 });
    std::thread::sleep(time);
    let used = Duration::from_nanos(spent() - before);
    let resident = pids.map(process::resident_kib);
    let proportional = pids.map(process::proportional_kib);
    eprintln!(
        "idle: resident {resident:?} KiB (shared pages divided: {proportional:?}), {used:?} of \
         processor in {time:?}"
    );
    assert!(resident.iter().sum::<u64>() <= 12 << 10, "{resident:?} KiB are over 12 MB");
    // 0.0 % as a task list shows it.
    assert!(used < time / 2000, "{used:?} in {time:?}");
    machine.halt();
}

#[test]
fn an_idle_task_takes_little_memory() {
    let _alone = ALONE.lock();
    let machine = Machine::start();
    let mut tasks = [machine.begin("idle.c", &[]), machine.begin("idle.c", &["bare"])];
    for task in &tasks {
        assert!(eventually(Duration::from_secs(60), || task.so_far().contains("waits")));
    }
    let kib = tasks.each_ref().map(|task| process::resident_kib(task.pid()));
    eprintln!(
        "idle: a task has {} KiB resident, the same program without the machine {}",
        kib[0], kib[1]
    );
    assert!(kib[0] <= kib[1] + (3 << 10), "{kib:?} KiB: the library takes over 3 MB");
    for task in &mut tasks {
        process::kill(task.pid());
    }
    machine.halt();
}

#[test]
fn the_exit_of_a_killed_task_is_told_at_once() {
    let _alone = ALONE.lock();
    let machine = Machine::start();
    let output = machine.run("exits.c", &["20"]);
    eprintln!("notice of a killed task: {}", output.out.replace('\n', ", "));
    assert!(output.number("median ") < 250.0);
    machine.halt();
}

/// Runs of which one must find two processors for itself: a computer that is lent takes them away
/// at times.
const TRIES: usize = 10;

/// The share of all processors that others use, from 0 to 1.
fn load_of_others() -> f64 {
    let times = || -> (u64, u64) {
        let text = std::fs::read_to_string("/proc/stat").expect("/proc/stat");
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<u64> =
            line.split_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
        // Fourth and fifth: idle, and idle while a disk works.
        (ticks.iter().sum(), ticks[3] + ticks[4])
    };
    let (all, idle) = times();
    std::thread::sleep(Duration::from_millis(300));
    let (all_later, idle_later) = times();
    1.0 - (idle_later - idle) as f64 / (all_later - all).max(1) as f64
}

#[test]
fn a_hundred_thousand_ping_pongs_need_hardly_a_system_call() {
    let _alone = ALONE.lock();
    if !has("strace", "strace") {
        return;
    }
    let machine = Machine::start();
    let program = machine.place().compile("pingpong.c");
    let trace = machine.place().home().join("trace");
    // Two tasks that always run need two processors for themselves; who has to wait for one goes
    // to sleep, and strace makes every waking so slow that the partner falls asleep meanwhile.
    eventually(Duration::from_secs(15), || load_of_others() < 0.15);
    let plain = machine.run("pingpong.c", &["20000"]);
    let (mut fewest, mut why) = (usize::MAX, String::new());
    let begin = Instant::now();
    for _ in 0..TRIES {
        if begin.elapsed() > Duration::from_secs(40) {
            break;
        }
        let mut command = machine.place().command("strace");
        command.args(["-f", "-s", "4096", "-o"]).arg(&trace).arg(&program).arg("100000");
        let output = Running::start(command).finish(Duration::from_secs(12));
        if output.err.contains("ptrace") {
            eprintln!("skipped: strace may not trace here: {}", output.err);
            return;
        }
        let bytes = std::fs::read(&trace).expect("a trace");
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("PAYLOAD-PAYLOAD-"), "payload went through a system call");
        let calls = text.lines().filter(|line| !line.contains(" resumed>")).count();
        let ended = output.status.is_none() || output.code() == 0;
        assert!(ended, "{}{}", output.out, output.err);
        if calls < fewest {
            (fewest, why) = (calls, most_frequent(&text));
        }
        if fewest < 2000 {
            break;
        }
        eprintln!("{calls} system calls: {}", most_frequent(&text));
        eventually(Duration::from_secs(3), || load_of_others() < 0.15);
    }
    eprintln!(
        "200000 messages of 8 bytes: {}, {fewest} system calls in all, begin and end included",
        plain.out.trim_end()
    );
    let load = load_of_others();
    if fewest >= 2000 && load > 0.15 {
        eprintln!("not judged: others use {:.0} % of the processors; {why}", load * 100.0);
    } else {
        assert!(fewest < 2000, "{fewest} system calls for 200000 messages\n{why}");
    }
    machine.halt();
}

#[test]
fn what_a_message_between_two_hosts_costs() {
    let _alone = ALONE.lock();
    let machine = Machine::local(2);
    // The program itself fails where something does not arrive; how long it takes is for people.
    let output = machine.run("route_times.c", &[]);
    eprintln!("{}", output.out.trim_end());
    machine.halt();
}

fn most_frequent(trace: &str) -> String {
    let mut names: Vec<&str> = trace
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1)?.split('(').next())
        .collect();
    names.sort_unstable();
    let mut counts: Vec<(usize, &str)> =
        names.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts.truncate(8);
    format!("{counts:?}")
}
