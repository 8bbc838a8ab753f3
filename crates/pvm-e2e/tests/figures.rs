//! What the machine may cost. One test at a time; the bounds leave room for a computer that does other
//! things as well, the figures are printed.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, Running, has, long, process};
use std::sync::Mutex;
use std::time::Duration;

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
        "idle: resident {resident:?} KiB (shared pages divided: {proportional:?}), {used:?} of processor in {time:?}"
    );
    assert!(resident.iter().sum::<u64>() <= 12 << 10, "{resident:?} KiB are over 12 MB");
    // 0.0 % as a task list shows it.
    assert!(used < time / 2000, "{used:?} in {time:?}");
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

#[test]
fn a_hundred_thousand_ping_pongs_need_hardly_a_system_call() {
    let _alone = ALONE.lock();
    if !has("strace", "strace") {
        return;
    }
    let machine = Machine::start();
    let program = machine.place().compile("pingpong.c");
    let plain = machine.run("pingpong.c", &["100000"]);
    let trace = machine.place().home().join("trace");
    let mut command = machine.place().command("strace");
    command.args(["-f", "-s", "4096", "-o"]).arg(&trace).arg(program).arg("100000");
    let output = Running::start(command).finish(Duration::from_secs(90));
    if output.err.contains("ptrace") {
        eprintln!("skipped: strace may not trace here: {}", output.err);
        return;
    }
    assert_eq!(output.code(), 0, "{}{}", output.out, output.err);
    let text = String::from_utf8_lossy(&std::fs::read(&trace).expect("a trace")).into_owned();
    let calls = text.lines().filter(|line| !line.contains(" resumed>")).count();
    eprintln!("200000 messages of 8 bytes: {}", plain.out.trim_end());
    eprintln!("{calls} system calls in all, begin and end included");
    let most = most_frequent(&text);
    assert!(calls < 2000, "{calls} system calls for 200000 messages\n{most}");
    assert!(!text.contains("PAYLOAD-PAYLOAD-"), "payload went through a system call");
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
