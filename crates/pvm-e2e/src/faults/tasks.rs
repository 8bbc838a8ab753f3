//! Many tasks, and one that takes nothing.

use super::observation::PROGRAM;
use super::row::Row;
use crate::{Hosts, Running};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(300);

/// Ends `count` tasks on all hosts at once, and measures the time until the last notice.
pub fn exits(hosts: &Hosts, count: usize) -> Row {
    let mut row = Row::new(format!("{count} tasks end at once: until the last notice"));
    let names = hosts.names();
    hosts.machine("h1", &names[1..].iter().map(String::as_str).collect::<Vec<_>>());
    let program = hosts.compile(PROGRAM);
    let output =
        Running::start(hosts.on("h1", &[&program, "exits", &count.to_string()])).finish(LIMIT);
    let right = output.code() == 0;
    row.add(right, right.then(|| output.number("last ")));
    row.note = output.err;
    hosts.halt("h1");
    row
}

/// `mib` MiB for a task of another host that sleeps: what the daemons take, and whether it all
/// comes.
pub fn flood(hosts: &Hosts, route: &str, mib: u32) -> Row {
    let mut row = Row::new(format!("{mib} MiB to a task that sleeps, {route} route"));
    hosts.machine("h1", &["h2"]);
    let program = hosts.compile(PROGRAM);
    let words = [program.as_str(), "flood", "h2", route, &mib.to_string()];
    let mut running = Running::start(hosts.on("h1", &words));
    let mut most_kib = 0;
    while running.is_running() {
        for host in ["h1", "h2"] {
            let said =
                hosts.finish(host, &["sh", "-c", "ps -o rss= -p $(pgrep -f [-]-daemon)"]).out;
            most_kib =
                said.split_whitespace().filter_map(|kib| kib.parse().ok()).fold(most_kib, u64::max);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let output = running.finish(LIMIT);
    row.add(output.code() == 0 && output.number("wrong ") == 0.0, []);
    row.note = format!("daemons take {} MiB at most {}", most_kib >> 10, output.err);
    hosts.halt("h1");
    row
}
