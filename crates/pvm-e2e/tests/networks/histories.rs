//! Named messages and groups on three hosts while daemons are killed and stopped: what the tasks were answered can have
//! happened one after the other.

use pvm_e2e::history::{Operation, check};
use pvm_e2e::{Hosts, Running, eventually, long};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);
/// Two on each host.
const TASK_COUNT: usize = 6;

#[test]
fn what_tasks_are_answered_while_daemons_die_can_have_happened_one_after_the_other() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    let program = hosts.compile("history.c");
    let rounds = if long() { 20 } else { 2 };
    let milliseconds = (rounds * 5000).to_string();
    let names = hosts.names();
    let start = |task: usize| {
        let words = [program.as_str(), &(task + 1).to_string(), &milliseconds];
        Running::start(hosts.on(&names[task % names.len()], &words))
    };
    let tasks: Vec<Running> = (0..TASK_COUNT).map(start).collect();
    for _ in 0..rounds {
        for name in &names {
            let kill = || hosts.finish(name, &["pkill", "-KILL", "-f", "[-]-daemon"]).code() == 0;
            assert!(eventually(LIMIT, kill), "no daemon on {name}\n{}", hosts.logs());
            std::thread::sleep(Duration::from_millis(700));
        }
        for name in &names {
            // Long enough for another to lead, too short to be taken out.
            hosts.shell(name, "pkill -STOP -f [-]-daemon; sleep 1; pkill -CONT -f [-]-daemon");
        }
    }
    let mut history = Vec::new();
    for task in tasks {
        let output = task.finish(LIMIT);
        assert_eq!(output.code(), 0, "{}\n{}", output.err, hosts.logs());
        let lines = output.out.lines();
        history
            .extend(lines.map(|line| Operation::parse(line).unwrap_or_else(|| panic!("{line}"))));
    }
    let waited = history.iter().map(|call| call.end - call.begin).max().unwrap_or(0);
    eprintln!("{} calls, the longest took {} ms", history.len(), waited / 1_000_000);
    assert!(history.len() > 10 * TASK_COUNT, "only {} calls", history.len());
    check(&history).expect("one after the other");
    hosts.halt("h1");
}
