//! Hosts that are cut off and come back, daemons that do not: who is suspected, who is taken out,
//! who ends, and that nothing of a host arrives any more that was taken out.

use crate::ask::{all_see, json, members};
use pvm_e2e::{Hosts, Running, eventually};
use std::time::{Duration, Instant};

/// The time within which an event must have happened, however busy the computer is.
const LIMIT: Duration = Duration::from_secs(60);
/// A cut that is shorter than what takes a host out, and what it may take with the commands that
/// make it.
const MOMENT: Duration = Duration::from_millis(500);
const MOMENT_MAX: Duration = Duration::from_millis(2000);

/// Whether `host` shows `other` as suspected.
fn suspects(hosts: &Hosts, host: &str, other: &str) -> bool {
    let conf = json(&hosts.run(host, &["pvm", "conf", "--json"]));
    let rows = conf["hosts"].as_array().expect("hosts");
    rows.iter().any(|row| row["name"] == other && row["suspected"] == true)
}

/// Waits until `host` lists the hosts `names` as the members of its machine.
fn await_members(hosts: &Hosts, host: &str, names: &[&str]) {
    let settled = eventually(LIMIT, || members(hosts, host) == names);
    assert!(settled, "{host}: {:?}\n{}", members(hosts, host), hosts.logs());
}

fn await_empty(hosts: &Hosts, host: &str) {
    let gone = eventually(LIMIT, || hosts.left(host).is_empty());
    assert!(gone, "left on {host}: {:#?}\n{}", hosts.left(host), hosts.logs());
}

#[test]
fn a_daemon_that_does_not_come_back_is_suspected_at_once_and_taken_out() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    all_see(&hosts, &["h1", "h2", "h3"]);
    assert!(!suspects(&hosts, "h1", "h3"));
    let nap = ["pvm", "run", "--host", "h3", "-n", "1", "/bin/sleep", "600"];
    let task = Running::start(hosts.on("h1", &nap));
    let runs = || hosts.processes("h3").iter().any(|line| line.ends_with("/bin/sleep 600"));
    assert!(eventually(LIMIT, runs), "{}{}", task.so_far(), task.errors_so_far());
    // Its parent cannot start another one.
    hosts.run("h3", &["pkill", "-STOP", "-f", "[-]-join"]);
    let killed = Instant::now();
    hosts.run("h3", &["pkill", "-KILL", "-f", "[-]-daemon"]);
    let shown = || suspects(&hosts, "h1", "h3") || members(&hosts, "h1").len() == 2;
    assert!(eventually(LIMIT, shown));
    eprintln!("suspected and shown {:?} after the daemon was killed", killed.elapsed());
    // On a computer that is slow enough it is taken out before anybody saw that.
    let listed = hosts.run("h1", &["pvm", "ps", "--json"]);
    if suspects(&hosts, "h1", "h3") {
        assert_eq!(listed.err, "pvm: h3 is suspected: its daemon does not answer\n");
        assert_eq!(json(&listed)["suspected"][0], "h3");
    }
    await_members(&hosts, "h2", &["h1", "h2"]);
    await_members(&hosts, "h1", &["h1", "h2"]);
    // It goes on, hears that it is out, and ends its task.
    hosts.run("h3", &["pkill", "-CONT", "-f", "[-]-join"]);
    await_empty(&hosts, "h3");
    assert_ne!(task.finish(LIMIT).code(), 0);
    hosts.halt("h2");
}

#[test]
fn a_host_that_was_cut_off_for_a_moment_is_a_member_as_before() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &["h2", "h3"]);
    for host in ["h3", "h1"] {
        let cut = Instant::now();
        hosts.tool(&["cut", host]);
        std::thread::sleep(MOMENT);
        hosts.tool(&["heal", host]);
        if cut.elapsed() > MOMENT_MAX {
            // It may well have been taken out, and rightly.
            return eprintln!("not judged: the computer is too busy for a cut of {MOMENT:?}");
        }
        hosts.run("h2", &[&all, "3"]);
        all_see(&hosts, &["h1", "h2", "h3"]);
    }
    hosts.halt("h3");
}

fn nothing_arrives_of_a_host_that_was_taken_out(route: &str) {
    let Some(hosts) = Hosts::up(3) else { return };
    let (all, fenced) = (hosts.compile("hosts.c"), hosts.compile("fenced.c"));
    hosts.machine("h1", &["h2", "h3"]);
    let mut watcher = Running::start(hosts.on("h1", &[&fenced, "h3", route]));
    let says = |watcher: &Running, word: &str| watcher.so_far().contains(word);
    assert!(eventually(LIMIT, || says(&watcher, "ready")), "{}", watcher.errors_so_far());
    hosts.tool(&["cut", "h3"]);
    let cut = Instant::now();
    assert!(eventually(LIMIT, || says(&watcher, "told")), "{}", hosts.logs());
    eprintln!("told {:?} after the cut", cut.elapsed());
    await_members(&hosts, "h2", &["h1", "h2"]);
    hosts.run("h2", &[&all, "2"]);
    hosts.tool(&["heal", "h3"]);
    let healed = Instant::now();
    await_empty(&hosts, "h3");
    eprintln!("its tasks ended {:?} after it could hear again", healed.elapsed());
    watcher.write("\n");
    let output = watcher.finish(LIMIT);
    assert_eq!((output.code(), output.number("late ")), (0, 0.0), "{}{}", output.out, output.err);
    hosts.run("h1", &["pvm", "add", "h3"]);
    hosts.run("h3", &[&all, "3"]);
    hosts.halt("h3");
}

#[test]
fn nothing_arrives_by_the_daemons_of_a_host_that_was_taken_out() {
    nothing_arrives_of_a_host_that_was_taken_out("daemon");
}

#[test]
fn nothing_arrives_by_a_direct_route_of_a_host_that_was_taken_out() {
    nothing_arrives_of_a_host_that_was_taken_out("direct");
}

/// The host that is taken out hears everything and sends on: only the fence is between.
#[test]
fn nothing_arrives_by_a_direct_route_that_a_daemon_before_this_one_had_given() {
    let Some(hosts) = Hosts::up(3) else { return };
    let fenced = hosts.compile("fenced.c");
    hosts.machine("h1", &["h2", "h3"]);
    let mut watcher = Running::start(hosts.on("h1", &[&fenced, "h3", "direct"]));
    let says = |watcher: &Running, word: &str| watcher.so_far().contains(word);
    assert!(eventually(LIMIT, || says(&watcher, "ready")), "{}", watcher.errors_so_far());
    hosts.run("h1", &["pkill", "-KILL", "-f", "[-]-daemon"]);
    let back = || hosts.finish("h1", &["pgrep", "-f", "[-]-daemon"]).code() == 0;
    assert!(eventually(LIMIT, back), "{}", hosts.logs());
    all_see(&hosts, &["h1", "h2", "h3"]);
    // Its daemon and parent say nothing any more; its task does.
    hosts.run("h3", &["pkill", "-STOP", "-f", "[p]vmd"]);
    assert!(eventually(LIMIT, || says(&watcher, "told")), "{}", hosts.logs());
    watcher.write("\n");
    let output = watcher.finish(LIMIT);
    assert_eq!((output.code(), output.number("late ")), (0, 0.0), "{}{}", output.out, output.err);
    hosts.run("h3", &["pkill", "-CONT", "-f", "[p]vmd"]);
    await_empty(&hosts, "h3");
    hosts.halt("h1");
}

/// A machine of h1 and h2, with more words for `pvm up`; both vote or acknowledge.
fn two(hosts: &Hosts, words: &[&str]) {
    hosts.run("h1", &[&["pvm", "up"], words].concat());
    hosts.run("h1", &["pvm", "add", "h2"]);
    all_see(hosts, &["h1", "h2"]);
}

#[test]
fn of_two_hosts_the_one_that_the_witness_chooses_goes_on() {
    let Some(hosts) = Hosts::up(3) else { return };
    two(&hosts, &["--witness", "h3"]);
    hosts.tool(&["power-off", "h1"]);
    await_members(&hosts, "h2", &["h2"]);
    let ran = hosts.run("h2", &["pvm", "run", "-n", "1", "/bin/echo", "alive"]);
    assert!(ran.out.contains("alive"), "{}{}", ran.out, ran.err);
    hosts.run("h2", &["pvm", "halt"]);
    await_empty(&hosts, "h2");
}

#[test]
fn of_two_hosts_that_do_not_hear_each_other_the_witness_chooses_one() {
    let Some(hosts) = Hosts::up(3) else { return };
    two(&hosts, &["--witness", "h3"]);
    hosts.wall("h1", "ip saddr 10.77.0.2 drop");
    hosts.wall("h2", "ip saddr 10.77.0.1 drop");
    let alone = |host: &&str| {
        let conf = hosts.finish(host, &["pvm", "conf", "--json"]);
        conf.code() == 0 && json(&conf)["hosts"].as_array().map(Vec::len) == Some(1)
    };
    let chosen = eventually(LIMIT, || ["h1", "h2"].iter().any(alone));
    assert!(chosen, "{}", hosts.logs());
    let winner = if alone(&"h1") { "h1" } else { "h2" };
    let loser = if winner == "h1" { "h2" } else { "h1" };
    // The other one waits a minute for its machine, and ends.
    let ended = eventually(2 * LIMIT, || hosts.left(loser).is_empty());
    assert!(ended && alone(&winner), "{}", hosts.logs());
    hosts.run(winner, &["pvm", "halt"]);
    await_empty(&hosts, winner);
}

#[test]
fn of_two_hosts_the_second_goes_on_after_silence_where_that_is_wanted() {
    let Some(hosts) = Hosts::up(2) else { return };
    two(&hosts, &["--on-silence", "survive"]);
    hosts.tool(&["power-off", "h1"]);
    await_members(&hosts, "h2", &["h2"]);
    hosts.run("h2", &["pvm", "halt"]);
    await_empty(&hosts, "h2");
}
