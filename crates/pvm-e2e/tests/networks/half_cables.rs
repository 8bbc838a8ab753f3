//! Cables of three and of five hosts that carry in one direction only, while tasks put names: the
//! leader's, outward and inward, and a follower's.

use crate::ask::{all_see, json, members};
use pvm_e2e::{Hosts, Running, eventually};
use std::time::{Duration, Instant};

/// The time within which an event must have happened, however busy the computer is.
const LIMIT: Duration = Duration::from_secs(60);
/// Whoever is to be taken out is by then.
const LONG: Duration = Duration::from_secs(6);
/// A silent host is told of within 5 s; more, as this asks with commands, on a computer that may be
/// busy.
const TOLD: Duration = Duration::from_secs(8);

/// `to` hears nothing of `from`, whose kernel hears what it says.
fn lose(hosts: &Hosts, from: &str, to: &str) {
    let number = from.trim_start_matches('h');
    hosts.wall(to, &format!("ip saddr 10.77.0.{number} drop"));
}

fn heal(hosts: &Hosts, at: &[&str]) {
    for host in at {
        hosts.run(host, &["nft", "delete", "table", "inet", "wall"]);
    }
}

/// A task on a host that puts a name again and again, until `Puts::longest` ends it.
struct Puts {
    host: String,
    task: Running,
    stop: std::path::PathBuf,
}

impl Puts {
    fn on(hosts: &Hosts, host: &str) -> Self {
        let put = hosts.compile("cables.c");
        let stop = hosts.folder().join(format!("stop.{host}"));
        if stop.exists() {
            std::fs::remove_file(&stop).expect("a file of an earlier task");
        }
        let words = [&put, "put", "0", &stop.to_string_lossy()];
        let task = Running::start(hosts.on(host, &words));
        assert!(eventually(LIMIT, || task.so_far().contains("put ")), "{}", task.errors_so_far());
        Self { host: host.to_owned(), task, stop }
    }

    /// The number of puts, and the time of the longest one in milliseconds.
    fn longest(self) -> (usize, f64) {
        std::fs::write(&self.stop, "").expect("a file");
        let output = self.task.finish(LIMIT);
        assert_eq!(output.code(), 0, "{}: {}{}", self.host, output.out, output.err);
        let times: Vec<f64> =
            output.out.lines().filter_map(|line| line.strip_prefix("put ")?.parse().ok()).collect();
        (times.len(), times.into_iter().fold(0.0, f64::max))
    }
}

/// Until the hosts `left` are the members, as each of them sees it; `out` says meanwhile that it
/// has no leader. Tasks on those that are left go on.
fn is_taken_out(hosts: &Hosts, what: &str, out: &str, left: &[&str]) {
    let tasks: Vec<Puts> = left.iter().map(|host| Puts::on(hosts, host)).collect();
    let cut = Instant::now();
    let told = eventually(LIMIT, || left.iter().all(|host| members(hosts, host) == left));
    let after = cut.elapsed();
    assert!(told && after < TOLD, "{what}: {after:?}\n{}", hosts.logs());
    let unled = || {
        let status = hosts.finish(out, &["pvm", "status", "--json"]);
        let order = json(&status)["order"].as_str().unwrap_or("").to_owned();
        order.starts_with("no leader")
    };
    assert!(eventually(LIMIT, unled), "{what}: {out} knows a leader\n{}", hosts.logs());
    let unled_after = cut.elapsed();
    for puts in tasks {
        let host = puts.host.clone();
        let (count, longest) = puts.longest();
        eprintln!("{what}: {host} put {count} times, the longest {longest:.0} ms");
    }
    eprintln!("{what}: told {after:?}, {out} says that it has no leader {unled_after:?}");
}

/// The host that was taken out hears of it and ends; it may come again.
fn ends(hosts: &Hosts, out: &str) {
    let gone = eventually(LIMIT, || hosts.left(out).is_empty());
    assert!(gone, "left on {out}: {:#?}\n{}", hosts.left(out), hosts.logs());
}

#[test]
fn of_three_hosts_the_leader_says_nothing_any_more_and_hears_all() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    all_see(&hosts, &["h1", "h2", "h3"]);
    // First a follower that the leader does not hear, but the other one does.
    let tasks: Vec<Puts> = ["h1", "h2", "h3"].iter().map(|host| Puts::on(&hosts, host)).collect();
    lose(&hosts, "h3", "h1");
    std::thread::sleep(LONG);
    all_see(&hosts, &["h1", "h2", "h3"]);
    for puts in tasks {
        let host = puts.host.clone();
        let (count, longest) = puts.longest();
        eprintln!("h1 does not hear h3: {host} put {count} times, the longest {longest:.0} ms");
    }
    heal(&hosts, &["h1"]);
    // Now h2 leads, which heard both.
    for other in ["h1", "h3"] {
        lose(&hosts, "h2", other);
    }
    is_taken_out(&hosts, "three, the leader's outward", "h2", &["h1", "h3"]);
    heal(&hosts, &["h1", "h3"]);
    ends(&hosts, "h2");
    hosts.halt("h1");
}

#[test]
fn of_five_hosts_the_leader_hears_nothing_and_then_nobody_hears_a_follower() {
    let Some(hosts) = Hosts::up(5) else { return };
    hosts.machine("h1", &["h2", "h3", "h4", "h5"]);
    all_see(&hosts, &["h1", "h2", "h3", "h4", "h5"]);
    for other in ["h2", "h3", "h4", "h5"] {
        lose(&hosts, other, "h1");
    }
    is_taken_out(&hosts, "five, the leader's inward", "h1", &["h2", "h3", "h4", "h5"]);
    heal(&hosts, &["h1"]);
    ends(&hosts, "h1");
    for other in ["h2", "h3", "h4"] {
        lose(&hosts, "h5", other);
    }
    is_taken_out(&hosts, "four, a follower's outward", "h5", &["h2", "h3", "h4"]);
    heal(&hosts, &["h2", "h3", "h4"]);
    ends(&hosts, "h5");
    hosts.halt("h2");
}
