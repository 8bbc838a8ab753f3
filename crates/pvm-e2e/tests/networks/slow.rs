//! Slow cables: a long named message is answered, and nobody else waits until it is; beside bulk
//! the order goes on, and what is asked for is done while daemons are killed and hosts come.

use crate::ask::all_see;
use pvm_e2e::{Hosts, Output, Running, eventually, long};
use std::time::Duration;

/// The tasks end within this, however busy the computer is.
const LIMIT: Duration = Duration::from_secs(120);
const MEGABYTE: u32 = 1 << 20;

/// The number of puts that were answered, as a task prints it, and the longest time of one in
/// milliseconds.
fn puts(output: &Output) -> (u32, u32) {
    let mut words = output.out.split_whitespace().map(|word| word.parse().expect("a number"));
    (words.next().expect("puts"), words.next().expect("a time"))
}

/// One task puts so many bytes, from a host that does not lead; others put nothing at the same
/// time.
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

/// A cable whose queue is as long as those of many routers: two seconds at this rate.
const LONG_QUEUE: &str = "1mbit,1600,256kb";
/// Puts are answered within this beside bulk; where the order stood still they failed after 30 s.
const ANSWERED: Duration = Duration::from_secs(40);
/// The number of puts that are waited for.
const PUTS: usize = 12;
/// None of them takes longer. While bulk filled two seconds of queue in each way, it was 4.4 to 17
/// s.
const LONGEST_MS: f64 = 4e3;

/// Tasks that go on until a file is there: where, and the words for `cables.c`.
fn start(hosts: &Hosts, tasks: &[(&str, &[&str])], until: &str) -> Vec<Running> {
    let program = hosts.compile("cables.c");
    let one = |(host, words): &(&str, &[&str])| {
        Running::start(hosts.on(host, &[&[program.as_str()], *words, &[until]].concat()))
    };
    tasks.iter().map(one).collect()
}

/// Their good end: how many answers each has got.
fn finish(hosts: &Hosts, tasks: Vec<Running>, until: &str) -> Vec<usize> {
    std::fs::write(until, "").expect("a file");
    let finish = |task: Running| {
        let output = task.finish(LIMIT);
        assert_eq!(output.code(), 0, "{}{}\n{}", output.out, output.err, hosts.logs());
        output.out.lines().filter(|line| line.starts_with("put ")).count()
    };
    tasks.into_iter().map(finish).collect()
}

/// Puts of all three hosts are answered while such words of `cables.c` fill three of the six ways.
fn puts_beside(bulk: &str, bytes: &str) {
    let Some(hosts) = Hosts::shaped(3, LONG_QUEUE) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    let until = hosts.folder().join("done").display().to_string();
    let bulk = |to| [bulk, to, bytes];
    let (to_h2, to_h3) = (bulk("h2"), bulk("h3"));
    let tasks: [(&str, &[&str]); 6] = [
        ("h1", &to_h2),
        ("h1", &to_h3),
        ("h2", &to_h3),
        ("h1", &["put", "0"]),
        ("h2", &["put", "0"]),
        ("h3", &["put", "0"]),
    ];
    let tasks = start(&hosts, &tasks, &until);
    let puts = |task: &Running| task.so_far().matches("put ").count();
    let all = || tasks[3..].iter().all(|task| puts(task) >= PUTS);
    let answered = eventually(ANSWERED, all);
    let counts: Vec<usize> = tasks[3..].iter().map(puts).collect();
    assert!(answered, "puts beside bulk: {counts:?}\n{}", hosts.logs());
    let times = |task: &Running| -> Vec<f64> {
        let lines = task.so_far();
        lines.lines().filter_map(|line| line.strip_prefix("put ")?.parse().ok()).collect()
    };
    let longest = tasks[3..].iter().flat_map(times).fold(0.0, f64::max);
    eprintln!("{counts:?} puts beside bulk, the longest {longest} ms");
    assert!(longest < LONGEST_MS, "a put beside bulk took {longest} ms\n{}", hosts.logs());
    finish(&hosts, tasks, &until);
    hosts.halt("h1");
}

/// Probes whose answers take long and elections behind what fills the cables stopped all that is
/// ordered.
#[test]
fn beside_bulk_on_cables_of_one_megabit_nothing_was_ordered_any_more() {
    puts_beside("bulk", "32768");
}

/// Messages of tasks on direct routes filled the queue in front of the cable, too.
#[test]
fn beside_bulk_by_direct_routes_on_cables_of_one_megabit_puts_go_on() {
    puts_beside("direct", "32768");
}

/// Puts of these sizes, read elsewhere, while groups change, tasks die and are told of, a daemon is
/// killed in each, and a host comes.
fn all_at_work(rate: &str, sizes: &[u32]) {
    let Some(hosts) = Hosts::shaped(4, &format!("{rate},1600,256kb")) else { return };
    hosts.machine("h1", &["h2", "h3"]);
    let program = hosts.compile("cables.c");
    let until = hosts.folder().join("done").display().to_string();
    let tasks: [(&str, &[&str]); 5] = [
        ("h1", &["group"]),
        ("h2", &["group"]),
        ("h1", &["spawn", "h2"]),
        ("h2", &["spawn", "h3"]),
        ("h2", &["put", "0"]),
    ];
    let tasks = start(&hosts, &tasks, &until);
    for (size, killed) in sizes.iter().zip(["h2", "h1", "h3"].iter().cycle()) {
        let size = size.to_string();
        let put = Running::start(hosts.on("h3", &[&program, "put", &size, "1"]));
        let kill = || hosts.finish(killed, &["pkill", "-KILL", "-f", "[-]-daemon"]).code() == 0;
        assert!(eventually(LIMIT, kill), "no daemon on {killed}\n{}", hosts.logs());
        let output = put.finish(LIMIT);
        assert_eq!(output.code(), 0, "{}{}\n{}", output.out, output.err, hosts.logs());
        let name = output.out.lines().find_map(|line| line.strip_prefix("name "));
        let got = hosts.run("h2", &[&program, "get", name.expect("a name"), &size]);
        eprintln!(
            "{rate}: {size} bytes: {:.0} ms, {:.0} ms",
            output.number("put "),
            got.number("get ")
        );
    }
    hosts.run("h1", &["pvm", "add", "h4"]);
    assert!(finish(&hosts, tasks, &until)[4] > 2);
    all_see(&hosts, &["h1", "h2", "h3", "h4"]);
    hosts.halt("h4");
}

/// With `NEOPVM_LONG=1` up to 16 MiB, and at 1 and 100 Mb/s too.
#[test]
fn all_is_done_over_slow_cables_while_daemons_are_killed_and_a_host_comes() {
    let short: (&str, &[u32]) = ("10mbit", &[0, 64 << 10, MEGABYTE]);
    let further: [(&str, &[u32]); 3] = [
        ("1mbit", &[0, 100, 64 << 10, 512 << 10]),
        ("10mbit", &[4 * MEGABYTE - 4096, 16 * MEGABYTE - 4096]),
        ("100mbit", &[0, 64 << 10, 4 * MEGABYTE, 16 * MEGABYTE - 4096]),
    ];
    all_at_work(short.0, short.1);
    further.iter().filter(|_| long()).for_each(|(rate, sizes)| all_at_work(rate, sizes));
}
