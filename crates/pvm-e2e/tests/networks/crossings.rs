//! The number of times that a group's data cross the network.

use pvm_e2e::Hosts;

/// The number behind a word of a line.
fn number(line: &str, word: &str) -> f64 {
    let mut words = line.split(' ').skip_while(|found| *found != word).skip(1);
    words.next().and_then(|found| found.parse().ok()).unwrap_or_else(|| panic!("{word}: {line}"))
}

/// Whether so many copies were counted. Headers and confirmations are a fiftieth.
fn is(counted: f64, copies: f64) -> bool {
    counted > copies && counted < copies * 1.33
}

/// The lines of what crossed more often than it had to, in a run of four hosts with three members
/// each: counted at the hosts' network cards, in multiples of the data.
fn crossed_too_often(output: &str) -> Vec<&str> {
    let line = |start: &str| {
        let found = output.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{start}: {output}"))
    };
    let once = |call: &&str| {
        is(number(call, "root_out"), 3.0)
            && is(number(call, "other_in"), 1.0)
            && number(call, "other_out") < 0.1
    };
    let mut wrong = ["bcast 1000000", "mcast 1000000"].map(line).to_vec();
    wrong.retain(|call| !once(call));
    // These have other data for, or from, each member: nine of them are elsewhere.
    let (gather, scatter) = (line("gather 1000000"), line("scatter 1000000"));
    wrong.extend(Some(gather).filter(|call| !is(number(call, "root_in"), 9.0)));
    wrong.extend(Some(scatter).filter(|call| !is(number(call, "root_out"), 9.0)));
    wrong
}

#[test]
fn what_a_group_is_told_crosses_once_to_each_host_however_many_members_it_has_there() {
    let Some(hosts) = Hosts::up(4) else { return };
    let program = hosts.compile("crossings.c");
    hosts.machine("h1", &["h2", "h3", "h4"]);
    // On a busy computer a packet is sent again, or a link begins anew and sends again what was not
    // confirmed. What crosses once to each member does so in each run.
    let mut wrong = Vec::new();
    for _ in 0..4 {
        let output = hosts.run("h1", &[&program, "3", "4"]).out;
        eprint!("{output}");
        wrong = crossed_too_often(&output).into_iter().map(str::to_owned).collect();
        if wrong.is_empty() {
            break;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    hosts.halt("h1");
}
