//! Daemons and hosts that end.

use super::observation::{members, now_s};
use super::row::Row;
use super::watchers::{Watchers, stalls, start};
use crate::{Hosts, eventually};
use std::time::Duration;

/// Daemons, not their parents.
const DAEMON: &str = "[-]-daemon";
/// A killed daemon has this long before the next one is killed.
const REST: Duration = Duration::from_millis(1500);
/// The time within which every task must have the notice of a death.
const TOLD: Duration = Duration::from_secs(30);
/// Members agree within this.
const SETTLED: Duration = Duration::from_secs(60);

/// The way in which a host ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Its cable first: nobody hears anything.
    PowerOff,
    /// Every process of it, while its kernel answers.
    Crash,
}

impl Fault {
    const fn word(self) -> &'static str {
        match self {
            Self::PowerOff => "power-off",
            Self::Crash => "crash",
        }
    }
}

/// Every daemon of three hosts killed in turn, the first one's included: the pause of the default
/// route, and whether anybody was told of an end or lost a message. `rounds` kills of each.
pub fn daemons_killed(hosts: &Hosts, rounds: usize) -> Row {
    let mut row = Row::new("daemon killed, each in turn: pause of the default route");
    hosts.machine("h1", &["h2", "h3"]);
    let watchers = Watchers::start(hosts, &hosts.names());
    let pairs = [("h1", "h2"), ("h2", "h3"), ("h3", "h1")]
        .map(|(from, to)| start(hosts, from, &["pair", to, "daemon", "3600"]));
    let mut kills = Vec::new();
    for _ in 0..rounds {
        for host in hosts.names() {
            kills.push(now_s());
            hosts.run(&host, &["pkill", "-KILL", "-f", DAEMON]);
            std::thread::sleep(REST);
        }
    }
    let outputs = pairs.map(|pair| pair.finish(SETTLED));
    let sound = outputs.iter().all(|output| output.code() == 0) && watchers.ends().is_empty();
    let paused: Vec<(f64, f64)> = outputs.iter().flat_map(|output| stalls(&output.out)).collect();
    for kill in kills {
        let of_this =
            |(at, spent): &&(f64, f64)| at + spent > kill && *at < kill + REST.as_secs_f64();
        let longest = paused.iter().filter(of_this).map(|(_, spent)| *spent).fold(0.0, f64::max);
        row.add(sound, [longest * 1e3]);
    }
    row.note = format!("{} notices of an end", watchers.ends().len());
    watchers.finish();
    hosts.halt("h1");
    row
}

/// Each host in turn ends and comes back, the first one included, `count` times in all: when every
/// other host's task was told.
pub fn taken_out(hosts: &Hosts, fault: Fault, count: usize) -> Row {
    let mut row =
        Row::new(format!("{}, each host in turn: until each task was told", fault.word()));
    let names = hosts.names();
    hosts.machine("h1", &names[1..].iter().map(String::as_str).collect::<Vec<_>>());
    let mut watchers = Watchers::start(hosts, &names);
    for round in 0..count {
        let victim = &names[round % names.len()];
        let others: Vec<String> = names.iter().filter(|name| *name != victim).cloned().collect();
        let (right, times) = end_of(hosts, &mut watchers, victim, &others, fault);
        row.add(right, times);
        if !right {
            // The machine may be of no use any more.
            row.note = format!("given up after {}: {}", fault.word(), hosts.logs());
            return row;
        }
        hosts.tool(&["boot", victim]);
        hosts.run(&others[0], &["pvm", "add", victim]);
        watchers.restart(hosts, victim);
        let back = || others.iter().all(|host| members(hosts, host) == names);
        assert!(eventually(SETTLED, back), "{}", hosts.logs());
    }
    watchers.finish();
    hosts.halt(names.last().expect("hosts"));
    row
}

/// One host ends: whether all others were told once, agree, and go on; and when they were told, in
/// ms.
fn end_of(
    hosts: &Hosts,
    watchers: &mut Watchers,
    victim: &str,
    others: &[String],
    fault: Fault,
) -> (bool, Vec<f64>) {
    let since = now_s();
    hosts.tool(&[fault.word(), victim]);
    watchers.forget(victim);
    let times = watchers.await_told(&format!("host-delete {victim}"), since, TOLD);
    let exits = watchers.await_told(&format!("task-exit {victim}"), since, TOLD);
    let agree = || others.iter().all(|host| members(hosts, host) == others);
    let right =
        eventually(SETTLED, agree) && times.len() == others.len() && exits.len() == others.len();
    (right, times.into_iter().map(|time| time * 1e3).collect())
}

/// All hosts but two are switched off one after the other, the first one first.
pub fn one_by_one(hosts: &Hosts) -> Row {
    let names = hosts.names();
    let mut row = Row::new(format!(
        "{} hosts switched off one by one down to 2: until each task was told",
        names.len()
    ));
    hosts.machine("h1", &names[1..].iter().map(String::as_str).collect::<Vec<_>>());
    let mut watchers = Watchers::start(hosts, &names);
    let mut left = names;
    while left.len() > 2 {
        // The first, the last, the first of the rest ...
        let place = if row.count.is_multiple_of(2) { 0 } else { left.len() - 1 };
        let victim = left.remove(place);
        let (right, times) = end_of(hosts, &mut watchers, &victim, &left, Fault::PowerOff);
        row.add(right, times);
        if !right {
            row.note = format!("given up when {victim} was switched off");
            return row;
        }
    }
    watchers.finish();
    hosts.run(&left[0], &["pvm", "halt"]);
    row
}

/// The first `count` hosts, the one that leads among them, are switched off at once: until each
/// task of the others was told of each. The others must agree and go on: they put a name, start a
/// task on every host, and let a host in again.
pub fn at_once(hosts: &Hosts, count: usize) -> Row {
    let names = hosts.names();
    let mut row =
        Row::new(format!("{count} of {} hosts at once: until each task was told", names.len()));
    hosts.machine("h1", &names[1..].iter().map(String::as_str).collect::<Vec<_>>());
    let mut watchers = Watchers::start(hosts, &names);
    let (dead, left) = names.split_at(count);
    let mut left = left.to_vec();
    left.sort();
    let since = now_s();
    std::thread::scope(|scope| {
        for victim in dead {
            scope.spawn(|| hosts.tool(&[Fault::PowerOff.word(), victim]));
        }
    });
    dead.iter().for_each(|victim| watchers.forget(victim));
    let mut told = Vec::new();
    for victim in dead {
        told.extend(watchers.await_told(&format!("host-delete {victim}"), since, TOLD));
        let exits = watchers.await_told(&format!("task-exit {victim}"), since, TOLD);
        row.note = format!("{}{victim}: {} ends of tasks; ", row.note, exits.len());
    }
    let agree = || left.iter().all(|host| members(hosts, host) == left);
    let right = eventually(SETTLED, agree) && told.len() == count * left.len();
    row.add(right && goes_on(hosts, &left, &dead[0]), told.into_iter().map(|time| time * 1e3));
    if row.wrong > 0 {
        row.note = format!("{}{}", row.note, hosts.logs());
        return row;
    }
    watchers.finish();
    dead[1..].iter().for_each(|host| hosts.tool(&["boot", host]));
    hosts.halt(left.last().expect("hosts"));
    row
}

/// Whether the hosts that are left work: a name, a task on each, and one of the dead is let in
/// again.
fn goes_on(hosts: &Hosts, left: &[String], dead: &str) -> bool {
    let cables = hosts.compile("cables.c");
    let done = |words: &[&str]| hosts.finish(&left[0], words).code() == 0;
    let starts = |host: &String| done(&[&cables, "spawn", host, "1"]);
    let works = done(&[&cables, "put", "100000", "1"]) && left.iter().all(starts);
    hosts.tool(&["boot", dead]);
    let mut all: Vec<String> = left.to_vec();
    all.push(dead.to_owned());
    all.sort();
    works && done(&["pvm", "add", dead]) && eventually(SETTLED, || members(hosts, dead) == all)
}

/// A host that others talk to falls silent: what that adds to the 99th percentile of a healthy
/// pair's times, by each route, in ms; negative where it was quicker than before.
pub fn silent_beside_healthy(hosts: &Hosts, seconds: u32) -> Row {
    let mut row = Row::new("a silent host beside a healthy pair: added to the pair's p99");
    let last = hosts.names().last().expect("hosts").clone();
    let names = hosts.names();
    hosts.machine("h1", &names[1..].iter().map(String::as_str).collect::<Vec<_>>());
    let length = seconds.to_string();
    let spray = start(hosts, "h1", &["spray", &last]);
    for route in ["daemon", "direct"] {
        let measure = || {
            let pair = start(hosts, "h1", &["pair", "h2", route, &length]);
            std::thread::sleep(Duration::from_secs(seconds.into()));
            let output = pair.finish(SETTLED);
            (output.code() == 0, output.number("p99 ") / 1e3, output.number("max ") / 1e3)
        };
        let before = measure();
        hosts.tool(&["cut", &last]);
        let during = measure();
        hosts.tool(&["heal", &last]);
        row.add(before.0 && during.0, [during.1 - before.1]);
        row.note += &format!(
            "{route}: p99 {:.2} to {:.2}, max {:.1} to {:.1}; ",
            before.1, during.1, before.2, during.2
        );
        if route == "daemon" {
            // It may have been taken out meanwhile, and ends then.
            let settled = || matches!(members(hosts, "h1").len(), 2..);
            eventually(SETTLED, settled);
            if !members(hosts, "h1").contains(&last) {
                eventually(SETTLED, || hosts.left(&last).is_empty());
                hosts.run("h1", &["pvm", "add", &last]);
            }
        }
    }
    drop(spray);
    hosts.run("h1", &["pvm", "halt"]);
    row
}
