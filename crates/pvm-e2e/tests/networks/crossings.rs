//! How often what a group says crosses the network.

use pvm_e2e::Hosts;

/// The number behind a word of a line.
fn number(line: &str, word: &str) -> f64 {
    let mut words = line.split(' ').skip_while(|found| *found != word).skip(1);
    words.next().and_then(|found| found.parse().ok()).unwrap_or_else(|| panic!("{word}: {line}"))
}

/// Four hosts with three members each: counted at the hosts' network cards, in multiples of the
/// data.
#[test]
fn what_a_group_is_told_crosses_once_to_each_host_however_many_members_it_has_there() {
    let Some(hosts) = Hosts::up(4) else { return };
    let program = hosts.compile("crossings.c");
    hosts.machine("h1", &["h2", "h3", "h4"]);
    let output = hosts.run("h1", &[&program, "3", "4"]);
    eprint!("{}", output.out);
    let line = |start: &str| {
        let found = output.out.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("{start}: {}", output.out))
    };
    // Headers and confirmations are a fiftieth. 1.26 for one message was counted once in a dozen
    // runs on a busy computer, as if one of four had crossed twice, which a link may do when it
    // begins anew.
    let is = |counted: f64, copies: f64| counted > copies && counted < copies * 1.33;
    for call in ["bcast 1000000", "mcast 1000000"] {
        let line = line(call);
        assert!(is(number(line, "root_out"), 3.0), "{line}");
        assert!(is(number(line, "other_in"), 1.0), "{line}");
        assert!(number(line, "other_out") < 0.1, "{line}");
    }
    // These have other data for, or from, each member: nine of them are elsewhere.
    assert!(is(number(line("gather 1000000"), "root_in"), 9.0), "{}", output.out);
    assert!(is(number(line("scatter 1000000"), "root_out"), 9.0), "{}", output.out);
    hosts.halt("h1");
}
