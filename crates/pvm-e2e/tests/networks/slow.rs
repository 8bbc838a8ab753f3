//! Slow cables: a long named message is answered, and nobody else waits until it is.

use crate::ask::all_see;
use pvm_e2e::{Hosts, Output, Running, long};
use std::time::Duration;

/// The tasks end within this, however busy the computer is.
const LIMIT: Duration = Duration::from_secs(120);
const MEGABYTE: u32 = 1 << 20;

/// How many puts a task says were answered, and the longest time that one took in milliseconds.
fn puts(output: &Output) -> (u32, u32) {
    let mut words = output.out.split_whitespace().map(|word| word.parse().expect("a number"));
    (words.next().expect("puts"), words.next().expect("a time"))
}

/// One task puts so many bytes, from a host that does not lead; others put nothing at the same time.
fn put_beside(hosts: &Hosts, bytes: u32) {
    let program = hosts.compile("puts.c");
    let done = hosts.folder().join(format!("done.{bytes}"));
    let until = done.display().to_string();
    let short: Vec<_> = hosts
        .names()
        .iter()
        .map(|host| Running::start(hosts.on(host, &[&program, "0", &until])))
        .collect();
    let bytes = bytes.to_string();
    let output = Running::start(hosts.on("h3", &[&program, &bytes])).finish(LIMIT);
    assert_eq!(output.code(), 0, "{}{}\n{}", output.out, output.err, hosts.logs());
    let (_, time) = puts(&output);
    std::fs::write(&done, "").expect("a file");
    for running in short {
        let output = running.finish(LIMIT);
        assert_eq!(output.code(), 0, "{}{}\n{}", output.out, output.err, hosts.logs());
        let (count, longest) = puts(&output);
        eprintln!("{bytes} bytes in {time} ms; beside them {count} puts, the longest {longest} ms");
        // Where they waited for the long one each would have two: the one that waits, and the last.
        assert!(count > 4, "{count} puts beside one of {bytes} bytes that took {time} ms");
    }
}

#[test]
fn a_long_put_over_a_slow_cable_is_answered_and_short_ones_do_not_wait_for_it() {
    let Some(hosts) = Hosts::up(3) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    all_see(&hosts, &["h1", "h2", "h3"]);
    let sizes: &[u32] = if long() { &[1, 4, 15] } else { &[4] };
    for host in hosts.names() {
        hosts.tool(&["rate", &host, "10mbit"]);
    }
    for size in sizes {
        put_beside(&hosts, size * MEGABYTE - 4096);
    }
    for host in hosts.names() {
        hosts.tool(&["rate", &host, "none"]);
    }
    hosts.halt("h1");
}
