//! Those who are no members, or no longer.

use crate::ask::{all_see, listener, members};
use pvm_e2e::{Hosts, Running, eventually};
use std::time::Duration;

/// The command lines of both processes of a host.
const DAEMONS: &str = "[-]-foreground|[-]-daemon";
const STRANGER: &str = env!("CARGO_BIN_EXE_stranger");

#[test]
fn fifteen_hundred_silent_connections_disturb_nobody() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &["h2"]);
    let at = listener(&hosts, "h1");
    let line = format!("ulimit -n 4000; exec {STRANGER} hold {at} 1500");
    let mut stranger = Running::start(hosts.on("h3", &["sh", "-c", &line]));
    let all_there = || stranger.so_far().contains("held");
    assert!(eventually(Duration::from_secs(60), all_there), "{}", stranger.errors_so_far());
    hosts.run("h1", &[&all, "2"]);
    hosts.run("h2", &[&all, "2"]);
    // Nor is anybody kept from joining for long.
    let joins = || hosts.finish("h2", &["pvm", "add", "h3"]).code() == 0;
    assert!(eventually(Duration::from_secs(60), joins));
    hosts.run("h1", &[&all, "3"]);
    eprintln!("{}", stranger.so_far());
    let output = stranger.wait(Duration::from_secs(60));
    assert_eq!(output.code(), 0, "{}", output.err);
    eprintln!("{}", output.out);
    hosts.halt("h1");
}

#[test]
fn a_stranger_who_connects_is_refused_whatever_he_says() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &["h2"]);
    let random: Vec<u8> =
        (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut hello = vec![22, 3, 1, 255, 255, 1];
    hello.extend_from_slice(&random[..400]);
    let words: [&[u8]; 4] = [b"GET / HTTP/1.0\r\n\r\n", &random, &hello, &[0; 4096]];
    for host in ["h1", "h2"] {
        let at = listener(&hosts, host);
        for word in words {
            let file = hosts.home().join("said");
            std::fs::write(&file, word).expect("a file");
            let output = hosts.run("h3", &[STRANGER, "say", &at, &file.to_string_lossy()]);
            assert!(output.out.contains("open false"), "the connection stays open: {}", output.out);
        }
    }
    // A daemon of a stranger, who knows all that is public.
    let mut uninvited = vec!["timeout".to_owned(), "60".to_owned(), "pvmd".to_owned()];
    uninvited.extend(invitation(&hosts).into_iter().map(|word| word.replace("=h2", "=h3")));
    let uninvited: Vec<&str> = uninvited.iter().map(String::as_str).collect();
    let output = hosts.finish("h3", &uninvited);
    eprintln!("the uninvited: {:?} {}{}", output.status, output.out, output.err);
    let gone = eventually(Duration::from_secs(60), || hosts.left("h3").is_empty());
    assert!(gone, "{:?}", hosts.left("h3"));
    all_see(&hosts, &["h1", "h2"]);
    hosts.run("h1", &[&all, "2"]);
    hosts.halt("h2");
}

/// The command line with which h2 was started, as every process list shows it: up to its name.
fn invitation(hosts: &Hosts) -> Vec<String> {
    let lines = hosts.processes("h2");
    let line = lines.iter().find(|line| line.contains("--fingerprint="));
    let line = line.unwrap_or_else(|| panic!("no invitation in {lines:?}"));
    let words: Vec<String> = line.split_whitespace().skip(2).map(str::to_owned).collect();
    let name = words.iter().position(|word| word.starts_with("--name=")).expect("a name");
    words[..=name].to_vec()
}

#[test]
fn the_key_of_a_deleted_host_opens_nothing() {
    let Some(hosts) = Hosts::up(3) else { return };
    let all = hosts.compile("hosts.c");
    hosts.machine("h1", &["h2", "h3"]);
    // Its daemon sleeps through its own removal, so it comes back with the key that was good.
    hosts.run("h3", &["pkill", "-STOP", "-f", DAEMONS]);
    hosts.run("h1", &["pvm", "del", "h3"]);
    let removed = || members(&hosts, "h1") == ["h1", "h2"] && members(&hosts, "h2") == ["h1", "h2"];
    assert!(eventually(Duration::from_secs(60), removed), "{:?}", members(&hosts, "h2"));
    hosts.run("h3", &["pkill", "-CONT", "-f", DAEMONS]);
    let gone = eventually(Duration::from_secs(60), || hosts.left("h3").is_empty());
    all_see(&hosts, &["h1", "h2"]);
    assert!(gone, "the deleted host lives on: {:?}", hosts.left("h3"));
    hosts.run("h1", &[&all, "2"]);
    hosts.run("h1", &["pvm", "add", "h3"]);
    hosts.run("h1", &[&all, "3"]);
    hosts.halt("h1");
}
