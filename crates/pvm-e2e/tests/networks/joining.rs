//! Hosts join, leave and come again; tasks on each of them; nothing stays behind.

use crate::ask::{all_see, json, members};
use pvm_e2e::{Hosts, Running, eventually};
use std::time::Duration;

#[test]
fn three_hosts_join_over_ssh_work_leave_and_come_again() {
    let Some(hosts) = Hosts::up(3) else { return };
    let (all, routes) = (hosts.compile("hosts.c"), hosts.compile("routes.c"));
    hosts.machine("h1", &["h2", "h3"]);
    all_see(&hosts, &["h1", "h2", "h3"]);
    eprintln!("{}", hosts.run("h1", &[&all, "3", "full"]).out);
    eprintln!("{}", hosts.run("h1", &[&routes, "3"]).out);
    hosts.run("h3", &["pvm", "del", "h2"]);
    all_see(&hosts, &["h1", "h3"]);
    let gone = eventually(Duration::from_secs(60), || hosts.left("h2").is_empty());
    assert!(gone, "left on the deleted host: {:?}", hosts.left("h2"));
    hosts.run("h1", &[&all, "2"]);
    // From a member that is not the first.
    hosts.run("h3", &["pvm", "add", "h2"]);
    all_see(&hosts, &["h1", "h2", "h3"]);
    hosts.run("h2", &[&all, "3"]);
    hosts.run("h3", &[&routes, "3"]);
    hosts.halt("h2");
}

#[test]
fn five_hosts_are_added_from_different_members_at_the_same_time() {
    let Some(hosts) = Hosts::up(5) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &["h2", "h3"]);
    let adding: Vec<Running> = [("h2", "h4"), ("h3", "h5")]
        .iter()
        .map(|(from, host)| Running::start(hosts.on(from, &["pvm", "add", host])))
        .collect();
    for running in adding {
        let output = running.finish(Duration::from_secs(60));
        assert_eq!(output.code(), 0, "{}{}", output.out, output.err);
    }
    all_see(&hosts, &["h1", "h2", "h3", "h4", "h5"]);
    hosts.run("h4", &[&all, "5"]);
    hosts.run("h5", &["pvm", "del", "h2", "h4"]);
    all_see(&hosts, &["h1", "h3", "h5"]);
    hosts.run("h5", &[&all, "3"]);
    hosts.run("h5", &["pvm", "add", "h2", "h4"]);
    hosts.run("h2", &[&all, "5"]);
    hosts.halt("h5");
}

#[test]
fn two_machines_of_one_user_on_the_same_hosts_do_not_meet() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    let machine = |id: &str, host: &str, words: &[&str]| {
        let id = format!("PVM_VMID={id}");
        hosts.on(host, &[&["env", &id], words].concat())
    };
    let run = |id: &str, host: &str, words: &[&str]| {
        let output = Running::start(machine(id, host, words)).finish(Duration::from_secs(90));
        assert_eq!(output.code(), 0, "{id} {words:?}: {}{}", output.out, output.err);
        output
    };
    run("red", "h1", &["pvm", "up"]);
    run("blue", "h2", &["pvm", "up"]);
    run("red", "h1", &["pvm", "add", "h2", "h3"]);
    run("blue", "h2", &["pvm", "add", "h3", "h1"]);
    let red = Running::start(machine("red", "h1", &[&all, "3"]));
    run("blue", "h3", &[&all, "3"]);
    let output = red.finish(Duration::from_secs(90));
    assert_eq!(output.code(), 0, "{}{}", output.out, output.err);
    run("red", "h3", &["pvm", "halt"]);
    run("blue", "h1", &[&all, "3"]);
    assert_eq!(
        json(&run("blue", "h1", &["pvm", "conf", "--json"]))["hosts"].as_array().map(Vec::len),
        Some(3)
    );
    run("blue", "h1", &["pvm", "halt"]);
    hosts.assert_nothing_left();
}

#[test]
fn names_that_resolve_differently_and_to_127_0_1_1_do_no_harm() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    // Each host knows itself by 127.0.1.1, as Debian's installer writes it; h1 knows h3 as `third`;
    // h2 and h3 know the names of the others wrongly or not at all.
    let write = |host: &str, text: &str| {
        // The file is mounted: its content changes, not the file.
        std::fs::write(hosts.file(host, "hosts"), text).expect("a hosts file");
    };
    write("h1", "127.0.0.1 localhost\n127.0.1.1 h1\n10.77.0.2 h2\n10.77.0.3 third\n");
    write("h2", "127.0.0.1 localhost\n127.0.1.1 h2\n10.77.0.2 h1 third\n");
    write("h3", "127.0.0.1 localhost\n127.0.1.1 h3\n10.77.0.99 h1 h2\n");
    hosts.machine("h1", &["h2", "third"]);
    assert_eq!(members(&hosts, "h1"), members(&hosts, "h3"));
    hosts.run("h1", &[&all, "3"]);
    hosts.run("h3", &[&all, "3"]);
    hosts.run("h2", &["pvm", "halt"]);
    hosts.assert_nothing_left();
}

#[test]
fn a_host_behind_nat_that_can_call_nobody_works_through_the_ssh_connection() {
    let Some(hosts) = Hosts::up(3) else { return };
    let (all, routes) = (hosts.compile("hosts.c"), hosts.compile("routes.c"));
    hosts.tool(&["nat", "h3"]);
    for host in ["h1", "h2"] {
        hosts.wall(host, "ip saddr 10.77.0.3 ct state new drop");
    }
    hosts.machine("h1", &["h2"]);
    let refused = json(&hosts.finish("h1", &["pvm", "add", "--json", "h3"]));
    assert_eq!(refused["hosts"][0]["stage"], "callback", "{refused}");
    assert_eq!(refused["hosts"][0]["remedy"], "pvm add --tunnel h3", "{refused}");
    hosts.run("h1", &["pvm", "add", "--tunnel", "h3"]);
    all_see(&hosts, &["h1", "h2", "h3"]);
    hosts.run("h1", &[&all, "3", "full"]);
    hosts.run("h3", &[&routes, "3"]);
    hosts.halt("h1");
}
