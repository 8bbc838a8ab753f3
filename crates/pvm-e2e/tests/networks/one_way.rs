//! Cables that carry in one direction only, in a machine whose log goes along a tree: nobody is
//! taken out who is heard by somebody, and who is silent is told of in time.

use crate::ask::{json, members};
use pvm_e2e::{Hosts, eventually};
use std::time::{Duration, Instant};

/// The time within which an event must have happened, however busy the computer is.
const LIMIT: Duration = Duration::from_secs(60);
/// Four computers with nine hosts each: more than 32, so there is a tree.
const COMPUTERS: [&str; 4] = ["h1", "h2", "h3", "h4"];
const EACH: usize = 9;
const ALL: usize = COMPUTERS.len() * EACH;
/// Whoever is to be taken out is by then.
const LONG: Duration = Duration::from_secs(7);
/// A silent host is told of within 5 s; more, as this asks with commands, on a computer that may be
/// busy.
const TOLD: Duration = Duration::from_secs(8);

fn machine(hosts: &Hosts) {
    hosts.machine("h1", &COMPUTERS[1..]);
    let more = [&["pvm", "add"], &["local"; EACH - 1][..]].concat();
    for computer in COMPUTERS {
        hosts.run(computer, &more);
    }
    await_all(hosts, ALL);
}

fn await_all(hosts: &Hosts, count: usize) {
    for computer in COMPUTERS {
        let settled = eventually(LIMIT, || members(hosts, computer).len() == count);
        assert!(settled, "{computer}: {:?}\n{}", members(hosts, computer), hosts.logs());
    }
}

/// `to` hears nothing of `from`, which hears it; nobody is taken out for that, and puts of both are
/// answered.
fn part(hosts: &Hosts, from: usize, to: &str) {
    let put = hosts.compile("cables.c");
    hosts.wall(to, &format!("ip saddr 10.77.0.{from} drop"));
    let cut = Instant::now();
    while cut.elapsed() < LONG {
        std::thread::sleep(LONG / 10);
        for computer in COMPUTERS {
            let seen = members(hosts, computer);
            assert_eq!(seen.len(), ALL, "{computer} sees {seen:?}\n{}", hosts.logs());
        }
    }
    for computer in [&format!("h{from}"), to] {
        let output = hosts.run(computer, &[&put, "put", "0", "20"]);
        let times = output.out.lines().filter_map(|line| line.strip_prefix("put ")?.parse().ok());
        eprintln!("{computer}: the longest put {:.0} ms", times.fold(0.0, f64::max));
    }
}

fn heal(hosts: &Hosts, to: &str) {
    hosts.run(to, &["nft", "delete", "table", "inet", "wall"]);
}

/// The processes of one host of `computer` stand still: its kernel answers, it says nothing.
fn stop_one(hosts: &Hosts, computer: &str) -> String {
    let line =
        "d=$(pgrep -n -f '[-]-daemon'); p=$(ps -o ppid= -p $d); kill -STOP $p $d; echo $p $d";
    hosts.shell(computer, line).out.trim().to_owned()
}

#[test]
fn nobody_is_taken_out_who_is_heard_by_somebody_over_one_way_cables_of_a_tree() {
    let Some(hosts) = Hosts::up(4) else { return };
    machine(&hosts);
    // Nine hosts do not hear nine others; then the leader and those beside it do not.
    part(&hosts, 4, "h2");
    heal(&hosts, "h2");
    part(&hosts, 3, "h1");
    heal(&hosts, "h1");
    // While nine do not hear nine others one of these falls silent.
    part(&hosts, 4, "h2");
    let pids = stop_one(&hosts, "h4");
    let stopped = Instant::now();
    let out = |computer: &str| {
        let conf = hosts.finish(computer, &["pvm", "conf", "--json"]);
        conf.code() == 0 && json(&conf)["hosts"].as_array().map(Vec::len) == Some(ALL - 1)
    };
    assert!(eventually(LIMIT, || out("h2")), "{}", hosts.logs());
    let told = stopped.elapsed();
    eprintln!("h2 was told {told:?} after a host had fallen silent");
    assert!(told < TOLD, "{told:?}\n{}", hosts.logs());
    await_all(&hosts, ALL - 1);
    heal(&hosts, "h2");
    // It hears that it is out, and ends.
    hosts.shell("h4", &format!("kill -CONT {pids}"));
    std::thread::sleep(LONG / 5);
    await_all(&hosts, ALL - 1);
    hosts.halt("h1");
}
