//! A lane that the daemon cannot look at for want of descriptors waits, and costs nothing
//! meanwhile.
#![forbid(unsafe_code)]

use pvm_e2e::{Machine, eventually, process};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

/// Sets the number of descriptors that a process may have.
fn allow(process: u32, current: Option<u64>) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    prlimit(pid, Resource::Nofile, Rlimit { current, maximum }).expect("our own process");
}

fn daemons(machine: &Machine) -> Vec<u32> {
    let all = machine.place().processes().into_iter();
    all.filter(|(_, line)| line.contains("--daemon")).map(|(pid, _)| pid).collect()
}

#[test]
fn the_daemon_is_idle_while_it_cannot_reach_a_lane_and_no_notice_passes_it() {
    let machine = Machine::local(2);
    let running = machine.begin("beyond.c", &[]);
    let home = machine.place().home();
    let there = |name: &str| eventually(LIMIT, || home.join(name).exists());
    assert!(there("ready"), "{}{}", running.errors_so_far(), machine.log());
    let daemons = daemons(&machine);
    assert_eq!(daemons.len(), 2);
    let usual = getrlimit(Resource::Nofile).current;
    daemons.iter().for_each(|daemon| allow(*daemon, Some(3)));
    // It appears at once, with what it holds.
    std::fs::write(home.join("go.new"), "1\n").expect("a file");
    std::fs::rename(home.join("go.new"), home.join("go")).expect("a name");
    let sent = eventually(LIMIT, || running.so_far().contains("sent"));
    assert!(sent, "{}{}", running.errors_so_far(), machine.log());
    let spent = || daemons.iter().map(|daemon| process::processor_ns(*daemon)).sum::<u64>();
    let (before, begun) = (spent(), Instant::now());
    std::thread::sleep(Duration::from_secs(1));
    let share = Duration::from_nanos(spent() - before).div_duration_f64(begun.elapsed());
    assert!(
        !home.join("come").exists(),
        "the notice came first, or the message could be looked at"
    );
    daemons.iter().for_each(|daemon| allow(*daemon, usual));
    assert!(there("come"), "{}{}", running.errors_so_far(), machine.log());
    machine.expect_success(running);
    assert!(share < 0.15, "{share} of a core");
    machine.halt();
}
