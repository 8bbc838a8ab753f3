//! Named messages and groups on three hosts while daemons are killed and stopped and cables are
//! cut: what the tasks were answered can have happened one after the other.

use crate::ask::members;
use pvm_e2e::history::{Operation, check};
use pvm_e2e::{Hosts, Running, eventually, long};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);
/// Two on each host.
const TASK_COUNT: usize = 6;
/// The groups of `programs/history.c`.
const GROUPS: [&str; 2] = ["group0", "group1"];
/// Between two faults.
const REST: Duration = Duration::from_millis(700);
/// The length of a cut after which a host is taken out, and the others must go on without it.
const LONG_CUT: Duration = Duration::from_secs(5);

/// Tasks on all hosts that call for so long, and where each is.
fn start(hosts: &Hosts, time: Duration) -> Vec<(String, Running)> {
    start_on(hosts, &hosts.names(), time)
}

fn start_on(hosts: &Hosts, names: &[String], time: Duration) -> Vec<(String, Running)> {
    let program = hosts.compile("history.c");
    let milliseconds = time.as_millis().to_string();
    let start = |task: usize| {
        let host = &names[task % names.len()];
        let words = [program.as_str(), &(task + 1).to_string(), &milliseconds];
        (host.clone(), Running::start(hosts.on(host, &words)))
    };
    (0..TASK_COUNT).map(start).collect()
}

/// Waits for the tasks and judges what they were answered. Those on `lost` may have been ended.
fn judge(hosts: &Hosts, tasks: Vec<(String, Running)>, lost: Option<&str>) {
    let mut history = Vec::new();
    let mut waited = 0;
    for (task, (host, running)) in (1..).zip(tasks) {
        let output = running.finish(LIMIT);
        let mut calls = Operation::of_task(&output.out);
        if let Some(last) = calls.last_mut().filter(|_| output.code() != 0) {
            // What made it give up is no answer.
            last.end = u64::MAX;
        }
        let answered = || calls.iter().filter(|call| call.end != u64::MAX);
        waited = answered().map(|call| call.end - call.begin).max().unwrap_or(0).max(waited);
        let may_be_ended = lost == Some(host.as_str());
        assert!(output.code() == 0 || may_be_ended, "{host}: {}\n{}", output.err, hosts.logs());
        // A host that was taken out may tell later what was done before.
        let moment = |call: &Operation| if output.code() == 0 { call.end } else { call.begin };
        let last = answered().map(moment).max().unwrap_or(0);
        history.extend(Operation::of_end(task, last, &GROUPS));
        history.extend(calls);
    }
    eprintln!("{} calls, the longest took {} ms", history.len(), waited / 1_000_000);
    assert!(history.len() > 10 * TASK_COUNT, "only {} calls", history.len());
    check(&history).expect("one after the other");
}

#[test]
fn what_tasks_are_answered_while_daemons_die_can_have_happened_one_after_the_other() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    let rounds = if long() { 20 } else { 2 };
    let tasks = start(&hosts, Duration::from_secs(5) * rounds);
    for _ in 0..rounds {
        for name in &hosts.names() {
            let kill = || hosts.finish(name, &["pkill", "-KILL", "-f", "[-]-daemon"]).code() == 0;
            assert!(eventually(LIMIT, kill), "no daemon on {name}\n{}", hosts.logs());
            std::thread::sleep(REST);
        }
        for name in &hosts.names() {
            // Long enough for another to lead, too short to be taken out.
            hosts.shell(name, "pkill -STOP -f [-]-daemon; sleep 1; pkill -CONT -f [-]-daemon");
        }
    }
    judge(&hosts, tasks, None);
    hosts.halt("h1");
}

/// Keeps a host from others: it cuts its cable, or only the direction towards it.
fn part(hosts: &Hosts, host: &str, deaf: bool, time: Duration) {
    if deaf {
        hosts.tool(&["lossy", host, "100"]);
    } else {
        hosts.tool(&["cut", host]);
    }
    std::thread::sleep(time);
    if deaf {
        hosts.tool(&["lossy", host, "0"]);
    } else {
        hosts.tool(&["heal", host]);
    }
    std::thread::sleep(REST);
}

#[test]
fn what_tasks_are_answered_while_cables_are_cut_can_have_happened_one_after_the_other() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    // From a tenth of a second to what does not yet take a host out, so that each host has its turn
    // with each.
    let lengths = [100, 1000, 2500, 1700, 300].map(Duration::from_millis);
    let rounds = if long() { 12 } else { 2 };
    let all: Duration = lengths.iter().map(|length| *length + REST).sum();
    let tasks = start(&hosts, all * rounds + LONG_CUT + Duration::from_secs(3));
    let names = hosts.names();
    for (turn, length) in (0..rounds as usize).flat_map(|_| lengths).enumerate() {
        part(&hosts, &names[turn % names.len()], turn % 4 == 3, length);
    }
    // The first host, too, may be lost.
    part(&hosts, "h1", false, LONG_CUT);
    judge(&hosts, tasks, Some("h1"));
    hosts.run("h2", &["pvm", "halt"]);
    hosts.assert_nothing_left();
}

/// The host that asks second goes on without an answer of the witness for as long as the other one
/// needs to have it.
fn two_are_cut_and_ask_in_turn(first: &str, second: &str) {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.run("h1", &["pvm", "up", "--witness", "h3"]);
    hosts.run("h1", &["pvm", "add", "h2"]);
    let tasks = start_on(&hosts, &["h1", "h2"].map(str::to_owned), Duration::from_secs(25));
    std::thread::sleep(Duration::from_secs(2));
    let chain = "add chain inet late in { type filter hook input priority 0; }";
    let late =
        format!("add table inet late; {chain}; add rule inet late in ip saddr 10.77.0.3 drop");
    hosts.run(second, &["nft", &late]);
    hosts.wall("h1", "ip saddr 10.77.0.2 drop");
    hosts.wall("h2", "ip saddr 10.77.0.1 drop");
    let alone = || members(&hosts, first) == [first];
    assert!(eventually(LIMIT, alone), "{}", hosts.logs());
    hosts.run(second, &["nft", "delete table inet late"]);
    judge(&hosts, tasks, Some(second));
    assert!(alone(), "{}", hosts.logs());
    let refused = || hosts.logs().contains("the other host has the witness");
    assert!(eventually(LIMIT, refused), "{}", hosts.logs());
    let ended = eventually(LIMIT, || hosts.left(second).is_empty());
    assert!(ended && alone(), "{}", hosts.logs());
    hosts.halt(first);
}

#[test]
fn of_two_hosts_with_a_witness_what_was_answered_holds_where_the_first_host_asks_first() {
    two_are_cut_and_ask_in_turn("h1", "h2");
}

#[test]
fn of_two_hosts_with_a_witness_what_was_answered_holds_where_the_second_host_asks_first() {
    two_are_cut_and_ask_in_turn("h2", "h1");
}
